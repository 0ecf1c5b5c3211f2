use serde_json::{Map, Value as Json, json};

use super::{Repair, RepairNote};
use crate::model::database::Value;
use crate::model::schema::{BINDING_HISTORY, BINDINGS, EXECUTION, GATES, IMPORTS, RUN};
use crate::read::gate::allow::Allow;

/// A row of a table, in the order of its columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RepairedRow {
    /// The rowid of the row.
    pub rowid: i64,
    /// The cells of the row, each with its column's name.
    pub cells: Vec<(String, Value<'static>)>,
}

impl RepairedRow {
    fn at(&self, column: &str) -> Option<usize> {
        self.cells
            .iter()
            .position(|(name, _)| name.eq_ignore_ascii_case(column))
    }

    /// Returns the value of a column.
    pub fn get(&self, column: &str) -> Option<&Value<'static>> {
        self.cells.get(self.at(column)?).map(|(_, cell)| cell)
    }

    fn set(&mut self, column: &str, cell: Value<'static>) -> Value<'static> {
        match self.at(column).and_then(|at| self.cells.get_mut(at)) {
            Some((_, old)) => std::mem::replace(old, cell),
            None => {
                self.cells.push((column.to_owned(), cell));
                Value::Null
            }
        }
    }

    /// Changes a column and records the change.
    fn fix(
        &mut self,
        rule: &'static str,
        (table, column): (&str, &str),
        after: Value<'static>,
        did: &'static str,
    ) -> RepairNote {
        let before = self.set(column, after.clone());
        RepairNote {
            rule,
            table: table.to_owned(),
            row: self.rowid,
            column: column.to_owned(),
            did,
            before,
            after,
        }
    }
}

/// A repaired row, the table that receives it, and the repairs.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedRow {
    /// The table that receives the row.
    pub table: String,
    /// The row after the repairs.
    pub row: RepairedRow,
    /// A note on each repair.
    pub notes: Vec<RepairNote>,
}

impl Repair {
    /// Returns the row to add to the table `run` of a database if that table is empty.
    pub fn missing_run(&self) -> PlacedRow {
        let (path, source, status) = &self.missing_run;
        let text = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::text);
        let mut row = RepairedRow {
            rowid: 1,
            cells: Vec::new(),
        };
        row.set("id", Value::text(&self.run));
        row.set("program_path", text(path));
        row.set("program_source", text(source));
        // The start of the run is unknown. Without this NULL, the column's default would be the current time.
        row.set("started_at", Value::Null);
        row.set("updated_at", Value::text(&self.at));
        row.set("status", Value::text(status));
        let note = RepairNote {
            rule: "no-run-row",
            table: RUN.to_owned(),
            row: row.rowid,
            column: String::new(),
            did: "added the missing row of the run, with the known values",
            before: Value::Null,
            after: Value::text(&self.run),
        };
        PlacedRow {
            table: RUN.to_owned(),
            row,
            notes: vec![note],
        }
    }

    /// Repairs a row of `table`. Returns the row with the table that receives it, and a note on each repair.
    pub fn row(&self, table: &str, mut row: RepairedRow) -> PlacedRow {
        let mut to = table.to_owned();
        let notes = match table.to_ascii_lowercase().as_str() {
            RUN => self.run_row(&mut row),
            EXECUTION => self.execution(&mut row),
            BINDINGS if self.superseded.contains(&row.rowid) => {
                to = BINDING_HISTORY.to_owned();
                vec![self.history(&mut row)]
            }
            GATES => self.gate(&mut row),
            IMPORTS => ["inputs_schema", "outputs_schema"]
                .into_iter()
                .filter_map(|column| wrapped(IMPORTS, &mut row, column, false))
                .collect(),
            _ => Vec::new(),
        };
        PlacedRow {
            table: to,
            row,
            notes,
        }
    }

    fn run_row(&self, row: &mut RepairedRow) -> Vec<RepairNote> {
        let mut notes = Vec::new();
        let named = |cell: &Value<'_>| cell.as_text().is_some_and(|id| !id.trim().is_empty());
        if !row.get("id").is_some_and(named) && !self.run.is_empty() {
            let did = "gave a run without an id the name of its folder as id";
            notes.push(row.fix("unnamed-run", (RUN, "id"), Value::text(&self.run), did));
        }
        let own = row.get("id").and_then(Value::as_text) == Some(&*self.run);
        if let Some(status) = self.status.as_ref().filter(|_| own) {
            let did = "replaced the status of the run by the one that its other records show";
            let at = (RUN, "status");
            notes.push(row.fix("status-disagrees", at, Value::text(status), did));
        }
        notes
    }

    fn execution(&self, row: &mut RepairedRow) -> Vec<RepairNote> {
        let mut notes = Vec::new();
        let id = match row.get("id").and_then(Value::as_integer) {
            Some(id) => id,
            None => {
                let did = "gave a row without an id its rowid as id";
                let after = Value::Integer(row.rowid);
                notes.push(row.fix("missing-id", (EXECUTION, "id"), after, did));
                row.rowid
            }
        };
        if let Some((parent, rule)) = self.parents.get(&id) {
            let after = parent.map_or(Value::Null, Value::Integer);
            let did = "replaced a wrong parent by the one that the trace shows";
            let note = row.fix(rule, (EXECUTION, "parent_id"), after, did);
            notes.push(RepairNote { row: id, ..note });
        }
        notes.extend(wrapped(EXECUTION, row, "metadata", true));
        notes
    }

    /// Turns a row of `bindings` that a later row replaced into a row of the history table.
    fn history(&self, row: &mut RepairedRow) -> RepairNote {
        row.set("replaced_at", Value::text(&self.at));
        let known = [
            "name",
            "execution_id",
            "kind",
            "source_statement",
            "created_at",
            "updated_at",
            "replaced_at",
            "attachment_path",
            "value",
        ];
        // The history table lacks some columns of `bindings`, so the note keeps their values.
        let rest = row
            .cells
            .iter()
            .filter(|(name, _)| !known.contains(&name.to_ascii_lowercase().as_str()));
        let rest: Map<String, Json> = rest
            .map(|(name, cell)| (name.clone(), shown(cell)))
            .collect();
        let before = if rest.is_empty() {
            Value::Null
        } else {
            Value::text(&Json::Object(rest).to_string())
        };
        row.cells
            .retain(|(name, _)| known.contains(&name.to_ascii_lowercase().as_str()));
        let name = row.get("name").cloned().unwrap_or_default();
        if name.is_null() {
            row.set("name", Value::text(""));
        }
        RepairNote {
            rule: "duplicate-binding",
            table: BINDINGS.to_owned(),
            row: row.rowid,
            column: String::new(),
            did: "moved the earlier of two rows for one name to the table of earlier values",
            before,
            after: name,
        }
    }

    fn gate(&self, row: &mut RepairedRow) -> Vec<RepairNote> {
        let mut notes = Vec::new();
        if row.get("run_id").is_none_or(Value::is_null) {
            let did = "gave a gate without a run the id of this run";
            let (at, after) = ((GATES, "run_id"), Value::text(&self.run));
            notes.push(row.fix("gate-of-unknown-run", at, after, did));
        }
        // An unreadable `allow` admits no principal (errata G4), so an empty list replaces it.
        let unreadable = match row.get("allow") {
            None | Some(Value::Null) => false,
            Some(cell) => cell
                .as_text()
                .is_none_or(|text| Allow::parse(Some(text)).is_err()),
        };
        if unreadable {
            let before = row.get("allow").and_then(Value::as_text);
            let rule = match before.map(serde_json::from_str::<Json>) {
                Some(Ok(_)) => "gate-allow-unreadable",
                _ => "malformed-json",
            };
            let did = "replaced an unreadable list of approvers by an empty list";
            notes.push(row.fix(rule, (GATES, "allow"), Value::text("[]"), did));
        }
        notes.extend(wrapped(GATES, row, "metadata", true));
        notes
    }
}

/// Replaces a text that is not valid JSON by an object `{"x_malformed": "the text"}` (errata X13). If `object` is true,
/// JSON other than an object is replaced, too.
fn wrapped(
    table: &'static str,
    row: &mut RepairedRow,
    column: &str,
    object: bool,
) -> Option<RepairNote> {
    let cell = row.get(column)?;
    let text = cell.lossy()?.into_owned();
    if text.trim().is_empty() && matches!(cell, Value::Text(_)) {
        return None;
    }
    let fine = cell
        .as_text()
        .is_some_and(|text| match serde_json::from_str::<Json>(text) {
            Ok(value) => value.is_object() || !object,
            Err(_) => false,
        });
    if fine {
        return None;
    }
    let after = Value::text(&json!({ "x_malformed": text }).to_string());
    let did = "put a text that is not valid JSON into a JSON object";
    Some(row.fix("malformed-json", (table, column), after, did))
}

/// Returns a value as JSON.
fn shown(cell: &Value<'_>) -> Json {
    match cell {
        Value::Null => Json::Null,
        Value::Integer(n) => Json::from(*n),
        Value::Real(x) => Json::from(*x),
        Value::Text(bytes) | Value::Blob(bytes) => {
            Json::from(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

/// Returns a whole row as JSON, to keep a row that does not fit into any table.
pub fn as_json(row: &RepairedRow) -> String {
    let object: Map<String, Json> = row
        .cells
        .iter()
        .map(|(name, cell)| (name.clone(), shown(cell)))
        .collect();
    Json::Object(object).to_string()
}
