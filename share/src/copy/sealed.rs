//! Seals changed audit logs again, so that the copy is consistent, and reports the last link (head) of each original
//! log.

use std::collections::{BTreeMap, BTreeSet};

use prosescope_core::pages::view::LogSealedAnew;
use prosescope_core::read::gate::chain::{Chain, seal, with_chain};
use prosescope_core::read::gate::prompt_hash;
use serde_json::{Map, Value};

use super::{Redactor, TextPlace};

/// The audit logs of a copy in progress.
#[derive(Default)]
pub(super) struct Seals {
    logs: BTreeMap<String, AuditLog>,
    /// The hash of each changed long text, mapped to the hash of the text in the copy.
    hashes: BTreeMap<String, String>,
    /// The ids of the runs whose logs are inconsistent in the original. These logs keep their links.
    broken: BTreeSet<String>,
}

/// The audit log of a run.
#[derive(Default)]
struct AuditLog {
    /// The run's id in the copy.
    run: String,
    /// The link of the last row in the copy.
    last: Option<Chain>,
    /// The link of the last row in the original.
    head: Option<Chain>,
    /// Whether an earlier row of the log was changed, so that all later rows need new links.
    changed: bool,
}

impl Seals {
    /// Returns the logs that changed, with their original heads.
    pub(super) fn heads(&self) -> Vec<LogSealedAnew> {
        let changed = self.logs.values().filter(|log| log.changed);
        let heads = changed.filter_map(|log| {
            let head = log.head.as_ref()?;
            Some(LogSealedAnew {
                run: log.run.clone(),
                count: head.seq,
                head: head.hash.clone(),
            })
        });
        heads.collect()
    }

    /// Records the hash of a gate's text before and after redaction, because the log contains the old hash.
    pub(super) fn hashed(&mut self, before: &str, now: &str) {
        self.hashes.insert(prompt_hash(before), prompt_hash(now));
    }

    /// Starts a new pass; broken logs stay marked.
    pub(super) fn again(&mut self) {
        *self = Seals {
            broken: std::mem::take(&mut self.broken),
            ..Seals::default()
        };
    }

    /// Marks a run's log as inconsistent, so that it is not sealed again: new seals would hide the inconsistency.
    pub(super) fn broken(&mut self, run: &str) {
        self.broken.insert(run.to_owned());
    }

    /// Replaces the hash of a text by the hash of the text in the copy. Returns false if the text did not change.
    fn rehash(&self, value: Option<&mut Value>) -> bool {
        let Some(Value::String(hash)) = value else {
            return false;
        };
        match self.hashes.get(hash.as_str()) {
            Some(now) => {
                now.clone_into(hash);
                true
            }
            None => false,
        }
    }
}

/// A row of an audit log: its values by column. The column `metadata` is a JSON object, or the text of one.
pub(super) type LogRow = Map<String, Value>;

impl Redactor {
    /// Redacts a row of the log. A sealed row gets a new link if the row or an earlier row changed. `changed` is true
    /// if a cell of the row was already redacted.
    pub(super) fn log_row(&mut self, place: TextPlace<'_>, row: &mut LogRow, mut changed: bool) {
        let run = row.get("run_id").and_then(Value::as_str);
        let run = run.unwrap_or_default().to_owned();
        changed |= self.columns(place, row);
        let is_text = matches!(row.get("metadata"), Some(Value::String(_)));
        let Some(mut metadata) = object(row.get("metadata")) else {
            if let Some(Value::String(text)) = row.get_mut("metadata")
                && let Some(now) = self.json(place, text)
            {
                *text = now;
            }
            return;
        };
        let chain = metadata.remove("chain");
        let chain: Option<Chain> = chain.and_then(|chain| serde_json::from_value(chain).ok());
        let rest = self.metadata(place, metadata);
        changed |= rest.changed;
        let put = |row: &mut LogRow, text: String| {
            let value = if is_text {
                Value::String(text)
            } else {
                serde_json::from_str(&text).unwrap_or_default()
            };
            row.insert("metadata".to_owned(), value);
        };
        let Some(chain) = chain else {
            if rest.changed {
                put(row, rest.text);
            }
            return;
        };
        let is_broken = self.sealed.broken.contains(&run);
        let log = self.sealed.logs.entry(run).or_default();
        if let Some(run) = row.get("run_id").and_then(Value::as_str) {
            run.clone_into(&mut log.run);
        }
        log.head = Some(chain.clone());
        // The rows before the first change keep their links.
        if !changed && !log.changed {
            log.last = Some(chain);
            return;
        }
        put(row, rest.text.clone());
        let link = if is_broken {
            chain
        } else {
            log.changed = true;
            relinked(log.last.as_ref(), row, chain)
        };
        if let Ok(metadata) = with_chain(Some(&rest.text), &link) {
            put(row, metadata);
        }
        log.last = Some(link);
    }

    /// Redacts all columns except the metadata; returns whether one changed.
    fn columns(&mut self, place: TextPlace<'_>, row: &mut LogRow) -> bool {
        let mut changed = false;
        for (column, mut value) in std::mem::take(row) {
            let now = match (&value, column.as_str()) {
                (_, "metadata") => None,
                (Value::String(text), "principal") => self.person(place, text).map(Value::String),
                (Value::String(text), _) => self.said(place, text).map(Value::String),
                (Value::Object(_) | Value::Array(_), _) => {
                    let now = self.json(place, &value.to_string());
                    now.and_then(|now| serde_json::from_str(&now).ok())
                }
                _ => None,
            };
            if let Some(now) = now {
                value = now;
                changed = true;
            }
            let name = self.text(place, &column);
            changed |= name.is_some();
            row.insert(name.unwrap_or(column), value);
        }
        changed
    }

    fn metadata(&mut self, place: TextPlace<'_>, mut metadata: LogRow) -> RedactedMeta {
        let mut changed = self.sealed.rehash(metadata.get_mut("prompt_hash"));
        let columns = metadata.get_mut("columns");
        changed |= self
            .sealed
            .rehash(columns.and_then(|columns| columns.get_mut("on_reject")));
        let text = Value::Object(metadata).to_string();
        let now = self.json(place, &text);
        RedactedMeta {
            changed: changed | now.is_some(),
            text: now.unwrap_or(text),
        }
    }
}

/// The metadata of a row without the link, after redaction.
struct RedactedMeta {
    text: String,
    changed: bool,
}

/// Returns the new link of a changed row; the old link if sealing fails.
fn relinked(last: Option<&Chain>, row: &LogRow, chain: Chain) -> Chain {
    let mut hashed = row.clone();
    if let Some(id) = chain.id {
        hashed.insert("id".to_owned(), id.into());
    }
    match seal(last, &Value::Object(hashed).to_string()) {
        Ok(link) => Chain {
            id: chain.id,
            ..link
        },
        Err(_) => chain,
    }
}

/// Returns metadata as an object, parsed if it is text.
fn object(metadata: Option<&Value>) -> Option<LogRow> {
    match metadata? {
        Value::String(text) => serde_json::from_str(text).ok(),
        Value::Object(object) => Some(object.clone()),
        _ => None,
    }
}
