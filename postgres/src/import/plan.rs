//! Converts the changes of an import into changes that PostgreSQL stores: with the database's ids, and with refused
//! values kept separately.

use std::hash::{DefaultHasher, Hash, Hasher};

use prosescope_core::write::{BindingRow, Change, ExecutionRow};

use super::Import;
use super::original::{Refused, json, nul, scope, some, time};
use super::rows::{Executed, GROUP, Planned, Row};

impl Import<'_> {
    /// Converts a change into a change that PostgreSQL stores.
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
                row.execution_id = row.execution_id.map(|id| self.frame(id));
                row.parent_execution_id = row.parent_execution_id.map(|id| self.frame(id));
                let frame = row.execution_id.unwrap_or(-1);
                Some(Refused {
                    table: "bindings",
                    key: "x_seq",
                    of: "name = $3 AND COALESCE(execution_id, -1) = $4::bigint",
                    bound: vec![row.name.clone(), frame.to_string()],
                    originals: some(originals),
                })
            }
            Change::Agent(row) => {
                let originals = [
                    ("scope", scope(&mut row.scope)),
                    ("created_at", time_of(&mut row.created)),
                    ("updated_at", time_of(&mut row.updated)),
                ];
                Some(of_agent(&row.agent, originals))
            }
            Change::Memory(row) => {
                let originals = [
                    ("memory", nul(&mut row.memory)),
                    ("updated_at", time_of(&mut row.at)),
                ];
                Some(of_agent(&row.agent, originals))
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

    /// Returns whether a binding can be written in one statement with others: its value is small, and the binding has
    /// no earlier value that becomes history. If two hashes collide, the binding is written separately, which is slower
    /// but correct.
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
        // A parent is normally written before its children. In an odd run it comes later, so the id of the parent is
        // set after both rows are written.
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

fn of_agent<const N: usize>(
    name: &str,
    originals: [(&'static str, Option<Vec<u8>>); N],
) -> Refused {
    Refused {
        table: "agents",
        key: "x_seq",
        of: "name = $3",
        bound: vec![name.to_owned()],
        originals: some(originals),
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

/// Applies [`time`] to a time as a text, which is empty if the time is unknown.
fn time_of(value: &mut String) -> Option<Vec<u8>> {
    let mut at = Some(std::mem::take(value));
    let original = time(&mut at);
    *value = at.unwrap_or_default();
    original
}
