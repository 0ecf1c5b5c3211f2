//! Tests that Prosescope reads the databases that the `sqlite3` program creates from OpenProse's own SQL.

use prosescope_core::model::schema::{AGENTS_SQL, STATE_SQL};
use prosescope_core::model::{
    AgentScope, AuditKind, BindingKind, Dialect, Form, GateStatus, Run, RunStatus, Status, ValueAt,
};
use prosescope_core::read::decode::rows;
use prosescope_test_support::needs;

use crate::support::{
    APPEND_ONLY, BINDINGS_PLAIN_KEY, Db, EXTENSIONS, GATES, IN_PLACE, SCHEMA, SCHEMA_GATES, VALUES,
    assert_said, said, value,
};

/// Returns a database as a patient model would make it: it executes every statement of sqlite.md, ignores errors, and
/// then creates the table that failed with a key that SQLite accepts.
fn as_documented(statements: &[&str]) -> Option<Db> {
    needs::sqlite3()?;
    let db = Db::new();
    db.piped(SCHEMA);
    db.piped(SCHEMA_GATES);
    db.piped(BINDINGS_PLAIN_KEY);
    for sql in statements {
        db.piped(sql);
    }
    Some(db)
}

fn form(run: &Run) -> Dialect {
    match run.form {
        Form::Sqlite { dialect } => dialect,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn s1_in_one_command_the_schema_stops_at_bindings() {
    if needs::sqlite3().is_none() {
        return;
    }
    let db = Db::new();
    let answer = db.sqlite3(SCHEMA);
    assert!(
        answer
            .errors
            .contains("expressions prohibited in PRIMARY KEY"),
        "{}",
        answer.errors
    );
    db.sqlite3("INSERT INTO run (id) VALUES ('r1')");
    let run = db.read();
    assert_eq!(&*run.id, "r1");
    let tables: Vec<&str> = run.tables.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(tables, ["execution", "run"]);
    assert_said(&run, "missing-table", "there is no table bindings");
    assert_said(
        &run,
        "missing-table",
        "there is no table agent_segments, no table imports",
    );

    let piped = Db::new();
    assert!(!piped.piped(SCHEMA).ok);
    assert_eq!(
        said(&piped.read().issues)[..1],
        ["missing-table: there is no table bindings"]
    );
}

#[test]
fn s1_our_schema_loads_in_one_go_and_the_documents_upsert_works_with_it() {
    if needs::sqlite3().is_none() {
        return;
    }
    let db = Db::new();
    for _ in 0..2 {
        let answer = db.sqlite3(STATE_SQL);
        assert!(answer.ok, "{}", answer.errors);
    }
    for sql in [APPEND_ONLY, VALUES, GATES] {
        let answer = db.sqlite3(sql);
        assert!(answer.ok, "{}", answer.errors);
    }
    let run = db.read();
    let issues: Vec<String> = said(&run.issues)
        .into_iter()
        .filter(|i| !i.starts_with("unknown-kind"))
        .collect();
    assert_eq!(issues, [] as [&str; 0]);
    let tide: Vec<_> = run.bindings.iter().filter(|b| &*b.name == "tide").collect();
    assert_eq!(tide.len(), 2, "one at the root, one in the frame");
    let upsert = "INSERT INTO bindings(name, value) VALUES ('tide', 'ninth')
        ON CONFLICT (name, IFNULL(execution_id, -1)) DO UPDATE SET value = excluded.value";
    assert!(db.sqlite3(upsert).ok);
    assert_eq!(db.read().bindings.len(), run.bindings.len());

    let agents = Db::new();
    assert!(agents.sqlite3(AGENTS_SQL).ok);
    assert_eq!(agents.read().form, Form::Agents);
}

#[test]
fn the_append_only_document() {
    let Some(db) = as_documented(&[APPEND_ONLY, VALUES, GATES]) else {
        return;
    };
    let run = db.read();
    assert_eq!(form(&run), Dialect::AppendOnly);
    assert_eq!(&*run.id, "20260125-125506-002755");
    assert_eq!(run.program.path.as_deref(), Some("harbour.prose"));
    assert_eq!(
        run.program.source.as_deref(),
        Some("let tide = session \"Read the tide\"")
    );
    assert_eq!(run.status, Some(RunStatus::Running));
    assert_eq!(
        run.started.as_ref().unwrap().to_string(),
        "2026-01-25T12:55:06Z"
    );
    let rows: Vec<(i64, &str, &str)> = run
        .executions
        .iter()
        .map(|e| (e.index.unwrap(), &*e.text, e.status.word()))
        .collect();
    assert_eq!(
        rows,
        [
            (3, "session \"Chart the harbour\"", "executing"),
            (5, "parallel:", "started"),
            (5, "parallel:a", "completed"),
            (5, "parallel:", "joined"),
            (10, "loop", "started"),
            (10, "loop", "iteration"),
            (10, "loop", "iteration"),
            (10, "loop", "exited"),
            (15, "session \"Sail out\"", "failed"),
            (15, "session \"Sail out\"", "retry"),
            (15, "session \"Sail out\"", "completed"),
            (3, "approve cast_off:", "pending"),
        ]
    );
    let meta = |i: usize| run.executions[i].meta.clone().unwrap();
    assert_eq!(meta(1).branches.len(), 3);
    assert_eq!(meta(4).condition.as_deref(), Some("**calm**"));
    assert_eq!((meta(4).max, meta(6).iteration), (Some(5), Some(2)));
    assert_eq!(meta(7).reason.as_deref(), Some("condition_satisfied"));
    assert_eq!((meta(9).attempt, meta(9).max), (Some(2), Some(3)));
    assert_eq!(meta(11).gate_id.as_deref(), Some("cast_off"));
    assert_eq!(
        run.executions[8].error.as_deref(),
        Some("No wind after 30s")
    );
    assert_eq!(run.executions[8].meta, None, "an empty object says nothing");
}

/// The statements of sqlite-earlier.md run or fail as errata X1 and X2 describe, and the result is readable.
#[test]
fn x1_x2_the_in_place_document() {
    let Some(db) = as_documented(&[]) else { return };
    let answer = db.piped(IN_PLACE);
    assert!(
        answer.errors.contains("no such column: updated_at"),
        "X1: {}",
        answer.errors
    );
    let run = db.read();
    assert_eq!(form(&run), Dialect::InPlace);
    let rows: Vec<(i64, &str)> = run
        .executions
        .iter()
        .map(|e| (e.id, e.status.word()))
        .collect();
    assert_eq!(
        rows,
        [
            (1, "executing"),
            (2, "completed"),
            (3, "executing"),
            (15, "failed")
        ]
    );
    // The stored statement index stays as written (errata X2); only the trace interprets it.
    assert_eq!(run.executions[1].parent, Some(5));
    let looped = run.executions[2].meta.clone().unwrap();
    // The update of the round failed (errata X1), so the round is still 0.
    assert_eq!(
        (looped.iteration, looped.max, looped.in_place),
        (Some(0), Some(5), true)
    );
    let failed = &run.executions[3];
    assert_eq!(failed.meta.as_ref().unwrap().attempt, Some(2));
    assert_eq!(failed.meta.as_ref().unwrap().max, Some(3));
    assert_eq!(
        (
            failed.started.as_ref().unwrap().to_string(),
            failed.completed.as_ref().unwrap().to_string()
        ),
        (
            "2026-01-16T14:33:00Z".to_owned(),
            "2026-01-16T14:33:30Z".to_owned()
        )
    );
    assert_said(
        &run,
        "mixed-times",
        "`completed_at` mixes two forms of time",
    );
}

#[test]
fn both_dialects_in_one_file() {
    let Some(db) = as_documented(&[APPEND_ONLY, IN_PLACE]) else {
        return;
    };
    let decoded = db.decode();
    assert_eq!(form(&decoded.run), Dialect::Mixed);
    assert_eq!(
        &*decoded.run.id, "20260125-125506-002755",
        "the run that started last"
    );
    assert_eq!(decoded.other_runs, ["20260116-143052-a7b3c9"]);
    assert_said(
        &decoded.run,
        "several-runs",
        "this database contains 2 runs",
    );
    let other = rows::decode(&db.open(), "state.db", Some("20260116-143052-a7b3c9")).unwrap();
    assert_eq!(&*other.run.id, "20260116-143052-a7b3c9");
    let none = rows::decode(&db.open(), "state.db", Some("nobody")).unwrap_err();
    assert_eq!(none.to_string(), "there is no run nobody in this database");
}

#[test]
fn x14_rows_without_times_are_said_to_have_none() {
    let db = Db::of(&format!(
        "{STATE_SQL} INSERT INTO execution(status) VALUES ('completed')"
    ));
    assert_said(
        &db.read(),
        "times-not-recorded",
        "no row of `execution` has a time",
    );
}

/// Of two rows with the same name at the root, the later row counts. A row in a frame is another binding (errata S2,
/// B5).
#[test]
fn s2_b5_the_later_root_row_counts_and_a_frame_is_another_place() {
    let Some(db) = as_documented(&[APPEND_ONLY, VALUES]) else {
        return;
    };
    let conn = db.open();
    let run = db.read();
    let tide: Vec<(Option<i64>, bool, String)> = run
        .bindings
        .iter()
        .filter(|b| &*b.name == "tide")
        .map(|b| (b.execution_id, b.superseded, value(&conn, b)))
        .collect();
    assert_eq!(
        tide,
        [
            (None, true, "High water at six...".to_owned()),
            (Some(3), false, "High water at seven...".to_owned()),
            (None, false, "High water at eight...".to_owned()),
        ]
    );
    assert_said(
        &run,
        "duplicate-binding",
        "tide is recorded twice at the root, in rows 1 and 3",
    );
    assert_said(
        &run,
        "odd-key",
        "the primary key of `bindings` is (`name`, `execution_id`)",
    );
}

/// A large output is kept in an attachment, and its row in `bindings` is read (errata B8). The table that OpenProse
/// describes accepts this row twice, and the later row counts; Prosescope's table refuses the second row.
#[test]
fn b7_b8_large_outputs() {
    let Some(db) = as_documented(&[APPEND_ONLY, VALUES, VALUES]) else {
        return;
    };
    let run = db.read();
    let reports: Vec<_> = run
        .bindings
        .iter()
        .filter(|b| &*b.name == "full_report")
        .collect();
    assert_eq!(reports.len(), 2, "a NULL in its key never collides");
    assert!(reports[0].superseded && !reports[1].superseded);
    let report = reports[1];
    assert_eq!(
        report.attachment.as_deref(),
        Some("attachments/full_report.md")
    );
    assert_eq!(report.kind, BindingKind::Let);
    assert_eq!(
        report.source.as_deref(),
        Some("let full_report = session \"Write the pilot book\"")
    );
    assert!(report.tail_known);

    // With the key that the errata propose, SQLite refuses the second row.
    let ours = Db::new();
    ours.run(STATE_SQL);
    ours.piped(VALUES);
    assert!(ours.piped(VALUES).errors.contains("UNIQUE"));
}

/// OpenProse's upsert loses the earlier value of a binding (errata B6). Prosescope keeps earlier values in a table of
/// its own, in which readers find them.
#[test]
fn b6_earlier_values_are_found_where_they_were_kept() {
    let db = Db::of(&format!(
        "{STATE_SQL}
         INSERT INTO bindings(name, kind, value) VALUES ('tide', 'let', 'third');
         INSERT INTO x_binding_history(name, kind, value, created_at, replaced_at, source_statement)
         VALUES ('tide', 'let', 'first', '2026-01-15 10:00:00', '2026-01-15 10:01:00', 'let tide = …'),
                ('tide', 'let', 'second', '2026-01-15 10:00:00', '2026-01-15 10:02:00', NULL),
                ('other', 'let', 'x', NULL, NULL, NULL);
         INSERT INTO x_binding_history(name, execution_id, value) VALUES ('tide', 7, 'in a frame')"
    ));
    let conn = db.open();
    let all = rows::all_binding_versions(&conn).unwrap();
    let versions = &all[&("tide".into(), None)];
    let values: Vec<String> = versions
        .iter()
        .map(|v| {
            let bytes =
                rows::value_bytes(&conn, "x_binding_history", "value", &v.value, 0, 100).unwrap();
            String::from_utf8(bytes).unwrap()
        })
        .collect();
    assert_eq!(values, ["first", "second"]);
    assert_eq!(versions[0].source.as_deref(), Some("let tide = …"));
    assert_eq!(
        versions[1].replaced.as_ref().unwrap().to_string(),
        "2026-01-15T10:02:00Z"
    );
    let counts = rows::version_counts(&conn).unwrap();
    let counts: Vec<(&str, Option<i64>, u32)> = counts
        .iter()
        .map(|((name, id), n)| (&**name, *id, *n))
        .collect();
    assert_eq!(
        counts,
        [("other", None, 1), ("tide", None, 2), ("tide", Some(7), 1)]
    );
    // OpenProse's own REPLACE changes created_at and drops the attachment, and no row records that.
    db.run("INSERT OR REPLACE INTO bindings(name, value) VALUES ('tide', 'fourth')");
    assert_eq!(db.read().bindings.len(), 1);
}

#[test]
fn b10_b11_any_frame_kind_and_name_is_read() {
    let db = Db::of(&format!(
        "{STATE_SQL}
         INSERT INTO execution(id) VALUES (42);
         INSERT INTO bindings(name, execution_id, kind, value) VALUES
           ('fine-name_1.x', 42, 'const', ''), ('x', 77, 'let', ''), ('y', NULL, 'var', ''),
           ('x__43', NULL, 'let', ''), ('../x', NULL, 'let', ''), ('a b', NULL, 'let', '')"
    ));
    let run = db.read();
    let issues: Vec<String> = said(&run.issues)
        .into_iter()
        .filter(|i| !i.starts_with("times") && !i.starts_with("no-run-row"))
        .collect();
    assert_eq!(
        issues,
        [
            "unknown-kind: y has the unknown kind “var”",
            "odd-name: the name “x__43” looks like the file name of a binding in a frame",
            "odd-name: the name “../x” looks like a path",
            "odd-name: the name “a b” has characters other than letters, digits, `_`, `-` and `.`",
            "unknown-execution: x belongs to execution 77, which is not recorded",
        ]
    );
    assert_eq!(run.bindings.len(), 6, "all are read");
    assert_eq!(run.bindings[2].kind, BindingKind::Other("var".into()));
}

#[test]
fn gates_and_their_log() {
    let Some(db) = as_documented(&[APPEND_ONLY, GATES]) else {
        return;
    };
    let run = db.read();
    let gate = &run.gates[0];
    assert_eq!(
        (&*gate.id, gate.status.clone(), gate.execution_id),
        ("cast_off", GateStatus::Approved, Some(3))
    );
    assert_eq!(gate.allow.as_deref(), Some("[\"user\"]"));
    assert_eq!(gate.timeout.as_deref(), Some("4h"));
    assert_eq!(gate.on_reject.as_deref(), Some("throw \"Stay in harbour\""));
    assert_eq!(
        (gate.resolved_by.as_deref(), gate.comment.as_deref()),
        (Some("raymond"), Some("Seen, go"))
    );
    let created = gate.created.as_ref().unwrap().millis().unwrap();
    let deadline = gate.timeout_at.as_ref().unwrap().millis().unwrap();
    assert_eq!(deadline - created, 4 * 3_600_000);
    let other = &run.gates[1];
    assert_eq!(other.status, GateStatus::Pending);
    assert_eq!(
        other.allow.as_deref(),
        Some("[\"user\"]"),
        "the column's default"
    );

    let kinds: Vec<&AuditKind> = run.audit.iter().map(|a| &a.kind).collect();
    assert_eq!(kinds, [&AuditKind::Created, &AuditKind::Approved]);
    let event = &run.audit[1];
    assert_eq!(
        (event.principal.as_deref(), event.comment.as_deref()),
        (Some("raymond"), Some("Seen, go"))
    );
    let row: serde_json::Value = serde_json::from_str(event.row_json.as_deref().unwrap()).unwrap();
    assert_eq!(row["id"], 2);
    assert_eq!(
        row["metadata"],
        event.metadata.as_deref().unwrap(),
        "a text stays a text"
    );
    assert!(
        event
            .row_json
            .as_deref()
            .unwrap()
            .starts_with("{\"comment\":\"Seen, go\",\"event_type\":")
    );
}

/// Audit rows written in the same second are ordered by id (errata G8).
#[test]
fn g8_the_log_is_in_order_of_id() {
    let db = Db::of(&format!(
        "{STATE_SQL}
         INSERT INTO gate_audit_log(id, gate_id, run_id, event_type, timestamp) VALUES
         (3, 'g', 'r', 'approved', '2026-01-15 10:00:00'), (1, 'g', 'r', 'created', '2026-01-15 10:00:00'),
         (2, 'g', 'r', 'viewed', '2026-01-15 09:00:00')"
    ));
    let ids: Vec<i64> = db.read().audit.iter().map(|a| a.id).collect();
    assert_eq!(ids, [1, 2, 3]);
}

/// In OpenProse's tables, the key of a gate is its id; in Prosescope's tables, it is run and id (errata G1). Both are
/// read. The id `deploy#2` is a second visit to the gate `deploy`.
#[test]
fn g1_either_key_of_gates_is_read() {
    let insert = "INSERT INTO gates(id, run_id) VALUES ('deploy', 'r1'), ('deploy#2', 'r1')";
    for schema in [
        STATE_SQL,
        &format!("{SCHEMA_GATES} CREATE TABLE run(id TEXT PRIMARY KEY);"),
    ] {
        let db = Db::of(&format!(
            "{schema} INSERT INTO run(id) VALUES ('r1'); {insert}"
        ));
        let run = db.read();
        assert_eq!(run.gates.len(), 2);
        assert!(!said(&run.issues).iter().any(|i| i.starts_with("odd-key")));
    }
    let ours = Db::of(&format!(
        "{STATE_SQL} INSERT INTO run(id, started_at) VALUES ('r1', '2026-01-15'), ('r2', '2026-01-14');
         INSERT INTO gates(id, run_id, prompt) VALUES ('deploy', 'r1', 'one'), ('deploy', 'r2', 'two')"
    ));
    let run = ours.read();
    let prompts: Vec<_> = run.gates.iter().map(|g| g.prompt.as_deref()).collect();
    assert_eq!(
        prompts,
        [Some("one")],
        "the other run's gate is the other run's"
    );
    let other = rows::decode(&ours.open(), "state.db", Some("r2"))
        .unwrap()
        .run;
    assert_eq!(other.gates[0].prompt.as_deref(), Some("two"));
}

/// A deadline written `T…Z` is compared correctly with times that contain a blank (errata G5).
#[test]
fn g5_deadlines_in_both_forms_are_the_same_instant() {
    let db = Db::of(&format!(
        "{STATE_SQL} INSERT INTO run(id) VALUES ('r1');
         INSERT INTO gates(id, run_id, timeout_at) VALUES
         ('a', 'r1', '2026-01-25T16:00:00Z'), ('b', 'r1', '2026-01-25 16:00:00')"
    ));
    let run = db.read();
    assert_eq!(run.gates[0].timeout_at, run.gates[1].timeout_at);
    assert_said(&run, "mixed-times", "`timeout_at` mixes two forms of time");
}

/// OpenProse's query joins gates to runs, so it hides a gate without a run row (errata G11). Prosescope shows the gate.
#[test]
fn g11_a_gate_without_a_run_row_is_shown() {
    let db = Db::of(
        "CREATE TABLE run(id TEXT PRIMARY KEY);
         CREATE TABLE gates(id TEXT PRIMARY KEY, run_id TEXT, prompt TEXT, status TEXT);
         INSERT INTO gates VALUES ('a', 'gone', 'Go on?', 'pending'), ('b', NULL, 'Stop?', 'perhaps')",
    );
    let run = db.read();
    assert_eq!(run.gates.len(), 2);
    assert_said(&run, "no-run-row", "the table `run` is empty");
    assert_said(
        &run,
        "gate-of-unknown-run",
        "gate a belongs to run gone, which is not recorded here",
    );
    assert_said(
        &run,
        "gate-of-unknown-run",
        "gate b belongs to an unnamed run",
    );
    assert_said(
        &run,
        "unknown-gate-status",
        "gate b has the unknown status “perhaps”",
    );
}

/// The triggers of Prosescope's schema prevent UPDATE, DELETE and REPLACE in the audit log, also by the `sqlite3`
/// program (errata G7).
#[test]
fn g7_the_log_of_our_schema_is_only_appended_to() {
    if needs::sqlite3().is_none() {
        return;
    }
    let db = Db::new();
    assert!(db.sqlite3(STATE_SQL).ok);
    let insert =
        "INSERT INTO gate_audit_log(gate_id, run_id, event_type) VALUES ('g', 'r', 'created')";
    assert!(db.sqlite3(insert).ok && db.sqlite3(insert).ok);
    for sql in [
        "UPDATE gate_audit_log SET principal = 'me'",
        "DELETE FROM gate_audit_log WHERE id = 1",
        "INSERT OR REPLACE INTO gate_audit_log(id, gate_id, run_id, event_type) VALUES (1, 'g', 'r', 'approved')",
        "REPLACE INTO gate_audit_log(id, gate_id, run_id, event_type) VALUES (2, 'g', 'r', 'approved')",
    ] {
        let answer = db.sqlite3(sql);
        assert!(
            answer.errors.contains("gate_audit_log is append-only"),
            "{sql}: {}",
            answer.errors
        );
    }
    assert_eq!(
        db.sqlite3("SELECT group_concat(event_type) FROM gate_audit_log")
            .said,
        "created,created\n"
    );
    let refused = db.sqlite3("INSERT INTO gates(id) VALUES ('g')");
    assert!(
        refused.errors.contains("NOT NULL"),
        "G1: run_id is part of the key: {}",
        refused.errors
    );
}

/// Agents are listed even if a segment precedes its agent, or an agent has only segments (errata A1).
#[test]
fn a1_agents_and_their_segments() {
    let Some(db) = as_documented(&[VALUES]) else {
        return;
    };
    db.piped("INSERT INTO agent_segments (agent_name, segment_number, summary) VALUES ('mate', 1, 'Helped')");
    let run = db.read();
    let captain = &run.agents[0];
    assert_eq!(
        (&*captain.name, &captain.scope),
        ("captain", &AgentScope::Execution)
    );
    let numbers: Vec<i64> = captain.segments.iter().map(|s| s.number).collect();
    assert_eq!(numbers, [1, 3]);
    assert_eq!(captain.segments[1].summary.as_deref(), Some("Checked it"));
    let memory =
        rows::value_bytes(&db.open(), "agents", "memory", &captain.memory, 0, 100).unwrap();
    assert_eq!(memory, b"Reefs to the east and north.");
    assert!(captain.updated.is_some());
    let mate = &run.agents[1];
    assert_eq!((&*mate.name, &mate.memory), ("mate", &ValueAt::Missing));
    assert_said(
        &run,
        "segment-without-agent",
        "segments of agent mate are recorded, but the agent itself is not",
    );
}

/// Readers find the earlier memories that Prosescope keeps, and agents in databases outside of the run (errata A1).
#[test]
fn a1_agents_that_outlive_a_run() {
    let db = Db::of(&format!(
        "{AGENTS_SQL} INSERT INTO agents(name, scope, memory) VALUES ('captain', 'project', 'now');
         INSERT INTO x_agent_memory_history(agent_name, memory) VALUES ('captain', 'then')"
    ));
    let run = db.read();
    assert_eq!(run.form, Form::Agents);
    assert_eq!(run.agents[0].scope, AgentScope::Project);
    assert_eq!(&*run.agents[0].store, "state.db");
    assert_eq!(said(&run.issues), [] as [&str; 0]);
    let conn = db.open();
    let earlier = &rows::all_memory_versions(&conn).unwrap()["captain"];
    let bytes = rows::value_bytes(
        &conn,
        "x_agent_memory_history",
        "memory",
        &earlier[0].value,
        0,
        10,
    )
    .unwrap();
    assert_eq!(bytes, b"then");
}

#[test]
fn extensions_are_kept_and_shown() {
    let Some(db) = as_documented(&[APPEND_ONLY, EXTENSIONS, VALUES]) else {
        return;
    };
    let run = db.read();
    let metrics = run.tables.iter().find(|t| t.name == "x_metrics").unwrap();
    assert_eq!((metrics.known, metrics.rows), (false, Some(1)));
    let declared: Vec<(&str, &str)> = metrics
        .columns
        .iter()
        .map(|c| (c.name.as_str(), c.declared.as_str()))
        .collect();
    assert_eq!(declared[2], ("metric_value", "REAL"));
    assert_said(
        &run,
        "unknown-column",
        "`bindings` has a column unknown to OpenProse: token_count",
    );
    assert!(!said(&run.issues).iter().any(|i| i.contains("x_metrics")));
    let rows = rows::table_rows(&db.open(), "x_metrics", 0, 10, 100).unwrap();
    let texts: Vec<&str> = rows.rows[0]
        .iter()
        .take(3)
        .map(|c| c.text.as_str())
        .collect();
    assert_eq!(texts, ["1", "knots", "5.5"]);
    assert_eq!(rows.rows[0][2].stored, "real");
}

#[test]
fn statuses_of_every_document_are_known() {
    let db = Db::of(&format!(
        "{STATE_SQL} {}",
        [
            "pending",
            "executing",
            "completed",
            "failed",
            "skipped",
            "started",
            "joined",
            "iteration",
            "exited",
            "retry",
            "waiting",
            "complete",
            "dreaming",
        ]
        .map(|word| format!("INSERT INTO execution(status) VALUES ('{word}');"))
        .concat()
    ));
    let run = db.read();
    let other: Vec<&Status> = run
        .executions
        .iter()
        .map(|e| &e.status)
        .filter(|s| matches!(s, Status::Other(_)))
        .collect();
    assert_eq!(other, [&Status::Other("dreaming".into())]);
}
