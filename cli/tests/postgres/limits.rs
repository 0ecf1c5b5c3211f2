//! Tests with a server that refuses commands, by its settings or rights. The error contains the cause and what to do,
//! and earlier records stay unchanged.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use prosescope_test_support::cluster::Cluster;

use crate::PROGRAM;
use crate::project::{Project, cluster, text};

/// A transaction of another person that locks all rows of `openprose.run` until this value is dropped.
struct Held(Child);

impl Held {
    fn rows(cluster: &Cluster, url: &str) -> Held {
        let mut psql = cluster.command("psql");
        psql.args([url, "-X", "-q", "-A", "-t"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = psql.spawn().unwrap();
        let sql = b"BEGIN; SELECT 'held' FROM openprose.run LIMIT 1 FOR UPDATE;\n";
        child.stdin.as_mut().unwrap().write_all(sql).unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        assert_eq!(line, "held\n");
        Held(child)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.stdin = None;
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_that_refuses_is_said_and_changes_nothing() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let project = Project::new(PROGRAM, &url);
    let run = project.init("postgres");
    project.prose(0, &["put", "x", "--run", &run], "before");
    let name = url.rsplit('/').next().unwrap();
    let setting = |sql: &str| {
        let sql = sql.replace("THIS", &format!("DATABASE {name}"));
        cluster.psql(&cluster.url("postgres"), &sql).unwrap();
    };
    let held = || Held::rows(cluster, &url);
    let file = project.init("sqlite");
    // Each case: a setting of the database, whether another transaction locks the row, and words that the error must
    // contain.
    let refusals: [(&str, bool, &[&str]); 2] = [
        (
            "statement_timeout = '200ms'",
            true,
            &["statement timeout", "`statement_timeout` may be too short"],
        ),
        (
            "default_transaction_read_only = on",
            false,
            &["read-only transaction", "the address of the primary server"],
        ),
    ];
    for (set, is_held, words) in refusals {
        setting(&format!("ALTER THIS SET {set}"));
        let other = is_held.then(held);
        let put = ["put", "x", "--run", &run];
        let others: [&[&str]; 4] = [
            &put,
            &["init", "p.prose", "--state", "postgres"],
            &["begin", "1", "--run", &run],
            &["convert", &file, "--to", "postgres"],
        ];
        let writers = if is_held { &others[..1] } else { &others };
        for args in writers {
            let said = project.prose(6, args, "after");
            for word in words {
                assert!(said.contains(word), "{set}, {args:?}: {said}");
            }
        }
        // Commands that only read still work.
        project.prose(0, &["show", &run], "");
        assert_eq!(project.line(&["get", "x", "--run", &run]), "before");
        drop(other);
        setting(&format!(
            "ALTER THIS RESET {}",
            set.split(' ').next().unwrap()
        ));
    }
    let count =
        "SELECT (SELECT count(*) FROM openprose.run), (SELECT count(*) FROM openprose.execution)";
    assert_eq!(cluster.psql(&url, count).unwrap(), "1|0");

    // The server ends the session if a command pauses in a transaction. The command then repeats its work, or reports
    // the error.
    setting("ALTER THIS SET idle_in_transaction_session_timeout = '1ms'");
    for n in 0..5 {
        let value = n.to_string();
        let out = project.give(&["put", "x", "--run", &run], value.as_bytes());
        let said = text(&out.stderr);
        let found = cluster
            .psql(
                &url,
                "SELECT value FROM openprose.bindings WHERE name = 'x'",
            )
            .unwrap();
        match out.status.code() {
            Some(0) => assert_eq!(found, value, "{said}"),
            Some(6) => assert!(found != value && said.contains('→'), "{said}"),
            code => panic!("{code:?}: {said}"),
        }
    }
    setting("ALTER THIS RESET idle_in_transaction_session_timeout");
    project.prose(0, &["check", &run], "");

    // This role may not open a connection, because its limit is 0.
    setting("CREATE ROLE crowd LOGIN SUPERUSER");
    let crowd = Project::new(PROGRAM, &url.replace("postgres@", "crowd@"));
    setting("ALTER ROLE crowd NOSUPERUSER CONNECTION LIMIT 0");
    for args in [
        &["show", &run][..],
        &["put", "x", "--run", &run],
        &["init", "p.prose", "--state", "postgres"],
    ] {
        let said = crowd.prose(6, args, "after");
        assert!(
            said.contains("too many connections") && said.contains("try again"),
            "{said}"
        );
    }
    // The error for a role without rights contains the name of the owner, who can grant the rights.
    setting("ALTER ROLE crowd CONNECTION LIMIT -1");
    for args in [
        &["show", &run][..],
        &["put", "x", "--run", &run],
        &["init", "p.prose", "--state", "postgres"],
        &["clean", "--postgres", "--status", "completed"],
    ] {
        let said = crowd.prose(6, args, "after");
        assert!(
            said.contains("permission denied") && said.contains('→'),
            "{args:?}: {said}"
        );
    }
}
