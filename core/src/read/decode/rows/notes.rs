//! Collects the issues of one database.

use std::collections::BTreeMap;

use crate::model::issue::{Issue, Issues};

/// The issues of one database.
#[derive(Debug)]
pub(super) struct Notes {
    file: String,
    issues: Issues,
    /// The forms of time in each column, as a bit set: 1 means a blank between date and time of day, 2 means a `T`.
    forms: BTreeMap<(&'static str, &'static str), u8>,
}

impl Notes {
    pub(super) fn new(file: &str) -> Notes {
        Notes {
            file: file.to_owned(),
            issues: Issues::default(),
            forms: BTreeMap::new(),
        }
    }

    /// Adds an issue, located in this database.
    pub(super) fn add(&mut self, issue: Issue) {
        self.issues.add(issue.at_file(&self.file));
    }

    /// Records the form in which a column writes a time.
    pub(super) fn time_form(&mut self, table: &'static str, column: &'static str, text: &str) {
        let form = match text.trim_start().as_bytes().get(10) {
            Some(b' ') => 1,
            Some(b'T' | b't') => 2,
            _ => return,
        };
        *self.forms.entry((table, column)).or_insert(0) |= form;
    }

    pub(super) fn extend(&mut self, issues: impl IntoIterator<Item = Issue>) {
        issues.into_iter().for_each(|issue| self.add(issue));
    }

    /// Returns all issues, including an issue for each column that mixes two forms of time.
    pub(super) fn finish(mut self) -> Vec<Issue> {
        for ((table, column), forms) in std::mem::take(&mut self.forms) {
            if forms == 3 {
                self.add(
                    Issue::noted(
                        "mixed-times",
                        format!("`{column}` mixes two forms of time, with a blank and with a `T`"),
                    )
                    .at_table(table)
                    .at_column(column)
                    .hint("Both forms are read. SQL that sorts or compares the column as text gives a wrong order (errata G5)."),
                );
            }
        }
        self.issues.finish()
    }
}
