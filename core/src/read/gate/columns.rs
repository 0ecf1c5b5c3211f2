//! Copies a gate's columns into the sealed row of the gate's creation, so that later changes of the gate are noticed.
//!
//! OpenProse defines the keys `prompt_hash` and `allow`. Prosescope adds the key `columns` for the other columns; it
//! leaves out a column without a value. Long texts are recorded as their SHA-256 and times as instants in UTC, so that
//! the copy still matches after the run was converted to another form. Columns of the log itself record the rest: `id`,
//! `run_id` and `created_at` in the row of the creation; `status`, `resolved_at`, `resolved_by` and
//! `resolution_comment` in the row of the decision.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::prompt_hash;
use crate::model::Gate;
use crate::model::time::Stamp;

pub(super) const PROMPT_HASH: &str = "prompt_hash";
pub(super) const ALLOW: &str = "allow";
pub(super) const ON_BEHALF_OF: &str = "on_behalf_of";
pub(super) const CREATED_AT: &str = "created_at";
const COLUMNS: &str = "columns";

/// The columns of a gate that other parts of its sealed rows do not record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct GateColumns {
    /// The id of the execution that waits at the gate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) execution_id: Option<i64>,
    /// The time-out, as the program wrote the duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<String>,
    /// The deadline, as an instant in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout_at: Option<Stamp>,
    /// The hash of the gate's `on_reject` action. Until [`GateColumns::created`] computes the hash, the field contains
    /// the action's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) on_reject: Option<String>,
    /// The gate's own metadata.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) metadata: Map<String, Value>,
}

impl GateColumns {
    /// Returns the metadata of the row that records the creation of a gate with this prompt and `allow` list.
    pub(crate) fn created(mut self, prompt: &str, allow: &Value) -> Map<String, Value> {
        let text = self.on_reject.take().filter(|text| !text.is_empty());
        self.on_reject = text.as_deref().map(prompt_hash);
        let mut created = Map::new();
        created.insert(PROMPT_HASH.to_owned(), prompt_hash(prompt).into());
        created.insert(ALLOW.to_owned(), allow.clone());
        // The default is never used: a struct of plain fields always converts to JSON.
        let columns = serde_json::to_value(self).unwrap_or_default();
        created.insert(COLUMNS.to_owned(), columns);
        created
    }

    /// Returns the metadata of an override's row, for a gate whose creation is not sealed. The metadata records the
    /// gate's state before the override: the keys of a creation, and `created_at`. `None` if the gate's own metadata is
    /// not a JSON object.
    pub(crate) fn adopted(gate: &Gate) -> Option<Map<String, Value>> {
        let own = gate.metadata.as_deref().map(str::trim);
        let metadata = match own.filter(|text| !text.is_empty()) {
            None => Map::new(),
            Some(text) => serde_json::from_str(text).ok()?,
        };
        let text = |text: &Option<crate::model::Text>| text.as_deref().map(str::to_owned);
        let columns = GateColumns {
            execution_id: gate.execution_id,
            timeout: text(&gate.timeout),
            timeout_at: gate.timeout_at.clone(),
            on_reject: text(&gate.on_reject),
            metadata,
        };
        let allow = gate.allow.as_deref().map(serde_json::from_str);
        let allow = allow.and_then(Result::ok).unwrap_or_default();
        let prompt = gate.prompt.as_deref().unwrap_or_default();
        let mut adopted = columns.created(prompt, &allow);
        if gate.prompt.is_none() {
            adopted.remove(PROMPT_HASH);
        }
        let created = gate.created.as_ref().map(ToString::to_string);
        adopted.insert(CREATED_AT.to_owned(), created.into());
        Some(adopted)
    }

    /// Parses the key `columns` of a row's metadata. Returns `None` for rows of earlier Prosescope versions, which lack
    /// this key.
    pub(crate) fn of(metadata: &Map<String, Value>) -> Option<GateColumns> {
        serde_json::from_value(metadata.get(COLUMNS)?.clone()).ok()
    }
}
