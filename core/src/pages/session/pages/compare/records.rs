//! Compares what runs record beside rows and values. The changes by which `convert` copies a run give metadata, gates,
//! the audit log, segments and imports as columns for every form of run. Files, and tables that OpenProse does not
//! define, are compared by content.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use super::align::Alignment;
use super::values::{MOST, SHOWN, USED_UP, ValueComparison, ValueDifferences, difference};
use crate::model::database::{Scan, Value, Want, WantedRows};
use crate::model::schema::{AGENT_MEMORY_HISTORY, BINDING_HISTORY};
use crate::model::text::hex;
use crate::model::time::{Stamp, human_duration};
use crate::model::{FileInfo, TableInfo};
use crate::pages::session::Session;
use crate::pages::session::values::ValuePlace;
use crate::pages::view::{ComparedValue, ValueView};
use crate::read::gate;
use crate::record::Change;
use crate::trace::NodeId;

/// The largest number of records that are listed.
const LISTED: usize = 1_000;

/// The largest cell of a table that is compared, in bytes.
const CELL: u32 = 1 << 20;

/// The kind of a difference in the metadata of a row.
pub(super) const METADATA: &str = "metadata";

/// Why a part that differs does not count as a difference.
const IN_PART: &str = "its times and ids differ between any two runs; only what rows and values show of it was compared";

/// The columns and keys that differ between any two runs, as ids, times and the hashes over them do, and those that the
/// rows of the trace show.
#[rustfmt::skip]
const LEFT_OUT: [&str; 24] = [
    "id", "run_id", "execution_id", "gate_id", "agent_name", "parallel_id", "loop_id", "round_from", "binding_scope",
    "program_line", "created_at", "updated_at", "resolved_at", "timeout_at", "fetched_at", "replaced_at", "started_at",
    "completed_at", "timestamp", "chain", "attempt", "retry_attempt", "iteration", "current_iteration",
];

/// Records by kind and name.
type Named<T> = BTreeMap<(&'static str, String), T>;

/// What a run records: texts of records, and the lines of the metadata of each row, by its index in the alignment.
#[derive(Default)]
struct Facts {
    records: Named<String>,
    rows: BTreeMap<u32, BTreeSet<String>>,
}

impl ValueDifferences {
    /// Compares the records of two runs.
    pub(super) fn records(&mut self, a: &Session, b: &Session, aligned: &Alignment) {
        let of_a = self.facts("A", a, |node| aligned.of_a(node));
        let of_b = self.facts("B", b, |node| aligned.of_b(node));
        if let (Some(of_a), Some(of_b)) = (of_a, of_b) {
            self.each(
                &of_a.records,
                &of_b.records,
                |_, _| false,
                |_, a, b| compare(a, b),
            );
            self.metadata(of_a, of_b, aligned);
        }
        let history = |table: &&TableInfo, is_pair: bool| !is_pair && is_history(table);
        self.each(&tables(a), &tables(b), history, |all, one, other| {
            let told = all
                .table(a, one)
                .and_then(|one| Ok((one, all.table(b, other)?)));
            told.map_or_else(ValueComparison::Unknown, |(one, other)| {
                compare(&one, &other)
            })
        });
        let (mut in_a, mut in_b) = (self.files(a), self.files(b));
        for (name, session, other) in [("A", a, &mut in_b), ("B", b, &mut in_a)] {
            if session.values.source.is_loose() && !other.is_empty() {
                let why = format!("only the run's own file of {name} was opened");
                self.not_compared("files of the run's folder".to_owned(), why);
                other.clear();
            }
        }
        let only_read = [a, b].iter().any(|of| of.run.form.is_only_read());
        let in_part = |file: &&FileInfo, _| match file.role.as_deref() {
            Some("state file" | "run record" | "receipts" | "manifest" | "history") => true,
            role => role == Some("nested run") || role.is_none() && only_read,
        };
        self.each(&in_a, &in_b, in_part, |all, one, other| {
            let place = |of: &Session, file: &FileInfo| {
                let path = format!("{}{}", of.root, file.path);
                ValuePlace::of_file(file.path.clone(), path, file.len)
            };
            match all.places(a, &place(a, one), b, &place(b, other)) {
                // The lines of such a file may be secrets.
                ValueComparison::Differs(_) if one.role.as_deref() == Some("settings") => {
                    ValueComparison::Differs(ComparedValue::default())
                }
                found => found,
            }
        });
    }

    /// Compares the metadata of the rows that both runs record.
    fn metadata(&mut self, mut of_a: Facts, mut of_b: Facts, aligned: &Alignment) {
        for (at, _) in (0..)
            .zip(&aligned.entries)
            .filter(|(_, entry)| entry.is_pair())
        {
            let [one, other] = [&mut of_a, &mut of_b].map(|of| {
                let lines = of.rows.remove(&at).unwrap_or_default();
                lines.into_iter().collect::<String>()
            });
            if let ValueComparison::Differs(found) = compare(&one, &other) {
                let (name, kind) = (METADATA.to_owned(), METADATA.to_owned());
                let found = ComparedValue {
                    name,
                    kind,
                    ..found
                };
                self.of_row.entry(at).or_default().push(found);
            }
        }
    }

    /// Compares records by name. `in_part` tells whether no difference of a record counts; its second argument is
    /// whether both runs have the record.
    fn each<T>(
        &mut self,
        of_a: &Named<T>,
        of_b: &Named<T>,
        in_part: impl Fn(&T, bool) -> bool,
        mut compare: impl FnMut(&mut Self, &T, &T) -> ValueComparison,
    ) {
        for key in of_a.keys().chain(of_b.keys()).collect::<BTreeSet<_>>() {
            let (in_a, in_b) = (of_a.get(key), of_b.get(key));
            self.records_compared += 1;
            let verdict = match (in_a, in_b) {
                (Some(in_a), Some(in_b)) => compare(self, in_a, in_b),
                _ => ValueComparison::Differs(ComparedValue::default()),
            };
            let is_pair = in_a.is_some() && in_b.is_some();
            let is_in_part = in_a.or(in_b).is_some_and(|one| in_part(one, is_pair));
            let (kind, name) = (key.0.to_owned(), key.1.clone());
            match verdict {
                ValueComparison::Same => {}
                ValueComparison::Differs(_) if is_in_part => {
                    self.not_compared(format!("{kind} {name}"), IN_PART.to_owned());
                }
                ValueComparison::Unknown(why) => self.not_compared(format!("{kind} {name}"), why),
                ValueComparison::Differs(found) => {
                    self.records_differ += 1;
                    let (a, b) = (in_a.map(|_| 0), in_b.map(|_| 0));
                    if self.records.len() < LISTED {
                        self.records.push(ComparedValue {
                            name,
                            kind,
                            a,
                            b,
                            ..found
                        });
                    }
                }
            }
        }
    }

    /// Returns the facts that a run records, and names what could not be read. `None` if reading failed: part of the
    /// facts would look like a difference.
    fn facts(
        &mut self,
        name: &str,
        of: &Session,
        entry: impl Fn(NodeId) -> Option<u32>,
    ) -> Option<Facts> {
        let mut facts = Facts::default();
        let mut add = |kind, name: &str, text: &str| {
            append(
                facts.records.entry((kind, name.to_owned())).or_default(),
                text,
            );
        };
        add(
            "run",
            "program",
            of.run.program.path.as_deref().unwrap_or_default(),
        );
        if !of.run.audit.is_empty() {
            let report = gate::verify(&of.run.gates, &of.run.audit, None);
            add("audit log", "chain", report.state.word());
        }
        let read = of.carry_some(false, false, &mut |changes| {
            for change in changes {
                match &change {
                    Change::Execution(row) if !of.run.executions.is_empty() => {
                        let keys = row
                            .metadata
                            .iter()
                            .map(|(key, value)| (key.as_str(), value));
                        let text = lines(keys);
                        match of.node_of_row(row.id).and_then(&entry) {
                            Some(at) => {
                                let lines = text.split_inclusive('\n').map(str::to_owned);
                                facts.rows.entry(at).or_default().extend(lines);
                            }
                            None => add("run", "rows without a statement", &text),
                        }
                    }
                    Change::Gate(row) => {
                        let at = |text: &str| Stamp::parse(text).millis();
                        let deadline = row.timeout_at.as_deref().and_then(at);
                        if let Some((to, from)) = deadline.zip(at(&row.created)) {
                            let after = human_duration(to.saturating_sub(from));
                            add("gate", &row.id, &format!("deadline after: {after}\n"));
                        }
                        add("gate", &row.id, &columns_of(&change));
                    }
                    Change::ResolveGate(row) => add("gate", &row.id, &columns_of(&change)),
                    Change::Audit(row) => add("audit log", &row.gate_id, &columns_of(&change)),
                    Change::Segment(row) => add("segments", &row.agent, &columns_of(&change)),
                    Change::Import(row) => add("import", &row.alias, &columns_of(&change)),
                    _ => {}
                }
            }
            Ok(())
        });
        // Rows of the trace are compared even if a copy of the run could not record them.
        let shown = ["bindings", "state.md"];
        match read {
            Ok(lacks) => {
                for lack in lacks.iter().filter(|lack| !shown.contains(&&*lack.place)) {
                    let why = lack.what.replacen("not copied", "not compared", 1);
                    self.not_compared(format!("{name}: {}", lack.place), why);
                }
                Some(facts)
            }
            Err(why) => {
                let what = format!("{name}: metadata, gates, the log, segments and imports");
                self.not_compared(what, why.to_string());
                None
            }
        }
    }

    /// Reads the columns of a table that no other part of the comparison reads.
    fn table(&mut self, of: &Session, info: &TableInfo) -> Result<String, String> {
        let columns = columns(info);
        let mut told = format!("{}\n", columns.join(", "));
        let db = of.values.db.as_ref().ok_or("the run has no database")?;
        let found = db.db.table(&info.name).map_err(|error| error.to_string())?;
        if !found.is_table() {
            // A view shows rows of other tables, and the rows of a virtual table are in its shadow tables.
            return Ok(told);
        }
        let wants: Vec<Want<'_>> = columns.iter().map(|name| Want::of(name, CELL)).collect();
        let scan = Scan {
            table: &found,
            wants: &wants,
            rows: WantedRows::All,
        };
        let mut failed = None;
        let read = db.db.scan(&scan, &mut |row| {
            let cells = (0..wants.len()).map(|at| match row.cell(at) {
                Ok(cell) if cell.is_cut() => Err("a cell is longer than 1 MiB".to_owned()),
                Ok(cell) => Ok(match &cell.value {
                    Value::Text(text) => format!("{:?}", String::from_utf8_lossy(text)),
                    Value::Blob(bytes) => format!("x'{}'", hex(bytes)),
                    value => value.lossy().unwrap_or("NULL".into()).into_owned(),
                }),
                Err(error) => Err(error.to_string()),
            });
            match cells.collect::<Result<Vec<_>, _>>() {
                Ok(cells) => {
                    let line = cells.join(", ") + "\n";
                    self.read = self.read.saturating_add(line.len() as u64);
                    failed = (self.read > MOST).then(|| USED_UP.to_owned());
                    append(&mut told, &line);
                }
                Err(why) => failed = Some(why),
            }
            failed.is_none()
        });
        read.map_err(|error| error.to_string())?;
        failed.map_or(Ok(told), Err)
    }

    /// Returns the files that no other part of the comparison reads.
    fn files<'s>(&self, of: &'s Session) -> Named<&'s FileInfo> {
        let copied = of.carry_files(of.values.db.is_some(), true).copied;
        let copied: BTreeSet<String> = copied.into_iter().map(|(from, _)| from).collect();
        let files = of
            .run
            .files
            .iter()
            .filter(|file| match file.role.as_deref() {
                Some("history") => true,
                Some("program") => false,
                _ => copied.contains(&file.path) && !self.attached.contains(&file.path),
            });
        files
            .map(|file| (("file", file.path.clone()), file))
            .collect()
    }
}

/// Returns the tables with content that no other part of the comparison reads. Prosescope's own tables and columns in a
/// store of many runs have names with `x_`.
fn tables(of: &Session) -> Named<&TableInfo> {
    let tables = of.run.tables.iter().filter(|table| {
        let own = table.name.starts_with("x_") && !is_history(table);
        let db = of.values.db.as_ref();
        db.is_some_and(|db| !own || !db.db.holds_many_runs())
            && table.rows != Some(0)
            && table.kind != "lines"
            && !columns(table).is_empty()
    });
    tables
        .map(|table| (("table", table.name.clone()), table))
        .collect()
}

/// Returns whether a table contains earlier values or memories, which a folder keeps in files.
fn is_history(table: &TableInfo) -> bool {
    [BINDING_HISTORY, AGENT_MEMORY_HISTORY].contains(&&*table.name)
}

fn columns(table: &TableInfo) -> Vec<&str> {
    let columns = table
        .columns
        .iter()
        .filter(|column| !table.known || !column.known);
    let names = columns.map(|column| column.name.as_str());
    let own =
        |name: &&str| is_history(table) && (LEFT_OUT.contains(name) || name.starts_with("x_"));
    names.filter(|name| !own(name)).collect()
}

fn columns_of(change: &Change) -> String {
    let row = change.stored("");
    let columns = row
        .iter()
        .flat_map(|row| row.key.iter().chain(&row.columns));
    lines(columns.map(|(name, value)| (*name, value)))
}

/// Returns columns as lines `name: value`. The further lines of a value are indented, so that they cannot imitate
/// another column.
fn lines<'c>(columns: impl Iterator<Item = (&'c str, &'c Json)>) -> String {
    let line = |(name, value): (&str, &Json)| {
        let parsed = value
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok());
        let mut value = parsed.unwrap_or_else(|| value.clone());
        same_in_all_runs(&mut value);
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let is_empty = LEFT_OUT.contains(&name) || ["", "null", "{}"].contains(&text.as_str());
        (!is_empty).then(|| format!("{name}: {}\n", text.replace('\n', "\n  ")))
    };
    columns.filter_map(line).collect()
}

fn same_in_all_runs(json: &mut Json) {
    if let Some(object) = json.as_object_mut() {
        object.retain(|key, _| !LEFT_OUT.contains(&key.as_str()));
        object.values_mut().for_each(same_in_all_runs);
    }
}

/// Adds a text to a fact. Of a long fact, the beginning and a hash of the rest are kept.
fn append(fact: &mut String, text: &str) {
    fact.push_str(text);
    let end = fact.floor_char_boundary(SHOWN);
    if end < fact.len() {
        let rest = hex(&Sha256::digest(fact.split_off(end)));
        fact.push_str(&rest);
    }
}

pub(super) fn compare(a: &str, b: &str) -> ValueComparison {
    if a == b {
        return ValueComparison::Same;
    }
    let view = |text: &str| ValueView {
        text: text.to_owned(),
        len: text.len() as u64,
        cut: text.len() > SHOWN,
        ..ValueView::default()
    };
    ValueComparison::Differs(difference(&view(a), &view(b)))
}
