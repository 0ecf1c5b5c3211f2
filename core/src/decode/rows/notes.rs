//! Issues as they are found, bounded: a hundred thousand rows with one fault are one fault.

use std::collections::BTreeMap;

use crate::issue::{Issue, Severity};

/// How many issues of one rule in one column are listed one by one.
const LISTED: u64 = 20;

type Kind = (String, Option<String>, Option<String>);

/// Collects the issues of one database.
#[derive(Debug)]
pub(super) struct Notes {
    file: String,
    issues: Vec<Issue>,
    seen: BTreeMap<Kind, (u64, Severity)>,
    /// Which forms of time each column holds: 1 with a blank between day and time, 2 with a `T`.
    forms: BTreeMap<(&'static str, &'static str), u8>,
}

impl Notes {
    pub(super) fn new(file: &str) -> Notes {
        Notes {
            file: file.to_owned(),
            issues: Vec::new(),
            seen: BTreeMap::new(),
            forms: BTreeMap::new(),
        }
    }

    /// Adds an issue, placed in this database.
    pub(super) fn add(&mut self, mut issue: Issue) {
        let kind = (
            issue.rule.clone(),
            issue.location.table.clone(),
            issue.location.column.clone(),
        );
        let (count, _) = self.seen.entry(kind).or_insert((0, issue.severity));
        *count += 1;
        if *count <= LISTED {
            issue.location.file = Some(self.file.clone());
            self.issues.push(issue);
        }
    }

    /// Remembers in which form a column wrote a time.
    pub(super) fn time_form(&mut self, table: &'static str, column: &'static str, text: &str) {
        let form = match text.trim_start().as_bytes().get(10) {
            Some(b' ') => 1,
            Some(b'T' | b't') => 2,
            _ => return,
        };
        *self.forms.entry((table, column)).or_insert(0) |= form;
    }

    pub(super) fn extend(&mut self, issues: impl IntoIterator<Item = Issue>) {
        for issue in issues {
            self.add(issue);
        }
    }

    /// All issues, with a line for those that were not listed one by one.
    pub(super) fn finish(mut self) -> Vec<Issue> {
        for ((table, column), forms) in std::mem::take(&mut self.forms) {
            if forms == 3 {
                self.add(
                    Issue::info(
                        "mixed-times",
                        format!("{column} mixes two forms of time, with a blank and with a T"),
                    )
                    .at_table(table)
                    .at_column(column)
                    .hint("Both are read; as text they do not sort and cannot be compared (errata G5)."),
                );
            }
        }
        let mut issues = self.issues;
        for ((rule, table, column), (count, severity)) in self.seen {
            if count > LISTED {
                let mut more = Issue::new(
                    severity,
                    &rule,
                    format!("… and {} more of the same kind", count - LISTED),
                );
                more.location.file = Some(self.file.clone());
                more.location.table = table;
                more.location.column = column;
                issues.push(more);
            }
        }
        issues
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fault_in_many_rows_is_counted_not_repeated() {
        let mut notes = Notes::new("state.db");
        for row in 0..100_000 {
            notes.add(
                Issue::warning("malformed-json", "no JSON")
                    .at_row("execution", row)
                    .at_column("metadata"),
            );
        }
        notes.add(Issue::info("malformed-json", "no JSON").at_row("gates", 1));
        let issues = notes.finish();
        assert_eq!(issues.len(), 22);
        let last = issues.last().unwrap();
        assert_eq!(last.message, "… and 99980 more of the same kind");
        assert_eq!(last.severity, Severity::Warning);
        assert_eq!(last.location.table.as_deref(), Some("execution"));
    }
}
