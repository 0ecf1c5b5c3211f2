//! Tests of `prosescope postgres`, `prosescope doctor` and `prosescope clean` on a running server.

use prosescope_test_support::clock;

use crate::project::{Project, cluster};

fn with_role(url: &str) -> String {
    url.replace("postgres@", "openprose_agent@")
}

/// Projects whose folders have the same name share agents in one database, unless the projects have names of their
/// own. So `postgres setup` prints the setting for a name, and commands on agents of the project print the name that
/// they use.
#[test]
fn the_name_by_which_a_project_keeps_its_agents_is_said() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let project = Project::new("session \"x\"\n", &url);
    let folder = project.path().canonicalize().unwrap();
    let folder = folder.file_name().unwrap().to_string_lossy().into_owned();
    let own = format!("OPENPROSE_PROJECT={folder}");
    let setup = ["postgres", "setup", "--apply"];
    let set = |run: &str, scope: &str| {
        let args = [
            "agent", "memory", "set", "a", "--scope", scope, "--run", run,
        ];
        project.prose(0, &args, "m")
    };
    let said = project.prose(0, &setup, "");
    assert!(said.contains(&own), "{said}");
    assert_eq!(project.json(&setup)["project"], own.as_str());
    let run = project.init("postgres");
    let shared = format!("are stored under the name of the project's folder, {folder}.");
    let said = set(&run, "project");
    assert!(
        said.contains(&shared) && said.contains("OPENPROSE_PROJECT"),
        "{said}"
    );
    for scope in ["execution", "user"] {
        assert!(!set(&run, scope).contains(&shared), "{scope}");
    }
    // For a project with a name of its own, `postgres setup` prints no setting.
    let file = project.path().join(".prose/.env");
    let env = std::fs::read_to_string(&file).unwrap() + "OPENPROSE_PROJECT=mine\n";
    std::fs::write(file, env).unwrap();
    project.trust();
    assert!(!project.prose(0, &setup, "").contains("OPENPROSE_PROJECT="));
    assert!(project.json(&setup)["project"].is_null());
    assert!(!set(&run, "project").contains(&shared));
}

#[test]
fn a_server_is_set_up_for_a_role_that_may_do_no_more() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let project = Project::new("session \"x\"\n", &url);
    let before = project.prose(0, &["postgres", "status"], "");
    assert!(before.contains("no schema of runs yet"), "{before}");
    let sql = project.line(&["postgres", "setup", "--dedicated"]);
    assert!(
        sql.contains("CREATE ROLE \"openprose_agent\"") && sql.contains("FROM PUBLIC"),
        "{sql}"
    );
    // Without `--apply`, the SQL is printed, and not run.
    let there = cluster
        .psql(&url, "SELECT to_regnamespace('openprose') IS NULL")
        .unwrap();
    assert_eq!(there, "t");
    let setup = ["postgres", "setup", "--dedicated", "--apply"];
    project.prose(0, &setup, "");
    // Running the setup again changes nothing.
    project.prose(0, &setup, "");

    let limited = Project::new("session \"x\"\n", &with_role(&url));
    let status = limited.json(&["postgres", "status"]);
    for check in status["checks"].as_array().unwrap() {
        assert_eq!(check["state"], "ok", "{check}");
    }
    // Nothing is left to set up. So the command succeeds for the limited role, which lacks the rights for a setup.
    limited.prose(0, &setup, "");
    let other = ["postgres", "setup", "--apply", "--role", "somebody_else"];
    let said = limited.prose(4, &other, "");
    assert!(said.contains("as the owner"), "{said}");
    let run = limited.init("postgres");
    limited.prose(0, &["put", "x", "--run", &run], "a value");
    limited.prose(
        0,
        &[
            "agent", "memory", "set", "a", "--scope", "project", "--run", &run,
        ],
        "m",
    );
    assert_eq!(limited.line(&["get", "x", "--run", &run]), "a value");
    let denied = cluster.psql(&with_role(&url), "CREATE TABLE public.t (n INT)");
    assert!(denied.is_err());
    let status = limited.json(&["postgres", "status"]);
    assert_eq!(
        (&status["runs"], &status["newest"][0]["rows"]),
        (&1.into(), &1.into())
    );

    cluster
        .psql(&url, "DROP INDEX openprose.idx_bindings_scope")
        .unwrap();
    let damaged = project.prose(1, &["postgres", "status"], "");
    assert!(damaged.contains("index idx_bindings_scope"), "{damaged}");
    project.prose(0, &setup, "");
    project.prose(0, &["postgres", "status"], "");
    let doctor = project.line(&["doctor"]);
    assert!(
        doctor.contains("PostgreSQL 1") && doctor.contains("is whole"),
        "{doctor}"
    );

    // A check that takes too long is reported as such, and does not make the server count as unreachable.
    let mut locking = cluster.command("psql");
    let sql = "BEGIN; LOCK TABLE openprose.bindings; SELECT 'locked', pg_sleep(600)";
    let mut locking = locking.args([&url, "-X", "-q", "-c", sql]).spawn().unwrap();
    let locked = "SELECT count(*) FROM pg_locks WHERE granted AND mode = 'AccessExclusiveLock'
                  AND relation = 'openprose.bindings'::regclass";
    while cluster.psql(&url, locked).unwrap() != "1" {}
    let doctor = project.line(&["doctor"]);
    locking.kill().unwrap();
    locking.wait().unwrap();
    assert!(
        doctor.contains("is whole")
            && doctor.contains("counting rows of bindings without a run took too long"),
        "{doctor}"
    );
    assert!(!doctor.contains("rows of agents"), "{doctor}");
}

/// If the database has only the tables of postgres.md, without the tables that prosescope adds, the runs are still
/// counted.
#[test]
fn runs_in_the_documents_own_tables_are_counted() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let made = "CREATE SCHEMA openprose;
        CREATE TABLE openprose.run (id TEXT PRIMARY KEY, program_path TEXT, program_source TEXT, started_at TIMESTAMPTZ DEFAULT NOW(),
            updated_at TIMESTAMPTZ DEFAULT NOW(), status TEXT NOT NULL DEFAULT 'running', state_mode TEXT DEFAULT 'postgres', metadata JSONB);
        INSERT INTO openprose.run (id) VALUES ('20260301-100000-aaaaaa'), ('20260301-100000-bbbbbb')";
    cluster.psql(&url, made).unwrap();
    let project = Project::new("session \"x\"\n", &url);
    let out = project.give(&["postgres", "status", "--json"], b"");
    let status: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(status["runs"], 2, "{status}");
}

#[test]
fn runs_are_removed_with_all_that_is_theirs() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let project = Project::new("approve go:\n  prompt: \"Go?\"\nsession \"x\"\n", &url);
    let runs = [(); 3].map(|()| project.init("postgres"));
    for run in &runs[..2] {
        project.prose(
            0,
            &[
                "agent",
                "memory",
                "set",
                "own",
                "--scope",
                "execution",
                "--run",
                run,
            ],
            "m",
        );
        project.prose(
            0,
            &[
                "agent",
                "segment",
                "add",
                "own",
                "--prompt",
                "p",
                "--scope",
                "execution",
                "--run",
                run,
            ],
            "s",
        );
        project.prose(0, &["gate", "create", "--line", "1", "--run", run], "");
        project.prose(0, &["approve", run, "go"], "");
        project.prose(0, &["finish", "--run", run], "");
    }
    project.prose(
        0,
        &[
            "agent", "memory", "set", "lasting", "--scope", "project", "--run", &runs[0],
        ],
        "m",
    );
    let listed = project.line(&["clean", "--postgres", "--status", "completed"]);
    assert!(
        listed.contains(&runs[0]) && !listed.contains(&runs[2]),
        "{listed}"
    );
    // The `clean` above ran without `--yes`, so the run still exists.
    project.prose(0, &["show", &runs[0]], "");
    project.prose(0, &["clean", &runs[0], "--yes"], "");
    project.prose(3, &["show", &runs[0]], "");
    let later = project
        .command(&[
            "clean",
            "--postgres",
            "--status",
            "completed",
            "--older-than",
            "30d",
            "--yes",
        ])
        .envs(clock::at("2099-09-01T00:00:00Z"))
        .status()
        .unwrap();
    assert!(later.success());
    let left = "SELECT (SELECT count(*) FROM openprose.run), (SELECT string_agg(name, ',') FROM openprose.agents),
                       (SELECT count(*) FROM openprose.agent_segments), (SELECT count(*) FROM openprose.gate_audit_log)";
    assert_eq!(cluster.psql(&url, left).unwrap(), "1|lasting|0|0");
}
