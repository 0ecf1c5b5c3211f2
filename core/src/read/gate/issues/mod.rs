//! Finds contradictions within a gate, and between gates and their log.
//!
//! | file | compares |
//! |---|---|
//! | `terms.rs` | a gate's timeout, deadline and list of principals with each other |
//! | `decision.rs` | a decision with the list, the deadline and unsealed rows of the log |
//! | [`super::sealed`] | every column with the sealed rows of the log |

mod decision;
mod terms;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::canonical::twice;
use super::lifecycle::History;
use super::sealed;
use crate::model::issue::Issue;
use crate::model::{AuditEvent, AuditKind, Gate};

const GATES: &str = "gates";
const LOG: &str = "gate_audit_log";

/// Returns the contradictions in gates and their log. A gate with contradictions is still shown as its own row records
/// it.
pub fn issues(gates: &[Gate], log: &[AuditEvent]) -> Vec<Issue> {
    let mut issues = Vec::new();
    let history = History::new(log);
    let mut met = BTreeSet::new();
    for gate in gates {
        if !met.insert((&gate.run_id, &gate.id)) {
            issues.push(
                gate.warned("gate-twice", "has more than one row in its run", "id")
                    .hint(
                        "Give each row an id of its own: when a run comes to a gate again, the gate gets another id, such as `deploy#2`.",
                    ),
            );
        }
        terms::terms(gate, &mut issues);
        let resolving: Vec<&AuditEvent> = history
            .of(gate)
            .filter(|event| event.kind.resolves())
            .collect();
        decision::decision(gate, &resolving, &mut issues);
        decision::twice(gate, &resolving, &mut issues);
        // `sealed::contradictions` below compares sealed rows. `agreement` is only for gates without sealed rows.
        let counts =
            |event: &&AuditEvent| event.kind == AuditKind::Created || event.kind.resolves();
        if !history.of(gate).filter(counts).any(sealed::is_sealed) {
            issues.extend(decision::agreement(gate, &resolving));
        }
    }
    issues.extend(gates.iter().filter_map(|gate| {
        let what = format!("the `metadata` of gate {}", gate.id);
        let issue = twice(&what, gate.metadata.as_deref())?;
        Some(issue.at_table(GATES).at_column("metadata"))
    }));
    issues.extend(log.iter().filter_map(|event| {
        let what = format!("the `metadata` of row {}", event.id);
        let issue = twice(&what, event.metadata.as_deref())?;
        Some(issue.at_row(LOG, event.id))
    }));
    let known: BTreeSet<&str> = gates.iter().map(|gate| &*gate.id).collect();
    for (id, rows) in history.gates() {
        let Some(first) = rows.first().filter(|_| !known.contains(id)) else {
            continue;
        };
        if !rows.iter().any(|event| sealed::is_sealed(event)) {
            issues.push(
                Issue::warning(
                    "gate-row-missing",
                    format!("the audit log mentions gate {id}, but the run has no such gate"),
                )
                .at_row(LOG, first.id)
                .hint("Do not continue after the gate before you know its decision. The gate was deleted, or never written."),
            );
        }
    }
    issues.extend(sealed::contradictions(gates, log));
    let uncreated = sealed::uncreated(gates, log);
    issues.extend(uncreated.iter().map(sealed::UnsealedCreation::issue));
    issues
}

impl Gate {
    /// Creates a warning about a column of this gate.
    fn warned(&self, rule: &str, what: &str, column: &str) -> Issue {
        Issue::warning(rule, format!("gate {} {what}", self.id))
            .at_table(GATES)
            .at_column(column)
    }
}
