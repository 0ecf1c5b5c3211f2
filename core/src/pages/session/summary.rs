//! Summarizes a run as one line of a list.

use std::rc::Rc;

use super::pages::{cost, error_in, waiting};
use super::survey::{FoundKind, SurveyPlace, join, split};
use super::unread::unread;
use super::{Options, Session};
use crate::model::issue::Issue;
use crate::model::source::Source;
use crate::model::text::{bytes, short};
use crate::model::time::{Stamp, human_duration, rough_duration};
use crate::model::{Binding, BindingKind, Form, GateStatus, Run, RunStatus};
use crate::pages::view::{Counts, RunSummary};
use crate::program;
use crate::read::decode::{folder, rows};
use crate::trace::judgement;
use crate::trace::{self, STATE_FILE, Trace, Verdict};

/// The size from which a list reads only the beginning of a database, in bytes. Such a database has large values or
/// many rows.
const LARGE: u64 = 8 << 20;

/// The size from which a list reads only the beginning of the source's only database, in bytes. That database is opened
/// next anyway, so this limit is larger than [`LARGE`].
const LARGE_ALONE: u64 = 32 << 20;

/// How many rows of a large database a list reads if the run row does not record how the run ended.
const ROWS: u64 = 20_000;

/// How many rows a list reads if the run row records the end. These rows rarely add an issue, and in a browser, 10,000
/// rows take longer than all other work on the line.
const ROWS_OF_FINISHED: u64 = 2_000;

/// The largest number of characters of an error in a list.
const FAILURE: usize = 160;

/// Returns the run as one line of a list.
pub fn summary(session: &Session) -> RunSummary {
    RunSummary {
        issues: session.issue_counts(),
        name: last_part(&session.label, &session.place).to_owned(),
        against: session.against(),
        ..line_of(&session.run, &session.trace, &session.place)
    }
}

/// Returns the first line of the first cause's error.
fn failure(run: &Run, trace: &Trace) -> Option<String> {
    let cause = trace.first_cause?;
    let error = error_in(run, trace, cause, trace.node(cause)?)?;
    error.trim().lines().next().map(|line| short(line, FAILURE))
}

/// Returns the first output of a completed run in words: `verdict, 477 B, and 2 more`; `None` without an output.
fn wrote(run: &Run, verdict: &Verdict) -> Option<String> {
    let is_over = verdict.status == RunStatus::Completed.word();
    let is_output = |b: &&Binding| b.kind == BindingKind::Output && b.execution_id.is_none();
    let mut outputs = run
        .bindings
        .iter()
        .filter(is_output)
        .filter(|b| b.is_written());
    let first = outputs.next().filter(|_| is_over)?;
    let size = first.value.len().map(bytes);
    let size = size.map_or(String::new(), |size| format!(", {size}"));
    let more = match outputs.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Some(format!("{}{size}{more}", short(&first.name, 60)))
}

/// Returns the name of a place's folder or file. For the source itself, returns the last part of its label, which may
/// be a path of any operating system.
pub(super) fn last_part<'a>(label: &'a str, place: &'a str) -> &'a str {
    let path = match place.trim_end_matches('/') {
        "" => label.trim_end_matches(['/', '\\']),
        place => place,
    };
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns the name of the folder with the path `root` inside of the source.
pub(super) fn folder_name(source: &dyn Source, root: &str) -> String {
    match split(root.trim_end_matches('/')).1 {
        "" => source.folder(),
        name => name.to_owned(),
    }
}

/// Returns the line of a large database, from its beginning alone. `None` if the place is not a large database, or is
/// damaged; opening it then gives the reason.
pub(super) fn of_head(
    source: &Rc<dyn Source>,
    found: &SurveyPlace,
    options: &Options,
    alone: bool,
) -> Option<RunSummary> {
    let path = match found.kind {
        FoundKind::Database => found.place.clone(),
        FoundKind::RunFolder => join(&found.place, "state.db"),
        FoundKind::StateFile | FoundKind::Agents => return None,
    };
    let (dir, name) = split(&path);
    let large = if alone { LARGE_ALONE } else { LARGE };
    source.file(&path).filter(|file| file.len >= large)?;
    let db = source.database(&path, &options.limits).ok()?;
    let rows::ListHead { mut run, left_out } = rows::head(
        db.as_ref(),
        name,
        &folder_name(source.as_ref(), dir),
        |run| {
            if says_its_end(run) {
                ROWS_OF_FINISHED
            } else {
                ROWS
            }
        },
    )
    .ok()?;
    if run.form == Form::Agents {
        return None;
    }
    run.issues.extend(source.notes(&path));
    folder::beside_database(source.as_ref(), &join(dir, ""), &mut run);
    let listing = run.program.source.as_deref().map(program::scan);
    let trace = trace::fold(&run, listing.as_ref(), options.now);
    let mut line = line_of(&run, &trace, &found.place);
    line.name = last_part(&source.label(), &found.place).to_owned();
    line.issues = Counts::of(&run.issues);
    line.against = judgement::first_against(&run, &trace, listing.as_ref());
    line.head_only = Some(match left_out {
        Some(rows) => format!("about {rows} rows were not read for this line of the list"),
        None => "values were not read for this line of the list".to_owned(),
    });
    Some(line)
}

/// Returns whether the run row records how and when the run ended. A row that was not updated after the start does not
/// record the end (errata X15), so the run's other rows are needed.
pub(super) fn says_its_end(run: &Run) -> bool {
    let millis = |stamp: &Option<Stamp>| stamp.as_ref().and_then(Stamp::millis);
    let finished = run.status.as_ref().is_some_and(RunStatus::is_finished);
    let (started, updated) = (millis(&run.started), millis(&run.updated));
    finished && updated.is_some() && updated > started
}

/// Returns the duration of a run in milliseconds, measured by the clock of one source. In a state file, a VM writes a
/// time that may be wrong, often local time with a `Z` (docs/reference/formats.md). Tools write gates and headers by
/// their own clock. So the difference between a VM's time and a tool's time has no meaning.
fn took(run: &Run, verdict: &Verdict) -> Option<i64> {
    let by_file = verdict.last_sign_from.as_deref() == Some(STATE_FILE);
    let until = match run.form {
        Form::Folder { .. } => &run.updated,
        _ if by_file => &run.updated,
        _ => &verdict.last_sign,
    };
    super::pages::span(run.started.as_ref(), until.as_ref())
}

/// Returns when a run started, and the source of that time if the start itself is not recorded.
fn started(run: &Run) -> (Option<Stamp>, Option<String>) {
    match (&run.started, run.started_by_id()) {
        (None, Some(at)) => (
            Some(at),
            Some("the run's id, which names no time zone".to_owned()),
        ),
        (recorded, _) => (recorded.clone(), None),
    }
}

/// Returns when a file of the run was last changed, if the run records no times (errata E4).
fn file_changed(run: &Run, verdict: &Verdict) -> Option<Stamp> {
    match verdict.last_sign {
        None => run.touched.clone(),
        Some(_) => None,
    }
}

/// Returns the time since a run started in words, in the largest unit: `322d`.
pub(super) fn age(line: &RunSummary, now: Option<i64>) -> Option<String> {
    let at = line.started.as_ref().and_then(Stamp::millis)?;
    now.filter(|now| *now >= at)
        .map(|now| rough_duration(now - at))
}

/// Returns whether an issue means that reading a part of the run failed.
fn is_unread(issue: &Issue) -> bool {
    unread(issue).is_some_and(|unread| unread.failed)
}

pub(super) fn line_of(run: &Run, trace: &Trace, place: &str) -> RunSummary {
    let verdict = &trace.verdict;
    let duration_ms = took(run, verdict);
    let (started, started_from) = started(run);
    let pending = run
        .gates
        .iter()
        .filter(|gate| gate.status == GateStatus::Pending);
    RunSummary {
        id: match &*run.id {
            "" => split(place).1.to_owned(),
            id => id.to_owned(),
        },
        place: place.to_owned(),
        program: run.program.path.as_deref().map(str::to_owned),
        status: match run.form {
            Form::Agents => "agents".to_owned(),
            _ => verdict.word().to_owned(),
        },
        stale: verdict.stale,
        reason: verdict.reason.clone(),
        failure: failure(run, trace),
        wrote: wrote(run, verdict),
        form: run.form.words().to_owned(),
        started,
        started_from,
        last_sign: verdict.last_sign.clone(),
        file_changed: file_changed(run, verdict),
        duration: duration_ms.map(human_duration),
        duration_ms,
        pending_gates: pending.count() as u32,
        waits: waiting(run),
        tokens: cost(run).map(|cost| cost.total),
        unread: run.issues.iter().any(is_unread),
        ..RunSummary::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_where_the_run_row_does_not_say_how_it_ended() {
        let at = |text: &str| Some(Stamp::parse(text)).filter(|_| !text.is_empty());
        for (status, started, updated, says) in [
            (
                "completed",
                "2026-01-10 10:00:00",
                "2026-01-10 11:00:00",
                true,
            ),
            ("failed", "", "2026-01-10 11:00:00", true),
            (
                "running",
                "2026-01-10 10:00:00",
                "2026-01-10 11:00:00",
                false,
            ),
            (
                "completed",
                "2026-01-10 10:00:00",
                "2026-01-10 10:00:00",
                false,
            ),
            ("completed", "2026-01-10 10:00:00", "", false),
            ("completed", "", "", false),
            ("", "", "2026-01-10 11:00:00", false),
        ] {
            let run = Run {
                status: Some(RunStatus::parse(status)).filter(|_| !status.is_empty()),
                started: at(started),
                updated: at(updated),
                ..Run::default()
            };
            assert_eq!(says_its_end(&run), says, "{status} {started} {updated}");
        }
    }

    /// A VM's times and a tool's times must not be compared.
    #[test]
    fn a_run_takes_as_long_as_one_source_says() {
        use crate::model::FolderForm;

        const MINUTE: i64 = 60_000;
        let folder = |form| Form::Folder { form };
        let at = |text: &str| Some(Stamp::parse(text)).filter(|_| !text.is_empty());
        for (form, updated, sign, from, took_minutes) in [
            (
                folder(FolderForm::StateMd),
                "10:05",
                "10:05",
                STATE_FILE,
                Some(5),
            ),
            (
                folder(FolderForm::StateMd),
                "10:05",
                "15:06",
                "gate deploy",
                Some(5),
            ),
            (folder(FolderForm::StateMd), "", "15:06", "binding a", None),
            (Form::default(), "10:01", "10:06", "execution 7", Some(6)),
            (Form::default(), "10:01", "15:06", STATE_FILE, Some(1)),
        ] {
            let day = |time: &str| at(time).and(at(&format!("2026-01-15T{time}:00Z")));
            let run = Run {
                form,
                started: day("10:00"),
                updated: day(updated),
                ..Run::default()
            };
            let verdict = Verdict {
                last_sign: day(sign),
                last_sign_from: Some(from.to_owned()),
                ..Verdict::default()
            };
            assert_eq!(
                took(&run, &verdict),
                took_minutes.map(|m: i64| m * MINUTE),
                "{from}"
            );
        }
    }
}
