//! Builds TypeScript declarations of the structs that the commands print, with `ts-rs`, from their fields and doc
//! comments.

use std::collections::{BTreeMap, BTreeSet};

use ts_rs::{Config, TS, TypeVisitor};

/// The TypeScript declarations, by name, of the visited types and of all types in their fields.
pub(crate) struct Types {
    config: Config,
    found: BTreeMap<String, String>,
}

impl Types {
    pub(crate) fn new() -> Types {
        Types {
            config: Config::new().with_large_int("number"),
            found: BTreeMap::new(),
        }
    }

    /// Returns the TypeScript name of a type.
    pub(crate) fn name<T: TS + ?Sized>(&self) -> String {
        T::name(&self.config)
    }

    /// Returns each declaration with its documentation, sorted by name.
    ///
    /// # Panics
    /// If a type has a field twice, which flattening can cause: readers of its JSON disagree about which of the two
    /// counts.
    pub(crate) fn declarations(&self) -> impl Iterator<Item = (&str, String)> {
        let found = self.found.iter();
        found.map(|(name, declaration)| {
            let declaration = tidy(declaration);
            assert_eq!(field_twice(&declaration), None, "a field of {name}");
            (name.as_str(), declaration)
        })
    }
}

impl TypeVisitor for Types {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        let name = T::name(&self.config);
        // A type without its own file (a string, a list) has no declaration.
        if T::output_path().is_none() || self.found.contains_key(&name) {
            return;
        }
        let declaration = format!(
            "{}export {}\n",
            T::docs().unwrap_or_default(),
            T::decl(&self.config)
        );
        self.found.insert(name, declaration);
        T::visit_dependencies(self);
    }
}

/// Returns the first field that a declaration contains twice.
fn field_twice(declaration: &str) -> Option<&str> {
    let fields = declaration.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("  ")?.split_once(':')?;
        Some(name.trim_end_matches('?').trim_matches('"')).filter(|name| !name.starts_with('/'))
    });
    let mut seen = BTreeSet::new();
    fields.into_iter().find(|name| !seen.insert(*name))
}

#[test]
fn a_field_that_comes_twice_is_found() {
    let declaration = |of: &str| {
        format!("export type A = {{\n  /** a: b */\n  a: string;\n  b?: B;\n  {of}: C;\n}};\n")
    };
    for (field, twice) in [("c", None), ("a", Some("a")), ("b", Some("b"))] {
        assert_eq!(field_twice(&declaration(field)), twice);
    }
}

/// Writes each field on one line, after one line of documentation, where ts-rs uses four; replaces Rust's `None` and
/// links by their TypeScript forms.
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
