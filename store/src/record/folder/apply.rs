//! Writes the changes of a command into the files of a run folder.

use std::fs::File;
use std::io;

use prosescope_core::model::time::Stamp;
use prosescope_core::model::{
    Agent, AgentScope, Binding, FolderForm, Form, IndexedBinding, Program, Run, RunStatus,
    StateFile, ValueAt,
};
use prosescope_core::read::decode::folder::in_order_of_index;
use prosescope_core::read::decode::state_md::parse;
use prosescope_core::record::render::{binding_md, json_rows, segment_md, state_md};
use prosescope_core::record::{
    BindingRow, Change, Fault, FaultKind, FileChange as Op, MemoryRow, WriteError, folder_state,
};

use super::log::{self, AUDIT, EVENTS, IMPORTS};
use super::nested::NestedRuns;
use super::ops::commit;
use super::shelf::{FolderShelf, names_a_file};
use crate::dir::Dir;
use crate::record::fault;
use crate::record::files::Attachments;
use crate::record::lock::RunLock;

/// Writes the changes of one command into the run's folder; `run` is the run before them. A fault in `Ok` means that
/// the command is recorded, but that a later step failed, such as rendering `state.md`.
///
/// # Errors
/// If the command is not recorded.
pub(super) fn changes(
    root: &Dir,
    shelf: &FolderShelf<'_>,
    mut run: Run,
    changes: &[Change],
    staged: Option<&File>,
    lock: &RunLock,
) -> Result<Option<Fault>, WriteError> {
    let mut files = Attachments::new(root, staged, lock);
    let mut nested = NestedRuns::new(root, lock);
    let mut wanted = NewContents::default();
    for change in changes {
        match change {
            Change::Attachment(file) => files.add(file)?,
            other => wanted.add(root, &run, other)?,
        }
        if let Change::Import(row) = change
            && let Some(inner) = &row.nested
        {
            nested.make(&run.id, inner, &row.fetched)?;
        }
    }
    if wanted.events.is_empty() && !wanted.tells {
        let late_fault = commit(root, wanted.ops(root, 0)?, None, false)?;
        files.keep();
        return Ok(late_fault.or(nested.keep()));
    }
    wanted.keep_torn(root)?;
    let events = log::end(root, EVENTS).map_err(|cause| unread(root, EVENTS, &cause))?;
    let head = &shelf.head;
    let goes_on = !wanted.events.is_empty() || wanted.shows_gates;
    if goes_on {
        head.takes_events(root)?;
    }
    let by_hand = !shelf.adopted.is_empty();
    if head.damaged || (goes_on && by_hand) {
        let text = text(root, "state.md")?.unwrap_or_default();
        wanted.keep_state(root, text)?;
    }
    let says_more = wanted.status.is_some();
    if head.takes_events(root).is_err() || (by_hand && !goes_on) {
        // In a state file of another writer, only the header changes.
        let text = text(root, "state.md")?.unwrap_or_default();
        let text = wanted.edited(&head.file, &text, root)?;
        let late_fault = commit(root, wanted.ops(root, events)?, Some(text), says_more)?;
        files.keep();
        return Ok(late_fault.or(nested.keep()));
    }
    for change in changes {
        run.apply(change);
    }
    wanted.events.insert_str(0, &shelf.adopted_lines());
    let bytes = events + wanted.events.len() as u64;
    let state = folder_state(&shown(root, run, &head.file)?);
    let late_fault = commit(root, wanted.ops(root, events)?, Some(state), says_more)?;
    files.keep();
    log::keep(root, bytes);
    Ok(late_fault.or(nested.keep()))
}

/// The files that a command changes, with their new contents.
#[derive(Default)]
struct NewContents {
    events: String,
    audit: String,
    imports: String,
    writes: Vec<Op>,
    /// Whether a gate is added or decided.
    shows_gates: bool,
    status: Option<String>,
    updated: Option<String>,
    /// Whether any of the changes is shown in state.md, so that state.md must be rendered again.
    tells: bool,
}

impl NewContents {
    fn add(&mut self, root: &Dir, run: &Run, change: &Change) -> Result<(), Fault> {
        match change {
            Change::Attachment(_) => {}
            Change::Run(change) => {
                self.tells |= change.status.is_some();
                self.status = change.status.clone().or(self.status.take());
                self.updated = Some(change.updated.clone());
            }
            Change::Execution(row) => self.events.push_str(&json_rows::event(row)),
            Change::UpdateExecution(row) => {
                return Err(Fault::new(
                    FaultKind::Damaged,
                    format!(
                        "execution {} is a line of the event log, and such lines are never updated",
                        row.id
                    ),
                ));
            }
            Change::Binding(row) => self.binding(root, run, row)?,
            Change::Agent(_) => {}
            Change::Memory(row) => self.memory(root, row)?,
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
                self.imports.push_str(&json_rows::import(row));
            }
            Change::Gate(row) => self.gate(&row.id, "pending", json_rows::pending(row))?,
            Change::ResolveGate(row) => {
                let file = |end: &str| text(root, &format!("gates/{}{end}.json", row.id));
                let pending = match file(".pending")? {
                    Some(pending) => Some(pending),
                    None => file("")?,
                };
                let text = json_rows::resolved(row, pending.as_deref());
                self.gate(&row.id, "resolved", text)?;
            }
            Change::Audit(row) => self.audit.push_str(&json_rows::audit(row)),
        }
        Ok(())
    }

    fn binding(&mut self, root: &Dir, run: &Run, row: &BindingRow) -> Result<(), Fault> {
        let file = binding_md::file_name(&row.name, row.execution_id);
        let path = format!("bindings/{file}");
        let there = root
            .look(&path)
            .map_err(|cause| unread(root, &path, &cause))?;
        let stem = file.strip_suffix(".md").unwrap_or(&file);
        let keep = match there {
            Some(_) => Some(free(root, &format!("x_history/bindings/{stem}"))?),
            None => None,
        };
        let same =
            |b: &&Binding| matches!(&b.value, ValueAt::File { path: own, .. } if **own == *path);
        let before = run.bindings.iter().find(same);
        let created = before.and_then(|b| b.created.as_ref().or(b.updated.as_ref()));
        let created = created.map(ToString::to_string).or(row.created.clone());
        let created = created.filter(|at| !at.is_empty() && *at != row.at);
        let text = binding_md::write(row, created.as_deref());
        self.writes.push(Op::Write { path, text, keep });
        Ok(())
    }

    fn memory(&mut self, root: &Dir, row: &MemoryRow) -> Result<(), Fault> {
        let path = format!("agents/{}/memory.md", row.agent);
        let keep = match text(root, &path)? {
            Some(_) => Some(free(root, &format!("x_history/agents/{}", row.agent))?),
            None => None,
        };
        self.writes.push(Op::Write {
            path,
            text: row.memory.clone(),
            keep,
        });
        Ok(())
    }

    fn gate(&mut self, id: &str, end: &str, text: String) -> Result<(), Fault> {
        if !names_a_file(id) {
            let message = format!("{id:?} cannot be the name of a gate's file");
            return Err(Fault::new(FaultKind::Damaged, message));
        }
        self.tells = true;
        self.shows_gates = true;
        self.writes.push(Op::Write {
            path: format!("gates/{id}.{end}.json"),
            text,
            keep: None,
        });
        Ok(())
    }

    /// Copies an incomplete last line of a log to `x_history/`, because the new row replaces this line. The line is
    /// damage, or the unacknowledged row of a killed writer.
    fn keep_torn(&mut self, root: &Dir) -> Result<(), Fault> {
        for (name, folder, is_written) in [
            (EVENTS, "x_history/events", !self.events.is_empty()),
            (IMPORTS, "x_history/imports", !self.imports.is_empty()),
        ] {
            if !is_written {
                continue;
            }
            let torn = log::torn(root, name).map_err(|cause| unread(root, name, &cause))?;
            if let Some(line) = torn {
                self.writes.push(Op::Write {
                    path: free(root, folder)?,
                    text: String::from_utf8_lossy(&line).into_owned(),
                    keep: None,
                });
            }
        }
        Ok(())
    }

    /// Copies a state.md that is unreadable or hand-written to `x_history/state/`, before it is replaced.
    fn keep_state(&mut self, root: &Dir, text: String) -> Result<(), Fault> {
        self.writes.push(Op::Write {
            path: free(root, "x_history/state")?,
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
                at: end.map_err(|cause| unread(root, name, &cause))?,
                text: text.clone(),
            });
        }
        ops.extend(self.writes.iter().cloned());
        Ok(ops)
    }
}

/// Returns the parts of a run that its state.md shows, with the bindings in the order of the index.
fn shown(root: &Dir, run: Run, file: &StateFile) -> Result<Run, Fault> {
    let own = |binding: Binding| match &binding.value {
        ValueAt::File { path, .. } if path.starts_with("bindings/") => {
            Some((path.to_string(), binding))
        }
        _ => None,
    };
    let mut bindings: Vec<(String, Binding)> = run.bindings.into_iter().filter_map(own).collect();
    bindings.sort_by(|(one, _), (other, _)| one.cmp(other));
    in_order_of_index(&mut bindings, &file.bindings, &run.id);
    let status = run.status.or_else(|| file.status.clone());
    let status = status.filter(|status| *status != RunStatus::Waiting);
    let mut agents: Vec<Agent> = run.agents;
    agents.extend(of_project(root)?);
    Ok(Run {
        id: run.id,
        form: Form::Folder {
            form: FolderForm::StateMd,
        },
        program: Program {
            path: file.program.clone().or(run.program.path),
            ..run.program
        },
        started: file.started.clone(),
        updated: run.updated,
        status: Some(status.unwrap_or(RunStatus::Running)),
        executions: run.executions,
        bindings: bindings.into_iter().map(|(_, binding)| binding).collect(),
        agents,
        gates: run.gates,
        keeps_events: true,
        ..Run::default()
    })
}

/// Returns the agents of the project. In `.prose/runs/{id}`, they are in `.prose/agents`; the program shows which ones
/// the run uses.
fn of_project(root: &Dir) -> Result<Vec<Agent>, Fault> {
    let runs = root.path().parent().filter(|runs| runs.ends_with("runs"));
    let Some(prose) = runs.and_then(|runs| Dir::open(runs.parent()?).ok()) else {
        return Ok(Vec::new());
    };
    let names = match prose.names("agents") {
        // A link or a file of this name contains no agents.
        Err(cause) if cause.kind() == io::ErrorKind::NotADirectory => Vec::new(),
        names => names.map_err(|cause| unread(&prose, "agents", &cause))?,
    };
    let folders = names.into_iter().filter(|(_, kind)| kind.is_dir());
    let mut names: Vec<String> = folders.map(|(name, _)| name).collect();
    names.sort();
    let of_name = |name: String| Agent {
        store: format!("agents/{name}/").into(),
        name: name.into(),
        scope: AgentScope::Project,
        ..Agent::default()
    };
    Ok(names.into_iter().map(of_name).collect())
}

fn text(root: &Dir, path: &str) -> Result<Option<String>, Fault> {
    let bytes = root
        .read(path)
        .map_err(|cause| unread(root, path, &cause))?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

fn unread(root: &Dir, path: &str, cause: &io::Error) -> Fault {
    fault::unread(&root.shown(path), cause)
}

/// Returns the next free file of a folder with files `1.md`, `2.md` and so on. No number is left out, so the last file
/// is found by bisection, which is fast even for the thousands of files of a loop.
fn free(root: &Dir, folder: &str) -> Result<String, Fault> {
    let free = || -> io::Result<u64> {
        let Some(dir) = root.dir(folder)? else {
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
    let n = free().map_err(|cause| unread(root, folder, &cause))?;
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
    let text = folder_state(&run);
    if bindings.is_empty() {
        return text;
    }
    let file = StateFile {
        bindings,
        ..parse(&text).0
    };
    state_md::from_state_file(&file)
}
