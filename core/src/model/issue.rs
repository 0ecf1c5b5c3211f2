//! Defines issues, which report odd input. A reader returns both a value and a list of issues, so a damaged part does
//! not make the whole read fail.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The importance of an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A fact worth knowing; no data is missing (for example: times not recorded, an extra column).
    Note,
    /// A deviation that the reader could skip; the result may be incomplete.
    Warning,
    /// Unreadable or contradictory input; a displayed fact may be wrong.
    Error,
}

impl Severity {
    /// Returns the severity as people read it: `error`, `warning`, `note`.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// The place in the run where an issue was found. User interfaces link to this place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub struct Location {
    /// The file inside the run folder, or the database's name, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
    /// The table of the database, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub table: Option<String>,
    /// The id of the row or of the execution, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub row: Option<i64>,
    /// The column of the table, or the key of a header, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<String>,
    /// The line of the file, from 1, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u32>,
}

/// An odd finding in an input, with its place and advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Issue {
    /// The rule's name, kebab-case, such as `orphan-parent`. Tests and scripts rely on this name.
    pub rule: String,
    /// The importance of the issue.
    pub severity: Severity,
    /// The place where the issue was found.
    pub location: Location,
    /// What was found, in one sentence.
    pub message: String,
    /// What the finding means or what to do, in one sentence; may be empty.
    pub hint: String,
}

impl Issue {
    /// Returns an issue without a place and without a hint.
    pub fn new(severity: Severity, rule: &str, message: impl Into<String>) -> Issue {
        Issue {
            rule: rule.to_owned(),
            severity,
            location: Location::default(),
            message: message.into(),
            hint: String::new(),
        }
    }

    /// Returns an issue with [`Severity::Error`].
    pub fn error(rule: &str, message: impl Into<String>) -> Issue {
        Issue::new(Severity::Error, rule, message)
    }

    /// Returns an issue with [`Severity::Warning`].
    pub fn warning(rule: &str, message: impl Into<String>) -> Issue {
        Issue::new(Severity::Warning, rule, message)
    }

    /// Returns an issue with [`Severity::Note`].
    pub fn noted(rule: &str, message: impl Into<String>) -> Issue {
        Issue::new(Severity::Note, rule, message)
    }

    /// Returns whether the issue is about a shared file as a whole.
    pub fn is_of_copy(&self) -> bool {
        self.doubts_copy() || matches!(&*self.rule, "shared-copy" | "share-without-manifest")
    }

    /// Returns whether the issue says that a shared file was changed, or that this cannot be checked.
    pub fn doubts_copy(&self) -> bool {
        matches!(&*self.rule, "share-changed" | "share-unchecked")
    }

    /// Sets the hint: what the issue means or what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Issue {
        self.hint = hint.into();
        self
    }

    /// Sets the place to the row of an execution, if the execution has an id.
    #[must_use]
    pub fn at_execution(self, id: Option<i64>) -> Issue {
        match id {
            Some(id) => self.at_row("execution", id),
            None => self,
        }
    }

    /// Sets the place to a row of a table.
    #[must_use]
    pub fn at_row(mut self, table: &str, row: i64) -> Issue {
        self.location.table = Some(table.to_owned());
        self.location.row = Some(row);
        self
    }

    /// Sets the place to a table.
    #[must_use]
    pub fn at_table(mut self, table: &str) -> Issue {
        self.location.table = Some(table.to_owned());
        self
    }

    /// Adds a column to the place.
    #[must_use]
    pub fn at_column(mut self, column: &str) -> Issue {
        self.location.column = Some(column.to_owned());
        self
    }

    /// Sets the place to a file.
    #[must_use]
    pub fn at_file(mut self, file: impl Into<String>) -> Issue {
        self.location.file = Some(file.into());
        self
    }

    /// Adds a line number to the place.
    #[must_use]
    pub fn at_line(mut self, line: u32) -> Issue {
        self.location.line = Some(line);
        self
    }
}

/// A list of issues that stays short. A kind of issue is one rule in one column of one table. The list keeps the first
/// few issues of each kind and counts the rest: the same fault in 100,000 rows is one finding.
#[derive(Debug)]
pub struct Issues {
    /// The most issues that are listed for each kind.
    most: usize,
    list: Vec<Issue>,
    kinds: BTreeMap<IssueKind, (Severity, Option<String>, usize)>,
}

/// The rule, table and column of an issue.
type IssueKind = (String, Option<String>, Option<String>);

impl Default for Issues {
    fn default() -> Issues {
        Issues::listing(20)
    }
}

impl Issues {
    /// Returns an empty list that keeps at most `most` issues of each kind.
    pub(crate) fn listing(most: usize) -> Issues {
        Issues {
            most,
            list: Vec::new(),
            kinds: BTreeMap::new(),
        }
    }

    /// Adds an issue, or only counts it if `most` issues of its kind are listed already.
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

    /// Returns all issues, with one summary line for each kind that has more issues than are listed.
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
