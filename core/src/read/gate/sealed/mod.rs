//! Compares gates with the sealed rows of their log, column by column.
//!
//! Unsealed rows are not compared: other tools may record other principals than the gate does, as in OpenProse's own
//! example. `docs/reference/audit.md` lists which columns are compared.

mod compare;
mod creation;
#[cfg(test)]
mod tests;

pub(crate) use creation::{UnsealedCreation, seals_creations, uncreated};

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::model::issue::Issue;
use crate::model::text::cut;
use crate::model::{AuditEvent, AuditKind, Gate};

const GATES: &str = "gates";
const LOG: &str = "gate_audit_log";

/// How many characters of a value a message shows.
const SHOWN: usize = 60;

/// A sealed row of the log, with its parsed metadata.
struct SealedRow<'a> {
    event: &'a AuditEvent,
    metadata: Map<String, Value>,
}

/// The rows of the log about one gate of one run, in order of id.
#[derive(Default)]
struct SealedRows<'a> {
    /// The id of the first sealed row.
    first: Option<i64>,
    created: Vec<SealedRow<'a>>,
    /// Overrides that record the gate's state, because its creation is not sealed.
    adopted: Vec<SealedRow<'a>>,
    decided: Vec<SealedRow<'a>>,
    /// Decisions that are not sealed.
    unsealed: Vec<&'a AuditEvent>,
}

/// Returns the differences between gates and the sealed rows of their log. Each is an error, because `prosescope`
/// writes a gate and its row of the log in one transaction.
pub(crate) fn contradictions(gates: &[Gate], log: &[AuditEvent]) -> Vec<Issue> {
    let mut recorded: BTreeMap<(&str, &str), SealedRows<'_>> = BTreeMap::new();
    let mut rows: Vec<&AuditEvent> = log.iter().collect();
    rows.sort_by_key(|event| event.id);
    for event in rows {
        let of = recorded.entry((&event.run_id, &event.gate_id)).or_default();
        let sealed = sealed_metadata(event).map(|metadata| SealedRow { event, metadata });
        let Some(sealed) = sealed else {
            of.unsealed.extend(event.kind.resolves().then_some(event));
            continue;
        };
        of.first.get_or_insert(event.id);
        if event.kind == AuditKind::Created {
            of.created.push(sealed);
        } else if creation::adopts(event, &sealed.metadata) {
            of.adopted.push(sealed);
        } else if event.kind.resolves() {
            of.decided.push(sealed);
        }
    }
    let mut by_id: BTreeMap<&str, Vec<&Gate>> = BTreeMap::new();
    for gate in gates {
        by_id.entry(&gate.id).or_default().push(gate);
    }
    let mut issues = Vec::new();
    for ((run, id), recorded) in &recorded {
        let Some(first) = recorded.first else {
            continue;
        };
        let all = by_id.get(id).map_or(&[][..], Vec::as_slice);
        let own = all
            .iter()
            .filter(|gate| gate.run_id.as_deref() == Some(*run));
        let own: Vec<&Gate> = own.copied().collect();
        match own.as_slice() {
            [] => issues.push(removed(id, run, first, all)),
            rows => {
                if rows.len() > 1 && !recorded.created.is_empty() {
                    let what = format!("has {} rows, but was created once", rows.len());
                    issues.push(changed(id, "id", &what, first));
                }
                for gate in rows {
                    recorded.compare(gate, &mut issues);
                }
            }
        }
        recorded.check_log(id, &own, &mut issues);
    }
    issues
}

/// Returns whether a row is sealed, so that its gate can be compared with the row.
pub(super) fn is_sealed(event: &AuditEvent) -> bool {
    sealed_metadata(event).is_some()
}

/// Parses the metadata of a sealed row; `None` if the row is not sealed. Prefers the complete row (`row_json`), because
/// `metadata` may be shortened.
fn sealed_metadata(event: &AuditEvent) -> Option<Map<String, Value>> {
    let whole = || {
        let row: Value = serde_json::from_str(event.row_json.as_deref()?).ok()?;
        match row.get("metadata")? {
            Value::String(text) => serde_json::from_str(text).ok(),
            other => Some(other.clone()),
        }
    };
    let short = || serde_json::from_str(event.metadata.as_deref()?).ok();
    match whole().or_else(short)? {
        Value::Object(metadata) if metadata.contains_key("chain") => Some(metadata),
        _ => None,
    }
}

fn removed(id: &str, run: &str, row: i64, others: &[&Gate]) -> Issue {
    if let Some(other) = others.first() {
        let of = other.run_id.as_deref();
        let of = of.map_or("no run".to_owned(), |of| format!("run {}", cut(of, SHOWN)));
        let what = format!(
            "belongs to {of}, but was recorded in run {}",
            cut(run, SHOWN)
        );
        return changed(id, "run_id", &what, row);
    }
    let what =
        format!("the run has no gate {id}, but sealed row {row} of the log records that gate");
    Issue::error("gate-removed", what).at_row(LOG, row).hint(
        "Do not continue after that gate before you know its decision. The gate was deleted or renamed.",
    )
}

fn changed(id: &str, column: &str, what: &str, row: i64) -> Issue {
    let what = format!("gate {id} {what} (row {row} of the log)");
    let issue = Issue::error("gate-changed", what)
        .at_table(GATES)
        .at_column(column);
    issue.hint(
        "The gate was changed without a row in the log: ask whether its decision is still valid.",
    )
}

impl SealedRows<'_> {
    /// Adds issues about contradictions within the log itself, and about decisions without a seal.
    fn check_log(&self, id: &str, gates: &[&Gate], issues: &mut Vec<Issue>) {
        for (rows, what, column) in [
            (&self.created, "was created", "id"),
            (&self.decided, "was decided", "status"),
        ] {
            if let [first, .., last] = rows.as_slice() {
                let what = format!(
                    "{what} {} times, first in row {}: the row of the gate was set back in between",
                    rows.len(),
                    first.event.id
                );
                issues.push(changed(id, column, &what, last.event.id));
            }
        }
        if self.created.is_empty() && self.adopted.is_empty() {
            return;
        }
        let unsealed = |what: String| Issue::warning("gate-decision-unsealed", what);
        for event in &self.unsealed {
            let (row, word) = (event.id, event.kind.word());
            let what = format!(
                "row {row} of the log, which is not sealed, records that gate {id} was {word}"
            );
            issues.push(unsealed(what).at_row(LOG, row).hint(
                "`prosescope` seals each decision of this gate: another tool wrote this row. Ask who decided.",
            ));
        }
        let told = !self.decided.is_empty() || !self.unsealed.is_empty();
        let decided = gates.iter().find(|gate| gate.status.is_decided());
        if let Some(gate) = decided.filter(|_| !told) {
            let word = gate.status.word();
            let what = format!("gate {id} is {word}, but no row of the log records a decision");
            let issue = unsealed(what).at_table(GATES).at_column("status");
            issues.push(issue.hint(
                "`prosescope` seals each decision of this gate: another tool decided here. Ask who decided.",
            ));
        }
    }
}
