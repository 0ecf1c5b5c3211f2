//! Damage with fixed seeds: what somebody may be sent as a run, made anew from the same numbers every time.
//!
//! Three sets, each a list of [`Case`]s that are made when they are asked for:
//!
//! - [`databases()`]: healthy databases in both dialects, of many page sizes and encodings, then damaged: bytes,
//!   pages, pointers, headers, rows, the schema, the `-wal`;
//! - [`folders()`]: healthy run folders of every form, then damaged: cut, shuffled, nested, misnamed;
//! - [`by_hand()`]: one case for each kind of damage or attack that is known by name, with what reading must come to.
//!
//! [`visit()`] opens what a source holds and builds every page of it, as the shells do. `tests/borne.rs` runs all
//! cases natively; the end-to-end suite drops them into the viewer.
//!
//! ```
//! assert_eq!(prosescope_damage::case(317), prosescope_damage::case(317));
//! ```

mod by_hand;
mod bytes;
mod dice;
mod folders;
mod page;
mod rows;
mod schema;
mod seeds;
mod visit;
mod wal;

use prosescope_core::sqlite::MemorySource;

pub use dice::Dice;
pub use visit::{Visited, visit};

/// How many databases [`databases`] gives.
pub const DATABASES: usize = 2_000;

/// How many folders [`folders`] gives.
pub const FOLDERS: usize = 500;

/// Holes up to this size are made in memory, too.
const HELD: u64 = 16 << 20;

/// What somebody was sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Which one, and what was done to it.
    pub name: String,
    /// What lies in the folder that was sent; a single database has nothing around it.
    pub entries: Vec<Entry>,
    /// What reading must come to.
    pub outcome: Outcome,
}

/// A thing in a folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its path in the folder, as the sender wrote it; it need not be one.
    pub path: String,
    /// What it is.
    pub what: What,
}

/// What a thing is.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A file.
    File(Vec<u8>),
    /// A file of this many bytes, all of them zero, which takes no room on disk.
    Hole(u64),
    /// A symbolic link to this target.
    Link(String),
    /// A named pipe that nobody writes to: reading it never ends.
    Pipe,
    /// A socket.
    Socket,
    /// An empty folder.
    Folder,
}

/// What reading must come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A run is shown, with an issue of each of these rules.
    Shown(&'static [&'static str]),
    /// Nothing is usable, and the refusal says these words.
    Refused(&'static str),
    /// One or the other, within the bounds.
    Either,
}

impl Case {
    fn new(name: impl Into<String>, outcome: Outcome) -> Case {
        Case {
            name: name.into(),
            entries: Vec::new(),
            outcome,
        }
    }

    /// Adds a file.
    fn file(mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Case {
        self.entries.push(Entry {
            path: path.into(),
            what: What::File(bytes.into()),
        });
        self
    }

    /// Adds something that is no file.
    fn other(mut self, path: &str, what: What) -> Case {
        self.entries.push(Entry {
            path: path.to_owned(),
            what,
        });
        self
    }

    /// Its files in memory, whatever their paths: what an archive or a browser may give.
    pub fn in_memory(&self) -> MemorySource {
        let files = self.entries.iter().filter_map(|entry| match &entry.what {
            What::File(bytes) => Some((entry.path.clone(), bytes.clone())),
            What::Hole(len) if *len <= HELD => Some((entry.path.clone(), vec![0; *len as usize])),
            _ => None,
        });
        MemorySource::new(&self.name, files)
    }

    /// Bytes of all its files.
    pub fn len(&self) -> u64 {
        let bytes = self.entries.iter().map(|entry| match &entry.what {
            What::File(bytes) => bytes.len() as u64,
            What::Hole(len) => *len,
            _ => 0,
        });
        bytes.sum()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Mutated databases.
pub fn databases() -> impl ExactSizeIterator<Item = Case> {
    (0..DATABASES).map(database)
}

/// Mutated run folders.
pub fn folders() -> impl ExactSizeIterator<Item = Case> {
    (0..FOLDERS).map(folders::folder)
}

/// One case for each kind of damage or attack that docs/reference/formats.md and docs/contribute/errata.md name.
pub fn by_hand() -> impl ExactSizeIterator<Item = Case> {
    by_hand::all().into_iter().map(|make| make())
}

/// What is damaged: healthy databases of both dialects, and run folders of every form.
pub fn healthy() -> impl Iterator<Item = Case> {
    let databases = seeds::databases().iter().map(|seed| {
        let name = format!("database: {}", seed.name);
        Case::new(name, Outcome::Shown(&[])).file(seed.file, seed.bytes.clone())
    });
    let folders = folders::RUNS.iter().map(|(name, files)| {
        let case = Case::new(format!("folder: {name}"), Outcome::Shown(&[]));
        files
            .iter()
            .fold(case, |case, (path, text)| case.file(*path, *text))
    });
    databases.chain(folders)
}

/// How many cases there are in all.
pub fn count() -> usize {
    by_hand::all().len() + DATABASES + FOLDERS
}

/// The n-th of all cases: those by hand, then the databases, then the folders.
pub fn case(n: usize) -> Case {
    let by_hand = by_hand::all();
    match by_hand.get(n) {
        Some(make) => make(),
        None if n - by_hand.len() < DATABASES => database(n - by_hand.len()),
        None => folders::folder(n - by_hand.len() - DATABASES),
    }
}

/// The ways to damage a database; each takes its turn.
const WAYS: [(&str, Way); 16] = [
    ("bits", Way::Bytes(bytes::bits)),
    ("heads of pages", Way::Bytes(bytes::heads)),
    ("filled", Way::Bytes(bytes::fill)),
    ("pages swapped", Way::Bytes(bytes::swap_pages)),
    ("pages zeroed", Way::Bytes(bytes::zero_pages)),
    ("cut", Way::Bytes(bytes::cut)),
    ("header", Way::Bytes(bytes::header)),
    ("cell pointers", Way::Bytes(bytes::cell_pointers)),
    ("lengths", Way::Bytes(bytes::lengths)),
    ("child pages", Way::Bytes(bytes::children)),
    ("overflow chains", Way::Bytes(bytes::overflow)),
    ("free pages", Way::Bytes(bytes::free_pages)),
    ("types of values", Way::Rows(rows::types)),
    ("rows", Way::Rows(rows::rows)),
    ("schema", Way::Rows(schema::edit)),
    ("wal", Way::Wal),
];

#[derive(Clone, Copy)]
enum Way {
    /// Changes bytes of the file; the page size is given.
    Bytes(fn(&mut Vec<u8>, &mut Dice)),
    /// Changes what the file says, through SQLite.
    Rows(fn(&rusqlite::Connection, &mut Dice)),
    /// Changes the `-wal` that holds its newest rows.
    Wal,
}

fn database(n: usize) -> Case {
    let mut dice = Dice::new(0x5eed_0000 + n as u64);
    let seeds = seeds::databases();
    let seed = &seeds[n / WAYS.len() % seeds.len()];
    let (word, way) = WAYS[n % WAYS.len()];
    let mut bytes = seed.bytes.clone();
    let mut name = format!("database {n:04}: {}, {word}", seed.name);
    if let Way::Wal = way {
        let (database, wal) = wal::damaged(&bytes, &mut dice);
        return Case::new(name, Outcome::Either)
            .file(seed.file, database)
            .file(format!("{}-wal", seed.file), wal);
    }
    apply(way, &mut bytes, &mut dice);
    // Damage seldom comes alone.
    if dice.throw(4) == 0 {
        let (word, way) = WAYS[dice.throw(12)];
        name.push_str(&format!(", {word}"));
        apply(way, &mut bytes, &mut dice);
    }
    Case::new(name, Outcome::Either).file(seed.file, bytes)
}

fn apply(way: Way, bytes: &mut Vec<u8>, dice: &mut Dice) {
    match way {
        Way::Bytes(change) => change(bytes, dice),
        Way::Rows(change) => {
            if let Some(changed) = seeds::with(bytes, |conn| change(conn, dice)) {
                *bytes = changed;
            }
        }
        Way::Wal => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_case_has_a_name_of_its_own_and_comes_out_the_same_twice() {
        let mut names = BTreeSet::new();
        for case in by_hand() {
            assert!(
                names.insert(case.name.clone()),
                "{} stands twice",
                case.name
            );
            assert!(!case.is_empty(), "{} is empty", case.name);
        }
        assert!(names.len() >= 100, "{} cases", names.len());
        for (once, again) in [
            (by_hand().collect::<Vec<_>>(), by_hand().collect::<Vec<_>>()),
            (
                databases().step_by(37).collect(),
                databases().step_by(37).collect(),
            ),
            (
                folders().step_by(17).collect(),
                folders().step_by(17).collect(),
            ),
        ] {
            for (a, b) in once.iter().zip(&again) {
                assert!(a == b, "{} comes out different", a.name);
            }
        }
    }

    #[test]
    fn mutations_change_something() {
        let seeds = seeds::databases();
        let unchanged = databases()
            .filter(|case| {
                let [entry] = case.entries.as_slice() else {
                    return false;
                };
                matches!(&entry.what, What::File(bytes) if seeds.iter().any(|s| s.bytes == *bytes))
            })
            .count();
        assert!(unchanged < DATABASES / 40, "{unchanged} are as they were");
    }
}
