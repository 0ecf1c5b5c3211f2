//! Tests with randomly recorded runs: the state.md rendered from the kept rows equals the one rendered from all rows,
//! and commands get the same answers from both.

use std::ops::ControlFlow;

use crate::chance::cases;
use proptest::prelude::*;

use super::folder_state;
use crate::decode::gates_json::events;
use crate::model::{AuditEvent, Execution, FolderForm, Form, Gate, Program, Run, RunStatus};
use crate::render::gates_json::event;
use crate::write::{
    AgentFact, At, AuditTail, Begin, BeginLoop, BeginParallel, BindingFact, Branch, Change, Close,
    ExitLoop, Facts, Fault, How, ImportFact, Insist, Iterate, Join, Place, Plan, Record, Retry,
    RunFact, StatementRef, Style, WriteError,
};

const PROGRAM: &str = r#"let first = session "First"

loop until **done** (max: 9):
  let draft = session "Draft"
  do process(draft)
  loop (max: 2):
    session "Polish"

parallel:
  a = session "A"
  b = do process(first)

block process(data):
  let part = session "Part"
  parallel:
    x = session "X"
    y = do process(part)
  repeat 2:
    session "Again"
  do other(part)

block other(data):
  session "Other"
  do process(data)

do process(first)
do other(first)
session "Last"
"#;

/// The lines of `PROGRAM` at which plain statements, loops and parallel blocks begin.
const PLAIN: [u32; 13] = [1, 4, 5, 7, 10, 11, 14, 19, 20, 23, 24, 26, 28];
const LOOPS: [u32; 3] = [3, 6, 18];
const PARALLELS: [u32; 2] = [9, 15];

#[derive(Debug, Clone)]
struct Step {
    what: u8,
    line: usize,
    /// Which execution the step is about, counted backward from the newest.
    of: usize,
}

struct Memory {
    all: Vec<Execution>,
    kept: Vec<Execution>,
    /// Whether answers come from the kept rows, as in a folder, or from all rows.
    by_kept: bool,
}

impl Facts for Memory {
    fn style(&self) -> Style {
        Style::Files
    }
    fn run(&self) -> Result<RunFact, Fault> {
        Ok(RunFact {
            id: "r".into(),
            name: "r".into(),
            status: RunStatus::Running,
            updated: None,
        })
    }
    fn program(&self) -> Result<Option<String>, Fault> {
        Ok(Some(PROGRAM.into()))
    }
    fn next_execution(&self) -> Result<i64, Fault> {
        Ok(self.all.last().map_or(1, |row| row.id + 1))
    }
    fn execution(&self, id: i64) -> Result<Option<Execution>, Fault> {
        Ok(self.all.iter().find(|row| row.id == id).cloned())
    }
    fn executions_back(
        &self,
        place: &Place<'_>,
        since: i64,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let known = since == i64::MIN || self.kept.iter().any(|row| row.id == since);
        let rows = if self.by_kept && known {
            &self.kept
        } else {
            &self.all
        };
        for row in rows.iter().rev().filter(|row| row.id >= since) {
            if place.holds(row) && each(row.clone()).is_break() {
                break;
            }
        }
        Ok(())
    }
    fn newest(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault> {
        let mut rows = self.all.iter().rev();
        let _ = rows.try_for_each(|row| each(row.clone()));
        Ok(())
    }
    fn open(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault> {
        let rows = if self.by_kept { &self.kept } else { &self.all };
        let mut rows = rows.iter().rev().filter(|row| row.opens());
        let _ = rows.try_for_each(|row| each(row.clone()));
        Ok(())
    }
    fn children(
        &self,
        parent: i64,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let known = self.kept.iter().any(|row| row.id == parent);
        let rows = if self.by_kept && known {
            &self.kept
        } else {
            &self.all
        };
        let mut rows = rows.iter().filter(|row| row.parent == Some(parent));
        let _ = rows.try_for_each(|row| each(row.clone()));
        Ok(())
    }
    fn binding(&self, _: &str, _: Option<i64>) -> Result<Option<BindingFact>, Fault> {
        Ok(None)
    }
    fn short_text(&self, _: &str, _: Option<i64>, _: usize) -> Result<Option<String>, Fault> {
        Ok(None)
    }
    fn binding_by_case(&self, _: &str, _: Option<i64>) -> Result<Option<String>, Fault> {
        Ok(None)
    }
    fn last_anonymous(&self) -> Result<u32, Fault> {
        Ok(0)
    }
    fn attachment(&self, _: &str) -> Result<bool, Fault> {
        Ok(false)
    }
    fn agent(&self, _: &str) -> Result<Option<AgentFact>, Fault> {
        Ok(None)
    }
    fn import(&self, _: &str) -> Result<Option<ImportFact>, Fault> {
        Ok(None)
    }
    fn gates(&self) -> Result<Vec<Gate>, Fault> {
        Ok(Vec::new())
    }
    fn gate(&self, _: &str) -> Result<Option<Gate>, Fault> {
        Ok(None)
    }
    fn gate_events(&self, _: &str) -> Result<Vec<AuditEvent>, Fault> {
        Ok(Vec::new())
    }
    fn audit_rows(&self, _: &mut dyn FnMut(AuditEvent) -> ControlFlow<()>) -> Result<(), Fault> {
        Ok(())
    }
    fn lacks_log(&self) -> Result<bool, Fault> {
        Ok(false)
    }
    fn audit_tail(&self) -> Result<AuditTail, Fault> {
        Ok(AuditTail::default())
    }
}

fn run_of(rows: &[Execution]) -> Run {
    Run {
        id: "r".into(),
        form: Form::Folder {
            form: FolderForm::StateMd,
        },
        program: Program {
            source: Some(PROGRAM.into()),
            ..Program::default()
        },
        status: Some(RunStatus::Running),
        executions: rows.to_vec(),
        ..Run::default()
    }
}

/// Returns the changes of one command, which must be the same for the kept rows and for all rows.
fn plan<R: Record>(memory: &mut Memory, command: &R) -> Result<Vec<Change>, WriteError> {
    let at = At::default();
    let mut asked = |by_kept| {
        memory.by_kept = by_kept;
        command
            .plan(memory, &at)
            .map(|Plan { changes, .. }| changes)
    };
    let (all, kept) = (asked(false), asked(true));
    assert_eq!(all, kept);
    kept
}

/// An execution that began: its id and its line.
type Opened = (i64, u32);

/// Returns the lines of the constructs or calls in which a line of `PROGRAM` runs. The list is empty at the root.
fn inside(line: u32) -> &'static [u32] {
    match line {
        4..=6 => &[3],
        7 => &[6],
        10 | 11 => &[9],
        14 | 15 | 18 | 20 => &[5, 11, 17, 24, 26],
        16 | 17 => &[15],
        19 => &[18],
        23 | 24 => &[20, 27],
        _ => &[],
    }
}

/// Executes a step; returns `None` if a rule refuses the step, or if the step has no suitable place.
fn step(memory: &mut Memory, opened: &[Opened], step: &Step) -> Option<Vec<Change>> {
    let back = |lines: &[u32]| {
        let of = opened.iter().rev().filter(|(_, line)| lines.contains(line));
        let of: Vec<i64> = of.map(|(id, _)| *id).collect();
        of.get(step.of % of.len().max(1)).copied()
    };
    let place = |lines: &[u32]| -> Option<(StatementRef, Option<i64>)> {
        let line = lines[step.line % lines.len()];
        let around = inside(line);
        let parent = match around {
            [] => None,
            lines => Some(back(lines)?),
        };
        let line = Some(line);
        Some((StatementRef { text: None, line }, parent))
    };
    let id = opened
        .len()
        .checked_sub(step.of % opened.len().max(1) + 1)?;
    let id = opened[id].0;
    let done = match step.what {
        0..=5 => {
            let (statement, parent) = place(&PLAIN)?;
            plan(
                memory,
                &Begin {
                    statement,
                    parent,
                    ..Begin::default()
                },
            )
        }
        6..=11 => plan(
            memory,
            &Close {
                insist: Insist {
                    force: step.line.is_multiple_of(2),
                    ..Insist::default()
                },
                ..Close::new(
                    id,
                    match step.what {
                        6..=9 => How::Completed { binding: None },
                        10 => How::Failed { error: "no".into() },
                        _ => How::Skipped { reason: None },
                    },
                )
            },
        ),
        12 => {
            let (statement, parent) = place(&PARALLELS)?;
            let parallel = BeginParallel {
                statement,
                parent,
                ..BeginParallel::default()
            };
            plan(memory, &parallel)
        }
        13 | 14 => plan(
            memory,
            &Branch {
                parallel: Some(back(&PARALLELS)?),
                name: ["a", "b", "x", "y"][step.line % 4].into(),
                ..Branch::default()
            },
        ),
        15 => plan(
            memory,
            &Join {
                parallel: Some(back(&PARALLELS)?),
                ..Join::default()
            },
        ),
        16 | 17 => {
            let (statement, parent) = place(&LOOPS)?;
            let begin = BeginLoop {
                statement,
                parent,
                ..BeginLoop::default()
            };
            plan(memory, &begin)
        }
        18..=20 => plan(
            memory,
            &Iterate {
                id: Some(back(&LOOPS)?),
                ..Iterate::default()
            },
        ),
        21 => plan(
            memory,
            &ExitLoop {
                id: Some(back(&LOOPS)?),
                ..ExitLoop::default()
            },
        ),
        _ => plan(
            memory,
            &Retry {
                id,
                ..Retry::default()
            },
        ),
    };
    done.ok()
}

fn check(steps: &[Step]) {
    let mut memory = Memory {
        all: Vec::new(),
        kept: Vec::new(),
        by_kept: false,
    };
    let mut opened: Vec<Opened> = vec![(0, 0)];
    for (n, next) in steps.iter().enumerate() {
        let Some(changes) = step(&mut memory, &opened, next) else {
            continue;
        };
        for change in &changes {
            let Change::Execution(row) = change else {
                continue;
            };
            let row = events(&event(row)).0.remove(0);
            if matches!(row.status.word(), "executing" | "started") {
                let line = row.index.and_then(|line| u32::try_from(line).ok());
                opened.push((row.id, line.unwrap_or(0)));
            }
            memory.all.push(row.clone());
            memory.kept.push(row);
        }
        let all = folder_state(&run_of(&memory.all));
        let kept = folder_state(&run_of(&memory.kept));
        let rows: Vec<String> = memory
            .all
            .iter()
            .map(|row| {
                let known = memory.kept.iter().any(|kept| kept.id == row.id);
                let meta = row.meta.as_deref();
                let name = meta.and_then(|m| m.loop_id.clone().or(m.branch.clone()));
                format!(
                    "{known} {} line {:?} {} in {:?} {name:?}",
                    row.id,
                    row.index,
                    row.status.word(),
                    row.parent,
                )
            })
            .collect();
        assert!(
            all.text == kept.text,
            "after step {n}: {next:?}
{}
{}
{}",
            rows.join(
                "
"
            ),
            all.text,
            kept.text
        );
        memory.kept.retain(|row| kept.rows.contains(&row.id));
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let of = prop_oneof![6 => 0..3_usize, 2 => 3..8_usize, 1 => Just(usize::MAX - 1)];
    let step = (0..23_u8, 0..26_usize, of).prop_map(|(what, line, of)| Step { what, line, of });
    proptest::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(cases(150, 20_261_121))]

    #[test]
    fn what_was_kept_tells_the_same(steps in steps()) {
        check(&steps);
    }
}

/// In a hundred rounds, each with a recursive frame, the number of kept rows must not grow.
#[test]
fn history_is_not_kept() {
    let mut run = run_of(&[]);
    let mut most = Vec::new();
    let mut id = 0;
    let mut row = |run: &mut Run, text: &str| {
        id += 1;
        let text = text.replace("ID", &id.to_string());
        run.executions.extend(events(&text).0);
        id
    };
    row(
        &mut run,
        r#"{"id":1,"statement_index":3,"statement_text":"loop","status":"started","metadata":{"loop_id":"l1"}}"#,
    );
    for round in 1..=100 {
        let line = |line: u32, status: &str, parent: i64| {
            format!(
                r#"{{"id":ID,"statement_index":{line},"statement_text":"{}","status":"{status}","parent_id":{parent}}}"#,
                PROGRAM
                    .lines()
                    .nth(line as usize - 1)
                    .unwrap_or_default()
                    .trim()
                    .replace('"', "\\\"")
            )
        };
        row(&mut run, &line(4, "executing", 1));
        row(&mut run, &line(4, "completed", 1));
        let frame = row(&mut run, &line(5, "executing", 1));
        row(&mut run, &line(14, "executing", frame));
        row(&mut run, &line(14, "completed", frame));
        row(&mut run, &line(5, "completed", 1));
        row(
            &mut run,
            &format!(
                r#"{{"id":ID,"statement_index":3,"statement_text":"loop","status":"iteration","metadata":{{"loop_id":"l1","iteration":{round}}}}}"#
            ),
        );
        let state = folder_state(&run);
        run.executions.retain(|row| state.rows.contains(&row.id));
        most.push(run.executions.len());
    }
    assert_eq!(most[10], most[99], "{most:?}");
    assert!(most[99] < 12, "{most:?}");
}
