//! Audit logs whose rows changed: sealed anew, so that the copy is consistent, with the old head named.

use std::collections::{BTreeMap, BTreeSet};

use prosescope_core::gate::chain::{Chain, seal, with_chain};
use prosescope_core::gate::prompt_hash;
use serde_json::{Map, Value};

use super::{Place, Redactor};
use crate::manifest::SealedAnew;

/// What is known of the logs while they are copied.
#[derive(Default)]
pub(super) struct Seals {
    /// By run: the last row that was sealed anew, and the last link before.
    runs: BTreeMap<String, (Option<Chain>, Option<Chain>)>,
    /// Hashes of long texts that changed, and what they are now.
    hashes: BTreeMap<String, String>,
    /// Runs whose logs keep the links that they have.
    broken: BTreeSet<String>,
    /// Whether any row differs from the original.
    changed: bool,
}

impl Seals {
    pub(super) fn heads(&self) -> Vec<SealedAnew> {
        if !self.changed {
            return Vec::new();
        }
        let heads = self.runs.iter().filter_map(|(run, (_, before))| {
            let before = before.as_ref()?;
            Some(SealedAnew {
                run: run.clone(),
                count: before.seq,
                head: before.hash.clone(),
            })
        });
        heads.collect()
    }

    /// Notes that a gate's long text is another now: the log records its hash.
    pub(super) fn hashed(&mut self, before: &str, now: &str) {
        self.hashes.insert(prompt_hash(before), prompt_hash(now));
    }

    /// Notes that a row differs from the original.
    pub(super) fn change(&mut self) {
        self.changed = true;
    }

    /// Begins anew; what is broken stays so.
    pub(super) fn again(&mut self) {
        *self = Seals {
            broken: std::mem::take(&mut self.broken),
            ..Seals::default()
        };
    }

    fn rehash(&self, value: Option<&mut Value>) {
        if let Some(Value::String(hash)) = value
            && let Some(now) = self.hashes.get(hash.as_str())
        {
            now.clone_into(hash);
        }
    }

    /// Notes that a run's log contradicts itself: sealing it anew would hide that.
    pub(super) fn broken(&mut self, run: &str) {
        self.broken.insert(run.to_owned());
    }
}

/// A row of an audit log: its columns, with its metadata as an object.
pub(super) type LogRow = Map<String, Value>;

impl Redactor {
    /// Changes a row of the log as it must be, and seals it behind the one before where it was sealed.
    pub(super) fn log_row(&mut self, place: Place<'_>, row: &mut LogRow) {
        let before = row.clone();
        let run = row
            .get("run_id")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let run = run.to_owned();
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
            }
            let column = self.text(place, &column).unwrap_or(column);
            row.insert(column, value);
        }
        let metadata = row.get("metadata").cloned().unwrap_or_default();
        let (is_text, metadata) = match metadata {
            Value::String(text) => (true, text),
            Value::Null => (false, String::new()),
            other => (false, other.to_string()),
        };
        let Ok(Value::Object(mut object)) = serde_json::from_str(&metadata) else {
            if let (true, Some(now)) = (is_text, self.json(place, &metadata)) {
                row.insert("metadata".to_owned(), now.into());
            }
            return;
        };
        let chain = object.remove("chain");
        let chain: Option<Chain> = chain.and_then(|chain| serde_json::from_value(chain).ok());
        self.sealed.rehash(object.get_mut("prompt_hash"));
        let columns = object.get_mut("columns");
        self.sealed
            .rehash(columns.and_then(|columns| columns.get_mut("on_reject")));
        let rest = Value::Object(object).to_string();
        let rest = self.json(place, &rest).unwrap_or(rest);
        let put = |row: &mut LogRow, text: String| {
            let value = match is_text {
                true => Value::String(text),
                false => serde_json::from_str(&text).unwrap_or_default(),
            };
            row.insert("metadata".to_owned(), value);
        };
        if let Some(chain) = chain {
            let is_broken = self.sealed.broken.contains(&run);
            let (last, head) = self.sealed.runs.entry(run).or_default();
            *head = Some(chain.clone());
            put(row, rest.clone());
            let same = {
                let mut plain = before.clone();
                plain.remove("metadata");
                let mut now = row.clone();
                now.remove("metadata");
                plain == now && unchained(&before) == serde_json::from_str::<Value>(&rest).ok()
            };
            // As long as nothing changed, the rows keep their links.
            if same && !self.sealed.changed {
                *last = Some(chain);
                *row = before;
                return;
            }
            self.sealed.changed = true;
            let mut hashed = row.clone();
            if let Some(id) = chain.id {
                hashed.insert("id".to_owned(), id.into());
            }
            let text = Value::Object(hashed).to_string();
            let sealed = match is_broken {
                true => None,
                false => seal(last.as_ref(), &text).ok(),
            };
            let mut link = sealed.unwrap_or_else(|| chain.clone());
            link.id = chain.id;
            if let Ok(metadata) = with_chain(Some(&rest), &link) {
                put(row, metadata);
            }
            *last = Some(link);
        } else if unchained(&before) != serde_json::from_str(&rest).ok() {
            put(row, rest);
        }
    }
}

/// A row's metadata without its link.
fn unchained(row: &LogRow) -> Option<Value> {
    let metadata = match row.get("metadata")? {
        Value::String(text) => serde_json::from_str(text).ok()?,
        other => other.clone(),
    };
    let Value::Object(mut object) = metadata else {
        return None;
    };
    object.remove("chain");
    Some(Value::Object(object))
}
