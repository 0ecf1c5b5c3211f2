use serde_json::Map;

use super::log::{Log, NewAuditRow};
use super::{known, principal};
use crate::model::AuditKind;
use crate::record::{At, CommandPlan, Facts, Record, WriteError};

/// The command `gate show`, which records in the log that a person viewed a gate. Nothing else in the run changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewGate {
    /// The id of the gate that the person views.
    pub gate: String,
    /// The principal who views the gate, as claimed.
    pub by: String,
}

impl Record for ViewGate {
    type Done = ();

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<()>, WriteError> {
        let by = principal(&self.by)?;
        let gate = known(facts, &self.gate)?;
        let mut log = Log::open(facts, at)?;
        let row = log.add(NewAuditRow {
            gate: &gate.id,
            kind: AuditKind::Viewed,
            principal: by,
            comment: None,
            metadata: Map::new(),
        })?;
        Ok(CommandPlan {
            changes: vec![row],
            done: (),
        })
    }
}
