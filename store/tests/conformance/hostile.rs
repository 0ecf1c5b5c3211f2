//! A run folder from anywhere: nothing that lies in it leads a writer out of it.

use std::fs;
use std::os::unix::fs::symlink;

use prosescope_core::model::GateStatus;
use prosescope_core::write::{Change, ExpireGates, GateResolution, record};

use crate::folder::{begun, with_a_gate, write};
use crate::{Recorded, told};

/// A gate that is long overdue, by the name that it gives itself.
fn calls_itself(run: &Recorded, file: &str, id: &str) {
    let gate = serde_json::json!({
        "id": id, "status": "pending", "allow": "[\"me\"]", "prompt": "go?",
        "created_at": "2020-01-15T14:40:00Z", "timeout_at": "2020-01-15T14:50:00Z",
    });
    fs::create_dir_all(run.dir.join("gates")).unwrap();
    fs::write(run.dir.join("gates").join(file), gate.to_string()).unwrap();
}

#[test]
fn a_gate_is_what_its_file_is_called() {
    for id in ["../../out/pwn", "/tmp/pwn", "prod", "a/b", ""] {
        let mut run = begun("begin 7");
        calls_itself(&run, "deploy.pending.json", id);
        calls_itself(&run, "mine.pending.json", "mine");
        let at = run.at();
        let done = record(run.store.as_mut(), &ExpireGates, &at).unwrap();
        assert_eq!(done.gates.len(), 1, "{id}");
        let mut files = told::walk(run.dir.parent().unwrap());
        files.retain(|file| file.ends_with(".resolved.json"));
        assert_eq!(files, [format!("{}/gates/mine.resolved.json", crate::RUN)]);
        let read = |run: &mut Recorded, id: &str| {
            let mut found = None;
            let asked = run.store.transact(&mut |facts| {
                found = facts.gate(id)?;
                Ok(Vec::new())
            });
            asked.map(|()| found)
        };
        let refused = read(&mut run, "deploy").unwrap_err().to_string();
        assert!(refused.contains("gate deploy calls itself"), "{refused}");
        let mine = read(&mut run, "mine").unwrap().unwrap();
        assert_eq!(mine.status, GateStatus::Timeout);
        assert!(read(&mut run, "../gates/mine").unwrap().is_none());
    }
}

/// Whatever a command wants to write, it is a file of the run.
#[test]
fn no_change_is_written_elsewhere() {
    let mut run = with_a_gate();
    let before = told::bytes(run.dir.parent().unwrap());
    for id in ["../../out", "/tmp/out", "a/../../../out", "a\\b", ".."] {
        let gate = Change::ResolveGate(GateResolution {
            id: id.into(),
            ..GateResolution::default()
        });
        assert!(write(&mut run, &[gate]).is_err(), "{id}");
        assert!(before == told::bytes(run.dir.parent().unwrap()), "{id}");
    }
}

#[test]
fn a_journal_takes_nothing_in_and_leads_nowhere() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("key"), "secret\n").unwrap();
    let write = |path: &str, keep: Option<&str>| serde_json::json!({"Write": {"path": path, "text": "x", "keep": keep}});
    let append = |path: &str| serde_json::json!({"Append": {"path": path, "at": 0, "text": "x"}});
    for op in [
        write("bindings/key", Some("x_events.jsonl")),
        write("bindings/key", Some("x_history/key.md")),
        write("bindings/key", None),
        write("state.md", Some("bindings/key")),
        append("bindings/key"),
        append("gates/audit.jsonl"),
    ] {
        let mut run = with_a_gate();
        fs::remove_dir_all(run.dir.join("bindings")).unwrap();
        symlink(outside.path(), run.dir.join("bindings")).unwrap();
        symlink(
            outside.path().join("key"),
            run.dir.join("gates/audit.jsonl"),
        )
        .unwrap();
        let journal = serde_json::json!([op]).to_string();
        fs::write(run.dir.join("x_journal.json"), journal).unwrap();
        let before = told::bytes(&run.dir);
        let refused = run.step("complete 1").unwrap_err();
        assert!(refused.starts_with("fault: "), "{op}: {refused}");
        assert!(before == told::bytes(&run.dir), "{op}");
        let key = fs::read_to_string(outside.path().join("key")).unwrap();
        assert_eq!(
            (key.as_str(), told::walk(outside.path()).len()),
            ("secret\n", 1),
            "{op}"
        );
    }
}
