//! Finds the rules that the sources use for issues, so that a test can compare them with the registry
//! (`core/src/pages/check`).
//!
//! A rule's name is a string literal passed to a parameter or field called `rule`: `Issue::warning("name", …)`,
//! `ledger.note(severity, "name", …)`, `Finding { rule: "name", … }`, `let found = |rule, …|`. If the name is chosen
//! earlier (`let (rule, …) = match …`), every literal of that function with the form of a rule's name counts as one.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};

/// The names of the rules, each with the first place that uses it, as `file:line`.
pub type Used = BTreeMap<String, String>;

/// Returns the rules in these files, given as path and text. Skips code under `#[cfg(test)]`.
///
/// # Errors
/// If a text is not valid Rust.
pub fn rules_in(files: &[(String, String)]) -> Result<Used, String> {
    let mut parsed = Vec::new();
    for (path, text) in files {
        let file =
            syn::parse_file(text).map_err(|e| format!("{path}:{}: {e}", e.span().start().line))?;
        parsed.push((path, file));
    }
    let mut methods = Takers::default();
    for (_, file) in &parsed {
        methods.visit_file(file);
    }
    let mut used = Used::new();
    for (path, file) in &parsed {
        let mut own = Takers::default();
        own.visit_file(file);
        let mut calls = Calls {
            methods: &methods.methods,
            functions: &own.functions,
            path,
            used: &mut used,
            around: Vec::new(),
        };
        calls.visit_file(file);
    }
    Ok(used)
}

/// Functions with a parameter for the name of a rule: their names, and the index of that parameter.
#[derive(Default)]
struct Takers {
    /// The methods of an `impl`. The index does not count `self`.
    methods: BTreeMap<String, usize>,
    /// The functions of a file, and the closures that have a name.
    functions: BTreeMap<String, usize>,
}

impl<'a> Visit<'a> for Takers {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_impl_item_fn(&mut self, method: &'a syn::ImplItemFn) {
        if let Some(at) = rule_of(&method.sig) {
            self.methods.insert(method.sig.ident.to_string(), at);
        }
        visit::visit_impl_item_fn(self, method);
    }

    fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
        if let Some(at) = rule_of(&function.sig) {
            self.functions.insert(function.sig.ident.to_string(), at);
        }
        visit::visit_item_fn(self, function);
    }

    fn visit_local(&mut self, local: &'a syn::Local) {
        if let (syn::Pat::Ident(name), Some(init)) = (&local.pat, &local.init)
            && let syn::Expr::Closure(closure) = &*init.expr
            && let Some(at) = closure.inputs.iter().position(is_rule)
        {
            self.functions.insert(name.ident.to_string(), at);
        }
        visit::visit_local(self, local);
    }
}

/// Visits the calls in a file, and collects the names of rules.
struct Calls<'m> {
    methods: &'m BTreeMap<String, usize>,
    functions: &'m BTreeMap<String, usize>,
    path: &'m str,
    used: &'m mut Used,
    /// The functions around a call: the string literals of each function with their lines, and whether the function
    /// has a parameter for the rule's name.
    around: Vec<(Vec<(String, usize)>, bool)>,
}

impl Calls<'_> {
    fn add(&mut self, rule: &str, line: usize) {
        if !rule.is_empty() {
            let place = format!("{}:{line}", self.path);
            self.used.entry(rule.to_owned()).or_insert(place);
        }
    }

    fn take(&mut self, given: &syn::Expr) {
        let mut own = Literals::default();
        own.visit_expr(given);
        for (text, line) in own.0 {
            self.add(&text, line);
        }
        let chosen_before =
            matches!(given, syn::Expr::Path(path) if path.path.get_ident().is_some());
        if chosen_before && let Some((literals, false)) = self.around.last().cloned() {
            for (text, line) in literals.iter().filter(|(text, _)| is_kebab(text)) {
                self.add(text, *line);
            }
        }
    }

    fn inside(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let mut literals = Literals::default();
        literals.visit_block(body);
        self.around.push((literals.0, rule_of(signature).is_some()));
    }
}

impl<'a> Visit<'a> for Calls<'_> {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
        self.inside(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
        self.around.pop();
    }

    fn visit_impl_item_fn(&mut self, method: &'a syn::ImplItemFn) {
        self.inside(&method.sig, &method.block);
        visit::visit_impl_item_fn(self, method);
        self.around.pop();
    }

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        if let syn::Expr::Path(path) = &*call.func
            && let Some(last) = path.path.segments.last()
        {
            let name = last.ident.to_string();
            let at = match path.path.segments.len() {
                1 => self.functions.get(&name),
                _ if ["Issue", "Finding"]
                    .iter()
                    .any(|of| path.path.segments[0].ident == of) =>
                {
                    self.methods.get(&name)
                }
                _ => None,
            };
            if let Some(given) = at.and_then(|at| call.args.get(*at)) {
                self.take(given);
            }
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        let at = self.methods.get(&call.method.to_string());
        if let Some(given) = at.and_then(|at| call.args.get(*at)) {
            self.take(given);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_field_value(&mut self, field: &'a syn::FieldValue) {
        if matches!(&field.member, syn::Member::Named(name) if name == "rule") {
            self.take(&field.expr);
        }
        visit::visit_field_value(self, field);
    }

    fn visit_expr_assign(&mut self, assign: &'a syn::ExprAssign) {
        if let syn::Expr::Field(field) = &*assign.left
            && matches!(&field.member, syn::Member::Named(name) if name == "rule")
        {
            self.take(&assign.right);
        }
        visit::visit_expr_assign(self, assign);
    }
}

/// Collects the string literals of a function, with their lines.
#[derive(Default)]
struct Literals(Vec<(String, usize)>);

impl<'a> Visit<'a> for Literals {
    fn visit_lit_str(&mut self, text: &'a syn::LitStr) {
        self.0.push((text.value(), text.span().start().line));
    }
}

fn rule_of(signature: &syn::Signature) -> Option<usize> {
    signature
        .inputs
        .iter()
        .filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(&*typed.pat),
            syn::FnArg::Receiver(_) => None,
        })
        .position(is_rule)
}

fn is_rule(pattern: &syn::Pat) -> bool {
    match pattern {
        syn::Pat::Ident(name) => name.ident == "rule",
        syn::Pat::Type(typed) => is_rule(&typed.pat),
        _ => false,
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| {
        matches!(&a.meta, syn::Meta::List(l)
            if l.path.is_ident("cfg") && l.tokens.to_string() == "test")
    })
}

/// Returns whether a literal has the form of a rule's name, such as `wal-missing`.
fn is_kebab(text: &str) -> bool {
    let word = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    text.contains('-') && text.split('-').all(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_rules_wherever_they_are_given() {
        for (source, expected) in [
            (r#"fn f() { Issue::warning("a-b", "c-d"); }"#, &["a-b"][..]),
            (
                r#"fn f() { x.note(Severity::Note, "one", || g()); }"#,
                &["one"],
            ),
            (
                r#"fn f() { at(gate, "a-b", "c-d"); } fn at(gate: &G, rule: &str, w: &str) { Issue::warning(rule, w); }"#,
                &["a-b"],
            ),
            (
                r#"fn f() { Issue::error(if x { "a-b" } else { "c-d" }, "e-f"); }"#,
                &["a-b", "c-d"],
            ),
            (
                r#"fn f() { let (rule, t) = match x { A => ("a-b", "some text"), B => ("c-d", "") }; Issue::warning(rule, t); }"#,
                &["a-b", "c-d"],
            ),
            (
                r#"fn f() -> F { F { rule: "a-b", text: "c-d" } }"#,
                &["a-b"],
            ),
            (
                r#"fn f() { let mut found = |rule, t: String| push(rule, t); found("a-b", "c-d".into()); }"#,
                &["a-b"],
            ),
            (r#"fn f() { CliError::warning("a-b"); }"#, &[]),
            (
                r#"#[cfg(test)] mod tests { fn f() { Issue::warning("a-b", ""); } }"#,
                &[],
            ),
        ] {
            let issue = "impl Issue { fn new(s: Severity, rule: &str) {} fn warning(rule: &str) {} fn error(rule: &str) {} }\
                 impl Ledger { fn note(&mut self, s: Severity, rule: &'static str, make: F) {} }";
            let files = [
                ("issue.rs".to_owned(), issue.to_owned()),
                ("a.rs".to_owned(), source.to_owned()),
            ];
            let used = rules_in(&files).unwrap();
            let names: Vec<&str> = used.keys().map(String::as_str).collect();
            assert_eq!(names, expected, "{source}");
        }
    }
}
