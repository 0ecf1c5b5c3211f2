//! A row is read back before it is committed: whatever a foreign schema does with a value (a type that turns `007`
//! into 7, names that are one in all but case), a command says that something is written only when it is.

use std::collections::HashSet;

use prosescope_core::write::Change;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::apply::json;
use super::statements::Unwritten;

/// Columns and what they are to hold.
type Columns = Vec<(&'static str, Value)>;

/// Compares what is stored with the change that was just written.
///
/// # Errors
/// [`Unwritten::Otherwise`], which names the column.
pub(super) fn row(conn: &Connection, run: &str, change: &Change) -> Result<(), Unwritten> {
    let Some((table, key, columns)) = expected(run, change) else {
        return Ok(());
    };
    // As an index finds it; what it is exactly is among the columns that are compared.
    let keys: Vec<String> = (1..)
        .zip(&key)
        .map(|(n, (name, value))| match value {
            Value::Null => format!("{name} IS NULL AND ?{n} IS NULL"),
            _ => format!("{name} = ?{n} COLLATE BINARY"),
        })
        .collect();
    let columns: Columns = key.iter().cloned().chain(columns).collect();
    let same: Vec<String> = (key.len() + 1..)
        .zip(&columns)
        .map(|(n, (name, _))| format!("min({})", is(name, n)))
        .collect();
    let sql = format!(
        "SELECT count(*), {} FROM {table} WHERE {}",
        same.join(", "),
        keys.join(" AND ")
    );
    let values = key.iter().chain(&columns).map(|(_, value)| value);
    let differs = conn
        .prepare_cached(&sql)?
        .query_row(params_from_iter(values), |row| {
            if row.get::<_, i64>(0)? == 0 {
                return Ok(Some(None));
            }
            for (n, column) in (1..).zip(&columns) {
                if row.get::<_, Option<bool>>(n)? != Some(true) {
                    return Ok(Some(Some(column)));
                }
            }
            Ok(None)
        })?;
    match differs {
        None => Ok(()),
        Some(None) => {
            let named: Vec<String> = key
                .iter()
                .map(|(name, value)| format!("{name} {}", shown(value)))
                .collect();
            Err(Unwritten::Otherwise(format!(
                "after it was written, {table} has no row of {}",
                named.join(" and ")
            )))
        }
        Some(Some((name, value))) => {
            let declared: Option<String> = conn
                .query_row(
                    "SELECT type FROM pragma_table_xinfo(?1) WHERE name = ?2 COLLATE NOCASE",
                    [table, name],
                    |row| row.get(0),
                )
                .ok();
            let declared = match declared.as_deref() {
                None | Some("") => "without a type".to_owned(),
                Some(declared) => declared.to_owned(),
            };
            Err(Unwritten::Otherwise(format!(
                "{table}.{name} was written as {} and reads otherwise; the column is declared {declared}",
                shown(value)
            )))
        }
    }
}

/// The last change of each row: what the row is once all of them are done.
pub(super) fn last<'c>(run: &str, changes: &'c [Change]) -> Vec<&'c Change> {
    let mut seen = HashSet::new();
    let mut last: Vec<&Change> = changes.iter().rev().collect();
    last.retain(|change| {
        expected(run, change)
            .is_some_and(|(table, key, _)| seen.insert((table, format!("{key:?}"))))
    });
    last
}

/// A column that holds a value as it was bound: neither its type nor its collation has a say. A whole number may be
/// stored as its digits, as older tables do.
fn is(name: &str, n: usize) -> String {
    format!(
        "(+{name} IS ?{n} COLLATE BINARY OR (typeof(?{n}) = 'integer' AND +{name} IS CAST(?{n} AS TEXT)))"
    )
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(n) => n.to_string(),
        Value::Text(text) => {
            let short: String = text.chars().take(40).collect();
            let more = if short.len() < text.len() { "…" } else { "" };
            format!("'{short}{more}'")
        }
        other => format!("{other:?}"),
    }
}

/// The table, which row of it, and what it is to hold; none for what is a file.
fn expected(run: &str, change: &Change) -> Option<(&'static str, Columns, Columns)> {
    let text = |text: &str| Value::Text(text.to_owned());
    let maybe = |text: &Option<String>| text.clone().map_or(Value::Null, Value::Text);
    let filled = |text: &str| match text {
        "" => Value::Null,
        text => Value::Text(text.to_owned()),
    };
    let number = |n: Option<i64>| n.map_or(Value::Null, Value::Integer);
    Some(match change {
        Change::Attachment(_) => return None,
        Change::Run(row) => {
            let mut columns = vec![("updated_at", text(&row.updated))];
            columns.extend(row.status.as_deref().map(|status| ("status", text(status))));
            ("run", vec![("id", text(run))], columns)
        }
        Change::Execution(row) => (
            "execution",
            vec![("id", Value::Integer(row.id))],
            vec![
                ("statement_index", number(row.index)),
                ("statement_text", text(&row.text)),
                ("status", text(&row.status)),
                ("started_at", maybe(&row.started)),
                ("completed_at", maybe(&row.completed)),
                ("error_message", maybe(&row.error)),
                ("parent_id", number(row.parent)),
                ("metadata", maybe(&json(&row.metadata))),
            ],
        ),
        Change::UpdateExecution(row) => {
            let status = row.status.as_deref().map(|status| ("status", text(status)));
            let completed = row.completed.as_ref().map(|at| ("completed_at", maybe(at)));
            let error = row
                .error
                .as_ref()
                .map(|error| ("error_message", maybe(error)));
            (
                "execution",
                vec![("id", Value::Integer(row.id))],
                [status, completed, error].into_iter().flatten().collect(),
            )
        }
        Change::Binding(row) => (
            "bindings",
            vec![
                ("name", text(&row.name)),
                ("execution_id", number(row.execution_id)),
            ],
            vec![
                ("kind", text(&row.kind)),
                ("value", text(&row.value)),
                ("source_statement", maybe(&row.source)),
                ("updated_at", filled(&row.at)),
                ("attachment_path", maybe(&row.attachment)),
            ],
        ),
        Change::Memory(row) => (
            "agents",
            vec![("name", text(&row.agent))],
            vec![
                ("memory", text(&row.memory)),
                ("updated_at", filled(&row.at)),
            ],
        ),
        Change::Segment(row) => (
            "agent_segments",
            vec![
                ("agent_name", text(&row.agent)),
                ("segment_number", Value::Integer(row.number)),
            ],
            vec![
                ("timestamp", filled(&row.at)),
                ("prompt", text(&row.prompt)),
                ("summary", text(&row.summary)),
            ],
        ),
        Change::Import(row) => (
            "imports",
            vec![("alias", text(&row.alias))],
            vec![
                ("source_url", filled(&row.source_url)),
                ("fetched_at", filled(&row.fetched)),
                ("inputs_schema", maybe(&row.inputs_schema)),
                ("outputs_schema", maybe(&row.outputs_schema)),
            ],
        ),
        Change::Gate(row) => (
            "gates",
            vec![("id", text(&row.id)), ("run_id", text(&row.run_id))],
            vec![
                ("execution_id", number(row.execution_id)),
                ("prompt", maybe(&row.prompt)),
                ("allow", text(&row.allow)),
                ("timeout", maybe(&row.timeout)),
                ("timeout_at", maybe(&row.timeout_at)),
                ("on_reject", maybe(&row.on_reject)),
                ("status", text("pending")),
                ("created_at", filled(&row.created)),
                ("metadata", maybe(&json(&row.metadata))),
            ],
        ),
        Change::ResolveGate(row) => (
            "gates",
            // Whose run it is may be NULL (errata G11): the time tells it from one of the same name.
            vec![
                ("id", text(&row.id)),
                ("status", text(&row.status)),
                ("resolved_at", filled(&row.at)),
            ],
            vec![
                ("resolved_by", filled(&row.by)),
                ("resolution_comment", maybe(&row.comment)),
            ],
        ),
        Change::Audit(row) => (
            "gate_audit_log",
            vec![("id", Value::Integer(row.id))],
            vec![
                ("gate_id", text(&row.gate_id)),
                ("run_id", text(&row.run_id)),
                ("event_type", text(&row.event)),
                ("principal", filled(&row.principal)),
                ("comment", maybe(&row.comment)),
                ("timestamp", filled(&row.at)),
                ("metadata", filled(&row.metadata)),
            ],
        ),
    })
}
