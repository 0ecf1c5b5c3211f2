use prosescope_core::model::AgentScope;
use prosescope_core::record::{At, Put, Remember, WriteError, record};

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

#[test]
fn a_state_file_has_a_limit_that_its_error_says() {
    let (_dir, store) = run();
    let file = std::fs::File::create(store.dir().join("state.md")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    let said = FolderStore::open(store.dir()).unwrap_err().to_string();
    assert!(said.contains("at most 64 MB are read"), "{said}");
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
            not_done: true,
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
    for (folder, file) in [
        ("gates", "ship.pending.json"),
        ("gates", "audit.jsonl"),
        ("bindings", "a.md"),
        ("agents", "captain/memory.md"),
    ] {
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
