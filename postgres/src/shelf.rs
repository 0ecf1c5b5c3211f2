//! Reads a run in PostgreSQL for a command, inside the transaction that holds the lock of the run's row, and implements
//! its [`Shelf`].

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use prosescope_core::model::database::{Database, Limits};
use prosescope_core::model::source::{FileEntry, Source, SourceError};
use prosescope_core::model::{AgentScope, Binding};
use prosescope_core::pages::session::{OpenError, Options, Session};
use prosescope_core::record::{AgentFact, Fault, FaultKind, Shelf};
use tokio_postgres::{Error, Row};

use crate::agents;
use crate::cell::get;
use crate::fault;
use crate::owner::{Keeper, RowOwner};
use crate::read::PostgresRun;
use crate::server::{Bound, Lost, PgClient, int, text};
use crate::source::{PostgresSource, ROWS};

/// The [`Shelf`] of a run in PostgreSQL, or of agents that outlive runs.
pub(crate) struct PostgresShelf<'a> {
    pub(crate) server: &'a PgClient,
    /// The id of the run; empty for agents that outlive runs.
    pub(crate) run: &'a str,
    /// The owner of the rows that the command writes. Changes from a project to the owner of shared agents, if the
    /// command's agent is a shared one.
    pub(crate) of: RefCell<RowOwner>,
    /// The run as it was read; `None` for agents that outlive runs.
    pub(crate) session: Option<Session>,
    /// The ids reserved for new executions: the first id, and the number of ids. `None` before the first reservation.
    pub(crate) ids: Cell<Option<(i64, i64)>>,
    /// The last error of the server. A [`Fault`] contains only the error's text, from which the store could not decide
    /// whether a retry may succeed.
    pub(crate) lost: RefCell<Option<Lost>>,
}

impl PostgresShelf<'_> {
    fn rows(&self, sql: &str, bound: &[Bound<'_>]) -> Result<Vec<Row>, Fault> {
        self.server
            .rows(sql, bound)
            .map_err(|lost| self.fault(lost))
    }

    fn fault(&self, lost: Lost) -> Fault {
        let fault = fault::unwritten(self.server.address(), &lost);
        *self.lost.borrow_mut() = Some(lost);
        fault
    }

    fn said<T>(&self, answer: Result<T, Error>) -> Result<T, Fault> {
        answer.map_err(|error| self.fault(Lost::Error(error)))
    }

    /// Sends a query, and converts the first row of its answer with `read`; `None` without a row.
    fn one<T>(
        &self,
        sql: &str,
        bound: &[Bound<'_>],
        read: impl FnOnce(&Row) -> Result<T, Error>,
    ) -> Result<Option<T>, Fault> {
        let rows = self.rows(sql, bound)?;
        self.said(rows.first().map(read).transpose())
    }

    fn agent_of(&self, of: &RowOwner, name: &str) -> Result<Option<AgentFact>, Fault> {
        let whose = agents::whose(of);
        let sql = format!(
            "SELECT scope, memory IS NOT NULL, (
                 SELECT max(segment_number)::bigint FROM openprose.agent_segments WHERE agent_name = $1 AND {whose})
             FROM openprose.agents WHERE name = $1 AND {whose} LIMIT 1"
        );
        self.one(&sql, &[agents::stored(of, name), of.key()], |row| {
            Ok(AgentFact {
                scope: AgentScope::parse(get::<Option<&str>>(row, 0)?.unwrap_or("execution")),
                has_memory: get(row, 1)?,
                last_segment: get::<Option<i64>>(row, 2)?.unwrap_or(0),
            })
        })
    }
}

/// Reads a run inside the transaction that locked its row.
///
/// # Errors
/// A [`Fault`] if the run cannot be read.
pub(crate) fn read(server: &PgClient, run: &str) -> Result<Session, Fault> {
    let place = PostgresSource::place(run);
    let locked = LockedRun {
        server: server.clone(),
        run: run.to_owned(),
        files: vec![FileEntry {
            path: format!("{place}/{ROWS}"),
            len: 1,
            modified: None,
        }],
    };
    let session = Session::open(Rc::new(locked), &place, &Options::default());
    session.map_err(|error| unread(&error))
}

fn unread(error: &OpenError) -> Fault {
    let kind = if error.is_failed() {
        FaultKind::Io
    } else {
        FaultKind::Damaged
    };
    Fault::new(kind, format!("nothing was recorded: {error}")).hint(error.next())
}

/// The rows of a run, read through the connection that holds the run's lock.
struct LockedRun {
    server: PgClient,
    run: String,
    files: Vec<FileEntry>,
}

impl Source for LockedRun {
    fn label(&self) -> String {
        self.server.address().to_string()
    }

    fn files(&self) -> &[FileEntry] {
        &self.files
    }

    fn read(&self, path: &str, _: u64, _: usize) -> Result<Vec<u8>, SourceError> {
        Err(SourceError::NotFound(path.to_owned()))
    }

    fn database(&self, _: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError> {
        let of = RowOwner::Run(self.run.clone());
        Ok(Box::new(PostgresRun::within(
            self.server.clone(),
            of,
            limits,
        )))
    }

    fn is_shared(&self) -> bool {
        true
    }
}

/// Reserves `count` consecutive ids; returns `None` if another writer took an id between two of them.
pub(crate) fn take_ids(server: &PgClient, count: i64) -> Result<Option<i64>, Lost> {
    let sql = "SELECT min(id), max(id) FROM (
                   SELECT nextval(pg_get_serial_sequence('openprose.execution', 'id')) AS id FROM generate_series(1, $1)
               ) AS taken";
    let rows = server.rows(sql, &[int(count)])?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let (first, last): (i64, i64) = (get(row, 0)?, get(row, 1)?);
    Ok((last - first + 1 == count).then_some(first))
}

impl Shelf for PostgresShelf<'_> {
    fn next_execution(&self) -> Result<i64, Fault> {
        if let Some((first, _)) = self.ids.get() {
            return Ok(first);
        }
        let taken = take_ids(self.server, 1).map_err(|lost| self.fault(lost))?;
        let first = taken.unwrap_or_default();
        self.ids.set(Some((first, 1)));
        Ok(first)
    }

    fn next_audit(&self) -> Result<i64, Fault> {
        let session = self.session.as_ref();
        let last = session.and_then(|session| session.run().audit.last());
        Ok(last.map_or(0, |event| event.id).saturating_add(1))
    }

    fn whole(&self, binding: &Binding) -> Result<Binding, Fault> {
        let session = self.session.as_ref();
        Ok(session.map_or_else(|| binding.clone(), |session| session.whole(binding)))
    }

    fn short_text(&self, binding: &Binding, most: usize) -> Result<Option<String>, Fault> {
        let Some(session) = &self.session else {
            return Ok(None);
        };
        let found = session.short_text(binding, most);
        found.map_err(|error| unread(&OpenError::Source(error)))
    }

    fn attachment(&self, path: &str) -> Result<bool, Fault> {
        let sql = "SELECT 1 FROM openprose.x_attachments WHERE run_id = $1 AND path = $2 LIMIT 1";
        let found = self.one(sql, &[text(self.run), text(path)], |_| Ok(()))?;
        Ok(found.is_some())
    }

    fn agent(&self, name: &str) -> Result<Option<AgentFact>, Fault> {
        let of = self.of.borrow().clone();
        let found = self.agent_of(&of, name)?;
        let everybody = RowOwner::Agents(Keeper::Project(None));
        if found.is_some() || !matches!(of, RowOwner::Agents(Keeper::Project(Some(_)))) {
            return Ok(found);
        }
        // An agent that is shared by all projects stays shared (errata P13).
        let shared = self.agent_of(&everybody, name)?;
        if shared.is_some() {
            *self.of.borrow_mut() = everybody;
        }
        Ok(shared)
    }
}
