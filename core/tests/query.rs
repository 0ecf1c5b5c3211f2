//! Tests of SQL over a run: limits against hostile files, and the meaning of names.
#![allow(clippy::unwrap_used)]

use std::rc::Rc;
use std::sync::RwLock;

use prosescope_core::model::database::Limits;
use prosescope_core::model::database::query::{QueryError, ROWS};
use prosescope_core::model::schema::STATE_SQL;
use prosescope_core::pages::query::{self, UnansweredQuery};
use prosescope_core::pages::session::{Options, Session};
use prosescope_core::pages::view::QueryView;
use prosescope_core::read::sqlite::MemorySource;
use rusqlite::Connection;

/// Returns the bytes of a database with a run of two statements and a value; `sql` changes it further.
fn bytes(sql: &str) -> Vec<u8> {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(STATE_SQL).unwrap();
    conn.execute_batch(
        "INSERT INTO run(id, status) VALUES ('r1', 'completed');
         INSERT INTO execution(id, statement_index, statement_text, status) VALUES
           (1, 0, 'session \"One\"', 'completed'), (2, 1, 'session \"Two\"', 'failed');
         INSERT INTO bindings(name, kind, value) VALUES ('draft', 'let', 'a text');",
    )
    .unwrap();
    conn.execute_batch(sql).unwrap();
    conn.serialize("main").unwrap().to_vec()
}

fn opened(bytes: Vec<u8>) -> Session {
    let source = MemorySource::new("r", [("state.db".to_owned(), bytes)]);
    Session::open(Rc::new(source), "state.db", &Options::default()).unwrap()
}

fn ask(session: &Session, sql: &str) -> Result<QueryView, QueryError> {
    let _others = MEMORY.read().unwrap();
    bounded(session, sql, ROWS, &Limits::default())
}

fn bounded(
    session: &Session,
    sql: &str,
    rows: u32,
    limits: &Limits,
) -> Result<QueryView, QueryError> {
    query::ask(session, sql, rows, limits, None).map_err(|error| match error {
        UnansweredQuery::Query(error) => error,
        UnansweredQuery::Source(error) => panic!("{sql}: {error}"),
    })
}

static MEMORY: RwLock<()> = RwLock::new(());

#[track_caller]
fn texts(session: &Session, sql: &str) -> Vec<String> {
    let view = ask(session, sql).unwrap();
    let row = |row: &Vec<prosescope_core::pages::view::ShownCell>| {
        let cells: Vec<&str> = row.iter().map(|cell| cell.text.as_str()).collect();
        cells.join("|")
    };
    view.rows.iter().map(row).collect()
}

#[test]
fn what_was_understood_and_the_own_tables_are_asked_together() {
    let session = opened(bytes(""));
    assert_eq!(
        texts(
            &session,
            "WITH failed AS (SELECT * FROM trace WHERE status = 'failed')
             SELECT f.text, e.id FROM failed f JOIN execution e ON e.id = f.id",
        ),
        ["session \"Two\"|2"]
    );
    assert_eq!(
        texts(
            &session,
            "SELECT name, value, length, value_cut FROM value_list"
        ),
        ["draft|a text|6|0"]
    );
    assert_eq!(
        texts(
            &session,
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3) SELECT sum(i) FROM n",
        ),
        ["6"]
    );
    assert_eq!(texts(&session, "SELECT value FROM json_each('[4]')"), ["4"]);
    for question in query::tables(&session).questions {
        let answer = ask(&session, &question.sql);
        assert!(answer.is_ok(), "{}: {answer:?}", question.name);
    }
}

#[test]
fn no_table_of_the_run_is_hidden() {
    let session = opened(bytes(
        "CREATE TABLE Trace(own); INSERT INTO Trace VALUES ('theirs')",
    ));
    assert_eq!(texts(&session, "SELECT * FROM trace"), ["theirs"]);
    assert_eq!(texts(&session, "SELECT count(*) FROM model_trace"), ["2"]);
    let longest = query::stored(&session, "retries").unwrap();
    assert!(longest.sql.contains("FROM model_trace"), "{}", longest.sql);
}

#[test]
fn what_a_file_defines_is_not_run() {
    let session = opened(bytes(
        "CREATE VIEW v AS SELECT value FROM bindings;
         CREATE TABLE c(a, b AS (hex(zeroblob(20000000))), d);
         INSERT INTO c(a, d) VALUES (1, 2);
         CREATE VIRTUAL TABLE f USING fts5(t);",
    ));
    for sql in [
        "SELECT * FROM v",
        "SELECT count(*) FROM v",
        "SELECT b FROM c",
        "SELECT * FROM f",
        "SELECT count(*) FROM f",
        "SELECT load_extension('x')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT * FROM dbstat",
    ] {
        let answer = ask(&session, sql);
        let refused = matches!(&answer, Err(QueryError::Refused(_)))
            || matches!(&answer, Err(QueryError::Sql { message, .. }) if message.starts_with("no such table: dbstat"));
        assert!(refused, "{sql}: {answer:?}");
    }
    assert_eq!(texts(&session, "SELECT a, d FROM c"), ["1|2"]);
    // SQLite stores a virtual table in shadow tables, which may be queried like ordinary tables.
    assert!(ask(&session, "SELECT * FROM f_config").is_ok());
}

#[test]
fn writes_of_every_kind_are_refused() {
    let session = opened(bytes(
        "CREATE VIRTUAL TABLE f USING fts5(t); CREATE VIRTUAL TABLE g USING rtree(id, a, b);",
    ));
    for sql in [
        "INSERT INTO run(id) VALUES ('x')",
        "UPDATE run SET id = 'x'",
        "DELETE FROM execution",
        "CREATE TABLE x(a)",
        "CREATE TEMP TABLE x(a)",
        "CREATE TEMP VIEW x AS SELECT 1",
        "CREATE TRIGGER x AFTER INSERT ON run BEGIN SELECT 1; END",
        "DROP TABLE run",
        "ALTER TABLE run RENAME TO x",
        "DELETE FROM trace",
        "INSERT INTO f_config VALUES ('a', 1)",
        "INSERT INTO f(t) VALUES ('a')",
        "INSERT INTO g_rowid VALUES (1, 2)",
        "WITH x AS (SELECT 1) DELETE FROM run",
        "INSERT INTO run(id) VALUES ('x') RETURNING id",
        "ATTACH ':memory:' AS x",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO '/tmp/prosescope-never'",
        "REINDEX",
        "ANALYZE",
        "BEGIN",
        "COMMIT",
        "SAVEPOINT x",
        "PRAGMA journal_mode=WAL",
        "PRAGMA query_only=0",
        "PRAGMA writable_schema=1",
        "PRAGMA user_version=3",
        "PRAGMA wal_checkpoint",
        "PRAGMA hard_heap_limit=0",
        "EXPLAIN DELETE FROM run",
        "SELECT 1; DELETE FROM run",
    ] {
        let answer = ask(&session, sql);
        assert!(
            matches!(answer, Err(QueryError::Refused(_))),
            "{sql}: {answer:?}"
        );
    }
    assert_eq!(texts(&session, "SELECT id FROM run"), ["r1"]);
}

#[test]
fn a_question_that_never_ends_is_stopped() {
    let session = opened(bytes(""));
    for sql in [
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0",
    ] {
        assert_eq!(ask(&session, sql), Err(QueryError::Stopped), "{sql}");
    }
    // The caller ends a query once it has enough rows, even if the query is endless.
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    let view = ask(&session, endless).unwrap();
    assert_eq!((view.returned, view.more), (u64::from(ROWS), true));
    // A pattern that is compared at each place of a long text cannot be interrupted, so its length is limited.
    let long = "SELECT hex(zeroblob(800000)) LIKE '%' || hex(zeroblob(20000)) || '1%'";
    let refused = {
        let _alone = MEMORY.write().unwrap();
        bounded(&session, long, ROWS, &Limits::default())
    };
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("pattern too complex"), "{refused}");
    // The caller interrupts this query.
    let limits = Limits {
        stop: Some(std::sync::Arc::new(|| true)),
        ..Limits::default()
    };
    let sql = "SELECT count(*) FROM trace a, trace b, trace c, trace d, trace e, trace f, trace g, trace h";
    let stopped = query::ask(&session, sql, ROWS, &limits, None);
    let stopped = stopped.map_err(|error| error.to_string());
    assert!(stopped.is_err_and(|error| error.contains("stopped")));
}

#[test]
fn answers_and_memory_are_bounded() {
    let session = opened(bytes(""));
    let view = ask(
        &session,
        "SELECT hex(zeroblob(100000)) AS a, zeroblob(100000)",
    )
    .unwrap();
    assert_eq!(view.cut, 2);
    let cells = view.rows.concat();
    assert_eq!((cells[0].len, cells[0].text.len()), (200_000, 64 << 10));
    assert_eq!(cells[1].text.len(), 128 << 10);
    let long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
         SELECT hex(zeroblob(32768)) FROM n";
    let view = {
        let _others = MEMORY.read().unwrap();
        bounded(&session, long, 100_000, &Limits::default()).unwrap()
    };
    assert!(
        view.more && view.notes.len() == 1 && view.returned == 512,
        "{}",
        view.returned
    );
    let large = ask(&session, "SELECT length(zeroblob(1000000000))");
    assert!(matches!(large, Err(QueryError::TooBig(_))), "{large:?}");
    // SQLite counts memory for the whole process, so no other query may run meanwhile.
    let _alone = MEMORY.write().unwrap();
    let held = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 40)
         SELECT i FROM n ORDER BY hex(randomblob(4000000))";
    let large = bounded(&session, held, ROWS, &Limits::default());
    assert!(matches!(large, Err(QueryError::TooBig(_))), "{large:?}");
}

#[test]
fn errors_say_what_there_is_instead() {
    let session = opened(bytes(""));
    let next = |sql: &str| {
        let error = ask(&session, sql).unwrap_err();
        (error.to_string(), error.next())
    };
    let (error, hint) = next("SELECT 'ü', stauts FROM execution");
    assert_eq!(error, "SQLite: no such column: stauts (at character 13)");
    assert!(
        hint.starts_with(
            "Did you mean status? The columns of `execution` are id, statement_index, "
        ),
        "{hint}"
    );
    let (error, hint) = next("SELECT * FROM trac");
    assert!(error.starts_with("SQLite: no such table: trac"), "{error}");
    assert!(
        hint.starts_with("Did you mean trace? The tables are trace, value_list, "),
        "{hint}"
    );
    let (error, _) = next("SELECT 1 FROM run WHERE");
    assert!(error.starts_with("SQLite: incomplete input"), "{error}");
    assert_eq!(ask(&session, " -- nothing\n"), Err(QueryError::Empty));
    assert_eq!(
        ask(&session, "SELECT 1; SELECT 2"),
        Err(QueryError::Several)
    );
    assert_eq!(
        ask(&session, "SELECT 1; -- done").map(|view| view.returned),
        Ok(1)
    );
    let (error, _) = next("SELECT ?1");
    assert!(error.contains("parameters"), "{error}");
    let (error, _) = next("SELECT 1\0; DROP TABLE run");
    assert!(error.contains("NUL"), "{error}");
}

#[test]
fn names_that_are_no_text_do_not_end_the_reader() {
    let mut bytes = bytes("CREATE TABLE t(QQ, b); INSERT INTO t VALUES (1, 2)");
    let at = bytes.windows(2).position(|two| two == b"QQ").unwrap();
    bytes[at..at + 2].copy_from_slice(&[0xf1, 0xff]);
    let session = opened(bytes);
    let view = ask(&session, "SELECT * FROM t").unwrap();
    assert_eq!(view.columns[1].name, "column 2");
    assert_eq!(view.notes.len(), 1);
}

#[test]
fn damaged_runs_can_be_asked_without_harm() {
    let cases = prosescope_damage::by_hand().chain(prosescope_damage::databases().step_by(40));
    let mut asked = 0;
    for case in cases.chain(prosescope_damage::folders().step_by(40)) {
        let source: Rc<dyn prosescope_core::model::source::Source> = Rc::new(case.in_memory());
        for found in prosescope_core::pages::session::survey(source.as_ref()).found {
            let options = Options::default();
            let Ok(session) = Session::open(Rc::clone(&source), &found.place, &options) else {
                continue;
            };
            for table in query::tables(&session).tables.iter().take(20) {
                let name = table.name.replace('"', "\"\"");
                // The query may return rows or an error, but must not panic.
                asked += usize::from(ask(&session, &format!("SELECT * FROM \"{name}\"")).is_ok());
            }
        }
    }
    assert!(asked > 100, "{asked}");
}
