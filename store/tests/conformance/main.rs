//! Tests of the guarantees of every store: the same script, step by step, in each form
//! (`prosescope_core::record::RunStore`).
//!
//! A line of a script is a command (see `script.rs`); ` !rule` at its end is the expected refusal. After each step the
//! run is opened as readers open it: all forms must have the same trace, bindings and agents; a refused command must
//! leave every byte unchanged; and a folder's state.md must equal the rendering of its rows.

mod crash;
mod folder;
mod foreign;
#[cfg(unix)]
mod hostile;
mod postgres;
mod rules;
mod script;
mod sequences;
mod told;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use prosescope_core::pages::session::{Options, Session};
use prosescope_core::record::{At, RunStore, Style, WriteError, at_text};
use prosescope_store::{Disk, FolderStore, SqliteStore, init_folder, init_sqlite};
use tempfile::TempDir;

pub(crate) const RUN: &str = "20260115-143052-a7b3c9";
/// 2026-01-15T14:30:52Z.
pub(crate) const BEGUN: i64 = 1_768_487_452_000;

pub(crate) const PROGRAM: &str = r#"agent captain:
  model: opus
  persist: true

input topic: "what about"

let research = session: captain
  prompt: "Find three sources"

const plan = session "Plan"

parallel:
  a = session "Analyze risk A"
  b = session "Analyze risk B"

loop until **done** (max: 3):
  session "Synthesize"
  let note = session "Note"

block process(data):
  let result = session "Process chunk"
  do process(result)

do process(research)

session "Nothing is bound here"

resume: captain
  prompt: "Review"

output report = session "Report"
"#;

/// A form in which runs are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Folder,
    Sqlite,
}

pub(crate) const FORMS: [Form; 2] = [Form::Folder, Form::Sqlite];

/// A run that is being recorded.
pub(crate) struct Recorded {
    pub(crate) form: Form,
    _aside: TempDir,
    pub(crate) dir: PathBuf,
    pub(crate) store: Box<dyn RunStore>,
    steps: i64,
}

impl Recorded {
    pub(crate) fn new(form: Form, program: &str) -> Recorded {
        let aside = tempfile::tempdir().unwrap();
        let dir = aside.path().join("runs").join(RUN);
        make(form, &dir, program);
        Recorded {
            form,
            _aside: aside,
            store: open(form, &dir),
            dir,
            steps: 0,
        }
    }

    pub(crate) fn at(&mut self) -> At {
        self.steps += 1;
        At {
            now: BEGUN + self.steps * 1000,
            os_user: None,
            client: "test".to_owned(),
        }
    }

    /// Executes a command; returns its result, or the rule of the refusal. `later SECONDS` advances the clock.
    pub(crate) fn step(&mut self, line: &str) -> Result<String, String> {
        if let Some(seconds) = line.strip_prefix("later ") {
            self.steps += seconds.parse::<i64>().unwrap();
            return Ok(String::new());
        }
        let at = self.at();
        script::run(self.store.as_mut(), line, &at)
    }

    pub(crate) fn session(&self) -> Session {
        session(&self.dir)
    }
}

pub(crate) fn make(form: Form, dir: &Path, program: &str) {
    match form {
        Form::Folder => {
            let at = at_text(BEGUN, Style::Files);
            init_folder(dir, RUN, "risk.prose", program, &at).unwrap();
        }
        Form::Sqlite => {
            let at = at_text(BEGUN, Style::AppendOnly);
            init_sqlite(dir, RUN, "risk.prose", program, &at).unwrap();
        }
    }
}

pub(crate) fn open(form: Form, dir: &Path) -> Box<dyn RunStore> {
    match form {
        Form::Folder => Box::new(FolderStore::open(dir).unwrap()),
        Form::Sqlite => Box::new(SqliteStore::open(&dir.join("state.db"), None).unwrap()),
    }
}

pub(crate) fn session(dir: &Path) -> Session {
    let disk = Disk::open(dir).unwrap();
    Session::open(Rc::new(disk), "", &Options::default()).unwrap()
}

/// Runs a script in all forms.
fn check(script: &str) {
    check_in(PROGRAM, script);
}

/// Runs a script with another program in all forms. Returns the runs as readers open them.
fn check_in(program: &str, script: &str) -> Vec<Session> {
    let mut runs = FORMS.map(|form| Recorded::new(form, program));
    let mut database = postgres::Recorded::new(program);
    let mut before = runs.each_ref().map(|run| told::told(&run.session()));
    for line in script.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let (command, refused) = match line.split_once(" !") {
            Some((command, rule)) => (command, Some(rule)),
            None => (line, None),
        };
        let mut all = Vec::new();
        for (run, before) in runs.iter_mut().zip(&mut before) {
            let bytes = refused.map(|_| told::bytes(&run.dir));
            let said = run.step(command);
            let session = run.session();
            let now = told::told(&session);
            if let Some(rule) = refused {
                assert_eq!(
                    said.as_ref().err().map(String::as_str),
                    Some(rule),
                    "{line}: {said:?}"
                );
                assert_eq!(now, *before, "{:?}, {line}", run.form);
                assert!(
                    bytes == Some(told::bytes(&run.dir)),
                    "{:?}, {line}",
                    run.form
                );
            } else {
                assert!(said.is_ok(), "{:?}, {line}: {said:?}", run.form);
            }
            if run.form == Form::Folder {
                told::agrees(&session, line);
            }
            before.clone_from(&now);
            // A second writer opens the run and continues after the first one.
            run.store = open(run.form, &run.dir);
            all.push((said, now));
        }
        if let Some(run) = &mut database {
            run.step(line, &all[0]);
        }
        let [(said, told), (other_said, other)] = all.as_slice() else {
            continue;
        };
        assert_eq!(said, other_said, "{line}");
        assert_eq!(told, other, "{line}\n{told}\n{other}");
    }
    let sessions = runs.iter().map(Recorded::session);
    sessions.chain(database.map(|run| run.session())).collect()
}

#[test]
fn statements_begin_and_end() {
    check(
        "begin 7
         begin 7 !execution-open
         end 1 !output-missing
         put research: three sources
         end 1
         end 1 !execution-closed
         end 99 !not-found
         begin 10
         fail 3 it's \"broken\"; | pipe
         retry 3 max=2
         fail 3 again
         retry 3 !retry-used-up
         retry 3 max=4
         end 3 !output-missing
         put plan in 3: the plan
         end 3
         skip 26
         retry 9 !retry-not-failed
         begin 10
         fail 11 no
         begin 10
         retry 11 !retry-superseded
         end 11 !execution-closed
         put plan in 13: the plan again
         end 13
         begin 1 !wrong
         begin 4 !not-found",
    );
}

#[test]
fn branches_come_together() {
    check(
        "begin 12
         begin 13 !is-a-branch
         end 1 !branches-open
         put a in 2: risk a
         end 2
         fail 3 no
         end 1 !branch-failed
         end 1 force
         begin 13 !is-a-branch
         begin 12
         end 8 !output-missing
         put a in 8: risk a again
         end 8
         put b in 9: risk b
         end 9
         end 7
         end 7 !execution-closed",
    );
}

#[test]
fn loops_go_round() {
    check(
        "begin 16
         begin 17 in 1
         end 2
         begin 18 in 1
         put note in 4: first
         end 4
         round 1
         begin 17 in 1
         end 7
         begin 18 in 1
         put note in 9: second
         end 9
         round 1
         round 1
         round 1 !loop-used-up
         begin 17 in 1 !loop-used-up
         begin 17 in 1 force
         round 1 !loop-used-up
         end 1 max_reached !children-open
         end 13
         end 1 max_reached
         end 1 !execution-closed
         round 13 !not-a-loop
         begin 16
         begin 17
         end 17
         end 16",
    );
}

#[test]
fn frames_have_values_of_their_own() {
    check(
        "begin 24
         put research: data
         begin 21 in 1
         put result in 2: one
         end 2
         begin 22 in 1
         begin 21 in 4
         put result in 5: two
         end 5
         begin 22 in 4
         begin 21 in 7
         put result in 8: three
         put result in 8: three again
         end 8
         put parts in 7: of the frame
         end 7
         end 4
         begin 21 in 4 !parent-closed
         put result in 4: late
         end 1
         begin 24
         begin 21 in 13
         put result in 14: anew",
    );
}

#[test]
fn values_are_kept_as_they_were() {
    check(
        "begin 7
         put x kind=let: one
         put x: two\\n---\\n```\\n# x
         put x: 
         put plan kind=const from=const_plan: fixed
         put plan from=const_plan: fixed again
         put plan from=another: other !binding-fixed
         put topic kind=input: caller
         put topic from=other: else !binding-fixed
         anon: first
         anon: second
         put anon_009: mine
         anon: third
         put anon_99999999999: a name like ours
         anon: fourth
         put large large: 
         put large large: 
         put raw bytes: 
         put a/b: no !wrong
         put x__43: no !wrong
         put x in 77: no !not-found
         put x kind=var: no !wrong",
    );
}

#[test]
fn agents_remember() {
    check(
        "begin 7
         put research in 1: three sources
         end 1
         memory captain: # Agent Memory: captain
         segment captain: ## Summary\\n\\n- looked
         memory captain: # Agent Memory: captain\\n\\nmore
         segment captain: ## Summary\\n\\n- again
         segment mate: only a segment
         begin 28
         end 3",
    );
}

#[test]
fn a_run_ends_or_rests() {
    check(
        "begin 7
         finish interrupted
         begin 10 !run-interrupted
         reopen
         finish completed !statements-open
         put research in 1: three sources
         end 1
         finish waiting !wrong
         finish completed
         begin 10 !run-finished
         reopen !run-finished
         finish failed !run-finished",
    );
    check("begin 7\nfail 1 no\nfinish failed\nbegin 10 !run-finished\nreopen\nretry 1");
    check(
        "begin 7
         begin 12 !out-of-turn
         begin 12 force
         begin 16 force
         begin 17
         finish completed !statements-open
         finish completed force",
    );
}

/// Errata G1–G12: each gate is decided once, by an admitted principal, before its deadline; every event is a sealed
/// row.
#[test]
fn gates_are_decided_once() {
    check(
        "gate deploy allow=ops-team,raymond timeout=2h on_reject=continue: Go?
         gate deploy: Again? !gate-waits
         gate deploy force: Again? !gate-pending
         gate other: Other? !gate-waits
         view deploy by=lee
         view depoly !not-found
         approve deploy by=lee: I !gate-not-allowed
         approve deploy by=system: I !principal-reserved
         reject deploy by=raymond:  !wrong
         approve deploy by=raymond: it's \"fine\"\\n| pipe
         approve deploy by=raymond: again !gate-not-pending
         reject deploy by=ops-team: no !gate-not-pending
         expire
         view deploy
         gate deploy timeout=1h on_reject=continue: Once more?
         reject deploy#2 by=lee for=raymond: not yet
         approve deploy#2 by=lee: late !gate-not-pending
         gate soon timeout=30m: Soon?
         gate sooner timeout=10m force: Sooner?
         gate never force: Ever?
         gate odd timeout=2h30 force: Odd? !wrong
         later 601
         approve sooner by=ann: too late !gate-past-deadline
         approve sooner by=ann record-timeout: too late
         approve sooner by=ann: too late !gate-not-pending
         later 1800
         expire
         expire
         approve soon !gate-not-pending
         finish interrupted
         gate other: Other? !run-interrupted
         approve never by=ann: while it rests
         reopen
         gate waits: Waits? !gate-timed-out
         gate waits force: Waits?
         finish interrupted
         reopen
         approve waits
         finish failed
         gate other: Other? !run-finished",
    );
}

/// A gate in one branch of a parallel block blocks only that branch.
#[test]
fn gates_wait_where_they_stand() {
    check(
        "begin 12
         gate deploy in 2: Of a?
         gate deploy in 3: Of b?
         gate deploy in 2: Again? !gate-waits
         gate deploy in 2 force: Again? !gate-pending
         gate deploy in 99: Nowhere? !not-found
         approve deploy#2 by=ann
         approve deploy by=ann",
    );
}

#[test]
fn imports_are_registered() {
    check(
        "begin 7
         import research: https://p.prose.md/@alice/deep-research
         import research: https://p.prose.md/@alice/deep-research
         import tool: ./lib/tool.prose
         import tool: ./lib/other.prose !import-differs
         import a.b: ./x.prose !wrong
         import a--b: ./x.prose !wrong
         import ../out: ./x.prose !wrong
         import late: ./late.prose
         put research in 1: three sources
         end 1
         finish completed
         import more: ./x.prose !run-finished",
    );
}

/// A run's folder appears completely, and never replaces another.
#[test]
fn a_new_run_is_there_whole_or_not_at_all() {
    for form in FORMS {
        let aside = tempfile::tempdir().unwrap();
        let dir = aside.path().join("runs").join(RUN);
        make(form, &dir, PROGRAM);
        let before = told::bytes(&dir);
        let again = match form {
            Form::Folder => init_folder(&dir, RUN, "other.prose", "", "2026"),
            Form::Sqlite => init_sqlite(&dir, RUN, "other.prose", "", "2026"),
        };
        assert!(
            matches!(&again, Err(WriteError::Refused { message, hint, .. })
                if message.contains(RUN) && !hint.is_empty()),
            "{again:?}"
        );
        assert_eq!(told::bytes(&dir), before);
        // The temporary folder is removed.
        let left = std::fs::read_dir(aside.path().join("runs")).unwrap();
        assert_eq!(left.count(), 1, "{form:?}");
        let begun = told::told(&session(&dir));
        assert!(!begun.is_empty());
    }
}
