//! Changes as statements: many rows of one table as one, everything else by itself, in the order in which they came.
//!
//! A statement of many rows takes each column as an array. COPY would be as fast, but the library prepares it by name, which
//! a pooler may refuse, and a table with row security refuses it.

use std::hash::{DefaultHasher, Hash, Hasher};

use prosescope_core::write::{BindingRow, Change, ExecutionRow};

use super::Import;
use super::original::{Refused, in_place, json, nul, some, time};
use crate::apply::{self, Step, many};
use crate::server::{ints, text, texts};

/// Bytes of the rows of one statement: the server keeps arrays that are shorter than `work_mem` in memory.
const GROUP: usize = 1 << 20;

/// What a row takes beside its texts.
const ROW: usize = 100;

/// A change, made storable.
pub(super) struct Planned {
    pub(super) change: Row,
    pub(super) refused: Option<Refused>,
}

/// How a change is written.
pub(super) enum Row {
    /// With others of its table.
    Binding(BindingRow),
    /// With others of its table.
    Execution(Executed),
    /// By itself.
    Other(Change),
}

/// A row of `execution`, with the database's ids.
pub(super) struct Executed {
    id: i64,
    source: i64,
    index: Option<i64>,
    text: String,
    status: String,
    started: Option<String>,
    completed: Option<String>,
    error: Option<String>,
    parent: Option<i64>,
    metadata: Option<String>,
}

/// Rows of one statement that is not complete yet.
#[derive(Default)]
pub(super) struct Open<'a> {
    bindings: Vec<&'a BindingRow>,
    executions: Vec<&'a Executed>,
    bytes: usize,
    /// What follows the rows.
    then: Vec<Step<'a>>,
}

impl<'a> Open<'a> {
    /// Adds a change; returns the statements that are complete with it.
    pub(super) fn add(&mut self, of: &'a crate::of::Of, planned: &'a Planned) -> Vec<Step<'a>> {
        let run = of.run().unwrap_or_default();
        let (bytes, is_binding) = match &planned.change {
            Row::Binding(row) => (row.value.len() + row.name.len() + ROW, true),
            Row::Execution(row) => {
                let metadata = row.metadata.as_ref().map_or(0, String::len);
                (row.text.len() + metadata + ROW, false)
            }
            Row::Other(_) => (GROUP, false),
        };
        let other = match is_binding {
            true => !self.executions.is_empty(),
            false => !self.bindings.is_empty(),
        };
        let mut steps = match other || self.bytes + bytes > GROUP {
            true => self.close(run),
            false => Vec::new(),
        };
        let kept = planned
            .refused
            .iter()
            .flat_map(|refused| refused.steps(run));
        match &planned.change {
            Row::Binding(row) => self.bindings.push(row),
            Row::Execution(row) => self.executions.push(row),
            Row::Other(change) => {
                steps.extend(apply::steps(of, change));
                steps.extend(kept);
                return steps;
            }
        }
        self.bytes += bytes;
        self.then.extend(kept);
        steps
    }

    /// The statements that complete what was added.
    pub(super) fn close(&mut self, run: &'a str) -> Vec<Step<'a>> {
        let open = std::mem::take(self);
        let mut steps = Vec::new();
        steps.extend(bindings(run, &open.bindings));
        steps.extend(executions(run, &open.executions));
        steps.extend(open.then);
        steps
    }
}

fn bindings<'a>(run: &'a str, rows: &[&'a BindingRow]) -> Option<Step<'a>> {
    let sql = "INSERT INTO openprose.bindings (run_id, name, execution_id, kind, x_kind, value, source_statement, created_at,
                                               updated_at, attachment_path)
         SELECT $1, name, execution_id, kind, x_kind, value, source,
                COALESCE(nullif(created, '')::timestamp AT TIME ZONE 'UTC', nullif(at, '')::timestamp AT TIME ZONE 'UTC', now()),
                COALESCE(nullif(at, '')::timestamp AT TIME ZONE 'UTC', now()), attachment
         FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10)
              AS new(name, execution_id, kind, x_kind, value, source, created, at, attachment)";
    let kinds = rows.iter().map(|row| apply::kind(&row.kind));
    let (kinds, odd): (Vec<_>, Vec<_>) = kinds.unzip();
    let each = |of: fn(&'a BindingRow) -> Option<&'a str>| texts(rows.iter().map(|row| of(row)));
    let bound = vec![
        text(run),
        each(|row| Some(&row.name)),
        ints(rows.iter().map(|row| row.execution_id)),
        texts(kinds.into_iter().map(Some)),
        texts(odd),
        each(|row| Some(&row.value)),
        each(|row| row.source.as_deref()),
        each(|row| row.created.as_deref()),
        each(|row| Some(&row.at)),
        each(|row| row.attachment.as_deref()),
    ];
    (!rows.is_empty()).then(|| many(sql, bound, rows.len()))
}

fn executions<'a>(run: &'a str, rows: &[&'a Executed]) -> Option<Step<'a>> {
    let sql = "INSERT INTO openprose.execution (run_id, id, x_source_id, statement_index, statement_text, status, x_status,
                                                started_at, completed_at, error_message, parent_id, metadata)
         SELECT $1, id, source, line, text, status, x_status, started::timestamp AT TIME ZONE 'UTC',
                completed::timestamp AT TIME ZONE 'UTC', error, parent, metadata::jsonb
         FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
              AS new(id, source, line, text, status, x_status, started, completed, error, parent, metadata)";
    let words = rows.iter().map(|row| in_place(&row.status));
    let (words, odd): (Vec<_>, Vec<_>) = words.unzip();
    let each = |of: fn(&'a Executed) -> Option<&'a str>| texts(rows.iter().map(|row| of(row)));
    let bound = vec![
        text(run),
        ints(rows.iter().map(|row| Some(row.id))),
        ints(rows.iter().map(|row| Some(row.source))),
        ints(rows.iter().map(|row| row.index)),
        each(|row| Some(&row.text)),
        texts(words.into_iter().map(Some)),
        texts(odd),
        each(|row| row.started.as_deref()),
        each(|row| row.completed.as_deref()),
        each(|row| row.error.as_deref()),
        ints(rows.iter().map(|row| row.parent)),
        each(|row| row.metadata.as_deref()),
    ];
    (!rows.is_empty()).then(|| many(sql, bound, rows.len()))
}

impl Import<'_> {
    /// Makes a change one that PostgreSQL stores.
    pub(super) fn plan(&mut self, mut change: Change) -> Planned {
        let run = self.run().to_owned();
        let refused = match &mut change {
            Change::Execution(_) | Change::Attachment(_) | Change::Audit(_) => None,
            Change::UpdateExecution(_) => None,
            Change::Binding(row) => {
                let originals = [
                    ("value", nul(&mut row.value)),
                    ("source_statement", row.source.as_mut().and_then(nul)),
                    ("updated_at", time_of(&mut row.at)),
                    ("created_at", time(&mut row.created)),
                ];
                row.execution_id = row.execution_id.map(|id| self.id(id).unwrap_or(id));
                let frame = row.execution_id.unwrap_or(-1);
                Some(Refused {
                    table: "bindings",
                    key: "x_seq",
                    of: "name = $3 AND COALESCE(execution_id, -1) = $4::bigint",
                    bound: vec![row.name.clone(), frame.to_string()],
                    originals: some(originals),
                })
            }
            Change::Memory(row) => {
                let originals = [
                    ("memory", nul(&mut row.memory)),
                    ("updated_at", time_of(&mut row.at)),
                ];
                Some(Refused {
                    table: "agents",
                    key: "x_seq",
                    of: "name = $3",
                    bound: vec![row.agent.clone()],
                    originals: some(originals),
                })
            }
            Change::Segment(row) => {
                let originals = [
                    ("prompt", nul(&mut row.prompt)),
                    ("summary", nul(&mut row.summary)),
                    ("timestamp", time_of(&mut row.at)),
                ];
                Some(Refused {
                    table: "agent_segments",
                    key: "id",
                    of: "agent_name = $3 AND segment_number = $4::bigint",
                    bound: vec![row.agent.clone(), row.number.to_string()],
                    originals: some(originals),
                })
            }
            Change::Import(row) => {
                let originals = [
                    ("fetched_at", time_of(&mut row.fetched)),
                    ("inputs_schema", json(&mut row.inputs_schema)),
                    ("outputs_schema", json(&mut row.outputs_schema)),
                ];
                Some(Refused {
                    table: "imports",
                    key: "x_seq",
                    of: "alias = $3",
                    bound: vec![row.alias.clone()],
                    originals: some(originals),
                })
            }
            Change::Gate(row) => {
                row.run_id = run;
                let wanted = row.execution_id;
                row.execution_id = wanted.and_then(|id| self.id(id));
                let lost = wanted.filter(|_| row.execution_id.is_none());
                let originals = [
                    ("prompt", row.prompt.as_mut().and_then(nul)),
                    ("on_reject", row.on_reject.as_mut().and_then(nul)),
                    ("execution_id", lost.map(|id| id.to_string().into_bytes())),
                ];
                Some(of_gate(&row.id, originals))
            }
            Change::ResolveGate(row) => {
                row.run_id = run;
                let comment = row.comment.as_mut().and_then(nul);
                Some(of_gate(&row.id, [("resolution_comment", comment)]))
            }
            Change::Run(row) => {
                let updated = time_of(&mut row.updated);
                Some(Refused {
                    table: "run",
                    key: "1",
                    of: "true",
                    bound: Vec::new(),
                    originals: some([("updated_at", updated)]),
                })
            }
        };
        let refused = refused.filter(|refused| !refused.originals.is_empty());
        match change {
            Change::Execution(row) => self.execution(row),
            Change::Binding(row) if self.is_first(&row) => Planned {
                change: Row::Binding(row),
                refused,
            },
            change => Planned {
                change: Row::Other(change),
                refused,
            },
        }
    }

    /// Whether no earlier row is of this binding, so that none becomes history. Two bindings of one hash are written by
    /// themselves, which is slower and as right.
    fn is_first(&mut self, row: &BindingRow) -> bool {
        let mut hasher = DefaultHasher::new();
        (&row.name, row.execution_id.unwrap_or(-1)).hash(&mut hasher);
        self.seen.insert(hasher.finish()) && row.value.len() <= GROUP
    }

    fn execution(&mut self, row: ExecutionRow) -> Planned {
        let id = self.id(row.id).unwrap_or(row.id);
        let (mut text, mut error) = (row.text, row.error);
        let (mut started, mut completed) = (row.started, row.completed);
        let index = row.index.filter(|index| i32::try_from(*index).is_ok());
        let parent = row.parent.and_then(|parent| self.id(parent));
        let odd = |value: Option<i64>| value.map(|value| value.to_string().into_bytes());
        let mut metadata =
            (!row.metadata.is_empty()).then(|| serde_json::Value::Object(row.metadata).to_string());
        let originals = some([
            ("statement_text", nul(&mut text)),
            ("error_message", error.as_mut().and_then(nul)),
            ("started_at", time(&mut started)),
            ("completed_at", time(&mut completed)),
            ("metadata", json(&mut metadata)),
            (
                "statement_index",
                odd(row.index.filter(|_| index.is_none())),
            ),
            ("parent_id", odd(row.parent.filter(|_| parent.is_none()))),
        ]);
        // A row's parent is there before it, unless the run is odd.
        let later = parent.filter(|parent| *parent >= id);
        self.late.extend(later.map(|parent| (id, parent)));
        let refused = Refused {
            table: "execution",
            key: "id",
            of: "id = $3::bigint",
            bound: vec![id.to_string()],
            originals,
        };
        Planned {
            refused: Some(refused).filter(|refused| !refused.originals.is_empty()),
            change: Row::Execution(Executed {
                id,
                source: row.id,
                index,
                text,
                status: row.status,
                started,
                completed,
                error,
                parent: parent.filter(|_| later.is_none()),
                metadata,
            }),
        }
    }
}

fn of_gate<const N: usize>(id: &str, originals: [(&'static str, Option<Vec<u8>>); N]) -> Refused {
    Refused {
        table: "gates",
        key: "x_seq",
        of: "id = $3",
        bound: vec![id.to_owned()],
        originals: some(originals),
    }
}

/// As [`time`], of a text that is empty where there is none.
fn time_of(value: &mut String) -> Option<Vec<u8>> {
    let mut at = Some(std::mem::take(value));
    let original = time(&mut at);
    *value = at.unwrap_or_default();
    original
}
