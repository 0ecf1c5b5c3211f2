use std::collections::{BTreeMap, BTreeSet};

use super::{Findings, RunUnderCheck};
use crate::model::Gate;
use crate::model::issue::Issue;
use crate::model::timeout::Timeout;
use crate::model::visit;
use crate::program::{Statement, StatementKind};
use crate::read::gate::allow::Allow;
use crate::trace::{Node, NodeId, NodeKind, Trace};

/// Reports where the run deviates from its program: gates that admit other principals or wait longer, loops with more
/// rounds, retries with more attempts.
pub(super) fn check_against_program(at: RunUnderCheck<'_>, findings: &mut Findings) {
    let Some(listing) = at.listing else { return };
    let begun_at = |line| listing.get(listing.begun_at(line)?);
    // For each gate, the program line of its first node, if that line is certain.
    let mut lines: BTreeMap<&str, Option<u32>> = BTreeMap::new();
    for node in &at.trace.nodes {
        if let NodeKind::Gate { gate } = &node.kind {
            lines.entry(gate).or_insert(sure_line(node));
        }
    }
    for gate in &at.run.gates {
        // The statement at the line of the gate's node, or else the only gate statement of this name.
        let statement = match lines.get(&*gate.id).copied().flatten() {
            Some(line) => begun_at(line).filter(|s| s.kind == StatementKind::Gate),
            None => match listing.gates_named(visit(&gate.id).0) {
                [only] => listing.get(*only),
                _ => None,
            },
        };
        let Some(statement) = statement else { continue };
        let differs: Vec<String> = differences(gate, statement);
        if differs.is_empty() {
            continue;
        }
        let message = format!(
            "gate {} differs from line {} of the program: {}",
            gate.id,
            statement.line,
            differs.join("; ")
        );
        findings.add(
            Issue::warning("gate-against-program", message)
                .at_table("gates")
                .hint("The recorded gate counts, not the program. Find out who created the gate: `prosescope gate create` records such a difference in the audit log, as `overridden`."),
        );
    }
    for (nth, node) in at.trace.nodes.iter_enumerated() {
        if let Some(statement) = sure_line(node).and_then(begun_at) {
            over(at.trace, nth, node, statement, findings);
        }
    }
}

fn sure_line(node: &Node) -> Option<u32> {
    node.line.filter(|_| !node.line_guessed)
}

fn differences(gate: &Gate, statement: &Statement) -> Vec<String> {
    let mut differs = Vec::new();
    if let (Ok(Some(says)), Ok(allow)) = (statement.allow(), Allow::parse(gate.allow.as_deref())) {
        let admits = |list: &[String]| -> BTreeSet<String> {
            list.iter().map(|name| name.trim().to_owned()).collect()
        };
        if admits(&says) != admits(allow.entries()) {
            let (own, says) = (allow.words(), Allow::of(says).words());
            differs.push(format!(
                "the gate admits {own}, but the program admits {says}"
            ));
        }
    }
    let own = gate.timeout.as_deref();
    let seconds = |text: &str| Some(Timeout::parse(text).ok()?.seconds());
    if let Some(says) = statement.property("timeout")
        && seconds(says).is_some_and(|says| own.and_then(seconds) != Some(says))
    {
        let waits = own.map_or("without a deadline".to_owned(), |own| format!("for {own}"));
        differs.push(format!(
            "the gate waits {waits}, but the program sets a timeout of {says}"
        ));
    }
    differs
}

fn over(trace: &Trace, nth: NodeId, node: &Node, statement: &Statement, findings: &mut Findings) {
    let add = |rule: &str, message: String, findings: &mut Findings| {
        let issue = Issue::warning(rule, message).hint(
            "Find out why the limit of the program was ignored. The run is shown as recorded.",
        );
        findings.add(issue.at_execution(node.id));
    };
    if node.kind == NodeKind::Loop
        && let Some(most) = statement.most_rounds()
    {
        let rounds = trace.last_round(nth).map_or(0, i64::from);
        if rounds > most {
            let message = format!(
                "the loop in line {} had {rounds} rounds, but the program allows only {most}",
                statement.line
            );
            add("loop-against-program", message, findings);
        }
    }
    if let Some(most) = statement
        .most_attempts()
        .filter(|most| i64::from(node.attempts) > *most)
        && matches!(node.kind, NodeKind::Statement | NodeKind::Branch { .. })
    {
        let attempts = node.attempts;
        let message = format!(
            "the statement in line {} had {attempts} attempts, but the program allows only {most}",
            statement.line
        );
        add("retry-against-program", message, findings);
    }
}
