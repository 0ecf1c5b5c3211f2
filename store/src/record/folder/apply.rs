//! Writes the changes of a command into the files of a run folder.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

use prosescope_core::decode::folder::in_order_of_index;
use prosescope_core::decode::state_md::parse;
use prosescope_core::model::{
    Agent, AgentScope, Binding, BindingKind, FolderForm, Form, IndexedBinding, Program, Run,
    RunStatus, StateFile, ValueAt,
};
use prosescope_core::render::{binding_md, gates_json, segment_md, state_md};
use prosescope_core::time::Stamp;
use prosescope_core::write::{
    BindingRow, Change, Facts, Fault, FaultKind, FileChange as Op, MemoryRow, WriteError,
    folder_state,
};

use super::facts::{AUDIT, FolderFacts, IMPORTS, gates_of, names_a_file};
use super::index::{self, Known, Look};
use super::log::{self, EVENTS};
use super::nested::Nested;
use super::ops::commit;
use crate::dir::Dir;
use crate::record::fault;
use crate::record::files::Attachments;
use crate::record::lock::RunLock;

/// Writes the changes of one command into the run's folder. A fault in `Ok` means that the command is recorded, but that
/// a later step failed, such as rendering `state.md`.
///
/// # Errors
/// If the command is not recorded.
pub(super) fn changes(
    mut facts: FolderFacts<'_>,
    changes: &[Change],
    staged: Option<&File>,
    lock: &RunLock,
) -> Result<Option<Fault>, WriteError> {
    let root = facts.root;
    let mut files = Attachments::new(root, staged, lock);
    let mut nested = Nested::new(root, lock);
    let mut wanted = Wanted::default();
    for change in changes {
        match change {
            Change::Attachment(file) => files.add(file)?,
            other => wanted.add(&facts, other)?,
        }
        if let Change::Import(row) = change
            && let Some(run) = &row.nested
        {
            nested.make(&facts.id()?, run, &row.fetched)?;
        }
    }
    if wanted.events.is_empty() && !wanted.tells {
        let late_fault = commit(root, wanted.ops(root, 0)?, None, false)?;
        files.keep();
        return Ok(late_fault.or(nested.keep()));
    }
    wanted.keep_torn(&facts)?;
    let events = facts.log()?.bytes;
    let head = facts.head()?;
    let goes_on = !wanted.events.is_empty() || wanted.gates.is_some();
    if goes_on {
        head.takes_events(root)?;
    }
    let by_hand = !facts.log()?.adopted.is_empty();
    if head.damaged || (goes_on && by_hand) {
        let text = facts.text("state.md")?.unwrap_or_default();
        wanted.keep_state(&facts, text)?;
    }
    let says_more = wanted.status.is_some();
    if head.takes_events(root).is_err() || (by_hand && !goes_on) {
        // In a state file of another writer, only the header changes.
        let text = facts.text("state.md")?.unwrap_or_default();
        let text = wanted.edited(&head.file, &text, root)?;
        let late_fault = commit(root, wanted.ops(root, events)?, Some(text), says_more)?;
        files.keep();
        return Ok(late_fault.or(nested.keep()));
    }
    let mut log = facts.take_log()?;
    log.add(&wanted.events);
    wanted.events.insert_str(0, &log.adopted);
    log.bytes = events + wanted.events.len() as u64;
    // Every binding file is checked for changes by other tools only when the run's status changes, as at its end. Other
    // commands check the listing alone, because a run with many bindings would otherwise read all of them each time.
    let look = if says_more { Look::Each } else { Look::Listed };
    let known = index::list(root, &log.known, look);
    let known = known.map_err(|cause| facts.unread("bindings", &cause))?;
    let mut run = run_of(&facts, &wanted, &known)?;
    run.executions = std::mem::take(&mut log.rows);
    let state = folder_state(&run);
    log.rows = run.executions;
    let late_fault = commit(root, wanted.ops(root, events)?, Some(state.text), says_more)?;
    files.keep();
    log.keep(root, &state.rows, known);
    Ok(late_fault.or(nested.keep()))
}

/// The files that a command changes, with their new contents.
#[derive(Default)]
struct Wanted {
    events: String,
    audit: String,
    imports: String,
    writes: Vec<Op>,
    bindings: Vec<Binding>,
    /// The texts of all gate files after the command, by the gate's id: the pending and the resolved file. `None` if no
    /// gate changes.
    gates: Option<BTreeMap<String, [Option<String>; 2]>>,
    status: Option<String>,
    updated: Option<String>,
    /// Whether any of the changes is shown in state.md, so that state.md must be rendered again.
    tells: bool,
}

impl Wanted {
    fn add(&mut self, facts: &FolderFacts<'_>, change: &Change) -> Result<(), Fault> {
        match change {
            Change::Attachment(_) => {}
            Change::Run(change) => {
                self.tells |= change.status.is_some();
                self.status = change.status.clone().or(self.status.take());
                self.updated = Some(change.updated.clone());
            }
            Change::Execution(row) => self.events.push_str(&gates_json::event(row)),
            Change::UpdateExecution(row) => {
                return Err(Fault::new(
                    FaultKind::Damaged,
                    format!(
                        "execution {} is a line of the event log, and such lines are never updated",
                        row.id
                    ),
                ));
            }
            Change::Binding(row) => self.binding(facts, row)?,
            Change::Agent(_) => {}
            Change::Memory(row) => self.memory(facts, row)?,
            Change::Segment(row) => self.writes.push(Op::Write {
                path: format!(
                    "agents/{}/{}",
                    row.agent,
                    segment_md::file_name(&row.agent, row.number)
                ),
                text: segment_md::write(row),
                keep: None,
            }),
            // The import is recorded in the nested run; this line adds the source of the import.
            Change::Import(row) => {
                self.tells = true;
                self.imports.push_str(&gates_json::import(row));
            }
            Change::Gate(row) => self.gate(facts, &row.id, 0, gates_json::pending(row))?,
            Change::ResolveGate(row) => {
                let known = self.gates(facts)?.get(&row.id);
                let pending = known.and_then(|[pending, _]| pending.as_deref());
                let text = gates_json::resolved(row, pending);
                self.gate(facts, &row.id, 1, text)?;
            }
            Change::Audit(row) => self.audit.push_str(&gates_json::audit(row)),
        }
        Ok(())
    }

    fn binding(&mut self, facts: &FolderFacts<'_>, row: &BindingRow) -> Result<(), Fault> {
        let file = binding_md::file_name(&row.name, row.execution_id);
        let path = format!("bindings/{file}");
        let before = index::head(facts.root, &path);
        let before = before.map_err(|cause| facts.unread(&path, &cause))?;
        let stem = file.strip_suffix(".md").unwrap_or(&file);
        let keep = match before {
            Some(_) => Some(free(facts, &format!("x_history/bindings/{stem}"))?),
            None => None,
        };
        let created = before.and_then(|head| head.created.or(head.updated));
        let created = created.map(|at| at.to_string()).or(row.created.clone());
        let created = created.filter(|at| !at.is_empty() && *at != row.at);
        let text = binding_md::write(row, created.as_deref());
        self.bindings.push(Binding {
            name: row.name.as_str().into(),
            execution_id: row.execution_id,
            kind: BindingKind::parse(&row.kind),
            value: ValueAt::File {
                path: path.as_str().into(),
                start: 0,
                len: text.len() as u64,
            },
            source: row.source.as_deref().map(Into::into),
            created: None,
            updated: None,
            attachment: None,
            fields: Box::default(),
            tail_known: true,
            parent_execution_id: row.parent_execution_id,
            superseded: false,
        });
        self.writes.push(Op::Write { path, text, keep });
        Ok(())
    }

    fn memory(&mut self, facts: &FolderFacts<'_>, row: &MemoryRow) -> Result<(), Fault> {
        let path = format!("agents/{}/memory.md", row.agent);
        let keep = match facts.text(&path)? {
            Some(_) => Some(free(facts, &format!("x_history/agents/{}", row.agent))?),
            None => None,
        };
        self.writes.push(Op::Write {
            path,
            text: row.memory.clone(),
            keep,
        });
        Ok(())
    }

    fn gates(
        &mut self,
        facts: &FolderFacts<'_>,
    ) -> Result<&mut BTreeMap<String, [Option<String>; 2]>, Fault> {
        if self.gates.is_none() {
            self.gates = Some(facts.gate_files()?);
        }
        Ok(self.gates.get_or_insert_default())
    }

    fn gate(
        &mut self,
        facts: &FolderFacts<'_>,
        id: &str,
        place: usize,
        text: String,
    ) -> Result<(), Fault> {
        if !names_a_file(id) {
            let message = format!("{id:?} cannot be the name of a gate's file");
            return Err(Fault::new(FaultKind::Damaged, message));
        }
        let end = if place == 0 { "pending" } else { "resolved" };
        self.tells = true;
        let files = self.gates(facts)?.entry(id.to_owned()).or_default();
        if let Some(slot) = files.get_mut(place) {
            *slot = Some(text.clone());
        }
        self.writes.push(Op::Write {
            path: format!("gates/{id}.{end}.json"),
            text,
            keep: None,
        });
        Ok(())
    }

    /// Copies an incomplete last line of a log to `x_history/`, because the new row replaces this line. The line is
    /// damage, or the unacknowledged row of a killed writer.
    fn keep_torn(&mut self, facts: &FolderFacts<'_>) -> Result<(), Fault> {
        for (name, folder, is_written) in [
            (EVENTS, "x_history/events", !self.events.is_empty()),
            (IMPORTS, "x_history/imports", !self.imports.is_empty()),
        ] {
            if !is_written {
                continue;
            }
            let torn = log::torn(facts.root, name).map_err(|cause| facts.unread(name, &cause))?;
            if let Some(line) = torn {
                self.writes.push(Op::Write {
                    path: free(facts, folder)?,
                    text: String::from_utf8_lossy(&line).into_owned(),
                    keep: None,
                });
            }
        }
        Ok(())
    }

    /// Copies a state.md that is unreadable or hand-written to `x_history/state/`, before it is replaced.
    fn keep_state(&mut self, facts: &FolderFacts<'_>, text: String) -> Result<(), Fault> {
        self.writes.push(Op::Write {
            path: free(facts, "x_history/state")?,
            text,
            keep: None,
        });
        Ok(())
    }

    /// Returns another writer's state file with the run's new status in its header.
    fn edited(&self, file: &StateFile, text: &str, root: &Dir) -> Result<String, WriteError> {
        if *file == StateFile::default() {
            return Err(WriteError::refused(
                "state-file-of-others",
                format!(
                    "{} has no `state.md` in OpenProse's form",
                    root.path().display()
                ),
                "record the run's status with the program that began the run",
            ));
        }
        let (status, updated) = (self.status.as_deref(), self.updated.as_deref());
        Ok(state_md::with_head(text, status, updated))
    }

    /// Returns the operations in order: events and audit rows come before the changes that they record (errata G2, G7).
    fn ops(&self, root: &Dir, events: u64) -> Result<Vec<Op>, Fault> {
        let mut ops = Vec::new();
        if !self.events.is_empty() {
            ops.push(Op::Append {
                path: EVENTS.to_owned(),
                at: events,
                text: self.events.clone(),
            });
        }
        for (name, text) in [(AUDIT, &self.audit), (IMPORTS, &self.imports)] {
            if text.is_empty() {
                continue;
            }
            let end = log::end(root, name);
            ops.push(Op::Append {
                path: name.to_owned(),
                at: end.map_err(|cause| fault::io(&root.shown(name), "cannot be read", &cause))?,
                text: text.clone(),
            });
        }
        ops.extend(self.writes.iter().cloned());
        Ok(ops)
    }
}

/// Returns the run as state.md needs it, without its executions.
fn run_of(facts: &FolderFacts<'_>, wanted: &Wanted, known: &[Known]) -> Result<Run, Fault> {
    let head = facts.head()?;
    let file = &head.file;
    let id = facts.id()?;
    let mut bindings: Vec<(String, Binding)> = known
        .iter()
        .map(|known| (known.path.clone(), known.binding()))
        .collect();
    for new in &wanted.bindings {
        let at = |(path, _): &(String, Binding)| matches!(&new.value, ValueAt::File { path: own, .. } if **own == **path);
        match bindings.iter_mut().find(|known| at(known)) {
            Some((_, binding)) => *binding = new.clone(),
            None => {
                let ValueAt::File { path, .. } = &new.value else {
                    continue;
                };
                let before = bindings.partition_point(|(known, _)| **known < **path);
                bindings.insert(before, (path.to_string(), new.clone()));
            }
        }
    }
    in_order_of_index(&mut bindings, &file.bindings, &id);
    let program = facts.program()?;
    let status = wanted.status.as_deref().map(RunStatus::parse);
    let updated = wanted.updated.as_deref().map(Stamp::parse);
    let gates = match &wanted.gates {
        Some(files) => gates_of(files),
        None => facts.gates()?,
    };
    Ok(Run {
        id: id.as_str().into(),
        form: Form::Folder {
            form: FolderForm::StateMd,
        },
        program: Program {
            path: file
                .program
                .clone()
                .or_else(|| program.as_ref().map(|_| "program.prose".into())),
            source: program.as_deref().map(Into::into),
            source_from: None,
        },
        started: file.started.clone(),
        updated: updated.or_else(|| file.updated.clone()),
        status: Some(status.unwrap_or_else(|| head.status())),
        bindings: bindings.into_iter().map(|(_, binding)| binding).collect(),
        agents: agents(facts, wanted)?,
        gates,
        keeps_events: true,
        ..Run::default()
    })
}

/// Returns the agents with files in the run or its project.
fn agents(facts: &FolderFacts<'_>, wanted: &Wanted) -> Result<Vec<Agent>, Fault> {
    let root = facts.root;
    let unread = |cause: io::Error| facts.unread("agents", &cause);
    let mut names = index::folders(root, "agents").map_err(unread)?;
    names.extend(wanted.writes.iter().filter_map(|op| {
        let Op::Write { path, .. } = op else {
            return None;
        };
        let (name, _) = path.strip_prefix("agents/")?.split_once('/')?;
        Some(name.to_owned())
    }));
    names.sort();
    names.dedup();
    // In `.prose/runs/{id}`, the project's agents are in `.prose/agents`; the program shows which ones the run uses.
    let runs = root.path().parent().filter(|runs| runs.ends_with("runs"));
    let mut wider = match runs.and_then(|runs| Dir::open(runs.parent()?).ok()) {
        Some(prose) => index::folders(&prose, "agents").map_err(unread)?,
        None => Vec::new(),
    };
    wider.sort();
    let own = names.into_iter().map(|name| (name, AgentScope::Execution));
    let wider = wider.into_iter().map(|name| (name, AgentScope::Project));
    Ok(own
        .chain(wider)
        .map(|(name, scope)| Agent {
            store: format!("agents/{name}/").into(),
            name: name.into(),
            scope,
            memory: ValueAt::Missing,
            created: None,
            updated: None,
            segments: Vec::new(),
        })
        .collect())
}

/// Returns the next free file of a folder with files `1.md`, `2.md` and so on. No number is left out, so the last file
/// is found by bisection, which is fast even for the thousands of files of a loop.
fn free(facts: &FolderFacts<'_>, folder: &str) -> Result<String, Fault> {
    let free = || -> io::Result<u64> {
        let Some(dir) = facts.root.dir(folder)? else {
            return Ok(1);
        };
        let taken = |n: u64| Ok::<bool, io::Error>(dir.look(&format!("{n}.md"))?.is_some());
        let mut high: u64 = 1;
        while taken(high)? && high < 1 << 40 {
            high *= 2;
        }
        let mut low = high / 2;
        // Binary search: number `low` is in use (or 0), number `high` is free.
        while low + 1 < high {
            let mid = low + (high - low) / 2;
            if taken(mid)? { low = mid } else { high = mid }
        }
        Ok(high)
    };
    let n = free().map_err(|cause| facts.unread(folder, &cause))?;
    Ok(format!("{folder}/{n}.md"))
}

/// Returns the first state.md of a run, before any statement.
pub(super) fn first_state(
    run_id: &str,
    program: &str,
    source: &str,
    now: &str,
    bindings: Vec<IndexedBinding>,
) -> String {
    let run = Run {
        id: run_id.into(),
        form: Form::Folder {
            form: FolderForm::StateMd,
        },
        program: Program {
            path: Some(program.into()),
            source: Some(source.into()),
            source_from: None,
        },
        started: Some(Stamp::parse(now)),
        updated: Some(Stamp::parse(now)),
        status: Some(RunStatus::Running),
        keeps_events: true,
        ..Run::default()
    };
    let text = folder_state(&run).text;
    if bindings.is_empty() {
        return text;
    }
    let file = StateFile {
        bindings,
        ..parse(&text).0
    };
    state_md::from_state_file(&file)
}
