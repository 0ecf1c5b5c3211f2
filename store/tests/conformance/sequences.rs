//! Tests of random sequences of commands, including absurd ones: no sequence blocks a run, loses a value, or makes
//! `check` report an error. A refusal is the same in every form, and after each command all forms have the same facts.

use std::collections::BTreeMap;

use proptest::prelude::*;
use prosescope_core::model::issue::Severity;
use prosescope_core::model::{AgentScope, RunStatus};
use prosescope_core::pages::session::{ValueOf, pages};
use prosescope_core::record::{
    AddImport, At, Begin, CreateGate, Decision, End, ExpireGates, Fail, Finish, Insist, Put,
    Record, Remember, Reopen, ResolveGate, Retry, Round, RunStore, Skip, StatementRef, WriteError,
    record,
};
use prosescope_test_support::chance::cases;

use super::{FORMS, Form, Recorded, open, told};

const PROGRAM: &str = r#"use "https://p.prose.md/@alice/deep-research" as research

agent captain:
  model: opus
  persist: true

input topic: "What to look into"

let draft = session: captain
  prompt: "Draft {topic}"

parallel ("first"):
  a = session "Analyze risk A"
  b = do process(draft)

loop until **done** (max: 2):
  session "Synthesize"
  let note = session "Note"

block process(data):
  let result = session "Process {data}"
  parallel:
    x = session "X"
    y = do process(result)
  approve inner:
    prompt: "Inside?"

repeat 2:
  session "Again"
    retry: 2

approve publish:
  prompt: "Publish it?"
  allow: ["legal"]
  timeout: "30m"
  on_reject: throw "no"

const plan = session "Plan"

output report = session "Report"
"#;

const LINES: [u32; 20] = [
    1, 3, 7, 9, 12, 13, 14, 16, 17, 18, 20, 21, 22, 23, 24, 25, 28, 29, 32, 38,
];
const NAMES: [&str; 8] = [
    "draft", "topic", "a", "note", "result", "x", "plan", "report",
];
const GATES: [&str; 3] = ["publish", "inner", "other"];

/// The rules that tell what was recorded against the program.
const AGAINST: [&str; 4] = [
    "gate-passed",
    "call-returned",
    "failure-passed",
    "call-too-deep",
];

/// A command as numbers: its kind and its arguments.
#[derive(Debug, Clone)]
struct Step {
    what: u8,
    one: usize,
    two: usize,
    insists: u8,
}

fn step() -> impl Strategy<Value = Step> {
    (0_u8..30, 0_usize..40, 0_usize..40, 0_u8..12).prop_map(|(what, one, two, insists)| Step {
        what,
        one,
        two,
        insists,
    })
}

/// Executes a step in a store; returns its result, or the rule of the refusal.
fn go(store: &mut dyn RunStore, step: &Step, at: &At) -> Result<String, String> {
    let insist = Insist {
        overrides: step.insists % 4 == 1,
        force: step.insists == 2,
    };
    let line = LINES[step.one % LINES.len()];
    let statement = || StatementRef::line(line);
    // The id is mostly one of the newest, sometimes a low one, none, or one that does not exist.
    let id = i64::try_from(step.two).unwrap() + 1;
    let given = step.two.is_multiple_of(5).then_some(id);
    let one = step.one.is_multiple_of(2).then_some(id);
    match step.what {
        0..=5 | 13..=16 => {
            let begin = Begin {
                statement: statement(),
                parent: given,
                insist,
                ..Begin::default()
            };
            said(store, at, &begin)
        }
        6..=8 | 17 | 20 => {
            let end = End {
                id: one,
                because: None,
                insist,
            };
            said(store, at, &end)
        }
        9 => {
            let fail = Fail {
                id: one,
                error: "no".to_owned(),
                insist,
            };
            said(store, at, &fail)
        }
        10 => {
            let skip = Skip {
                statement: statement(),
                parent: given,
                insist,
                ..Skip::default()
            };
            said(store, at, &skip)
        }
        11 | 12 => {
            let error = step.one.is_multiple_of(2).then(|| "broken".to_owned());
            let retry = Retry {
                id,
                max: None,
                error,
                insist,
            };
            said(store, at, &retry)
        }
        18 | 19 => said(store, at, &Round { id: given, insist }),
        21..=23 => {
            let name = NAMES[step.one % NAMES.len()];
            let put = Put {
                name: (step.insists != 7).then(|| name.to_owned()),
                execution: (!step.two.is_multiple_of(3)).then_some(id),
                value: format!("{name} {}", at.now).into_bytes().into(),
                not_done: step.what != 23,
                memory: (step.insists == 8).then(|| "kept".to_owned()),
                segment: (step.insists == 8).then(|| "did".to_owned()),
                ..Put::default()
            };
            said(store, at, &put)
        }
        24 => {
            let named = step.one.is_multiple_of(2);
            let gate = CreateGate {
                id: named.then(|| GATES[step.two % 3].to_owned()),
                line: (!named).then_some(line),
                prompt: (step.insists == 9).then(|| "Otherwise?".to_owned()),
                parent: given.filter(|_| step.insists > 8),
                insist,
                ..CreateGate::default()
            };
            said(store, at, &gate)
        }
        25 => {
            let resolve = ResolveGate {
                gate: GATES[step.two % 3].to_owned(),
                decision: match step.one % 2 {
                    0 => Decision::Approve { comment: None },
                    _ => Decision::Reject {
                        reason: "no".to_owned(),
                    },
                },
                by: "legal".to_owned(),
                on_behalf_of: None,
                record_timeout: step.insists == 1,
                overrides: false,
            };
            said(store, at, &resolve)
        }
        26 => said(store, at, &ExpireGates::default()),
        27 => {
            let import = AddImport {
                alias: "research".to_owned(),
                inputs_schema: step.one.is_multiple_of(2).then(|| "{}".to_owned()),
                ..AddImport::default()
            };
            said(store, at, &import)
        }
        28 => said(store, at, &Reopen),
        _ => {
            let status = match step.one % 8 {
                0 => RunStatus::Completed,
                1 if step.two > 30 => RunStatus::Failed,
                2..=4 => RunStatus::Interrupted,
                _ => {
                    let memory = "memory".to_owned();
                    let remember = Remember {
                        agent: "captain".to_owned(),
                        scope: AgentScope::Execution,
                        memory,
                    };
                    return said(store, at, &remember);
                }
            };
            let finish = Finish {
                status: Some(status),
                insist,
                ..Finish::default()
            };
            said(store, at, &finish)
        }
    }
}

/// Returns a result without the heads of the log, because their hashes cover times, whose format differs between the
/// forms.
fn said<R: Record<Done: std::fmt::Debug>>(
    store: &mut dyn RunStore,
    at: &At,
    command: &R,
) -> Result<String, String> {
    match record(store, command, at) {
        Ok(done) => {
            let text = format!("{done:?}");
            let parts = text.split('"');
            let hash =
                |part: &&str| part.len() == 64 && part.bytes().all(|b| b.is_ascii_hexdigit());
            Ok(parts
                .map(|part| if hash(&part) { "…" } else { part })
                .collect())
        }
        Err(WriteError::Refused { rule, .. }) => Err(rule.to_owned()),
        Err(WriteError::NotFound { message, .. } | WriteError::Wrong { message, .. }) => {
            Err(message)
        }
        Err(WriteError::Fault(fault)) => panic!("{fault}"),
    }
}

/// The accepted values, by name and frame.
type Values = BTreeMap<(String, Option<i64>), String>;

/// Checks that every accepted value still exists with the text of its last write.
fn kept(run: &Recorded, values: &Values) {
    let session = run.session();
    for ((name, frame), value) in values {
        let at = session
            .run()
            .bindings
            .iter()
            .position(|binding| *binding.name == **name && binding.execution_id == *frame);
        let at = at.unwrap_or_else(|| panic!("{:?}: {name} of {frame:?} is lost", run.form));
        let of = ValueOf::Binding(u32::try_from(at).unwrap());
        let bytes = session.value_part(&of, 0, 1 << 20).unwrap();
        assert_eq!(
            String::from_utf8_lossy(&bytes),
            *value,
            "{:?}, {name}",
            run.form
        );
    }
}

/// Checks that `check` reports neither an error nor a warning about this writer's own records.
fn sound(run: &Recorded, at: &At, step: &Step) {
    let session = run.session();
    let issues = pages::check(&session, Some(at.now));
    let mut forced = session
        .run()
        .executions
        .iter()
        .filter_map(|row| row.meta.as_deref());
    let forced = forced.any(|meta| !meta.forced.is_empty());
    let errors: Vec<_> = issues
        .iter()
        .filter(|issue| issue.severity == Severity::Error)
        // What was forced against the program is an error for ever.
        .filter(|issue| !(forced && AGAINST.contains(&&*issue.rule)))
        .collect();
    assert!(errors.is_empty(), "{:?}, {step:?}: {errors:#?}", run.form);
}

fn check(steps: &[Step]) {
    let mut runs = FORMS.map(|form| Recorded::new(form, PROGRAM));
    let mut values = Values::new();
    for step in steps {
        let mut all = Vec::new();
        let mut now = 0;
        for run in &mut runs {
            let at = run.at();
            now = at.now;
            let said = go(run.store.as_mut(), step, &at);
            // A subagent's write, or a command without changes, leaves state.md unchanged.
            let tells = !matches!(step.what, 21..=23 | 26 | 29);
            if run.form == Form::Folder && said.is_ok() && tells {
                let page = pages::state_page(&run.session(), false);
                assert_eq!(
                    page.own.as_deref(),
                    Some(page.rendered.as_str()),
                    "{step:?}"
                );
            }
            sound(run, &at, step);
            all.push((said, told::told(&run.session())));
            run.store = open(run.form, &run.dir);
        }
        let [(said, told), (other_said, other)] = all.as_slice() else {
            continue;
        };
        assert_eq!(said, other_said, "{step:?}");
        assert_eq!(told, other, "{step:?}\n{told}\n{other}");
        if let (21..=23, Ok(done)) = (step.what, said) {
            values.insert(
                written(done),
                format!("{} {now}", NAMES[step.one % NAMES.len()]),
            );
        }
    }
    for run in &mut runs {
        kept(run, &values);
        goes_on(run);
    }
}

/// Returns the name and frame of a value, from the result of `put`.
fn written(done: &str) -> (String, Option<i64>) {
    let after = |key: &str| {
        done.split_once(key)
            .map(|(_, rest)| rest)
            .unwrap_or_default()
    };
    let name = after("name: ")
        .split(',')
        .next()
        .unwrap_or_default()
        .to_owned();
    let frame = after("frame: Some(")
        .split(')')
        .next()
        .and_then(|id| id.parse().ok());
    (name, frame)
}

/// Checks that an unfinished run accepts another statement.
fn goes_on(run: &mut Recorded) {
    let at = run.at();
    let _ = said(run.store.as_mut(), &at, &Reopen);
    let begin = Begin {
        statement: StatementRef {
            text: Some("session \"One more\"".to_owned()),
            line: None,
        },
        insist: Insist {
            overrides: false,
            force: true,
        },
        ..Begin::default()
    };
    let done = said(run.store.as_mut(), &at, &begin);
    let over = matches!(&done, Err(rule) if rule == "run-finished");
    assert!(done.is_ok() || over, "{:?}: {done:?}", run.form);
}

proptest! {
    #![proptest_config(cases(48, 9))]

    #[test]
    fn no_order_of_commands_locks_a_run_or_loses_a_value(steps in prop::collection::vec(step(), 1..40)) {
        check(&steps);
    }
}

/// Commands before the first statement once blocked a run folder permanently.
#[test]
fn whatever_comes_before_the_first_statement_it_can_begin() {
    let step = |what, one, two| Step {
        what,
        one,
        two,
        insists: 0,
    };
    // `put topic`, an import, an interruption and a resumption, in every order.
    let before = [
        step(21, 1, 0),
        step(27, 0, 0),
        step(29, 2, 0),
        step(28, 0, 0),
    ];
    for order in ["0123", "1032", "2310", "3201", "0213", "2013", "13", "23"] {
        let digits = order.bytes().map(|digit| usize::from(digit - b'0'));
        let mut steps: Vec<Step> = digits.map(|at| before[at].clone()).collect();
        steps.extend([step(28, 0, 0), step(0, 3, 1)]);
        check(&steps);
    }
}

/// Executions that are cut off must have the same status in every form.
#[test]
fn what_a_failed_parallel_leaves_behind_reads_the_same() {
    let step = |what, one, two, insists| Step {
        what,
        one,
        two,
        insists,
    };
    check(&[step(13, 12, 1, 2), step(9, 20, 0, 0)]);
}
