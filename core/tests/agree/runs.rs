//! Opens the runs whose pages are compared: those of golden files, of folders, and of generators.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use prosescope_core::model::schema::STATE_SQL;
use prosescope_core::model::source::Source;
use prosescope_core::model::{Meta, Run, RunStatus};
use prosescope_core::pages::session::{FoundKind, Options, Session, survey};
use prosescope_core::read::sqlite::MemorySource;
use prosescope_damage::Case;
use prosescope_test_support::files;
use rusqlite::{Connection, params};
use serde_json::{Value, json};

/// The time at which pages are built: 2026-03-01 12:00:00 UTC, in milliseconds since 1970.
pub(crate) const NOW: i64 = 1_772_366_400_000;

/// Limit for the runs of one source.
const PLACES: usize = 50;

type Files = Vec<(String, Vec<u8>)>;

/// A run with its name.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) session: Rc<Session>,
}

fn cases(text: &str) -> Vec<Value> {
    let mut file: Value = serde_json::from_str(text).expect("the file is JSON");
    serde_json::from_value(file["cases"].take()).expect("it lists cases")
}

fn named(case: &Value) -> String {
    case["name"].as_str().unwrap_or("?").to_owned()
}

/// Opens the runs that a golden file lists as rows.
pub(crate) fn of_rows(text: &str) -> Vec<Opened> {
    let of_case = |case: Value| {
        let mut files = vec![("r/state.db".to_owned(), database(&case))];
        if let Some(file) = case["state_file"].as_object() {
            let mut text = "# Execution State\n\nrun: r\n".to_owned();
            for key in ["status", "updated"] {
                if let Some(said) = file.get(key).and_then(Value::as_str) {
                    text.push_str(&format!("{key}: {said}\n"));
                }
            }
            files.push(("r/state.md".to_owned(), text.into_bytes()));
        }
        opened(&named(&case), files)
    };
    cases(text).into_iter().flat_map(of_case).collect()
}

/// Returns a database with the rows of a case: `[id, parent, index, text, status, metadata, error?, started?]`.
fn database(case: &Value) -> Vec<u8> {
    let mut conn = Connection::open_in_memory().expect("a database");
    conn.pragma_update(None, "foreign_keys", false)
        .expect("switched off");
    conn.execute_batch(STATE_SQL).expect("tables");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if case["run_status"].is_string() || case["program"].is_string() {
        conn.execute(
            "INSERT INTO run (id, status, program_source, started_at, updated_at) VALUES ('r', ?1, ?2, NULL, ?3)",
            params![
                text(&case["run_status"]).unwrap_or_default(),
                text(&case["program"]),
                text(&case["updated"])
            ],
        )
        .expect("a run row");
    }
    let mut add = conn
        .prepare(
            "INSERT INTO execution (id, parent_id, statement_index, statement_text, status, metadata, error_message, started_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )
        .expect("a statement");
    for row in case["rows"].as_array().into_iter().flatten() {
        let meta = row[5].as_object().filter(|meta| !meta.is_empty());
        add.execute(params![
            row[0].as_i64(),
            row[1].as_i64(),
            row[2].as_i64(),
            text(&row[3]).unwrap_or_default(),
            text(&row[4]).unwrap_or_default(),
            meta.map(|_| row[5].to_string()),
            text(&row[6]),
            text(&row[7])
        ])
        .expect("a row");
    }
    drop(add);
    for gate in case["gates"].as_array().into_iter().flatten() {
        conn.execute(
            "INSERT OR REPLACE INTO gates (id, run_id, execution_id, prompt, allow, status) VALUES (?1, 'r', ?2, '', '[\"user\"]', ?3)",
            params![
                text(&gate["id"]),
                gate["execution_id"].as_i64(),
                text(&gate["status"])
            ],
        )
        .expect("a gate");
    }
    conn.serialize("main").expect("its bytes").to_vec()
}

/// Writes a generated run into a database and opens it.
pub(crate) fn folded(name: &str, run: &Run, _: Option<i64>) -> Opened {
    let rows = run.executions.iter().map(|row| {
        let (status, text) = (row.status.word(), &*row.text);
        json!([
            row.id,
            row.parent,
            row.index,
            text,
            status,
            row.meta.as_deref().map(meta)
        ])
    });
    let gates = run.gates.iter().map(|gate| {
        json!({ "id": &*gate.id, "execution_id": gate.execution_id, "status": gate.status.word() })
    });
    let case = json!({
        "run_status": run.status.as_ref().map(RunStatus::word),
        "program": run.program.source.as_deref(),
        "rows": rows.collect::<Vec<_>>(),
        "gates": gates.collect::<Vec<_>>(),
    });
    let files = vec![("r/state.db".to_owned(), database(&case))];
    opened(name, files).swap_remove(0)
}

/// Returns metadata as the JSON object that OpenProse stores.
fn meta(meta: &Meta) -> Value {
    let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
    let branches: Vec<&str> = meta.branches.iter().map(|name| &**name).collect();
    let round = if meta.in_place {
        "current_iteration"
    } else {
        "iteration"
    };
    let mut keys = json!({
        "parallel_id": text(&meta.parallel_id),
        "branch": text(&meta.branch),
        "branches": Some(branches).filter(|names| !names.is_empty()),
        "loop_id": text(&meta.loop_id),
        "max": meta.max,
        "attempt": meta.attempt,
        "gate_id": text(&meta.gate_id),
        "block": text(&meta.block),
        "depth": meta.depth,
    });
    keys[round] = meta.iteration.into();
    let keys = keys.as_object().into_iter().flatten();
    keys.filter(|(_, value)| !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// Opens the runs that a golden file lists as files.
pub(crate) fn of_files(text: &str) -> Vec<Opened> {
    let of_case = |case: Value| {
        let files = case["files"].as_object().into_iter().flatten();
        let files = files.map(|(path, text)| {
            let path = format!(".prose/runs/20260104-101500-case01/{path}");
            (path, text.as_str().unwrap_or_default().as_bytes().to_vec())
        });
        opened(&named(&case), files.collect())
    };
    cases(text).into_iter().flat_map(of_case).collect()
}

/// Opens all runs below a folder on disk.
pub(crate) fn below(dir: &Path) -> Vec<Opened> {
    let all = files::below(dir);
    opened("", all)
}

/// Opens the runs of the damage generator.
pub(crate) fn of_cases(cases: impl Iterator<Item = Case>) -> Vec<Opened> {
    let of_case = |case: Case| {
        let name = case.name.clone();
        in_source(&name, &(Rc::new(case.in_memory()) as Rc<dyn Source>))
    };
    cases.flat_map(of_case).collect()
}

pub(crate) fn opened(name: &str, files: Files) -> Vec<Opened> {
    in_source(
        name,
        &(Rc::new(MemorySource::new("memory", files)) as Rc<dyn Source>),
    )
}

fn in_source(name: &str, source: &Rc<dyn Source>) -> Vec<Opened> {
    let options = Options {
        now: Some(NOW),
        ..Options::default()
    };
    let found = survey(source.as_ref()).found;
    let runs = found.into_iter().filter(|f| f.kind != FoundKind::Agents);
    runs.take(PLACES)
        .filter_map(|found| {
            let session = Session::open(Rc::clone(source), &found.place, &options).ok()?;
            let name = if name.is_empty() { &found.place } else { name };
            Some(Opened {
                name: name.to_owned(),
                session: Rc::new(session),
            })
        })
        .collect()
}
