//! The rules that issues go by: what each means, what to do, and an input that yields it.
//!
//! An [`Issue`](crate::issue::Issue) carries the name of its rule, what was found, and what to do about that one.
//! What the rule means in general stands here, once, for `prosescope check --explain`, SARIF, the viewer and
//! docs/checks.md (`cargo xtask docs`).
//!
//! # Adding a rule
//! Write it where its area is, in `check/rules/`, in one expression, and run `cargo xtask docs`:
//!
//! ```text
//! Rule::warning("duplicate-binding", "Two rows claim one name in one frame.")
//!     .fix("Delete the earlier one.")
//!     .source("errata S2")
//!     .sql("INSERT INTO bindings …"),
//! ```
//!
//! Tests hold that every rule that the sources use is here and every rule here is used
//! (`tests/tests/e2e/rules.rs`), and that each example yields its rule (`core/tests/checks.rs`).

pub mod look;
mod report;
mod rules;
mod sarif;

use crate::issue::Severity;
use crate::view::{ExamplePart, RuleView};

pub use report::report;
pub use rules::AREAS;
pub use sarif::sarif;

/// Rules that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// What they are about, as a heading.
    pub title: &'static str,
    /// The same in one sentence.
    pub about: &'static str,
    /// The rules.
    pub rules: &'static [Rule],
}

/// What an issue's rule means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Its name, kebab-case: [`crate::issue::Issue::rule`].
    pub name: &'static str,
    /// The severities that its issues may have, the usual one first.
    pub severities: &'static [Severity],
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// What to do, in one or two sentences.
    pub fix: &'static str,
    /// Where it is written: a document, an erratum.
    pub source: &'static str,
    /// An input that yields it.
    pub example: Example,
}

/// An input that yields a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Example {
    /// SQL on a fresh database of the documents' schema ([`crate::schema::STATE_SQL`]).
    Sql(&'static str),
    /// SQL on an empty database.
    Database(&'static str),
    /// Files of a source: paths and texts. Where some lie below `runs/r1/`, that is the run; else all of it is.
    Files(&'static [(&'static str, &'static str)]),
    /// SQL as in [`Example::Sql`] for a `state.db`, and files beside it.
    Beside(&'static str, &'static [(&'static str, &'static str)]),
    /// SQL as in [`Example::Sql`], and a name that is then resolved from a frame.
    Resolve(&'static str, &'static str, Option<i64>),
    /// What no small input can show, in words, and the file of the test that shows it, else of the code.
    Told(&'static str, &'static str),
}

impl Example {
    /// Its texts, each with what it is.
    pub fn parts(&self) -> Vec<ExamplePart> {
        let part = |title: &str, language: &str, text: &str| ExamplePart {
            title: title.to_owned(),
            language: language.to_owned(),
            text: text.trim_end().to_owned(),
        };
        let file = |(path, text): &(&str, &str)| {
            let language = match path.rsplit('.').next() {
                Some("md") => "markdown",
                Some("json") => "json",
                _ => "text",
            };
            part(path, language, text)
        };
        match *self {
            Example::Sql(sql) => vec![part("SQL", "sql", sql)],
            Example::Database(sql) => vec![part("SQL, on an empty database", "sql", sql)],
            Example::Files(files) => files.iter().map(file).collect(),
            Example::Beside(sql, files) => {
                let mut parts = vec![part("state.db", "sql", sql)];
                parts.extend(files.iter().map(file));
                parts
            }
            Example::Resolve(sql, name, from) => {
                let from = from.map_or(String::new(), |id| format!(" --from {id}"));
                vec![part(
                    &format!("SQL, and then `prosescope get {name}{from}`"),
                    "sql",
                    sql,
                )]
            }
            Example::Told(words, _) => vec![part("", "", words)],
        }
    }
}

/// The rule of that name.
pub fn rule(name: &str) -> Option<&'static Rule> {
    AREAS
        .iter()
        .flat_map(|area| area.rules)
        .find(|rule| rule.name == name)
}

impl Rule {
    /// The rule for a shell to show, with its example.
    pub fn view(&self) -> RuleView {
        RuleView {
            example: self.example.parts(),
            ..self.brief()
        }
    }

    /// The same without its example.
    pub fn brief(&self) -> RuleView {
        let area = AREAS
            .iter()
            .find(|area| area.rules.iter().any(|rule| rule.name == self.name));
        RuleView {
            name: self.name.to_owned(),
            area: area.map_or_else(String::new, |area| area.title.to_owned()),
            severities: self.severities.to_vec(),
            meaning: self.meaning.to_owned(),
            fix: self.fix.to_owned(),
            source: self.source.to_owned(),
            example: Vec::new(),
        }
    }

    const fn new(
        name: &'static str,
        severities: &'static [Severity],
        meaning: &'static str,
    ) -> Rule {
        Rule {
            name,
            severities,
            meaning,
            fix: "",
            source: "",
            example: Example::Told("", ""),
        }
    }

    /// A rule of [`Severity::Error`].
    const fn error(name: &'static str, meaning: &'static str) -> Rule {
        Rule::new(name, &[Severity::Error], meaning)
    }

    /// A rule of [`Severity::Warning`].
    const fn warning(name: &'static str, meaning: &'static str) -> Rule {
        Rule::new(name, &[Severity::Warning], meaning)
    }

    /// A rule of [`Severity::Info`].
    const fn info(name: &'static str, meaning: &'static str) -> Rule {
        Rule::new(name, &[Severity::Info], meaning)
    }

    /// Says which severities it may have, the usual one first.
    const fn or(self, severities: &'static [Severity]) -> Rule {
        Rule { severities, ..self }
    }

    /// Says what to do.
    const fn fix(self, fix: &'static str) -> Rule {
        Rule { fix, ..self }
    }

    /// Says where it is written.
    const fn source(self, source: &'static str) -> Rule {
        Rule { source, ..self }
    }

    const fn example(self, example: Example) -> Rule {
        Rule { example, ..self }
    }

    /// An example on the documents' schema.
    const fn sql(self, sql: &'static str) -> Rule {
        self.example(Example::Sql(sql))
    }

    /// An example on an empty database.
    const fn database(self, sql: &'static str) -> Rule {
        self.example(Example::Database(sql))
    }

    /// An example of files.
    const fn files(self, files: &'static [(&'static str, &'static str)]) -> Rule {
        self.example(Example::Files(files))
    }

    /// An example in words, and the file of the test that shows it, else of the code.
    const fn told(self, words: &'static str, test: &'static str) -> Rule {
        self.example(Example::Told(words, test))
    }
}
