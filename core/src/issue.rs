//! What was odd in an input: reading returns a value and issues, never an error for a part of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How much an issue matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is lost (times not recorded, an extra column).
    Note,
    /// A deviation that was read around; what is shown may be incomplete.
    Warning,
    /// Something could not be read, or contradicts itself so that a fact shown may be wrong.
    Error,
}

impl Severity {
    /// The word for people: `error`, `warning`, `note`.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// Where in the run an issue was found. Every shell links it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub struct Location {
    /// File inside the run folder, or the database's name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
    /// Table of the database.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub table: Option<String>,
    /// Row id, or execution id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub row: Option<i64>,
    /// Column of the table, or key of a header.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<String>,
    /// Line of the file, from 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u32>,
}

/// Something odd, with its place and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Issue {
    /// The rule's name, kebab-case, such as `orphan-parent`. Tests and scripts rely on it.
    pub rule: String,
    /// How much it matters.
    pub severity: Severity,
    /// Where it was found.
    pub location: Location,
    /// What was found, in one sentence.
    pub message: String,
    /// What it means or what to do, in one sentence; may be empty.
    pub hint: String,
}

impl Issue {
    /// A new issue without a place or a hint.
    pub fn new(severity: Severity, rule: &str, message: impl Into<String>) -> Issue {
        Issue {
            rule: rule.to_owned(),
            severity,
            location: Location::default(),
            message: message.into(),
            hint: String::new(),
        }
    }

    /// A new [`Severity::Error`].
    pub fn error(rule: &str, message: impl Into<String>) -> Issue {
        Issue::new(Severity::Error, rule, message)
    }

    /// A new [`Severity::Warning`].
    pub fn warning(rule: &str, message: impl Into<String>) -> Issue {
        Issue::new(Severity::Warning, rule, message)
    }

    /// A new [`Severity::Note`].
    pub fn noted(rule: &str, message: impl Into<String>) -> Issue {
        Issue::new(Severity::Note, rule, message)
    }

    /// Adds what it means or what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Issue {
        self.hint = hint.into();
        self
    }

    /// Locates it at a row of `execution`, where that has an id.
    #[must_use]
    pub fn at_execution(self, id: Option<i64>) -> Issue {
        match id {
            Some(id) => self.at_row("execution", id),
            None => self,
        }
    }

    /// Places it in a row of a table.
    #[must_use]
    pub fn at_row(mut self, table: &str, row: i64) -> Issue {
        self.location.table = Some(table.to_owned());
        self.location.row = Some(row);
        self
    }

    /// Places it in a table.
    #[must_use]
    pub fn at_table(mut self, table: &str) -> Issue {
        self.location.table = Some(table.to_owned());
        self
    }

    /// Places it in a column of where it already is.
    #[must_use]
    pub fn at_column(mut self, column: &str) -> Issue {
        self.location.column = Some(column.to_owned());
        self
    }

    /// Places it in a file.
    #[must_use]
    pub fn at_file(mut self, file: impl Into<String>) -> Issue {
        self.location.file = Some(file.into());
        self
    }

    /// Places it at a line of where it already is.
    #[must_use]
    pub fn at_line(mut self, line: u32) -> Issue {
        self.location.line = Some(line);
        self
    }
}

/// Issues as they are found. Of one kind (a rule, in one column of a table) a few are listed, and the others are counted:
/// a hundred thousand rows with one fault are one fault.
#[derive(Debug)]
pub struct Issues {
    /// How many of one kind are listed.
    most: usize,
    list: Vec<Issue>,
    kinds: BTreeMap<Kind, (Severity, Option<String>, usize)>,
}

/// Rule, table and column.
type Kind = (String, Option<String>, Option<String>);

impl Default for Issues {
    fn default() -> Issues {
        Issues::listing(20)
    }
}

impl Issues {
    /// Lists so many of each kind.
    pub(crate) fn listing(most: usize) -> Issues {
        Issues {
            most,
            list: Vec::new(),
            kinds: BTreeMap::new(),
        }
    }

    /// Adds an issue.
    pub fn add(&mut self, issue: Issue) {
        let Location {
            table,
            column,
            file,
            ..
        } = issue.location.clone();
        let kind = (issue.rule.clone(), table, column);
        let first = || (issue.severity, file.clone(), 0);
        let (_, in_file, count) = self.kinds.entry(kind).or_insert_with(first);
        *count += 1;
        if *in_file != file {
            *in_file = None;
        }
        if *count <= self.most {
            self.list.push(issue);
        }
    }

    /// All of them, with a line for each kind that has more than are listed.
    pub fn finish(mut self) -> Vec<Issue> {
        for ((rule, table, column), (severity, file, count)) in self.kinds {
            if let Some(more @ 1..) = count.checked_sub(self.most) {
                let message = format!("… and {more} more of the same kind");
                let mut issue = Issue::new(severity, &rule, message);
                issue.location = Location {
                    file,
                    table,
                    column,
                    ..Location::default()
                };
                self.list.push(issue);
            }
        }
        self.list
    }
}

impl Extend<Issue> for Issues {
    fn extend<I: IntoIterator<Item = Issue>>(&mut self, issues: I) {
        issues.into_iter().for_each(|issue| self.add(issue));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fault_in_many_rows_is_counted_not_repeated() {
        let mut issues = Issues::default();
        let fault = || Issue::warning("malformed-json", "no JSON").at_file("state.db");
        issues
            .extend((0..100_000).map(|row| fault().at_row("execution", row).at_column("metadata")));
        issues.add(fault().at_row("gates", 1));
        let issues = issues.finish();
        assert_eq!(issues.len(), 22);
        let last = issues.last().unwrap();
        assert_eq!(last.message, "… and 99980 more of the same kind");
        assert_eq!(last.severity, Severity::Warning);
        assert_eq!(last.location.table.as_deref(), Some("execution"));
        assert_eq!(last.location.file.as_deref(), Some("state.db"));
    }
}
