//! Tests of faults that only a folder can have.

use std::fs;

use prosescope_core::model::GateStatus;
use prosescope_core::record::{AuditRow, Change, GateResolution, GateRow, RunChange, WriteError};
use prosescope_core::trace::NodeStatus;
use prosescope_store::{FolderStore, init_folder};

use crate::{Form, PROGRAM, Recorded, open, told};

pub(crate) fn begun(script: &str) -> Recorded {
    let mut run = Recorded::new(Form::Folder, PROGRAM);
    for line in script.lines().map(str::trim) {
        run.step(line).unwrap();
    }
    run
}

#[test]
fn a_folder_is_made_whole_or_not_at_all() {
    let run = Recorded::new(Form::Folder, PROGRAM);
    assert_eq!(
        told::walk(&run.dir),
        ["program.prose", "state.md", "x_events.jsonl"]
    );
    let state = fs::read_to_string(run.dir.join("state.md")).unwrap();
    assert!(state.contains("\nstatus: running\n"), "{state}");
    let beside: Vec<_> = fs::read_dir(run.dir.parent().unwrap()).unwrap().collect();
    assert_eq!(beside.len(), 1);
    let again = init_folder(&run.dir, "other", "p", "", "2026-01-15T14:30:52Z");
    assert!(again.unwrap_err().to_string().contains("is there already"));
    let nested = run.dir.join("imports/r--research");
    init_folder(
        &nested,
        "r--research",
        "research.prose",
        "session \"R\"\n",
        "2026-01-15T14:30:52Z",
    )
    .unwrap();
    assert_eq!(FolderStore::open(&nested).unwrap().run_id(), "r--research");
}

#[test]
fn a_torn_last_line_is_kept_aside_and_a_whole_one_in_its_place() {
    let mut run = begun("begin 7\nput research in 1: x\nend 1");
    let log = run.dir.join("x_events.jsonl");
    let whole = fs::read_to_string(&log).unwrap();
    fs::write(&log, format!("{whole}{{\"id\":3,\"statement_te")).unwrap();
    run.step("begin 10").unwrap();
    let rows = run.session().run().executions.len();
    assert_eq!(rows, 3);
    told::agrees(&run.session(), "begin");
    let torn = fs::read_to_string(run.dir.join("x_history/events/1.md")).unwrap();
    assert_eq!(torn, "{\"id\":3,\"statement_te");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.trim_end()).unwrap();
    run.step("put plan in 3: x").unwrap();
    run.step("end 3").unwrap();
    assert_eq!(run.session().run().executions.len(), 4);
}

#[test]
fn a_checkpoint_is_no_more_than_a_cache() {
    let script = "begin 24\nbegin 21 in 1\nput result in 2: one\nend 2\nbegin 22 in 1";
    let plain = begun(script);
    for spoiled in [None, Some("{}"), Some("\u{0}\u{0}")] {
        let mut run = Recorded::new(Form::Folder, PROGRAM);
        for line in script.lines() {
            let path = run.dir.join("x_checkpoint.jsonl");
            match spoiled {
                None => drop(fs::remove_file(path)),
                Some(text) => fs::write(path, text).unwrap(),
            }
            run.step(line).unwrap();
            told::agrees(&run.session(), line);
        }
        let state = |run: &Recorded| fs::read_to_string(run.dir.join("state.md")).unwrap();
        assert_eq!(state(&run), state(&plain));
    }
}

#[test]
fn a_state_file_that_is_lost_or_damaged_is_told_anew() {
    let mut run = begun("begin 7\nput research in 1: three sources");
    fs::remove_file(run.dir.join("state.md")).unwrap();
    run.step("end 1").unwrap();
    told::agrees(&run.session(), "complete");
    assert_eq!(&*run.session().run().id, crate::RUN);
    fs::write(run.dir.join("state.md"), "{\"sops\": {}}").unwrap();
    run.step("begin 10").unwrap();
    told::agrees(&run.session(), "begin");
    let kept = fs::read_to_string(run.dir.join("x_history/state/1.md")).unwrap();
    assert_eq!(kept, "{\"sops\": {}}");
}

/// A hand-written trace becomes the first events when another statement runs. Until then the state file stays
/// unchanged.
#[test]
fn what_others_tell_is_not_written_over() {
    let aside = tempfile::tempdir().unwrap();
    let told = "# Execution State\n\nrun: by-hand\nstatus: running\n\n## Execution Trace\n\n```prose\nlet research = session: captain   # (complete)\n```\n\n## Index\n";
    fs::write(aside.path().join("state.md"), told).unwrap();
    fs::write(aside.path().join("program.prose"), PROGRAM).unwrap();
    let mut store = open(Form::Folder, aside.path());
    let at = prosescope_core::record::At::default();
    let mut run = |line: &str| crate::script::run(store.as_mut(), line, &at);
    let state = || fs::read_to_string(aside.path().join("state.md")).unwrap();
    run("put plan: a value").unwrap();
    run("finish interrupted").unwrap();
    let rested = state();
    assert!(
        rested.contains("status: interrupted") && rested.contains("# (complete)"),
        "{rested}"
    );
    assert!(!aside.path().join("x_events.jsonl").exists());
    run("reopen").unwrap();
    let by_hand = state();
    run("begin 26").unwrap();
    let kept = fs::read_to_string(aside.path().join("x_history/state/1.md")).unwrap();
    assert_eq!(kept, by_hand);
    let read = crate::session(aside.path());
    let ran: Vec<_> = read
        .trace()
        .nodes
        .iter()
        .map(|node| (node.line, node.status.clone()))
        .collect();
    assert_eq!(
        ran,
        [
            (Some(7), NodeStatus::Completed),
            (Some(10), NodeStatus::Completed),
            (Some(26), NodeStatus::Executing)
        ]
    );
}

pub(crate) fn decided(run: &Recorded) -> Vec<Change> {
    let at = "2026-01-15T15:00:00Z".to_owned();
    vec![
        Change::Audit(AuditRow {
            id: 1,
            gate_id: "deploy".into(),
            run_id: crate::RUN.into(),
            event: "approved".into(),
            principal: "me".into(),
            comment: None,
            at: at.clone(),
            metadata: "{}".into(),
        }),
        Change::ResolveGate(GateResolution {
            id: "deploy".into(),
            run_id: run.dir.file_name().unwrap().to_string_lossy().into_owned(),
            status: "approved".into(),
            at: at.clone(),
            by: "me".into(),
            ..GateResolution::default()
        }),
        Change::Run(RunChange {
            status: None,
            updated: at,
        }),
    ]
}

pub(crate) fn write(run: &mut Recorded, changes: &[Change]) -> Result<(), WriteError> {
    run.store.transact(&mut |_| Ok(changes.to_vec()))
}

pub(crate) fn with_a_gate() -> Recorded {
    let mut run = begun("begin 7\nput research in 1: three sources");
    let gate = Change::Gate(GateRow {
        id: "deploy".into(),
        run_id: crate::RUN.into(),
        allow: "[\"user\"]".into(),
        created: "2026-01-15T14:40:00Z".into(),
        ..GateRow::default()
    });
    write(&mut run, &[gate]).unwrap();
    run
}

#[test]
fn a_gate_and_its_audit_row_are_written_together() {
    let mut run = with_a_gate();
    let changes = decided(&run);
    write(&mut run, &changes).unwrap();
    let read = run.session();
    assert_eq!(read.run().gates[0].status, GateStatus::Approved);
    assert_eq!(read.run().audit.len(), 1);
    assert!(!run.dir.join("x_journal.json").exists());
    told::agrees(&read, "approve");
}

/// The next writer completes the journal of a killed writer, and does so only once.
#[test]
fn a_journal_is_brought_to_its_end() {
    for done in 0..3 {
        let mut run = with_a_gate();
        let line = "{\"id\":1,\"gate_id\":\"deploy\",\"event_type\":\"approved\"}\n";
        let resolved = "{\"gate_id\":\"deploy\",\"decision\":\"approved\"}\n";
        let journal = serde_json::json!([
            {"Append": {"path": "gates/audit.jsonl", "at": 0, "text": line}},
            {"Write": {"path": "gates/deploy.resolved.json", "text": resolved, "keep": null}},
        ]);
        fs::write(run.dir.join("x_journal.json"), journal.to_string()).unwrap();
        // `done` is the number of operations that the killed writer had completed.
        if done > 0 {
            fs::write(run.dir.join("gates/audit.jsonl"), line.get(..30).unwrap()).unwrap();
        }
        if done > 1 {
            fs::write(run.dir.join("gates/audit.jsonl"), line).unwrap();
            fs::write(run.dir.join("gates/deploy.resolved.json"), resolved).unwrap();
        }
        run.step("end 1").unwrap();
        let read = run.session();
        assert_eq!(read.run().gates[0].status, GateStatus::Approved);
        assert_eq!(read.run().audit.len(), 1);
        assert!(!run.dir.join("x_journal.json").exists());
        told::agrees(&read, "complete");
    }
}

#[test]
fn a_journal_of_somebody_else_leads_nowhere() {
    let mut run = begun("begin 7");
    for path in [
        "../out.md",
        "/tmp/out.md",
        "program.prose",
        "gates/../../out.md",
        "gates\\out",
    ] {
        let journal = serde_json::json!([{"Write": {"path": path, "text": "x", "keep": null}}]);
        fs::write(run.dir.join("x_journal.json"), journal.to_string()).unwrap();
        let before = told::bytes(run.dir.parent().unwrap());
        assert!(
            run.step("end 1").unwrap_err().starts_with("fault: "),
            "{path}"
        );
        assert!(before == told::bytes(run.dir.parent().unwrap()), "{path}");
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    let mut run = begun("begin 7");
    let outside = tempfile::tempdir().unwrap();
    fs::remove_dir_all(run.dir.join("bindings")).unwrap();
    std::os::unix::fs::symlink(outside.path(), run.dir.join("bindings")).unwrap();
    assert!(run.step("put x: one").unwrap_err().starts_with("fault: "));
    let log = run.dir.join("x_events.jsonl");
    fs::rename(&log, outside.path().join("log")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("log"), &log).unwrap();
    let before = fs::read(outside.path().join("log")).unwrap();
    assert!(run.step("begin 10").is_err());
    assert_eq!(fs::read(outside.path().join("log")).unwrap(), before);
    assert_eq!(told::walk(outside.path()), ["log"]);
}

#[test]
fn earlier_values_are_found_again() {
    let run = begun(
        "begin 7\nput x: one\nput x: two\nput x: three\nmemory captain: a\nmemory captain: b",
    );
    let text = |path: &str| fs::read_to_string(run.dir.join(path)).unwrap();
    assert!(text("x_history/bindings/x/1.md").ends_with("\n---\n\none"));
    assert!(text("x_history/bindings/x/2.md").ends_with("\n---\n\ntwo"));
    assert_eq!(text("x_history/agents/captain/1.md"), "a");
    let session = run.session();
    let versions = prosescope_core::read::decode::folder::binding_versions(
        session.source().as_ref(),
        "",
        "x",
        None,
    );
    assert_eq!(versions.len(), 2);
    assert_eq!(versions[0].replaced, versions[1].updated);
}
