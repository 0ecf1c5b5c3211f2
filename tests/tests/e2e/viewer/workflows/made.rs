//! Builds databases of workflows: those of prosescope, made by the store's commands, and those of other programs.

use std::path::{Path, PathBuf};

use prosescope_store::WorkflowStore;
use prosescope_workflow::{
    Append, Ask, Fail, Finish, Heartbeat, ImportantStep, Input, Json, Kind, Move, NewEvent, Prefer,
    Start, TableCommand, record, show,
};
use rusqlite::Connection;

/// The id of the workflow that waits for an answer.
pub(super) const WAITING: &str = "0199c0de-0000-7000-8000-0000000000a1";
/// The id of the workflow with an error.
pub(super) const BROKEN: &str = "0199c0de-0000-7000-8000-0000000000b1";
/// The id of the workflow without open runs.
pub(super) const DONE: &str = "0199c0de-0000-7000-8000-0000000000c1";

const NOW: i64 = 1_768_487_452_123;

struct Made {
    store: WorkflowStore,
    now: i64,
}

impl Made {
    fn record<C: TableCommand>(&mut self, command: &C) -> C::Done {
        self.now += 41_000;
        record(&mut self.store, command, None, self.now).expect("a command that is allowed")
    }

    fn start(&mut self, workflow: &str, new: bool, run: u32, input: &str) -> String {
        let id = format!("{}{run}", &workflow[..workflow.len() - 1]);
        self.record(&Start {
            workflow: (!new).then(|| workflow.to_owned()),
            new_workflow: workflow.to_owned(),
            run: id.clone(),
            input: input.to_owned(),
            owner: Some("engine-7@build-host-3".to_owned()),
            ..Start::default()
        });
        id
    }

    fn note(&mut self, workflow: &str, run: &str, kind: Kind, text: &str, payload: Option<&str>) {
        self.record(&Append {
            workflow: workflow.to_owned(),
            notes: vec![NewEvent {
                run: Some(run.to_owned()),
                kind: Some(kind),
                text: text.to_owned(),
                payload: payload.map(|text| Json::parse(text).unwrap()),
            }],
        });
    }
}

/// Builds a database with the store's commands: one conversation waits, one has an error, one is done.
pub(crate) fn ours(folder: &Path) -> PathBuf {
    let path = folder.join("workflows.db");
    let store = WorkflowStore::set_up(&path).unwrap();
    let mut made = Made { store, now: NOW };
    let run = made.start(DONE, true, 2, "Summarise yesterday's incident channel");
    made.record(&Finish {
        run,
        output: Json::parse(r#"{"summary":"Two alerts, both resolved","alerts":2}"#).unwrap(),
        message: Some("Two alerts, both resolved before noon.".to_owned()),
        ..Finish::default()
    });
    let run = made.start(BROKEN, true, 2, "Re-index the product catalogue");
    made.note(
        BROKEN,
        &run,
        Kind::Error,
        "The index server closed the connection",
        None,
    );
    made.record(&Fail {
        run,
        error: Json::of_message("index server: connection reset by peer"),
        owner: None,
    });
    made.record(&Move::Error(
        BROKEN.to_owned(),
        Json::of_message("the engine's license expired"),
    ));
    let first = made.start(
        WAITING,
        true,
        2,
        "Compare the three quotes for the new data centre racks and recommend one",
    );
    made.note(
        WAITING,
        &first,
        Kind::Progress,
        "Reading quotes/acme.pdf, 14 pages",
        Some(r#"{"file":"quotes/acme.pdf","pages":14}"#),
    );
    made.note(
        WAITING,
        &first,
        Kind::Warning,
        "quotes/initech.pdf has no delivery date",
        None,
    );
    made.record(&Finish {
        run: first,
        output: Json::string("Acme is cheapest over five years."),
        message: Some("**Acme** is cheapest over five years:\n\n- Acme: 182,000\n- Globex: 190,400\n- Initech: 201,000".to_owned()),
        ..Finish::default()
    });
    let second = made.start(WAITING, false, 3, "Order the racks then");
    made.record(&Heartbeat {
        run: second.clone(),
        owner: None,
    });
    made.note(
        WAITING,
        &second,
        Kind::Progress,
        "Drafting the purchase order",
        Some(r#"{"step":1,"of":3}"#),
    );
    made.record(&Prefer {
        workflow: WAITING.to_owned(),
        set: vec![
            ("currency".to_owned(), Json::string("EUR")),
            ("language".to_owned(), Json::string("en")),
        ],
        remove: Vec::new(),
    });
    made.record(&ImportantStep {
        workflow: WAITING.to_owned(),
        run: Some(second.clone()),
        text: "Quotes compared over five years".to_owned(),
        payload: None,
    });
    made.record(&Ask {
        run: second,
        question: "Which cost centre pays: IT-4410 or OPS-2207?".to_owned(),
        payload: None,
        owner: None,
    });
    path
}

/// Answers the question of the workflow that waits.
pub(super) fn answer(path: &Path, text: &str) {
    let mut store = WorkflowStore::open(path).unwrap();
    let input = Input {
        workflow: WAITING.to_owned(),
        text: text.to_owned(),
        ..Input::default()
    };
    record(&mut store, &input, None, NOW + 10_000_000).unwrap();
}

/// Ends the newest run of the workflow that waited for an answer.
pub(super) fn finish(path: &Path, output: &str) {
    let mut store = WorkflowStore::open(path).unwrap();
    let view = show(&store, WAITING).unwrap().unwrap();
    let finish = Finish {
        run: view.workflow.most_recent_run_id.unwrap(),
        output: Json::parse(output).unwrap(),
        ..Finish::default()
    };
    record(&mut store, &finish, None, NOW + 11_000_000).unwrap();
}

/// Begins another run of the workflow that waited for an answer.
pub(super) fn begin(path: &Path, input: &str) {
    let store = WorkflowStore::open(path).unwrap();
    let now = NOW + 12_000_000;
    let mut made = Made { store, now };
    made.start(WAITING, false, 4, input);
}

/// Builds a database of another program, as SQLAlchemy does: ids without dashes, statuses in capitals, additional
/// columns.
pub(super) fn foreign(path: &Path) {
    sql(
        path,
        "CREATE TABLE workflows (id CHAR(32) PRIMARY KEY, status VARCHAR(9), context JSON, preferences JSON, important_steps JSON,
           most_recent_run_id CHAR(32), error JSON, created_at DATETIME, updated_at DATETIME, tenant VARCHAR, secret_note BLOB);
         CREATE TABLE workflow_runs (id CHAR(32) PRIMARY KEY, workflow_id CHAR(32), status VARCHAR(17), user_input TEXT, state JSON,
           final_output JSON, error JSON, created_at DATETIME, updated_at DATETIME, cost_cents INTEGER);
         CREATE TABLE workflow_events (id INTEGER PRIMARY KEY, workflow_id CHAR(32), run_id CHAR(32), kind VARCHAR(8), text TEXT,
           payload JSON, created_at DATETIME, shard INTEGER);
         INSERT INTO workflows VALUES ('0199c0de000070008000000000000001', 'ACTIVE', 'no json {', 'null', '7',
           '0199c0de000070008000000000000002', NULL, '2026-01-15 14:30:52.000000', 'soon', 'tenant-of-theirs', x'00ff41');
         INSERT INTO workflow_runs VALUES ('0199c0de000070008000000000000002', '0199c0de000070008000000000000001', 'WAITING_FOR_INPUT',
           'Begin', '{\"pending_input\": {\"question\": \"Their question?\"}, \"n\": 12345678901234567890123}', NULL, NULL,
           '2026-01-15 14:30:52.000000', NULL, 1234);
         INSERT INTO workflow_events VALUES (5, '0199c0de000070008000000000000001', NULL, 'PROGRESS', 'Their event', 'odd payload',
           NULL, 77);",
    );
}

/// Builds a database with prosescope's own tables, and adds rows with this SQL.
pub(super) fn with_rows(path: &Path, rows: &str) {
    sql(
        path,
        &format!(
            "PRAGMA foreign_keys = OFF;\n{}\n{rows}",
            prosescope_core::model::schema::WORKFLOWS_SQL
        ),
    );
}

/// Runs statements in a database, which is created if it does not exist.
pub(super) fn sql(path: &Path, script: &str) {
    let conn = Connection::open(path).unwrap();
    conn.execute_batch(script)
        .unwrap_or_else(|e| panic!("{script}: {e}"));
}
