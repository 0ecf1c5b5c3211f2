//! Tests of what commands show of a run after it was recorded: its narration and state file, the issues of `check`,
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
        let begun = self.does("exec begin --line", &[line]);
        let id = begun.lines().next().unwrap_or_default();
        match put {
            [] => self.does("put --anon --done --execution", &[id]),
            put => self.does("put --done --execution", &[&[id], put].concat()),
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

    #[track_caller]
    fn narrates(&self, more: &[&str], expected: &str) {
        let said = self.does("narrate r", more);
        let expected: Vec<&str> = expected.trim().lines().map(str::trim).collect();
        assert_eq!(said.lines().collect::<Vec<_>>(), expected);
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
        project.does("parallel run --line 2", &[]);
        project.does("finish --status failed", &[]);
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
    project.does("exec begin --line 1", &[]);
    project.does("finish --status failed", &[]);
    let folder = project.path("read");
    fs::create_dir(&folder).expect("made");
    let state = fs::read(project.path(".prose/runs/r/state.md")).expect("read");
    fs::write(folder.join("state.md"), state).expect("written");
    let (_, trace) = project.tries("trace ./read");
    assert!(trace.contains("◌ abandoned  session \"One\""), "{trace}");
}

#[test]
fn a_narration_has_the_numbers_of_statements_and_the_frames_of_calls() {
    let program = "input topic: \"what\"
block process(part):
  let piece = session \"Piece\"
let plan = session \"Plan\"
choice **which way**:
  option \"fast\":
    session \"Quick\"
try:
  session \"Risky\"
catch as err:
  session \"Recover\"
parallel:
  x = do process(\"one\")
  parallel:
    y = session \"Y\"
loop until **good** (max: 3):
  session \"Improve\"
session \"Last\"
";
    for form in FORMS {
        let project = Project::new(form, program);
        project.does("put topic", &[]);
        project.session("4", &["plan"]);
        project.session("7", &[]);
        project.does("exec begin --line 9", &[]);
        project.does("exec fail 5 --error boom", &[]);
        project.session("11", &[]);
        project.does("parallel begin --line 12", &[]);
        project.does("parallel branch 9 x", &[]);
        project.session("3", &["piece"]);
        project.does("put x --execution 10 --done", &[]);
        project.does("parallel branch 9 branch_2", &[]);
        let inner = project.does("parallel begin --line 14", &[]);
        let branch = project.does("parallel branch", &[inner.trim(), "y"]);
        project.does("put y --done --execution", &[branch.trim()]);
        project.does("parallel join", &[inner.trim()]);
        project.does("exec complete 14", &[]);
        project.does("parallel join 9", &[]);
        project.does("loop begin --line 16", &[]);
        project.session("17", &[]);
        project.does("loop iterate", &[]);
        project.session("17", &[]);
        project.does("loop exit --round --reason **good**", &[]);
        project.does("exec begin --line 18", &[]);
        project.narrates(
            &[],
            "1→ plan ✓
            2→ session \"Quick\" ✓
            3→ session \"Risky\" ✗ boom
            3→ session \"Recover\" ✓
            4→ ∥start x,branch_2
            4a→ block:process#10
            4a→ #10 piece ✓
            4a→ #10 done
            4a→ x ✓
            4b→ ∥start y
            4b.a→ y ✓
            4b→ ∥done
            4b→ branch_2 ✓
            4→ ∥done
            5→ loop:1/3
            5→ session \"Improve\" ✓
            5→ loop:2/3
            5→ session \"Improve\" ✓
            5→ loop:2/3 exit(**good**)
            6→ session \"Last\" ⟳",
        );
        project.narrates(&["--execution", "11"], "4a→ #10 piece ✓");
        let trace = project.does("trace r", &[]);
        assert!(trace.contains("frame 10 · depth 1"), "{trace}");
    }
}

#[test]
fn positions_say_what_came_of_each_thing_in_its_own_words() {
    for form in FORMS {
        let program = "approve ship:\n  prompt: \"Ship?\"\n  allow: [\"joe\"]\nrepeat 1:\n  session \"S\"\nparallel:\n  a = session \"A\"\nsession \"Last\"\n";
        let project = Project::new(form, program);
        project.does("gate create --line 1", &[]);
        project.does("reject r ship --as joe --reason", &["not yet"]);
        project.does("loop begin --line 4 --force", &[]);
        project.session("5", &[]);
        project.does("loop exit --round", &[]);
        let parallel = project.does("parallel begin --line 6", &[]);
        let branch = project.does("parallel branch", &[parallel.trim(), "a"]);
        project.does("exec fail --error boom", &[branch.trim()]);
        project.does("exec fail --error", &["a branch failed", parallel.trim()]);
        project.narrates(
            &["--style", "positions"],
            "[Position] Statement 1: approve ship:
            [Error] Gate rejected: not yet
            [Position] Statement 2: repeat 1:
            [Position] Statement 2: session \"S\"
            [Success] Session complete
            [Success] Loop complete
            [Position] Statement 3: parallel:
            [Position] Statement 3: a = session \"A\"
            [Error] boom
            [Error] a branch failed",
        );
    }
}

#[test]
fn a_compact_log_is_narrated_in_its_own_lines() {
    let project = Project::new("sqlite", "session \"S\"\n");
    let folder = project.path("log");
    fs::create_dir_all(folder.join("bindings")).expect("made");
    let program = "let plan = session \"Plan\"\nlet extra = session \"E\"\nsession \"Build\"\nloop until **ok** (max: 4):\n  session \"Improve\"\n";
    fs::write(folder.join("program.prose"), program).expect("written");
    let lines = "1→ plan ✓\n8→ build ✓\n9→ loop:1/4\n9→ improve ✓\n9→ loop:2/4\n8→ build ✓\n[outage] the network was down\n---resume 2026-01-01T00:00:00Z (again)\n12→ loop:4/4\n---error 2026-01-01T00:00:00Z no more\n";
    fs::write(folder.join("state.md"), format!("# run:r p.prose\n{lines}")).expect("written");
    fs::write(
        folder.join("bindings/extra.md"),
        "# extra\nkind: let\n---\nx",
    )
    .expect("written");
    let derived =
        "→ extra ✓ (inferred from the statement's binding; the log has no line for the statement)";
    assert_eq!(
        project.does("narrate ./log", &[]),
        format!("{lines}{derived}\n")
    );
    let positions = project.does("narrate ./log --style positions", &[]);
    assert!(
        positions.contains("[Position] Statement 9: "),
        "{positions}"
    );
    assert!(positions.contains("[Position] let extra"), "{positions}");
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
        project.does("exec begin --line 2", &[]);
        project.does("import add research", &[]);
        project.does("put f --execution 1 --done", &[]);
        project.does("finish --status completed", &[]);
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
        project.does("import add research", &[]);
        project.does("exec begin --line 2", &[]);
        project.does("exec complete 1", &[]);
        project.does("finish --status completed", &[]);
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
            project.does("exec run --line", &[line]);
        }
        for id in ["3", "2", "1"] {
            project.does("exec fail --error boom", &[id]);
        }
        project.does("finish --status failed", &[]);
        assert_eq!(project.issues(), [""; 0], "{form}");
        project.does("resume --begin", &[]);
        project.does("exec retry 1", &[]);
        project.does("exec run --line", &["6"]);
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
        project.does("exec begin --line 3", &[]);
        project.does("put --anon --execution 1 --done --segment seg", &[]);
        let said = project.does("agents r", &[]);
        assert!(said.contains("line one line two\n"), "{said}");
    }
}

#[test]
fn a_state_file_of_ours_agrees_with_the_rows_after_a_join_by_force() {
    let program =
        "parallel for it in [\"a\", \"b\"]:\n  let r = session \"One\"\nsession \"Last\"\n";
    let project = Project::new("filesystem", program);
    project.does("parallel run --line 1 --branches a,b", &[]);
    project.does("parallel join --force 1", &[]);
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
        project.does("parallel run --line 1", &[]);
        project.does("parallel join --force", &[]);
        project.does("loop begin --line 4", &[]);
        project.does("exec begin --line 5", &[]);
        project.does("loop exit --force", &[]);
        let block = project.does("exec begin --line 6", &[]);
        let block = block.lines().next().unwrap_or_default().to_owned();
        project.does("exec begin --line 7", &[]);
        project.does("exec complete --force", &[&block]);
        let state = project.does("state r", &[]);
        assert!(!state.contains("EXECUTING"), "{state}");
        assert_eq!(state.matches("(abandoned)").count(), 4, "{state}");
        let trace = project.does("trace r", &[]);
        assert!(!trace.contains("stands here"), "{trace}");
        assert_eq!(trace.matches("◌ abandoned").count(), 4, "{trace}");
        let (_, next) = project.tries("next");
        assert!(next.contains("--line 8"), "{next}");
        // The session of a statement that was ended by force may still write its value.
        assert_eq!(project.issues(), ["note recorded-by-force"; 3]);
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
