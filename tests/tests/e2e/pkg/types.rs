//! pkg/js/views.d.ts declares the core's view structs for TypeScript: generated, and the same as the structs.
//! `PROSE_WRITE_DOCS=1` (`cargo xtask docs`) writes it anew; read the difference before you commit it.

use std::collections::BTreeMap;
use std::fs;

use prosescope_core::view;
use prosescope_tests::needs;
use ts_rs::{Config, TS, TypeVisitor};

const HEAD: &str = "// Generated from the doc comments and structs of core/src/view by `cargo xtask docs`: the JSON of `prose … --json`.
// Integers beyond 2^53 are rounded, as JSON.parse does.
";

#[test]
fn the_declared_types_are_those_of_the_views() {
    let config = Config::new().with_large_int("number");
    let mut types = Types {
        config: &config,
        found: BTreeMap::new(),
    };
    types.visit::<view::RunList>();
    types.visit::<view::Overview>();
    types.visit::<view::ProgramView>();
    types.visit::<view::TracePage>();
    types.visit::<view::NodeDetail>();
    types.visit::<view::BindingsPage>();
    types.visit::<view::ValueView>();
    types.visit::<view::ResolutionView>();
    types.visit::<view::AgentsView>();
    types.visit::<view::GatesView>();
    types.visit::<view::ImportsView>();
    types.visit::<view::StateMdView>();
    types.visit::<view::FilesView>();
    types.visit::<view::TableRows>();
    types.visit::<view::IssuesView>();
    types.visit::<view::CheckReport>();
    types.visit::<view::TimeoutView>();
    let mut text = String::from(HEAD);
    for declaration in types.found.values() {
        text.push('\n');
        text.push_str(&tidy(declaration));
    }
    let path = needs::root().join("pkg/js/views.d.ts");
    if std::env::var_os("PROSE_WRITE_DOCS").is_some() {
        fs::write(&path, &text).expect("views.d.ts can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == text,
        "pkg/js/views.d.ts is out of date: run `cargo xtask docs`, and read the difference"
    );
}

/// Declarations by name: of the types visited, and of all that they are made of.
struct Types<'a> {
    config: &'a Config,
    found: BTreeMap<String, String>,
}

impl TypeVisitor for Types<'_> {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        let name = T::name(self.config);
        // What has no file of its own (a string, a list) is no declaration.
        if T::output_path().is_none() || self.found.contains_key(&name) {
            return;
        }
        let declaration = format!(
            "{}export {}\n",
            T::docs().unwrap_or_default(),
            T::decl(self.config)
        );
        self.found.insert(name, declaration);
        T::visit_dependencies(self);
    }
}

/// One line a field and a line of documentation before it, where the generator takes four; Rust's words for nothing and
/// for links become TypeScript's.
fn tidy(declaration: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut docs: Vec<&str> = Vec::new();
    let mut inside = false;
    for line in declaration.lines().map(str::trim) {
        let indent = if inside { "  " } else { "" };
        match line {
            "/**" => docs.clear(),
            "*/" => lines.push(format!("{indent}/** {} */", docs.join(" "))),
            doc if doc.starts_with('*') => docs.push(doc.trim_start_matches('*').trim()),
            "" => {}
            field => {
                let (field, last) = match field.strip_suffix(", };") {
                    Some(field) => (field, true),
                    None => (field.trim_end_matches(','), false),
                };
                let ends = field.ends_with(['{', ';']);
                lines.push(format!("{indent}{field}{}", if ends { "" } else { ";" }));
                if last {
                    lines.push("};".to_owned());
                }
                inside = !last && (inside || field.ends_with('{'));
            }
        }
    }
    let text = lines.join("\n") + "\n";
    let words = [
        ("`None`", "`null`"),
        ("[`", "`"),
        ("`]", "`"),
        ("`super::", "`"),
        ("::", "."),
    ];
    words
        .iter()
        .fold(text, |text, (rust, script)| text.replace(rust, script))
}
