//! Finds the runs, databases, state files and agents in a source.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::FolderForm;
use crate::model::issue::Issue;
use crate::model::run_id;
use crate::model::source::{NAMES_HIDDEN, Source};
use crate::read::decode::state_md;
use crate::read::decode::text::lossy;

/// The runs, agents and single files in a source. The content of each file determines its kind; names only help.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Survey {
    /// The places that can be opened, in order of path.
    pub found: Vec<SurveyPlace>,
    /// Issues of the search itself.
    pub issues: Vec<Issue>,
}

/// A place that can be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurveyPlace {
    /// The kind of place.
    pub kind: FoundKind,
    /// The path of a folder (empty for the source itself) or a file, for [`crate::pages::session::Session::open`].
    pub place: String,
    /// The last part of the path, or the source's label.
    pub name: String,
}

/// The kind of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundKind {
    /// A run folder.
    RunFolder,
    /// A database outside of a run folder.
    Database,
    /// A state file outside of a run folder.
    StateFile,
    /// An `agents.db`, or a folder of agents, which is not a run.
    Agents,
}

/// Files that only a run folder has, in one of its forms (OpenProse's filesystem.md; docs/reference/formats.md).
const STATE_MARKS: &[&str] = &[
    "state.db",
    "vm.log.md",
    "compiled-intent.json",
    ".prose-run-manifest.json",
];
/// Possible names of a run's own copy of its program.
const PROGRAM_MARKS: &[&str] = &["program.prose", "current.prose", "root.prose.md"];
/// Folders inside of a run folder, by which the run folder is recognized.
const PARTS: &[&str] = &["bindings", "agents", "imports", "attachments"];
/// Folders whose content always belongs to the run around them.
const INNER: &[&str] = &[
    "bindings",
    "agents",
    "imports",
    "attachments",
    "gates",
    "handoffs",
    "receipts",
    "services",
    "sources",
    "state",
    "workspace",
    "world-model",
    "world-models",
    "x_history",
];

/// How many files outside of run folders are examined, because a folder may have thousands of unrelated files.
const SNIFF_MOST: usize = 400;

/// Searches a source for run folders at any depth, other databases and state files, and agents.
///
/// Nested runs (`imports/{handle}--{slug}/`) belong to the run around them and are not listed.
pub fn survey(source: &dyn Source) -> Survey {
    let mut survey = Survey {
        // Leaves out warnings about hidden names: only an opened run shows whether a file is missing.
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
    // A run that only has bindings or receipts has no file directly in its folder, so the folder around them counts,
    // too.
    let parts = ["bindings", "receipts", "world-model"];
    let above: BTreeSet<&str> = dirs
        .keys()
        .flat_map(|dir| parts.map(|part| before_part(dir, part)))
        .flatten()
        .collect();
    for dir in above {
        dirs.entry(dir).or_default();
    }
    let mut run_dirs: BTreeSet<&str> = BTreeSet::new();
    for dir in dirs.keys() {
        let is_inner = is_nested(dir) || is_shared(dir) || is_part(dir, &run_dirs);
        if is_inner || !is_run(source, &dirs, dir) {
            continue;
        }
        run_dirs.insert(dir);
        survey.found.push(SurveyPlace {
            kind: FoundKind::RunFolder,
            place: (*dir).to_owned(),
            name: name_of(source, dir),
        });
    }
    for (at, path) in loose_files(source, &run_dirs).into_iter().enumerate() {
        if at >= SNIFF_MOST {
            survey.issues.push(
                Issue::noted(
                    "survey-cut",
                    format!(
                        "only the first {SNIFF_MOST} files outside of run folders were examined"
                    ),
                )
                .hint("Open a run folder or a database directly."),
            );
            break;
        }
        if let Some(kind) = kind_of(source, path) {
            survey.found.push(SurveyPlace {
                kind,
                place: path.to_owned(),
                name: last(path).to_owned(),
            });
        }
    }
    if survey.found.iter().all(|f| f.kind == FoundKind::Agents)
        && let Some(place) = agents_folder(&dirs)
    {
        survey.found.push(SurveyPlace {
            kind: FoundKind::Agents,
            name: name_of(source, &place),
            place,
        });
    }
    survey.found.sort_by(|a, b| a.place.cmp(&b.place));
    survey
}

/// Returns the files outside of run folders that may be a database or a state file.
fn loose_files<'s>(source: &'s dyn Source, run_dirs: &BTreeSet<&str>) -> Vec<&'s str> {
    // Files in `.prose` are examined first, because a project may have many other texts.
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
    loose
}

/// Returns what a file outside of run folders contains, by its first bytes.
fn kind_of(source: &dyn Source, path: &str) -> Option<FoundKind> {
    let head = source.read(path, 0, 64).unwrap_or_default();
    if !head.starts_with(b"SQLite format 3\0") {
        return is_state_file(&head).then_some(FoundKind::StateFile);
    }
    match last(path) {
        "agents.db" => Some(FoundKind::Agents),
        _ => Some(FoundKind::Database),
    }
}

/// Returns whether a folder is a run's. Such a folder has a state file or a database. In a folder of runs, other files
/// of a run are enough.
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
        // `.prose/runs/state.md` is a single state file, unless bindings of the same run are beside it.
        let others = || {
            dirs.keys()
                .any(|d| split(d).0 == dir && *d != dir && !INNER.contains(&last(d)))
        };
        return state.is_some() && part(&"bindings") && !others();
    }
    // A folder inside a folder `runs` needs fewer signs to count as a run.
    let among_runs = last(split(dir).0) == "runs" && split(dir).0 != dir
        || run_id::RunId::parse(last(dir)).millis().is_some();
    let expected = among_runs || has_parts || dir.is_empty();
    let program = PROGRAM_MARKS.iter().any(has);
    let state = state.is_some_and(|name| expected || program || is_state_file(&head(name)));
    let reactor = has(&"receipts.json") && (part(&"compile") || part(&"world-models"));
    STATE_MARKS.iter().any(has)
        || state
        || reactor
        || (expected && last(dir) != "state" && (part(&"receipts") || part(&"world-model")))
        || says("run.json", &["\"run_id\""])
        || says("receipts.jsonl", &["\"content_hash\"", "\"receipt"])
        || (program && expected)
        || (among_runs && (part(&"bindings") || names.iter().any(|name| name.ends_with(".prose"))))
}

/// Returns whether a folder is a part of a known run, such as `bindings/{service}/`, which may contain any files.
fn is_part(dir: &str, runs: &BTreeSet<&str>) -> bool {
    upward(dir).any(|at| INNER.contains(&last(at)) && runs.contains(split(at).0))
}

/// Returns whether a folder is of the truth that all runs of a project share: `state/world-model/{node}/`, also under
/// older names. A ledger there has the receipts of its node from many runs.
fn is_shared(dir: &str) -> bool {
    let shared = ["world-model", "world-models", "responsibilities"];
    let mut pairs = dir.split('/').zip(dir.split('/').skip(1));
    pairs.any(|(outer, inner)| outer == "state" && shared.contains(&inner))
}

/// Iterates over a folder and all folders around it, ending with the source's root, which is empty.
fn upward(dir: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(dir), |at| (!at.is_empty()).then(|| split(at).0))
}

fn is_state_file(head: &[u8]) -> bool {
    let text = lossy(head).0;
    let known = state_md::form(&text) != FolderForm::Foreign;
    known && !text.trim_start().starts_with('{')
}

/// Returns the first folder with a file `agents/{name}/memory.md`.
fn agents_folder(dirs: &BTreeMap<&str, BTreeSet<&str>>) -> Option<String> {
    dirs.iter().find_map(|(dir, names)| {
        let (above, _) = split(dir);
        (names.contains("memory.md") && last(above) == "agents").then(|| split(above).0.to_owned())
    })
}

/// Returns the part of a path before the first component with this name.
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

/// Returns the database of the run at a place: the place itself, or the `state.db` in it.
pub(super) fn database_of(source: &dyn Source, place: &str) -> Option<String> {
    let place = place.trim_end_matches('/');
    let own = (source.file(place).is_some()).then(|| place.to_owned());
    own.or_else(|| Some(join(place, "state.db")).filter(|path| source.file(path).is_some()))
}

#[cfg(test)]
mod tests;
