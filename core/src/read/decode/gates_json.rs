//! Decodes the gates and events of a run folder. OpenProse's folder form has no files for gates and events, so
//! Prosescope adds these files (errata F3):
//!
//! | file | content |
//! |------|-------|
//! | `gates/{id}.pending.json` | the gate as it was created |
//! | `gates/{id}.resolved.json` | `gate_id`, `decision`, `principal`, `timestamp`, `comment`, and columns of `gates` |
//! | `gates/audit.jsonl` | one row of the audit log per line |
//! | `x_events.jsonl` | one row of `execution` per line, with times |
//!
//! Keys are the columns of the tables (`sqlite.md`); unknown keys are not decoded. A line that is not JSON is an
//! issue, and the other lines are still read.

use serde_json::{Map, Value};

use super::fields::{self, Fields};
use super::jsonl::{lines, malformed, text, with_text};
use super::rows::cells::Texts;
use super::rows::meta::Metas;
use crate::model::issue::{Issue, Issues};
use crate::model::text::short;
use crate::model::time::Stamp;
use crate::model::{AuditEvent, Execution, Gate, GateRecord, GateStatus, Text};
use crate::read::gate::canonical::twice;

/// Builds a gate from the texts of its two files. `resolved` takes precedence, and `pending` supplies the values that
/// `resolved` lacks. `id` is the gate's id in the file names. If neither file is readable, returns no gate, and the
/// issues give the reasons.
pub fn gate(id: &str, pending: Option<&str>, resolved: Option<&str>) -> (Option<Gate>, Vec<Issue>) {
    let mut issues = Vec::new();
    let mut read = |text: Option<&str>, what: &str| -> Option<Map<String, Value>> {
        let text = text?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        issues.extend(twice(&format!("the {what} file of gate {id}"), Some(text)));
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => Some(object),
            Ok(_) => {
                issues.push(malformed(format!(
                    "gate {id}: the {what} file is JSON, but not an object"
                )));
                None
            }
            Err(error) => {
                issues.push(malformed(format!(
                    "gate {id}: the {what} file is not readable: {error}"
                )));
                None
            }
        }
    };
    let pending = read(pending, "pending");
    let resolved = read(resolved, "resolved");
    for (file, what) in [(&pending, "pending"), (&resolved, "resolved")] {
        let own = file.as_ref().and_then(own_id);
        if let Some(own) = own.filter(|own| **own != *id) {
            let own = short(&own, 60);
            let message = format!("the {what} file of gate {id} contains another id: {own}");
            issues.push(Issue::warning("gate-id-differs", message).hint(
                "The gate is shown with the id in the file and cannot be decided. Rename the file, or correct the id in the file.",
            ));
        }
    }
    let differing = disagreements(pending.as_ref(), resolved.as_ref());
    if !differing.is_empty() {
        let message = format!(
            "the pending and the resolved file of gate {id} disagree: {}",
            differing.join(", ")
        );
        issues.push(Issue::error("gate-files-disagree", message).hint(
            "One of the two files was changed. Ask the approver whether the decision is still valid.",
        ));
    }
    if pending.is_none() && resolved.is_none() {
        return (None, issues);
    }
    // An empty id counts as an id, so the id in the file's name does not replace it.
    let is_named = |file: &Option<_>| file.as_ref().and_then(own_id).is_some();
    let named = is_named(&resolved) || is_named(&pending);
    let mut gate = fields::gate(&mut GateFiles { pending, resolved });
    if !named {
        gate.id = id.into();
    }
    if *gate.id != *id {
        gate.recorded = GateRecord::FileOf(id.into());
    }
    (Some(gate), issues)
}

/// The rule name of issues about files and rows whose JSON contains a key twice.
pub const TWICE: &str = "json-key-twice";

/// The two files of a gate, read as one row of the table `gates`. The resolved file takes precedence.
struct GateFiles {
    pending: Option<Map<String, Value>>,
    resolved: Option<Map<String, Value>>,
}

impl Fields for GateFiles {
    fn text(&mut self, column: &str) -> Option<Text> {
        let of = |file: &Option<Map<String, Value>>, key: &str| text(file.as_ref()?.get(key)?);
        let any = |key: &str| of(&self.resolved, key).or_else(|| of(&self.pending, key));
        match column {
            "id" => [&self.resolved, &self.pending]
                .into_iter()
                .find_map(|file| own_id(file.as_ref()?)),
            "status" => any("decision")
                .or_else(|| any("status"))
                .map(|word| decision(&word).word().into())
                .or_else(|| self.resolved.is_none().then(|| "pending".into())),
            "created_at" => any(column).or_else(|| of(&self.pending, "timestamp")),
            _ => any(column).or_else(|| {
                let alike = ALIKE.iter().find(|[own, _]| *own == column);
                alike.and_then(|[_, other]| of(&self.resolved, other))
            }),
        }
    }
}

/// Pairs of keys with the same meaning: the column of the table `gates`, and the key in a gate's resolved file.
pub(crate) const ALIKE: [[&str; 2]; 5] = [
    ["id", "gate_id"],
    ["status", "decision"],
    ["resolved_by", "principal"],
    ["resolved_at", "timestamp"],
    ["resolution_comment", "comment"],
];

/// Returns the keys whose values differ between the two files of a gate, or between two keys with the same meaning.
/// Decoding uses only one of two such values, so without an issue the other value would go unnoticed.
fn disagreements(
    pending: Option<&Map<String, Value>>,
    resolved: Option<&Map<String, Value>>,
) -> Vec<String> {
    let mut differing = Vec::new();
    let get = |file: Option<&Map<String, Value>>, key: &str| text(file?.get(key)?);
    for [one, other] in ALIKE {
        let (Some(a), Some(b)) = (get(resolved, one), get(resolved, other)) else {
            continue;
        };
        let same = match one {
            // A word that is not a decision, such as `resolved`, does not contradict a decision.
            "status" => !decision(&a).is_decided() || decision(&a) == decision(&b),
            "resolved_at" => Stamp::parse(&a) == Stamp::parse(&b),
            _ => a == b,
        };
        if !same {
            differing.push(format!("{one} and {other}"));
        }
    }
    let (Some(pending), Some(resolved)) = (pending, resolved) else {
        return differing;
    };
    for (key, before) in pending {
        let same = match (key.as_str(), resolved.get(key)) {
            ("status" | "decision", after) => {
                let word = text(before).map(|word| decision(&word));
                let word = word.filter(GateStatus::is_decided);
                let after = after.and_then(text).map(|word| decision(&word));
                word.is_none() || after.is_none() || word == after
            }
            // A decision may add keys to the metadata, so only the keys of the pending file are compared.
            ("metadata", Some(after)) => match (object(before), object(after)) {
                (Some(before), Some(after)) => before
                    .iter()
                    .all(|(key, value)| after.get(key) == Some(value)),
                _ => before == after,
            },
            (_, Some(after)) => before == after,
            (_, None) => true,
        };
        if !same {
            differing.push(key.clone());
        }
    }
    differing
}

/// Converts a value to a JSON object. The value may be an object, or a string that contains an object as JSON.
fn object(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(object) => Some(object.clone()),
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    }
}

/// Returns the gate's id that a gate's file contains, under `id` or `gate_id`.
fn own_id(file: &Map<String, Value>) -> Option<Text> {
    ["id", "gate_id"]
        .iter()
        .find_map(|key| text(file.get(*key)?))
}

/// Decodes `gates/audit.jsonl`, in order of id (errata G8). A line without an id gets the line's number as its id.
pub fn audit(log: &str) -> (Vec<AuditEvent>, Vec<Issue>) {
    let mut events: Vec<AuditEvent> = Vec::new();
    let mut double = Issues::default();
    let mut read = with_text(log, |number, line, mut object| {
        let at = u32::try_from(number).unwrap_or(u32::MAX);
        double.extend(audit_twice(line, at));
        let row_json = Some(row(&object));
        let event = fields::audit_event(&mut object, number);
        events.push(AuditEvent { row_json, ..event });
        Ok(())
    });
    events.sort_by_key(|event| event.id);
    read.issues.extend(double.finish());
    (events, read.issues)
}

/// Returns an issue if a line of `gates/audit.jsonl` contains a key twice; `number` is the line's number.
pub fn audit_twice(line: &str, number: u32) -> Option<Issue> {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line).trim();
    let issue = twice(&format!("line {number} of the log"), Some(line))?;
    Some(issue.at_line(number))
}

/// Decodes one line of `gates/audit.jsonl`; `number` is the line's number. Returns `None` if the line is not a JSON
/// object.
pub fn audit_line(line: &str, number: i64) -> Option<AuditEvent> {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line).trim();
    let mut object: Map<String, Value> = serde_json::from_str(line).ok()?;
    let row_json = Some(row(&object));
    let event = fields::audit_event(&mut object, number);
    Some(AuditEvent { row_json, ..event })
}

/// Returns the gate's id in a line of `gates/audit.jsonl`, the same as [`audit_line`] returns, but without building
/// the row.
pub fn audit_gate(line: &str) -> Option<Text> {
    #[derive(serde::Deserialize)]
    struct GateIdOnly<'a> {
        #[serde(borrow)]
        gate_id: std::borrow::Cow<'a, str>,
    }
    let line = line.strip_prefix('\u{feff}').unwrap_or(line).trim();
    if line.is_empty() {
        return None;
    }
    // Parsing fails if the id is missing, repeated or not a text. The full decoder handles such lines.
    match serde_json::from_str::<GateIdOnly<'_>>(line) {
        Ok(parsed) => Some(parsed.gate_id.as_ref().into()),
        Err(_) => Some(audit_line(line, 0)?.gate_id),
    }
}

/// Decodes `x_events.jsonl`: rows of `execution`, in order of id.
pub fn events(log: &str) -> (Vec<Execution>, Vec<Issue>) {
    let mut rows: Vec<Execution> = Vec::new();
    let (mut metas, mut texts) = (Metas::default(), Texts::default());
    let issues = lines(log, |number, mut object| {
        let parsed = metas.parse(&object.word("metadata"), &mut texts);
        let id = object.int("id").unwrap_or(number);
        let row = fields::execution(&mut object, id, parsed.meta);
        let text = texts.share(&row.text);
        rows.push(Execution { text, ..row });
        parsed.malformed.map_or(Ok(()), |why| {
            Err(format!("`metadata` is not readable: {why}"))
        })
    });
    rows.sort_by_key(|row| row.id);
    (rows, issues)
}

fn decision(word: &str) -> GateStatus {
    match word.trim().to_lowercase().as_str() {
        "approve" => GateStatus::Approved,
        "reject" => GateStatus::Rejected,
        "timed out" | "timed_out" | "expired" => GateStatus::Timeout,
        _ => GateStatus::parse(word),
    }
}

/// Returns a line as JSON in the form of a database row: objects such as `metadata` are texts, and keys are sorted.
fn row(object: &Map<String, Value>) -> Text {
    let columns = object.iter().map(|(key, value)| match value {
        Value::Object(_) | Value::Array(_) => (key.clone(), value.to_string().into()),
        other => (key.clone(), other.clone()),
    });
    let mut row = Value::Object(columns.collect());
    row.sort_all_objects();
    row.to_string().into()
}

#[cfg(test)]
mod tests;
