use std::path::Path;

use prosescope_core::model::AgentScope;
use prosescope_core::write::{At, Begin, Close, Facts, How, Named, Record, Reopen, record};

use super::facts::FolderFacts;
use super::{FolderStore, init_folder};

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
        statement: Named {
            text: Some(text.to_owned()),
            line: None,
        },
        ..Begin::default()
    }
}

/// Records statements that no line of the program is, until the log is long and its last row is none of the present.
fn long_run(store: &mut FolderStore) -> i64 {
    let much = "x".repeat(1500);
    for n in 0..2000 {
        let statement = begin(&format!("session \"Chunk {n} {much}\""));
        let begun = record(store, &statement, &at()).unwrap();
        let how = How::Completed { binding: None };
        record(store, &Close { id: begun.id, how }, &at()).unwrap();
        let scope = AgentScope::Execution;
        let facts = FolderFacts::new(store.dir(), &scope);
        let log = facts.log().unwrap();
        if log.bytes > 80 << 10 && log.row(log.last).is_none() {
            return log.last;
        }
    }
    panic!("the checkpoint never reached the end");
}

/// Asks, and says whether the whole log was read for it.
fn reads_the_whole(dir: &Path, ask: impl FnOnce(&FolderFacts<'_>)) -> bool {
    let scope = AgentScope::Execution;
    let facts = FolderFacts::new(dir, &scope);
    ask(&facts);
    facts.log().unwrap().is_read_whole()
}

#[test]
fn going_on_reads_the_end_of_the_log_alone() {
    let (_dir, mut store) = run();
    let last = long_run(&mut store);
    let dir = store.dir().to_owned();
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
    // Who wants all of them gets each once.
    assert!(whole);
    assert_eq!(seen, (1..=last).rev().collect::<Vec<_>>());
}
