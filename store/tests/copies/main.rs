//! Tests that generated histories are the same run in every form, after a copy into each other form and back. A history
//! is cut anywhere; it has failures, rejections, rounds and items. `PROSE_CASES`, `PROSE_SEED` and `PROSE_HISTORY`
//! choose others, as in the core's tests of histories.

#[path = "../../../core/tests/histories/commands.rs"]
mod commands;
#[path = "../../../core/tests/histories/history.rs"]
mod history;
/// The unit tests' run in memory; its paths name what this crate imports below.
#[path = "../../../core/src/record/tests/memory.rs"]
#[allow(dead_code, reason = "the unit tests use more of it")]
mod memory;
#[path = "../../../core/tests/histories/playing.rs"]
mod playing;
#[path = "../conformance/told.rs"]
#[allow(dead_code, reason = "the tests of conformance use more of it")]
mod told;

use std::path::Path;
use std::rc::Rc;

use prosescope_core::model;
use prosescope_core::pages::resume;
use prosescope_core::pages::session::{CopyLoss, Options, Session, pages};
use prosescope_core::record::{Change, RunStore, Style, at_text};
use prosescope_core::{program, record};
use prosescope_postgres::{Address, PostgresSource, import_run};
use prosescope_store::{
    Conversion, Disk, FolderStore, OriginalRun, SqliteStore, convert, init_folder, init_sqlite,
};
use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::pages::without_form;
use serde_json::Value;

use history::{Broken, History, LONGEST, each};
use memory::RUN;

/// The number of histories of each test.
const CASES: u64 = 20;

/// Records the history in a new folder or database of its form.
fn record(history: &History, dir: &Path) {
    let source = history.memory.run.program.source.as_deref();
    let source = source.unwrap_or_default();
    let style = history.memory.run.style;
    let at = at_text(history.memory.now, style);
    let mut store: Box<dyn RunStore> = match style {
        Style::Files => {
            init_folder(dir, RUN, "p.prose", source, &at).unwrap();
            Box::new(FolderStore::open(dir).unwrap())
        }
        _ => {
            init_sqlite(dir, RUN, "p.prose", source, &at).unwrap();
            Box::new(SqliteStore::open(&dir.join("state.db"), None).unwrap())
        }
    };
    let mut changes: Option<Vec<Change>> = Some(history.memory.changes.clone());
    store
        .transact(&mut |_| Ok(changes.take().unwrap_or_default()))
        .unwrap();
}

/// A run on disk, as readers open it.
struct OnDisk {
    disk: Rc<Disk>,
    session: Session,
}

impl OnDisk {
    fn open(dir: &Path) -> OnDisk {
        let disk = Rc::new(Disk::open(dir).unwrap());
        let session = Session::open(disk.clone(), "", &Options::default()).unwrap();
        OnDisk { disk, session }
    }

    fn copy(&self, to_folder: bool, to: &Path) -> Vec<CopyLoss> {
        let database = self
            .disk
            .path_of("state.db")
            .is_file()
            .then_some("state.db");
        let conversion = Conversion {
            origin: OriginalRun::Disk {
                disk: &self.disk,
                database,
                with_files: true,
            },
            session: &self.session,
            to_folder,
            moved: &|_| {},
        };
        convert(&conversion, to).unwrap().0
    }
}

/// Returns what a run tells: its facts, where `resume` stands, and what may come next.
fn tells(session: &Session, now: i64) -> Vec<String> {
    let mut all: Vec<String> = told::told(session).lines().map(str::to_owned).collect();
    let resume = serde_json::to_value(pages::resume(session, Some(now))).unwrap();
    let Value::Object(resume) = without_form(resume) else {
        panic!("resume is an object");
    };
    all.extend(resume.iter().map(|(key, value)| format!("{key}: {value}")));
    let facts = resume::ResumeFacts {
        run: session.run(),
        trace: session.trace(),
        listing: session.listing(),
    };
    match resume::next(facts, now, (RUN, false), &|_, _| None) {
        Ok(next) => all.extend(next.choices.iter().map(|choice| format!("{choice:?}"))),
        Err(error) => all.push(error.to_string()),
    }
    all
}

/// Returns the first fact that differs.
fn difference(one: &[String], other: &[String]) -> Option<String> {
    let longest = one.len().max(other.len());
    let pair = |at: usize| (one.get(at), other.get(at));
    let differs = (0..longest).map(pair).find(|(a, b)| a != b)?;
    Some(format!("{:#?}\nbecame\n{:#?}", differs.0, differs.1))
}

/// Plays a history up to a random step.
fn cut(seed: u64) -> Result<History, Broken> {
    let mut history = History::new(seed);
    let steps = 1 + history.chance.below(LONGEST);
    while history.told.len() < steps && history.step()? {}
    Ok(history)
}

fn same(
    history: &History,
    what: &str,
    (run, copy): (&Session, &Session),
    left: &[CopyLoss],
) -> Result<(), Broken> {
    let now = history.memory.now;
    if !left.is_empty() {
        return history.broken(&format!("{what} lacks {left:?}"));
    }
    match difference(&tells(run, now), &tells(copy, now)) {
        Some(differs) => history.broken(&format!("{what}: {differs}")),
        None => Ok(()),
    }
}

#[test]
fn a_copy_of_a_history_in_files_or_a_database_is_the_same_run() {
    each(CASES, |seed| {
        let history = cut(seed)?;
        let aside = tempfile::tempdir().unwrap();
        let at = |name: &str| aside.path().join(name).join(RUN);
        record(&history, &at("run"));
        let run = OnDisk::open(&at("run"));
        let (first, second) = ("the copy", "the copy of the copy");
        let to_folder = history.memory.run.style != Style::Files;
        let left = run.copy(to_folder, &at("there"));
        let there = OnDisk::open(&at("there"));
        same(&history, first, (&run.session, &there.session), &left)?;
        let left = there.copy(!to_folder, &at("back"));
        let back = OnDisk::open(&at("back"));
        same(&history, second, (&run.session, &back.session), &left)
    });
}

#[test]
fn a_copy_of_a_history_in_postgresql_is_the_same_run() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    each(CASES, |seed| {
        let history = cut(seed)?;
        let aside = tempfile::tempdir().unwrap();
        let at = |name: &str| aside.path().join(name).join(RUN);
        record(&history, &at("run"));
        let run = OnDisk::open(&at("run"));
        // The new database gives the executions of the copy the numbers from 1 on, as the history does.
        let address = Address::parse(&cluster.database(), &|_| None).unwrap();
        let left = import_run(&address, &run.session, true, &|_| {}).unwrap();
        let source = PostgresSource::open(&address, RUN).unwrap();
        let place = PostgresSource::place(RUN);
        let there = Session::open(Rc::new(source), &place, &Options::default()).unwrap();
        same(
            &history,
            "the copy in PostgreSQL",
            (&run.session, &there),
            &left,
        )?;
        for to_folder in [true, false] {
            let conversion = Conversion {
                origin: OriginalRun::Server(&|| Ok(String::new())),
                session: &there,
                to_folder,
                moved: &|_| {},
            };
            let to = at(if to_folder { "folder" } else { "database" });
            let (left, _) = convert(&conversion, &to).unwrap();
            let back = OnDisk::open(&to);
            same(
                &history,
                "the copy of the copy",
                (&run.session, &back.session),
                &left,
            )?;
        }
        Ok(())
    });
}
