//! Tests that commands do not execute functions that others put into the database, and that no password is shown or
//! written.

use std::process::Stdio;

use prosescope_test_support::files;

use crate::PROGRAM;
use crate::project::{Project, SECRET, cluster};

/// The SQL for a schema of traps: a copy of each function and operator of PostgreSQL that fails if it is called, and
/// tables with the names of prosescope's tables.
const TRAPS: &str = r#"
    CREATE SCHEMA trap;
    CREATE FUNCTION pg_temp.types(oidvector) RETURNS text LANGUAGE sql
        RETURN (SELECT coalesce(string_agg(format_type(t, NULL), ', ' ORDER BY n), '')
                FROM unnest($1::oid[]) WITH ORDINALITY AS a(t, n));
    DO $$
    DECLARE f record; o record;
    BEGIN
        FOR f IN SELECT p.* FROM pg_proc AS p JOIN pg_type AS r ON r.oid = p.prorettype
                 WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND r.typtype = 'b'
                   AND NOT p.proretset AND p.provariadic = 0
                   AND NOT EXISTS (SELECT FROM unnest(p.proargtypes::oid[]) AS a JOIN pg_type AS t ON t.oid = a
                                   WHERE t.typtype = 'p')
        LOOP
            EXECUTE format('CREATE OR REPLACE FUNCTION trap.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', f.proname,
                pg_temp.types(f.proargtypes), format_type(f.prorettype, NULL),
                format('BEGIN RAISE EXCEPTION ''executed %s''; END', f.proname));
        END LOOP;
        FOR o IN SELECT op.oprname, op.oprleft, op.oprright, p.proname FROM pg_operator AS op
                 JOIN pg_proc AS p ON p.oid = op.oprcode
                 WHERE op.oprnamespace = 'pg_catalog'::regnamespace AND op.oprname <> '=>'
                   AND EXISTS (SELECT FROM pg_proc AS q WHERE q.pronamespace = 'trap'::regnamespace
                               AND q.proname = p.proname AND q.proargtypes = p.proargtypes)
        LOOP
            EXECUTE format('CREATE OPERATOR trap.%s (FUNCTION = trap.%I%s, RIGHTARG = %s)', o.oprname, o.proname,
                CASE o.oprleft WHEN 0 THEN '' ELSE ', LEFTARG = ' || format_type(o.oprleft, NULL) END,
                format_type(o.oprright, NULL));
        END LOOP;
    END $$;
    CREATE TABLE trap.run (id int); CREATE TABLE trap.bindings (id int); CREATE TABLE trap.pg_class (id int);
    CREATE TABLE trap.pg_roles (id int); CREATE TABLE trap.pg_namespace (id int);
    SELECT count(*) FROM pg_operator WHERE oprnamespace = 'trap'::regnamespace;"#;

#[test]
fn functions_and_operators_that_the_search_path_names_first_are_not_executed() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let traps = cluster.psql(&url, TRAPS).unwrap();
    assert!(traps.parse::<u32>().unwrap() > 400, "{traps}");
    let name = url.rsplit('/').next().unwrap();
    let set = format!("ALTER DATABASE {name} SET search_path = trap, public, pg_catalog");
    cluster.psql(&cluster.url("postgres"), &set).unwrap();
    // First checks that the traps work: a client without precautions calls them.
    let sprung = cluster
        .psql(&url, "SELECT starts_with('a', 'a')")
        .unwrap_err();
    assert!(sprung.contains("executed starts_with"), "{sprung}");

    let project = Project::new(PROGRAM, &url);
    project.prose(0, &["postgres", "status"], "");
    project.prose(0, &["postgres", "setup", "--apply"], "");
    let run = project.init("postgres");
    let id = run.trim_start_matches("postgres:");
    let at: &[&str] = &["--run", &run];
    let steps: [(&[&str], &[&str]); 24] = [
        (&["begin", "1"], at),
        (&["put", "research"], at),
        (&["put", "research"], at),
        (&["brief", "1"], at),
        (&["agent", "memory", "set", "captain"], at),
        (&["agent", "segment", "add", "captain", "--prompt", "p"], at),
        (&["agent", "memory", "set", "all", "--scope", "project"], at),
        (&["gate", "create", "--line", "3"], at),
        (&["gates", "--pending"], &[]),
        (&["gates", "expire"], &[]),
        (&["approve", &run, "publish", "--comment", "fine"], &[]),
        (&["audit", "verify", &run], &[]),
        (&["show", &run], &[]),
        (&["show", "postgres:latest"], &[]),
        (&["trace", &run], &[]),
        (&["get", "research"], at),
        (&["check", &run], &[]),
        (&["runs"], &[]),
        (&["agents", &run], &[]),
        (&["finish", "failed", "--run", &run], &[]),
        (&["convert", &run, "--to", "sqlite", "--out", "copy"], &[]),
        (
            &[
                "agent",
                "delete",
                "all",
                "--scope",
                "project",
                "--postgres",
                "--yes",
            ],
            &[],
        ),
        (&["clean", &run, "--yes"], &[]),
        (&["convert", "copy/state.db", "--to", "postgres"], &[]),
    ];
    for (args, more) in steps {
        project.prose(0, &[args, more].concat(), "a value");
    }
    let status = project.json(&["postgres", "status"]);
    assert_eq!(status["newest"][0]["run"], id, "{status}");
    // Checks that no default value or index of the schema of runs depends on a trap.
    let reset = format!("ALTER DATABASE {name} RESET search_path");
    cluster.psql(&cluster.url("postgres"), &reset).unwrap();
    cluster.psql(&url, "DROP SCHEMA trap CASCADE").unwrap();
    project.prose(0, &["postgres", "status"], "");
    let next = project.init("postgres");
    project.prose(0, &["put", "last", "--run", &next], "a value");
}

/// [`Project::give`] checks the output of each command for the password.
#[test]
fn a_password_is_in_no_file_and_in_no_list_of_processes() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let project = Project::new(PROGRAM, &url);
    let run = project.init("postgres");
    let at: &[&str] = &["--run", &run];
    let steps: [(i32, &[&str], &[&str]); 11] = [
        (0, &["put", "research"], at),
        (0, &["gate", "create", "--line", "3"], at),
        (4, &["finish", "--run", &run], &[]),
        (0, &["approve", &run, "publish"], &[]),
        (3, &["get", "nothing"], at),
        (4, &["gate", "create", "--line", "99"], at),
        (0, &["postgres", "setup"], &[]),
        (
            0,
            &["convert", &run, "--to", "sqlite", "--out", "copy"],
            &[],
        ),
        (
            0,
            &["convert", &run, "--to", "filesystem", "--out", "folder"],
            &[],
        ),
        (0, &["show", &run, "--json"], &[]),
        (0, &["doctor", "--json"], &[]),
    ];
    for (code, args, more) in steps {
        let out = project.give(&[args, more].concat(), b"a value");
        if code == 0 {
            assert!(out.status.success(), "{args:?}: {out:?}");
        } else {
            assert!(!out.status.success(), "{args:?}: {out:?}");
        }
    }
    #[cfg(target_os = "linux")]
    {
        let put = ["put", "waits", "--run", &run];
        let mut command = project.command(&put);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        for of in ["cmdline", "environ"] {
            let said = std::fs::read(format!("/proc/{}/{of}", child.id())).unwrap();
            assert!(!String::from_utf8_lossy(&said).contains(SECRET), "{of}");
        }
        drop(child.stdin.take());
        child.wait().unwrap();
    }
    let written = files::below(project.path());
    assert!(written.len() > 5, "{written:?}");
    for (path, bytes) in written {
        let holds = bytes
            .windows(SECRET.len())
            .any(|part| part == SECRET.as_bytes());
        assert_eq!(holds, path.ends_with(".prose/.env"), "{path}");
    }
    let rows = "SELECT count(*) FROM openprose.run AS r WHERE r::text LIKE '%SECRET%'"
        .replace("SECRET", SECRET);
    assert_eq!(cluster.psql(&url, &rows).unwrap(), "0");
}
