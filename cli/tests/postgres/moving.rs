//! Tests of copying runs into PostgreSQL and back: the copy that comes back is the same run.

#[cfg(target_os = "linux")]
use prosescope_test_support::run::most_memory;
use prosescope_test_support::{needs, run::fed};

use crate::commands::{PROGRAM, record, told};
use crate::project::{Project, cluster, text};

/// Returns all that the commands print about a run, with ids, but without the prefix `postgres:` of the run's name.
fn whole(project: &Project, run: &str) -> Vec<String> {
    let mut pages = told(project, run);
    for page in ["trace", "bindings", "gates", "audit"] {
        let page = project.json(&[page, run]).to_string();
        pages.push(page.replace("postgres:", ""));
    }
    pages
}

fn assert_same(project: &Project, one: &str, other: &str) {
    let (ours, theirs) = (whole(project, one), whole(project, other));
    let id = one.trim_start_matches("postgres:");
    let plain = |line: &str| {
        let line = line.replace(&format!(".prose/runs/{other}"), "RUN");
        line.replace(other, "RUN").replace(id, "RUN")
    };
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(plain(ours), plain(theirs), "{one}, {other}");
    }
    assert_eq!(ours.len(), theirs.len(), "{one}, {other}");
}

#[test]
fn a_run_goes_into_postgresql_and_comes_back_the_same() {
    let Some(cluster) = cluster() else {
        return;
    };
    for form in ["sqlite", "filesystem"] {
        let project = Project::new(PROGRAM, &cluster.database());
        let run = project.init(form);
        // In a run in files, the values of an import are in its nested run. So a simpler run without imports is
        // recorded in this form.
        if form == "sqlite" {
            record(&project, &run);
        } else {
            let step = project.line(&["begin", "35", "--run", &run]);
            project.prose(
                0,
                &[
                    "put",
                    "letter",
                    "--into",
                    &step,
                    "--not-done",
                    "--run",
                    &run,
                ],
                "Dear\n",
            );
            project.prose(0, &["end", &step, "--run", &run], "");
        }
        let large = "a long value ".repeat(30_000);
        project.prose(0, &["put", "large", "--run", &run], &large);
        let pushed = project.json(&["convert", &run, "--to", "postgres"]);
        assert_eq!(pushed["left"], serde_json::json!([]), "{form}: {pushed}");
        let there = format!("postgres:{run}");
        assert_eq!(pushed["folder"], there.as_str());
        // The run is already in the database, so pushing it again copies nothing, and is not an error.
        let again = project.json(&["convert", &run, "--to", "postgres"]);
        assert_eq!(
            (&pushed["already"], &again["already"]),
            (&false.into(), &true.into()),
            "{form}: {again}"
        );
        assert_eq!(
            project.line(&["get", "large", "--run", &there]),
            large.trim_end()
        );

        let back = ["convert", &there, "--to", form, "--out", ".prose/runs/copy"];
        for already in [false, true] {
            let back = project.json(&back);
            assert_eq!(back["left"], serde_json::json!([]), "{form}: {back}");
            assert_eq!(back["already"], already, "{form}: {back}");
        }
        assert_same(&project, &run, "copy");
        // The attachments to which rows refer are copied, too, so that a teammate can open the folder.
        project.prose(
            0,
            &["convert", &there, "--to", "sqlite", "--out", "sent"],
            "",
        );
        assert!(project.path().join("sent/attachments/large.md").is_file());
        assert_eq!(
            project.line(&["get", "large", "--run", "sent/state.db"]),
            large.trim_end()
        );
        let again = project.json(&["convert", &there, "--to", "sqlite", "--out", "sent"]);
        assert_eq!(again["already"], true, "{form}: {again}");
        // The run continues in PostgreSQL, so its copies differ from it. Copying again is refused, and the error
        // contains the name of the binding.
        project.prose(0, &["put", "more", "--run", &there], "more");
        for args in [
            &["convert", &run, "--to", "postgres"][..],
            &["convert", &there, "--to", "sqlite", "--out", "sent"],
            &back,
        ] {
            let refused = project.give(args, b"");
            assert_eq!(refused.status.code(), Some(4), "{args:?}");
            let said = text(&refused.stderr);
            assert!(said.contains("binding more"), "{said}");
        }
        // Another file at the target is not taken for a copy of the run.
        std::fs::write(project.path().join("other"), "other").unwrap();
        project.prose(
            6,
            &["convert", &there, "--to", "sqlite", "--out", "other"],
            "",
        );
        project.prose(
            0,
            &["convert", &there, "--to", "filesystem", "--out", "folder"],
            "",
        );
        assert_eq!(project.line(&["get", "more", "--run", "folder"]), "more");
    }
}

/// A run that is pushed into a database with other runs gets new ids there. Its audit log stays consistent, although
/// its seals cover the old ids.
#[test]
fn a_gate_that_was_sealed_elsewhere_is_no_other_one() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let project = Project::new(crate::PROGRAM, &url);
    let other = project.init("postgres");
    project.line(&["begin", "1", "--run", &other]);
    let run = project.init("sqlite");
    let gate = ["gate", "create", "--line", "3", "--run", &run];
    project.prose(0, &gate, "");
    project.prose(0, &["convert", &run, "--to", "postgres"], "");
    let there = format!("postgres:{run}");
    project.prose(0, &["audit", "verify", &there], "");
    project.prose(0, &["approve", &there, "publish"], "");
    project.prose(0, &["audit", "verify", &there], "");
    project.prose(0, &["check", &there], "");
    project.prose(
        0,
        &["convert", &there, "--to", "sqlite", "--out", "back"],
        "",
    );
    project.prose(0, &["check", "back/state.db"], "");
    // `audit verify` still finds a gate that lost its execution.
    let sql = format!("UPDATE openprose.gates SET execution_id = NULL WHERE run_id = '{run}'");
    cluster.psql(&url, &sql).unwrap();
    let said = project.prose(1, &["audit", "verify", &there], "");
    assert!(said.contains("execution_id"), "{said}");
}

/// A text that PostgreSQL cannot store unchanged (errata P11) is unchanged after copying it there and back.
#[test]
fn what_postgresql_refuses_comes_back_as_it_was() {
    let Some(cluster) = cluster() else {
        return;
    };
    if needs::sqlite3().is_none() {
        return;
    }
    let project = Project::new("session \"x\"\n", &cluster.database());
    let run = project.init("sqlite");
    let sql = r#"
        INSERT INTO execution (id, statement_index, statement_text, status, parent_id, started_at, metadata) VALUES
            (3, 1, 'session "x"', 'started', NULL, '2026-01-15T10:00:00.500Z', '{"a": 1e3}'),
            (5, 9999999999, 'a' || char(0) || 'b', 'frobbed', 77, 'last tuesday', '{"a": "\u0000"}'),
            (9, NULL, 'session "y"', 'completed', 3, NULL, NULL);
        INSERT INTO bindings (name, value, kind, created_at) VALUES
            ('nul', 'x' || char(0) || 'y', 'let', '2026-01-15 10:00:00'),
            ('odd', 'v', 'guess', 'soon'), ('quoted', 'AI''s C:\temp\new', 'const', NULL);
        INSERT INTO agents (name, scope, memory) VALUES ('captain', 'execution', 'm' || char(0));
        INSERT INTO gates (id, run_id, execution_id, status) SELECT 'g', id, 77, 'pending' FROM run;
        UPDATE run SET status = 'paused for tea', started_at = '2026-01-15T10:00:00Z';"#;
    let db = project
        .path()
        .join(".prose/runs")
        .join(&run)
        .join("state.db");
    let mut sqlite = std::process::Command::new("sqlite3");
    let made = fed(sqlite.arg("-batch").arg(&db), sql.as_bytes());
    assert!(made.status.success(), "{}", text(&made.stderr));
    project.prose(0, &["convert", &run, "--to", "postgres"], "");
    let there = format!("postgres:{run}");
    let value = project.give(&["get", "nul", "--run", &there], b"");
    assert_eq!(value.stdout, b"x\0y");
    project.prose(
        0,
        &["convert", &there, "--to", "sqlite", "--out", "back"],
        "",
    );
    let dump = |db: &str| {
        let sql = "SELECT 'e', id, statement_index, hex(statement_text), status, parent_id, started_at, metadata FROM execution ORDER BY id;
                   SELECT 'b', name, hex(value), kind FROM bindings ORDER BY name;
                   SELECT 'a', name, hex(memory) FROM agents; SELECT 'g', id, execution_id, status FROM gates;
                   SELECT 'r', status FROM run;";
        let mut sqlite = std::process::Command::new("sqlite3");
        let out = fed(
            sqlite.arg("-batch").arg(project.path().join(db)),
            sql.as_bytes(),
        );
        text(&out.stdout)
    };
    let ours = dump(&format!(".prose/runs/{run}/state.db"));
    let theirs = dump("back/state.db");
    // PostgreSQL stores metadata as JSON and may format it differently, so it is compared by meaning.
    let plain = |dump: &str| dump.replace("1e3", "1000.0").replace("\": ", "\":");
    assert_eq!(plain(&ours), plain(&theirs));
    // A later `put` replaces a value that PostgreSQL cannot store unchanged, like any other value.
    project.prose(0, &["put", "nul", "--run", &there], "plain");
    assert_eq!(project.line(&["get", "nul", "--run", &there]), "plain");
}

#[cfg(target_os = "linux")]
#[test]
fn a_large_run_moves_in_little_memory() {
    let Some(cluster) = cluster() else {
        return;
    };
    if needs::sqlite3().is_none() {
        return;
    }
    let project = Project::new("session \"x\"\n", &cluster.database());
    let run = project.init("sqlite");
    let db = format!(".prose/runs/{run}/state.db");
    // The run has many values in rows. One value is longer than the limit of a row, and is in a file.
    let sql = "INSERT INTO bindings (name, value, kind)
               WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 80)
               SELECT 'v' || n, hex(randomblob(500000)), 'let' FROM n";
    let mut sqlite = std::process::Command::new("sqlite3");
    let made = fed(sqlite.arg(project.path().join(&db)), sql.as_bytes());
    assert!(made.status.success(), "{}", text(&made.stderr));
    let large = vec![b'x'; 70 << 20];
    project.give(&["put", "large", "--run", &run], &large);
    let there = format!("postgres:{run}");
    for args in [
        &["convert", &run, "--to", "postgres"][..],
        &["convert", &there, "--to", "sqlite", "--out", "sent"],
        &["convert", &there, "--to", "filesystem", "--out", "folder"],
    ] {
        let most = most_memory(&mut project.command(args));
        println!("{args:?}: {} MB", most >> 20);
        assert!(most < 64 << 20, "{args:?}: {most}");
    }
}

/// The run has 500 MB in `cargo xtask soak`, like large real runs, and 5 MB otherwise.
#[test]
fn a_run_of_many_values_comes_back_the_same() {
    let Some(cluster) = cluster() else {
        return;
    };
    if needs::sqlite3().is_none() {
        return;
    }
    let megabytes = match std::env::var_os("PROSE_SOAK") {
        Some(_) => 500,
        None => 5,
    };
    let project = Project::new("session \"x\"\n", &cluster.database());
    let run = project.init("sqlite");
    let db = format!(".prose/runs/{run}/state.db");
    // The values have 100 bytes to 1 MB. One value is written twice, and rows have parents before and after them.
    let sql = format!(
        "INSERT INTO bindings (name, value, kind, execution_id)
         WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {megabytes} * 40)
         SELECT 'v' || n, hex(randomblob(CASE WHEN n % 100 = 0 THEN 500000 WHEN n % 10 = 0 THEN 50000 ELSE 50 + n % 9000 END)),
                'let', CASE WHEN n % 3 = 0 THEN n END FROM n;
         INSERT INTO execution (id, statement_index, statement_text, status, parent_id, metadata)
         WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {megabytes} * 40)
         SELECT n, 1, 'session \"' || n || '\"', 'completed', CASE WHEN n % 7 = 0 THEN n - 1 WHEN n % 11 = 0 AND n % 7 < 6 THEN n + 1 END, '{{\"n\": ' || n || '}}' FROM n;"
    );
    let mut sqlite = std::process::Command::new("sqlite3");
    let made = fed(sqlite.arg(project.path().join(&db)), sql.as_bytes());
    assert!(made.status.success(), "{}", text(&made.stderr));
    for value in ["first", "second"] {
        project.prose(0, &["put", "again", "--run", &run], value);
    }
    project.give(
        &["put", "file", "--run", &run],
        &vec![b'x'; megabytes << 16],
    );
    project.prose(0, &["convert", &run, "--to", "postgres"], "");
    let there = format!("postgres:{run}");
    project.prose(
        0,
        &["convert", &there, "--to", "sqlite", "--out", "back"],
        "",
    );
    let dump = |db: &str| {
        let sql = "SELECT name, kind, execution_id, attachment_path, value FROM bindings ORDER BY rowid;
                   SELECT id, statement_index, statement_text, status, parent_id, metadata FROM execution ORDER BY id;
                   SELECT name, value FROM x_binding_history ORDER BY id;";
        let mut sqlite = std::process::Command::new("sqlite3");
        let out = fed(sqlite.arg(project.path().join(db)), sql.as_bytes());
        assert!(out.status.success(), "{}", text(&out.stderr));
        // PostgreSQL stores metadata as JSON and may format it differently, so it is compared by meaning.
        text(&out.stdout).replace("\": ", "\":")
    };
    let (ours, theirs) = (dump(&db), dump("back/state.db"));
    println!("{} MB of rows", ours.len() >> 20);
    // `assert_eq` would print both texts, which are very long.
    assert!(ours == theirs, "it came back another");
    let file = |dir: &str| std::fs::read(project.path().join(dir).join("attachments/file.md"));
    let ours = file(&format!(".prose/runs/{run}")).unwrap();
    assert!(ours == file("back").unwrap());
    assert_eq!(ours.len(), megabytes << 16);
    // Copying again copies nothing.
    let again = project.json(&["convert", &run, "--to", "postgres"]);
    assert_eq!(again["already"], true, "{again}");
    let again = project.json(&["convert", &there, "--to", "sqlite", "--out", "back"]);
    assert_eq!(again["already"], true, "{again}");
}

/// The tables and columns that prosescope adds to the tables of postgres.md are known. So no command reports them as
/// unknown.
#[test]
fn what_statements_were_before_is_said_to_be_ours() {
    let Some(cluster) = cluster() else {
        return;
    };
    let project = Project::new("let a = session \"A\"\n", &cluster.database());
    let run = project.init("postgres");
    project.prose(0, &["begin", "1", "--run", &run], "");
    project.prose(0, &["put", "a", "--run", &run], "x");
    let copy = ["convert", &run, "--to", "sqlite", "--out", "copy"];
    let pulled = project.prose(0, &copy, "");
    assert!(!pulled.contains("OpenProse does not define"), "{pulled}");
}
