//! Tests that a run reads the same from any store: one conformance check for SQLite and for a store in memory.

mod memory;
mod pages;

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use memory::{Handed, Memory};
use prosescope_core::model::database::{Database, Limits, Value};
use prosescope_core::model::source::{FileEntry, Source, SourceError};
use prosescope_core::pages::session::{
    Filter, ListOrder, Options, Session, list, list_page, survey,
};
use prosescope_core::pages::view::RunSummary;
use prosescope_core::read::sqlite::MemorySource;
use prosescope_test_support::needs;

/// A source with the files of another source, whose databases are copied into memory.
struct Copied(Rc<dyn Source>);

impl Source for Copied {
    fn label(&self) -> String {
        self.0.label()
    }

    fn files(&self) -> &[FileEntry] {
        self.0.files()
    }

    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        // A file is recognized as a database by its first bytes, so only these bytes may be read directly.
        assert!(!path.ends_with(".db") || len <= 4096, "{path} is no file");
        self.0.read(path, offset, len)
    }

    fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError> {
        let db = self.0.database(path, limits)?;
        let memory = Memory::copy_of(db.as_ref(), "r");
        let memory = memory.map_err(|error| SourceError::of_database(path, &error))?;
        Ok(Arc::new(memory).reader("r", limits))
    }

    fn notes(&self, path: &str) -> Vec<prosescope_core::model::issue::Issue> {
        self.0.notes(path)
    }
}

/// Compares the runs of a source with their copies in memory; returns the number of compared runs.
fn conforms(name: &str, source: Rc<dyn Source>) -> usize {
    let copied: Rc<dyn Source> = Rc::new(Copied(Rc::clone(&source)));
    let mut databases = 0;
    for found in survey(source.as_ref()).found {
        let open = |source: &Rc<dyn Source>| {
            Session::open(Rc::clone(source), &found.place, &Options::default())
        };
        let (Ok(sqlite), Ok(memory)) = (open(&source), open(&copied)) else {
            continue;
        };
        // A copy in memory does not keep the text encoding of the file, so UTF-16 databases would differ.
        if sqlite.issues().any(|issue| issue.rule == "utf16") {
            continue;
        }
        databases += usize::from(!sqlite.run().tables.is_empty());
        let of = |session: &Session, source: &Rc<dyn Source>| pages::all(session, source);
        let (one, other) = (of(&sqlite, &source), of(&memory, &copied));
        for ((page, one), (_, other)) in one.iter().zip(&other) {
            let mut lines = one.lines().zip(other.lines());
            let differs = lines.find(|(one, other)| one != other);
            assert_eq!(differs, None, "{name}, {}: {page}", found.place);
            assert_eq!(one.len(), other.len(), "{name}, {}: {page}", found.place);
        }
        assert_eq!(one.len(), other.len());
    }
    databases
}

#[test]
fn a_run_tells_the_same_from_any_store() {
    let examples = below(&needs::root().join("examples"));
    assert!(conforms("examples", Rc::new(MemorySource::new("examples", examples))) >= 3);
    let fixtures = below(&needs::fixtures("runs"));
    conforms("fixtures", Rc::new(MemorySource::new("runs", fixtures)));
    let cases = prosescope_damage::healthy();
    let databases: usize = cases
        .map(|case| conforms(&case.name.clone(), Rc::new(case.in_memory())))
        .sum();
    assert!(databases > 10, "{databases}");
}

/// Returns the files below a folder, each with its path relative to that folder.
fn below(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(dir).unwrap().to_str().unwrap();
                files.push((name.to_owned(), std::fs::read(&path).unwrap()));
            }
        }
    }
    files
}

#[test]
fn only_the_module_of_sqlite_knows_its_library_and_decoding_knows_no_store() {
    let src = needs::root().join("core/src");
    let mut read = 0;
    for (path, bytes) in below(&src) {
        let text = String::from_utf8(bytes).unwrap_or_default();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        if path.starts_with("read/sqlite/")
            || path == "pages/repair/copy.rs"
            || path.contains("/tests")
        {
            continue;
        }
        read += 1;
        assert!(!text.contains("rusqlite"), "core/src/{path} names rusqlite");
        let decodes = path.starts_with("read/decode/");
        assert!(
            !decodes || !text.contains("crate::read::sqlite"),
            "core/src/{path} names a store"
        );
    }
    assert!(read > 200, "{read}");
}

/// A source of many runs in one store; its databases are not files.
struct Many {
    files: Vec<FileEntry>,
    memory: Arc<Memory>,
    /// Whether listing may read all runs with one request.
    asked_at_once: bool,
}

const RUNS: usize = 1_000;
const FIRST: &str = "20260125-125506-p7r2mx";
/// The length in bytes of every value and memory.
const LARGE: usize = 100_000;

fn run_name(n: usize) -> String {
    format!("20260126-{:02}{:02}00-a{n:05}", n / 60, n % 60)
}

impl Many {
    /// Returns a source with a thousand copies of an example run, all with large values.
    fn new() -> Many {
        let dir = needs::root().join("examples/.prose/runs").join(FIRST);
        let database = std::fs::read(dir.join("state.db")).unwrap();
        let sqlite = MemorySource::new("one", [("state.db".to_owned(), database)]);
        let db = sqlite.database("state.db", &Limits::default()).unwrap();
        let mut memory = Memory::copy_of(db.as_ref(), FIRST).unwrap();
        let large: &'static [u8] = vec![b'x'; LARGE].leak();
        memory.set(FIRST, &["bindings.value", "agents.memory"], large);
        for n in 0..RUNS {
            let name = run_name(n);
            memory.add(FIRST, &name, |value| {
                if matches!(value, Value::Text(text) if **text == *FIRST.as_bytes()) {
                    *value = Value::Text(name.clone().into_bytes().into());
                }
            });
        }
        let file = |n| FileEntry {
            path: format!("runs/{}/state.db", run_name(n)),
            len: LARGE as u64,
            modified: None,
        };
        Many {
            files: (0..RUNS).map(file).collect(),
            memory: Arc::new(memory),
            asked_at_once: false,
        }
    }

    /// Returns a source in which only each hundredth run is unfinished; a list reads all its runs at once.
    fn mostly_completed() -> Many {
        let mut many = Many::new();
        let memory = Arc::get_mut(&mut many.memory).unwrap();
        for n in (0..RUNS).filter(|n| !n.is_multiple_of(100)) {
            memory.set(&run_name(n), &["run.status"], b"completed");
            memory.set(&run_name(n), &["run.updated_at"], b"2026-02-01 10:00:00");
        }
        many.asked_at_once = true;
        many
    }

    fn handed(&self) -> Handed {
        self.memory.take_handed()
    }
}

impl Source for Many {
    fn label(&self) -> String {
        "many".to_owned()
    }

    fn files(&self) -> &[FileEntry] {
        &self.files
    }

    fn read(&self, path: &str, _: u64, _: usize) -> Result<Vec<u8>, SourceError> {
        panic!("{path} is no file")
    }

    fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError> {
        let run = path.split('/').nth(1).unwrap_or_default();
        Ok(self.memory.reader(run, limits))
    }

    fn all_runs(&self, limits: &Limits) -> Result<Option<Box<dyn Database>>, SourceError> {
        Ok(self
            .asked_at_once
            .then(|| self.memory.reader_of_all(limits)))
    }
}

#[test]
fn a_run_among_a_thousand_costs_its_own_rows_and_no_value() {
    let many = Rc::new(Many::new());
    let source: Rc<dyn Source> = Rc::<Many>::clone(&many);
    let run = run_name(500);
    let session = Session::open(
        Rc::clone(&source),
        &format!("runs/{run}"),
        &Options::default(),
    )
    .unwrap();
    assert_eq!(*session.run().id, *run);
    assert!(session.run().bindings.len() > 3);
    let handed = many.handed();
    let rows: Vec<&String> = handed.rows.keys().collect();
    assert_eq!(rows, [&run]);
    // The audit log is read a second time in its stored form, to verify its hash chain.
    let own = many.memory.len(&run);
    assert!(
        handed.rows[&run] <= own + session.run().audit.len() as u64,
        "{handed:?}, {own}"
    );
    let program = session
        .run()
        .program
        .source
        .as_ref()
        .map_or(0, |text| text.len() as u64);
    assert_eq!((handed.large, handed.pieces), (0, program));

    // Only the beginning of each value shown on the page is read.
    let page = prosescope_core::pages::session::pages::bindings_page(&session, 0, 50);
    let shown = page.rows.len() as u64;
    assert!(shown > 3);
    let handed = many.handed();
    assert_eq!(handed.large, 0);
    assert!(handed.pieces <= shown * 640, "{handed:?}");
}

#[test]
fn a_list_of_runs_hands_out_no_value() {
    let many = Rc::new(Many::new());
    let source: Rc<dyn Source> = Rc::<Many>::clone(&many);
    let list = list(&source, &Options::default());
    assert_eq!((list.runs.len(), list.issues.len()), (RUNS, 0));
    assert!(list.runs.iter().all(|run| run.error.is_none()));
    let handed = many.handed();
    let most: BTreeMap<String, u64> = handed.rows.clone();
    assert_eq!(most.len(), RUNS);
    assert_eq!(handed.large, 0);
}

/// A page of a list reads the `run` rows and the waiting gates of all runs, further rows only for unfinished runs on
/// the page, and no value.
#[test]
fn a_page_of_a_list_reads_the_rows_that_it_needs_and_no_value() {
    let many = Rc::new(Many::mostly_completed());
    let source: Rc<dyn Source> = Rc::<Many>::clone(&many);
    let (options, all) = (Options::default(), Filter::default());
    let page = list_page(&source, &options, &all, ListOrder::Newest, 150, None);
    assert_eq!((page.total as usize, page.runs.len()), (RUNS, 150));
    let handed = many.handed();
    let open = |n: &usize| n.is_multiple_of(100);
    // The newest run is the last one, so the page ends with run 850.
    let on_page: Vec<usize> = (850..RUNS).filter(open).collect();
    assert_eq!(on_page, [900]);
    for n in 0..RUNS {
        let run = run_name(n);
        let (rows, own) = (handed.rows[&run], many.memory.len(&run));
        match on_page.contains(&n) {
            true => assert!(rows > 5 && rows <= 2 * own, "{run}: {rows} of {own}"),
            // A run that is completed, or is not on the page, costs at most two rows: its own row, and a waiting gate.
            false => assert!(rows <= 2, "{run}: {rows}"),
        }
    }
    assert_eq!(handed.large, 0);
    // Programs are read only for those runs whose rows are read.
    assert!(handed.pieces < 64 << 10, "{handed:?}");

    // Each line equals the line from reading the run alone, except for facts that the list does not read.
    let each = Rc::new(Many {
        asked_at_once: false,
        ..Many::mostly_completed()
    });
    let each: Rc<dyn Source> = each;
    let lines = list(&each, &options).runs.into_iter().take(150);
    for (one, other) in page.runs.iter().zip(lines) {
        let facts = |run: &RunSummary| {
            let times = [&run.started, &run.last_sign].map(Clone::clone);
            let words = [&run.id, &run.name, &run.place, &run.status].map(Clone::clone);
            (
                words,
                times,
                run.program.clone(),
                run.duration_ms,
                run.pending_gates,
            )
        };
        assert_eq!(facts(one), facts(&other));
    }

    // A list filtered by status needs the status of every unfinished run.
    let waiting = Filter {
        status: vec!["waiting".to_owned()],
        ..Filter::default()
    };
    many.handed();
    let page = list_page(&source, &options, &waiting, ListOrder::Newest, 3, None);
    assert_eq!(page.runs.len(), 3);
    let handed = many.handed();
    let read = (0..RUNS).filter(|n| handed.rows[&run_name(*n)] > 2);
    assert!(read.clone().all(|n| open(&n)) && read.count() == RUNS / 100);
    assert_eq!(handed.large, 0);
}

#[test]
fn a_store_that_is_asked_to_stop_gives_what_was_read_and_says_so() {
    let many = Many::new();
    let asked = std::sync::atomic::AtomicU64::new(0);
    let limits = Limits {
        stop: Some(Arc::new(move || {
            asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 10
        })),
        ..Limits::default()
    };
    let options = Options {
        limits,
        ..Options::default()
    };
    let place = format!("runs/{}", run_name(1));
    let session = Session::open(Rc::new(many), &place, &options).unwrap();
    assert!(!session.run().executions.is_empty());
    let stopped = session
        .issues()
        .find(|issue| issue.rule == "reading-stopped");
    assert!(stopped.is_some_and(|issue| issue.message.contains("can be read")));
}
