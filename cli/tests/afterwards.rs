//! Tests of what commands show of a run after it was recorded: its state file, the issues of `check`,
//! its agents and imports, and what `search` finds.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use prosescope_test_support::{needs, run};

const FORMS: [&str; 2] = ["sqlite", "filesystem"];

/// A folder with a program and a run of that program.
struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new(form: &str, program: &str) -> Project {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("home")).expect("made");
        fs::create_dir_all(dir.path().join(".prose")).expect("made");
        fs::write(dir.path().join("p.prose"), program).expect("written");
        let project = Project { dir };
        project.does("init p.prose --id r --state", &[form]);
        project
    }

    /// Runs a command. Its arguments are the words of `words`, then `more`. Returns its standard output.
    #[track_caller]
    fn does(&self, words: &str, more: &[&str]) -> String {
        let args = words.split_whitespace().chain(more.iter().copied());
        let mut command = self.command();
        let out = run::fed(command.args(args), b"a value\n");
        let error = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{words} {more:?}: {error}");
        String::from_utf8_lossy(&out.stdout).into_owned()
    }

    /// Runs a command. Returns its exit code and output.
    fn tries(&self, words: &str) -> (Option<i32>, String) {
        let mut command = self.command();
        let out = run::fed(command.args(words.split_whitespace()), b"");
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        (out.status.code(), said)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
        command.env("HOME", self.path("home")).env("PROSE_RUN", "r");
        command.current_dir(self.dir.path());
        command
    }

    fn path(&self, at: &str) -> PathBuf {
        self.dir.path().join(at)
    }

    /// Begins and completes the statement at a line of the program. `put` contains the arguments of `prosescope put`,
    /// which writes the statement's value.
    fn session(&self, line: &str, put: &[&str]) {
        let begun = self.does("begin", &[line]);
        let id = begun.lines().next().unwrap_or_default();
        match put {
            [] => self.does("put --anon --into", &[id]),
            put => self.does("put --into", &[&[id], put].concat()),
        };
    }

    /// Runs SQL statements on the run's database, as another tool would.
    fn sql(&self, sql: &str) {
        let done = Command::new("sqlite3")
            .arg(self.path(".prose/runs/r/state.db"))
            .arg(sql)
            .status();
        assert!(done.expect("sqlite3").success(), "{sql}");
    }

    /// Returns the severity and the rule of each issue that `check` finds.
    fn issues(&self) -> Vec<String> {
        let (_, said) = self.tries("check r --json");
        let view: serde_json::Value = serde_json::from_str(&said).expect("JSON");
        let issues = view["runs"][0]["issues"].as_array().expect("issues");
        let rule = |i: &serde_json::Value| format!("{} {}", i["severity"], i["rule"]);
        issues.iter().map(|i| rule(i).replace('"', "")).collect()
    }
}

#[test]
fn what_an_ended_run_left_open_is_abandoned_everywhere() {
    for form in FORMS {
        let project = Project::new(
            form,
            "session \"One\"\nparallel:\n  a = session \"A\"\n  b = session \"B\"\n",
        );
        project.session("1", &[]);
        project.does("begin 2", &[]);
        project.does("finish failed", &[]);
        let state = project.does("state r", &[]);
        let marks: Vec<&str> = state
            .lines()
            .filter(|l| l.contains("(abandoned)"))
            .collect();
        assert_eq!(marks.len(), 3, "{state}");
        assert!(!state.contains("EXECUTING"), "{state}");
        let (_, said) = project.tries("check r");
        assert!(
            said.contains("execution 4 has no recorded end, but the run is failed"),
            "{said}"
        );
        assert!(!said.contains("but a later row ended"), "{said}");
    }
}

#[test]
fn a_state_file_says_abandoned_and_is_read_so() {
    let project = Project::new("filesystem", "session \"One\"\nsession \"Two\"\n");
    project.does("begin 1", &[]);
    project.does("finish failed", &[]);
    let folder = project.path("read");
    fs::create_dir(&folder).expect("made");
    let state = fs::read(project.path(".prose/runs/r/state.md")).expect("read");
    fs::write(folder.join("state.md"), state).expect("written");
    let (_, trace) = project.tries("trace ./read");
    assert!(trace.contains("◌ abandoned  session \"One\""), "{trace}");
}

#[test]
fn a_value_of_its_call_is_the_result_of_an_import() {
    for form in FORMS {
        let program = "use \"lib/research.prose\" as research\nlet f = research(topic: \"x\")\n";
        let project = Project::new(form, program);
        fs::create_dir(project.path("lib")).expect("made");
        fs::write(
            project.path("lib/research.prose"),
            "output o = session \"F\"\n",
        )
        .expect("written");
        project.does("begin 2", &[]);
        project.does("begin 1", &[]);
        project.does("put f --into 1", &[]);
        project.does("finish", &[]);
        assert_eq!(project.issues(), [""; 0], "{form}");
    }
}

#[test]
fn an_import_that_gave_nothing_is_without_a_result() {
    for form in FORMS {
        let program = "use \"lib/research.prose\" as research\nresearch(topic: \"x\")\n";
        let project = Project::new(form, program);
        fs::create_dir(project.path("lib")).expect("made");
        fs::write(
            project.path("lib/research.prose"),
            "output o = session \"F\"\n",
        )
        .expect("written");
        project.does("begin 1", &[]);
        project.does("begin 2", &[]);
        project.does("end 1", &[]);
        project.does("finish", &[]);
        assert_eq!(
            project.issues(),
            ["warning import-without-result"],
            "{form}"
        );
    }
}

/// `check` does not report that a second attempt chose another option than the first, or that an agent that never ran
/// has no memory.
#[test]
fn what_went_another_way_at_its_second_attempt_is_no_finding() {
    let program = "agent judge:\n  persist: true\n\
        choice **which**:\n  option \"A\":\n    session \"a\"\n  option \"B\":\n    session \"b\"\n\
        resume: judge\n  prompt: \"Judge\"\n";
    for form in FORMS {
        let project = Project::new(form, program);
        for line in ["3", "4", "5"] {
            project.does("begin", &[line]);
        }
        for id in ["3", "2", "1"] {
            project.does("fail", &[id, "boom"]);
        }
        project.does("finish failed", &[]);
        assert_eq!(project.issues(), [""; 0], "{form}");
        project.does("resume --begin", &[]);
        project.does("retry 1", &[]);
        project.does("begin 6", &[]);
        project.session("7", &[]);
        assert_eq!(project.issues(), [""; 0], "{form}");
    }
}

#[test]
fn agents_shows_a_segment_in_one_line() {
    for form in FORMS {
        let program = "agent captain:\n  persist: true\nresume: captain\n  prompt: \"Review\"\n";
        let project = Project::new(form, program);
        fs::write(project.path("seg"), "line one\nline two\n").expect("written");
        project.does("begin 3", &[]);
        project.does("put --anon --into 1 --segment seg", &[]);
        let said = project.does("agents r", &[]);
        assert!(said.contains("line one line two\n"), "{said}");
    }
}

#[test]
fn a_state_file_of_ours_agrees_with_the_rows_after_a_join_by_force() {
    let program =
        "parallel for it in [\"a\", \"b\"]:\n  let r = session \"One\"\nsession \"Last\"\n";
    let project = Project::new("filesystem", program);
    project.does("begin 1", &[]);
    project.does("end --force 1", &[]);
    let state = fs::read_to_string(project.path(".prose/runs/r/state.md")).expect("read");
    let mark = state.lines().find(|line| line.starts_with("parallel for"));
    assert!(
        mark.is_some_and(|mark| mark.ends_with("# (complete)")),
        "{state}"
    );
    let issues = project.issues();
    let contradicts = "warning state-file-contradicts-rows";
    assert!(!issues.iter().any(|rule| rule == contradicts), "{issues:?}");
}

/// After a statement was ended by force, commands do not show the statements in it as running.
#[test]
fn what_a_forced_end_left_open_is_abandoned() {
    let program = "parallel:\n  a = session \"A\"\n  b = session \"B\"\nrepeat 2:\n  session \"L\"\nif **x**:\n  session \"I\"\nsession \"Last\"\n";
    for form in FORMS {
        let project = Project::new(form, program);
        for (outer, inner) in [("1", None), ("4", Some("5")), ("6", Some("7"))] {
            let begun = project.does("begin", &[outer]);
            let id = begun.lines().next().unwrap_or_default();
            inner.inspect(|line| drop(project.does("begin", &[line])));
            project.does("end --force", &[id]);
        }
        let state = project.does("state r", &[]);
        assert!(!state.contains("EXECUTING"), "{state}");
        assert_eq!(state.matches("(abandoned)").count(), 4, "{state}");
        let trace = project.does("trace r", &[]);
        assert!(!trace.contains("stands here"), "{trace}");
        assert_eq!(trace.matches("◌ abandoned").count(), 4, "{trace}");
        let (_, next) = project.tries("next");
        assert!(next.contains("begin 8"), "{next}");
        // The session of a statement that was ended by force may still write its value.
        let forced = ["note recorded-by-force"; 3];
        let all = [&["warning rounds-missing"][..], &forced].concat();
        assert_eq!(project.issues(), all);
    }
}

#[test]
fn a_gate_that_the_documents_own_update_decided_is_a_warning() {
    if needs::sqlite3().is_none() {
        return;
    }
    let program = "approve ship:\n  prompt: \"Ship?\"\n  allow: [\"user\"]\nsession \"Last\"\n";
    let project = Project::new("sqlite", program);
    project.does("gate create --line 1", &[]);
    project.sql("UPDATE gates SET status='approved', resolved_at=datetime('now'), resolved_by='user' WHERE id='ship'");
    assert_eq!(project.issues(), ["warning gate-decision-unsealed"]);
    assert_eq!(project.tries("gates r").0, Some(0));
    project.session("4", &[]);
    // `check` only warns about a decision by OpenProse's own UPDATE, but `audit verify` fails, because the audit log
    // contradicts the gate.
    assert_eq!(project.tries("audit verify r").0, Some(1));
}

#[test]
fn a_search_looks_into_tables_and_columns_that_no_document_lists() {
    if needs::sqlite3().is_none() {
        return;
    }
    let project = Project::new("sqlite", "session \"S\"\n");
    project.session("1", &[]);
    project.sql(
        "CREATE TABLE x_notes (a, b);
        INSERT INTO x_notes VALUES (1, 'no'), (hex(zeroblob(2000)), 'the whale');
        ALTER TABLE execution ADD COLUMN x_remark;
        UPDATE execution SET x_remark = 'a second whale' WHERE id = 1;",
    );
    let said = project.does("search whale --run r", &[]);
    for place in [
        "Other tables (2)",
        "x_notes, row 2",
        "the whale",
        "execution, row 1",
    ] {
        assert!(said.contains(place), "{place}: {said}");
    }
}
