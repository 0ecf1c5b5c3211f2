//! Reports the parts of a run that reading left out, because a conversion can only copy what was read.

use super::Carry;
use crate::model::ValueAt;
use crate::model::database::{Scan, Want, WantedRows};
use crate::model::issue::{Issue, Location};
use crate::model::schema::{self, known_column, known_table};

/// The rules of issues which mean that a part of the run was not read, or was changed by reading.
const UNREAD: &[&str] = &[
    "bindings-cut",
    "computed-column",
    "duplicate-id",
    "encrypted-value",
    "file-cut",
    "file-unreadable",
    "folder-left-out",
    "invalid-utf8",
    "listing-cut",
    "log-cut",
    "long-text",
    "missing-id",
    "names-hidden",
    "not-a-number",
    "reading-failed",
    "reading-stopped",
    "segments-cut",
    "state-file-cut",
    "state-file-not-read",
    "table-damaged",
    "table-not-read",
    "too-many-rows",
    "unreadable-folder",
    "unsafe-path",
];

impl Carry<'_, '_> {
    /// Reports the parts that were not read, or were changed by reading.
    pub(super) fn reading(&mut self) {
        let session = self.session;
        for issue in &session.run.issues {
            if UNREAD.contains(&&*issue.rule) || lines_lost(issue) {
                self.left(place(&issue.location), &*issue.message);
            }
        }
        for other in &session.other_runs {
            let what = "not copied: another run of the same database";
            self.left(format!("run {other}"), what);
        }
    }

    /// Reports unknown tables and columns, and rows that do not belong to the run.
    pub(super) fn tables(&mut self) {
        let session = self.session;
        if session.values.db.is_none() {
            return;
        }
        for table in &session.run.tables {
            let place = format!("{} {}", table.kind, table.name);
            if [schema::BINDING_HISTORY, schema::AGENT_MEMORY_HISTORY].contains(&&*table.name)
                || table.name.starts_with("sqlite_")
            {
                continue;
            }
            if table.name == schema::EVENTS && table.rows.is_some_and(|rows| rows > 0) {
                let what = "not copied: the earlier states of statements that Prosescope recorded; the present states are copied";
                self.left(place, what);
                continue;
            }
            if !known_table(&table.name) {
                let what = match table.rows {
                    Some(0) => continue,
                    Some(rows) => {
                        format!("not copied: {rows} rows of a table that OpenProse does not define")
                    }
                    None => "not copied: OpenProse does not define this table or view".to_owned(),
                };
                self.left(place, what);
                continue;
            }
            for column in &table.columns {
                let known = known_column(&table.name, &column.name);
                if !known && table.rows != Some(0) && !self.is_bare(&table.name, &column.name) {
                    let place = format!("column {}.{}", table.name, column.name);
                    self.left(place, "not copied: OpenProse does not define this column");
                }
            }
            let unread = table
                .rows
                .zip(self.carried(&table.name))
                .map_or(0, |(rows, carried)| rows.saturating_sub(carried));
            if unread > 0 {
                let what = format!("not copied: {unread} rows of the table, which were not read");
                self.left(place, what);
            }
        }
    }

    /// Returns whether a column in a store of many runs has no facts about this run: each cell is the run's id, NULL or
    /// `{}`.
    fn is_bare(&self, table: &str, column: &str) -> bool {
        let Some(db) = self.session.values.db.as_ref().map(|store| &store.db) else {
            return false;
        };
        let Some(found) = db.table(table).ok().filter(|_| db.holds_many_runs()) else {
            return false;
        };
        if column == "run_id" || column == schema::SOURCE_EXECUTION {
            return true;
        }
        let scan = Scan {
            table: &found,
            wants: &[Want::of(column, 3)],
            rows: WantedRows::All,
        };
        let mut is_bare = true;
        let read = db.scan(&scan, &mut |row| {
            is_bare = row
                .cell(0)
                .is_ok_and(|cell| matches!(cell.value.lossy().as_deref(), None | Some("{}")));
            is_bare
        });
        read.is_ok() && is_bare
    }

    /// Returns how many rows of a table were read; `None` for a table whose rows are not counted.
    fn carried(&self, table: &str) -> Option<u64> {
        let run = &self.session.run;
        let rows = match table {
            schema::EXECUTION => run.executions.len(),
            schema::BINDINGS => run
                .bindings
                .iter()
                .filter(|b| matches!(b.value, ValueAt::Row { .. }))
                .count(),
            schema::AGENT_SEGMENTS => super::agents::own_agents(self.session)
                .map(|agent| agent.segments.len())
                .sum(),
            schema::GATES => run.recorded_gates().count(),
            schema::GATE_AUDIT_LOG => run.audit.len(),
            _ => return None,
        };
        u64::try_from(rows).ok()
    }
}

/// Returns whether lines of a log or whole files were lost because they are not JSON. `Carry::metadata` reports
/// metadata that is not valid JSON.
fn lines_lost(issue: &Issue) -> bool {
    issue.rule == "malformed-json" && issue.location.table.is_none()
}

fn place(location: &Location) -> String {
    let table = location.table.as_ref().map(|table| match &location.column {
        Some(column) => format!("{table}.{column}"),
        None => table.clone(),
    });
    let row = location.row.map(|row| format!("row {row}"));
    let line = location.line.map(|line| format!("line {line}"));
    let file = location.file.clone().filter(|_| table.is_none());
    let parts: Vec<String> = [file, table, row, line].into_iter().flatten().collect();
    if parts.is_empty() {
        "the run".to_owned()
    } else {
        parts.join(", ")
    }
}
