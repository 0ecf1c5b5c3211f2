//! Selects the runs that `prosescope clean` removes, and explains why it keeps the others.
//!
//! A run is a direct child of `.prose/runs`. Its execution-scoped agents are inside it and are removed with it. Agents
//! of the project and the user stay: only `prosescope agent delete` removes those.

use crate::model::schema::POSTGRES_PREFIX;
use crate::model::time::{Stamp, human_duration};
use crate::pages::session::Filter;
use crate::pages::view::RunSummary;
pub use crate::pages::view::{CleanPlan, CleanRun, Leftover};
use crate::record::WriteError;

pub use crate::model::source::TRASH;

/// The prefix in the name of a folder that a writer is still filling (a new run, a copy). If that writer was killed,
/// the folder is treated like a half-removed run.
pub const UNFINISHED: &str = ".trash-new-";

/// The time after its last change in which an unfinished folder may still have a writer, in milliseconds.
const FILLED: i64 = 3_600_000;

/// The time without activity after which a run without a recorded end counts as abandoned, in milliseconds.
const RECENT: i64 = 86_400_000;

/// A user's request to remove runs. Names and filters both narrow the selection.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// The runs to remove, each as an id, a folder or a unique prefix; an empty list selects any run.
    pub runs: Vec<String>,
    /// Conditions that each run must meet, such as its status and age.
    pub filter: Filter,
    /// Whether runs that are running or waiting at a gate are removed too.
    pub force: bool,
    /// The current time, in milliseconds since 1970 UTC.
    pub now: i64,
}

/// An entry of `.prose/runs`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunsEntry {
    /// The name of the entry.
    pub name: String,
    /// The kind of the entry.
    pub kind: EntryKind,
    /// The total size of the entry's files in bytes.
    pub bytes: u64,
    /// The number of the entry's files.
    pub files: u64,
    /// The time of the newest change of the entry's files, in milliseconds since 1970 UTC.
    pub newest: Option<i64>,
    /// The summary of the run, if the entry is a readable run.
    pub run: Option<RunSummary>,
}

/// The kind of an entry of `.prose/runs`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder.
    #[default]
    Folder,
    /// A link, which is never followed.
    Link,
    /// A file, or anything else.
    Other,
}

/// Decides which entries are removed.
///
/// # Errors
/// [`WriteError::NotFound`] for a name that matches no run. [`WriteError::Wrong`] for a name that matches several runs,
/// or if neither a run nor a filter is given: removing everything is hardly ever meant.
pub fn plan(request: &Request, entries: &[RunsEntry]) -> Result<CleanPlan, WriteError> {
    if request.runs.is_empty() && request.filter == Filter::default() {
        return Err(WriteError::wrong(
            "no run was selected: name runs, or give --older-than or --status",
            "`prosescope clean --status completed,failed --older-than 30d` lists the runs that it would remove; without `--yes`, nothing is removed",
        ));
    }
    let runs = entries.iter().filter_map(|entry| entry.run.as_ref());
    request.filter.known_status(runs).map_err(|unknown| {
        WriteError::wrong(
            unknown.to_string(),
            "`prosescope runs` shows the status of each run",
        )
    })?;
    let mut named: Vec<&str> = Vec::new();
    for name in &request.runs {
        named.push(find(name, entries)?);
    }
    let mut plan = CleanPlan::default();
    for entry in entries {
        if entry.name.starts_with(TRASH) {
            if let Some(why) = filled(request, entry) {
                plan.keep.push(line(request, entry, false, why));
            } else if entry.kind == EntryKind::Folder {
                plan.bytes += entry.bytes;
                plan.leftovers.push(Leftover {
                    name: entry.name.clone(),
                    bytes: entry.bytes,
                });
            }
            continue;
        }
        let by_name = named.contains(&entry.name.as_str());
        if !named.is_empty() && !by_name {
            continue;
        }
        match judge(request, entry, by_name) {
            Removability::Remove(why) => {
                plan.bytes += entry.bytes;
                plan.remove.push(line(request, entry, by_name, why));
            }
            Removability::Keep(why) => plan.keep.push(line(request, entry, by_name, why)),
            Removability::NotAsked => {}
        }
    }
    Ok(plan)
}

/// Returns the reason to keep an unfinished folder, if a writer may still be filling it.
fn filled(request: &Request, entry: &RunsEntry) -> Option<String> {
    let silent = request.now.saturating_sub(entry.newest?);
    let recent = entry.name.starts_with(UNFINISHED) && silent < FILLED;
    (recent && !request.force).then(|| {
        format!(
            "a program may still be writing this folder, which changed {} ago; `--force` removes it anyway",
            rough(silent)
        )
    })
}

enum Removability {
    Remove(String),
    Keep(String),
    NotAsked,
}

fn judge(request: &Request, entry: &RunsEntry, by_name: bool) -> Removability {
    let unless_named = |why: &str| {
        if by_name {
            Removability::Keep(why.to_owned())
        } else {
            Removability::NotAsked
        }
    };
    match entry.kind {
        EntryKind::Link => {
            return unless_named(
                "this is a link, and `clean` removes nothing outside of .prose; remove the link yourself",
            );
        }
        EntryKind::Other => return unless_named("this is not a folder"),
        EntryKind::Folder => {}
    }
    let Some(run) = known(entry) else {
        return unless_named("this is not a run");
    };
    if !request.filter.wants(&run) {
        return unless_named("the run does not match the given status, age or program");
    }
    if run.error.is_some() {
        let asked = by_name || !request.filter.status.is_empty();
        return if asked {
            Removability::Remove("the run cannot be opened".to_owned())
        } else {
            Removability::Keep(
            "the run cannot be opened; to remove it, name the run or give `--status unreadable`".to_owned(),
        )
        };
    }
    let ended = matches!(
        run.status.as_str(),
        "completed" | "failed" | "interrupted" | "complete"
    );
    if !ended && (run.status == "waiting" || run.pending_gates > 0) {
        return forced(request, "the run waits at a gate");
    }
    let silent = last_sign(entry.run.as_ref()).map(|at| request.now.saturating_sub(at));
    if let Some(why) = unended(request, entry, &run.status, silent).filter(|_| !ended) {
        return forced(request, &why);
    }
    Removability::Remove(match silent {
        Some(ms) if !ended => format!("{}, silent for {}", run.status, human_duration(ms)),
        _ => run.status,
    })
}

fn forced(request: &Request, why: &str) -> Removability {
    if request.force {
        Removability::Remove(format!("--force, although {why}"))
    } else {
        Removability::Keep(format!("{why}; `--force` removes the run anyway"))
    }
}

/// Returns why a run without a recorded end is kept; `None` if the run counts as abandoned.
///
/// A file's date does not prove activity: copies and checkouts reset it, and archives can set any date. So the run's
/// age comes from its recorded times. But removal is final, and some writers do not record each step. So a file that
/// changed within the last day keeps the run, too.
fn unended(
    request: &Request,
    entry: &RunsEntry,
    status: &str,
    silent: Option<i64>,
) -> Option<String> {
    let Some(silent) = silent else {
        return Some(format!("the run is {status} and records no time"));
    };
    if silent < RECENT {
        let ago = rough(silent);
        return Some(format!("the run is {status} with a sign of life {ago} ago"));
    }
    let changed = request.now.saturating_sub(entry.newest?);
    (changed < RECENT).then(|| {
        format!(
            "the run is {status}: its records are silent for {}, but one of its files changed {} ago, as in a copy",
            human_duration(silent),
            rough(changed)
        )
    })
}

/// Returns the run's summary, to which the filter is applied. A run without recorded times gets the date of its newest
/// file as the last sign of life.
fn known(entry: &RunsEntry) -> Option<RunSummary> {
    let mut run = entry.run.clone()?;
    if run.last_sign.is_none() && run.started.is_none() {
        run.last_sign = entry.newest.map(Stamp::At);
    }
    Some(run)
}

/// Returns the time of the run's last recorded activity, or of its start, in milliseconds since 1970 UTC.
fn last_sign(run: Option<&RunSummary>) -> Option<i64> {
    let recorded = run.and_then(|run| run.last_sign.as_ref().or(run.started.as_ref()));
    recorded.and_then(Stamp::millis)
}

fn line(request: &Request, entry: &RunsEntry, named: bool, why: String) -> CleanRun {
    let run = entry.run.clone().unwrap_or_default();
    let age = last_sign(Some(&run));
    CleanRun {
        run: entry.name.clone(),
        status: match run.error {
            Some(_) => "unreadable".to_owned(),
            None => run.status,
        },
        age: age.map(|at| rough(request.now.saturating_sub(at))),
        last_sign: run.last_sign.or(run.started),
        bytes: entry.bytes,
        files: entry.files,
        why,
        named,
    }
}

/// Returns a duration in words, rounded to minutes or more.
fn rough(ms: i64) -> String {
    match ms {
        ..60_000 => "less than 1m".to_owned(),
        ms => human_duration(ms),
    }
}

/// Returns the folder of the run that a name means. The name is the folder's name, the run's id, or a prefix of one
/// folder's name.
fn find<'e>(name: &str, entries: &'e [RunsEntry]) -> Result<&'e str, WriteError> {
    let id = name.strip_prefix(POSTGRES_PREFIX);
    let (place, hint) = match id {
        Some(_) => (
            "PostgreSQL",
            "`prosescope runs` lists the newest runs there",
        ),
        None => (
            ".prose/runs",
            "`prosescope runs` lists the runs; only direct entries of .prose/runs can be removed",
        ),
    };
    if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') {
        let message = format!("{name:?} is not a run's id: name the run to remove by its id");
        return Err(WriteError::wrong(message, hint));
    }
    let is_id = |entry: &&RunsEntry| entry.run.as_ref().is_some_and(|run| run.id == name);
    if let Some(entry) = entries.iter().find(|entry| entry.name == name) {
        return Ok(&entry.name);
    }
    let mut found: Vec<&str> = entries
        .iter()
        .filter(is_id)
        .map(|e| e.name.as_str())
        .collect();
    if found.is_empty() {
        found = entries
            .iter()
            .map(|entry| entry.name.as_str())
            .filter(|entry| entry.starts_with(name))
            .collect();
    }
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(WriteError::not_found(
            format!("there is no run {} in {place}", id.unwrap_or(name)),
            hint,
        )),
        many => Err(WriteError::wrong(
            format!("{name} matches several runs: {}", many.join(", ")),
            "give more of the id",
        )),
    }
}

#[cfg(test)]
mod tests;
