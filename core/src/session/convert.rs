//! A run as changes of another store's form: with the source's own ids and times (`prose convert`; errata B4, B10, G7).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::Session;
use super::values::Table;
use crate::decode::sqlite::Version;
use crate::decode::text::is_plain_path;
use crate::decode::{folder, jsonl, memory_md, sqlite};
use crate::gate::audit::Chain;
use crate::model::{Agent, AgentScope, AuditEvent, Binding, Execution, Gate, GateStatus, ValueAt};
use crate::render::{binding_md, segment_md};
use crate::schema::{self, known_column, known_table};
use crate::source::SourceError;
use crate::time::Stamp;
use crate::write::{
    AttachmentFile, AuditRow, BindingRow, Change, ExecutionRow, Fault, FaultKind, GateResolution,
    GateRow, ImportRow, MemoryRow, RunChange, SegmentRow, WriteError,
};

/// Bytes of values that are held at a time; one value is held whole.
const HELD: usize = 8 << 20;

/// What takes the changes, some at a time and in order.
pub type Each<'a> = &'a mut dyn FnMut(Vec<Change>) -> Result<(), WriteError>;

impl Session {
    /// Gives the run to `each` as changes, for a new store: a folder, or a database. What could not be carried is
    /// said, in sentences.
    ///
    /// # Errors
    /// What `each` said, or a [`Fault`] when the run cannot be read.
    pub fn carry(&self, to_folder: bool, each: Each<'_>) -> Result<Vec<String>, WriteError> {
        let mut carry = Carry {
            session: self,
            to_folder,
            each,
            held: Vec::new(),
            bytes: 0,
            keys: BTreeSet::new(),
            left: Vec::new(),
        };
        carry.tables();
        carry.bindings()?;
        carry.agents()?;
        carry.flush()?;
        carry.rows()?;
        Ok(carry.left)
    }
}

struct Carry<'a, 'b> {
    session: &'a Session,
    to_folder: bool,
    each: Each<'b>,
    held: Vec<Change>,
    bytes: usize,
    /// Which files the held changes write: each of them once, as history is kept of what is there.
    keys: BTreeSet<String>,
    left: Vec<String>,
}

impl Carry<'_, '_> {
    fn flush(&mut self) -> Result<(), WriteError> {
        self.bytes = 0;
        self.keys.clear();
        let held = std::mem::take(&mut self.held);
        if held.is_empty() {
            return Ok(());
        }
        (self.each)(held)
    }

    fn hold(&mut self, key: String, bytes: usize, changes: Vec<Change>) -> Result<(), WriteError> {
        if self.keys.contains(&key) || self.bytes.saturating_add(bytes) > HELD {
            self.flush()?;
        }
        self.keys.insert(key);
        self.bytes = self.bytes.saturating_add(bytes);
        self.held.extend(changes);
        Ok(())
    }

    /// What no form knows.
    fn tables(&mut self) {
        for table in &self.session.run.tables {
            if !known_table(&table.name) {
                if table.rows.unwrap_or(1) > 0 && self.session.db.is_some() {
                    self.left.push(format!(
                        "the table {} is of no document: its {} rows stay in the database",
                        table.name,
                        table.rows.unwrap_or(0)
                    ));
                }
                continue;
            }
            for column in &table.columns {
                if !known_column(&table.name, &column.name) && table.rows != Some(0) {
                    self.left.push(format!(
                        "the column {}.{} is of no document: it stays in the database",
                        table.name, column.name
                    ));
                }
            }
        }
    }

    fn bindings(&mut self) -> Result<(), WriteError> {
        let run = &self.session.run;
        let ids: BTreeSet<i64> = run.executions.iter().map(|row| row.id).collect();
        let mut files: BTreeSet<String> = BTreeSet::new();
        let mut bindings = run.bindings.clone();
        self.session.binding_tails(&mut bindings);
        if !self.to_folder {
            // Rows stand in the order in which they were written, files in that of their names.
            let first = |b: &Binding| {
                let at = b.created.as_ref().or(b.updated.as_ref());
                at.and_then(Stamp::millis)
            };
            bindings.sort_by_key(|binding| (first(binding), binding.execution_id));
        }
        for binding in bindings.iter().filter(|b| !b.superseded) {
            let (name, frame) = (&*binding.name, binding.execution_id);
            let of = frame.map_or(String::new(), |id| format!(" of frame {id}"));
            if let Some(id) = frame.filter(|id| !ids.contains(id)) {
                self.left.push(format!(
                    "carried as it is: the binding {name} names execution {id}, which is not recorded"
                ));
            }
            if let (false, Some(above), Some(id)) =
                (self.to_folder, binding.parent_execution_id, frame)
                && !ids.contains(&id)
            {
                self.left.push(format!(
                    "that frame {id} lies in frame {above}, as the binding {name} says, has no place in a database without its row"
                ));
            }
            if matches!(binding.value, ValueAt::Missing) {
                self.left.push(format!(
                    "the binding {name}{of} has no value that could be carried"
                ));
                continue;
            }
            if self.to_folder && self.nested(name) {
                continue;
            }
            if self.to_folder {
                let file = binding_md::file_name(name, frame);
                let scoped = frame.is_none()
                    && name.rsplit_once("__").is_some_and(|(_, id)| {
                        !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit())
                    });
                let plain = !name.is_empty()
                    && !name.contains(['/', '\\', '\0', '\n'])
                    && file.len() <= 240
                    && is_plain_path(&file);
                if scoped || !plain || !files.insert(file.to_lowercase()) {
                    self.left.push(format!(
                        "the binding {name}{of} is not carried: no file can go by its name, or another has it"
                    ));
                    continue;
                }
            }
            let versions = match &self.session.db {
                Some(db) => sqlite::binding_versions(&db.conn, name, frame).unwrap_or_default(),
                None => folder::binding_versions(
                    self.session.source.as_ref(),
                    &self.session.root,
                    name,
                    frame,
                ),
            };
            for version in &versions {
                self.version(binding, version)?;
            }
            for earlier in bindings.iter().filter(|earlier| {
                earlier.superseded && earlier.name == binding.name && earlier.execution_id == frame
            }) {
                self.binding(earlier, "bindings")?;
            }
            self.binding(binding, "bindings")?;
        }
        Ok(())
    }

    /// Whether a dotted name is a binding of a nested run that lies in the folder (errata B12).
    fn nested(&self, name: &str) -> bool {
        let Some((alias, rest)) = name.split_once('.') else {
            return false;
        };
        let dir = format!("{}imports/{alias}--", self.session.root);
        let file = format!("/bindings/{rest}.md");
        let files = self.session.source.below(&dir);
        files.iter().any(|found| found.path.ends_with(&file))
    }

    fn version(&mut self, of: &Binding, version: &Version) -> Result<(), WriteError> {
        let earlier = Binding {
            kind: version.kind.clone(),
            source: version.source.clone(),
            created: version.created.clone(),
            updated: version.updated.clone(),
            attachment: version.attachment.clone(),
            value: version.value.clone(),
            fields: Box::default(),
            ..of.clone()
        };
        self.binding(&earlier, schema::BINDING_HISTORY)
    }

    fn binding(&mut self, binding: &Binding, table: &str) -> Result<(), WriteError> {
        let bytes = self.whole(table, "value", &Table::Bindings, &binding.value)?;
        if let ValueAt::Row { len: None, .. } = binding.value {
            self.left.push(format!(
                "the value of {} is NULL: it is carried as an empty one",
                binding.name
            ));
        }
        if !binding.fields.is_empty() {
            let keys: Vec<&str> = binding.fields.iter().map(|(key, _)| &**key).collect();
            self.left.push(format!(
                "of the binding {} the fields {} have no place",
                binding.name,
                keys.join(", ")
            ));
        }
        let len = bytes.len();
        let mut changes = Vec::new();
        let mut attachment = text(&binding.attachment);
        let value = match String::from_utf8(bytes) {
            Ok(value) => value,
            Err(error) if attachment.is_none() => {
                // Byte for byte, where a value that is no text can be.
                let path = format!("attachments/x_converted_{}.bin", self.left.len());
                self.left.push(format!(
                    "the value of {} is no text: it is carried as {path}",
                    binding.name
                ));
                changes.push(Change::Attachment(AttachmentFile {
                    path: path.clone(),
                    bytes: error.into_bytes(),
                }));
                attachment = Some(path);
                String::new()
            }
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        let updated = binding.updated.as_ref().or(binding.created.as_ref());
        changes.push(Change::Binding(BindingRow {
            name: binding.name.to_string(),
            execution_id: binding.execution_id,
            parent_execution_id: binding.parent_execution_id.or_else(|| self.above(binding)),
            kind: binding.kind.word().to_owned(),
            value,
            source: text(&binding.source),
            attachment,
            at: stamp(updated, self.to_folder),
            created: binding
                .created
                .as_ref()
                .map(|at| stamp(Some(at), self.to_folder)),
        }));
        let key = binding_md::file_name(&binding.name, binding.execution_id).to_lowercase();
        self.hold(key, len, changes)
    }

    /// The frame around a binding's frame.
    fn above(&self, binding: &Binding) -> Option<i64> {
        let frame = binding.execution_id.filter(|_| self.to_folder)?;
        let rows = &self.session.run.executions;
        let at = rows.binary_search_by_key(&frame, |row| row.id).ok()?;
        rows.get(at)?.parent
    }

    fn agents(&mut self) -> Result<(), WriteError> {
        for agent in &self.session.run.agents {
            let agent = self.session.agent_tail(agent);
            self.agent(&agent)?;
        }
        Ok(())
    }

    fn agent(&mut self, agent: &Agent) -> Result<(), WriteError> {
        let name = agent.name.to_string();
        let scope = agent.scope.word().to_owned();
        if self.to_folder {
            if !is_plain_path(&name) || name.contains(['/', '\\', '\0']) {
                self.left.push(format!(
                    "the agent {name} is not carried: no folder can go by its name"
                ));
                return Ok(());
            }
            if agent.scope != AgentScope::Execution {
                self.left.push(format!(
                    "the agent {name} is of the scope {scope}: in a run folder it is the run's"
                ));
            }
        }
        let table = Table::Agents(agent.store.clone());
        let versions = match &self.session.db {
            Some(db) => sqlite::memory_versions(&db.conn, &name).unwrap_or_default(),
            None => {
                folder::memory_versions(self.session.source.as_ref(), &self.session.root, &name)
            }
        };
        let mut memories: Vec<(&ValueAt, &str, Option<&Stamp>)> = versions
            .iter()
            .map(|v| (&v.value, schema::AGENT_MEMORY_HISTORY, v.updated.as_ref()))
            .collect();
        let has_memory = match &agent.memory {
            ValueAt::Missing | ValueAt::Row { len: None, .. } => false,
            ValueAt::Row { .. } | ValueAt::File { .. } => true,
        };
        if has_memory {
            let updated = agent.updated.as_ref().or(agent.created.as_ref());
            memories.push((&agent.memory, "agents", updated));
        } else if agent.segments.is_empty() {
            self.left.push(format!(
                "the agent {name} has neither memory nor segments: nothing of it is carried"
            ));
        }
        if self.to_folder && !memories.is_empty() {
            self.left.push(format!(
                "when {name}'s memory was written has no place in a folder"
            ));
        }
        for (at, of, updated) in memories {
            let bytes = self.whole(of, "memory", &table, at)?;
            let len = bytes.len();
            let change = Change::Memory(MemoryRow {
                agent: name.clone(),
                scope: scope.clone(),
                memory: lossy(bytes),
                at: stamp(updated, self.to_folder),
            });
            self.hold(format!("agents/{name}"), len, vec![change])?;
        }
        for segment in &agent.segments {
            let row = SegmentRow {
                agent: name.clone(),
                scope: scope.clone(),
                number: segment.number,
                at: stamp(segment.timestamp.as_ref(), self.to_folder),
                prompt: text(&segment.prompt).unwrap_or_default(),
                summary: text(&segment.summary).unwrap_or_default(),
            };
            if self.to_folder {
                let read = memory_md::segment(&segment_md::write(&row));
                let same = read.prompt.as_deref().unwrap_or_default() == row.prompt
                    && read.summary.as_deref().unwrap_or_default() == row.summary;
                if !same {
                    self.left.push(format!(
                        "segment {} of {name}: blank lines or spaces at an edge have no place in its file",
                        row.number
                    ));
                }
            }
            let len = row.prompt.len().saturating_add(row.summary.len());
            let key = format!("agents/{name}/{}", row.number);
            self.hold(key, len, vec![Change::Segment(row)])?;
        }
        Ok(())
    }

    /// Statements, imports, gates, the audit log, and the run itself.
    fn rows(&mut self) -> Result<(), WriteError> {
        let run = &self.session.run;
        let mut changes: Vec<Change> = Vec::new();
        let (executions, raw) = self.executions();
        if !raw && !executions.is_empty() {
            self.left.push(
                "of the statements only what the state file tells is carried: there are no events"
                    .to_owned(),
            );
        }
        if executions.is_empty() && !self.session.trace.nodes.is_empty() {
            self.left.push(
                "what ran is told by the state file alone, which has no rows to carry: it is copied as it is"
                    .to_owned(),
            );
        }
        changes.extend(executions.into_iter().map(Change::Execution));
        for import in &run.imports {
            if self.to_folder {
                let place = match &import.nested {
                    Some(nested) => format!("its run {nested} is copied"),
                    None => "it has no run of its own".to_owned(),
                };
                self.left.push(format!(
                    "the import {}: where it came from, when, and its schemas have no place in a folder; {place}",
                    import.alias
                ));
                continue;
            }
            changes.push(Change::Import(ImportRow {
                alias: import.alias.to_string(),
                source_url: text(&import.source_url).unwrap_or_default(),
                fetched: stamp(import.fetched.as_ref(), self.to_folder),
                inputs_schema: text(&import.inputs_schema),
                outputs_schema: text(&import.outputs_schema),
            }));
        }
        changes.extend(run.audit.iter().map(|event| Change::Audit(audit(event))));
        for gate in &run.gates {
            if self.to_folder && (!is_plain_path(&gate.id) || gate.id.contains(['/', '\\', '\0'])) {
                self.left.push(format!(
                    "the gate {} is not carried: no file can go by its name",
                    gate.id
                ));
                continue;
            }
            changes.extend(gate_changes(gate, &run.id, self.to_folder));
        }
        let told = run
            .state_file
            .as_ref()
            .and_then(|file| file.status.as_ref());
        let status = match self.session.db {
            Some(_) => run.status.as_ref(),
            None => told.or(run.status.as_ref()),
        };
        changes.push(Change::Run(RunChange {
            status: status.map(|status| status.word().to_owned()),
            updated: stamp(
                run.updated.as_ref().or(run.started.as_ref()),
                self.to_folder,
            ),
        }));
        (self.each)(changes)
    }

    /// Rows of statements, and whether they are as they were written.
    fn executions(&mut self) -> (Vec<ExecutionRow>, bool) {
        let run = &self.session.run;
        let mut raw: BTreeMap<i64, (Option<String>, Option<String>)> = BTreeMap::new();
        if let Some(db) = &self.session.db {
            // Where the table has other columns, the known keys are what there is.
            let _ = raw_rows(&db.conn, &mut raw);
        } else {
            let path = format!("{}x_events.jsonl", self.session.root);
            if let Some(file) = self.session.source.file(&path)
                && let Ok(len) = usize::try_from(file.len)
                && let Ok(bytes) = self.session.source.read(&path, 0, len)
            {
                let _ = jsonl::lines(&String::from_utf8_lossy(&bytes), |number, object| {
                    let id = object.get("id").and_then(jsonl::integer).unwrap_or(number);
                    let get = |key: &str| object.get(key).and_then(jsonl::text);
                    raw.insert(id, (text(&get("status")), text(&get("metadata"))));
                    Ok(())
                });
            }
        }
        let mut wrong = 0_u64;
        let rows = run
            .executions
            .iter()
            .map(|row| {
                let (status, metadata) = match raw.get(&row.id) {
                    Some((status, metadata)) => (status.clone(), metadata.clone()),
                    None => (None, None),
                };
                let metadata = metadata.filter(|text| !text.trim().is_empty());
                let metadata = match metadata.as_deref().map(serde_json::from_str) {
                    None => Map::new(),
                    Some(Ok(Value::Object(metadata))) => metadata,
                    Some(_) => {
                        wrong += 1;
                        let mut kept = Map::new();
                        kept.insert(
                            "x_malformed".to_owned(),
                            metadata.unwrap_or_default().into(),
                        );
                        kept
                    }
                };
                execution(row, status, metadata, self.to_folder)
            })
            .collect();
        if wrong > 0 {
            self.left.push(format!(
                "metadata of {wrong} statements is no JSON object: it is carried as its key x_malformed"
            ));
        }
        (rows, !raw.is_empty())
    }

    /// A value, byte for byte.
    fn whole(
        &self,
        table: &str,
        column: &str,
        of: &Table,
        at: &ValueAt,
    ) -> Result<Vec<u8>, WriteError> {
        let mut bytes = Vec::new();
        if let (ValueAt::Row { len: Some(_), .. }, Some(db)) = (at, &self.session.db) {
            sqlite::value_pieces(&db.conn, table, column, at, &mut |piece| {
                bytes.extend_from_slice(piece);
                true
            })
            .map_err(|error| damaged(&error.to_string()))?;
        } else if let ValueAt::File { len, .. } = at {
            let len = usize::try_from(*len).unwrap_or(usize::MAX);
            bytes = self
                .session
                .read_at(of.clone(), at, 0, len)
                .map_err(|error: SourceError| damaged(&error.to_string()))?;
        }
        Ok(bytes)
    }
}

fn raw_rows(
    conn: &rusqlite::Connection,
    into: &mut BTreeMap<i64, (Option<String>, Option<String>)>,
) -> rusqlite::Result<()> {
    let mut rows =
        conn.prepare("SELECT id, CAST(status AS TEXT), CAST(metadata AS TEXT) FROM execution")?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        let id: Option<i64> = row.get(0)?;
        if let Some(id) = id {
            into.insert(id, (row.get(1)?, row.get(2)?));
        }
    }
    Ok(())
}

fn execution(
    row: &Execution,
    status: Option<String>,
    metadata: Map<String, Value>,
    to_folder: bool,
) -> ExecutionRow {
    ExecutionRow {
        id: row.id,
        index: row.index,
        text: row.text.to_string(),
        status: status.unwrap_or_else(|| row.status.word().to_owned()),
        started: row.started.as_ref().map(|at| stamp(Some(at), to_folder)),
        completed: row.completed.as_ref().map(|at| stamp(Some(at), to_folder)),
        error: text(&row.error),
        parent: row.parent,
        metadata,
    }
}

/// A row of the audit log, letter by letter: its hash was taken over what stands there.
fn audit(event: &AuditEvent) -> AuditRow {
    let row: Option<Map<String, Value>> = event
        .row_json
        .as_deref()
        .and_then(|row| serde_json::from_str(row).ok());
    let get = |key: &str| {
        let value = row.as_ref()?.get(key)?;
        value.as_str().map(str::to_owned)
    };
    let metadata = get("metadata")
        .or(text(&event.metadata))
        .unwrap_or_default();
    AuditRow {
        id: event.id,
        gate_id: event.gate_id.to_string(),
        run_id: event.run_id.to_string(),
        event: get("event_type").unwrap_or_else(|| event.kind.word().to_owned()),
        principal: get("principal")
            .or(text(&event.principal))
            .unwrap_or_default(),
        comment: get("comment").or(text(&event.comment)),
        at: get("timestamp")
            .or(event.timestamp.as_ref().map(Stamp::to_string))
            .unwrap_or_default(),
        chain: Chain::of_metadata(&metadata).unwrap_or(Chain {
            seq: 0,
            prev: String::new(),
            hash: String::new(),
            id: None,
        }),
        metadata,
    }
}

fn gate_changes(gate: &Gate, run: &str, to_folder: bool) -> Vec<Change> {
    let run_id = text(&gate.run_id).unwrap_or_else(|| run.to_owned());
    let metadata = gate.metadata.as_deref().unwrap_or_default();
    let metadata: Map<String, Value> = match serde_json::from_str(metadata) {
        Ok(Value::Object(metadata)) => metadata,
        _ if metadata.trim().is_empty() => Map::new(),
        _ => Map::from_iter([("x_malformed".to_owned(), Value::from(metadata))]),
    };
    let mut changes = vec![Change::Gate(GateRow {
        id: gate.id.to_string(),
        run_id: run_id.clone(),
        execution_id: gate.execution_id,
        prompt: text(&gate.prompt),
        allow: text(&gate.allow).unwrap_or_else(|| "[\"user\"]".to_owned()),
        timeout: text(&gate.timeout),
        timeout_at: gate
            .timeout_at
            .as_ref()
            .map(|at| stamp(Some(at), to_folder)),
        on_reject: text(&gate.on_reject),
        created: stamp(gate.created.as_ref(), to_folder),
        metadata,
    })];
    if gate.status != GateStatus::Pending {
        changes.push(Change::ResolveGate(GateResolution {
            id: gate.id.to_string(),
            run_id,
            status: gate.status.word().to_owned(),
            at: stamp(gate.resolved.as_ref(), to_folder),
            by: text(&gate.resolved_by).unwrap_or_default(),
            comment: text(&gate.comment),
            metadata: Map::new(),
        }));
    }
    changes
}

fn text(text: &Option<crate::model::Text>) -> Option<String> {
    text.as_deref().map(str::to_owned)
}

/// A time as it was written; empty where there is none.
fn stamp(at: Option<&Stamp>, to_folder: bool) -> String {
    let text = at.map(Stamp::to_string).unwrap_or_default();
    // A database compares times as texts, as `datetime('now')` writes them (errata G5).
    match text.strip_suffix('Z').and_then(|text| text.split_once('T')) {
        Some((day, time)) if !to_folder && day.len() == 10 && time.len() == 8 => {
            format!("{day} {time}")
        }
        _ => text,
    }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into())
}

fn damaged(cause: &str) -> WriteError {
    Fault::new(FaultKind::Damaged, cause).into()
}
