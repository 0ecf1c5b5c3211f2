//! Builds damaged runs: files that a user may receive as a run. The seeds are fixed, so that the files are equal in
//! every run of the tests.
//!
//! There are three sets, each a list of [`Case`]s built on demand:
//!
//! - [`databases()`]: healthy databases in both dialects, with many page sizes and encodings, then damaged: bytes,
//!   pages, pointers, headers, rows, the schema, the `-wal`;
//! - [`folders()`]: healthy run folders of every form, then damaged: truncated, shuffled, nested, misnamed;
//! - [`by_hand()`]: one case for each known kind of damage or attack, with the outcome that reading must have.
//!
//! [`visit()`] opens the content of a source and builds every page of it, as the viewer and the commands do.
//! `tests/borne` runs all cases natively; the end-to-end tests drop them on the viewer.
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

use prosescope_core::read::sqlite::MemorySource;

pub use dice::Dice;
pub use visit::{Visited, visit};

/// How many databases [`databases`] returns.
pub const DATABASES: usize = 2_000;

/// How many folders [`folders`] returns.
pub const FOLDERS: usize = 500;

/// The size in bytes of the largest sparse file that [`Case::in_memory`] includes.
const HELD: u64 = 16 << 20;

/// A run as a user may receive it.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The name: the number of the case, and its damage.
    pub name: String,
    /// The content of the folder; a single database has no folder.
    pub entries: Vec<Entry>,
    /// The outcome that reading must have.
    pub outcome: Outcome,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The path in the folder as the sender wrote it; it may be invalid.
    pub path: String,
    /// The entry itself.
    pub what: What,
}

/// The kind of an entry, with its content.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A file.
    File(Vec<u8>),
    /// A sparse file of this many zero bytes, which takes no room on disk.
    Hole(u64),
    /// A symbolic link to this target.
    Link(String),
    /// A named pipe without a writer: reading it never ends.
    Pipe,
    /// A socket.
    Socket,
    /// An empty folder.
    Folder,
}

/// The outcome that reading a case must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A run is shown, with an issue of each of these rules.
    Shown(&'static [&'static str]),
    /// Nothing is usable, and the error contains these words.
    Refused(&'static str),
    /// Either the run is shown or it is refused, within the limits on time and memory.
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

    /// Adds an entry that is not a file.
    fn other(mut self, path: &str, what: What) -> Case {
        self.entries.push(Entry {
            path: path.to_owned(),
            what,
        });
        self
    }

    /// Returns the case's files in memory. Their paths may be invalid, as from an archive or a browser.
    pub fn in_memory(&self) -> MemorySource {
        let files = self.entries.iter().filter_map(|entry| match &entry.what {
            What::File(bytes) => Some((entry.path.clone(), bytes.clone())),
            What::Hole(len) if *len <= HELD => Some((entry.path.clone(), vec![0; *len as usize])),
            _ => None,
        });
        MemorySource::new(&self.name, files)
    }

    /// Returns the total size of the case's files in bytes.
    pub fn len(&self) -> u64 {
        let bytes = self.entries.iter().map(|entry| match &entry.what {
            What::File(bytes) => bytes.len() as u64,
            What::Hole(len) => *len,
            _ => 0,
        });
        bytes.sum()
    }

    /// Returns whether the case has no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Returns the damaged databases.
pub fn databases() -> impl ExactSizeIterator<Item = Case> {
    (0..DATABASES).map(database)
}

/// Returns the damaged run folders.
pub fn folders() -> impl ExactSizeIterator<Item = Case> {
    (0..FOLDERS).map(folders::folder)
}

/// Returns one case for each kind of damage or attack that docs/reference/formats.md and docs/contribute/errata.md
/// describe.
pub fn by_hand() -> impl ExactSizeIterator<Item = Case> {
    by_hand::all().into_iter().map(|make| make())
}

/// Returns the undamaged cases: databases of both dialects, and run folders of every form.
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

/// Returns the number of all cases.
pub fn count() -> usize {
    by_hand::all().len() + DATABASES + FOLDERS
}

/// Returns the n-th of all cases: first those by hand, then the databases, then the folders.
pub fn case(n: usize) -> Case {
    let by_hand = by_hand::all();
    match by_hand.get(n) {
        Some(make) => make(),
        None if n - by_hand.len() < DATABASES => database(n - by_hand.len()),
        None => folders::folder(n - by_hand.len() - DATABASES),
    }
}

/// The kinds of damage to a database, each with its name. They are used in rotation.
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
    /// Changes bytes of the database file.
    Bytes(fn(&mut Vec<u8>, &mut Dice)),
    /// Changes the content of the database through SQLite.
    Rows(fn(&rusqlite::Connection, &mut Dice)),
    /// Changes the `-wal` file that contains the newest rows.
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
    // Some cases combine two kinds of damage.
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
