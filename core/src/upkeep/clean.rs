//! Which runs `prosescope clean` takes, and why it leaves the others.
//!
//! A run is what lies straight in `.prose/runs`; its execution-scoped agents lie in it and go with it. Agents of the
//! project and the user do not: `prosescope agent delete` is their only end.

use crate::schema::POSTGRES_PREFIX;
use crate::session::Filter;
use crate::time::{Stamp, human_duration};
use crate::view::RunSummary;
pub use crate::view::{CleanPlan, CleanRun, Leftover};
use crate::write::WriteError;

pub use crate::source::TRASH;

/// How a folder begins that is being filled: a new run, a copy. Killed, it is what a removed folder is.
pub const UNFINISHED: &str = ".trash-new-";

/// Changed within so long, such a folder may have somebody who fills it: milliseconds.
const FILLED: i64 = 3_600_000;

/// Without a sign of life for so long, a run that nobody ended is given up: milliseconds.
const RECENT: i64 = 86_400_000;

/// What somebody asks for. Names and filters narrow together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Runs by id, folder or a unique beginning of it; empty: any.
    pub runs: Vec<String>,
    /// Which of them.
    pub filter: Filter,
    /// Also those that run, or wait at a gate.
    pub force: bool,
    /// Milliseconds since 1970 UTC.
    pub now: i64,
}

/// Something in `.prose/runs`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entry {
    /// Its name there.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Bytes of its files.
    pub bytes: u64,
    /// How many files.
    pub files: u64,
    /// When one of them was last changed, milliseconds since 1970 UTC.
    pub newest: Option<i64>,
    /// What is known of the run, where it is one.
    pub run: Option<RunSummary>,
}

/// What an entry of `.prose/runs` is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder.
    #[default]
    Folder,
    /// A link: never followed.
    Link,
    /// A file, or anything else.
    Other,
}

/// Decides what goes.
///
/// # Errors
/// [`WriteError::NotFound`] or [`WriteError::Wrong`] for a name that is no run's, or several runs';
/// [`WriteError::Wrong`] when neither a run nor a filter is given: nobody means all of them.
pub fn plan(request: &Request, entries: &[Entry]) -> Result<CleanPlan, WriteError> {
    if request.runs.is_empty() && request.filter == Filter::default() {
        return Err(WriteError::wrong(
            "which runs: name some, or say --older-than or --status",
            "`prosescope clean --status completed,failed --older-than 30d` says what would go; nothing goes without --yes",
        ));
    }
    let runs = entries.iter().filter_map(|entry| entry.run.as_ref());
    request.filter.known_status(runs).map_err(|unknown| {
        WriteError::wrong(
            unknown.to_string(),
            "`prosescope runs` shows how the runs stand",
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
            Judged::Remove(why) => {
                plan.bytes += entry.bytes;
                plan.remove.push(line(request, entry, by_name, why));
            }
            Judged::Keep(why) => plan.keep.push(line(request, entry, by_name, why)),
            Judged::NotAsked => {}
        }
    }
    Ok(plan)
}

/// Why an unfinished folder stays, where somebody may be filling it.
fn filled(request: &Request, entry: &Entry) -> Option<String> {
    let silent = request.now.saturating_sub(entry.newest?);
    let recent = entry.name.starts_with(UNFINISHED) && silent < FILLED;
    (recent && !request.force).then(|| {
        format!(
            "it may be in the making: it changed {} ago; --force takes it all the same",
            rough(silent)
        )
    })
}

enum Judged {
    Remove(String),
    Keep(String),
    NotAsked,
}

fn judge(request: &Request, entry: &Entry, by_name: bool) -> Judged {
    let unless_named = |why: &str| match by_name {
        true => Judged::Keep(why.to_owned()),
        false => Judged::NotAsked,
    };
    match entry.kind {
        EntryKind::Link => {
            return unless_named(
                "it is a link: nothing outside of .prose is touched; remove it yourself",
            );
        }
        EntryKind::Other => return unless_named("it is no folder"),
        EntryKind::Folder => {}
    }
    let Some(run) = known(entry) else {
        return unless_named("it is no run");
    };
    if !request.filter.wants(&run) {
        return unless_named("it is not of the status, the age or the program that was asked for");
    }
    if run.error.is_some() {
        let asked = by_name || !request.filter.status.is_empty();
        return match asked {
            true => Judged::Remove("it cannot be opened".to_owned()),
            false => Judged::Keep(
                "it cannot be opened; name it, or ask for --status unreadable".to_owned(),
            ),
        };
    }
    let ended = matches!(
        run.status.as_str(),
        "completed" | "failed" | "interrupted" | "complete"
    );
    if !ended && (run.status == "waiting" || run.pending_gates > 0) {
        return forced(request, "it waits at a gate");
    }
    let silent = last_sign(entry.run.as_ref()).map(|at| request.now.saturating_sub(at));
    if let Some(why) = unended(request, entry, &run.status, silent).filter(|_| !ended) {
        return forced(request, &why);
    }
    Judged::Remove(match silent {
        Some(ms) if !ended => format!("{}, silent for {}", run.status, human_duration(ms)),
        _ => run.status,
    })
}

fn forced(request: &Request, why: &str) -> Judged {
    match request.force {
        true => Judged::Remove(format!("--force, although {why}")),
        false => Judged::Keep(format!("{why}; --force takes it all the same")),
    }
}

/// Why a run stays that no record says ended.
///
/// The date of a file is no sign of life: copies and checkouts reset it, archives set it to anything. So it neither
/// makes such a run old, nor live where its records are silent. But a removed run does not come back, and a writer may
/// record no time: a file that changed today holds the removal back, for what it is.
fn unended(request: &Request, entry: &Entry, status: &str, silent: Option<i64>) -> Option<String> {
    let Some(silent) = silent else {
        return Some(format!("it is {status} and records no time"));
    };
    if silent < RECENT {
        let ago = rough(silent);
        return Some(format!("it is {status} with a sign of life {ago} ago"));
    }
    let changed = request.now.saturating_sub(entry.newest?);
    (changed < RECENT).then(|| {
        format!(
            "it is {status}, its records are silent for {}, and a file of it changed {} ago, as in a copy",
            human_duration(silent),
            rough(changed)
        )
    })
}

/// What the age of a run is judged by: where it records no time, nothing of it changed since the date of its newest
/// file.
fn known(entry: &Entry) -> Option<RunSummary> {
    let mut run = entry.run.clone()?;
    if run.last_sign.is_none() && run.started.is_none() {
        run.last_sign = entry.newest.map(Stamp::At);
    }
    Some(run)
}

/// The last sign of life that the run records; else its start.
fn last_sign(run: Option<&RunSummary>) -> Option<i64> {
    let recorded = run.and_then(|run| run.last_sign.as_ref().or(run.started.as_ref()));
    recorded.and_then(Stamp::millis)
}

fn line(request: &Request, entry: &Entry, named: bool, why: String) -> CleanRun {
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

/// How long ago, in words: seconds say nothing here.
fn rough(ms: i64) -> String {
    match ms {
        ..60_000 => "less than 1m".to_owned(),
        ms => human_duration(ms),
    }
}

/// The entry that a name means: its folder, its id, or a unique beginning of its folder.
fn find<'e>(name: &str, entries: &'e [Entry]) -> Result<&'e str, WriteError> {
    let id = name.strip_prefix(POSTGRES_PREFIX);
    let (place, hint) = match id {
        Some(_) => (
            "PostgreSQL",
            "`prosescope runs` lists the newest runs there",
        ),
        None => (
            ".prose/runs",
            "`prosescope runs` lists the runs; only what lies straight in .prose/runs can be removed",
        ),
    };
    if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') {
        let message = format!("{name:?} is no run's id: a run to remove is named by its id");
        return Err(WriteError::wrong(message, hint));
    }
    let is_id = |entry: &&Entry| entry.run.as_ref().is_some_and(|run| run.id == name);
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
            format!("{name} may be {}", many.join(", ")),
            "give more of the id",
        )),
    }
}

#[cfg(test)]
mod tests;
