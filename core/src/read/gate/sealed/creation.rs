//! Finds gates whose creation is not in a sealed row, in a run whose log seals creations.
//!
//! Either another tool created the gate, as OpenProse's own SQL does, or the log row of the creation was removed. The
//! log cannot show which of the two happened, because a chain that lost rows at its end still agrees with itself. Only
//! an override can decide such a gate, and a sealed row of its own records the override.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{GATES, LOG, SHOWN, is_sealed};
use crate::model::issue::Issue;
use crate::model::text::cut;
use crate::model::{AuditEvent, AuditKind, Gate};
use crate::read::gate::audit::Chain;
use crate::read::gate::columns::GateColumns;

/// A gate whose creation is not in a sealed row, although its log seals creations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnsealedCreation<'a> {
    pub(crate) gate: &'a Gate,
    /// The last override by which the gate was decided although its creation is unsealed.
    by: Option<&'a AuditEvent>,
}

/// Returns whether a log seals the creation of each gate, judging by the log's first sealed row. The result is true if
/// that row records a creation, or if earlier rows of the chain are missing. A log that begins with a decision has
/// gates that other tools created.
pub(crate) fn seals_creations(first: &AuditKind, chain: &Chain) -> bool {
    *first == AuditKind::Created || chain.seq > 1
}

/// Returns whether a row is an override that records the state of a gate without a sealed creation. `gate create` logs
/// its own overrides with the same event, but without the gate's columns.
pub(super) fn adopts(event: &AuditEvent, metadata: &Map<String, Value>) -> bool {
    event.kind == AuditKind::Overridden && GateColumns::of(metadata).is_some()
}

/// Returns the gates whose creation is not in a sealed row, for runs whose log seals creations.
pub(crate) fn uncreated<'a>(gates: &'a [Gate], log: &'a [AuditEvent]) -> Vec<UnsealedCreation<'a>> {
    let mut rows: Vec<&AuditEvent> = log.iter().filter(|event| is_sealed(event)).collect();
    rows.sort_by_key(|event| event.id);
    let mut sealing: BTreeMap<&str, bool> = BTreeMap::new();
    let mut created: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut adopted: BTreeMap<(&str, &str), &AuditEvent> = BTreeMap::new();
    for event in rows {
        if let Some(chain) = event.metadata.as_deref().and_then(Chain::of_metadata) {
            let seals = || seals_creations(&event.kind, &chain);
            sealing.entry(&event.run_id).or_insert_with(seals);
        }
        let of: (&str, &str) = (&event.run_id, &event.gate_id);
        match event.kind {
            AuditKind::Created => drop(created.insert(of)),
            AuditKind::Overridden
                if super::sealed_metadata(event).is_some_and(|m| adopts(event, &m)) =>
            {
                adopted.insert(of, event);
            }
            _ => {}
        }
    }
    let own = |gate: &'a Gate| {
        let of = (gate.run_id.as_deref()?, &*gate.id);
        let missing = sealing.get(of.0) == Some(&true) && !created.contains(&of);
        missing.then(|| UnsealedCreation {
            gate,
            by: adopted.get(&of).copied(),
        })
    };
    gates.iter().filter_map(own).collect()
}

impl UnsealedCreation<'_> {
    /// Describes the missing creation and its consequence, without the gate's id.
    pub(crate) fn words(&self) -> String {
        let none = "no sealed row of the log records its creation";
        match self.by {
            Some(row) => format!(
                "decided by override of “{}” (row {}): {none}",
                cut(row.principal.as_deref().unwrap_or_default(), SHOWN),
                row.id
            ),
            None if self.gate.status.is_decided() => none.to_owned(),
            None => format!("{none}: `prosescope approve` and `reject` need `--override`"),
        }
    }

    /// Converts the description to an issue.
    pub(crate) fn issue(&self) -> Issue {
        let message = format!("gate {}: {}", self.gate.id, self.words());
        let issue = Issue::warning("gate-creation-unsealed", message).hint(
            "Another tool created the gate, or its row of the log was removed: ask who created it, and compare the log with a noted head (`prosescope audit verify --expect-head`).",
        );
        match self.by {
            Some(row) => issue.at_row(LOG, row.id),
            None => issue.at_table(GATES).at_column("id"),
        }
    }
}
