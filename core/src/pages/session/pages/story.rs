//! Describes a run in words: a headline and a few sentences.

use super::index::short;
use super::program::statements;
use super::trace::count;
use super::work::sentence;
use crate::model::text::count as number;
use crate::model::{Form, RecordedStatus};
use crate::pages::view::{
    DERIVED, GateView, NodeRef, Overview, RunPart, StatusCount, WAS_EXECUTING,
};
use crate::trace::NodeStatus;

/// Returns the headline. `inferred` means that no row records the run's position.
pub(super) fn headline(view: &Overview, inferred: bool) -> String {
    let (at, comma_at) = if inferred {
        (", probably at ", ", probably at ")
    } else {
        (" at ", ", at ")
    };
    match view.status.as_str() {
        "completed" => {
            // The run does not record a status, or records a doubtful one; the status was inferred from what ran.
            let source = &*view.status_source;
            let is_guess = matches!(source, "execution trace" | "disk")
                || RecordedStatus::DOUBTFUL.contains(&source);
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
            None => "Failed; no record shows where".to_owned(),
        },
        "waiting" => match view.pending_gates.as_slice() {
            [] => match view.questions.as_slice() {
                [] => "Waiting".to_owned(),
                [asked] => {
                    let question = asked.question.as_deref().unwrap_or(&asked.input);
                    format!("Waiting for an answer: {question}")
                }
                many => format!("Waiting for {} answers", number(many.len() as u64)),
            },
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
            0 if view.is_unread(RunPart::Agents) => "Agents that could not be read".to_owned(),
            n => format!("A store of {}", count(n, "agent", "agents")),
        },
        "" | "unknown" => {
            let why = match view.sealed() {
                Some(file) => format!("{file} is not readable: it is encrypted"),
                None if view.is_unread(RunPart::Statements) => {
                    "the run could not be read".to_owned()
                }
                None => view.status_reason.clone(),
            };
            format!("Status unknown: {why}")
        }
        other => format!("Status: {other}"),
    }
}

/// Describes a statement with its line, if the line is known.
pub(super) fn line_of(node: &NodeRef) -> String {
    // A colon at the statement's end would seem to introduce the words behind it.
    let text = short(node.text.trim_end_matches([':', ' ']), 60);
    match (node.line, node.line_guessed) {
        (Some(line), false) => format!("line {line}: {text}"),
        (Some(line), true) => format!("{text} (line {line}?)"),
        (None, _) => text,
    }
}

/// Describes the run's position after the word `one`, or its positions after the word `several`; empty without a
/// recorded position.
fn places(view: &Overview, one: &str, several: &str) -> String {
    match view.positions.as_slice() {
        [] => String::new(),
        [place] => format!("{one}{}", line_of(place)),
        _ => format!("{several}{} places", number(view.position_count.into())),
    }
}

/// Returns up to four sentences: how much ran, what failed, the run's positions unless the headline has them, and the
/// last sign of life of an interrupted run. `remarks` is the number of lines that are not records of statements.
pub(super) fn sentences(view: &Overview, form: &Form, remarks: u32) -> Vec<String> {
    if view.is_of_agents() {
        return vec![
            "This file is not a run. It contains the memories of agents that outlive runs."
                .to_owned(),
        ];
    }
    let silence = (view.status == "interrupted")
        .then(|| silence(view))
        .flatten();
    [
        progress(view, form, remarks),
        trouble(view),
        tokens(view),
        standing(view),
        silence,
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns a sentence about the tokens, which says that they are a claim.
fn tokens(view: &Overview) -> Option<String> {
    let total = &view.cost.as_ref()?.total;
    let who = match total.executions {
        1 => "One receipt reports".to_owned(),
        n => format!("{} receipts report", number(n.into())),
    };
    Some(format!("{who} {}.", total.words()))
}

/// Counts what the run consists of: the statements of a program, or in contract 2 the wakes of nodes.
fn units(form: &Form, n: u32) -> String {
    if form.has_nodes() {
        count(n, "wake", "wakes")
    } else {
        statements(n)
    }
}

fn progress(view: &Overview, form: &Form, remarks: u32) -> Option<String> {
    let of = |word: &str| {
        let of = view.by_status.iter().find(|of| of.status == word);
        of.map_or(0, |of| of.count)
    };
    if view.statements == 0 {
        return Some(nothing_ran(view, of("skipped"), remarks));
    }
    let done = view.statements_done;
    let unread = match (view.sealed(), view.is_unread(RunPart::Statements)) {
        (Some(file), _) => format!("; {file} is encrypted"),
        (None, true) => "; other statements could not be read".to_owned(),
        (None, false) => String::new(),
    };
    let is_known = |word: &str| {
        DERIVED.contains(&word) || NodeStatus::KNOWN.iter().any(|known| known.word() == word)
    };
    let odd = view.by_status.iter().filter(|of| !is_known(&of.status));
    let odd = match odd.map(|of| of.count).sum() {
        0 => String::new(),
        n => format!("; {} ended with an unknown status", units(form, n)),
    };
    // For a failed run, the headline or the next sentence describes the failure.
    let failed = of("failed");
    if failed > 0 && view.status == "completed" {
        let (done, all) = (number(done.into()), units(form, view.statements));
        let was = if failed == 1 { "was" } else { "were" };
        let failed = number(failed.into());
        return Some(format!(
            "{done} of {all} finished; {failed} failed and {was} not recovered{unread}{odd}."
        ));
    }
    Some(match done {
        0 => format!("No statement finished{unread}{odd}."),
        // With unread statements or unknown statuses, "N of M" would be wrong.
        _ if done < view.statements && unread.is_empty() && odd.is_empty() => {
            let (done, all) = (number(done.into()), units(form, view.statements));
            format!("{done} of {all} finished.")
        }
        _ => format!("{} finished{unread}{odd}.", units(form, done)),
    })
}

/// Returns a sentence that no statement began, with the number of values and remarks.
fn nothing_ran(view: &Overview, skipped: u32, remarks: u32) -> String {
    let none = "No statement is recorded";
    let verb = if skipped == 1 { "was" } else { "were" };
    match (view.sealed(), view.bindings) {
        (Some(file), _) => {
            format!("The executed statements are not readable: {file} is encrypted.")
        }
        _ if view.is_unread(RunPart::Statements) => {
            "The executed statements could not be read.".to_owned()
        }
        _ if skipped > 0 => format!("{} {verb} skipped, and none began.", statements(skipped)),
        (_, 0) if view.is_unread(RunPart::Bindings) => {
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

/// Puts a statement into backticks, so that pages can format it inside of a sentence.
fn code(text: &str, most: usize) -> String {
    format!("`{}`", short(text, most).replace('`', "'"))
}

fn trouble(view: &Overview) -> Option<String> {
    if let Some(failure) = &view.failure {
        // Pages show the error message itself below the sentences.
        let silent = failure
            .error
            .is_none()
            .then_some("the error message is not recorded");
        let around = Some(failure.because_words.as_str()).filter(|words| !words.is_empty());
        // The headline of a failed run already contains the first failed statement.
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

/// Returns the first gate at which a run waits.
pub(super) fn judges(view: &Overview) -> Option<&GateView> {
    let is_over = matches!(view.status.as_str(), "completed" | "failed");
    view.pending_gates.first().filter(|_| !is_over)
}

/// Returns a sentence with the last sign of life of an interrupted run, and a warning about unfinished statements.
fn silence(view: &Overview) -> Option<String> {
    let last = view.last_sign.as_ref()?;
    let was_executing = |of: &StatusCount| of.status == WAS_EXECUTING && of.count > 0;
    let unfinished = if view.by_status.iter().any(was_executing) {
        " The statement that was running then did not finish; it may have been carried out in part."
    } else {
        ""
    };
    let last = last.spoken();
    Some(format!("The last sign of life was on {last}.{unfinished}"))
}

fn standing(view: &Overview) -> Option<String> {
    if judges(view).is_some() {
        return None;
    }
    match view.status.as_str() {
        "completed" if view.bindings == 0 && view.is_unread(RunPart::Bindings) => {
            Some("The values of the run could not be read.".to_owned())
        }
        "completed" if view.bindings == 0 => Some("No values are recorded.".to_owned()),
        // The first sentence already contains the number of values.
        "completed" if view.statements == 0 => None,
        "completed" => Some(format!(
            "The run wrote {}.",
            count(view.bindings, "value", "values")
        )),
        "failed" => None,
        _ => match view.positions.as_slice() {
            [] => None,
            // The headline already contains the position.
            [one] => {
                let error = short(one.error.as_deref()?, 160);
                let error = error.trim_end_matches('.');
                Some(format!("The last attempt failed: {error}."))
            }
            many => {
                let near = many.iter().take(3).map(|n| code(&n.text, 40));
                let near = near.collect::<Vec<_>>().join(", ");
                let more = if many.len() > 3 { " …" } else { "" };
                let places = number(view.position_count.into());
                Some(format!("The run stands in {places} places: {near}{more}."))
            }
        },
    }
}

#[cfg(test)]
mod tests;
