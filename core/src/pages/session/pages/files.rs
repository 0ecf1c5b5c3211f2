//! Builds the pages of files, of tables and of issues.

use std::collections::BTreeSet;

use crate::model::TableInfo;
use crate::model::issue::{Issue, Location};
use crate::model::source::SourceError;
use crate::pages::check;
use crate::pages::session::values::unreadable;
use crate::pages::session::{Opened, Session};
use crate::pages::view::{Counts, FilesView, IssueView, IssuesView, RuleView, TableRows};
use crate::read::decode::{receipts, rows};

/// How many bytes of a log are read at a time.
const PIECE: usize = 1 << 20;

/// The largest number of bytes that are read of a table's cell.
const CELL: u32 = 512;

/// Lists the files and tables of a run.
pub fn files(opened: &Opened) -> FilesView {
    FilesView {
        files: opened.run.files.clone(),
        tables: opened.run.tables.clone(),
    }
}

/// Reads a range of a table's rows, in which large cells are cut.
///
/// # Errors
/// An error if the run has no database with this table, or if the table cannot be read.
pub fn table_rows(
    session: &Session,
    table: &str,
    from: u64,
    len: u32,
) -> Result<TableRows, SourceError> {
    let info = session.run.tables.iter().find(|t| t.name == table);
    if let (receipts::FILE, Some(info)) = (table, info) {
        return receipts(session, info, from, len);
    }
    let none = SourceError::NotFound;
    let db = session.values.db.as_ref();
    let db = db.ok_or_else(|| {
        none(format!(
            "with a table {table}, because the run has no database"
        ))
    })?;
    let info = info.ok_or_else(|| none(format!("{}, table {table}", db.name)))?;
    let rows = rows::table_rows(db.db.as_ref(), table, from, len, CELL);
    Ok(TableRows {
        total: info.rows,
        ..rows.map_err(|error| unreadable(db, &error))?
    })
}

fn receipts(
    session: &Session,
    info: &TableInfo,
    from: u64,
    len: u32,
) -> Result<TableRows, SourceError> {
    let path = format!("{}{}", session.root, receipts::FILE);
    let mut window = receipts::ReceiptsPage::new(&info.columns, from, len, CELL as usize);
    let mut read = 0;
    while read < receipts::MOST {
        let piece = session.values.source.read(&path, read as u64, PIECE)?;
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

/// Builds the page of issues with links to their places, errors first.
pub fn issues_page(opened: &Opened) -> IssuesView {
    let counts = Counts::of(opened.found());
    let found = opened.found().iter().cloned();
    let mut issues: Vec<IssueView> = found.map(|issue| issue_view(opened, issue)).collect();
    issues.sort_by_key(|view| std::cmp::Reverse(view.issue.severity));
    let names: BTreeSet<&str> = issues.iter().map(|view| view.issue.rule.as_str()).collect();
    let brief = |rule: &RuleView| RuleView {
        example: Vec::new(),
        ..rule.clone()
    };
    let rules = names.into_iter().filter_map(check::rule);
    IssuesView {
        counts,
        rules: rules.map(brief).collect(),
        issues,
    }
}

pub(super) fn issue_view(opened: &Opened, issue: Issue) -> IssueView {
    IssueView {
        node: execution_of(&issue.location).and_then(|row| Some(opened.node_of_row(row)?.get())),
        binding: binding_of(opened, &issue.location),
        place: place_words(&issue.location),
        issue,
    }
}

fn binding_of(opened: &Opened, at: &Location) -> Option<u32> {
    use crate::model::ValueAt;
    let found = opened.run.bindings.iter().position(|b| {
        match (&b.value, at.table.as_deref(), at.row, at.file.as_deref()) {
            (ValueAt::Row { rowid, .. }, Some("bindings"), Some(row), _) => *rowid == row,
            (ValueAt::File { path, .. }, _, _, Some(file)) => {
                path.as_ref() == file || path.strip_prefix(opened.root.as_str()) == Some(file)
            }
            _ => false,
        }
    });
    found.map(|b| b as u32)
}

fn execution_of(at: &Location) -> Option<i64> {
    at.row.filter(|_| at.table.as_deref() == Some("execution"))
}

/// Returns a location in words: `execution, row 12, metadata`, or `state.md, line 40`.
pub(super) fn place_words(at: &Location) -> String {
    let mut words: Vec<String> = Vec::new();
    words.extend(at.file.clone());
    words.extend(at.table.clone());
    words.extend(at.row.map(|row| format!("row {row}")));
    words.extend(at.column.clone());
    words.extend(at.line.map(|line| format!("line {line}")));
    words.join(", ")
}
