//! Tests of races: a folder is replaced by a link during writing, removing or copying; nothing outside may be written,
//! removed or read.
//!
//! Each round executes one operation while a second thread exchanges the folder and the link as often as it can. A
//! round counts as a hit if an exchange happened during the operation.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use prosescope_core::model::{AgentScope, FolderForm, Form};
use prosescope_core::pages::repair::plan;
use prosescope_core::pages::session::{Options, Session};
use prosescope_core::record::{At, LARGE, Put, Remember, RunStore, record};
use prosescope_store::{
    Conversion, DamagedRun, Disk, FolderStore, OriginalRun, SqliteStore, convert, init_folder,
    init_sqlite, remove_run, run_entries, write_repaired,
};
use rustix::fs::{CWD, RenameFlags, renameat_with};

const ROUNDS: usize = 500;
const NOW: &str = "2026-01-15T14:30:52Z";
const SECRET: &str = "what lies outside";

/// A project with attacked runs, and the files outside it.
struct Scene {
    _aside: tempfile::TempDir,
    runs: PathBuf,
    outside: PathBuf,
    /// The exchanged folder; a link takes its place.
    swapped: PathBuf,
    link: PathBuf,
    before: BTreeMap<PathBuf, Vec<u8>>,
    hits: usize,
    done: usize,
    refused: usize,
}

impl Scene {
    /// Creates a scene. `swapped` is below `.prose`; `fill` creates the files outside.
    fn new(swapped: &str, fill: impl FnOnce(&Path)) -> Scene {
        // The test uses a file system in memory if there is one, because a disk is the slow part of a round.
        let memory = Path::new("/dev/shm");
        let aside = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        let aside = aside.unwrap();
        let outside = aside.path().join("outside");
        let prose = aside.path().join("project/.prose");
        fs::create_dir_all(&outside).unwrap();
        fs::create_dir_all(prose.join("runs")).unwrap();
        fs::write(outside.join("precious.md"), SECRET).unwrap();
        fill(&outside);
        let link = aside.path().join("link");
        symlink(&outside, &link).unwrap();
        Scene {
            before: bytes(&outside),
            runs: prose.join("runs"),
            swapped: prose.join(swapped.trim_end_matches('/')),
            link,
            outside,
            _aside: aside,
            hits: 0,
            done: 0,
            refused: 0,
        }
    }

    /// Executes an operation once, while another thread exchanges the folder and the link.
    fn round<E: std::fmt::Display>(&mut self, operation: impl FnOnce() -> Result<(), E>) {
        let (stop, begin) = (AtomicBool::new(false), Barrier::new(2));
        let (swapped, link) = (&self.swapped, &self.link);
        let (swaps, done) = std::thread::scope(|scope| {
            let swapper = scope.spawn(|| {
                let mut swaps = 0;
                begin.wait();
                while !stop.load(Ordering::Relaxed) {
                    swaps += usize::from(exchange(swapped, link));
                }
                swaps
            });
            begin.wait();
            let done = operation().map_err(|error| error.to_string());
            stop.store(true, Ordering::Relaxed);
            (swapper.join().unwrap(), done)
        });
        self.hits += usize::from(swaps > 0);
        match done {
            Ok(()) => self.done += 1,
            Err(_) => self.refused += 1,
        }
        if !self.link.is_symlink() {
            assert!(exchange(&self.swapped, &self.link));
        }
        assert!(
            bytes(&self.outside) == self.before,
            "what lies outside changed in round {}",
            self.done + self.refused
        );
    }

    /// Returns whether another round is needed: a minimum number, and more on a busy machine, where the two threads may
    /// run one after the other.
    fn goes_on(&self, rounds: usize) -> bool {
        let run = self.done + self.refused;
        run < rounds || (run < 50 * rounds && !self.was_hit(rounds))
    }

    /// Returns whether exchanges happened in at least a quarter of the rounds and an operation was refused.
    fn was_hit(&self, rounds: usize) -> bool {
        self.hits >= rounds / 4 && self.refused > 0
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let (hits, done, refused) = (self.hits, self.done, self.refused);
        println!(
            "{hits} hits, {done} done, {refused} refused: {}",
            self.swapped.display()
        );
    }
}

fn exchange(one: &Path, other: &Path) -> bool {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok()
}

/// Returns the files and folders below a folder, with their bytes.
fn bytes(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let all = walkdir(dir);
    all.into_iter()
        .map(|path| {
            let bytes = if path.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            (path, bytes)
        })
        .collect()
}

fn walkdir(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(walkdir(&entry.path()));
        }
        found.push(entry.path());
    }
    found
}

fn put(store: &mut dyn RunStore, value: &str) -> Result<(), String> {
    let put = Put {
        name: Some("a".to_owned()),
        value: value.as_bytes().to_vec().into(),
        ..Put::default()
    };
    let remember = Remember {
        agent: "captain".to_owned(),
        scope: AgentScope::Execution,
        memory: value.to_owned(),
    };
    let at = At::default();
    let done = record(store, &put, &at).map(drop);
    // Executes both commands, whatever the result of the first.
    let other = record(store, &remember, &at).map(drop);
    done.and(other).map_err(|error| error.to_string())
}

#[test]
fn recording_in_a_folder_stays_in_it() {
    let places = ["bindings", "attachments", "agents", "x_history", ""];
    let rounds = ROUNDS / places.len();
    for place in places {
        let mut scene = Scene::new(&format!("runs/r/{place}"), |outside| {
            for folder in ["captain", "bindings", "agents", "attachments"] {
                fs::create_dir_all(outside.join(folder)).unwrap();
            }
            fs::write(outside.join("a.md"), SECRET).unwrap();
            fs::write(outside.join("state.md"), "# Execution State\n\nrun: r\n").unwrap();
        });
        let run = scene.runs.join("r");
        init_folder(&run, "r", "p.prose", "session \"A\"\n", NOW).unwrap();
        fs::create_dir_all(run.join(place)).unwrap();
        let large = "x".repeat(LARGE + 1);
        while scene.goes_on(rounds) {
            let value = match scene.done % 2 {
                0 => "small",
                _ => &large,
            };
            scene.round(|| {
                let mut store = FolderStore::open(&run).map_err(|fault| fault.to_string())?;
                put(&mut store, value)
            });
        }
        assert!(scene.was_hit(rounds));
    }
}

#[test]
fn recording_in_a_database_stays_in_its_folder() {
    let places = ["", "attachments"];
    let rounds = ROUNDS / places.len();
    for place in places {
        let mut scene = Scene::new(&format!("runs/r/{place}"), |outside| {
            let other = outside.join("other");
            init_sqlite(&other, "r", "p.prose", "session \"A\"\n", NOW).unwrap();
            fs::rename(other.join("state.db"), outside.join("state.db")).unwrap();
            fs::remove_dir_all(other).unwrap();
        });
        let run = scene.runs.join("r");
        init_sqlite(&run, "r", "p.prose", "session \"A\"\n", NOW).unwrap();
        fs::create_dir_all(run.join(place)).unwrap();
        let large = "x".repeat(LARGE + 1);
        while scene.goes_on(rounds) {
            let value = match scene.done % 2 {
                0 => "small",
                _ => &large,
            };
            scene.round(|| {
                let opened = SqliteStore::open(&run.join("state.db"), None);
                put(&mut opened.map_err(|fault| fault.to_string())?, value)
            });
        }
        assert!(scene.was_hit(rounds));
    }
}

#[test]
fn cleaning_removes_nothing_behind_a_link() {
    let places = ["runs/r", "runs"];
    let rounds = ROUNDS / places.len();
    for place in places {
        let mut scene = Scene::new(place, |outside| {
            fs::create_dir_all(outside.join("r/bindings")).unwrap();
            fs::write(outside.join("r/state.md"), "# Execution State\n").unwrap();
        });
        let (run, runs) = (scene.runs.join("r"), scene.runs.clone());
        let prose = runs.parent().unwrap().to_owned();
        while scene.goes_on(rounds) {
            // The files have the length of those outside, so that only the folder itself distinguishes them.
            fs::create_dir_all(run.join("bindings")).unwrap();
            fs::write(run.join("state.md"), "# Execution State\n").unwrap();
            let entries = run_entries(&prose).unwrap();
            let mut entry = entries.into_iter().find(|e| e.name == "r").unwrap();
            let time = fs::metadata(scene.outside.join("r/state.md")).unwrap();
            let file = fs::File::options().write(true).open(run.join("state.md"));
            file.unwrap()
                .set_modified(time.modified().unwrap())
                .unwrap();
            let since = time
                .modified()
                .unwrap()
                .duration_since(std::time::UNIX_EPOCH);
            entry.newest = Some(since.unwrap().as_millis() as i64);
            scene.round(|| remove_run(&prose, &entry).map(drop));
            // Removes the files that a refused operation may have left, whatever their names.
            if scene.link.symlink_metadata().is_err() {
                symlink(&scene.outside, &scene.link).unwrap();
            }
            for left in fs::read_dir(&runs).unwrap().flatten() {
                if left.file_type().unwrap().is_dir() {
                    fs::remove_dir_all(left.path()).unwrap();
                } else {
                    fs::remove_file(left.path()).unwrap();
                }
            }
        }
        assert!(scene.was_hit(rounds));
    }
}

/// Returns a run to copy, with its source opened before the exchanges begin.
fn copied(scene: &Scene, form: fn(&Path)) -> (Disk, Session, PathBuf) {
    let run = scene.runs.join("r");
    form(&run);
    fs::create_dir_all(run.join("notes")).unwrap();
    fs::write(run.join("notes/precious.md"), "mine").unwrap();
    let disk = Disk::open(&run).unwrap();
    let again = Rc::new(Disk::open(&run).unwrap());
    let session = Session::open(again, "", &Options::default()).unwrap();
    (disk, session, scene.runs.join("copy"))
}

fn in_files(run: &Path) {
    init_folder(run, "r", "p.prose", "session \"A\"\n", NOW).unwrap();
    put(&mut FolderStore::open(run).unwrap(), "value").unwrap();
}

fn in_a_database(run: &Path) {
    init_sqlite(run, "r", "p.prose", "session \"A\"\n", NOW).unwrap();
    put(
        &mut SqliteStore::open(&run.join("state.db"), None).unwrap(),
        "value",
    )
    .unwrap();
}

/// Copies a run repeatedly; the files outside must never be part of a copy.
fn copies(
    place: &str,
    form: fn(&Path),
    rounds: usize,
    copy: impl Fn(&Disk, &Session, &Path) -> Result<(), String>,
) {
    let mut scene = Scene::new(place, |_| {});
    let (disk, session, to) = copied(&scene, form);
    while scene.goes_on(rounds) {
        scene.round(|| copy(&disk, &session, &to));
        if to.exists() {
            let all = bytes(&to);
            let told = all.iter().find(|(_, bytes)| {
                bytes
                    .windows(SECRET.len())
                    .any(|part| part == SECRET.as_bytes())
            });
            assert!(told.is_none(), "{place}: {:?}", told.map(|(path, _)| path));
            fs::remove_dir_all(&to).unwrap();
        }
    }
    assert!(scene.was_hit(rounds));
}

#[test]
fn converting_copies_and_writes_nothing_of_elsewhere() {
    for (place, form) in [
        ("runs/r/notes", in_files as fn(&Path)),
        ("runs/r/notes", in_a_database),
        ("runs", in_files),
        ("runs", in_a_database),
    ] {
        copies(place, form, ROUNDS / 4, |disk, session, to| {
            let database = disk.path_of("state.db").exists().then_some("state.db");
            let to_folder = session.run().form
                != Form::Folder {
                    form: FolderForm::StateMd,
                };
            let conversion = Conversion {
                origin: OriginalRun::Disk {
                    disk,
                    database,
                    with_files: true,
                },
                session,
                to_folder,
                moved: &|_| (),
            };
            convert(&conversion, to)
                .map(drop)
                .map_err(|fault| fault.to_string())
        });
    }
}

#[test]
fn a_repaired_copy_copies_and_writes_nothing_of_elsewhere() {
    for (place, form) in [
        ("runs/r/notes", in_files as fn(&Path)),
        ("runs/r/notes", in_a_database),
        ("runs", in_files),
        ("runs", in_a_database),
    ] {
        copies(place, form, ROUNDS / 4, |disk, session, to| {
            let run = session.run();
            let repair = plan(run, session.trace(), NOW);
            let damaged = DamagedRun {
                disk,
                root: "",
                database: disk.path_of("state.db").exists().then_some("state.db"),
                with_files: true,
                tables: &run.tables,
                repair: &repair,
            };
            write_repaired(&damaged, to)
                .map(drop)
                .map_err(|fault| fault.to_string())
        });
    }
}
