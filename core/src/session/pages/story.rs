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
mod tests {
    use super::*;
    use crate::view::{Failure, GateView};

    fn node(text: &str, path: &str) -> NodeRef {
        NodeRef {
            text: text.to_owned(),
            path: path.to_owned(),
            ..NodeRef::default()
        }
    }

    #[test]
    fn a_run_at_a_gate() {
        let view = Overview {
            status: "waiting".to_owned(),
            statements: 29,
            statements_done: 28,
            retried: 1,
            recovered: 1,
            pending_gates: vec![GateView {
                id: "production_deploy".to_owned(),
                remaining: Some("expires in 3h 12m".to_owned()),
                on_reject: Some("throw \"Deployment cancelled\"".to_owned()),
                created: Some(crate::time::Stamp::parse("2026-01-25 13:04:20")),
                ..GateView::default()
            }],
            ..Overview::default()
        };
        assert_eq!(
            headline(&view, false),
            "Waiting at gate production_deploy since 2026-01-25 13:04 UTC"
        );
        assert_eq!(
            sentences(&view, 0),
            [
                "28 statements finished.",
                "1 statement needed more than one attempt; 1 failure was recovered.",
                "On a rejection it does `throw \"Deployment cancelled\"`.",
            ]
        );
    }

    #[test]
    fn a_failed_run_names_its_cause_and_where_it_lies() {
        let view = Overview {
            status: "failed".to_owned(),
            statements: 5,
            statements_done: 1,
            duration: Some("9m".to_owned()),
            failure: Some(Failure {
                cause: node("session \"Process chunk\"", "loop › do process(half)"),
                error: Some("Connection timeout".to_owned()),
                because_of: vec![node("do process(half)", "")],
                because_of_count: 1,
                because_words: "1 block around it failed, too".to_owned(),
            }),
            ..Overview::default()
        };
        assert_eq!(
            headline(&view, false),
            "Failed at session \"Process chunk\""
        );
        assert_eq!(sentences(&view, 0)[1], "1 block around it failed, too.");
        let view = Overview {
            status: "interrupted".to_owned(),
            ..view
        };
        assert_eq!(
            sentences(&view, 0)[1],
            "`session \"Process chunk\"` failed first; 1 block around it failed, too."
        );
    }

    #[test]
    fn counts_are_written_as_everywhere() {
        let view = Overview {
            status: "completed".to_owned(),
            statements: 50_000,
            statements_done: 49_999,
            bindings: 12_345,
            ..Overview::default()
        };
        assert_eq!(
            sentences(&view, 0),
            [
                "49\u{202f}999 statements finished.",
                "It left 12\u{202f}345 bindings."
            ]
        );
    }

    #[test]
    fn a_silent_run_says_for_how_long() {
        let view = Overview {
            status: "running".to_owned(),
            stale: true,
            last_sign_ago: Some("3d 4h ago".to_owned()),
            ..Overview::default()
        };
        assert_eq!(headline(&view, false), "Running, silent for 3d 4h");
        assert_eq!(sentences(&view, 0), ["No statement is recorded yet."]);
    }

    #[test]
    fn what_could_not_be_read_is_never_said_to_be_none() {
        let unread = |parts: &[Part]| crate::view::Unread {
            parts: parts.to_vec(),
            ..Default::default()
        };
        for (status, parts, headline_said, said) in [
            (
                "unknown",
                &Part::ALL[..],
                "Status unknown: the run could not be read",
                &["What was executed could not be read."][..],
            ),
            (
                "completed",
                &[Part::Bindings],
                "Completed",
                &[
                    "No statement is recorded; the bindings could not be read.",
                    "Its bindings could not be read.",
                ],
            ),
            (
                "unknown",
                &[Part::Gates],
                "Status unknown: nothing in the run records it",
                &["No statement is recorded."],
            ),
        ] {
            let view = Overview {
                status: status.to_owned(),
                unread: vec![unread(parts)],
                ..Overview::default()
            };
            assert_eq!(headline(&view, false), headline_said);
            assert_eq!(sentences(&view, 0), said, "{parts:?}");
        }
    }

    #[test]
    fn a_store_of_agents_is_no_run_of_unknown_status() {
        let view = Overview {
            form: "agents".to_owned(),
            agents: 3,
            ..Overview::default()
        };
        assert_eq!(headline(&view, false), "A store of 3 agents");
        assert!(sentences(&view, 0)[0].contains("no run"));
    }

    #[test]
    fn bindings_without_statements_are_not_nothing() {
        for (status, bindings, expected) in [
            ("", 0, vec!["No statement is recorded."]),
            (
                "",
                1,
                vec!["No statement is recorded, but 1 binding is there."],
            ),
            (
                "completed",
                0,
                vec!["No statement is recorded.", "It left no bindings."],
            ),
        ] {
            let view = Overview {
                status: status.to_owned(),
                bindings,
                ..Overview::default()
            };
            assert_eq!(sentences(&view, 0), expected);
        }
    }
}
