//! Builds databases with hostile texts in every column of every table, and in the names of columns and tables.

use std::path::Path;

use serde_json::{Map, Value};

use super::{Fill, program, write};
use crate::build;

/// Each table, with one of its text columns. A column that OpenProse does not define is added, and gets the same texts.
const TABLES: [(&str, &str); 9] = [
    ("run", "program_path"),
    ("execution", "statement_text"),
    ("bindings", "source_statement"),
    ("x_binding_history", "source_statement"),
    ("agents", "memory"),
    ("agent_segments", "summary"),
    ("imports", "inputs_schema"),
    ("gates", "prompt"),
    ("gate_audit_log", "comment"),
];

/// Builds a run's folder: `state.db`, attachments, and the program.
pub fn run(dir: &Path, fill: &mut Fill) {
    let source = program(fill);
    let mut script = format!("{}\nBEGIN;\n", build::state_schema());
    run_rows(&mut script, fill, &source);
    for row in 0..fill.rows() {
        fill.begin(row);
        execution(&mut script, fill);
        bindings(&mut script, fill, dir);
        agents(&mut script, fill);
        gates(&mut script, fill);
        unknown(&mut script, fill);
    }
    script.push_str("DROP TRIGGER gate_audit_log_no_update;\n");
    fill.begin(1);
    for (table, column) in TABLES {
        let new = identifier(&fill.name());
        script.push_str(&format!(
            "ALTER TABLE {table} ADD COLUMN {new}; UPDATE {table} SET {new} = {column};\n"
        ));
    }
    script.push_str("COMMIT;\n");
    build::sql(&dir.join("state.db"), &script);
    write(&dir.join("program.prose"), &source);
}

/// Builds a database of agents: `.prose/agents.db`.
pub fn agents_db(file: &Path, fill: &mut Fill) {
    let schema = include_str!("../../../core/src/model/schema/agents.sql");
    let mut script = format!("{schema}\nBEGIN;\n");
    for row in 0..fill.rows() {
        fill.begin(row);
        agents(&mut script, fill);
    }
    script.push_str("COMMIT;\n");
    build::sql(file, &script);
}

/// Builds a database whose tables have OpenProse's names but only similar columns.
pub fn odd(file: &Path, fill: &mut Fill) {
    fill.begin(2);
    let mut script = String::from("CREATE TABLE run (id TEXT, status TEXT);\n");
    for table in [
        "execution",
        "bindings",
        "agents",
        "gates",
        "gate_audit_log",
        "imports",
    ] {
        let (one, two) = (identifier(&fill.name()), identifier(&fill.name()));
        let (a, b) = (blob(&fill.text()), literal(&fill.text()));
        script.push_str(&format!(
            "CREATE TABLE {table} ({one} TEXT, {two}, id, name, value, status, metadata);\n\
             INSERT INTO {table} VALUES ({b}, {a}, {a}, {b}, {a}, {b}, {b});\n"
        ));
    }
    let id = literal(&fill.text());
    script.push_str(&format!("INSERT INTO run VALUES ({id}, {id});\n"));
    build::sql(file, &script);
}

fn run_rows(script: &mut String, fill: &mut Fill, source: &[u8]) {
    for row in 0..fill.rows().min(12) {
        fill.begin(row);
        let at = format!("'2026-01-{:02} 10:00:00'", row + 1);
        // The viewer opens by itself the run that started last, so this run gets a valid status.
        let last = row + 1 == fill.rows().min(12);
        let status = if last { b"running".into() } else { fill.text() };
        insert(
            script,
            "run",
            &[
                ("id", literal(&named(fill))),
                ("program_path", literal(&fill.text())),
                (
                    "started_at",
                    if last || row % 2 == 0 {
                        at
                    } else {
                        literal(&fill.text())
                    },
                ),
                ("updated_at", literal(&fill.text())),
                ("status", literal(&status)),
                ("state_mode", literal(&fill.text())),
                ("program_source", literal(source)),
            ],
        );
    }
}

fn execution(script: &mut String, fill: &mut Fill) {
    let row = fill.row;
    let words = [
        "completed",
        "failed",
        "executing",
        "started",
        "waiting",
        "iteration",
    ];
    let parent = if row.is_multiple_of(4) {
        "NULL".to_owned()
    } else {
        (row / 4 * 4 + 1).to_string()
    };
    let metadata = metadata(fill);
    insert(
        script,
        "execution",
        &[
            ("id", (row + 1).to_string()),
            ("statement_index", row.to_string()),
            ("status", literal(&fill.or(&words))),
            ("started_at", literal(&fill.or(&["2026-01-16 14:30:52"]))),
            (
                "completed_at",
                literal(&fill.or(&["2026-01-16 14:40:52", ""])),
            ),
            ("parent_id", parent),
            ("statement_text", literal(&fill.text())),
            ("metadata", literal(metadata.as_bytes())),
            ("error_message", literal(&fill.text())),
        ],
    );
}

/// Returns metadata with OpenProse's keys and an unknown one; sometimes text that is not JSON.
fn metadata(fill: &mut Fill) -> String {
    if fill.row % 7 == 6 {
        return String::from_utf8_lossy(&fill.text()).into_owned();
    }
    let mut object = Map::new();
    for key in [
        "parallel_id",
        "branch",
        "strategy",
        "loop_id",
        "condition",
        "gate_id",
        "block",
        "reason",
        "iteration",
        "max",
        "attempt",
        "agent",
        "model",
        "error",
    ] {
        // Each row gets only some of the keys, so that some rows are loops, others gates or branches.
        if !(fill.row + key.len()).is_multiple_of(3) {
            object.insert(key.to_owned(), fill.json());
        }
    }
    object.insert("branches".to_owned(), vec![fill.json(), fill.json()].into());
    let inside: Map<String, Value> = [(fill.name(), fill.json())].into_iter().collect();
    object.insert(fill.name(), inside.into());
    Value::Object(object).to_string()
}

fn bindings(script: &mut String, fill: &mut Fill, dir: &Path) {
    let row = fill.row;
    let attachment = match row % 4 {
        0 => {
            let name = fill.file_name();
            write(&dir.join("attachments").join(&name), &fill.text());
            literal(format!("attachments/{name}").as_bytes())
        }
        1 => literal(&fill.text()),
        _ => "NULL".to_owned(),
    };
    let frame = if row % 3 == 1 {
        (row + 1).to_string()
    } else {
        "NULL".to_owned()
    };
    for table in ["bindings", "x_binding_history"] {
        insert(
            script,
            table,
            &[
                ("name", literal(fill.name().as_bytes())),
                ("execution_id", frame.clone()),
                (
                    "kind",
                    literal(&fill.or(&["let", "input", "output", "const"])),
                ),
                ("source_statement", literal(&fill.text())),
                ("created_at", literal(&fill.or(&["2026-01-16 14:30:52"]))),
                ("updated_at", literal(&fill.or(&["2026-01-16 14:30:52"]))),
                ("attachment_path", attachment.clone()),
                (
                    "value",
                    if row % 5 == 4 {
                        blob(&fill.text())
                    } else {
                        literal(&fill.text())
                    },
                ),
            ],
        );
    }
}

fn agents(script: &mut String, fill: &mut Fill) {
    let name = literal(fill.name().as_bytes());
    insert(
        script,
        "agents",
        &[
            ("name", name.clone()),
            ("scope", literal(&fill.or(&["execution", "project"]))),
            ("created_at", literal(&fill.text())),
            ("updated_at", literal(&fill.or(&["2026-01-16 14:30:52"]))),
            ("memory", literal(&fill.text())),
        ],
    );
    insert(
        script,
        "agent_segments",
        &[
            ("agent_name", name.clone()),
            ("segment_number", "1".to_owned()),
            ("timestamp", literal(&fill.or(&["2026-01-16 14:30:52"]))),
            ("prompt", literal(&fill.text())),
            ("summary", literal(&fill.text())),
        ],
    );
    insert(
        script,
        "x_agent_memory_history",
        &[
            ("agent_name", name),
            ("updated_at", literal(&fill.text())),
            ("memory", literal(&fill.text())),
        ],
    );
}

fn gates(script: &mut String, fill: &mut Fill) {
    let row = fill.row;
    let id = literal(fill.name().as_bytes());
    let run = literal(&named(fill));
    let allow = match row % 2 {
        0 => Value::from(vec![fill.json(), fill.json()])
            .to_string()
            .into_bytes(),
        _ => fill.text(),
    };
    let metadata = metadata(fill);
    insert(
        script,
        "gates",
        &[
            ("id", id.clone()),
            ("run_id", run.clone()),
            ("execution_id", (row + 1).to_string()),
            ("prompt", literal(&fill.text())),
            ("allow", literal(&allow)),
            ("timeout", literal(&fill.or(&["24h"]))),
            ("timeout_at", literal(&fill.or(&["2026-01-17 14:30:52"]))),
            ("on_reject", literal(&fill.text())),
            (
                "status",
                literal(&fill.or(&["pending", "approved", "rejected", "timeout"])),
            ),
            ("created_at", literal(&fill.or(&["2026-01-16 14:30:52"]))),
            ("resolved_at", literal(&fill.or(&["2026-01-16 15:30:52"]))),
            ("resolved_by", literal(&fill.text())),
            ("resolution_comment", literal(&fill.text())),
            ("metadata", literal(metadata.as_bytes())),
        ],
    );
    insert(
        script,
        "gate_audit_log",
        &[
            ("gate_id", id),
            ("run_id", run),
            (
                "event_type",
                literal(&fill.or(&["created", "viewed", "approved"])),
            ),
            ("principal", literal(&fill.text())),
            ("comment", literal(&fill.text())),
            ("timestamp", literal(&fill.or(&["2026-01-16 14:30:52"]))),
            ("metadata", literal(metadata.as_bytes())),
        ],
    );
    insert(
        script,
        "imports",
        &[
            ("alias", literal(fill.name().as_bytes())),
            ("source_url", literal(&fill.text())),
            ("fetched_at", literal(&fill.text())),
            ("inputs_schema", literal(metadata.as_bytes())),
            ("outputs_schema", literal(&fill.text())),
        ],
    );
}

/// Adds a few tables that OpenProse does not define.
fn unknown(script: &mut String, fill: &mut Fill) {
    if !fill.row.is_multiple_of(8) {
        return;
    }
    let (table, column) = (identifier(&fill.name()), identifier(&fill.name()));
    let (text, bytes) = (literal(&fill.text()), blob(&fill.text()));
    script.push_str(&format!(
        "CREATE TABLE {table} ({column} TEXT, b); INSERT INTO {table} VALUES ({text}, {bytes}), ({text}, NULL);\n\
         CREATE TABLE \"x_{}\" ({column}); INSERT INTO \"x_{}\" VALUES ({text});\n",
        fill.row, fill.row
    ));
}

/// Returns a run id that ends with a hostile text and the number of the row.
fn named(fill: &mut Fill) -> Vec<u8> {
    format!("20260116-143052-{}", fill.name()).into_bytes()
}

fn insert(script: &mut String, table: &str, cells: &[(&str, String)]) {
    let names: Vec<&str> = cells.iter().map(|(name, _)| *name).collect();
    let values: Vec<&str> = cells.iter().map(|(_, value)| value.as_str()).collect();
    script.push_str(&format!(
        "INSERT INTO {table} ({}) VALUES ({});\n",
        names.join(", "),
        values.join(", ")
    ));
}

/// Returns any bytes as an SQL text.
fn literal(bytes: &[u8]) -> String {
    format!("CAST({} AS TEXT)", blob(bytes))
}

fn blob(bytes: &[u8]) -> String {
    let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    format!("x'{hex}'")
}

fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
