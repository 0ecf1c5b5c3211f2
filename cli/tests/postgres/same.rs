//! Tests that copy every run into PostgreSQL and back, if its form can be copied. The result is the same run, and no
//! copy contains invented times.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::needs;
use prosescope_test_support::pages::without_form;
use prosescope_test_support::run::fed;
use serde_json::Value;

use crate::commands::{PROGRAM, record};
use crate::project::{Project, cluster, text};

const PAGES: [&str; 7] = [
    "show", "trace", "bindings", "agents", "gates", "audit", "resume",
];

/// Keys of the JSON that depend on the place of a run: labels, and the dates of its files.
const OF_THE_PLACE: &[&str] = &["label", "file_changed", "missing", "source_from"];

/// Keys of the JSON that contain the number of an execution. The copy in PostgreSQL has other numbers, because that
/// database contains many runs (errata P8).
pub(crate) const IDS: &[&str] = &[
    "id",
    "execution_id",
    "aliases",
    "frame",
    "frame_path",
    "scope",
    "detail",
    "from",
    "reason",
    "command",
    "commands",
    "steps",
];

/// Returns the columns that contain a time after the start of the test's server. The run is older, so such a time was
/// invented by the copy.
fn invented(cluster: &Cluster, url: &str) -> Vec<String> {
    let columns = "SELECT table_name || ' ' || column_name FROM information_schema.columns
                   WHERE table_schema = 'openprose' AND data_type = 'timestamp with time zone'
                     AND table_name NOT IN ('x_schema', 'x_commands', 'x_events')";
    let columns = cluster.psql(url, columns).unwrap();
    let looks = columns.lines().map(|line| {
        let (table, column) = line.split_once(' ').unwrap();
        format!(
            "SELECT '{table}.{column}' WHERE EXISTS
                 (SELECT FROM openprose.{table} WHERE {column} > pg_postmaster_start_time())"
        )
    });
    let looks = looks.collect::<Vec<_>>().join(" UNION ALL ");
    let new = cluster.psql(url, &looks).unwrap();
    new.lines().map(str::to_owned).collect()
}

pub(crate) fn without(value: Value, keys: &[&str]) -> Value {
    match value {
        Value::Object(object) => object
            .into_iter()
            .filter(|(key, _)| !keys.contains(&&**key))
            .map(|(key, value)| (key, without(value, keys)))
            .collect(),
        Value::Array(list) => list.into_iter().map(|value| without(value, keys)).collect(),
        other => other,
    }
}

/// Returns the JSON of a command about a run.
pub(crate) fn page(project: &Project, run: &str, page: &str) -> Value {
    let mut said = project.json(&[page, run]);
    match page {
        "show" => said["overview"].take(),
        _ => said,
    }
}

/// Returns the JSON of a command without these keys, and without the name and the place of the run.
pub(crate) fn plain(said: Value, run: &str, id: &str, keys: &[&str]) -> Value {
    let said = without(without(without_form(said), OF_THE_PLACE), keys).to_string();
    let said = said.replace(run, "RUN").replace(id, "RUN");
    serde_json::from_str(&said).unwrap()
}

/// Gives all files the same date. For a run that records no times, this date is the last sign of life.
fn dated(folder: &Path) {
    let date = UNIX_EPOCH + Duration::from_secs(1_770_000_000);
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            dated(&path);
        } else {
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(date).unwrap();
        }
    }
}

/// Returns what a run tells of its statements, and the lines that are ahead of it.
fn goes_on(project: &Project, run: &str) -> Vec<String> {
    let rows = |page: &str, list: &str, keys: &[&str]| {
        let page = project.json(&[page, run]);
        let rows = page[list].as_array().cloned().unwrap_or_default();
        // A statement that only the program tells to come next has no row.
        let rows = rows.into_iter().filter(|row| row["status"] != "pending");
        let row = |row: Value| {
            let cells = keys.iter().map(|key| row[*key].to_string());
            cells
                .collect::<Vec<_>>()
                .join(" ")
                .replace("waiting", "executing")
        };
        rows.map(row).collect::<Vec<_>>()
    };
    let mut told = rows("trace", "rows", &["level", "kind", "status", "text"]);
    told.extend(rows("resume", "ahead", &["line", "text", "indent"]));
    told
}

/// Copies a run into PostgreSQL and back, and compares all pages. Returns whether the form of the run can be copied.
fn there_and_back(project: &Project, run: &str) -> bool {
    let folder = project.path().join(".prose/runs").join(run);
    dated(&folder);
    let form = if folder.join("state.db").is_file() {
        "sqlite"
    } else {
        "filesystem"
    };
    let out = project.give(&["convert", run, "--to", "postgres", "--json"], b"");
    if out.status.code() == Some(4) {
        let said = text(&out.stderr);
        assert!(
            said.contains("runs of this form are read-only"),
            "{run}: {said}"
        );
        return false;
    }
    assert!(out.status.success(), "{run}: {}", text(&out.stderr));
    let pushed: Value = serde_json::from_slice(&out.stdout).unwrap();
    let there = pushed["folder"].as_str().unwrap();
    let id = there.strip_prefix("postgres:").unwrap();
    assert_eq!(
        project.json(&["convert", run, "--to", "postgres"])["already"],
        true,
        "{run}"
    );

    let back = format!("{run}-back");
    let to = format!(".prose/runs/{back}");
    let copy = ["convert", there, "--to", form, "--out", &to];
    for already in [false, true] {
        assert_eq!(project.json(&copy)["already"], already, "{run}");
    }
    // Rows for what a hand-written state file tells have numbers of their own.
    if form == "filesystem" && !folder.join("x_events.jsonl").exists() {
        assert_eq!(goes_on(project, run), goes_on(project, there), "{there}");
        assert_eq!(goes_on(project, run), goes_on(project, &back), "{back}");
        return true;
    }
    dated(&project.path().join(&to));
    for name in PAGES {
        let said = page(project, run, name);
        let ours = plain(said.clone(), run, id, &[]);
        let theirs = plain(page(project, &back, name), &back, id, &[]);
        assert_eq!(ours, theirs, "{back}: {name}");
        // A run in PostgreSQL uses the agents of the project in PostgreSQL, so the pages of agents differ.
        if name != "agents" {
            let keys = [IDS, &["agents"]].concat();
            let ours = plain(said, run, id, &keys);
            let theirs = plain(page(project, there, name), there, id, &keys);
            assert_eq!(ours, theirs, "{there}: {name}");
        }
    }
    let state = |run: &str| {
        let text = project.prose(0, &["state", run], "");
        text.replace(run, "RUN").replace(id, "RUN")
    };
    assert_eq!(state(run), state(&back), "{back}: state.md");
    true
}

/// Copies folders of runs into the project. Returns the names of the runs.
fn copied(project: &Project, runs: &[PathBuf]) -> Vec<String> {
    let to = project.path().join(".prose/runs");
    fs::create_dir_all(&to).unwrap();
    for run in runs {
        let copied = Command::new("cp").arg("-r").arg(run).arg(&to).status();
        assert!(copied.unwrap().success());
    }
    let writable = Command::new("chmod").args(["-R", "u+w"]).arg(&to).status();
    assert!(writable.unwrap().success());
    let names = runs.iter().filter_map(|run| run.file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

/// Copies these runs into PostgreSQL and back. Returns how many could be copied, or `None` without a server.
fn all_there_and_back(runs: &[PathBuf]) -> Option<usize> {
    let cluster = cluster()?;
    let url = cluster.database();
    let project = Project::new("session \"none\"\n", &url);
    let names = copied(&project, runs);
    let moved = names.iter().filter(|run| there_and_back(&project, run));
    let moved = moved.count();
    assert_eq!(invented(cluster, &url), [] as [String; 0]);
    Some(moved)
}

/// Returns the entries of a folder.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders
}

#[test]
fn every_example_goes_into_postgresql_and_back_as_the_same_run() {
    let moved = all_there_and_back(&listed(&needs::root().join("examples/.prose/runs")));
    assert!(moved.is_none_or(|runs| runs == 4), "{moved:?}");
}

#[test]
fn every_run_as_models_keep_it_goes_into_postgresql_and_back_as_the_same_run() {
    let moved = all_there_and_back(&listed(&needs::fixtures("runs")));
    // Runs in other forms (logs, receipts and sealed runs) are read-only, so they are not copied.
    assert!(moved.is_none_or(|runs| runs == 6), "{moved:?}");
}

#[test]
fn every_real_run_goes_into_postgresql_and_back_as_the_same_run() {
    let Some(corpus) = needs::shared("corpus/runs") else {
        return;
    };
    let mut runs = Vec::new();
    let mut folders = vec![corpus];
    while let Some(folder) = folders.pop() {
        if folder.ends_with(".prose/runs") {
            runs.extend(listed(&folder));
        } else {
            folders.extend(listed(&folder));
        }
    }
    let moved = all_there_and_back(&runs);
    assert!(moved.is_none_or(|runs| runs > 3), "{moved:?}");
}

#[test]
fn a_recorded_run_of_either_form_goes_into_postgresql_and_back_as_the_same_run() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let project = Project::new(PROGRAM, &url);
    for form in ["sqlite", "filesystem"] {
        let run = project.init(form);
        record(&project, &run);
        assert!(there_and_back(&project, &run));
    }
    assert_eq!(invented(cluster, &url), [] as [String; 0]);
}

/// Rows may lack values that postgres.md requires, or contain values that it does not define. They are copied
/// unchanged.
#[test]
fn what_no_row_records_is_not_recorded_in_postgresql_either() {
    let (Some(cluster), Some(_)) = (cluster(), needs::sqlite3()) else {
        return;
    };
    let url = cluster.database();
    let project = Project::new("session \"x\"\n", &url);
    let run = project.init("sqlite");
    let db = project.path().join(format!(".prose/runs/{run}/state.db"));
    let rows = "
        UPDATE run SET started_at = NULL, updated_at = NULL, status = NULL;
        INSERT INTO bindings (name, kind, value, created_at, updated_at) VALUES
            ('neither', 'let', 'v', NULL, NULL), ('created', 'let', 'v', '2026-01-01 10:00:00', NULL),
            ('updated', 'let', 'v', NULL, '2026-01-01 10:00:00'), ('odd', NULL, 'v', 'once', 'later'),
            ('late', 'let', 'v', NULL, 'later');
        INSERT INTO agents (name, scope, memory, created_at, updated_at) VALUES
            ('neither', 'execution', 'm', NULL, NULL), ('both', 'execution', 'm', '2026-01-01 10:00:00', '2026-01-02 10:00:00'),
            ('bare', 'execution', NULL, '2026-01-01 10:00:00', NULL), ('odd', 'for a week', 'm', 'once', 'later');
        INSERT INTO agent_segments (agent_name, segment_number, timestamp, prompt, summary) VALUES
            ('bare', 1, '2026-01-03 10:00:00', 'p', 's'), ('both', 1, NULL, 'p', 's');
        INSERT INTO imports (alias, source_url) VALUES ('a', NULL);
        INSERT INTO x_agent_memory_history (agent_name, memory, updated_at, replaced_at) VALUES ('both', 'earlier', NULL, NULL);
        INSERT INTO x_binding_history (name, kind, value, created_at, updated_at, replaced_at) VALUES
            ('created', 'let', 'earlier', '2026-01-01 10:00:00', NULL, NULL),
            ('late', 'let', 'earlier', NULL, NULL, NULL);";
    let sqlite = |db: &Path, sql: &str| {
        let out = fed(
            Command::new("sqlite3").arg("-batch").arg(db),
            sql.as_bytes(),
        );
        assert!(out.status.success(), "{}", text(&out.stderr));
        text(&out.stdout)
    };
    sqlite(&db, rows);
    let tables = ".mode quote
        SELECT started_at, updated_at, status FROM run;
        SELECT name, kind, created_at, updated_at FROM bindings;
        SELECT name, scope, memory, created_at, updated_at FROM agents ORDER BY name;
        SELECT agent_name, timestamp FROM agent_segments ORDER BY agent_name;
        SELECT alias, source_url, fetched_at FROM imports;
        SELECT agent_name, memory, updated_at FROM x_agent_memory_history;
        SELECT name, value, created_at, updated_at FROM x_binding_history ORDER BY name;";
    let before = sqlite(&db, tables);
    assert!(there_and_back(&project, &run));
    let back = project
        .path()
        .join(format!(".prose/runs/{run}-back/state.db"));
    assert_eq!(before, sqlite(&back, tables));
    assert_eq!(invented(cluster, &url), [] as [String; 0]);
}
