//! Tests of `prosescope` on runs in PostgreSQL, with the same commands as on files and `--run postgres:ID`.

mod alike;
mod beside;
mod commands;
mod cuts;
mod documents;
mod dripping;
mod faults;
mod foreign;
mod hostile;
mod kills;
mod limits;
mod moving;
mod pooled;
mod project;
mod python;
mod races;
mod root;
mod same;
mod sealed;
mod serve;
mod setup;
mod sharing;
#[path = "../shared/stopping.rs"]
mod stopping;
mod theirs;
mod trust;
mod view;

use std::net::TcpListener;

use project::{Project, cluster};

const PROGRAM: &str = "let research = session \"Find three sources\"\n\napprove publish:\n  prompt: \"Publish?\"\n\noutput report = session \"Report\"\n";

#[test]
fn a_run_in_postgresql_is_recorded_and_read() {
    let Some(cluster) = cluster() else {
        return;
    };
    let project = Project::new(PROGRAM, &cluster.database());
    let id = project.prose(0, &["init", "p.prose", "--state", "postgres"], "");
    let run = id.trim().to_owned();
    let id = run
        .strip_prefix("postgres:")
        .expect("the name that commands take");
    assert!(!project.path().join(".prose/runs").exists());
    let prose = |code, args: &[&str], input| {
        let all = [args, &["--run", &run]].concat();
        project.prose(code, &all, input)
    };
    prose(0, &["begin", "1"], "");
    let hostile = "AI's `$(rm)` \\x \"q\"\n";
    let written = prose(0, &["put", "research"], hostile);
    let place = format!(
        "openprose.bindings WHERE name='research' AND run_id='{id}' AND execution_id IS NULL"
    );
    assert!(written.contains(&place), "{written}");
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

    let begun = prose(0, &["begin", "6"], "");
    let id_of_report = begun.lines().next().unwrap_or_default();
    let brief = prose(0, &["brief", id_of_report], "");
    let put = format!("prosescope put report --into {id_of_report} --run {run}");
    assert!(brief.contains(&put), "{brief}");
    let large = "x".repeat(300_000);
    prose(0, &["put", "report"], &large);
    assert_eq!(prose(0, &["get", "report"], ""), large);
    project.prose(0, &["finish", "--run", &run], "");
    let trace = project.prose(0, &["trace", &id_prefix(&run)], "");
    assert!(trace.contains("Find three sources"), "{trace}");
    for command in ["state", "bindings", "agents", "gates", "resume", "check"] {
        project.prose(0, &[command, &run], "");
    }
    let list = project.prose(0, &["runs"], "");
    assert!(list.contains(&run) && list.contains("completed"), "{list}");
    project.prose(0, &["audit", "verify", &run], "");
    project.prose(3, &["show", "postgres:20200101-000000-nobody"], "");
    project.prose(0, &["convert", &run, "--to", "sqlite"], "");
    project.prose(4, &["convert", &run, "--to", "postgres"], "");
}

/// Returns a unique prefix of a run's id.
fn id_prefix(run: &str) -> String {
    run[..run.len() - 3].to_owned()
}

/// Printed commands contain the name `postgres:ID` of the run, because commands do not accept the id alone.
#[test]
fn a_run_in_postgresql_is_named_as_commands_take_it() {
    let Some(cluster) = cluster() else {
        return;
    };
    let project = Project::new(PROGRAM, &cluster.database());
    let run = project.init("postgres");
    let id = run.trim_start_matches("postgres:");
    let at_gate = ["gate", "create", "--line", "3", "--run", &run];
    let begun = project.json(&["begin", "1", "--run", &run]);
    let complete = project.json(&["skip", "1", "--run", &run]);
    let made = project.json(&at_gate);
    let gates = project.prose(0, &["gates", &run], "");
    let one = project.prose(0, &["gate", "show", &run, "publish"], "");
    let approved = project.prose(0, &["approve", &run, "publish"], "");
    let log = project.json(&["audit", &run]);
    let verified = project.json(&["audit", "verify", &run]);
    let written = {
        let out = project.give(&["put", "x", "--run", &run, "--json"], b"x");
        serde_json::from_slice::<serde_json::Value>(&out.stdout).unwrap()
    };
    let finished = project.prose(0, &["finish", "failed", "--run", &run], "");
    let again = project.prose(4, &["put", "x", "--run", &run], "x");
    for said in [&gates, &one, &approved, &finished] {
        assert!(said.contains(&run), "{said}");
        assert_eq!(
            said.matches(id).count(),
            said.matches(&run).count(),
            "{said}"
        );
    }
    assert!(!again.contains(&format!("run {id}")), "{again}");
    for said in [
        &begun,
        &complete,
        &made,
        &written,
        &verified,
        &log["rows"][0],
        &log["head"],
    ] {
        assert_eq!(said["run"], *run, "{said}");
    }
    // The command in the hint after a decision works exactly as it is printed.
    let hint = approved
        .split('`')
        .nth(1)
        .unwrap()
        .replace("prosescope ", "");
    let head = approved
        .lines()
        .find_map(|line| line.trim().strip_prefix("head"));
    let hint = hint.replace('…', head.unwrap().trim());
    project.prose(0, &hint.split(' ').collect::<Vec<_>>(), "");
    for named in ["postgres:GONE", "GONE"] {
        let said = project.prose(3, &["clean", "--postgres", named], "");
        assert!(said.contains("no run GONE in PostgreSQL"), "{said}");
        assert!(!said.contains(".prose/runs"), "{said}");
    }
    let list = project.prose(0, &["runs"], "");
    assert_eq!(list.matches(id).count(), 1, "{list}");
}

/// A failed run may be reopened. In every store, the run's record then still contains the earlier end time.
#[test]
fn a_run_that_is_taken_up_again_keeps_when_it_had_ended() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let project = Project::new(PROGRAM, &url);
    for form in ["sqlite", "filesystem", "postgres"] {
        let run = project.init(form);
        project.prose(0, &["begin", "1", "--run", &run], "");
        project.prose(0, &["finish", "failed", "--run", &run], "");
        project.prose(0, &["resume", &run, "--begin"], "");
        let there = match form {
            "postgres" => run,
            _ => project.json(&["convert", &run, "--to", "postgres"])["folder"]
                .as_str()
                .unwrap()
                .to_owned(),
        };
        let id = there.trim_start_matches("postgres:");
        let sql = format!(
            "SELECT started_at FROM openprose.execution WHERE run_id = '{id}' AND metadata ? 'reopened'"
        );
        let ended = cluster.psql(&url, &sql).unwrap();
        assert_eq!(ended, "2026-03-01 10:00:00+00", "{form}");
    }
}

/// Commands on all runs also read the database. Commands that work on files only are refused with a hint to
/// `prosescope convert`.
#[test]
fn all_runs_are_checked_and_what_takes_files_names_pull() {
    let Some(cluster) = cluster() else {
        return;
    };
    let project = Project::new(PROGRAM, &cluster.database());
    let file = project.init("sqlite");
    let run = project.init("postgres");
    project.prose(0, &["gate", "create", "--line", "3", "--run", &run], "");
    project.prose(0, &["approve", &run, "publish", "--comment", "fine"], "");
    let json = project.json(&["check", "--all"]);
    let checked: Vec<&str> = json["runs"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|run| run["folder"].as_str())
        .collect();
    assert_eq!(checked, [&format!(".prose/runs/{file}"), &run], "{json}");
    let log = project.prose(0, &["audit", "--all"], "");
    assert!(log.contains("approved") && log.contains(&run), "{log}");
    let said = project.prose(2, &["check", &run, "--fix"], "");
    assert!(
        said.contains(&format!("prosescope convert {run} --to sqlite")),
        "{said}"
    );
    // The folder of runs is removed, so that all remaining runs are in the database.
    std::fs::remove_dir_all(project.path().join(".prose/runs")).unwrap();
    assert_eq!(
        project.json(&["check", "--all"])["runs"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn an_agent_of_the_project_is_deleted_by_its_name_alone() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let project = Project::new("agent scholar:\n  persist: project\n", &url);
    let run = project.init("postgres");
    let memory = ["agent", "memory", "set", "scholar", "--run", &run];
    project.prose(0, &memory, "one");
    project.prose(0, &memory, "two");
    let foreign = "INSERT INTO openprose.agents (name, scope, memory, x_project) VALUES
                   ('scholar', 'project', 'theirs', 'other'), ('scholar', 'project', 'everybody''s', NULL)";
    cluster.psql(&url, foreign).unwrap();
    let delete = [
        "agent",
        "delete",
        "scholar",
        "--scope",
        "project",
        "--postgres",
    ];
    let delete = |yes: &[&str]| project.prose(0, &[&delete, yes].concat(), "");
    let listed = delete(&[]);
    assert!(
        listed.contains("2 rows") && listed.contains("--yes"),
        "{listed}"
    );
    let left = || {
        let sql = "SELECT string_agg(memory, ' ' ORDER BY memory) FROM openprose.agents";
        cluster.psql(&url, sql).unwrap()
    };
    assert_eq!(left(), "everybody's theirs two");
    delete(&["--yes"]);
    assert_eq!(left(), "everybody's theirs");
    // An agent of the same name that belongs to no project is listed next, as an agent of every project.
    let listed = delete(&["--yes"]);
    assert!(listed.contains("shared by all projects"), "{listed}");
    assert_eq!(left(), "theirs");
    project.prose(
        3,
        &[
            "agent",
            "delete",
            "scholar",
            "--scope",
            "project",
            "--postgres",
        ],
        "",
    );
}

/// postgres.md says that without psql "the VM will offer to fall back to SQLite state". `init` explains this, and
/// creates no file.
#[test]
fn init_says_why_no_file_was_made_and_how_to_make_one() {
    let Some(cluster) = cluster() else {
        return;
    };
    let project = Project::new(PROGRAM, &cluster.database());
    let init = ["init", "p.prose", "--state", "postgres"];
    let out = project.command(&init).env("PATH", "").output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}");
    assert!(
        said.contains("psql is not in PATH")
            && said.contains("prosescope init p.prose --state sqlite"),
        "{said}"
    );
    assert!(!said.contains("hush"), "{said}");
    let down = Project::new(PROGRAM, "postgresql://postgres@127.0.0.1:1/db");
    let said = down.prose(6, &init, "");
    assert!(
        said.contains("no run was created") && said.contains("--state sqlite"),
        "{said}"
    );
    assert!(!down.path().join(".prose/runs").exists());
}

#[test]
fn a_server_that_is_down_is_exit_6_at_once_and_shows_no_password() {
    if prosescope_test_support::needs::faketime().is_none() {
        return;
    }
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
    // The list of runs leaves out the server's runs, and prints a note.
    project.prose(0, &["init", "p.prose"], "");
    let list = project.prose(0, &["runs"], "");
    assert!(
        list.contains("runs in PostgreSQL are not listed") && !list.contains("s3cret"),
        "{list}"
    );
}

#[test]
fn without_a_database_a_command_says_where_to_name_one() {
    if prosescope_test_support::needs::faketime().is_none() {
        return;
    }
    let project = Project::new(PROGRAM, "");
    std::fs::remove_file(project.path().join(".prose/.env")).unwrap();
    let said = project.prose(3, &["show", "postgres:latest"], "");
    assert!(said.contains("OPENPROSE_POSTGRES_URL"), "{said}");
}
