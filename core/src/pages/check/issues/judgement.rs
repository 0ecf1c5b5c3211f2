use super::{Findings, RunUnderCheck};
use crate::model::issue::Issue;
use crate::trace::judgement::{self, Bar, Bodies, Lack, Order, Why};

/// Reports what the run recorded against its program.
pub(super) fn check_judgement(at: RunUnderCheck<'_>, findings: &mut Findings) {
    for passed in judgement::went_against(at.run, at.trace, at.listing) {
        let node = passed.at.and_then(|at_node| at.trace.node(at_node));
        let did = passed.bar.passed();
        let message = match node {
            Some(node) => format!("with `{}`, the run {did}", super::run::one_line(&node.text)),
            None => format!("the run is completed, but {did}"),
        };
        let (rule, hint) = match &passed.bar {
            Bar::Gate(bar) => (
                "gate-passed",
                match bar.why {
                    Why::NeverAsked => {
                        "Ask a person whether what follows the gate was allowed. The record cannot be completed afterwards."
                    }
                    Why::Pending => {
                        "Decide the gate. Ask whether what began before the decision has to be undone."
                    }
                    Why::Rejected | Why::TimedOut | Why::Gone => {
                        "Ask whether what began past the gate has to be undone."
                    }
                },
            ),
            Bar::Returned { .. } => (
                "call-returned",
                "Find out whether what ran after the return has to be undone.",
            ),
            Bar::Failed { .. } => (
                "failure-passed",
                "Find out whether what came after the failure rests on what failed. The record is not changed afterwards.",
            ),
            Bar::TooDeep { .. } => (
                "call-too-deep",
                "Find out why the limit of the program was ignored. The run is shown as recorded.",
            ),
        };
        let issue = Issue::error(rule, message).hint(hint);
        findings.add(match node {
            Some(node) => issue.at_execution(node.id),
            None => issue,
        });
    }
}

/// Reports gates whose records were removed.
pub(super) fn check_gone(at: RunUnderCheck<'_>, findings: &mut Findings) {
    for (asked, bar) in judgement::gone(at.run, at.trace, at.listing) {
        let id = at.trace.node(asked).and_then(|node| node.id);
        let gate = bar.gate;
        let message = format!("an execution asked at gate {gate}, but the gate's record is gone");
        let issue = Issue::error("gate-gone", message).at_execution(id).hint(
            "Do not go on before you know the gate's decision. Look for the record in a copy of the run.",
        );
        findings.add(issue);
    }
}

/// Reports statements that the program runs before a recorded one, but that no row records.
pub(super) fn check_order(at: RunUnderCheck<'_>, findings: &mut Findings) {
    let Some(program) = at.listing.filter(|_| at.run.recorded_in_rows()) else {
        return;
    };
    let Some(order) = Order::of(at.trace, program) else {
        return;
    };
    for (first, lines) in order.all_passed_over(at.run, at.trace) {
        let Some(node) = at.trace.node(first) else {
            continue;
        };
        let text = super::run::one_line(&node.text);
        let message = format!(
            "{} not recorded, although `{text}` comes after {}",
            judgement::lines_are(&lines),
            if lines.len() == 1 { "it" } else { "them" },
        );
        let issue = Issue::warning("statement-passed-over", message)
            .hint("The statement may have run without a record, or may have been left out.");
        findings.add(issue.at_execution(node.id));
    }
}

/// Reports what executions lack that are recorded in rows: bodies, rounds, the failure that a `catch` handles.
pub(super) fn check_bodies(at: RunUnderCheck<'_>, findings: &mut Findings) {
    let Some(bodies) = at
        .listing
        .and_then(|program| Bodies::of(at.run, at.trace, program))
    else {
        return;
    };
    for (of, lack) in bodies.lacks() {
        let Some(node) = at.trace.node(of) else {
            continue;
        };
        let (rule, did) = match lack {
            Lack::Body => ("body-not-recorded", "is completed"),
            Lack::Rounds { .. } => ("rounds-missing", "is completed"),
            Lack::Failure { .. } => ("catch-without-failure", "ran"),
        };
        let text = super::run::one_line(&node.text);
        let message = format!("`{text}` {did}, but {}", lack.told());
        let issue = Issue::warning(rule, message)
            .hint("The work may have been done without a record, or may have been left out.");
        findings.add(issue.at_execution(node.id));
    }
}
