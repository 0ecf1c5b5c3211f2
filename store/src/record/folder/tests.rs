use prosescope_core::model::AgentScope;
use prosescope_core::program;
use prosescope_core::write::{
    At, Begin, Close, Facts, Fault, How, Put, Record, Remember, Reopen, StatementRef, WriteError,
    record,
};

use super::facts::FolderFacts;
use super::{FolderStore, init_folder};
use crate::dir::Dir;

const NOW: &str = "2026-01-15T14:30:52Z";

fn at() -> At {
    At {
        now: 1_768_487_452_000,
        ..At::default()
    }
}

fn run() -> (tempfile::TempDir, FolderStore) {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("r");
    init_folder(&run, "r", "p.prose", "session \"A\"\n", NOW).unwrap();
    let store = FolderStore::open(&run).unwrap();
    (dir, store)
}

fn begin(text: &str) -> Begin {
    Begin {
        statement: StatementRef {
            text: Some(text.to_owned()),
            line: None,
        },
        ..Begin::default()
    }
}

/// Records statements that are not in the program, until the log is long and its last row is not current.
fn long_run(store: &mut FolderStore) -> i64 {
    let much = "x".repeat(1500);
    for n in 0..2000 {
        let statement = begin(&format!("session \"Chunk {n} {much}\""));
        let begun = record(store, &statement, &at()).unwrap();
        let how = How::Completed { binding: None };
        record(store, &Close::new(begun.id, how), &at()).unwrap();
        let scope = AgentScope::Execution;
        let facts = FolderFacts::new(&store.dir, &scope);
        let log = facts.log().unwrap();
        if log.bytes > 80 << 10 && log.row(log.last).is_none() {
            return log.last;
        }
    }
    panic!("the checkpoint never reached the end");
}

/// Calls `ask` with the facts of a run; returns whether `ask` read the whole log.
fn reads_the_whole(dir: &Dir, ask: impl FnOnce(&FolderFacts<'_>)) -> bool {
    let scope = AgentScope::Execution;
    let facts = FolderFacts::new(dir, &scope);
    ask(&facts);
    facts.log().unwrap().is_read_whole()
}

#[test]
fn going_on_reads_the_end_of_the_log_alone() {
    let (_dir, mut store) = run();
    let last = long_run(&mut store);
    let dir = store.dir.clone();
    let whole = reads_the_whole(&dir, |facts| {
        Reopen.plan(facts, &at()).unwrap();
    });
    assert!(!whole, "resume --begin");
    let whole = reads_the_whole(&dir, |facts| {
        begin("session \"Another\"").plan(facts, &at()).unwrap();
    });
    assert!(!whole, "exec begin");
    let mut seen = Vec::new();
    let whole = reads_the_whole(&dir, |facts| {
        facts
            .newest(&mut |row| {
                seen.push(row.id);
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
    });
    // A request for all rows returns each row once.
    assert!(whole);
    assert_eq!(seen, (1..=last).rev().collect::<Vec<_>>());
}

#[test]
fn a_program_has_a_limit() {
    let (_dir, store) = run();
    let most = program::MOST_BYTES as u64;
    for (len, there) in [(most, true), (most + 1, false)] {
        // The file is sparse: only its length is on disk.
        let file = std::fs::File::create(store.dir().join("program.prose")).unwrap();
        file.set_len(len).unwrap();
        let scope = AgentScope::Execution;
        let facts = FolderFacts::new(&store.dir, &scope);
        assert_eq!(facts.program().unwrap().is_some(), there, "{len}");
    }
}

#[test]
fn a_state_file_has_a_limit_that_its_error_says() {
    let (_dir, store) = run();
    let file = std::fs::File::create(store.dir().join("state.md")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    let scope = AgentScope::Execution;
    let facts = FolderFacts::new(&store.dir, &scope);
    let said = facts.run().unwrap_err().to_string();
    assert!(said.contains("at most 64 MB are read"), "{said}");
}

/// `gates expire` needs the rows of each due gate; the log is read for the first gate only.
#[test]
fn the_audit_log_is_read_once_for_all_gates() {
    let (_dir, store) = run();
    let row = |id: u32, gate: &str| {
        let run = FolderFacts::new(&store.dir, &AgentScope::Execution)
            .id()
            .unwrap();
        format!(
            "{{\"id\":{id},\"gate_id\":\"{gate}\",\"run_id\":\"{run}\",\"event_type\":\"created\"}}\n"
        )
    };
    let gates = store.dir().join("gates");
    std::fs::create_dir_all(&gates).unwrap();
    let log = gates.join("audit.jsonl");
    std::fs::write(&log, row(1, "a") + &row(2, "b")).unwrap();
    let scope = AgentScope::Execution;
    let facts = FolderFacts::new(&store.dir, &scope);
    let ids = |gate: &str| -> Vec<i64> {
        let events = facts.gate_events(gate).unwrap();
        events.iter().map(|event| event.id).collect()
    };
    assert_eq!(ids("a"), [1]);
    std::fs::remove_file(&log).unwrap();
    assert_eq!((ids("b"), ids("c")), (vec![2], vec![]));
}

/// The numbering of `anon_…` continues past 999; names with more than nine digits come from other tools and are
/// skipped.
#[test]
fn anonymous_names_are_counted() {
    for (there, next) in [
        (&["anon_999"][..], Some("anon_1000")),
        (&["anon_007", "anon_12x", "anonymous_50"], Some("anon_008")),
        (&["anon_1234567890"], Some("anon_001")),
        (&["anon_999999998"], Some("anon_999999999")),
        (&["anon_999999999"], None),
    ] {
        let (_dir, mut store) = run();
        let put = |name: Option<&str>| Put {
            name: name.map(str::to_owned),
            ..Put::default()
        };
        for name in there {
            record(&mut store, &put(Some(name)), &at()).unwrap();
        }
        match (record(&mut store, &put(None), &at()), next) {
            (Ok(written), Some(next)) => {
                assert_eq!((written.name.as_str(), written.replaced), (next, false));
            }
            (Err(WriteError::Refused { rule, .. }), None) => assert_eq!(rule, "anonymous-used-up"),
            (other, _) => panic!("{there:?}: {other:?}"),
        }
    }
}

/// If a folder of the run is a link, its target is neither read as part of the run nor written to.
#[cfg(unix)]
#[test]
fn what_lies_behind_a_linked_folder_is_not_of_the_run() {
    type Ask = fn(&FolderFacts<'_>) -> Result<bool, Fault>;
    let asks: [(&str, &str, Ask); 6] = [
        ("gates", "ship.pending.json", |facts| {
            Ok(facts.gate("ship")?.is_some())
        }),
        ("gates", "ship.pending.json", |facts| {
            Ok(!facts.gates()?.is_empty())
        }),
        ("gates", "audit.jsonl", |facts| {
            Ok(facts.audit_tail()?.next > 1)
        }),
        ("bindings", "a.md", |facts| {
            Ok(facts.binding("a", None)?.is_some())
        }),
        ("bindings", "A.md", |facts| {
            Ok(facts.binding_by_case("a", None)?.is_some())
        }),
        ("agents", "captain/memory.md", |facts| {
            Ok(facts.agent("captain")?.is_some())
        }),
    ];
    for (folder, file, ask) in asks {
        let outside = tempfile::tempdir().unwrap();
        let path = outside.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = match file {
            "ship.pending.json" => r#"{"id": "ship", "status": "pending"}"#,
            "audit.jsonl" => {
                r#"{"id": 7, "gate_id": "ship", "run_id": "r", "event_type": "created"}"#
            }
            _ => "# a\n\nkind: let\n\n---\n\nx\n",
        };
        std::fs::write(&path, format!("{text}\n")).unwrap();
        let (_dir, mut store) = run();
        let own = store.dir().join(folder);
        let _ = std::fs::remove_dir(&own);
        std::os::unix::fs::symlink(outside.path(), &own).unwrap();
        let scope = AgentScope::Execution;
        match ask(&FolderFacts::new(&store.dir, &scope)) {
            Ok(found) => assert!(!found, "{folder}/{file}"),
            Err(fault) => assert!(fault.message.contains("is not a folder"), "{fault}"),
        }
        let put = Put {
            name: Some("b".to_owned()),
            ..Put::default()
        };
        let remember = Remember {
            agent: "captain".to_owned(),
            scope: AgentScope::Execution,
            memory: "mine".to_owned(),
        };
        // If `gates` is a link, a missing audit log cannot be detected, so recording is refused.
        assert_eq!(
            record(&mut store, &put, &at()).is_err(),
            matches!(folder, "bindings" | "gates")
        );
        assert_eq!(
            record(&mut store, &remember, &at()).is_err(),
            matches!(folder, "agents" | "gates")
        );
        let there = std::fs::read_dir(outside.path()).unwrap().count();
        assert_eq!(there, 1, "{folder}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{text}\n"));
    }
}
