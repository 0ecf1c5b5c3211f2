//! Records the state of a gate that a page shows, so that a decision made on the page can be compared with the run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{AuditEvent, Gate};
use crate::read::gate::allow::{Allow, AllowError};
use crate::read::gate::chain::Chain;
use crate::read::gate::prompt_hash;

/// The state of a gate that a person saw when deciding it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct SeenGate {
    /// The SHA-256 of the prompt, as the audit log writes it: `sha256:` and 64 hex digits.
    pub prompt_hash: String,
    /// The names in the gate's `allow` list.
    pub allow: Vec<String>,
    /// The last sealed row of the run's audit log; `None` in a log without sealed rows.
    #[serde(default)]
    pub head: Option<SeenHead>,
}

/// The head of an audit log (how many sealed rows it has, and the hash of the last one), without the run's id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct SeenHead {
    /// How many sealed rows the log has.
    pub count: u64,
    /// The hash of the last sealed row.
    pub hash: String,
}

/// The head of the audit log of each run, by run id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heads(BTreeMap<String, SeenHead>);

impl SeenGate {
    /// Returns the state of a gate that a person sees, if the audit log has these heads.
    ///
    /// # Errors
    /// An error if the gate's `allow` cannot be read; such a gate refuses every decision.
    pub(crate) fn of(gate: &Gate, heads: &Heads) -> Result<SeenGate, AllowError> {
        Ok(SeenGate {
            prompt_hash: prompt_hash(gate.prompt.as_deref().unwrap_or_default()),
            allow: Allow::parse(gate.allow.as_deref())?.entries().to_vec(),
            head: heads.of_gate(gate).cloned(),
        })
    }
}

impl Heads {
    /// Returns the heads of a log, which may have rows of several runs.
    pub(crate) fn of<'a>(rows: impl IntoIterator<Item = &'a AuditEvent>) -> Heads {
        let mut heads: BTreeMap<String, SeenHead> = BTreeMap::new();
        for row in rows {
            let Some(chain) = row.metadata.as_deref().and_then(Chain::of_metadata) else {
                continue;
            };
            let head = heads.entry(row.run_id.to_string()).or_default();
            if head.count < chain.seq {
                *head = SeenHead {
                    count: chain.seq,
                    hash: chain.hash,
                };
            }
        }
        Heads(heads)
    }

    fn of_gate(&self, gate: &Gate) -> Option<&SeenHead> {
        match gate.run_id.as_deref() {
            Some(run) => self.0.get(run),
            // A gate without a run's id belongs to the log's run, if the log has only one.
            None => self.0.values().next().filter(|_| self.0.len() == 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::samples::{event, gate};
    use super::*;

    #[test]
    fn what_was_seen_has_the_last_sealed_row_of_the_log() {
        let sealed = |id: i64, kind: &str, seq: u64| {
            let hash = format!("{seq:064x}");
            let chain = json!({"chain": {"seq": seq, "prev": hash, "hash": hash}});
            AuditEvent {
                metadata: Some(chain.to_string().into()),
                ..event(id, kind)
            }
        };
        let mut gate = gate("pending");
        gate.prompt = Some("Go?".into());
        let log = [
            sealed(1, "created", 1),
            sealed(2, "viewed", 2),
            event(3, "viewed"),
        ];
        let seen = SeenGate {
            prompt_hash: prompt_hash("Go?"),
            allow: vec!["ops-team".into()],
            head: Some(SeenHead {
                count: 2,
                hash: format!("{:064x}", 2),
            }),
        };
        assert_eq!(SeenGate::of(&gate, &Heads::of(&log)), Ok(seen));
    }
}
