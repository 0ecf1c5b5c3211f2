//! Reads and writes gates and audit logs directly, without the checks of the commands and the triggers of the
//! database. The tests edit runs in this way.

use std::collections::BTreeSet;
use std::fs;

use prosescope_core::read::gate::chain::{Chain, seal, with_chain};
use serde_json::{Map, Value, json};

use crate::{Form, Project};

const DROP: &str = "DROP TRIGGER IF EXISTS gate_audit_log_no_update;
DROP TRIGGER IF EXISTS gate_audit_log_no_delete; DROP TRIGGER IF EXISTS gate_audit_log_no_replace;";

/// A row of a table: its columns that are not NULL. The column with metadata is a text.
pub(super) type Row = Map<String, Value>;

/// The gates of a run, ordered by id, and its audit log.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) gates: Vec<Row>,
    pub(super) log: Vec<Row>,
}

impl State {
    pub(super) fn gate(&mut self, id: &str) -> &mut Row {
        let mut gates = self.gates.iter_mut();
        gates.find(|gate| gate["id"] == id).expect("the gate")
    }

    pub(super) fn read(project: &Project) -> State {
        let (mut gates, mut log) = match project.form {
            Form::Sqlite => {
                let rows = |table: &str| -> Vec<Row> {
                    let sql = format!(".mode json\nSELECT * FROM {table} ORDER BY id;");
                    serde_json::from_str(&project.sql(&sql)).expect("JSON")
                };
                (rows("gates"), rows("gate_audit_log"))
            }
            Form::Folder => (folder_gates(project), folder_log(project)),
        };
        for row in gates.iter_mut().chain(&mut log) {
            row.retain(|_, value| !value.is_null());
            for key in ["metadata", "allow"] {
                if let Some(value) = row.get_mut(key).filter(|value| !value.is_string()) {
                    *value = value.to_string().into();
                }
            }
        }
        State { gates, log }
    }

    pub(super) fn write(&self, project: &Project) {
        match project.form {
            Form::Sqlite => {
                let mut sql = format!("{DROP}\n");
                insert(&mut sql, "gates", &self.gates, project);
                insert(&mut sql, "gate_audit_log", &self.log, project);
                project.sql(&sql);
            }
            Form::Folder => {
                let folder = project.folder().join("gates");
                fs::remove_dir_all(&folder).expect("removed");
                fs::create_dir(&folder).expect("made");
                for gate in &self.gates {
                    let name = gate["id"].as_str().expect("an id");
                    for (end, file) in files(gate) {
                        let path = folder.join(format!("{name}.{end}.json"));
                        fs::write(path, json!(file).to_string()).expect("written");
                    }
                }
                let lines: String = self
                    .log
                    .iter()
                    .map(|row| format!("{}\n", json!(row)))
                    .collect();
                fs::write(folder.join("audit.jsonl"), lines).expect("written");
            }
        }
    }
}

fn insert(sql: &mut String, table: &str, rows: &[Row], project: &Project) {
    let known = project.sql(&format!("SELECT name FROM pragma_table_info('{table}');"));
    let known: BTreeSet<&str> = known.lines().collect();
    let columns: BTreeSet<&String> = rows.iter().flat_map(Row::keys).collect();
    for column in columns
        .into_iter()
        .filter(|column| !known.contains(&***column))
    {
        sql.push_str(&format!("ALTER TABLE {table} ADD COLUMN {column} TEXT;\n"));
    }
    sql.push_str(&format!("DELETE FROM {table};\n"));
    for row in rows {
        let literal = |value: &Value| match value {
            Value::String(text) => format!("'{}'", text.replace('\'', "''")),
            other => other.to_string(),
        };
        let columns: Vec<&str> = row.keys().map(String::as_str).collect();
        let values: Vec<String> = row.values().map(literal).collect();
        sql.push_str(&format!(
            "INSERT INTO {table} ({}) VALUES ({});\n",
            columns.join(", "),
            values.join(", ")
        ));
    }
}

/// The columns of a decision, each with the name of its key in the file of a run folder.
const DECIDED: [(&str, &str); 4] = [
    ("status", "decision"),
    ("resolved_at", "timestamp"),
    ("resolved_by", "principal"),
    ("resolution_comment", "comment"),
];

/// Returns the files of a gate as `prosescope` writes them.
fn files(gate: &Row) -> Vec<(&'static str, Row)> {
    let as_json = |text: &Value| {
        let parsed = text
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok());
        parsed.unwrap_or_else(|| text.clone())
    };
    let pending = gate["status"] == "pending";
    let of_decision = |key: &str| DECIDED.iter().any(|(own, _)| *own == key);
    let (mut created, mut decided) = (Row::new(), Row::new());
    for (key, value) in gate {
        match key.as_str() {
            "metadata" if !pending => drop(decided.insert(key.clone(), as_json(value))),
            "metadata" | "allow" => drop(created.insert(key.clone(), as_json(value))),
            key if of_decision(key) && !pending => drop(decided.insert(key.into(), value.clone())),
            _ => drop(created.insert(key.clone(), value.clone())),
        }
    }
    if pending {
        return vec![("pending", created)];
    }
    for (own, other) in DECIDED {
        if let Some(value) = decided.get(own).cloned() {
            decided.insert(other.to_owned(), value);
        }
    }
    decided.insert("id".to_owned(), gate["id"].clone());
    vec![("pending", created), ("resolved", decided)]
}

fn folder_gates(project: &Project) -> Vec<Row> {
    let folder = project.folder().join("gates");
    let read = |name: &str| -> Option<Row> {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        Some(serde_json::from_str(&text).expect("JSON"))
    };
    let mut gates = Vec::new();
    for id in ["a", "b", "c", "d"] {
        let mut gate = read(&format!("{id}.pending.json")).expect("a gate");
        gate.remove("gate_id");
        if let Some(mut decided) = read(&format!("{id}.resolved.json")) {
            decided.retain(|key, _| {
                let doubled = DECIDED.iter().any(|(_, other)| other == key);
                !doubled && key != "gate_id"
            });
            gate.extend(decided);
        }
        gates.push(gate);
    }
    gates
}

fn folder_log(project: &Project) -> Vec<Row> {
    let log = fs::read_to_string(project.folder().join("gates/audit.jsonl")).expect("a log");
    let row = |line: &str| serde_json::from_str(line).expect("JSON");
    log.lines().map(row).collect()
}

/// Changes the metadata of a row of the log.
pub(super) fn metadata(row: &mut Row, change: impl FnOnce(&mut Row)) {
    let text = row.get("metadata").and_then(Value::as_str).unwrap_or("{}");
    let mut metadata: Row = serde_json::from_str(text).expect("JSON");
    change(&mut metadata);
    row.insert("metadata".to_owned(), json!(metadata).to_string().into());
}

/// Removes the seal from a row of the log.
pub(super) fn unseal(row: &mut Row) {
    metadata(row, |metadata| drop(metadata.remove("chain")));
}

/// Changes one key of a row's link in the chain.
pub(super) fn link(row: &mut Row, key: &str, value: Value) {
    metadata(row, |metadata| metadata["chain"][key] = value);
}

/// Seals a row as the next row after `behind`. Anyone can do this, because the hash needs no secret.
pub(super) fn reseal(row: &mut Row, behind: Option<&Chain>) -> Chain {
    let mut said = String::new();
    metadata(row, |metadata| {
        metadata.remove("chain");
        said = json!(metadata).to_string();
    });
    let chain = seal(behind, &json!(row).to_string()).expect("sealed");
    row["metadata"] = with_chain(Some(&said), &chain).expect("JSON").into();
    chain
}

/// Seals every row of a log again.
pub(super) fn reseal_all(log: &mut [Row]) {
    let mut before = None;
    for row in log {
        before = Some(reseal(row, before.as_ref()));
    }
}

pub(super) fn chain(row: &Row) -> Option<Chain> {
    Chain::of_metadata(row["metadata"].as_str()?)
}
