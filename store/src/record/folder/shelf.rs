use std::borrow::Cow;

use prosescope_core::model::{AgentScope, Binding, Run};
use prosescope_core::program::Listing;
use prosescope_core::read::decode::memory_md::segment_number;
use prosescope_core::read::decode::text::is_plain_path;
use prosescope_core::record::render::json_rows;
use prosescope_core::record::{
    AgentFact, Change, ExecutionRow, Fault, FaultKind, Shelf, first_events,
};
use prosescope_core::trace::Trace;

use super::head::StateHead;
use super::log::{self, AUDIT, EVENTS};
use crate::dir::Dir;
use crate::record::fault;
use crate::record::reading::Reading;

/// The [`Shelf`] of a run folder, read while the run is locked.
pub(super) struct FolderShelf<'a> {
    root: &'a Dir,
    scope: &'a AgentScope,
    /// The run as it was read; `None` in a folder of agents.
    reading: Option<Reading>,
    pub(super) head: StateHead,
    /// The rows of a hand-written state file; they become the first lines of the log.
    pub(super) adopted: Vec<ExecutionRow>,
}

impl<'a> FolderShelf<'a> {
    /// Reads the run; in a folder of agents, which has no run, nothing is read.
    pub(super) fn read(
        root: &'a Dir,
        scope: &'a AgentScope,
        has_run: bool,
    ) -> Result<FolderShelf<'a>, Fault> {
        let mut shelf = FolderShelf {
            root,
            scope,
            reading: None,
            head: StateHead::default(),
            adopted: Vec::new(),
        };
        if !has_run {
            return Ok(shelf);
        }
        log::is_whole(root)?;
        let reading = Reading::of(root, "", None, None)?;
        shelf.head = StateHead::load(root)?;
        let session = reading.session();
        if !session.run().keeps_events && shelf.head.tells() {
            shelf.adopted = first_events(session.run(), session.trace(), session.listing());
        }
        shelf.reading = Some(reading);
        Ok(shelf)
    }

    /// Returns the run, with the rows of a hand-written state file.
    pub(super) fn run(&self) -> Cow<'_, Run> {
        let Some(reading) = &self.reading else {
            return Cow::Owned(Run::default());
        };
        let run = reading.session().run();
        if self.adopted.is_empty() {
            return Cow::Borrowed(run);
        }
        let mut run = run.clone();
        for row in &self.adopted {
            run.apply(&Change::Execution(row.clone()));
        }
        Cow::Owned(run)
    }

    pub(super) fn listing(&self) -> Option<&Listing> {
        self.reading.as_ref()?.session().listing()
    }

    /// Returns the trace of the run; `None` if rows of a hand-written state file are added.
    pub(super) fn trace(&self) -> Option<&Trace> {
        let reading = self.reading.as_ref().filter(|_| self.adopted.is_empty())?;
        Some(reading.session().trace())
    }

    /// Returns the lines of the log for the rows of a hand-written state file.
    pub(super) fn adopted_lines(&self) -> String {
        self.adopted.iter().map(json_rows::event).collect()
    }
}

/// Returns the id that follows the last id of a log.
fn behind(root: &Dir, log: &str, last: i64) -> Result<i64, Fault> {
    last.checked_add(1).ok_or_else(|| {
        let message = format!(
            "{}: a row has the highest possible id, {last}, so no row can be added",
            root.shown(log).display()
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

impl Shelf for FolderShelf<'_> {
    fn next_execution(&self) -> Result<i64, Fault> {
        let run = self.run();
        behind(
            self.root,
            EVENTS,
            run.executions.last().map_or(0, |row| row.id),
        )
    }

    fn next_audit(&self) -> Result<i64, Fault> {
        let session = self.reading.as_ref().map(Reading::session);
        let last = session.and_then(|session| session.run().audit.last());
        behind(self.root, AUDIT, last.map_or(0, |event| event.id))
    }

    fn whole(&self, binding: &Binding) -> Result<Binding, Fault> {
        Ok(binding.clone())
    }

    fn short_text(&self, binding: &Binding, most: usize) -> Result<Option<String>, Fault> {
        let reading = self.reading.as_ref();
        reading.map_or(Ok(None), |reading| reading.short_text(binding, most))
    }

    fn attachment(&self, path: &str) -> Result<bool, Fault> {
        let reading = self.reading.as_ref();
        reading.map_or(Ok(false), |reading| reading.attachment(path))
    }

    fn agent(&self, name: &str) -> Result<Option<AgentFact>, Fault> {
        let folder = format!("agents/{name}");
        let unread = |cause| fault::unread(&self.root.shown(&folder), &cause);
        // Refuses a folder that is a link.
        self.root.dir(&folder).map_err(unread)?;
        let files = self.root.names(&folder).map_err(unread)?;
        let has_memory = files
            .iter()
            .any(|(file, kind)| file == "memory.md" && kind.is_file());
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
}
