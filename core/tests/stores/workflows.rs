//! Tests that every workflow store must pass. The tests of each store, and those of the commands, include this file.
#![allow(dead_code)]

use prosescope_core::record::WriteError;
use prosescope_workflow::{
    Action, ActionEffect, Append, Ask, Cancel, Claim, ClaimNext, Fail, Finish, Heartbeat, Horizon,
    ImportantStep, Input, Json, Kind, Move, NewEvent, Prefer, Prune, SetState, Start, Tables,
    TurnResult, TurnStatus, WorkflowEvent, WorkflowFilter, WorkflowStatus, allowed_by_run,
    allowed_by_workflow, events, find_run, find_workflow, list, prune, record, show, stuck,
};

pub(crate) const NOW: i64 = 1_768_487_452_123;

pub(crate) fn id(n: u32) -> String {
    format!("0199c0de-0000-7000-8000-{n:012x}")
}

pub(crate) fn start(n: u32) -> Start {
    Start {
        new_workflow: id(2 * n),
        run: id(2 * n + 1),
        input: "Which reef?".to_owned(),
        ..Start::default()
    }
}

fn output() -> Json {
    Json::parse("{\"a\": 1}").unwrap()
}

/// Brings a workflow and its run into the given statuses; returns `None` if no commands lead there.
pub(crate) fn bring_about(
    store: &mut dyn Tables,
    n: u32,
    workflow: WorkflowStatus,
    turn: TurnStatus,
) -> Option<(String, String)> {
    if workflow == WorkflowStatus::Cancelled && turn.is_open() {
        return None;
    }
    let begun = record(store, &start(n), None, NOW).unwrap();
    let (of, run) = (begun.workflow_id, begun.run_id);
    match turn {
        TurnStatus::Running => {}
        TurnStatus::WaitingForInput => {
            let ask = Ask {
                run: run.clone(),
                question: "Which?".to_owned(),
                payload: None,
                owner: None,
            };
            record(store, &ask, None, NOW).unwrap();
        }
        TurnStatus::Completed => {
            let finish = Finish {
                run: run.clone(),
                output: output(),
                ..Finish::default()
            };
            record(store, &finish, None, NOW).unwrap();
        }
        TurnStatus::Failed => {
            let fail = Fail {
                run: run.clone(),
                error: output(),
                owner: None,
            };
            record(store, &fail, None, NOW).unwrap();
        }
        TurnStatus::Cancelled => {
            let cancel = Cancel {
                workflow: of.clone(),
                run: Some(run.clone()),
            };
            record(store, &cancel, None, NOW).unwrap();
        }
    }
    match workflow {
        WorkflowStatus::Active => {}
        WorkflowStatus::Paused => {
            record(store, &Move::Pause(of.clone()), None, NOW).unwrap();
        }
        WorkflowStatus::Error => {
            record(store, &Move::Error(of.clone(), output()), None, NOW).unwrap();
        }
        WorkflowStatus::Cancelled => {
            let cancel = Cancel {
                workflow: of.clone(),
                run: None,
            };
            record(store, &cancel, None, NOW).unwrap();
        }
    }
    Some((of, run))
}

/// Returns whether an action is refused in these statuses. An output or error that differs from the recorded one is
/// refused, too, and a second run beside an open one.
pub(crate) fn is_refused(action: Action, workflow: WorkflowStatus, turn: TurnStatus) -> bool {
    allowed_by_workflow(action, workflow) == ActionEffect::No
        || matches!(
            allowed_by_run(action, turn),
            ActionEffect::No | ActionEffect::Same
        )
        || (action == Action::Start && turn.is_open())
}

/// Returns whether an action changes nothing because its target status is already reached.
pub(crate) fn is_already(action: Action, workflow: WorkflowStatus, turn: TurnStatus) -> bool {
    allowed_by_workflow(action, workflow) == ActionEffect::Already
        || allowed_by_run(action, turn) == ActionEffect::Already
}

fn act(
    store: &mut dyn Tables,
    action: Action,
    of: &str,
    run: &str,
    n: u32,
) -> Result<(), WriteError> {
    let (workflow, run) = (of.to_owned(), run.to_owned());
    let json = Json::parse("{\"b\": 2}").unwrap();
    let at = NOW + 1000;
    match action {
        Action::Start => {
            let start = Start {
                workflow: Some(workflow),
                run: id(100_000 + n),
                ..start(n)
            };
            record(store, &start, None, at).map(|_| ())
        }
        Action::Ask => {
            let ask = Ask {
                run,
                question: "Another?".to_owned(),
                payload: None,
                owner: None,
            };
            record(store, &ask, None, at).map(|_| ())
        }
        Action::Input => {
            let input = Input {
                workflow,
                run: Some(run),
                text: "This".to_owned(),
                tail: 0,
            };
            record(store, &input, None, at).map(|_| ())
        }
        Action::Finish => {
            let finish = Finish {
                run,
                output: json,
                ..Finish::default()
            };
            record(store, &finish, None, at).map(|_| ())
        }
        Action::Fail => record(
            store,
            &Fail {
                run,
                error: json,
                owner: None,
            },
            None,
            at,
        )
        .map(|_| ()),
        Action::Append => {
            let notes = vec![NewEvent {
                run: Some(run),
                text: "More".to_owned(),
                ..NewEvent::default()
            }];
            record(store, &Append { workflow, notes }, None, at).map(|_| ())
        }
        Action::Pause => record(store, &Move::Pause(workflow), None, at).map(|_| ()),
        Action::Resume => record(store, &Move::Resume(workflow), None, at).map(|_| ()),
        Action::Error => record(store, &Move::Error(workflow, json), None, at).map(|_| ()),
        Action::Cancel => {
            let cancel = Cancel {
                workflow,
                run: None,
            };
            record(store, &cancel, None, at).map(|_| ())
        }
        Action::CancelRun => {
            let cancel = Cancel {
                workflow,
                run: Some(run),
            };
            record(store, &cancel, None, at).map(|_| ())
        }
        Action::Prefer => {
            let prefer = Prefer {
                workflow,
                set: vec![("a".to_owned(), json)],
                remove: Vec::new(),
            };
            record(store, &prefer, None, at).map(|_| ())
        }
        Action::Step => {
            let step = ImportantStep {
                workflow,
                run: Some(run),
                text: "Kept".to_owned(),
                payload: None,
            };
            record(store, &step, None, at).map(|_| ())
        }
        Action::State => {
            let set = SetState {
                run,
                state: json,
                owner: None,
            };
            record(store, &set, None, at).map(|_| ())
        }
        Action::Claim => {
            let claim = Claim {
                run,
                owner: "engine".to_owned(),
                lease: 0,
            };
            record(store, &claim, None, at).map(|_| ())
        }
        Action::Heartbeat => record(
            store,
            &Heartbeat {
                run,
                ..Heartbeat::default()
            },
            None,
            at,
        )
        .map(|_| ()),
    }
}

/// Tries every action in every status; returns the number of tried combinations.
pub(crate) fn lifecycle(store: &mut dyn Tables) -> u32 {
    let mut n = 0;
    let mut tried = 0;
    for workflow in WorkflowStatus::ALL {
        for turn in TurnStatus::ALL {
            for action in Action::all() {
                n += 1;
                let Some((of, run)) = bring_about(store, n, *workflow, *turn) else {
                    continue;
                };
                let about = format!("{action:?} on {workflow:?} and {turn:?}");
                let before = show(store, &of).unwrap().unwrap();
                let done = act(store, action, &of, &run, n);
                let after = show(store, &of).unwrap().unwrap();
                match is_refused(action, *workflow, *turn) {
                    false => done.unwrap_or_else(|error| panic!("{about}: {error}")),
                    true => {
                        let refused = matches!(done, Err(WriteError::Refused { .. }));
                        assert!(refused, "{about}: {done:?}");
                    }
                }
                let same =
                    is_refused(action, *workflow, *turn) || is_already(action, *workflow, *turn);
                if same {
                    assert_eq!(before, after, "{about}");
                } else if action != Action::Append {
                    assert_ne!(before, after, "{about}");
                }
                tried += 1;
            }
        }
    }
    tried
}

/// Reads all events of a workflow after a cursor, page by page.
pub(crate) fn read(store: &dyn Tables, of: &str, mut after: i64) -> Vec<WorkflowEvent> {
    let mut horizon = Horizon::default();
    horizon.advance(store).unwrap();
    let mut all = Vec::new();
    loop {
        let page = events(store, &horizon, of, after, 2).unwrap();
        after = page.cursor;
        all.extend(page.events);
        if !page.more {
            return all;
        }
    }
}

/// Tests the guarantees besides the life cycle: texts, contexts, waiting runs, pruning, lists, versions, errors.
pub(crate) fn promises(store: &mut dyn Tables) {
    texts_come_back(store);
    the_context_keeps_what_it_does_not_know(store);
    who_waits_is_answered(store);
    events_are_pruned_up_to_an_id_or_all(store);
    lists_and_names(store);
    a_version_that_moved_is_refused(store);
    errors_are_kept_when_a_workflow_is_resumed(store);
    each_change_is_told_once(store);
    a_checkpoint_stays_through_question_and_answer(store);
    a_run_is_worked_on_by_one_engine(store);
    events_of_many_runs_are_pruned(store);
}

fn texts_come_back(store: &mut dyn Tables) {
    let long = "x".repeat(1 << 20);
    let hostile = [
        "",
        "it's \"quoted\" `backticks` $(rm -rf /) ; DROP TABLE workflows; --",
        "back\\slash \\u0000 \\x00 %s {} \r\n\ttab",
        "\u{202e}right to left\u{7f}\u{1b}[31m <img src=x onerror=alert(1)>",
        "emoji 👩‍👩‍👧 ąć 中文 \u{10ffff}",
        &long,
    ];
    for (n, text) in (1000..).zip(hostile) {
        let begun = Start {
            input: text.to_owned(),
            owner: Some(text.to_owned()),
            ..start(n)
        };
        let begun = record(store, &begun, None, NOW).unwrap();
        let ask = Ask {
            run: begun.run_id.clone(),
            question: text.to_owned(),
            payload: None,
            owner: None,
        };
        record(store, &ask, None, NOW).unwrap();
        let append = Append {
            workflow: begun.workflow_id.clone(),
            notes: vec![NewEvent {
                kind: Some(Kind::Warning),
                text: text.to_owned(),
                payload: Some(
                    Json::parse(&serde_json::json!({ "text": text }).to_string()).unwrap(),
                ),
                run: Some(begun.run_id.clone()),
            }],
        };
        record(store, &append, None, NOW).unwrap();
        let view = show(store, &begun.workflow_id).unwrap().unwrap();
        assert_eq!(view.workflow.context.value()["tail"][0]["content"], text);
        let turn = &view.runs[0];
        assert_eq!(turn.user_input.as_deref(), Some(text));
        assert_eq!(turn.owner.as_deref(), Some(text));
        assert_eq!(turn.question().as_deref(), Some(text));
        let read = read(store, &begun.workflow_id, 0);
        let [asked, appended] = &read[..] else {
            panic!("{read:?}");
        };
        assert_eq!(asked.text, text);
        assert_eq!(appended.text, text);
        assert_eq!(appended.payload.as_ref().unwrap().value()["text"], text);
        assert_eq!(appended.created_at.as_ref().unwrap().millis(), Some(NOW));
    }
}

fn the_context_keeps_what_it_does_not_know(store: &mut dyn Tables) {
    let begun = record(store, &start(2000), None, NOW).unwrap();
    let big = "123456789012345678901234567890";
    let prefer = Prefer {
        workflow: begun.workflow_id.clone(),
        set: vec![("big".to_owned(), Json::parse(big).unwrap())],
        remove: Vec::new(),
    };
    record(store, &prefer, None, NOW).unwrap();
    let prefer = Prefer {
        workflow: begun.workflow_id.clone(),
        set: vec![("lang".to_owned(), Json::string("de"))],
        remove: Vec::new(),
    };
    let kept = record(store, &prefer, None, NOW).unwrap();
    assert!(
        !kept.already && kept.value.as_str().contains(big),
        "{}",
        kept.value
    );
    assert!(record(store, &prefer, None, NOW).unwrap().already);
    for text in ["one", "two"] {
        let step = ImportantStep {
            workflow: begun.workflow_id.clone(),
            text: text.to_owned(),
            ..ImportantStep::default()
        };
        record(store, &step, None, NOW).unwrap();
    }
    let finish = Finish {
        run: begun.run_id.clone(),
        output: output(),
        message: Some("answer".to_owned()),
        summary: Some("so far".to_owned()),
        tail: 0,
        owner: None,
    };
    assert_eq!(record(store, &finish, None, NOW).unwrap().seq, Some(2));
    for n in 0..3 {
        let next = Start {
            workflow: Some(begun.workflow_id.clone()),
            run: id(50_000 + n),
            tail: 2,
            ..start(2000)
        };
        let next = record(store, &next, None, NOW).unwrap();
        // The first two messages are in a summary, so only later ones count as dropped.
        assert_eq!(
            (next.seq, next.dropped),
            (i64::from(n) + 3, u32::from(n == 2))
        );
        let finish = Finish {
            run: next.run_id,
            output: output(),
            ..Finish::default()
        };
        record(store, &finish, None, NOW).unwrap();
    }
    let view = show(store, &begun.workflow_id).unwrap().unwrap().workflow;
    let context = view.context.value();
    assert_eq!(context["summary"], "so far");
    assert_eq!(context["tail"].as_array().unwrap().len(), 2);
    assert_eq!(context["meta"]["next_seq"], 6);
    assert_eq!(view.important_steps.value()["steps"][1]["text"], "two");
    assert!(view.preferences.as_str().contains(big));
}

fn who_waits_is_answered(store: &mut dyn Tables) {
    let begun = record(store, &start(3000), None, NOW).unwrap();
    let of = begun.workflow_id.clone();
    let ask = |run: &str| Ask {
        run: run.to_owned(),
        question: "q".to_owned(),
        payload: None,
        owner: None,
    };
    let input = |run: Option<&str>| Input {
        workflow: of.clone(),
        run: run.map(str::to_owned),
        text: "a".to_owned(),
        tail: 0,
    };
    let beside = |n: u32| Start {
        workflow: Some(of.clone()),
        run: id(n),
        parallel: true,
        no_clarifications: n == 60_003,
        ..start(3000)
    };
    record(store, &ask(&begun.run_id), None, NOW).unwrap();
    assert!(
        record(store, &ask(&begun.run_id), None, NOW)
            .unwrap()
            .already
    );
    record(store, &beside(60_001), None, NOW + 1).unwrap();
    record(store, &ask(&id(60_001)), None, NOW).unwrap();
    record(store, &beside(60_002), None, NOW + 2).unwrap();
    // The newest run is not waiting, but two other runs are.
    let rule = |done: Result<_, WriteError>| match done {
        Err(WriteError::Refused { rule, .. }) => rule,
        other => panic!("{other:?}"),
    };
    assert_eq!(rule(record(store, &input(None), None, NOW)), "several-wait");
    assert_eq!(
        record(store, &input(Some(&begun.run_id)), None, NOW)
            .unwrap()
            .run_id,
        begun.run_id
    );
    assert_eq!(
        record(store, &input(None), None, NOW).unwrap().run_id,
        id(60_001)
    );
    assert_eq!(
        rule(record(store, &input(None), None, NOW)),
        "nothing-waits"
    );
    record(store, &beside(60_003), None, NOW + 3).unwrap();
    assert_eq!(
        rule(record(store, &ask(&id(60_003)), None, NOW)),
        "no-clarifications"
    );
    let view = show(store, &of).unwrap().unwrap();
    assert_eq!(view.runs.len(), 4);
    assert_eq!(view.workflow.most_recent_run_id, Some(id(60_003)));
    assert!(view.runs.iter().all(|turn| turn.question().is_none()));
}

fn events_are_pruned_up_to_an_id_or_all(store: &mut dyn Tables) {
    let begun = record(store, &start(4000), None, NOW).unwrap();
    let of = begun.workflow_id.clone();
    let append = |n: u32, run: bool| Append {
        workflow: of.clone(),
        notes: (0..n)
            .map(|n| NewEvent {
                text: n.to_string(),
                run: run.then(|| begun.run_id.clone()),
                ..NewEvent::default()
            })
            .collect(),
    };
    let ids = record(store, &append(5, true), None, NOW).unwrap().ids;
    record(store, &append(2, false), None, NOW).unwrap();
    let all = read(store, &of, 0);
    assert_eq!(all.len(), 7);
    assert!(all.is_sorted_by(|a, b| a.id < b.id), "in order");
    assert_eq!(read(store, &of, ids[2]).len(), 4);
    let finish = Finish {
        run: begun.run_id.clone(),
        output: output(),
        ..Finish::default()
    };
    record(store, &finish, None, NOW).unwrap();
    let mut pruned = |up_to: Option<i64>, all: bool| {
        let command = Prune {
            workflow: of.clone(),
            up_to,
            all,
        };
        prune(store, &command).unwrap().removed
    };
    assert_eq!(pruned(Some(ids[1]), false), 2);
    // The end of the run is an event, too.
    assert_eq!(pruned(None, false), 4);
    assert_eq!(pruned(None, true), 2);
    let after = record(store, &append(1, false), None, NOW).unwrap().ids;
    assert!(after[0] > all[6].id, "an id is never used again");
    let cancel = Cancel {
        workflow: of.clone(),
        run: None,
    };
    record(store, &cancel, None, NOW).unwrap();
    assert!(record(store, &append(1, true), None, NOW).unwrap().late);
    let late = read(store, &of, after[0]);
    let [_cancelled, late] = &late[..] else {
        panic!("{late:?}");
    };
    assert_eq!(late.payload.as_ref().unwrap().value()["late"], true);
}

/// Checks that the events of more runs than fit into one SQL statement are pruned.
fn events_of_many_runs_are_pruned(store: &mut dyn Tables) {
    let first = start(5000);
    let of = record(store, &first, None, NOW).unwrap().workflow_id;
    let runs = (0..70).map(|n| id(70_000 + n));
    for run in runs {
        let next = Start {
            workflow: Some(of.clone()),
            run: run.clone(),
            parallel: true,
            ..start(5000)
        };
        record(store, &next, None, NOW).unwrap();
        let notes = vec![NewEvent {
            run: Some(run.clone()),
            text: "one".to_owned(),
            ..NewEvent::default()
        }];
        let append = Append {
            workflow: of.clone(),
            notes,
        };
        record(store, &append, None, NOW).unwrap();
        let finish = Finish {
            run,
            output: output(),
            ..Finish::default()
        };
        record(store, &finish, None, NOW).unwrap();
    }
    let ended = Prune {
        workflow: of,
        ..Prune::default()
    };
    assert_eq!(prune(store, &ended).unwrap().removed, 2 * 70);
}

fn lists_and_names(store: &mut dyn Tables) {
    let begun = record(store, &start(5000), None, NOW + 1_000_000).unwrap();
    let ask = Ask {
        run: begun.run_id.clone(),
        question: "Which?".to_owned(),
        payload: None,
        owner: None,
    };
    record(store, &ask, None, NOW + 1_000_000).unwrap();
    let newest = list(store, &WorkflowFilter::default()).unwrap();
    assert_eq!(newest.workflows[0].id, begun.workflow_id);
    assert_eq!(newest.workflows[0].question.as_deref(), Some("Which?"));
    assert!(newest.more && newest.workflows.len() == 50);
    let waiting = WorkflowFilter {
        waiting: true,
        limit: 1000,
        ..WorkflowFilter::default()
    };
    let waiting = list(store, &waiting).unwrap().workflows;
    assert!(
        waiting
            .iter()
            .all(|one| one.question.is_some() || one.run_status.is_some())
    );
    assert!(waiting.iter().any(|one| one.id == begun.workflow_id));
    let cancelled = WorkflowFilter {
        status: Some(WorkflowStatus::Cancelled),
        ..WorkflowFilter::default()
    };
    let cancelled = list(store, &cancelled).unwrap().workflows;
    assert!(!cancelled.is_empty());
    assert!(
        cancelled
            .iter()
            .all(|one| WorkflowStatus::parse(&one.status) == Some(WorkflowStatus::Cancelled))
    );

    assert_eq!(find_workflow(store, "latest").unwrap(), begun.workflow_id);
    assert_eq!(
        find_workflow(store, &id(10_000)).unwrap(),
        begun.workflow_id
    );
    assert!(matches!(
        find_workflow(store, "0199c0de"),
        Err(WriteError::Wrong { .. })
    ));
    for none in ["ffffffff", "zz", "' OR 1=1 --", "%", ""] {
        assert!(
            matches!(find_workflow(store, none), Err(WriteError::NotFound { .. })),
            "{none}"
        );
        assert!(
            matches!(find_run(store, none), Err(WriteError::NotFound { .. })),
            "{none}"
        );
    }
    let silent = stuck(store, 60_000, NOW + 120_000).unwrap();
    assert!(!silent.is_empty());
    assert!(silent.iter().all(|run| run.silent_ms.unwrap() >= 60_000));
}

fn a_version_that_moved_is_refused(store: &mut dyn Tables) {
    let begun = record(store, &start(6000), None, NOW).unwrap();
    let of = begun.workflow_id;
    let version = show(store, &of).unwrap().unwrap().workflow.version;
    record(store, &Move::Pause(of.clone()), version, NOW).unwrap();
    let again = record(store, &Move::Resume(of.clone()), version, NOW);
    assert!(
        matches!(
            again,
            Err(WriteError::Refused {
                rule: "version-moved",
                ..
            })
        ),
        "{again:?}"
    );
    assert!(show(store, &of).unwrap().unwrap().workflow.version > version);
}

fn errors_are_kept_when_a_workflow_is_resumed(store: &mut dyn Tables) {
    let begun = record(store, &start(7000), None, NOW).unwrap();
    let of = begun.workflow_id;
    record(
        store,
        &Move::Error(of.clone(), Json::of_message("gone")),
        None,
        NOW,
    )
    .unwrap();
    assert!(show(store, &of).unwrap().unwrap().workflow.error.is_some());
    record(store, &Move::Resume(of.clone()), None, NOW).unwrap();
    assert!(show(store, &of).unwrap().unwrap().workflow.error.is_none());
    let kept = read(store, &of, 0);
    assert_eq!(
        kept[1].payload.as_ref().unwrap().value()["error"]["message"],
        "gone"
    );
}

/// Returns a new workflow and its run.
fn begun(store: &mut dyn Tables, n: u32) -> (String, String) {
    let begun = record(store, &start(n), None, NOW).unwrap();
    (begun.workflow_id, begun.run_id)
}

fn question(run: &str, owner: Option<&str>) -> Ask {
    Ask {
        run: run.to_owned(),
        question: "Which?".to_owned(),
        payload: None,
        owner: owner.map(str::to_owned),
    }
}

fn answer(workflow: &str) -> Input {
    Input {
        workflow: workflow.to_owned(),
        text: "That".to_owned(),
        ..Input::default()
    }
}

/// A command that repeats the recorded state tells nothing.
fn each_change_is_told_once(store: &mut dyn Tables) {
    let (of, run) = begun(store, 8000);
    for _ in 0..2 {
        record(store, &question(&run, None), None, NOW).unwrap();
    }
    record(store, &answer(&of), None, NOW).unwrap();
    for _ in 0..2 {
        record(store, &Move::Pause(of.clone()), None, NOW).unwrap();
    }
    record(store, &Move::Resume(of.clone()), None, NOW).unwrap();
    for _ in 0..2 {
        let finish = Finish {
            run: run.clone(),
            output: output(),
            message: Some("That reef.".to_owned()),
            ..Finish::default()
        };
        record(store, &finish, None, NOW).unwrap();
    }
    let cancel = Cancel {
        workflow: of.clone(),
        run: None,
    };
    record(store, &cancel, None, NOW).unwrap();
    let told: Vec<String> = read(store, &of, 0)
        .iter()
        .map(|event| {
            let what = event.payload.as_ref().unwrap().value()["what"].clone();
            let of_run = event.run_id.is_some();
            format!("{} {what} {of_run} {}", event.kind, event.text)
        })
        .collect();
    assert_eq!(
        told,
        [
            "status \"ask\" true Which?",
            "status \"input\" true answered",
            "status \"pause\" false paused",
            "status \"resume\" false resumed",
            "final \"finish\" true That reef.",
            "status \"cancel\" false cancelled",
        ]
    );
}

fn a_checkpoint_stays_through_question_and_answer(store: &mut dyn Tables) {
    let (of, run) = begun(store, 8100);
    let set = |json: &str| SetState {
        run: run.clone(),
        state: Json::parse(json).unwrap(),
        owner: None,
    };
    let state = |store: &mut dyn Tables| {
        let view = show(store, &of).unwrap().unwrap();
        view.runs[0].state.value().clone()
    };
    record(store, &set("{\"phase\": 1}"), None, NOW).unwrap();
    assert!(
        record(store, &set("{\"phase\": 1}"), None, NOW)
            .unwrap()
            .already
    );
    record(store, &question(&run, None), None, NOW).unwrap();
    record(store, &set("{\"phase\": 2}"), None, NOW).unwrap();
    assert_eq!(state(store)["phase"], 2);
    assert_eq!(state(store)["pending_input"]["question"], "Which?");
    for wrong in ["{\"pending_input\": 1}", "[]"] {
        let refused = record(store, &set(wrong), None, NOW);
        assert!(
            matches!(refused, Err(WriteError::Wrong { .. })),
            "{refused:?}"
        );
    }
    record(store, &answer(&of), None, NOW).unwrap();
    assert_eq!(state(store), serde_json::json!({"phase": 2}));
}

fn a_run_is_worked_on_by_one_engine(store: &mut dyn Tables) {
    // Runs of other tests must not be claimed.
    let (of, first) = begun(store, 8200);
    let second = Start {
        workflow: Some(of.clone()),
        parallel: true,
        run: id(8299),
        ..start(8200)
    };
    let second = record(store, &second, None, NOW + 1).unwrap().run_id;
    let next = |store: &mut dyn Tables, owner: &str, now: i64| {
        let next = ClaimNext {
            workflow: Some(of.clone()),
            owner: owner.to_owned(),
            lease: 1_000,
            ..ClaimNext::default()
        };
        next.claim(store, now)
            .unwrap()
            .map(|claimed| claimed.run.id)
    };
    assert_eq!(next(store, "a", NOW + 2).as_deref(), Some(&*first));
    assert_eq!(next(store, "b", NOW + 2).as_deref(), Some(&*second));
    assert_eq!(next(store, "c", NOW + 2), None);
    let beat = |owner: &str| Heartbeat {
        run: first.clone(),
        owner: Some(owner.to_owned()),
        lease: 1_000,
    };
    let is_refused = |done: Result<TurnResult, WriteError>| {
        assert!(
            matches!(
                done,
                Err(WriteError::Refused {
                    rule: "not-yours",
                    ..
                })
            ),
            "{done:?}"
        );
    };
    // What is not an engine's is refused to it, and to whoever gives no name.
    is_refused(record(store, &beat("b"), None, NOW + 3));
    is_refused(record(store, &question(&first, None), None, NOW + 3));
    let finish = |owner: Option<&str>| Finish {
        run: first.clone(),
        output: output(),
        owner: owner.map(str::to_owned),
        ..Finish::default()
    };
    is_refused(record(store, &finish(Some("b")), None, NOW + 3));
    // A heartbeat extends the lease; without one, another engine takes over.
    let told = record(store, &beat("a"), None, NOW + 900).unwrap();
    assert_eq!(told.workflow_status, "active");
    assert_eq!(next(store, "c", NOW + 1_100).as_deref(), Some(&*second));
    assert_eq!(next(store, "d", NOW + 1_901).as_deref(), Some(&*first));
    is_refused(record(store, &finish(Some("a")), None, NOW + 1_902));
    // A run that waits is nobody's; after the answer, any engine claims it.
    record(store, &question(&first, Some("d")), None, NOW + 1_903).unwrap();
    assert_eq!(next(store, "e", NOW + 1_904), None);
    let input = Input {
        run: Some(first.clone()),
        ..answer(&of)
    };
    record(store, &input, None, NOW + 1_905).unwrap();
    record(store, &Move::Pause(of.clone()), None, NOW + 1_906).unwrap();
    assert_eq!(next(store, "e", NOW + 1_907), None);
    record(store, &Move::Resume(of.clone()), None, NOW + 1_908).unwrap();
    assert_eq!(next(store, "e", NOW + 1_909).as_deref(), Some(&*first));
    record(store, &finish(Some("e")), None, NOW + 1_910).unwrap();
}
