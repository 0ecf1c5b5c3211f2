//! Tests of tables with unusual columns, rows with unusual types, and files that are not databases of a run.

use prosescope_core::model::database::{CellAt, Database, DecodeError, Limits};
use prosescope_core::model::issue::Severity;
use prosescope_core::model::schema::{AGENTS_SQL, STATE_SQL};
use prosescope_core::model::source::Source;
use prosescope_core::model::{Binding, Dialect, Form, Run, StoredType, ValueAt};
use prosescope_core::read::decode::rows;
use prosescope_core::read::sqlite::MemorySource;
use prosescope_core::read::sqlite::{Guard, Sqlite};
use rusqlite::Connection;

use crate::support::{Db, assert_said, said, value};

fn names(run: &Run) -> Vec<(&str, Option<i64>, Option<u64>)> {
    run.bindings
        .iter()
        .map(|b| (&*b.name, b.execution_id, b.value.len()))
        .collect()
}

#[test]
fn any_shape_of_table_is_read() {
    for (shape, sql) in [
        (
            "other order, other case, extra columns",
            "CREATE TABLE Bindings(mood, VALUE TEXT, updated_at, Name, kind, execution_id INT);
             INSERT INTO Bindings VALUES ('calm', 'one', '2026-01-15', 'a', 'let', NULL),
                                         (NULL, 'three', NULL, 'b', 'let', 7)",
        ),
        (
            "without rowid",
            "CREATE TABLE bindings(name TEXT, value TEXT, execution_id INT DEFAULT -1, kind,
               PRIMARY KEY(execution_id, name)) WITHOUT ROWID;
             INSERT INTO bindings(name, value, kind, execution_id) VALUES ('b', 'three', 'let', 7),
               ('a', 'one', 'let', 3)",
        ),
        (
            "strict",
            "CREATE TABLE bindings(name TEXT, kind TEXT, value BLOB, execution_id INTEGER) STRICT;
             INSERT INTO bindings VALUES ('a', 'let', X'6f6e65', NULL), ('b', 'let', X'7468726565', 7)",
        ),
        (
            "columns that take the rowid's names",
            "CREATE TABLE bindings(rowid, oid, _rowid_, name, kind, value, execution_id);
             INSERT INTO bindings VALUES (9, 9, 9, 'a', 'let', 'one', NULL), (8, 8, 8, 'b', 'let', 'three', 7)",
        ),
        (
            "nothing but names and values",
            "CREATE TABLE bindings(name, value); INSERT INTO bindings VALUES ('a', 'one'), ('b', 'three')",
        ),
        (
            "a name that is no SQL",
            "CREATE TABLE bindings(\"select \"\"x\"\"\" TEXT, name, value, kind);
             INSERT INTO bindings VALUES ('odd', 'a', 'one', 'let'), ('odd', 'b', 'three', 'let')",
        ),
    ] {
        let db = Db::of(sql);
        let (conn, run) = (db.open(), db.read());
        let mut found: Vec<(String, String)> = run
            .bindings
            .iter()
            .map(|b| (b.name.to_string(), value(&conn, b)))
            .collect();
        found.sort();
        let expected = [("a", "one"), ("b", "three")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        assert_eq!(found, expected, "{shape}");
        for binding in &run.bindings {
            let full = rows::binding_tail(&conn, binding).unwrap();
            assert!(full.tail_known, "{shape}");
            assert_eq!((full.updated, full.source), (binding.updated.clone(), None), "{shape}");
        }
        let errors: Vec<_> = run.issues.iter().filter(|i| i.severity == Severity::Error).collect();
        assert_eq!(errors, [] as [&prosescope_core::model::issue::Issue; 0], "{shape}");
    }
}

#[test]
fn executions_without_ids_of_their_own_are_known_by_their_rowid() {
    for (sql, ids, rules) in [
        (
            "CREATE TABLE execution(status); INSERT INTO execution VALUES ('failed'), ('completed')",
            vec![1, 2],
            vec!["missing-column"],
        ),
        (
            "CREATE TABLE execution(id, status); INSERT INTO execution VALUES (7, 'x'), (3, 'y'), (7, 'z')",
            vec![3, 7, 7],
            vec!["missing-column", "duplicate-id"],
        ),
        (
            "CREATE TABLE execution(id, status); INSERT INTO execution VALUES ('one', 'x'), (NULL, 'y')",
            vec![1, 2],
            vec!["missing-column", "not-a-number", "missing-id", "missing-id"],
        ),
        (
            "CREATE TABLE execution(id INTEGER PRIMARY KEY, status) WITHOUT ROWID;
             INSERT INTO execution VALUES (9, 'x'), (4, 'y')",
            vec![4, 9],
            vec!["missing-column"],
        ),
    ] {
        let db = Db::of(sql);
        let run = db.read();
        assert_eq!(
            run.executions.iter().map(|e| e.id).collect::<Vec<_>>(),
            ids,
            "{sql}"
        );
        let found: Vec<&str> = run
            .issues
            .iter()
            .filter(|i| i.location.table.as_deref() == Some("execution"))
            .map(|i| i.rule.as_str())
            .filter(|rule| *rule != "times-not-recorded")
            .collect();
        assert_eq!(found, rules, "{sql}");
        for execution in &run.executions {
            let row = rows::execution_row(&db.open(), execution.id, 1 << 16)
                .unwrap()
                .unwrap();
            assert!(row.iter().any(|(name, _)| name == "status"));
        }
    }
}

#[test]
fn any_type_in_any_column_is_shown() {
    let db = Db::of(&format!(
        "{STATE_SQL}
         INSERT INTO run(id, status) VALUES (X'7231', 'COMPLETE');
         INSERT INTO execution(id, statement_index, statement_text, status, started_at, parent_id, metadata)
         VALUES (1, 'first', X'61ff62', 5, 1768487452, 'root', '{{\"a\": '),
                (2, 2.0, CAST(X'6162ff' AS TEXT), 'completed', 'soon', '1', '[1]');
         INSERT INTO bindings(name, kind, value) VALUES (42, 'let', 4.5), ('n', 'let', NULL)"
    ));
    let run = db.read();
    assert_eq!(&*run.id, "r1");
    let (first, second) = (&run.executions[0], &run.executions[1]);
    assert_eq!(&*first.text, "a\u{fffd}b");
    assert_eq!((first.index, second.index), (None, Some(2)));
    assert_eq!((first.parent, second.parent), (None, Some(1)));
    assert_eq!(
        first.started.as_ref().unwrap().to_string(),
        "2026-01-15T14:30:52Z"
    );
    assert_eq!(second.started.as_ref().unwrap().to_string(), "soon");
    assert_eq!(&*run.bindings[0].name, "42");
    let ValueAt::Row { stored, len, .. } = &run.bindings[0].value else {
        panic!()
    };
    assert_eq!(
        (*stored, *len),
        (StoredType::Text, Some(3)),
        "the column makes a text of it"
    );
    assert_eq!(run.bindings[1].value.len(), None, "NULL is no value");
    assert_said(
        &run,
        "invalid-utf8",
        "`statement_text` is not valid UTF-8 from byte 1 on",
    );
    assert_said(
        &run,
        "not-a-number",
        "`statement_index` is “first”, not a whole number",
    );
    assert_said(
        &run,
        "numeric-time",
        "the number in `started_at` is read as a time",
    );
    assert_said(&run, "unreadable-time", "`started_at` is “soon”");
}

/// Checks that each row with malformed metadata has an issue of its own (errata X13).
#[test]
fn x13_malformed_metadata_is_an_issue_of_its_row() {
    let db = Db::of(&format!(
        "{STATE_SQL} INSERT INTO execution(id, metadata) VALUES
         (1, '{{\"branch\": \"a\"}}'), (2, '{{\"branch\": '), (3, '[]'), (4, ''), (5, 'x'), (6, '{{\"branch\": \"b\"}}')"
    ));
    let run = db.read();
    let branches: Vec<Option<&str>> = run
        .executions
        .iter()
        .map(|e| e.meta.as_ref().and_then(|m| m.branch.as_deref()))
        .collect();
    assert_eq!(branches, [Some("a"), None, None, None, None, Some("b")]);
    let rows: Vec<i64> = run
        .issues
        .iter()
        .filter(|i| i.rule == "malformed-json")
        .map(|i| i.location.row.unwrap())
        .collect();
    assert_eq!(rows, [2, 3, 5]);
}

#[test]
fn a_utf16_database_reads_like_any_other() {
    for encoding in ["UTF-16le", "UTF-16be"] {
        let long = "ä€😀".repeat(1000);
        let db = Db::of(&format!(
            "PRAGMA encoding='{encoding}'; {STATE_SQL} {AGENTS_SQL}
             INSERT INTO run(id, program_source) VALUES ('rün', 'séssion');
             INSERT INTO bindings(name, kind, value) VALUES ('größe', 'let', '{long}');
             INSERT INTO agents(name, memory) VALUES ('a', 'wörd')"
        ));
        let (conn, run) = (db.open(), db.read());
        assert_eq!(
            (&*run.id, run.program.source.as_deref()),
            ("rün", Some("séssion"))
        );
        assert_eq!(names(&run), [("größe", None, Some(9000))]);
        assert_eq!(value(&conn, &run.bindings[0]), long);
        assert_eq!(run.agents[0].memory.len(), Some(5));
        assert_said(&run, "utf16", "the database stores its texts as UTF-16");
        let part = rows::value_bytes(&conn, "bindings", "value", &run.bindings[0].value, 9, 9);
        assert_eq!(part.unwrap(), "ä€😀".as_bytes());
    }
}

/// A view with the name of an OpenProse table is not read, because it would let the file execute SQL. One such file
/// made a reader use 3.4 GB of memory.
#[test]
fn a_view_under_a_documents_name_is_not_read() {
    let db = Db::of(
        "CREATE TABLE execution(id INTEGER PRIMARY KEY, status);
         INSERT INTO execution VALUES (1, 'completed');
         CREATE VIEW run AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
           SELECT hex(zeroblob(100000000)) AS id, i AS program_path FROM n;
         CREATE VIEW bindings AS SELECT 'evil' AS name, 'evil' AS value;",
    );
    let run = db.read();
    assert_eq!(
        (&*run.id, run.bindings.len(), run.executions.len()),
        ("", 0, 1)
    );
    assert_said(
        &run,
        "table-not-read",
        "`run` is a view, not a table, and is not read",
    );
    assert_said(
        &run,
        "table-not-read",
        "`bindings` is a view, not a table, and is not read",
    );
    let view = run.tables.iter().find(|t| t.name == "run").unwrap();
    assert_eq!((view.kind.as_str(), view.rows), ("view", None));
    let error = rows::table_rows(&db.open(), "run", 0, 10, 100).unwrap_err();
    assert_eq!(
        error.to_string(),
        "reading was refused, because the database asks for an action that reading never needs: `run` is a view, and \
         reading such rows would run SQL of the file"
    );
}

#[test]
fn virtual_tables_and_computed_columns_are_not_read() {
    let db = Db::of(
        "CREATE VIRTUAL TABLE bindings USING fts5(name, value);
         INSERT INTO bindings VALUES ('a', 'b');
         CREATE TABLE execution(id INTEGER PRIMARY KEY, status,
           statement_text AS (hex(zeroblob(100000))), error_message AS ('kept') STORED);
         INSERT INTO execution(status) VALUES ('failed');",
    );
    let run = db.read();
    assert_eq!(run.bindings.len(), 0);
    assert_said(
        &run,
        "table-not-read",
        "`bindings` is a virtual table, not a table",
    );
    assert_said(
        &run,
        "computed-column",
        "`execution` has computed columns, which are not read: statement_text",
    );
    assert_eq!(
        (&*run.executions[0].text, run.executions[0].error.as_deref()),
        ("", Some("kept"))
    );
    let rows = rows::table_rows(&db.open(), "execution", 0, 10, 100).unwrap();
    assert_eq!(rows.columns, ["id", "status", "error_message"]);
}

#[test]
fn long_texts_are_cut_and_the_row_has_the_rest() {
    let long = "ä".repeat(100_000);
    let db = Db::of(&format!(
        "{STATE_SQL} INSERT INTO execution(id, statement_text, error_message) VALUES (5, '{long}', 'short')"
    ));
    let run = db.read();
    let text = &run.executions[0].text;
    assert_eq!(text.len(), 65_536);
    assert!(text.chars().all(|c| c == 'ä'));
    assert_eq!(run.executions[0].error.as_deref(), Some("short"));
    assert_said(
        &run,
        "long-text",
        "`statement_text` is 200 KB long; only the first 66 KB are shown",
    );
    let conn = db.open();
    let tail = cell(&conn, ("execution", "statement_text"), 5, 199_998..200_098).unwrap();
    assert_eq!(tail, "ä".as_bytes());
    let row = rows::execution_row(&conn, 5, 1 << 16).unwrap().unwrap();
    let cell = &row
        .iter()
        .find(|(name, _)| name == "statement_text")
        .unwrap()
        .1;
    assert_eq!(
        (cell.len, cell.cut, cell.text.len()),
        (200_000, true, 65_536)
    );
    assert_eq!(rows::execution_row(&conn, 6, 1 << 16).unwrap(), None);
}

#[test]
fn values_of_any_kind_are_read_in_parts() {
    let db = Db::of(
        "CREATE TABLE bindings(name, value);
         INSERT INTO bindings VALUES ('text', 'grüße'), ('blob', X'00ff10'), ('whole', -12), ('real', 0.5),
           ('null', NULL), ('empty', '')",
    );
    let (conn, run) = (db.open(), db.read());
    let part = |b: &Binding, offset, len| {
        rows::value_bytes(&conn, "bindings", "value", &b.value, offset, len).unwrap()
    };
    let whole: Vec<Vec<u8>> = run.bindings.iter().map(|b| part(b, 0, 100)).collect();
    assert_eq!(
        whole,
        [
            "grüße".as_bytes(),
            b"\x00\xff\x10",
            b"-12",
            b"0.5",
            b"",
            b""
        ]
        .map(<[u8]>::to_vec)
    );
    assert_eq!(part(&run.bindings[0], 5, 100), b"\x9fe");
    assert_eq!(part(&run.bindings[0], 7, 1), b"");
    assert_eq!(part(&run.bindings[0], u64::MAX, usize::MAX), b"");
    assert_eq!(part(&run.bindings[2], 1, 1), b"1");
    let lens: Vec<Option<u64>> = run.bindings.iter().map(|b| b.value.len()).collect();
    assert_eq!(lens, [Some(7), Some(3), Some(3), Some(3), None, Some(0)]);

    let gone = ValueAt::Row {
        rowid: 99,
        len: None,
        stored: StoredType::Text,
    };
    let error = rows::value_bytes(&conn, "bindings", "value", &gone, 0, 1).unwrap_err();
    assert_eq!(error.to_string(), "there is no row 99 in bindings");
    let error = cell(&conn, ("nothing", "value"), 1, 0..1).unwrap_err();
    assert_eq!(error.to_string(), "there is no table nothing");
    let error = cell(&conn, ("bindings", "mood"), 1, 0..1).unwrap_err();
    assert_eq!(error.to_string(), "there is no column mood in bindings");
}

#[test]
fn a_value_is_given_in_pieces() {
    let db = Db::of("CREATE TABLE bindings(name, value)");
    db.run("INSERT INTO bindings VALUES ('a', CAST(zeroblob(3000000) AS TEXT)), ('b', 7)");
    let (conn, run) = (db.open(), db.read());
    let pieces = |i: usize, stop_after: usize| {
        let mut seen = Vec::new();
        let value: &ValueAt = &run.bindings[i].value;
        rows::value_pieces(&conn, "bindings", "value", value, &mut |piece| {
            seen.push(piece.len());
            seen.len() < stop_after
        })
        .unwrap();
        seen
    };
    assert_eq!(pieces(0, 9), [1_048_576, 1_048_576, 902_848]);
    assert_eq!(pieces(0, 1), [1_048_576]);
    assert_eq!(pieces(1, 9), [1]);
}

#[test]
fn a_page_of_a_table_is_cut_cell_by_cell() {
    let db = Db::of(
        "CREATE TABLE execution(id INTEGER PRIMARY KEY);
         CREATE TABLE x_any(a, b, c);
         INSERT INTO x_any VALUES (1, 'text', NULL), (2.5, X'c0ffee', ''),
           (3, hex(zeroblob(100000)), 'behind it'), (4, 'last', 'one')",
    );
    let conn = db.open();
    let page = rows::table_rows(&conn, "X_ANY", 0, 3, 10).unwrap();
    assert_eq!(
        (page.columns.join(","), page.rows.len()),
        ("a,b,c".into(), 3)
    );
    let cells: Vec<(&str, &str, u64, bool)> = page
        .rows
        .iter()
        .flatten()
        .map(|c| (c.stored.as_str(), c.text.as_str(), c.len, c.cut))
        .collect();
    assert_eq!(
        cells,
        [
            ("integer", "1", 1, false),
            ("text", "text", 4, false),
            ("null", "", 0, false),
            ("real", "2.5", 3, false),
            ("blob", "c0ffee", 3, false),
            ("text", "", 0, false),
            ("integer", "3", 1, false),
            ("text", "0000000000", 200_000, true),
            ("text", "", 9, true),
        ]
    );
    // Unlike in a list, a row that is opened alone is read completely.
    let one = rows::table_rows(&conn, "x_any", 2, 1, 20).unwrap();
    assert_eq!(
        (one.rows[0][2].text.as_str(), one.rows[0][2].cut),
        ("behind it", false)
    );
    assert_eq!(
        rows::table_rows(&conn, "x_any", 3, 10, 10)
            .unwrap()
            .rows
            .len(),
        1
    );
    assert_eq!(
        rows::table_rows(&conn, "x_any", u64::MAX, 10, 10)
            .unwrap()
            .rows
            .len(),
        0
    );
}

#[test]
fn rows_of_one_run_where_tables_name_their_run() {
    let db = Db::of(&format!(
        "{STATE_SQL}
         ALTER TABLE execution ADD COLUMN run_id TEXT;
         INSERT INTO run(id, started_at) VALUES ('old', '2026-01-01'), ('new', '2026-01-02');
         INSERT INTO execution(status, run_id) VALUES ('failed', 'old'), ('completed', 'new'), ('started', NULL)"
    ));
    let statuses = |run: Option<&str>| -> Vec<String> {
        let run = rows::decode(&db.open(), "state.db", run).unwrap().run;
        run.executions
            .iter()
            .map(|e| e.status.word().to_owned())
            .collect()
    };
    assert_eq!(statuses(None), ["completed", "started"]);
    assert_eq!(statuses(Some("old")), ["failed", "started"]);
}

#[test]
fn databases_of_somebody_else_are_refused_with_what_they_hold() {
    for (sql, expected) in [
        ("VACUUM", "this database contains neither a run nor agents: there are no tables at all"),
        (
            "CREATE TABLE users(id); CREATE VIEW run AS SELECT 1",
            "this database contains neither a run nor agents: the only tables are run (view), users",
        ),
        (
            "CREATE TABLE a1(x); CREATE TABLE a2(x); CREATE TABLE a3(x); CREATE TABLE a4(x); CREATE TABLE a5(x);
             CREATE TABLE a6(x); CREATE TABLE a7(x); CREATE TABLE a8(x); CREATE TABLE a9(x)",
            "this database contains neither a run nor agents: there are 9 tables, among them a1, a2, a3, a4, a5, a6, a7, a8",
        ),
        (
            "CREATE TABLE checkpoints(thread_id, checkpoint_id); CREATE TABLE writes(thread_id, task_id)",
            "this database contains neither a run nor agents: it is a database of LangGraph (checkpoints)",
        ),
        (
            "CREATE TABLE schema_version(version); CREATE TABLE sessions(id); CREATE TABLE messages(id, session_id)",
            "this database contains neither a run nor agents: it is a database of Hermes Agent (sessions)",
        ),
    ] {
        let db = Db::of(sql);
        let error = rows::decode(&db.open(), "state.db", None).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(error.next_step().starts_with("Open the state.db of a run"));
    }
}

#[test]
fn a_database_with_one_table_of_a_run_is_a_run() {
    for table in [
        "run",
        "execution",
        "bindings",
        "imports",
        "gates",
        "gate_audit_log",
    ] {
        let db = Db::of(&format!("CREATE TABLE {table}(id)"));
        let form = Form::Sqlite {
            dialect: Dialect::Undecided,
        };
        assert_eq!(db.read().form, form, "{table}");
    }
    for table in ["agents", "agent_segments"] {
        assert_eq!(
            Db::of(&format!("CREATE TABLE {table}(name)")).read().form,
            Form::Agents
        );
    }
}

#[test]
fn reading_that_takes_too_long_gives_what_was_read_and_says_so() {
    let db = Db::of(STATE_SQL);
    let mut rows = String::from("BEGIN;");
    for n in 1..=3000 {
        rows.push_str(&format!(
            "INSERT INTO execution(id, status) VALUES ({n}, 'completed');"
        ));
    }
    db.run(&format!("{rows} COMMIT;"));
    let conn = Connection::open(db.path()).unwrap();
    let guard = Guard {
        steps: 40_000,
        ..Guard::default()
    };
    let conn = Sqlite::new(conn, guard).unwrap();
    let run = rows::decode(&conn, "state.db", None).unwrap().run;
    assert!(
        (100..3000).contains(&run.executions.len()),
        "{}",
        run.executions.len()
    );
    assert_said(
        &run,
        "reading-stopped",
        "reading was stopped because it took too long",
    );
}

#[test]
fn one_snapshot_for_all_tables_and_none_is_left_open() {
    let db = Db::of(STATE_SQL);
    let conn = db.open();
    rows::decode(&conn, "state.db", None).unwrap();
    // A reader that stays in a transaction blocks every writer.
    conn.begin().unwrap();
    assert!(conn.begin().is_err());
    conn.end();
    db.run("INSERT INTO run(id) VALUES ('later')");
    assert_eq!(
        &*rows::decode(&conn, "state.db", None).unwrap().run.id,
        "later"
    );
}

#[test]
fn bytes_in_memory_with_and_without_their_wal() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(&format!(
        "PRAGMA journal_mode=WAL; {STATE_SQL} INSERT INTO run(id) VALUES ('r1');
         PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO execution(status) VALUES ('completed');"
    ))
    .unwrap();
    let db = std::fs::read(&path).unwrap();
    let wal = std::fs::read(dir.path().join("state.db-wal")).unwrap();
    let rows = |source: &MemorySource| {
        let db = source.database("run/state.db", &Limits::default()).unwrap();
        rows::decode(db.as_ref(), "state.db", None)
            .unwrap()
            .run
            .executions
            .len()
    };
    let alone = MemorySource::new("memory", [("run/state.db".to_owned(), db.clone())]);
    assert_eq!(rows(&alone), 0);
    assert_eq!(
        said(&alone.notes("run/state.db")),
        [
            "wal-missing: run/state.db is in WAL mode and there is no run/state.db-wal: rows are missing if the \
             database was copied while a program had it open"
        ]
    );
    let both = MemorySource::new(
        "memory",
        [
            ("run/state.db".to_owned(), db),
            ("run/state.db-wal".to_owned(), wal),
        ],
    );
    assert_eq!(rows(&both), 1);
    assert_eq!(both.notes("run/state.db"), []);
    let text = MemorySource::new("memory", [("a.db".to_owned(), b"hello".to_vec())]);
    let opened = text.database("a.db", &Limits::default()).map(drop);
    assert_eq!(
        opened.unwrap_err().to_string(),
        "a.db: this is not a SQLite database: 5 bytes of text, beginning with \"hello\""
    );
}

#[test]
fn a_value_beside_a_computed_column_is_read_all_the_same() {
    let db = Db::of(
        "CREATE TABLE bindings(name, twice AS (name || name), value);
         INSERT INTO bindings(name, value) VALUES ('a', hex(zeroblob(50000)))",
    );
    let (conn, run) = (db.open(), db.read());
    assert_eq!(value(&conn, &run.bindings[0]).len(), 100_000);
}

/// Checks that a value longer than 64 MB, the most that is read at once, is listed and read in parts.
#[test]
fn a_value_beyond_the_limit_is_listed_and_read_in_parts() {
    let Some(db) = Db::large(&format!(
        "{SCHEMA_OF_BINDINGS} INSERT INTO bindings VALUES ('huge', zeroblob(70000000), 'let', 'let huge = session')"
    )) else {
        return;
    };
    let (conn, run) = (db.open(), db.read());
    let huge = &run.bindings[0];
    assert_eq!(
        (huge.value.len(), huge.tail_known),
        (Some(70_000_000), false)
    );
    let end = rows::value_bytes(&conn, "bindings", "value", &huge.value, 69_999_990, 100).unwrap();
    assert_eq!(end, [0; 10]);
    let tail = rows::binding_tail(&conn, huge).unwrap();
    assert_eq!(tail.source.as_deref(), Some("let huge = session"));
    let row = rows::table_rows(&conn, "bindings", 0, 1, 20).unwrap();
    assert_eq!(
        (row.rows[0][1].len, row.rows[0][3].text.as_str()),
        (70_000_000, "let huge = session")
    );
    let mut total = 0;
    rows::value_pieces(&conn, "bindings", "value", &huge.value, &mut |piece| {
        total += piece.len();
        true
    })
    .unwrap();
    assert_eq!(total, 70_000_000);
}

const SCHEMA_OF_BINDINGS: &str = "CREATE TABLE bindings(name, value, kind, source_statement);";

/// Checks that a row without a rowid is found by its position among all rows of the table, not among the rows of its
/// run.
#[test]
fn a_value_of_one_run_of_several_is_its_own_without_rowids() {
    let db = Db::of(
        "CREATE TABLE run(id TEXT, started_at TEXT);
         INSERT INTO run VALUES ('r1', '2026-01-15 10:00:00'), ('r2', '2026-01-15 11:00:00');
         CREATE TABLE bindings(name TEXT, run_id TEXT, kind TEXT, value TEXT, PRIMARY KEY (run_id, name)) WITHOUT ROWID;
         INSERT INTO bindings VALUES ('a', 'r1', 'let', 'first'), ('a', 'r2', 'let', 'second')",
    );
    let run = db.read();
    assert_eq!((&*run.id, run.bindings.len()), ("r2", 1));
    assert_eq!(value(&db.open(), &run.bindings[0]), "second");
}

/// Returns the bytes of one cell, whatever its type is.
fn cell(
    db: &dyn Database,
    (table, column): (&str, &str),
    at: i64,
    range: std::ops::Range<u64>,
) -> Result<Vec<u8>, DecodeError> {
    let stored = None;
    let cell = CellAt {
        table,
        column,
        at,
        stored,
    };
    let mut bytes = Vec::new();
    db.pieces(&cell, range, &mut |piece| {
        bytes.extend_from_slice(piece);
        true
    })?;
    Ok(bytes)
}
