use serde_json::Map;

use super::log::{Event, Log};
use super::{known, principal};
use crate::model::AuditKind;
use crate::write::{At, Facts, Plan, Record, WriteError};

/// `gate show`: records in the log that a person viewed a gate. The run itself is not changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewGate {
    /// The gate.
    pub gate: String,
    /// The principal, as claimed.
    pub by: String,
}

impl Record for ViewGate {
    type Done = ();

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<()>, WriteError> {
        let by = principal(&self.by)?;
        let gate = known(facts, &self.gate)?;
        let mut log = Log::open(facts, at)?;
        let row = log.add(Event {
            gate: &gate.id,
            kind: AuditKind::Viewed,
            principal: by,
            comment: None,
            metadata: Map::new(),
        })?;
        Ok(Plan {
            changes: vec![row],
            done: (),
        })
    }
}
