use super::*;

fn guarded(sql: &str, options: Guard) -> Connection {
    let mut conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(sql).unwrap();
    guard(&mut conn, options).unwrap();
    conn
}

fn ask(conn: &Connection, sql: &str) -> Result<(), DecodeError> {
    let mut statement = conn.prepare(sql)?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

#[test]
fn only_reads_pass() {
    let conn = guarded(
        // A default that calls a function is allowed, because reading never evaluates it.
        "CREATE TABLE t(a, b, c DEFAULT (hex(randomblob(8)))); INSERT INTO t(a, b) VALUES (1, 'x');
             CREATE TEMP TABLE w(a); CREATE VIEW v AS SELECT a FROM t;
             CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END;",
        Guard::default(),
    );
    for sql in [
        "SELECT a, octet_length(b), typeof(b), c FROM t",
        "SELECT count(*) FROM t",
        "SELECT name FROM sqlite_schema",
        "PRAGMA table_xinfo(\"t\")",
        "PRAGMA table_list",
        "PRAGMA encoding",
        "PRAGMA quick_check(\"t\")",
        "BEGIN",
        "ROLLBACK",
    ] {
        assert_eq!(ask(&conn, sql), Ok(()), "{sql}");
    }
    for sql in [
        "INSERT INTO t VALUES (2, 'y')",
        "DELETE FROM t",
        "UPDATE t SET a = 3",
        "CREATE TABLE u(a)",
        "CREATE TEMP TABLE u(a)",
        "DROP TABLE t",
        "ATTACH ':memory:' AS other",
        "VACUUM",
        "VACUUM INTO '/tmp/x'",
        "PRAGMA journal_mode=WAL",
        "PRAGMA user_version=3",
        "PRAGMA encoding='UTF-16'",
        "PRAGMA query_only=0",
        "SELECT load_extension('x')",
        "SELECT randomblob(1000000000)",
        "SELECT a FROM v",
        "SELECT a FROM temp.w",
        "SAVEPOINT s",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
    ] {
        let answer = ask(&conn, sql);
        assert!(
            matches!(
                answer,
                Err(DecodeError::Refused(_) | DecodeError::Sqlite(_) | DecodeError::TooBig(_))
            ),
            "{sql}: {answer:?}"
        );
    }
}

/// Several settings forbid these statements. This test shows that the authorizer alone refuses them.
#[test]
fn functions_that_reach_out_and_views_are_refused_before_they_are_asked() {
    let conn = guarded(
        "CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t",
        Guard::default(),
    );
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, true)
        .unwrap();
    for sql in [
        "SELECT a FROM v",
        "SELECT fts3_tokenizer('simple')",
        "SELECT load_extension('x')",
    ] {
        let answer = ask(&conn, sql);
        assert!(
            matches!(answer, Err(DecodeError::Refused(_))),
            "{sql}: {answer:?}"
        );
    }
}

#[test]
fn a_statement_that_takes_too_many_steps_is_stopped_and_the_next_starts_anew() {
    let options = Guard {
        steps: 20_000,
        ..Guard::default()
    };
    let mut rows = String::from("CREATE TABLE t(a); BEGIN;");
    for n in 0..1_000 {
        rows.push_str(&format!("INSERT INTO t VALUES ({n});"));
    }
    rows.push_str("COMMIT;");
    let conn = guarded(&rows, options);
    let error = ask(&conn, "SELECT count(*) FROM t a, t b WHERE a.a + b.a < 0").unwrap_err();
    assert_eq!(error, DecodeError::Stopped);
    assert_eq!(
        error.to_string(),
        "reading was stopped because it took too long"
    );
    for _ in 0..10 {
        assert_eq!(ask(&conn, "SELECT a FROM t WHERE a < 0"), Ok(()));
    }
}

#[test]
fn statements_of_a_snapshot_share_their_steps() {
    let rows = "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10);";
    let cross = "SELECT count(*) FROM t a, t b, t c WHERE a.a + b.a + c.a < 0";
    let options = || Guard {
        steps: 30_000,
        ..Guard::default()
    };
    let many = |conn: &Connection| (0..20).all(|_| ask(conn, cross).is_ok());
    let conn = guarded(rows, options());
    assert!(many(&conn), "each has its own");
    ask(&conn, "BEGIN").unwrap();
    assert!(!many(&conn), "all have one");
    ask(&conn, "ROLLBACK").unwrap();
    assert!(many(&conn), "each has its own again");
}

#[test]
fn a_small_file_gets_few_steps() {
    let conn = guarded(
        "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10);",
        Guard::default(),
    );
    let cross = "SELECT count(*) FROM t a, t b, t c, t d, t e, t f WHERE a.a + f.a < 0";
    assert_eq!(ask(&conn, cross), Err(DecodeError::Stopped));
}

/// Several settings protect against the same attack. If one were missing, only this test would fail.
#[test]
fn every_setting_is_as_reliability_md_demands() {
    let dir = tempfile::tempdir().unwrap();
    #[allow(clippy::disallowed_methods)]
    let mut conn = Connection::open(dir.path().join("a.db")).unwrap();
    conn.execute_batch("CREATE TABLE t(a); PRAGMA mmap_size = 1000000; PRAGMA trusted_schema = 1")
        .unwrap();
    // Turn off the library's own defaults, so that only the guard can turn them on.
    let off = [
        DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA,
        DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER,
    ];
    for setting in off {
        conn.set_db_config(setting, true).unwrap();
    }
    guard(&mut conn, Guard::default()).unwrap();
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
        (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
    ] {
        assert_eq!(conn.db_config(setting).unwrap(), on, "{setting:?}");
    }
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, LONGEST_SQL),
        (Limit::SQLITE_LIMIT_VDBE_OP, 1 << 20),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 8),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 64),
        (Limit::SQLITE_LIMIT_SCHEMA, MOST_OBJECTS),
    ] {
        assert_eq!(conn.limit(limit).unwrap(), most, "{limit:?}");
    }
    // Allow every pragma, because a guarded connection refuses the pragmas that this test reads.
    authorize(&conn, |_, _: Option<&str>| true).unwrap();
    for (pragma, value) in [
        ("cell_size_check", 1),
        ("query_only", 1),
        ("mmap_size", 0),
        ("temp_store", 2),
        ("hard_heap_limit", HEAP as i64),
    ] {
        let set: i64 = conn
            .pragma_query_value(None, pragma, |row| row.get(0))
            .unwrap();
        assert_eq!(set, value, "{pragma}");
    }
}

#[test]
fn a_shell_can_stop() {
    let asked = AtomicU64::new(0);
    let conn = guarded(
        "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10);",
        Guard {
            stop: Some(Arc::new(move || asked.fetch_add(1, Ordering::Relaxed) > 3)),
            ..Guard::default()
        },
    );
    let cross =
        "SELECT count(*) FROM t a, t b, t c, t d, t e WHERE a.a + b.a + c.a + d.a + e.a < 0";
    assert_eq!(ask(&conn, cross), Err(DecodeError::Stopped));
}
