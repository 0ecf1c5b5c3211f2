//! Tests the `prosescope` binary as scripts use it: how a run is given as an argument, exit codes, exact output, and
//! that reading changes no file.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use prosescope_tests::{build, needs};
use serde_json::Value;

const SCHEMA: &str = include_str!("../../../core/src/model/schema/state.sql");

/// A project with a `.prose` folder, in which the binary runs.
struct Project {
    dir: tempfile::TempDir,
    prose: PathBuf,
}

impl Project {
    /// Creates a project. Returns `None`, after printing why, if `prosescope` or `sqlite3` is missing.
    fn new() -> Option<Project> {
        let (prose, _) = (needs::prose()?, needs::sqlite3()?);
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir_all(dir.path().join(".prose/runs")).expect("a folder");
        Some(Project { dir, prose })
    }

    fn run_dir(&self, id: &str) -> PathBuf {
        self.dir.path().join(".prose/runs").join(id)
    }

    fn database(&self, id: &str, script: &str) -> PathBuf {
        let path = self.run_dir(id).join("state.db");
        build::sql(
            &path,
            &format!(
                "{SCHEMA}\nINSERT INTO run (id, program_path, started_at, updated_at, status) VALUES ('{id}', 'demo.prose', '2026-01-16 14:30:52', '2026-01-16 14:31:52', 'completed');\n{script}"
            ),
        );
        path
    }

    fn prose(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("prosescope runs")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.prose);
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("HOME", self.dir.path().join("home"));
        command
    }

    /// Runs a command that must end with this exit code. Returns standard output and standard error.
    fn expect(&self, code: i32, args: &[&str]) -> (String, String) {
        let out = self.prose(args);
        let (stdout, stderr) = (text(&out.stdout), text(&out.stderr));
        assert_eq!(
            out.status.code(),
            Some(code),
            "prosescope {args:?}\n{stdout}\n{stderr}"
        );
        (stdout, stderr)
    }

    fn json(&self, args: &[&str]) -> Value {
        let (stdout, _) = self.expect(0, args);
        serde_json::from_str(&stdout).expect("JSON")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const OLD: &str = "20260115-100000-aaaaaa";
const NEW: &str = "20260116-143052-a7b3c9";

fn bindings() -> &'static str {
    "INSERT INTO execution (id, statement_index, statement_text, status) VALUES (1, 1, 'do process(data)', 'completed');
     INSERT INTO bindings (name, execution_id, kind, value) VALUES
       ('research', NULL, 'let', 'found it'),
       ('research', 1, 'let', 'in the frame'),
       ('bytes', NULL, 'let', CAST(x'00ff0a1b5b326d' AS TEXT)),
       ('evil', NULL, 'let', 'a' || char(27) || '[2J' || char(8238) || 'b');
     INSERT INTO bindings (name, kind, value, attachment_path) VALUES
       ('report', 'let', 'a long report', 'attachments/report.md'),
       ('lost', 'let', 'only the summary', 'attachments/lost.md');"
}

#[test]
fn a_run_is_named_by_id_beginning_latest_or_path() {
    let Some(project) = Project::new() else {
        return;
    };
    project.database(OLD, "");
    let db = project.database(NEW, "");
    let shown = |run: &str| {
        project.json(&["show", run, "--json"])["overview"]["run"]
            .as_str()
            .map(str::to_owned)
    };
    for run in ["latest", NEW, "20260116", "20260116-14"] {
        assert_eq!(shown(run).as_deref(), Some(NEW), "{run}");
    }
    assert_eq!(shown("20260115").as_deref(), Some(OLD));
    assert_eq!(shown(db.to_str().expect("UTF-8")).as_deref(), Some(NEW));
    assert_eq!(shown(&format!(".prose/runs/{OLD}")).as_deref(), Some(OLD));
    assert_eq!(shown(&format!(".prose/runs/{OLD}/")).as_deref(), Some(OLD));
    // The argument RUN is left out, and the command runs in a subfolder of the project.
    let below = project.dir.path().join("src/deep");
    fs::create_dir_all(&below).expect("a folder");
    let out = project
        .command(&["show", "--json"])
        .current_dir(&below)
        .output()
        .expect("prosescope runs");
    assert_eq!(
        serde_json::from_slice::<Value>(&out.stdout).expect("JSON")["overview"]["run"],
        NEW
    );
}

#[test]
fn wrong_names_say_what_there_is() {
    let Some(project) = Project::new() else {
        return;
    };
    let (_, said) = project.expect(3, &["show"]);
    assert!(said.contains("there are no runs in"), "{said}");
    project.database(OLD, "");
    project.database(NEW, "");
    let (_, said) = project.expect(2, &["show", "2026"]);
    assert!(
        said.contains("2026 matches 2 runs")
            && said.contains(OLD)
            && said.contains("give a longer prefix of the id"),
        "{said}"
    );
    let (_, said) = project.expect(3, &["show", "1999"]);
    assert!(
        said.contains("there is no run 1999") && said.contains("`prosescope runs` lists all runs"),
        "{said}"
    );
    let (_, said) = project.expect(3, &["get", "nothing"]);
    assert!(said.contains("has no binding nothing"), "{said}");
    let (_, said) = project.expect(3, &["show", "./no/such/place"]);
    assert!(said.contains("error:"), "{said}");
    let (_, said) = project.expect(3, &["audit", "--gate", "nope"]);
    assert!(said.contains("no gate nope"), "{said}");
    project.expect(2, &["show", "--no-such-flag"]);
    project.expect(2, &["nonsense"]);
    let outside = tempfile::tempdir().expect("a folder");
    let out = project
        .command(&["runs"])
        .current_dir(outside.path())
        .output()
        .expect("prosescope runs");
    assert_eq!(out.status.code(), Some(3));
    assert!(
        text(&out.stderr).contains("there is no .prose folder in"),
        "{}",
        text(&out.stderr)
    );
}

#[test]
fn runs_are_filtered_sorted_and_counted() {
    let Some(project) = Project::new() else {
        return;
    };
    for (id, status) in [
        ("20260101-000000-aaaaaa", "completed"),
        ("20260103-000000-cccccc", "failed"),
        ("20260102-000000-bbbbbb", "failed"),
    ] {
        project.database(
            id,
            &format!("UPDATE run SET program_path = 'ship.prose', status = '{status}';"),
        );
    }
    let ids = |args: &[&str]| {
        let list = project.json(&[&["runs", "--json"], args].concat());
        let runs = list["runs"].as_array().unwrap().iter();
        let last = |run: &Value| run["run"].as_str().unwrap()[16..].to_owned();
        (
            runs.map(last).collect::<Vec<_>>().join(" "),
            list["total"].clone(),
        )
    };
    for (args, expected) in [
        (&[][..], "cccccc bbbbbb aaaaaa"),
        (&["--status", "failed,waiting"], "cccccc bbbbbb"),
        (&["--since", "2026-01-02"], "cccccc bbbbbb"),
        (
            &["--program", "SHIP", "--sort", "oldest", "--limit", "2"],
            "aaaaaa bbbbbb",
        ),
        (&["--pending"], ""),
    ] {
        assert_eq!(ids(args), (expected.to_owned(), 3.into()), "{args:?}");
    }
    let (said, _) = project.expect(0, &["runs", "--status", "failed"]);
    assert!(said.ends_with("2 of 3 runs\n"), "{said}");
    // A misspelt status is an error, not an empty list. Any word that some run records as its status is accepted.
    let (_, why) = project.expect(2, &["runs", "--status", "failed,complet"]);
    assert!(
        why.contains("status complet: expected completed, failed,"),
        "{why}"
    );
    assert!(why.contains("did you mean completed?"), "{why}");
    let (_, why) = project.expect(2, &["clean", "--status", "complet"]);
    assert!(
        why.contains("status complet: expected completed, failed,"),
        "{why}"
    );
    project.database(
        "20260104-000000-dddddd",
        "UPDATE run SET status = 'hibernating';",
    );
    assert_eq!(ids(&["--status", "hibernating"]).0, "dddddd");
    assert_eq!(
        ids(&["--status", "hibernating", "--since", "2026-02-01"]).0,
        ""
    );
    let (_, why) = project.expect(2, &["runs", "--since", "yesterday"]);
    assert!(why.contains("neither a time"), "{why}");
}

#[test]
fn a_file_that_is_no_run_is_unreadable_and_says_what_it_is() {
    let Some(project) = Project::new() else {
        return;
    };
    let path = project.dir.path().join("photo.db");
    fs::write(&path, b"\x89PNG\r\n\x1a\n and so on").expect("a file");
    let (_, said) = project.expect(5, &["show", path.to_str().expect("UTF-8")]);
    assert!(
        said.contains("not a SQLite database") && said.contains("→"),
        "{said}"
    );
    fs::write(&path, b"").expect("a file");
    let (_, said) = project.expect(5, &["show", path.to_str().expect("UTF-8")]);
    assert!(said.contains("empty"), "{said}");
}

#[test]
fn get_prints_the_value_byte_for_byte() {
    let Some(project) = Project::new() else {
        return;
    };
    project.database(NEW, bindings());
    let attachments = project.run_dir(NEW).join("attachments");
    fs::create_dir_all(&attachments).expect("a folder");
    let report: Vec<u8> = (0..3_000_000_u32).map(|i| (i % 251) as u8).collect();
    fs::write(attachments.join("report.md"), &report).expect("a file");

    let got = |args: &[&str]| project.prose(args).stdout;
    assert_eq!(got(&["get", "research"]), b"found it");
    assert_eq!(got(&["get", "research", "--from", "1"]), b"in the frame");
    assert_eq!(
        got(&["get", "research", "--run", "latest", "--json"])[..1],
        *b"{"
    );
    assert_eq!(got(&["get", "bytes"]), b"\x00\xff\x0a\x1b\x5b\x32\x6d");
    assert_eq!(got(&["get", "evil"]), "a\u{1b}[2J\u{202e}b".as_bytes());
    assert!(
        got(&["get", "report"]) == report,
        "the attachment's own bytes"
    );
    // The row of this binding contains a placeholder for the missing attachment. `get` does not print it as the value.
    let (printed, error) = project.expect(3, &["get", "lost"]);
    assert_eq!(printed, "");
    assert!(
        error.contains("attachments/lost.md is not there") && error.contains("only the summary"),
        "{error}"
    );
    let (why, _) = project.expect(0, &["get", "research", "--from", "1", "--explain"]);
    assert!(why.contains("✓ frame 1") && why.contains("– root"), "{why}");
}

#[test]
fn json_may_stand_anywhere_and_issues_of_severity_error_exit_1() {
    let Some(project) = Project::new() else {
        return;
    };
    project.database(NEW, bindings());
    for args in [
        ["--json", "bindings", "latest"],
        ["bindings", "--json", "latest"],
        ["bindings", "latest", "--json"],
    ] {
        assert_eq!(project.json(&args)["total"], 6, "{args:?}");
    }
    // A run that failed is not an issue, so `show` still ends with code 0.
    build::sql(
        &project.run_dir(NEW).join("state.db"),
        "UPDATE run SET status = 'failed'",
    );
    project.expect(0, &["show"]);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let Some(project) = Project::new() else {
        return;
    };
    let many: String = (0..20_000).map(|i| format!("INSERT INTO execution (statement_index, statement_text, status) VALUES ({i}, 'session \"{i}\"', 'completed');")).collect();
    project.database(NEW, &format!("BEGIN; {many} COMMIT;"));
    let mut child = project
        .command(&["trace"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("prosescope starts");
    let mut first = [0_u8; 100];
    child
        .stdout
        .take()
        .expect("a pipe")
        .read_exact(&mut first)
        .expect("some output");
    let out = child.wait_with_output().expect("prosescope ends");
    assert_eq!(text(&out.stderr), "");
    assert_eq!(out.status.code(), Some(0));
}

#[test]
fn no_command_changes_a_byte_a_time_or_the_listing() {
    let Some(project) = Project::new() else {
        return;
    };
    project.database(OLD, bindings());
    let wal = project.database(NEW, bindings());
    build::sql(&wal, "PRAGMA journal_mode = WAL;");
    let before = state_of(project.dir.path());
    for args in [
        &["runs"][..],
        &["show"],
        &["show", OLD],
        &["trace"],
        &["state"],
        &["state", "--diff"],
        &["bindings"],
        &["get", "research"],
        &["agents"],
        &["gates"],
        &["gates", "latest", "--all"],
        &["audit"],
        &["completions", "bash"],
    ] {
        let out = project.prose(args);
        assert!(
            matches!(out.status.code(), Some(0 | 1)),
            "prosescope {args:?}: {}",
            text(&out.stderr)
        );
        assert_eq!(state_of(project.dir.path()), before, "prosescope {args:?}");
    }
}

/// Returns every file below a folder, with its modification time and a hash of its content.
fn state_of(dir: &Path) -> Vec<(PathBuf, std::time::SystemTime, u64)> {
    let mut files = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                let changed = entry.metadata().and_then(|m| m.modified()).expect("a time");
                let content = fs::read(&path).expect("a file");
                let mut hash = DefaultHasher::new();
                content.hash(&mut hash);
                files.push((path, changed, hash.finish()));
            }
        }
    }
    files.sort();
    files
}
