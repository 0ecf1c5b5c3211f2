//! Records the state of a gate on which a decision was based, so that the import can compare it with the run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::gate::allow::{Allow, AllowError};
use crate::gate::chain::Chain;
use crate::gate::prompt_hash;
use crate::model::{AuditEvent, Gate};

/// The state of a gate that a person saw when deciding it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Seen {
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
pub struct Heads(BTreeMap<String, SeenHead>);

impl Seen {
    /// Returns the state of a gate that a person sees, if the audit log has these heads.
    ///
    /// # Errors
    /// An error if the gate's `allow` cannot be read; such a gate refuses every decision.
    pub fn of(gate: &Gate, heads: &Heads) -> Result<Seen, AllowError> {
        Ok(Seen {
            prompt_hash: prompt_hash(gate.prompt.as_deref().unwrap_or_default()),
            allow: Allow::parse(gate.allow.as_deref())?.entries().to_vec(),
            head: heads.of_gate(gate).cloned(),
        })
    }
}

impl Heads {
    /// Returns the heads of a log, which may have rows of several runs.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a AuditEvent>) -> Heads {
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
