//! What happened, in words: one headline and three sentences.

use super::index::short;
use super::overview::AGENTS;
use super::program::statements;
use super::trace::{RECOVERED, WAS_EXECUTING, WAS_WAITING, count};
use super::work::sentence;
use crate::text::count as number;
use crate::time::Stamp;
use crate::trace::{NOT_UNDERSTOOD, NodeStatus};
use crate::view::{NodeRef, Overview, Part};

/// One line that answers before any table. `inferred`: no record says that the run stands where it is said to stand.
pub(super) fn headline(view: &Overview, inferred: bool) -> String {
    let (at, comma_at) = match inferred {
        true => (", probably at ", ", probably at "),
        false => (" at ", ", at "),
    };
    match view.status.as_str() {
        "completed" => {
            let completed = match is_guess(view) {
                true => "Probably completed",
                false => "Completed",
            };
            match &view.duration {
                Some(took) => format!("{completed} in {took}"),
                None => completed.to_owned(),
            }
        }
        "failed" => match &view.failure {
            Some(failure) => format!("Failed at {}", line_of(&failure.cause)),
            None => "Failed; no record says where".to_owned(),
        },
        "waiting" => match view.pending_gates.as_slice() {
            [] => "Waiting".to_owned(),
            [gate] => {
                let since = match (&gate.remaining, &gate.created) {
                    (Some(remaining), _) if gate.overdue => format!(", which {remaining}"),
                    (_, Some(since @ Stamp::At(_))) => {
                        format!(" since {} UTC", since.minute())
                    }
                    (_, Some(since)) => format!(" since {since}"),
                    (_, None) => String::new(),
                };
                format!("Waiting at gate {}{since}", gate.id)
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
        _ if view.form == AGENTS => match view.agents {
            0 if view.is_unread(Part::Agents) => "Agents that could not be read".to_owned(),
            n => format!("A store of {}", count(n, "agent", "agents")),
        },
        "" | "unknown" if view.sealed().is_some() => {
            format!(
                "Status unknown: {} is not readable: it is encrypted",
                view.sealed().unwrap_or_default()
            )
        }
        "" | "unknown" if view.is_unread(Part::Statements) => {
            "Status unknown: the run could not be read".to_owned()
        }
        "" | "unknown" if view.status_source == NOT_UNDERSTOOD => {
            format!("Status unknown: {}", view.status_reason)
        }
        "" | "unknown" => "Status unknown: nothing in the run records it".to_owned(),
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

/// Whether no record names the status: it follows from what ran.
fn is_guess(view: &Overview) -> bool {
    matches!(&*view.status_source, "execution trace" | "disk")
}

/// Up to three sentences: how much ran, what went wrong, what the headline does not say of where it stands.
/// `remarks`: lines of its files that record no statement.
pub(super) fn sentences(view: &Overview, remarks: u32) -> Vec<String> {
    if view.form == AGENTS {
        return vec!["Agents outlive runs: this file holds their memories and no run.".to_owned()];
    }
    [progress(view, remarks), trouble(view), standing(view)]
        .into_iter()
        .flatten()
        .collect()
}

fn progress(view: &Overview, remarks: u32) -> Option<String> {
    if let (0, Some(file)) = (view.statements, view.sealed()) {
        return Some(format!(
            "What was executed is not readable: {file} is encrypted."
        ));
    }
    if view.statements == 0 && view.is_unread(Part::Statements) {
        return Some("What was executed could not be read.".to_owned());
    }
    let skipped = view
        .by_status
        .iter()
        .find(|count| count.status == "skipped");
    if let (0, Some(skipped)) = (view.statements, skipped) {
        return Some(format!("{} skipped, and none began.", was(skipped.count)));
    }
    if view.statements == 0 {
        return Some(match view.bindings {
            0 if view.is_unread(Part::Bindings) => {
                "No statement is recorded; the bindings could not be read.".to_owned()
            }
            0 if remarks > 0 => format!(
                "No statement is recorded, but {} there.",
                count(remarks, "remark is", "remarks are")
            ),
            0 if view.status == "running" => "No statement is recorded yet.".to_owned(),
            0 => "No statement is recorded.".to_owned(),
            n if remarks > 0 => format!(
                "No statement is recorded, but {} and {} are there.",
                count(remarks, "remark", "remarks"),
                count(n, "binding", "bindings")
            ),
            n => format!(
                "No statement is recorded, but {} there.",
                count(n, "binding is", "bindings are")
            ),
        });
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
    let failed = view.by_status.iter().find(|of| of.status == "failed");
    // What failed in a run that failed is told by its headline, or by the next sentence.
    if let (Some(failed), "completed") = (failed, view.status.as_str()) {
        let (done, failed) = (number(done.into()), failed.count);
        let all = statements(view.statements);
        let it = if failed == 1 { "it" } else { "them" };
        let failed = number(failed.into());
        return Some(format!(
            "{done} of {all} finished; {failed} failed and nothing recovered {it}{unread}{odd}."
        ));
    }
    Some(match done {
        0 => format!("No statement finished{unread}{odd}."),
        _ => format!("{} finished{unread}{odd}.", statements(done)),
    })
}

/// `1 statement was`, `3 statements were`.
fn was(count: u32) -> String {
    let verb = if count == 1 { "was" } else { "were" };
    format!("{} {verb}", statements(count))
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
        let only = view.status == "completed"
            && !view
                .by_status
                .iter()
                .any(|of| of.status == "failed" && of.count > 1);
        let first = if only { "failed" } else { "failed first" };
        let name =
            (view.status != "failed").then(|| format!("{} {first}", code(&failure.cause.text, 80)));
        let clauses = name.as_deref().into_iter().chain(silent).chain(around);
        let clauses = clauses.collect::<Vec<_>>().join("; ");
        return (!clauses.is_empty()).then(|| sentence(&clauses));
    }
    let retried = (view.retried > 0)
        .then(|| format!("{} needed more than one attempt", statements(view.retried)));
    let recovered = (view.recovered > 0).then(|| {
        format!(
            "{} recovered",
            count(view.recovered, "failure was", "failures were")
        )
    });
    match (retried, recovered) {
        (None, None) => None,
        (Some(one), None) | (None, Some(one)) => Some(format!("{one}.")),
        (Some(a), Some(b)) => Some(format!("{a}; {b}.")),
    }
}

fn standing(view: &Overview) -> Option<String> {
    if let (Some(gate), false) = (
        view.pending_gates.first(),
        matches!(view.status.as_str(), "completed" | "failed"),
    ) {
        let action = gate.on_reject.as_deref()?;
        return Some(format!("On a rejection it does {}.", code(action, 80)));
    }
    match view.status.as_str() {
        "completed" if view.bindings == 0 && view.is_unread(Part::Bindings) => {
            Some("Its bindings could not be read.".to_owned())
        }
        "completed" if view.bindings == 0 => Some("It left no bindings.".to_owned()),
        // The bindings were named already.
        "completed" if view.statements == 0 => None,
        "completed" => Some(format!(
            "It left {}.",
            count(view.bindings, "binding", "bindings")
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
            many => Some(format!(
                "It stands in {} places: {}{}.",
                number(view.position_count.into()),
                many.iter()
                    .take(3)
                    .map(|n| code(&n.text, 40))
                    .collect::<Vec<_>>()
                    .join(", "),
                if many.len() > 3 { " …" } else { "" }
            )),
        },
    }
}

#[cfg(test)]
mod tests;
