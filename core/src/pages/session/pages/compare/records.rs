//! Compares what runs record beside rows and values, as texts with a line for each field. The changes by which `convert`
//! copies a run give the fields of every form of run.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use super::super::table_rows;
use super::align::Alignment;
use super::values::{MOST, SHOWN, USED_UP, ValueDifferences, difference};
use crate::model::text::hex;
use crate::model::{TableInfo, schema};
use crate::pages::session::{Session, ValueOf};
use crate::pages::view::{ComparedValue, CopyLoss, ValueFormat, ValueView};
use crate::read::decode::folder::role;
use crate::read::gate::{canonical, verify};
use crate::record::{Change, GateResolution, GateRow};
use crate::trace::NodeId;

/// The largest number of records that are listed.
const LISTED: usize = 1_000;

/// The largest number of rows of a table that is compared.
const ROWS: u32 = 10_000;

/// The columns with ids and times, those in the record's name, and values, which are compared elsewhere.
#[rustfmt::skip]
const LEFT_OUT: [&str; 12] = [
    "id", "run_id", "execution_id", "gate_id", schema::FRAME_AROUND, "created_at", "updated_at", "resolved_at",
    "timeout_at", "fetched_at", "timestamp", "value",
];

/// The keys of metadata with ids, durations and hashes, and those that rows show.
#[rustfmt::skip]
const KEYS_LEFT_OUT: [&str; 14] = [
    "chain", "approval_time_seconds", "parallel_id", "loop_id", "binding", "completed_by", "round_from", "binding_scope",
    "program_line", "audit_seq", "attempt", "retry_attempt", "iteration", "current_iteration",
];

/// The columns that contain JSON. All other texts are compared as they are.
const JSON: [&str; 4] = ["metadata", "allow", "inputs_schema", "outputs_schema"];

/// The roles of files with ids, times or secrets: a difference is reported as not compared.
#[rustfmt::skip]
const ROLES: [&str; 7] = ["state file", "run record", "receipts", "manifest", "nested run", "gate", "settings"];

/// The kind of a record, the index of its row in the alignment (0 for records of the run), and its name.
type Key = (&'static str, u32, String);

impl ValueDifferences {
    /// Compares the records of two runs.
    pub(super) fn records(&mut self, a: &Session, b: &Session, aligned: &Alignment) {
        if a.run.form.is_only_read() || b.run.form.is_only_read() {
            let why = "a run of this form has ids and times in its files and tables";
            return self.not_compared("records beside rows and values".to_owned(), why.to_owned());
        }
        // What belongs to a row that only one run has is part of the difference of the row.
        let row = |at: Option<u32>| {
            let entry = aligned.get(at?).filter(|entry| entry.is_pair())?;
            Some((at?, a.node(entry.a?)?.text.to_string()))
        };
        let of_a = self.facts("A", a, |node| row(aligned.of_a(node)));
        let of_b = self.facts("B", b, |node| row(aligned.of_b(node)));
        let all: BTreeSet<&Key> = of_a.keys().chain(of_b.keys()).collect();
        self.records_compared = all.len() as u32;
        let is_loose = a.values.source.is_loose() || b.values.source.is_loose();
        for key in all {
            let (kind, name) = (key.0.to_owned(), key.2.clone());
            let (a, b) = (of_a.get(key), of_b.get(key));
            let is_pair = a.is_some() && b.is_some();
            // A value that only one run has is among the values.
            if a == b || kind == "value" && !is_pair {
                continue;
            }
            let role = role(&name).filter(|_| kind == "file");
            if is_loose && kind == "file" || role.is_some_and(|role| ROLES.contains(&role)) {
                let why = "it differs; ids, times, secrets and files outside of what was opened are not compared";
                self.not_compared(format!("{kind} {name}"), why.to_owned());
                continue;
            }
            *self.records_differ.entry(kind.clone()).or_default() += 1;
            if self.records.len() == LISTED {
                continue;
            }
            let view = |text: Option<&String>| ValueView {
                text: text.cloned().unwrap_or_default(),
                cut: text.is_some_and(|text| text.len() > SHOWN),
                ..ValueView::default()
            };
            let found = match is_pair || kind != "file" {
                true => difference(&view(a), &view(b)),
                false => ComparedValue::default(),
            };
            let (a, b) = (a.map(|_| 0), b.map(|_| 0));
            self.records.push(ComparedValue {
                name,
                kind,
                a,
                b,
                ..found
            });
        }
    }

    /// Returns the texts of a run's records, and names what could not be read. `row` returns the alignment's index and
    /// the text of a row that both runs have.
    fn facts(
        &mut self,
        side: &str,
        of: &Session,
        row: impl Fn(NodeId) -> Option<(u32, String)>,
    ) -> BTreeMap<Key, String> {
        let mut facts: BTreeMap<Key, String> = BTreeMap::new();
        let path = of.run.program.path.as_deref().unwrap_or_default();
        facts.insert(("run", 0, "program".to_owned()), path.to_owned());
        let chain = verify(&of.run.gates, &of.run.audit, None).state.word();
        facts.insert(("audit log", 0, "chain".to_owned()), chain.to_owned());
        let place = |id: Option<i64>| match id.map(|id| of.node_of_row(id)) {
            Some(Some(node)) => row(node),
            _ => Some((0, "rows without a statement".to_owned())),
        };
        let read = of.carry(false, &mut |changes| {
            for change in &changes {
                let key = match change {
                    Change::Execution(own) if !of.run.executions.is_empty() => {
                        place(Some(own.id)).map(|(at, text)| ("metadata", at, text))
                    }
                    Change::Binding(own) => {
                        place(own.execution_id).map(|(at, _)| ("value", at, own.name.clone()))
                    }
                    Change::Gate(GateRow { id, .. })
                    | Change::ResolveGate(GateResolution { id, .. }) => {
                        Some(("gate", 0, id.clone()))
                    }
                    Change::Audit(own) => Some(("audit log", 0, own.gate_id.clone())),
                    Change::Segment(own) => {
                        Some(("segment", 0, format!("{} {}", own.agent, own.number)))
                    }
                    Change::Import(own) => Some(("import", 0, own.alias.clone())),
                    _ => None,
                };
                let (Some(key), Some(stored)) = (key, change.stored("")) else {
                    continue;
                };
                let fact = facts.entry(key.clone()).or_default();
                for (column, value) in stored.key.iter().chain(&stored.columns) {
                    // The other columns of a statement are those of rows.
                    if key.0 != "metadata" || *column == "metadata" {
                        append(fact, &of_column(column, value));
                    }
                }
                if let Change::Binding(own) = change
                    && own.attachment.is_some()
                {
                    append(fact, &line("text", &own.value));
                }
            }
            Ok(())
        });
        let mut lacks = read.unwrap_or_else(|why| vec![CopyLoss::new("records", why.to_string())]);
        // What a copy has in another way is in the changes.
        let is_own = |of: &CopyLoss| of.what.starts_with("not copied") || !of.what.contains("cop");
        let other =
            |of: &CopyLoss| of.place.starts_with("run ") || of.place.ends_with(schema::EVENTS);
        lacks.retain(|of| is_own(of) && !other(of));
        for info in &of.run.tables {
            let place = format!("{} {}", info.kind, info.name);
            let column = format!("column {}.", info.name);
            let is_of = |of: &CopyLoss| of.place == place || of.place.starts_with(&column);
            if lacks.iter().any(is_of)
                && let Some(text) = table(of, info)
            {
                facts.insert(("table", 0, info.name.clone()), text);
                lacks.retain(|of| !is_of(of));
            }
        }
        let carried = of.carry_files(of.values.db.is_some(), true);
        let files = carried.copied.into_iter().map(|(from, _)| from);
        let files = files.chain(carried.left.into_iter().map(|left| left.place));
        for path in files
            .filter(|path| role(path) != Some("program") && of.values.attachment(path).is_some())
        {
            let text = self.content(of, &ValueOf::File(path.clone()));
            if let Err(why) = &text {
                lacks.push(CopyLoss::new(format!("file {path}"), why));
            }
            facts.insert(("file", 0, path), text.unwrap_or_else(|why| why));
        }
        for lack in lacks {
            let why = lack.what.replacen("not copied", "not compared", 1);
            self.not_compared(format!("{side}: {}", lack.place), why);
        }
        facts.retain(|key, text| key.0 == "file" || !text.is_empty());
        facts
    }

    /// Reads a file as a text: of a long or binary one, the beginning and a hash of all bytes.
    fn content(&mut self, of: &Session, at: &ValueOf) -> Result<String, String> {
        let view = of.value(at, SHOWN).map_err(|error| error.to_string())?;
        if !view.cut && view.format != ValueFormat::Binary && !view.text.contains('\u{fffd}') {
            return Ok(view.text);
        }
        self.read = self.read.saturating_add(view.len);
        if self.read > MOST {
            return Err(USED_UP.to_owned());
        }
        let mut hash = Sha256::new();
        let mut each = |piece: &[u8]| {
            hash.update(piece);
            true
        };
        of.value_pieces(at, &mut each)
            .map_err(|error| error.to_string())?;
        Ok(view.text + "\n" + &hex(&hash.finalize()))
    }
}

/// Reads what the changes lack of a table: all columns of a foreign table, and the foreign columns of a table of
/// OpenProse. `None` if it cannot be read completely.
fn table(of: &Session, info: &TableInfo) -> Option<String> {
    let page = table_rows(of, &info.name, 0, ROWS).ok()?;
    if page.more_columns > 0 || info.rows? > ROWS.into() {
        return None;
    }
    let mut told = String::new();
    for (name, cell) in page
        .rows
        .iter()
        .flat_map(|row| page.columns.iter().zip(row))
    {
        let known = || info.columns.iter().any(|of| of.known && of.name == *name);
        if cell.stored == "null" || info.known && known() {
            continue;
        }
        if cell.cut || cell.text.contains('\u{fffd}') {
            return None;
        }
        append(
            &mut told,
            &line(name, &format!("{} {:?}", cell.stored, cell.text)),
        );
    }
    Some(told)
}

fn of_column(name: &str, value: &Json) -> String {
    let json = match value {
        Json::String(text) if JSON.contains(&name) => canonical::parse(text).ok(),
        _ => None,
    };
    match (json.as_ref().unwrap_or(value), &json) {
        _ if LEFT_OUT.contains(&name) => String::new(),
        (Json::Null, _) => String::new(),
        (Json::Object(keys), _) if name == "metadata" => {
            let keys = keys
                .iter()
                .filter(|(key, _)| !KEYS_LEFT_OUT.contains(&key.as_str()));
            keys.map(|(key, value)| line(key, &canonical::text(value.clone())))
                .collect()
        }
        (Json::String(text), None) => line(name, text),
        (value, _) => line(name, &canonical::text(value.clone())),
    }
}

/// Returns a line `name: value`. The further lines of a value are indented, so that they cannot imitate another name.
fn line(name: &str, value: &str) -> String {
    format!("{name}: {value}").replace('\n', "\n  ") + "\n"
}

/// Adds a text to a record. Of a long record, the beginning and a hash of the rest are kept.
fn append(record: &mut String, text: &str) {
    record.push_str(text);
    let end = record.floor_char_boundary(SHOWN);
    if end < record.len() {
        let rest = hex(&Sha256::digest(record.split_off(end)));
        record.push_str(&rest);
    }
}
