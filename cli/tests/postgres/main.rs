//! `prose` on runs in PostgreSQL: the same commands, `--run postgres:ID`.

mod commands;
mod moving;
mod project;
mod setup;

use std::net::TcpListener;

use project::Project;
use prosescope_test_support::cluster::Cluster;

const PROGRAM: &str = "let research = session \"Find three sources\"\n\napprove publish:\n  prompt: \"Publish?\"\n\noutput report = session \"Report\"\n";

#[test]
fn a_run_in_postgresql_is_recorded_and_read() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let project = Project::new(PROGRAM, &cluster.database());
    let id = project.prose(0, &["init", "p.prose", "--state", "postgres"], "");
    let id = id.trim();
    assert!(!project.path().join(".prose/runs").exists());
    let run = format!("postgres:{id}");
    let prose = |code, args: &[&str], input| {
        let all = [args, &["--run", &run]].concat();
        project.prose(code, &all, input)
    };
    let begun = prose(0, &["exec", "begin", "--line", "1"], "");
    let hostile = "AI's `$(rm)` \\x \"q\"\n";
    let written = prose(0, &["put", "research"], hostile);
    let place = format!(
        "openprose.bindings WHERE name='research' AND run_id='{id}' AND execution_id IS NULL"
    );
    assert!(written.contains(&place), "{written}");
    prose(0, &["exec", "complete", begun.trim()], "");
    assert_eq!(prose(0, &["get", "research"], ""), hostile);

    prose(0, &["gate", "create", "--line", "3"], "");
    let waits = project.prose(0, &["show", &run], "");
    assert!(waits.contains("publish") && waits.contains(id), "{waits}");
    project.prose(
        0,
        &["approve", "postgres:latest", "publish", "--comment", "fine"],
        "",
    );
    let log = project.prose(0, &["audit", &run], "");
    assert!(log.contains("approved"), "{log}");

    let brief = prose(0, &["brief", "report"], "");
    assert!(
        brief.contains(&format!("prose put report --run {run}")),
        "{brief}"
    );
    let large = "x".repeat(300_000);
    prose(0, &["exec", "begin", "--line", "6"], "");
    prose(0, &["put", "report"], &large);
    assert_eq!(prose(0, &["get", "report"], ""), large);
    prose(0, &["exec", "complete"], "");
    project.prose(0, &["finish", &run, "--status", "completed"], "");
    let trace = project.prose(0, &["trace", &id_prefix(&run)], "");
    assert!(trace.contains("Find three sources"), "{trace}");
    for command in [
        "state", "bindings", "agents", "gates", "resume", "check", "narrate",
    ] {
        project.prose(0, &[command, &run], "");
    }
    let list = project.prose(0, &["runs"], "");
    assert!(list.contains(&run) && list.contains("completed"), "{list}");
    project.prose(0, &["audit", "verify", &run], "");
    project.prose(3, &["show", "postgres:20200101-000000-nobody"], "");
    project.prose(0, &["convert", &run, "--to", "sqlite"], "");
    project.prose(4, &["push", &run], "");
}

/// A beginning of the id that no other run has.
fn id_prefix(run: &str) -> String {
    run[..run.len() - 3].to_owned()
}

#[test]
fn a_server_that_is_down_is_exit_6_at_once_and_shows_no_password() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let project = Project::new(
        PROGRAM,
        &format!("postgresql://ann:s3cret@127.0.0.1:{port}/db"),
    );
    for args in [
        &["show", "postgres:latest"][..],
        &["init", "p.prose", "--state", "postgres"],
        &["put", "x", "--run", "postgres:latest"],
    ] {
        let said = project.prose(6, args, "x");
        assert!(
            said.contains("ann:***@127.0.0.1") && !said.contains("s3cret"),
            "{said}"
        );
    }
    // A list goes without it, and says so in a line.
    project.prose(0, &["init", "p.prose"], "");
    let list = project.prose(0, &["runs"], "");
    assert!(
        list.contains("runs in PostgreSQL are not listed") && !list.contains("s3cret"),
        "{list}"
    );
}

#[test]
fn without_a_database_a_command_says_where_to_name_one() {
    let project = Project::new(PROGRAM, "");
    std::fs::remove_file(project.path().join(".prose/.env")).unwrap();
    let said = project.prose(3, &["show", "postgres:latest"], "");
    assert!(said.contains("OPENPROSE_POSTGRES_URL"), "{said}");
}
