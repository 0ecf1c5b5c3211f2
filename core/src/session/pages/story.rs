//! What happened, in words: one headline and three sentences.

use super::index::short;
use super::program::statements;
use super::trace::{RECOVERED, WAS_EXECUTING, WAS_WAITING, count};
use super::work::sentence;
use crate::text::count as number;
use crate::trace::{NOT_UNDERSTOOD, NodeStatus};
use crate::view::{GateView, NodeRef, Overview, Part, StatusCount};

/// One line that answers before any table. `inferred`: no record says that the run stands where it is said to stand.
pub(super) fn headline(view: &Overview, inferred: bool) -> String {
    let (at, comma_at) = match inferred {
        true => (", probably at ", ", probably at "),
        false => (" at ", ", at "),
    };
    match view.status.as_str() {
        "completed" => {
            // No record names the status: it follows from what ran.
            let is_guess = matches!(&*view.status_source, "execution trace" | "disk");
            let completed = if is_guess {
                "Probably completed"
            } else {
                "Completed"
            };
            let took = view.duration.as_ref();
            took.map_or_else(
                || completed.to_owned(),
                |took| format!("{completed} in {took}"),
            )
        }
        "failed" => match &view.failure {
            Some(failure) => format!("Failed at {}", line_of(&failure.cause)),
            None => "Failed; no record says where".to_owned(),
        },
        "waiting" => match view.pending_gates.as_slice() {
            [] => "Waiting".to_owned(),
            [gate] => {
                let since = gate.created.as_ref();
                let since = since.map_or(String::new(), |at| format!(" since {}", at.spoken()));
                let waits = || format!("Waiting at gate {}{since}", gate.id);
                gate.passed().unwrap_or_else(waits)
            }
            many => format!("Waiting at {} gates", number(many.len() as u64)),
        },
        "interrupted" => format!("Interrupted{}", places(view, at, " in ")),
        "running" if view.stale => {
            let silent = match &view.last_sign_ago {
                Some(ago) => ago.trim_end_matches(" ago"),
                None => "over a day",
            };
            let places = places(view, comma_at, ", in ");
            format!("Running, silent for {silent}{places}")
        }
        "running" => format!("Running{}", places(view, at, " in ")),
        _ if view.is_of_agents() => match view.agents {
            0 if view.is_unread(Part::Agents) => "Agents that could not be read".to_owned(),
            n => format!("A store of {}", count(n, "agent", "agents")),
        },
        "" | "unknown" => {
            let why = match view.sealed() {
                Some(file) => format!("{file} is not readable: it is encrypted"),
                None if view.is_unread(Part::Statements) => "the run could not be read".to_owned(),
                None if view.status_source == NOT_UNDERSTOOD => view.status_reason.clone(),
                None => "nothing in the run records it".to_owned(),
            };
            format!("Status unknown: {why}")
        }
        other => format!("Status: {other}"),
    }
}

/// A statement by its line, where that is known.
pub(super) fn line_of(node: &NodeRef) -> String {
    let text = short(&node.text, 60);
    match (node.line, node.line_guessed) {
        (Some(line), false) => format!("line {line}: {text}"),
        (Some(line), true) => format!("{text} (line {line}?)"),
        (None, _) => text,
    }
}

/// Where a run stands, after one of two words; empty where no record says it.
fn places(view: &Overview, one: &str, several: &str) -> String {
    match view.positions.as_slice() {
        [] => String::new(),
        [place] => format!("{one}{}", line_of(place)),
        _ => format!("{several}{} places", number(view.position_count.into())),
    }
}

/// Up to four sentences: how much ran, what went wrong, what the headline does not say of where it stands, since when an
/// interrupted run is silent.
/// `remarks`: lines of its files that record no statement.
pub(super) fn sentences(view: &Overview, remarks: u32) -> Vec<String> {
    if view.is_of_agents() {
        return vec!["Agents outlive runs: this file holds their memories and no run.".to_owned()];
    }
    let silence = (view.status == "interrupted")
        .then(|| silence(view))
        .flatten();
    [
        progress(view, remarks),
        trouble(view),
        standing(view),
        silence,
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn progress(view: &Overview, remarks: u32) -> Option<String> {
    let of = |word: &str| {
        let of = view.by_status.iter().find(|of| of.status == word);
        of.map_or(0, |of| of.count)
    };
    if view.statements == 0 {
        return Some(nothing_ran(view, of("skipped"), remarks));
    }
    let done = view.statements_done;
    let unread = match (view.sealed(), view.is_unread(Part::Statements)) {
        (Some(file), _) => format!("; {file} is encrypted"),
        (None, true) => "; others could not be read".to_owned(),
        (None, false) => String::new(),
    };
    let is_known = |word: &str| {
        [RECOVERED, WAS_EXECUTING, WAS_WAITING].contains(&word)
            || NodeStatus::KNOWN.iter().any(|known| known.word() == word)
    };
    let odd = view.by_status.iter().filter(|of| !is_known(&of.status));
    let odd = match odd.map(|of| of.count).sum() {
        0 => String::new(),
        n => format!("; how {} ended is not understood", statements(n)),
    };
    // What failed in a run that failed is told by its headline, or by the next sentence.
    let failed = of("failed");
    if failed > 0 && view.status == "completed" {
        let (done, all) = (number(done.into()), statements(view.statements));
        let it = if failed == 1 { "it" } else { "them" };
        let failed = number(failed.into());
        return Some(format!(
            "{done} of {all} finished; {failed} failed and nothing recovered {it}{unread}{odd}."
        ));
    }
    Some(match done {
        0 => format!("No statement finished{unread}{odd}."),
        // What could not be read is not counted, and what ended in a word of its own may have finished.
        _ if done < view.statements && unread.is_empty() && odd.is_empty() => {
            let (done, all) = (number(done.into()), statements(view.statements));
            format!("{done} of {all} finished.")
        }
        _ => format!("{} finished{unread}{odd}.", statements(done)),
    })
}

/// That no statement began, and what is there all the same.
fn nothing_ran(view: &Overview, skipped: u32, remarks: u32) -> String {
    let none = "No statement is recorded";
    let verb = if skipped == 1 { "was" } else { "were" };
    match (view.sealed(), view.bindings) {
        (Some(file), _) => format!("What was executed is not readable: {file} is encrypted."),
        _ if view.is_unread(Part::Statements) => "What was executed could not be read.".to_owned(),
        _ if skipped > 0 => format!("{} {verb} skipped, and none began.", statements(skipped)),
        (_, 0) if view.is_unread(Part::Bindings) => {
            format!("{none}; the values could not be read.")
        }
        (_, 0) if remarks > 0 => {
            let are = count(remarks, "remark is", "remarks are");
            format!("{none}, but {are} there.")
        }
        (_, 0) if view.status == "running" => format!("{none} yet."),
        (_, 0) => format!("{none}."),
        (_, n) if remarks > 0 => {
            let remarks = count(remarks, "remark", "remarks");
            let values = count(n, "value", "values");
            format!("{none}, but {remarks} and {values} are there.")
        }
        (_, n) => {
            let are = count(n, "value is", "values are");
            format!("{none}, but {are} there.")
        }
    }
}

/// A statement inside a sentence: in backticks, so that a page can set it apart.
fn code(text: &str, most: usize) -> String {
    format!("`{}`", short(text, most).replace('`', "'"))
}

fn trouble(view: &Overview) -> Option<String> {
    if let Some(failure) = &view.failure {
        // Its message stands below the sentences.
        let silent = failure
            .error
            .is_none()
            .then_some("no message of it is recorded");
        let around = Some(failure.because_words.as_str()).filter(|words| !words.is_empty());
        // The headline of a failed run names it.
        let others = |of: &StatusCount| of.status == "failed" && of.count > 1;
        let only = view.status == "completed" && !view.by_status.iter().any(others);
        let first = if only { "failed" } else { "failed first" };
        let name =
            (view.status != "failed").then(|| format!("{} {first}", code(&failure.cause.text, 80)));
        let clauses = name.as_deref().into_iter().chain(silent).chain(around);
        let clauses = clauses.collect::<Vec<_>>().join("; ");
        return (!clauses.is_empty()).then(|| sentence(&clauses));
    }
    let retried = (view.retried > 0)
        .then(|| format!("{} needed more than one attempt", statements(view.retried)));
    let recovered = count(view.recovered, "failure was", "failures were");
    let recovered = (view.recovered > 0).then(|| format!("{recovered} recovered"));
    let both: Vec<String> = retried.into_iter().chain(recovered).collect();
    (!both.is_empty()).then(|| format!("{}.", both.join("; ")))
}

/// The gate that a run waits at, the first of several.
pub(super) fn judges(view: &Overview) -> Option<&GateView> {
    let is_over = matches!(view.status.as_str(), "completed" | "failed");
    view.pending_gates.first().filter(|_| !is_over)
}

/// Since when nothing is recorded of an interrupted run, and what became of what it did last.
fn silence(view: &Overview) -> Option<String> {
    let last = view.last_sign.as_ref()?;
    let was_executing = |of: &StatusCount| of.status == WAS_EXECUTING && of.count > 0;
    let unfinished = match view.by_status.iter().any(was_executing) {
        true => " What it did last was not finished; it may have happened in part.",
        false => "",
    };
    let last = last.spoken();
    Some(format!("Nothing was heard of it since {last}.{unfinished}"))
}

fn standing(view: &Overview) -> Option<String> {
    if judges(view).is_some() {
        return None;
    }
    match view.status.as_str() {
        "completed" if view.bindings == 0 && view.is_unread(Part::Bindings) => {
            Some("Its values could not be read.".to_owned())
        }
        "completed" if view.bindings == 0 => Some("It left no values.".to_owned()),
        // The values were named already.
        "completed" if view.statements == 0 => None,
        "completed" => Some(format!(
            "It left {}.",
            count(view.bindings, "value", "values")
        )),
        "failed" => None,
        _ => match view.positions.as_slice() {
            [] => None,
            // The headline says where.
            [one] => {
                let error = short(one.error.as_deref()?, 160);
                let error = error.trim_end_matches('.');
                Some(format!("Its last attempt failed: {error}."))
            }
            many => {
                let near = many.iter().take(3).map(|n| code(&n.text, 40));
                let near = near.collect::<Vec<_>>().join(", ");
                let more = if many.len() > 3 { " …" } else { "" };
                let places = number(view.position_count.into());
                Some(format!("It stands in {places} places: {near}{more}."))
            }
        },
    }
}

#[cfg(test)]
mod tests;
