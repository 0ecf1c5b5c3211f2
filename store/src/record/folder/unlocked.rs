//! Writers of a folder whose locks exclude no other writer, as on some network file systems.

use std::fs;
use std::path::Path;
use std::sync::Barrier;

use prosescope_core::record::{At, Put, RunStore as _, ValueBytes, WriteError, record};

use super::{FolderStore, init_folder};
use crate::dir::Dir;
use crate::record::files::append;
use crate::record::lock::EXCLUDES_NONE;

const NOW: &str = "2026-01-15T14:30:52Z";
const WRITERS: usize = 4;
const ROUNDS: usize = 40;

fn at() -> At {
    At {
        now: 1_768_487_452_000,
        ..At::default()
    }
}

/// What a command told its user.
#[derive(Debug)]
enum Told {
    Recorded,
    /// Recorded, with the message of a later step.
    Late(String),
    Failed(String),
}

fn put(store: &mut FolderStore, name: &str, value: &str) -> Told {
    let put = Put {
        name: Some(name.to_owned()),
        value: ValueBytes::from(value.as_bytes().to_vec()),
        not_done: true,
        ..Put::default()
    };
    match (record(store, &put, &at()), store.late_fault()) {
        (Ok(_), None) => Told::Recorded,
        (Ok(_), Some(fault)) => Told::Late(fault.to_string()),
        (Err(WriteError::Fault(fault)), _) => {
            Told::Failed(format!("{}; {}", fault.message, fault.hint))
        }
        (Err(other), _) => panic!("{name}: {other:?}"),
    }
}

/// Returns the texts of all files below a folder.
fn texts(dir: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        all += &match path.is_dir() {
            true => texts(&path),
            false => fs::read_to_string(&path).unwrap() + "\n",
        };
    }
    all
}

/// A value that a command acknowledged is kept, and under its own name; if two writers replaced one value at once, one
/// of them says so.
#[test]
fn a_writer_notices_that_its_lock_kept_no_other_writer_out() {
    let aside = tempfile::tempdir().unwrap();
    let dir = aside.path().join("r");
    init_folder(&dir, "r", "p.prose", "session \"A\"\n", NOW).unwrap();
    let at_once = Barrier::new(WRITERS);
    let one = |writer: usize| {
        EXCLUDES_NONE.set(true);
        let mut store = FolderStore::open(&dir).unwrap();
        at_once.wait();
        let rounds = (0..ROUNDS).map(|round| {
            let name = match round % 2 {
                0 => "shared".to_owned(),
                _ => format!("own{writer}_{round}"),
            };
            let value = format!("<{writer}-{round}>");
            let told = put(&mut store, &name, &value);
            (name, value, told)
        });
        rounds.collect::<Vec<_>>()
    };
    let told: Vec<(String, String, Told)> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..WRITERS)
            .map(|n| {
                scope.spawn({
                    let one = &one;
                    move || one(n)
                })
            })
            .collect();
        all.into_iter()
            .flat_map(|one| one.join().unwrap())
            .collect()
    });
    let everything = texts(&dir);
    let (mut lost, mut late, mut recorded) = (Vec::new(), 0, 0);
    for (name, value, told) in &told {
        match told {
            Told::Failed(why) => {
                assert!(why.contains("`flock`") && why.contains("repeat"), "{why}");
                assert!(
                    !everything.contains(value.as_str()),
                    "{value} failed, and is there"
                );
                continue;
            }
            Told::Late(why) => {
                assert!(why.contains("at the same time"), "{why}");
                late += 1;
            }
            Told::Recorded => recorded += 1,
        }
        if name == "shared" {
            lost.extend((!everything.contains(value.as_str())).then_some(value));
        } else {
            let file = fs::read_to_string(dir.join(format!("bindings/{name}.md"))).unwrap();
            assert!(
                file.contains(value.as_str()),
                "{name} is not {value}: {file}"
            );
        }
    }
    println!(
        "{recorded} recorded, {late} told of another writer, {} lost",
        lost.len()
    );
    assert!(
        lost.len() <= late,
        "{lost:?} are lost, and {late} writers said so"
    );
    assert!(recorded > late, "{recorded} recorded, {late} told");
    EXCLUDES_NONE.set(false);
    let left = texts(&dir);
    FolderStore::open(&dir)
        .map(|mut store| put(&mut store, "last", "<last>"))
        .unwrap();
    assert!(!left.contains("<last>") && texts(&dir).contains("<last>"));
}

#[test]
fn lines_that_another_writer_added_are_not_cut() {
    let aside = tempfile::tempdir().unwrap();
    let dir = Dir::open(aside.path()).unwrap();
    for (there, whole) in [("{\"a\":1}\n", true), ("{\"b\"", false)] {
        fs::write(aside.path().join("log"), there).unwrap();
        let added = append(&dir, "log", 0, b"{\"b\":2}\n");
        assert_eq!(added.is_err(), whole, "{there}");
        let expected = if whole { there } else { "{\"b\":2}\n" };
        let log = fs::read_to_string(aside.path().join("log")).unwrap();
        assert_eq!(log, expected);
    }
}
