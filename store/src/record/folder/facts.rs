use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;

use prosescope_core::decode::binding_md::Head;
use prosescope_core::decode::folder::{import_row, scoped};
use prosescope_core::decode::gates_json;
use prosescope_core::decode::memory_md::segment_number;
use prosescope_core::decode::text::is_plain_path;
use prosescope_core::gate::audit::Chain;
use prosescope_core::issue::Issue;
use prosescope_core::model::{
    AgentScope, AuditEvent, AuditKind, BindingKind, Execution, Gate, Text,
};
use prosescope_core::program;
use prosescope_core::render::binding_md;
use prosescope_core::session::{Options, Session};
use prosescope_core::time::Stamp;
use prosescope_core::write::{
    AgentFact, AuditTail, BindingFact, Facts, Fault, FaultKind, ImportFact, Place, RunFact, Style,
    first_events,
};

use super::audit::Places;
use super::head::StateHead;
use super::index;
use super::log::{self, EVENTS, Log};
use crate::Disk;
use crate::dir::{self, Dir};
use crate::record::fault;

/// The path of the log of imports, which has one row per line.
pub(super) const IMPORTS: &str = "x_imports.jsonl";
/// The path of the audit log of gates, which has one row per line.
pub(super) const AUDIT: &str = "gates/audit.jsonl";

/// The [`Facts`] of a run folder, read while the run is locked. Each file is read only when a fact needs it.
pub(super) struct FolderFacts<'a> {
    pub(super) root: &'a Dir,
    scope: &'a AgentScope,
    head: OnceCell<StateHead>,
    log: OnceCell<Log>,
    /// The index of the audit log by gate, built when the rows of a gate are first needed.
    places: OnceCell<Places>,
}

impl<'a> FolderFacts<'a> {
    pub(super) fn new(root: &'a Dir, scope: &'a AgentScope) -> FolderFacts<'a> {
        FolderFacts {
            root,
            scope,
            head: OnceCell::new(),
            log: OnceCell::new(),
            places: OnceCell::new(),
        }
    }

    pub(super) fn head(&self) -> Result<&StateHead, Fault> {
        if let Some(head) = self.head.get() {
            return Ok(head);
        }
        let head = StateHead::load(self.root)?;
        Ok(self.head.get_or_init(|| head))
    }

    pub(super) fn log(&self) -> Result<&Log, Fault> {
        if let Some(log) = self.log.get() {
            return Ok(log);
        }
        let log = self.load()?;
        Ok(self.log.get_or_init(|| log))
    }

    fn places(&self) -> Result<&Places, Fault> {
        if let Some(places) = self.places.get() {
            return Ok(places);
        }
        let read = self.root.file(AUDIT).and_then(Places::of);
        let places = read.map_err(|cause| self.unread(AUDIT, &cause))?;
        Ok(self.places.get_or_init(|| places))
    }

    /// Returns rows in order of id: with `present`, only the current rows, from which state.md is rendered; else all
    /// rows.
    fn rows(&self, present: bool) -> Result<&[Execution], Fault> {
        let log = self.log()?;
        match present {
            true => Ok(&log.rows),
            false => log.whole(self.root),
        }
    }

    /// Moves the log out of these facts, for the code that appends to the log.
    pub(super) fn take_log(&mut self) -> Result<Log, Fault> {
        match self.log.take() {
            Some(log) => Ok(log),
            None => self.load(),
        }
    }

    /// Loads the log. For a hand-written run, adds the rows that its state file records.
    fn load(&self) -> Result<Log, Fault> {
        let mut log = Log::load(self.root)?;
        if !self.by_hand()? {
            return Ok(log);
        }
        let unread = |why: String| {
            let message = format!(
                "{}: the executions that the hand-written `state.md` lists cannot be read: {why}",
                self.root.path().display()
            );
            Fault::new(FaultKind::Damaged, message).hint("`prosescope check RUN` shows the fault")
        };
        let disk = Disk::held(self.root);
        let session = Session::open(Rc::new(disk), "", &Options::default());
        let session = session.map_err(|error| unread(error.to_string()))?;
        log.adopt(&first_events(
            session.run(),
            session.trace(),
            session.listing(),
        ));
        Ok(log)
    }

    /// Returns whether state.md alone records the executions, because a log was never begun.
    fn by_hand(&self) -> Result<bool, Fault> {
        let begun = self.root.look(EVENTS);
        let begun = begun.map_err(|cause| self.unread(EVENTS, &cause))?;
        Ok(begun.is_none() && self.head()?.tells())
    }

    /// Returns the run's id from its state file, or else the folder's name.
    pub(super) fn id(&self) -> Result<String, Fault> {
        let told = self.head()?.file.run.as_deref().filter(|id| !id.is_empty());
        let name = || {
            self.root
                .path()
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
        };
        Ok(told.map_or_else(|| name().into_owned(), str::to_owned))
    }

    pub(super) fn text(&self, path: &str) -> Result<Option<String>, Fault> {
        let bytes = self.root.read(path);
        let bytes = bytes.map_err(|cause| self.unread(path, &cause))?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Returns the fault for an unreadable file of the run. If a folder of the path is a link, the linked contents do
    /// not belong to this run.
    pub(super) fn unread(&self, path: &str, cause: &io::Error) -> Fault {
        let path = self.root.shown(path);
        match cause.kind() {
            io::ErrorKind::NotADirectory => fault::io(&path, "is not read", cause)
                .hint("move away the link or file that is in the folder's place: files outside of the run's folder are not part of the run"),
            _ => fault::io(&path, "cannot be read", cause),
        }
    }

    /// Returns the last lines of a long log; `None` if the log is short, or if the ids in these lines do not rise.
    fn last_lines(&self, path: &str) -> Result<Option<String>, Fault> {
        let last = log::last_lines(self.root, path);
        let last = last.map_err(|cause| self.unread(path, &cause))?;
        Ok(last.filter(|text| log::ids_rise(text)))
    }

    /// Refuses to append to an audit log that lost its end or all its rows: a new row would begin another chain and
    /// hide the loss. Prosescope never leaves such a log, because it writes each audit row through the journal.
    fn audit_is_whole(&self) -> Result<(), Fault> {
        let unread = |cause| self.unread(AUDIT, &cause);
        let path = self.root.shown(AUDIT);
        let path = path.display();
        if let Some(line) = log::torn(self.root, AUDIT).map_err(unread)? {
            let why = format!("the last line is cut off after {} bytes", line.len());
            let next = "if there is no copy, move the bytes of the cut line to another file; `prosescope audit verify RUN` then shows what the log lacks";
            return Err(Fault::lost_rows(path, &why, next));
        }
        let len = self
            .root
            .look(AUDIT)
            .map_err(unread)?
            .map(|meta| meta.len());
        let is_blank = match len {
            // A longer file counts as not blank, without being read.
            Some(len) if len < 1 << 10 => {
                let text = self.text(AUDIT)?.unwrap_or_default();
                text.trim_start_matches('\u{feff}').trim().is_empty()
            }
            _ => false,
        };
        if !is_blank || !self.has_gates()? {
            return Ok(());
        }
        Err(Fault::lost_rows(
            path,
            "the log is empty, although the run has gates",
            "remove the log only if no row was ever written to it",
        ))
    }

    fn has_gates(&self) -> Result<bool, Fault> {
        let of_gates = |(name, is_dir): &(String, bool)| !is_dir && name.ends_with(".json");
        Ok(self.names("gates")?.iter().any(of_gates))
    }

    /// Returns the entries of a folder of the run, like [`index::names`].
    fn names(&self, folder: &str) -> Result<Vec<(String, bool)>, Fault> {
        let unread = |cause| self.unread(folder, &cause);
        // Refuses a folder that is a link.
        self.root.dir(folder).map_err(unread)?;
        index::names(self.root, folder).map_err(unread)
    }

    /// Returns the texts of each gate's two files, the pending and the resolved one, by the gate's id.
    pub(super) fn gate_files(&self) -> Result<BTreeMap<String, [Option<String>; 2]>, Fault> {
        let mut files: BTreeMap<String, [Option<String>; 2]> = BTreeMap::new();
        for (name, is_dir) in self.names("gates")? {
            let Some(stem) = name.strip_suffix(".json").filter(|_| !is_dir) else {
                continue;
            };
            let (id, place) = match (
                stem.strip_suffix(".resolved"),
                stem.strip_suffix(".pending"),
            ) {
                (Some(id), _) => (id, 1),
                (_, Some(id)) => (id, 0),
                _ => (stem, 0),
            };
            let text = self.text(&format!("gates/{name}"))?;
            if let Some(slot) = files.entry(id.to_owned()).or_default().get_mut(place) {
                *slot = text;
            }
        }
        Ok(files)
    }
}

/// Returns the gates that the files describe, in order of creation. A gate with another id than its file name is left
/// out.
pub(super) fn gates_of(files: &BTreeMap<String, [Option<String>; 2]>) -> Vec<Gate> {
    let mut gates: Vec<Gate> = named(files)
        .filter(|(id, gate)| *gate.id == **id)
        .map(|(_, gate)| gate)
        .collect();
    let created = |gate: &Gate| gate.created.as_ref().and_then(Stamp::millis);
    gates.sort_by_key(|gate| created(gate).unwrap_or(i64::MAX));
    gates
}

/// Returns the gates in the files, each with the id in the file name.
fn named(files: &BTreeMap<String, [Option<String>; 2]>) -> impl Iterator<Item = (&String, Gate)> {
    let files = files.iter().filter(|(id, _)| names_a_file(id));
    files.filter_map(|(id, [pending, resolved])| {
        let gate = gates_json::gate(id, pending.as_deref(), resolved.as_deref()).0;
        Some((id, gate?))
    })
}

/// Refuses a JSON object that has a key twice. Programs differ in which of the two values they use, and no decision may
/// depend on that choice.
fn one_meaning(issues: &[Issue]) -> Result<(), Fault> {
    let twice = issues.iter().find(|issue| issue.rule == gates_json::TWICE);
    twice.map_or(Ok(()), |issue| {
        let message = format!("{}: nothing was changed", issue.message);
        Err(Fault::new(FaultKind::Damaged, message).hint(&*issue.hint))
    })
}

/// Passes rows to `each` until `each` breaks.
fn hand<'r>(
    mut rows: impl Iterator<Item = &'r Execution>,
    each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
) -> ControlFlow<()> {
    rows.try_for_each(|row| each(row.clone()))
}

/// Returns the id that follows the last id of a log.
fn behind(last: i64, path: &Path) -> Result<i64, Fault> {
    last.checked_add(1).ok_or_else(|| {
        let message = format!(
            "{}: a row has the highest possible id, {last}, so no row can be added",
            path.display()
        );
        Fault::new(FaultKind::Damaged, message).hint("correct the id of that row")
    })
}

/// Returns whether a gate's id can be a file name; the id in a file may be any text, such as a path.
pub(super) fn names_a_file(id: &str) -> bool {
    is_plain_path(id)
        && !id.starts_with('.')
        && !id.contains(|c: char| c.is_control() || matches!(c, '/' | '\\' | ':'))
}

impl Facts for FolderFacts<'_> {
    fn style(&self) -> Style {
        Style::Files
    }

    fn run(&self) -> Result<RunFact, Fault> {
        Ok(RunFact {
            id: self.id()?,
            name: self.id()?,
            status: self.head()?.status(),
            updated: self.head()?.file.updated.clone(),
        })
    }

    fn program(&self) -> Result<Option<String>, Fault> {
        let path = "program.prose";
        let bytes = self.root.read_small(path, program::MOST_BYTES as u64);
        let bytes = bytes.map_err(|cause| self.unread(path, &cause))?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn next_execution(&self) -> Result<i64, Fault> {
        behind(self.log()?.last, &self.root.shown(EVENTS))
    }

    fn execution(&self, id: i64) -> Result<Option<Execution>, Fault> {
        let log = self.log()?;
        if let Some(row) = log.row(id) {
            return Ok(Some(row.clone()));
        }
        if id > log.last {
            return Ok(None);
        }
        let rows = self.rows(false)?;
        let at = rows.partition_point(|row| row.id < id);
        Ok(rows.get(at).filter(|row| row.id == id).cloned())
    }

    fn executions_back(
        &self,
        place: &Place<'_>,
        since: i64,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        // The current rows suffice in two cases. If row `since` is current, so is the last row of its instance. A
        // search from the beginning (`i64::MIN`) needs open rows only, and every open row is current.
        let rows = self.rows(since == i64::MIN || self.log()?.row(since).is_some())?;
        let asked = rows.iter().rev().take_while(|row| row.id >= since);
        let _ = hand(asked.filter(|row| place.holds(row)), each);
        Ok(())
    }

    fn newest(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault> {
        // The newest rows need not be current, so they are read from the log: first from its end, and from the rest
        // only if `each` wants more.
        let last = self.last_lines(EVENTS)?;
        let last = last.map(|text| gates_json::events(&text).0);
        if hand(last.iter().flatten().rev(), each).is_break() {
            return Ok(());
        }
        let first = last.as_deref().and_then(|rows| Some(rows.first()?.id));
        let before = |row: &&Execution| first.is_none_or(|first| row.id < first);
        let _ = hand(self.rows(false)?.iter().rev().filter(before), each);
        Ok(())
    }

    fn open(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault> {
        // Only open rows are requested, and every open row is current.
        let _ = hand(
            self.rows(true)?.iter().rev().filter(|row| row.opens()),
            each,
        );
        Ok(())
    }

    fn children(
        &self,
        parent: i64,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        // The branches of an open execution are all current.
        let rows = self.rows(self.log()?.row(parent).is_some())?.iter();
        let _ = hand(rows.filter(|row| row.parent == Some(parent)), each);
        Ok(())
    }

    fn binding(&self, name: &str, frame: Option<i64>) -> Result<Option<BindingFact>, Fault> {
        let file = binding_md::file_name(name, frame);
        let path = format!("bindings/{file}");
        let unread = |cause| self.unread(&path, &cause);
        let Some(head) = index::head(self.root, &path).map_err(unread)? else {
            return Ok(None);
        };
        // On a file system that ignores case, this path may lead to the file of another binding.
        let other = |said: &str| said != name && said.to_lowercase() == name.to_lowercase();
        if head.name.as_deref().is_some_and(other) {
            return Ok(None);
        }
        let changed = || {
            let since = dir::changed(&self.root.look(&path).ok()??)?;
            i64::try_from(since.as_millis()).ok().map(Stamp::At)
        };
        Ok(Some(BindingFact {
            name: name.to_owned(),
            kind: BindingKind::parse(head.kind.as_deref().unwrap_or_default()),
            source: head.source.as_deref().map(str::to_owned),
            updated: head.updated.or_else(changed),
            attachment: head.attachment.as_deref().map(str::to_owned),
        }))
    }

    fn short_text(
        &self,
        name: &str,
        frame: Option<i64>,
        most: usize,
    ) -> Result<Option<String>, Fault> {
        let path = format!("bindings/{}", binding_md::file_name(name, frame));
        let unread = |cause| self.unread(&path, &cause);
        let head = index::head(self.root, &path).map_err(unread)?;
        let inside = |head: &Head| head.attachment.is_none() && !head.encrypted;
        let Some(head) = head.filter(inside) else {
            return Ok(None);
        };
        // Reads one byte more than the limit, to detect a longer value.
        let more = most as u64 + 1;
        let bytes = self
            .root
            .read_part(&path, head.start, more)
            .map_err(unread)?;
        let short = bytes.len() <= most;
        Ok(String::from_utf8(bytes).ok().filter(|_| short))
    }

    fn binding_by_case(&self, name: &str, frame: Option<i64>) -> Result<Option<String>, Fault> {
        let wanted = binding_md::file_name(name, frame);
        let folded = wanted.to_lowercase();
        let found = self
            .names("bindings")?
            .into_iter()
            .map(|(file, _)| file)
            .filter(|file| *file != wanted && file.to_lowercase() == folded)
            .min();
        Ok(found.map(|file| {
            let stem = file.strip_suffix(".md").unwrap_or(&file);
            let base = frame.and_then(|_| scoped(stem)).map(|(base, _)| base);
            base.unwrap_or(stem).to_owned()
        }))
    }

    fn last_anonymous(&self) -> Result<u32, Fault> {
        let number = |file: &str| -> Option<u32> {
            let digits = file.strip_suffix(".md")?.strip_prefix("anon_")?;
            let digits = digits.split("__").next().unwrap_or(digits);
            // Prosescope assigns at most nine digits, in a folder as in a database.
            (digits.len() <= 9).then(|| digits.parse().ok()).flatten()
        };
        let files = self.names("bindings")?;
        Ok(files
            .iter()
            .filter_map(|(file, _)| number(file))
            .max()
            .unwrap_or(0))
    }

    fn attachment(&self, path: &str) -> Result<bool, Fault> {
        let there = self.root.look(path);
        Ok(there.map_err(|cause| self.unread(path, &cause))?.is_some())
    }

    fn agent(&self, name: &str) -> Result<Option<AgentFact>, Fault> {
        let files = self.names(&format!("agents/{name}"))?;
        let has_memory = files.iter().any(|(file, _)| file == "memory.md");
        let segments = files
            .iter()
            .filter_map(|(file, _)| segment_number(name, file));
        let last_segment = segments.max().unwrap_or(0);
        Ok((has_memory || last_segment > 0).then(|| AgentFact {
            scope: self.scope.clone(),
            has_memory,
            last_segment,
        }))
    }

    fn import(&self, alias: &str) -> Result<Option<ImportFact>, Fault> {
        let nested: Vec<String> = index::imports(self.root)
            .map_err(|cause| self.unread("imports", &cause))?
            .into_iter()
            .filter(|(handle, _)| handle == alias)
            .map(|(_, dir)| format!("imports/{dir}"))
            .collect();
        let row = self.text(IMPORTS)?.and_then(|log| import_row(&log, alias));
        if row.is_none() && nested.is_empty() {
            return Ok(None);
        }
        let row = row.unwrap_or_default();
        let text = |text: Option<Text>| text.map(|text| text.to_string());
        Ok(Some(ImportFact {
            source_url: text(row.source_url),
            inputs_schema: text(row.inputs_schema),
            outputs_schema: text(row.outputs_schema),
            nested,
        }))
    }

    fn gates(&self) -> Result<Vec<Gate>, Fault> {
        Ok(gates_of(&self.gate_files()?))
    }

    fn misnamed_gates(&self) -> Result<Vec<(String, Gate)>, Fault> {
        let files = self.gate_files()?;
        let other = named(&files).filter(|(id, gate)| *gate.id != **id);
        Ok(other.map(|(id, gate)| (id.clone(), gate)).collect())
    }

    fn gate(&self, id: &str) -> Result<Option<Gate>, Fault> {
        if !names_a_file(id) {
            return Ok(None);
        }
        let pending = match self.text(&format!("gates/{id}.pending.json"))? {
            Some(text) => Some(text),
            None => self.text(&format!("gates/{id}.json"))?,
        };
        let resolved = self.text(&format!("gates/{id}.resolved.json"))?;
        let (gate, issues) = gates_json::gate(id, pending.as_deref(), resolved.as_deref());
        one_meaning(&issues)?;
        if let Some(gate) = gate.as_ref().filter(|gate| *gate.id != *id) {
            let own: String = gate.id.chars().take(60).collect();
            let folder = self.root.shown("gates");
            return Err(Fault::new(
                FaultKind::Damaged,
                format!(
                    "{}: the file of gate {id} contains the id {own:?}: nothing was changed",
                    folder.display()
                ),
            )
            .hint(format!(
                "correct the file: only a file whose `id` is {id} may state who decides gate {id}"
            )));
        }
        Ok(gate)
    }

    fn gate_events(&self, gate: &str) -> Result<Vec<AuditEvent>, Fault> {
        let run = self.id()?;
        let mut events = Vec::new();
        let places = self.places()?;
        one_meaning(places.twice())?;
        let read = places.events(gate, &mut |event| {
            if *event.run_id == *run && event.kind != AuditKind::Viewed {
                events.push(event);
            }
        });
        read.map_err(|cause| self.unread(AUDIT, &cause))?;
        events.sort_by_key(|event| event.id);
        Ok(events)
    }

    fn audit_rows(&self, each: &mut dyn FnMut(AuditEvent) -> ControlFlow<()>) -> Result<(), Fault> {
        let run = self.id()?;
        let read = self
            .places()?
            .rows(&mut |event| match *event.run_id == *run {
                true => each(event),
                false => ControlFlow::Continue(()),
            });
        read.map_err(|cause| self.unread(AUDIT, &cause))
    }

    fn lacks_log(&self) -> Result<bool, Fault> {
        self.audit_is_whole()?;
        let log = self.root.look(AUDIT);
        let log = log.map_err(|cause| self.unread(AUDIT, &cause))?;
        Ok(log.is_none() && self.has_gates()?)
    }

    fn audit_tail(&self) -> Result<AuditTail, Fault> {
        self.audit_is_whole()?;
        let run = self.id()?;
        let path = self.root.shown(AUDIT);
        let of = |text: &str| -> Result<AuditTail, Fault> {
            let (events, _) = gates_json::audit(text);
            let mut own = events.iter().rev().filter(|event| *event.run_id == *run);
            Ok(AuditTail {
                next: behind(events.last().map_or(0, |event| event.id), &path)?,
                chain: own.find_map(|event| Chain::of_metadata(event.metadata.as_deref()?)),
            })
        };
        // The last rows suffice, unless they belong to other runs or have no ids.
        let last = self.last_lines(AUDIT)?;
        if let Some(tail) = last.map(|text| of(&text)).transpose()?
            && tail.chain.is_some()
        {
            return Ok(tail);
        }
        of(&self.text(AUDIT)?.unwrap_or_default())
    }
}
