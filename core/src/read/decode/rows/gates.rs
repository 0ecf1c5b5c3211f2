//! Reads a run's gates and audit log from the tables `gates` and `gate_audit_log` of a database.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use super::execution::malformed;
use super::reader::{RowsReader, not_read};
use crate::model::database::{Cell, DecodeError, LONG_TEXT, Scan, Want, WantedRows};
use crate::model::issue::Issue;
use crate::model::schema;
use crate::model::{AuditEvent, Gate, GateStatus, Text};
use crate::read::decode::fields::{self, Fields};
use crate::read::gate::audit::is_sealed;
use crate::read::gate::chain;

/// The ids of a database's runs, which decide whether a gate belongs to the run that is read.
pub(super) struct RunIds<'a> {
    /// The id of the run that is read; empty if the table `run` has no row.
    pub(super) chosen: &'a str,
    /// The ids in the other rows of the table `run`.
    pub(super) others: &'a BTreeSet<String>,
}

impl RunIds<'_> {
    /// Whether a row with this run id belongs to another run of the database.
    fn elsewhere(&self, run: Option<&str>) -> bool {
        run.is_some_and(|run| run != self.chosen && self.others.contains(run))
    }
}

/// Reads the gates of the chosen run, and the gates whose run is not recorded (errata G11).
pub(super) fn read_gates(reader: &mut RowsReader<'_>, runs: &RunIds<'_>) -> Vec<Gate> {
    let mut gates: Vec<Gate> = Vec::new();
    // The scan does not filter by run, because gates of an unrecorded run are kept. Gates of other recorded runs are
    // skipped below.
    let only_run = reader.only_run.take();
    let source = reader
        .table(schema::GATES)
        .and_then(|table| table.column(schema::SOURCE_EXECUTION))
        .map(|_| Want::short(schema::SOURCE_EXECUTION));
    let columns = schema::table_spec(schema::GATES).map_or(&[][..], |spec| spec.columns);
    let columns: Vec<Want<'static>> = columns.iter().copied().chain(source).collect();
    reader.scan_some(schema::GATES, &columns, |cells| {
        let mut gate = fields::gate(cells);
        if source.is_some() {
            gate.source_execution_id = cells.int(schema::SOURCE_EXECUTION);
        }
        if runs.elsewhere(gate.run_id.as_deref()) {
            return;
        }
        for (text, column) in [(&gate.allow, "allow"), (&gate.metadata, "metadata")] {
            if let Some(why) = text.as_deref().and_then(not_json) {
                cells
                    .notes
                    .add(malformed(schema::GATES, cells.at, column, &why));
            }
        }
        match gate.run_id.as_deref() {
            Some(run) if run == runs.chosen => {}
            named => {
                let named = named.map_or("an unnamed run".to_owned(), |run| format!("run {run}"));
                let message = format!(
                    "gate {} belongs to {named}, which is not recorded here",
                    gate.id
                );
                let issue = Issue::warning("gate-of-unknown-run", message)
                    .hint("The gate is shown with this run, although OpenProse's queries would not return it.");
                cells.mark_odd("run_id", issue);
            }
        }
        if let GateStatus::Other(word) = &gate.status {
            let message = format!("gate {} has the unknown status “{word}”", gate.id);
            let issue = Issue::warning("unknown-gate-status", message)
                .hint("Correct the status. OpenProse has `pending`, `approved`, `rejected` and `timeout`.");
            cells.mark_odd("status", issue);
        }
        gates.push(gate);
    });
    reader.only_run = only_run;
    // Gates are ordered by their time of creation. Gates without a time come first, in stored order.
    gates.sort_by_key(|g| g.created.as_ref().and_then(|c| c.millis()));
    gates
}

/// Reads the audit log of the chosen run, in order of id (errata G8).
pub(super) fn read_audit(reader: &mut RowsReader<'_>, runs: &RunIds<'_>) -> Vec<AuditEvent> {
    let only_run = reader.only_run.take();
    let mut events: Vec<AuditEvent> = Vec::new();
    let mut addresses: Vec<i64> = Vec::new();
    reader.scan(schema::GATE_AUDIT_LOG, |cells| {
        let event = fields::audit_event(cells, cells.at);
        if runs.elsewhere(Some(&event.run_id)) {
            return;
        }
        if let Some(why) = event.metadata.as_deref().and_then(not_json) {
            cells.notes.add(malformed(
                schema::GATE_AUDIT_LOG,
                event.id,
                "metadata",
                &why,
            ));
        }
        addresses.push(cells.at);
        events.push(event);
    });
    reader.only_run = only_run;
    if let Err(error) = add_whole_rows(reader, &mut events, &addresses) {
        reader.notes.add(
            not_read(
                &error,
                format!("the rows of the audit log cannot be read completely: {error}"),
            )
            .at_table(schema::GATE_AUDIT_LOG)
            .hint("The log is shown, but its chain cannot be verified."),
        );
    }
    events.sort_by_key(|e| e.id);
    // Only Prosescope seals rows, and only Prosescope creates the triggers that protect the log. Without sealed rows,
    // missing triggers are normal.
    if events.iter().any(is_sealed)
        && let Ok(gone) = reader.db.unguarded()
        && !gone.is_empty()
    {
        let message = format!(
            "the audit log has sealed rows, but lacks the triggers that prevent changes of rows: {}",
            gone.join(", ")
        );
        let issue = Issue::warning("audit-unguarded", message)
            .hint("Compare the log with a head that you noted earlier. The triggers were dropped, or another tool made the tables.");
        reader.notes.add(issue.at_table(schema::GATE_AUDIT_LOG));
    }
    events
}

/// Returns why a text is not JSON; `None` if it is JSON or blank.
pub(super) fn not_json(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return None;
    }
    serde_json::from_str::<serde::de::IgnoredAny>(text)
        .err()
        .map(|e| e.to_string())
}

/// Maximum bytes of all audit rows kept as JSON.
const WHOLE: usize = 32 << 20;

/// Maximum bytes of one cell of an audit row that is kept as JSON.
const LONGEST: u32 = 16 * LONG_TEXT;

/// Adds each event's row as JSON: all columns, in their stored types, keys sorted, no blanks. A BLOB, or a text that
/// is not valid UTF-8, is `{"blob":"hex"}`. The hash chain is computed over this JSON (errata G7).
fn add_whole_rows(
    reader: &mut RowsReader<'_>,
    events: &mut [AuditEvent],
    addresses: &[i64],
) -> Result<(), DecodeError> {
    let Some(found) = reader.table(schema::GATE_AUDIT_LOG) else {
        return Ok(());
    };
    // The columns are sorted here, because `serde_json` does not sort keys if any crate enables `preserve_order`.
    let mut columns: Vec<&str> = found.read_columns();
    columns.sort_unstable();
    if columns.is_empty() || columns.len() > 200 {
        return Ok(());
    }
    let wants: Vec<Want<'_>> = columns
        .iter()
        .map(|column| Want::of(column, LONGEST).sized())
        .collect();
    let scan = Scan {
        table: found,
        wants: &wants,
        rows: WantedRows::All,
    };
    let (mut held, mut left_out) = (0_usize, 0_u64);
    let mut wanted = addresses.iter().zip(events).peekable();
    reader.db.scan(&scan, &mut |row| {
        if let Some((_, event)) = wanted.next_if(|(at, _)| **at == row.at()) {
            let long = |i| row.size(i).1 > Some(u64::from(LONGEST));
            if held > WHOLE || (0..wants.len()).any(long) {
                left_out += 1;
            } else {
                let mut object = Map::new();
                for (i, column) in columns.iter().enumerate() {
                    let value = row.cell(i).unwrap_or(Cell::NULL).value;
                    object.insert((*column).to_owned(), chain::cell(&value));
                }
                let text = Json::Object(object).to_string();
                held += text.len();
                event.row_json = Some(Text::from(text));
            }
        }
        wanted.peek().is_some()
    })?;
    if left_out > 0 {
        reader.notes.add(
            Issue::warning(
                "audit-row-too-long",
                format!("{left_out} rows of the audit log are too long to be verified"),
            )
            .at_table(schema::GATE_AUDIT_LOG)
            .hint("The hashes of these rows are not checked."),
        );
    }
    Ok(())
}
