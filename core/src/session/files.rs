use std::collections::BTreeSet;

use super::Session;
use super::index::node_of_row;
use crate::check::look::{Looked, look};
use crate::check::{self, Rule};
use crate::decode::{receipts, rows};
use crate::issue::{Issue, Location};
use crate::model::TableInfo;
use crate::source::SourceError;
use crate::view::{Counts, FilesView, IssueView, IssuesView, TableRows};

/// How much of a log is read at a time.
const PIECE: usize = 1 << 20;

/// How much of a cell a table shows, in bytes.
const CELL: u32 = 512;

impl Session {
    /// Every file and every table.
    pub fn files(&self) -> FilesView {
        FilesView {
            files: self.run.files.clone(),
            tables: self.run.tables.clone(),
        }
    }

    /// A window of a table's rows, large cells cut.
    ///
    /// # Errors
    /// When there is no database, or it cannot be read.
    pub fn table_rows(&self, table: &str, from: u64, len: u32) -> Result<TableRows, SourceError> {
        if table == receipts::FILE
            && let Some(info) = self.run.tables.iter().find(|t| t.name == table)
        {
            return self.receipts(info, from, len);
        }
        let Some(db) = &self.db else {
            return Err(SourceError::NotFound(format!(
                "a database with a table {table}"
            )));
        };
        if !self.run.tables.iter().any(|t| t.name == table) {
            return Err(SourceError::NotFound(format!("{}, table {table}", db.name)));
        }
        let mut rows = rows::table_rows(db.db.as_ref(), table, from, len, CELL).map_err(|e| {
            SourceError::Unreadable {
                path: db.name.to_string(),
                cause: e.to_string(),
            }
        })?;
        rows.total = self
            .run
            .tables
            .iter()
            .find(|t| t.name == table)
            .and_then(|t| t.rows);
        Ok(rows)
    }

    fn receipts(&self, info: &TableInfo, from: u64, len: u32) -> Result<TableRows, SourceError> {
        let path = format!("{}{}", self.root, receipts::FILE);
        let mut window = receipts::Window::new(&info.columns, from, len, CELL as usize);
        let mut read = 0;
        while read < receipts::MOST {
            let piece = self.source.read(&path, read as u64, PIECE)?;
            if piece.is_empty() || !window.take(&piece) {
                break;
            }
            read += piece.len();
        }
        Ok(TableRows {
            table: info.name.clone(),
            columns: info.columns.iter().map(|c| c.name.clone()).collect(),
            more_columns: 0,
            from,
            total: info.rows,
            rows: window.rows(),
        })
    }

    /// The issues of reading the run: of decoding, then of folding.
    pub fn issues(&self) -> impl Iterator<Item = &Issue> {
        self.run.issues.iter().chain(&self.trace.issues)
    }

    /// The issues of reading the run, and what [`Session::check`] finds without reading more.
    pub(super) fn found(&self, now: Option<i64>) -> Vec<Issue> {
        let mut issues: Vec<Issue> = self.issues().cloned().collect();
        issues.extend(look(Looked {
            run: &self.run,
            trace: &self.trace,
            listing: self.listing.as_ref(),
            now,
        }));
        issues
    }

    /// The issues that [`Session::issues_page`] lists, by severity.
    pub fn issue_counts(&self) -> Counts {
        Counts::of(&self.found(self.now))
    }

    /// The issues with links to their places: errors first.
    pub fn issues_page(&self) -> IssuesView {
        let found = self.found(self.now);
        let counts = Counts::of(&found);
        let mut issues: Vec<IssueView> = found
            .into_iter()
            .map(|issue| self.issue_view(issue))
            .collect();
        issues.sort_by_key(|view| std::cmp::Reverse(view.issue.severity));
        let names: BTreeSet<&str> = issues.iter().map(|view| view.issue.rule.as_str()).collect();
        IssuesView {
            counts,
            rules: names
                .into_iter()
                .filter_map(check::rule)
                .map(Rule::brief)
                .collect(),
            issues,
        }
    }

    pub(super) fn issue_view(&self, issue: Issue) -> IssueView {
        IssueView {
            node: execution_of(&issue.location).and_then(|row| node_of_row(&self.trace, row)),
            binding: self.binding_of(&issue.location),
            place: place_words(&issue.location),
            issue,
        }
    }

    fn binding_of(&self, at: &Location) -> Option<u32> {
        use crate::model::ValueAt;
        let found = self.run.bindings.iter().position(|b| {
            match (&b.value, at.table.as_deref(), at.row, at.file.as_deref()) {
                (ValueAt::Row { rowid, .. }, Some("bindings"), Some(row), _) => *rowid == row,
                (ValueAt::File { path, .. }, _, _, Some(file)) => {
                    path.as_ref() == file || path.strip_prefix(self.root.as_str()) == Some(file)
                }
                _ => false,
            }
        });
        found.map(|b| b as u32)
    }
}

fn execution_of(at: &Location) -> Option<i64> {
    at.row.filter(|_| at.table.as_deref() == Some("execution"))
}

/// `execution, row 12, metadata`; `state.md, line 40`.
pub(super) fn place_words(at: &Location) -> String {
    let mut words: Vec<String> = Vec::new();
    words.extend(at.file.clone());
    words.extend(at.table.clone());
    words.extend(at.row.map(|row| format!("row {row}")));
    words.extend(at.column.clone());
    words.extend(at.line.map(|line| format!("line {line}")));
    words.join(", ")
}
