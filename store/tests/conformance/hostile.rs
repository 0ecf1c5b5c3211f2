//! Tests of hostile run folders: no entry of a folder leads a writer out of it.

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use prosescope_core::model::GateStatus;
use prosescope_core::record::{
    At, Change, Decision, ExpireGates, GateResolution, ImportRow, NestedRun, ResolveGate, RunStore,
    WriteError, record,
};

use prosescope_store::FolderStore;

use crate::folder::{begun, decided, with_a_gate, write};
use crate::{Form, PROGRAM, Recorded, make, open, script, told};

/// Creates an overdue gate with an id that differs from its file name.
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
        let resolved = |run: &Recorded| {
            let mut files = told::walk(run.dir.parent().unwrap());
            files.retain(|file| file.ends_with(".resolved.json"));
            files
        };
        let refused = record(run.store.as_mut(), &ExpireGates::default(), &at).unwrap_err();
        let refused = refused.to_string();
        assert!(
            refused.contains("the file of gate deploy contains the id"),
            "{refused}"
        );
        assert_eq!(resolved(&run), [] as [String; 0]);
        let approve = |run: &mut Recorded, id: &str| {
            let decision = ResolveGate {
                gate: id.to_owned(),
                decision: Decision::Approve { comment: None },
                by: "alice".to_owned(),
                on_behalf_of: None,
                record_timeout: false,
                overrides: false,
            };
            record(run.store.as_mut(), &decision, &at).unwrap_err()
        };
        let refused = approve(&mut run, "deploy").to_string();
        assert!(
            refused.contains("the file of gate deploy contains the id"),
            "{refused}"
        );
        fs::remove_file(run.dir.join("gates/deploy.pending.json")).unwrap();
        let done = record(run.store.as_mut(), &ExpireGates::default(), &at).unwrap();
        assert_eq!(done.len(), 1, "{id}");
        let own = format!("{}/gates/mine.resolved.json", crate::RUN);
        assert_eq!(resolved(&run), [own]);
        let mine = run.session().run().gates[0].clone();
        assert_eq!((&*mine.id, mine.status), ("mine", GateStatus::Timeout));
        let other = approve(&mut run, "../gates/mine");
        assert!(matches!(other, WriteError::NotFound { .. }), "{other}");
    }
}

/// Every file that a command writes is inside the run.
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
        let refused = run.step("end 1").unwrap_err();
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

/// A link in place of the lock file would create a file outside the run; a pipe would block the writer.
#[test]
fn a_lock_is_a_plain_file() {
    let outside = tempfile::tempdir().unwrap();
    let mut run = begun("begin 7\nput research in 1: three sources");
    let lock = run.dir.join(".lock");
    let refused = |run: &mut Recorded| {
        let said = run.step("end 1").unwrap_err();
        assert!(said.contains("is not a plain file"), "{said}");
        fs::remove_file(&lock).unwrap();
    };
    fs::remove_file(&lock).unwrap();
    symlink(outside.path().join("made"), &lock).unwrap();
    refused(&mut run);
    assert!(told::walk(outside.path()).is_empty());
    let made = Command::new("mkfifo").arg(&lock).status();
    if made.is_ok_and(|status| status.success()) {
        refused(&mut run);
    }
    run.step("end 1").unwrap();
}

#[test]
fn a_nested_run_is_made_inside() {
    let outside = tempfile::tempdir().unwrap();
    let run = begun("begin 7");
    let mut store = FolderStore::open(&run.dir).unwrap();
    let mut nest = |place: &str| {
        let nested = NestedRun {
            place: place.to_owned(),
            name: "r.prose".to_owned(),
            program: String::new(),
        };
        let row = ImportRow {
            alias: "r".to_owned(),
            nested: Some(nested),
            ..ImportRow::default()
        };
        store.transact(&mut |_| Ok(vec![Change::Import(row.clone())]))
    };
    assert!(nest("imports/../../out").is_err());
    symlink(outside.path(), run.dir.join("imports")).unwrap();
    let said = nest("imports/r--r").unwrap_err().to_string();
    assert!(
        said.contains("is not a folder, but a link or a file"),
        "{said}"
    );
    fs::remove_file(run.dir.join("imports")).unwrap();
    nest("imports/r--r").unwrap();
    // The nested run exists already, so the import succeeds.
    nest("imports/r--r").unwrap();
    symlink(outside.path(), run.dir.join("imports/s--s")).unwrap();
    assert!(nest("imports/s--s").is_err());
    assert!(told::walk(outside.path()).is_empty());
}

/// The user's umask decides who may read a run.
#[test]
fn a_run_is_as_private_as_its_maker_wants() {
    if let Ok(dir) = env::var("PROSE_UMASK_DIR") {
        let dir = Path::new(&dir).join("run");
        make(Form::Folder, &dir, PROGRAM);
        let at = At::default();
        let mut store = open(Form::Folder, &dir);
        script::run(store.as_mut(), "begin 7", &at).unwrap();
        script::run(store.as_mut(), "put x large: ", &at).unwrap();
        return;
    }
    for (umask, others) in [("077", 0), ("022", 0o044)] {
        let aside = tempfile::tempdir().unwrap();
        let name = "hostile::a_run_is_as_private_as_its_maker_wants";
        let done = Command::new("sh")
            .args(["-c", "umask $1; exec \"$2\" --exact \"$3\"", "sh", umask])
            .arg(env::current_exe().unwrap())
            .arg(name)
            .env("PROSE_UMASK_DIR", aside.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        for at in walkdir::WalkDir::new(aside.path().join("run")) {
            let at = at.unwrap();
            let mode = at.metadata().unwrap().permissions().mode();
            assert_eq!(
                mode & 0o066,
                others,
                "{umask} {}: {mode:o}",
                at.path().display()
            );
        }
    }
}

/// A log restored from a copy may have the length that the checkpoint records, and still be another log.
#[test]
fn a_checkpoint_of_another_log_is_not_believed() {
    let mut run = begun("begin 7\nfail 1 one");
    let other = begun("begin 10\nfail 1 two\nbegin 7 force\nfail 3 three");
    let log = |run: &Recorded| run.dir.join("x_events.jsonl");
    assert!(run.dir.join("x_checkpoint.jsonl").exists());
    fs::copy(log(&other), log(&run)).unwrap();
    run.step("begin 26 force").unwrap();
    told::agrees(&run.session(), "begin");
}

#[test]
fn an_id_at_the_end_of_all_numbers_is_said() {
    let mut run = begun("begin 7");
    let log = run.dir.join("x_events.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(
        &log,
        text.replace("\"id\":1,", &format!("\"id\":{},", i64::MAX)),
    )
    .unwrap();
    let before = fs::read(&log).unwrap();
    let said = run.step("begin 10 force").unwrap_err();
    assert!(said.contains("so no row can be added"), "{said}");
    assert_eq!(fs::read(&log).unwrap(), before);
}

/// A change that was undone must not reappear.
#[test]
fn an_undone_transaction_leaves_no_journal() {
    let mut run = with_a_gate();
    let before = told::bytes(&run.dir);
    let file = run.dir.join("gates/deploy.resolved.json");
    fs::create_dir_all(file.join("in the way")).unwrap();
    let changes = decided(&run);
    assert!(write(&mut run, &changes).is_err());
    fs::remove_dir_all(&file).unwrap();
    assert!(before == told::bytes(&run.dir));
    run.step("end 1").unwrap();
    assert_eq!(run.session().run().gates[0].status, GateStatus::Pending);
}
