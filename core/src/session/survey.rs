use std::collections::{BTreeMap, BTreeSet};

use crate::decode::state_md;
use crate::decode::text::lossy;
use crate::issue::Issue;
use crate::model::FolderForm;
use crate::run_id;
use crate::source::{NAMES_HIDDEN, Source};

/// What a source holds: runs, agents, lone files. Content decides, names only help.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Survey {
    /// What can be opened, in order of path.
    pub found: Vec<Found>,
    /// What was odd while looking.
    pub issues: Vec<Issue>,
}

/// Something that can be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it is.
    pub kind: FoundKind,
    /// Its place: a folder's path (empty for the source itself) or a file's. What [`crate::session::Session::open`] takes.
    pub place: String,
    /// The last part of the place, or the source's label.
    pub name: String,
}

/// What a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundKind {
    /// A run folder.
    RunFolder,
    /// A database outside of a run folder.
    Database,
    /// A state file outside of a run folder.
    StateFile,
    /// An `agents.db`, or a folder of agents: no run.
    Agents,
}

/// Files of a run of some form; the content of some is asked (filesystem.md; docs/reference/formats.md, the four formats).
const STATE_MARKS: &[&str] = &["state.db", "vm.log.md"];
/// Names that a run's own copy of its program goes by.
const PROGRAM_MARKS: &[&str] = &["program.prose", "current.prose", "root.prose.md"];
/// Folders of a run.
const PARTS: &[&str] = &["bindings", "agents", "imports", "attachments"];
/// What lies in these is a part of the run around them, whatever it looks like.
const INNER: &[&str] = &[
    "bindings",
    "agents",
    "imports",
    "attachments",
    "gates",
    "services",
    "sources",
    "workspace",
    "x_history",
];

/// How many loose files are sniffed: a folder of ten thousand others is none of our business.
const SNIFF_MOST: usize = 400;

/// Looks through a source: run folders at any depth, loose databases and state files, agents.
///
/// Nested runs (`imports/{handle}--{slug}/`) belong to their run and are not listed.
pub fn survey(source: &dyn Source) -> Survey {
    let mut survey = Survey {
        // Which run lacks a file is said there.
        issues: source
            .listed()
            .into_iter()
            .filter(|issue| issue.rule != NAMES_HIDDEN)
            .collect(),
        ..Survey::default()
    };
    let mut dirs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in source.files() {
        let (dir, name) = split(&file.path);
        dirs.entry(dir).or_default().insert(name);
    }
    // A run may hold nothing but bindings: no file lies in its own folder.
    let above: BTreeSet<&str> = dirs
        .keys()
        .filter_map(|dir| before_part(dir, "bindings"))
        .collect();
    for dir in above {
        dirs.entry(dir).or_default();
    }
    let mut run_dirs: BTreeSet<&str> = BTreeSet::new();
    for dir in dirs.keys() {
        if is_nested(dir) || is_part(dir, &run_dirs) || !is_run(source, &dirs, dir) {
            continue;
        }
        run_dirs.insert(dir);
        survey.found.push(Found {
            kind: FoundKind::RunFolder,
            place: (*dir).to_owned(),
            name: name_of(source, dir),
        });
    }
    let mut sniffed = 0;
    // What lies in a `.prose` first: a project may hold any number of other texts.
    let in_prose = |path: &str| {
        path.split('/')
            .any(|part| part == ".prose" || part == "runs")
    };
    let mut loose: Vec<&str> = source
        .files()
        .iter()
        .map(|file| file.path.as_str())
        .filter(|path| {
            let (dir, name) = split(path);
            let beside = ["-wal", "-shm", "-journal"]
                .iter()
                .any(|end| name.ends_with(end));
            let named = [".db", ".sqlite", ".sqlite3", ".md"]
                .iter()
                .any(|end| name.ends_with(end));
            let promising = named || source.files().len() <= 32;
            promising && !beside && !is_nested(dir) && !upward(dir).any(|at| run_dirs.contains(at))
        })
        .collect();
    loose.sort_by_key(|path| !in_prose(path));
    for path in loose {
        let name = last(path);
        sniffed += 1;
        if sniffed > SNIFF_MOST {
            survey.issues.push(
                Issue::noted(
                    "survey-cut",
                    format!("only the first {SNIFF_MOST} loose files were looked into"),
                )
                .hint("open a run folder or a database itself"),
            );
            break;
        }
        let head = source.read(path, 0, 64).unwrap_or_default();
        let kind = if head.starts_with(b"SQLite format 3\0") {
            if name == "agents.db" {
                FoundKind::Agents
            } else {
                FoundKind::Database
            }
        } else if is_state_file(&head) {
            FoundKind::StateFile
        } else {
            continue;
        };
        survey.found.push(Found {
            kind,
            place: path.to_owned(),
            name: name.to_owned(),
        });
    }
    if survey.found.iter().all(|f| f.kind == FoundKind::Agents)
        && let Some(place) = agents_folder(&dirs)
    {
        survey.found.push(Found {
            kind: FoundKind::Agents,
            name: name_of(source, &place),
            place,
        });
    }
    survey.found.sort_by(|a, b| a.place.cmp(&b.place));
    survey
}

/// Whether a folder is a run's: a state file or a database, or what is left of a run where runs lie.
fn is_run(source: &dyn Source, dirs: &BTreeMap<&str, BTreeSet<&str>>, dir: &str) -> bool {
    let Some(names) = dirs.get(dir) else {
        return false;
    };
    let has = |name: &&str| names.contains(*name);
    let head = |name: &str| source.read(&join(dir, name), 0, 4096).unwrap_or_default();
    let says = |name: &str, words: &[&str]| {
        has(&name) && {
            let bytes = head(name);
            let text = lossy(&bytes).0;
            words.iter().any(|word| text.contains(word))
        }
    };
    let part = |name: &&str| {
        let below = join(dir, name);
        let inside = format!("{below}/");
        let next = dirs.range(&*inside..).next();
        dirs.contains_key(&*below) || next.is_some_and(|(d, _)| d.starts_with(&inside))
    };
    let has_parts = PARTS.iter().any(part);
    let state = names
        .iter()
        .find(|name| name.eq_ignore_ascii_case("state.md"));
    if last(dir) == "runs" {
        // `.prose/runs/state.md` is a state file alone, but for one whose bindings lie beside it.
        let others = || {
            dirs.keys()
                .any(|d| split(d).0 == dir && *d != dir && !INNER.contains(&last(d)))
        };
        return state.is_some() && part(&"bindings") && !others();
    }
    // Where runs lie, less is needed.
    let among_runs = last(split(dir).0) == "runs" && split(dir).0 != dir
        || run_id::RunId::parse(last(dir)).millis().is_some();
    let expected = among_runs || has_parts || dir.is_empty();
    let program = PROGRAM_MARKS.iter().any(has);
    let state = state.is_some_and(|name| expected || program || is_state_file(&head(name)));
    STATE_MARKS.iter().any(has)
        || state
        || says("run.json", &["\"run_id\""])
        || says("receipts.jsonl", &["\"content_hash\"", "\"receipt"])
        || (program && expected)
        || (among_runs && (part(&"bindings") || names.iter().any(|name| name.ends_with(".prose"))))
}

/// Whether a folder is a part of a run that was found: `bindings/{service}/` may hold anything.
fn is_part(dir: &str, runs: &BTreeSet<&str>) -> bool {
    upward(dir).any(|at| INNER.contains(&last(at)) && runs.contains(split(at).0))
}

/// A folder, those that it lies in, and last the source's own: empty.
fn upward(dir: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(dir), |at| (!at.is_empty()).then(|| split(at).0))
}

fn is_state_file(head: &[u8]) -> bool {
    let text = lossy(head).0;
    let known = state_md::form(&text) != FolderForm::Foreign;
    known && !text.trim_start().starts_with('{')
}

/// `agents/{name}/memory.md` without any run around it.
fn agents_folder(dirs: &BTreeMap<&str, BTreeSet<&str>>) -> Option<String> {
    dirs.iter().find_map(|(dir, names)| {
        let (above, _) = split(dir);
        (names.contains("memory.md") && last(above) == "agents").then(|| split(above).0.to_owned())
    })
}

/// What stands before the first such part of a path.
fn before_part<'p>(path: &'p str, part: &str) -> Option<&'p str> {
    let at = format!("/{path}/").find(&format!("/{part}/"))?;
    path.get(..at.saturating_sub(1))
}

fn is_nested(dir: &str) -> bool {
    let mut pairs = dir.split('/').zip(dir.split('/').skip(1));
    pairs.any(|(outer, inner)| outer == "imports" && inner.contains("--"))
}

fn name_of(source: &dyn Source, dir: &str) -> String {
    let last = last(dir);
    if last.is_empty() {
        source.label()
    } else {
        last.to_owned()
    }
}

pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn last(path: &str) -> &str {
    split(path).1
}

pub(super) fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() {
        name.to_owned()
    } else {
        format!("{dir}/{name}")
    }
}

/// The database of the run at a place: the place itself, or the `state.db` in it.
pub(super) fn database_of(source: &dyn Source, place: &str) -> Option<String> {
    let place = place.trim_end_matches('/');
    let own = (source.file(place).is_some()).then(|| place.to_owned());
    own.or_else(|| Some(join(place, "state.db")).filter(|path| source.file(path).is_some()))
}

#[cfg(test)]
mod tests;
