//! Finds SQL in source text. A test uses the result to keep SQL out of the crates around the core: only the core
//! queries databases.
//!
//! In Rust, only string literals are scanned, not comments, names or documentation. Only text with the form of a
//! statement counts, so that "Select a file" or "update available" pass.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// A place in a source that contains SQL.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// The line in the source, counted from 1.
    pub line: usize,
    /// The text from the SQL keyword on, at most 60 characters.
    pub text: String,
}

/// Returns the SQL in the string literals of a Rust file. Skips code under `#[cfg(test)]`, because tests may build
/// databases with SQL.
///
/// # Errors
/// If the text is not valid Rust.
pub fn in_rust(source: &str) -> Result<Vec<Found>, String> {
    let file =
        syn::parse_file(source).map_err(|e| format!("line {}: {e}", e.span().start().line))?;
    let mut literals = Literals::default();
    literals.visit_file(&file);
    Ok(literals.found)
}

/// Returns the SQL anywhere in a file of another kind: JavaScript, TypeScript, HTML.
pub fn in_text(source: &str) -> Vec<Found> {
    let lines = source.lines().enumerate();
    lines
        .filter_map(|(at, line)| statement(line).map(|text| Found { line: at + 1, text }))
        .collect()
}

/// Visits the string literals of a file.
#[derive(Default)]
struct Literals {
    found: Vec<Found>,
}

impl Literals {
    fn look(&mut self, text: &str, span: Span) {
        let line = span.start().line;
        self.found
            .extend(statement(text).map(|text| Found { line, text }));
    }

    /// Scans the tokens of a macro call for string literals, because `syn` does not parse the arguments of macros.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut attribute = false;
        for token in tokens {
            match &token {
                TokenTree::Group(group) if !attribute => self.tokens(group.stream()),
                TokenTree::Literal(literal) => {
                    if let Ok(text) = syn::parse2::<syn::LitStr>(token.clone().into()) {
                        self.look(&text.value(), literal.span());
                    }
                }
                _ => {}
            }
            // The group after a `#` is an attribute such as `#[doc = "…"]`, which is documentation.
            attribute = matches!(&token, TokenTree::Punct(p) if p.as_char() == '#');
        }
    }
}

impl<'a> Visit<'a> for Literals {
    fn visit_lit_str(&mut self, text: &'a syn::LitStr) {
        self.look(&text.value(), text.span());
    }

    fn visit_macro(&mut self, mac: &'a syn::Macro) {
        self.tokens(mac.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'a syn::Attribute) {
        match &attribute.meta {
            syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => {}
            syn::Meta::List(list) => self.tokens(list.tokens.clone()),
            _ => visit::visit_attribute(self, attribute),
        }
    }

    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        let test = |a: &syn::Attribute| matches!(&a.meta, syn::Meta::List(l) if l.path.is_ident("cfg") && l.tokens.to_string() == "test");
        if !module.attrs.iter().any(test) {
            visit::visit_item_mod(self, module);
        }
    }
}

/// Returns a text from its first SQL keyword on, at most 60 characters; `None` if the text contains no SQL.
fn statement(text: &str) -> Option<String> {
    let words = words(text);
    let rest = |at: usize| words.get(at..).unwrap_or_default();
    (0..words.len())
        .find(|&at| begins_statement(rest(at), at == 0))
        .map(|at| {
            let start = words.get(at).map_or(0, |w| w.start);
            text.get(start..)
                .unwrap_or_default()
                .chars()
                .take(60)
                .collect()
        })
}

/// A word or a single sign of a text, with its byte offset.
struct Word<'a> {
    text: &'a str,
    start: usize,
}

impl Word<'_> {
    fn is(&self, keyword: &str) -> bool {
        self.text.eq_ignore_ascii_case(keyword)
    }

    fn one_of(&self, keywords: &str) -> bool {
        keywords.split(' ').any(|k| self.is(k))
    }

    fn is_name(&self) -> bool {
        self.text
            .starts_with(|c: char| c.is_alphabetic() || "_{\"`[".contains(c))
    }
}

/// Splits a text into words and single signs; a placeholder such as `{table}` is a word.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let len = if is_word(c) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if c == '{' {
            rest.find('}').map_or(1, |end| end + 1)
        } else {
            c.len_utf8()
        };
        let (word, after) = rest.split_at(len);
        if !c.is_whitespace() {
            words.push(Word {
                text: word,
                start: text.len() - rest.len(),
            });
        }
        rest = after;
    }
    words
}

/// Returns whether an SQL statement or clause begins with these words. A keyword in capitals counts anywhere. A
/// keyword in small letters counts only at the beginning of a text (`first`), where prose rarely has one.
fn begins_statement(words: &[Word<'_>], first: bool) -> bool {
    let [keyword, rest @ ..] = words else {
        return false;
    };
    let capitals = keyword.text.len() > 1 && keyword.text.chars().all(|c| c.is_ascii_uppercase());
    let small = first && keyword.text.chars().all(|c| c.is_ascii_lowercase());
    let next = |n: usize, keywords: &str| rest.get(n).is_some_and(|w| w.one_of(keywords));
    let name = |n: usize| rest.get(n).is_some_and(Word::is_name);
    if keyword.is("select") && next(0, "*") {
        return true;
    }
    if !capitals && !small {
        return false;
    }
    let alone = rest.iter().all(|w| w.is(";"));
    match keyword.text.to_ascii_uppercase().as_str() {
        "SELECT" if capitals => !alone,
        "SELECT" => selects_plainly(rest),
        "INSERT" => next(0, "into") || next(0, "or") && next(2, "into"),
        "REPLACE" => next(0, "into"),
        "UPDATE" => name(0) && (next(1, "set") || next(0, "or") && next(3, "set")),
        "DELETE" => next(0, "from") && (capitals || rest.len() < 3 || next(2, "where ;")),
        "CREATE" | "DROP" => {
            let at = rest
                .iter()
                .take_while(|w| w.one_of("temp temporary unique virtual"))
                .count();
            next(at, "table index view trigger") && (name(at + 1) || alone)
        }
        "ALTER" => next(0, "table"),
        "PRAGMA" | "SAVEPOINT" => name(0),
        "ATTACH" | "DETACH" => {
            capitals && (next(0, "database ' ?") || rest.iter().any(|w| w.is("as")))
        }
        "BEGIN" => next(0, "immediate exclusive deferred transaction"),
        "VACUUM" | "COMMIT" | "ROLLBACK" | "ANALYZE" => {
            capitals && first && (alone || next(0, "into to"))
        }
        "EXPLAIN" => next(0, "query select"),
        "WITH" => next(0, "recursive") || capitals && next(1, "as"),
        "WHERE" | "HAVING" => capitals && name(0),
        "ORDER" | "GROUP" => capitals && next(0, "by"),
        "JOIN" => capitals && name(0),
        "UNION" => capitals && (alone || next(0, "all select")),
        "VALUES" => capitals && next(0, "("),
        "LIMIT" => capitals && !alone,
        _ => false,
    }
}

/// Accepts `select name, count(*) from bindings where …`, but not "select files from a folder".
fn selects_plainly(rest: &[Word<'_>]) -> bool {
    let Some(from) = rest.iter().position(|w| w.is("from")) else {
        return false;
    };
    let columns = rest.get(..from).unwrap_or_default();
    // Two words in a row without a sign between them mean prose, not a list of columns.
    let listed = columns
        .windows(2)
        .all(|w| !matches!(w, [a, b] if a.is_name() && b.is_name() && !b.is("as") && !a.is("as")));
    let after = rest.get(from + 2);
    listed && after.is_none_or(|w| !w.is_name() || w.one_of("where order group limit join left as"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_found_and_prose_is_not() {
        let sql = [
            "SELECT value FROM bindings WHERE name = ?1",
            "SELECT 1",
            "select count(*) from execution",
            "select name, kind from bindings where kind = 'let'",
            "Select * From run",
            "\n    INSERT OR REPLACE INTO bindings (name) VALUES (?1)",
            "insert into run values (?)",
            "UPDATE {table} SET status = 'x'",
            "UPDATE OR IGNORE run SET id = 1",
            "DELETE FROM agents",
            "delete from agents where name = ?",
            "CREATE TABLE IF NOT EXISTS run (id TEXT)",
            "create unique index i on bindings(name)",
            "DROP TABLE x",
            "ALTER TABLE bindings ADD COLUMN token_count INTEGER",
            "PRAGMA locking_mode=exclusive",
            "pragma integrity_check",
            "ATTACH DATABASE 'x.db' AS other",
            "BEGIN IMMEDIATE",
            "COMMIT;",
            "VACUUM INTO ?1",
            "WITH RECURSIVE chain AS (SELECT 1)",
            "EXPLAIN QUERY PLAN {sql}",
            " WHERE name = ",
            " ORDER BY id",
            "LEFT JOIN run r ON r.id = g.run_id",
            "sqlite3 state.db \"SELECT memory FROM agents\"",
        ];
        for text in sql {
            assert!(statement(text).is_some(), "SQL: {text}");
        }
        let prose = [
            "Select a file from the list",
            "select files from a folder",
            "select",
            "update available",
            "Update the memory of an agent",
            "delete from disk what is no longer needed",
            "create a table of contents",
            "Drop a state.db here",
            "drop table-like things",
            "begin with the first run",
            "with recursion",
            "LIMIT",
            "the WAL is missing: newest rows may be absent",
            "no such table: gates",
            "attach as a file",
            "Where it stopped, and why",
            "values",
            "ORDER",
            "commit",
            "SQLITE_IOERR (266)",
        ];
        for text in prose {
            assert_eq!(statement(text), None, "prose: {text}");
        }
    }

    #[test]
    fn only_literals_of_shipped_code_count() {
        let source = r##"
//! SELECT in a module's documentation
/// SELECT x FROM y
#[arg(help = "SELECT b FROM c")]
fn select_from() {
    // DELETE FROM z
    let a = "INSERT INTO t VALUES (1)";
    view! { <p>/// SELECT q FROM r
      {format!("UPDATE {} SET x = 1", a)}</p> };
    let raw = r#"PRAGMA user_version"#;
}
#[cfg(test)]
mod tests { const DDL: &str = "CREATE TABLE run (id)"; }
"##;
        let found = in_rust(source).unwrap();
        let lines: Vec<(usize, &str)> = found.iter().map(|f| (f.line, f.text.as_str())).collect();
        assert_eq!(
            lines,
            [
                (4, "SELECT b FROM c"),
                (7, "INSERT INTO t VALUES (1)"),
                (9, "UPDATE {} SET x = 1"),
                (10, "PRAGMA user_version"),
            ]
        );
    }

    #[test]
    fn a_file_that_is_not_rust_is_an_error_with_its_line() {
        let error = in_rust("fn a() {}\nfn (").unwrap_err();
        assert!(error.starts_with("line 2:"), "{error}");
    }
}
