//! Builds the metadata of execution rows, with the key names of the store's own format (errata F7).

use serde_json::{Map, Value};

use super::Style;
use super::source::{LineLookup, ProgramSource};
use crate::model::Meta;

/// A metadata key whose spelling depends on the store's style, such as `max` or `max_iterations`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Word {
    /// The number of rounds of a loop so far.
    Iteration,
    /// The limit for the rounds of a loop.
    MaxRounds,
    /// The number of an attempt.
    Attempt,
    /// The limit for the attempts.
    MaxAttempts,
}

impl Word {
    pub(super) fn key(self, style: Style) -> &'static str {
        let in_place = style == Style::InPlace;
        match self {
            Word::Iteration if in_place => "current_iteration",
            Word::Iteration => "iteration",
            Word::MaxRounds if in_place => "max_iterations",
            Word::Attempt if in_place => "retry_attempt",
            Word::Attempt => "attempt",
            Word::MaxAttempts if in_place => "max_retries",
            Word::MaxRounds | Word::MaxAttempts => "max",
        }
    }
}

/// Metadata under construction; a value of `None` is left out.
#[derive(Debug, Clone, Default)]
pub(super) struct MetaKeys(Map<String, Value>);

impl MetaKeys {
    /// Returns the keys that identify an instance, such as `loop_id`. Every later row of the instance repeats these
    /// keys.
    pub(super) fn naming(meta: &Meta) -> MetaKeys {
        MetaKeys::default()
            .text("gate_id", meta.gate_id.as_deref())
            .text("loop_id", meta.loop_id.as_deref())
            .text("parallel_id", meta.parallel_id.as_deref())
            .text("branch", meta.branch.as_deref())
            .text("block", meta.block.as_deref())
            .number("depth", meta.depth)
    }

    /// Returns the keys for the binding that an execution wrote as its result. With these keys, readers need not infer
    /// the binding from names and times.
    pub(super) fn wrote(name: &str, scope: Option<i64>) -> MetaKeys {
        MetaKeys::default()
            .text("binding", Some(name))
            .number("binding_scope", scope)
    }

    /// Returns the key for the line of a statement, if the statement's text is not unique in the program.
    pub(super) fn line(source: &ProgramSource<'_>, found: &LineLookup) -> MetaKeys {
        let line = found.line.filter(|_| !source.text_is_unique(found));
        MetaKeys::default().number("program_line", line.map(i64::from))
    }

    /// Adds all keys of `more`.
    pub(super) fn and(mut self, more: MetaKeys) -> MetaKeys {
        self.0.extend(more.0);
        self
    }

    pub(super) fn text(mut self, key: &str, value: Option<&str>) -> MetaKeys {
        if let Some(value) = value {
            self.0.insert(key.to_owned(), value.into());
        }
        self
    }

    pub(super) fn number(mut self, key: &str, value: Option<i64>) -> MetaKeys {
        if let Some(value) = value {
            self.0.insert(key.to_owned(), value.into());
        }
        self
    }

    pub(super) fn list(mut self, key: &str, values: &[String]) -> MetaKeys {
        if !values.is_empty() {
            self.0.insert(key.to_owned(), values.into());
        }
        self
    }

    pub(super) fn object(mut self, key: &str, value: &Map<String, Value>) -> MetaKeys {
        if !value.is_empty() {
            self.0.insert(key.to_owned(), Value::Object(value.clone()));
        }
        self
    }

    pub(super) fn done(self) -> Map<String, Value> {
        self.0
    }
}
