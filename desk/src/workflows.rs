//! Finds the databases of workflows in the open source, and answers requests about them.

use prosescope_core::model::database::Limits;
use prosescope_core::model::source::SourceError;
use prosescope_core::pages::view::RunList;
use prosescope_core::record::Fault;
use prosescope_workflow::page::{self, EventShown, WorkflowPage};
use prosescope_workflow::{
    EventIds, Unfit, WorkflowFilter, WorkflowRows, WorkflowStatus, event_ids, events_from, show,
    summaries, workflow_ids,
};

use crate::protocol::{EventCounts, Trouble, Window, WindowRow, WorkflowsIn};
use crate::{Desk, DeskSource};

/// A database of workflows. It keeps the ids of the most recently requested lists, so that scrolling does not query
/// them again.
pub(crate) struct OpenWorkflows {
    place: String,
    /// The tables of the open database; `None` while the database is closed.
    tables: Option<Box<dyn WorkflowRows>>,
    /// The most recently requested list of workflows: the requested status, whether a run must be waiting, and the
    /// ids.
    listed: Option<(String, bool, Vec<String>)>,
    /// The workflow whose events were requested last, and the ids of these events.
    events: Option<(String, EventIds)>,
}

/// Removes the databases of workflows from a list of runs and returns them. They are the entries that are not runs but
/// have the tables of workflows.
pub(crate) fn taken_from(
    list: &mut RunList,
    source: &dyn DeskSource,
    limits: &Limits,
) -> Vec<WorkflowsIn> {
    let mut found = Vec::new();
    list.runs.retain(|run| {
        // A database that contains a run counts as a run, whatever else it contains.
        let may_be = run.error.is_some() && source.file(&run.place).is_some();
        let tables = may_be.then(|| source.workflows(&run.place, limits));
        let is_one = matches!(tables, Some(Ok(tables)) if tables.shape().fits().is_ok());
        if is_one {
            let notes = source.notes(&run.place).into_iter();
            let notes = notes.map(|issue| format!("{}. {}", issue.message, issue.hint));
            found.push(WorkflowsIn {
                place: run.place.clone(),
                notes: notes.collect(),
            });
        }
        !is_one
    });
    list.total = list.total.saturating_sub(found.len() as _);
    found
}

/// Returns whether a file is one of the databases `of`, or belongs to one: its `-wal`, `-shm` or `-journal`.
pub(crate) fn is_part(path: &str, of: &[WorkflowsIn]) -> bool {
    of.iter().any(|of| {
        let end = path.strip_prefix(of.place.as_str());
        end.is_some_and(|end| matches!(end, "" | "-wal" | "-shm" | "-journal"))
    })
}

/// Returns why a database with some tables of workflows cannot be shown; `None` for any other file.
pub(crate) fn unfit(source: &dyn DeskSource, place: &str, limits: &Limits) -> Option<Trouble> {
    source.file(place)?;
    let tables = source.workflows(place, limits).ok()?;
    let why = match tables.shape().fits() {
        Ok(()) | Err(Unfit::Empty) => return None,
        Err(why) => why,
    };
    Some(Trouble {
        file: Some(place.to_owned()),
        found: "A database with tables of workflows.".to_owned(),
        cause: format!("The workflows cannot be read: {why}."),
        next: "Check that the database was copied completely. To add missing tables to a copy, run `prosescope workflow setup --apply --state FILE`.".to_owned(),
        ..Trouble::default()
    })
}

impl Desk {
    /// Returns the database of workflows at a path in the source; opens the database if it is not open.
    pub(crate) fn tables(&mut self, place: &str) -> Result<&mut OpenWorkflows, Trouble> {
        let open = self.open_workflows.take();
        let source = self.source().ok_or_else(crate::desk::nothing_open)?;
        let mut open = match open.filter(|open| open.place == place) {
            Some(open) => open,
            None => OpenWorkflows {
                tables: None,
                place: place.to_owned(),
                listed: None,
                events: None,
            },
        };
        if open.tables.is_none() {
            open.tables = Some(source.workflows(place, &self.clock().options().limits)?);
        }
        Ok(self.open_workflows.insert(open))
    }
}

impl OpenWorkflows {
    /// Closes the database but keeps the ids of its lists.
    pub(crate) fn let_go(&mut self) {
        self.tables = None;
    }

    /// Returns a window of the list of workflows.
    pub(crate) fn list(
        &mut self,
        status: &str,
        waiting: bool,
        from: u64,
        len: u32,
    ) -> Result<Window, Trouble> {
        let place = self.place.clone();
        let wrong = |fault| trouble(&place, fault);
        let known = self.listed.take();
        let is_same = |(s, w, _): &(String, bool, Vec<String>)| s == status && *w == waiting;
        let listed = match known.filter(is_same) {
            Some(listed) => listed,
            None => {
                let wanted = WorkflowFilter {
                    status: WorkflowStatus::parse(status),
                    waiting,
                    limit: 0,
                };
                let ids = workflow_ids(rows(&self.tables)?, &wanted).map_err(wrong)?;
                (status.to_owned(), waiting, ids)
            }
        };
        let (_, _, ids) = self.listed.insert(listed);
        let mut lines = summaries(rows(&self.tables)?, stretch(ids, from, len)).map_err(wrong)?;
        for row in &mut lines {
            row.status = page::status_word(&row.status);
            row.run_status = row.run_status.as_deref().map(page::status_word);
        }
        Ok(Window {
            rows: lines.into_iter().map(WindowRow::Workflow).collect(),
            total: ids.len() as u64,
        })
    }

    /// Returns a workflow; `None` if the database does not contain it.
    pub(crate) fn show(&self, id: &str) -> Result<Option<WorkflowPage>, Trouble> {
        let found = show(rows(&self.tables)?, id).map_err(|fault| trouble(&self.place, fault))?;
        Ok(found.map(page::page))
    }

    fn event_ids(&mut self, id: &str) -> Result<&EventIds, Trouble> {
        let known = self.events.take();
        let events = match known.filter(|(of, _)| of == id) {
            Some(events) => events,
            None => {
                let ids = event_ids(rows(&self.tables)?, id);
                (
                    id.to_owned(),
                    ids.map_err(|fault| trouble(&self.place, fault))?,
                )
            }
        };
        Ok(&self.events.insert(events).1)
    }

    /// Returns the number of a workflow's events.
    pub(crate) fn event_counts(&mut self, id: &str) -> Result<EventCounts, Trouble> {
        let ids = self.event_ids(id)?;
        let by_run = ids.by_run.iter();
        let by_run = by_run.map(|(run, ids)| (run.clone(), ids.len() as u64));
        Ok(EventCounts {
            all: ids.all.len() as u64,
            by_run: by_run.collect(),
        })
    }

    /// Returns a window of the events of a workflow, or of one of its runs.
    pub(crate) fn events(
        &mut self,
        id: &str,
        run: Option<&str>,
        from: u64,
        len: u32,
    ) -> Result<Window, Trouble> {
        let ids = self.event_ids(id)?.of(run);
        let total = ids.len() as u64;
        let wanted = stretch(ids, from, len);
        let (first, len) = (wanted.first().copied(), wanted.len());
        let rows = match first {
            Some(first) => {
                let len = u32::try_from(len).unwrap_or(u32::MAX);
                let found = events_from(rows(&self.tables)?, id, run, first, len);
                found.map_err(|fault| trouble(&self.place, fault))?
            }
            None => Vec::new(),
        };
        Ok(Window {
            rows: rows.iter().map(page::line).map(WindowRow::Event).collect(),
            total,
        })
    }

    /// Returns one event of a workflow.
    pub(crate) fn event(&self, id: &str, event: i64) -> Result<Option<EventShown>, Trouble> {
        let found = events_from(rows(&self.tables)?, id, None, event, 1);
        let found = found.map_err(|fault| trouble(&self.place, fault))?;
        let found = found.into_iter().find(|found| found.id == event);
        Ok(found.map(page::event))
    }
}

fn rows(tables: &Option<Box<dyn WorkflowRows>>) -> Result<&dyn WorkflowRows, Trouble> {
    let open = tables.as_deref();
    open.ok_or_else(|| Trouble::defect("the database of workflows is not open"))
}

fn stretch<T>(all: &[T], from: u64, len: u32) -> &[T] {
    let from = usize::try_from(from).unwrap_or(usize::MAX).min(all.len());
    let end = from.saturating_add(len as usize).min(all.len());
    all.get(from..end).unwrap_or_default()
}

fn trouble(place: &str, fault: Fault) -> Trouble {
    let next = if fault.hint.is_empty() {
        "Check that the file was copied whole, then open it again.".to_owned()
    } else {
        fault.hint
    };
    SourceError::Database {
        path: place.to_owned(),
        cause: fault.message,
        next,
        failed: false,
    }
    .into()
}
