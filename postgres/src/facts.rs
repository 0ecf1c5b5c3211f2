//! Implements [`Facts`] for a run in PostgreSQL, inside the transaction that holds the lock of the run's row.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use prosescope_core::gate::audit::Chain;
use prosescope_core::model::{AgentScope, AuditEvent, BindingKind, Execution, Gate, RunStatus};
use prosescope_core::schema::postgres_name;
use prosescope_core::time::Stamp;
use prosescope_core::write::{
    AgentFact, AuditTail, BindingFact, Facts, Fault, ImportFact, Place, RunFact, Style,
};
use tokio_postgres::{Error, Row};

use crate::agents;
use crate::fault;
use crate::of::{Keeper, Of};
use crate::rows::{self, get};
use crate::server::{Bound, Lost, Server, int, owned, text};

/// The number of rows that one query of a search fetches. The number is small, because most searches end early.
const PIECE: i64 = 64;

/// The facts from which a command computes its changes, read in the transaction that will write these changes.
pub(crate) struct PostgresFacts<'a> {
    pub(crate) server: &'a Server,
    /// The id of the run; empty for agents that outlive runs.
    pub(crate) run: &'a str,
    /// The owner of the rows that the command writes. Changes from a project to the owner of shared agents, if the
    /// command's agent is a shared one.
    pub(crate) of: RefCell<Of>,
    /// The run's status when its row was locked.
    pub(crate) status: RunStatus,
    /// The time of the run's last write, read with the status.
    pub(crate) updated: Option<Stamp>,
    /// The run's program, read with the status.
    pub(crate) program: Option<String>,
    /// Whether the run has gates but not a single audit row, read with the status.
    pub(crate) lacks_log: bool,
    /// The ids reserved for new executions: the first id, and the number of ids. `None` before the first reservation.
    pub(crate) ids: Cell<Option<(i64, i64)>>,
    /// The last error of the server. A [`Fault`] contains only the error's text, from which the store could not decide
    /// whether a retry may succeed.
    pub(crate) lost: RefCell<Option<Lost>>,
}

impl PostgresFacts<'_> {
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

    /// Passes rows of `execution` to `each` until `each` breaks. Fetches [`PIECE`] rows per query. `of` is the SQL
    /// condition on the rows. `bound` returns the values of the condition, the run first.
    fn each(
        &self,
        of: &str,
        bound: &dyn Fn() -> Vec<Bound<'static>>,
        newest_first: bool,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let (after, order) = if newest_first {
            ("<", "DESC")
        } else {
            (">", "ASC")
        };
        let mut last = if newest_first { i64::MAX } else { i64::MIN };
        loop {
            let mut bound = bound();
            bound.push(int(last));
            let sql = format!(
                "SELECT {} FROM openprose.execution WHERE run_id = $1 AND {of} AND id {after} ${}
                 ORDER BY id {order} LIMIT {PIECE}",
                rows::EXECUTION,
                bound.len(),
            );
            let rows = self.rows(&sql, &bound)?;
            for row in &rows {
                let row = self.said(rows::execution(row))?;
                last = row.id;
                if each(row).is_break() {
                    return Ok(());
                }
            }
            if (rows.len() as i64) < PIECE {
                return Ok(());
            }
        }
    }

    fn agent_of(&self, of: &Of, name: &str) -> Result<Option<AgentFact>, Fault> {
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

    fn of_run(&self) -> Bound<'static> {
        owned(self.run.to_owned())
    }
}

/// Reserves `count` consecutive ids; returns `None` if another writer took an id between two of them.
pub(crate) fn take_ids(server: &Server, count: i64) -> Result<Option<i64>, Lost> {
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

impl Facts for PostgresFacts<'_> {
    fn style(&self) -> Style {
        Style::InPlace
    }

    fn run(&self) -> Result<RunFact, Fault> {
        Ok(RunFact {
            id: self.run.to_owned(),
            name: postgres_name(self.run),
            status: self.status.clone(),
            updated: self.updated.clone(),
        })
    }

    fn program(&self) -> Result<Option<String>, Fault> {
        let source = self.program.as_ref();
        Ok(source.filter(|source| !source.is_empty()).cloned())
    }

    fn next_execution(&self) -> Result<i64, Fault> {
        if let Some((first, _)) = self.ids.get() {
            return Ok(first);
        }
        let taken = take_ids(self.server, 1).map_err(|lost| self.fault(lost))?;
        let first = taken.unwrap_or_default();
        self.ids.set(Some((first, 1)));
        Ok(first)
    }

    fn execution(&self, id: i64) -> Result<Option<Execution>, Fault> {
        let sql = format!(
            "SELECT {} FROM openprose.execution WHERE run_id = $1 AND id = $2",
            rows::EXECUTION
        );
        self.one(&sql, &[text(self.run), int(id)], rows::execution)
    }

    fn executions_back(
        &self,
        place: &Place<'_>,
        since: i64,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let parent = match place.parent {
            Some(_) => "parent_id = $3",
            None => "parent_id IS NULL AND $3 IS NULL",
        };
        let bound = || vec![self.of_run(), int(since), int(place.parent)];
        match place.index {
            Some(index) => {
                let of = format!("id >= $2 AND {parent} AND statement_index = $4");
                let bound = || [bound(), vec![int(index)]].into_iter().flatten().collect();
                self.each(&of, &bound, true, each)
            }
            None => {
                let of = format!(
                    "id >= $2 AND {parent} AND statement_index IS NULL AND statement_text = $4"
                );
                let bound = || {
                    [bound(), vec![owned(place.text.to_owned())]]
                        .into_iter()
                        .flatten()
                        .collect()
                };
                self.each(&of, &bound, true, each)
            }
        }
    }

    fn newest(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault> {
        self.each("true", &|| vec![self.of_run()], true, each)
    }

    fn open(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault> {
        let of =
            "completed_at IS NULL AND status IN ('executing', 'pending', 'started', 'waiting')";
        self.each(of, &|| vec![self.of_run()], true, each)
    }

    fn children(
        &self,
        parent: i64,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        self.each(
            "parent_id = $2",
            &|| vec![self.of_run(), int(parent)],
            false,
            each,
        )
    }

    fn binding(&self, name: &str, frame: Option<i64>) -> Result<Option<BindingFact>, Fault> {
        let sql = "SELECT kind, source_statement, updated_at::text, attachment_path FROM openprose.bindings
                   WHERE name = $1 AND run_id = $2 AND COALESCE(execution_id, -1) = $3";
        let bound = [text(name), text(self.run), int(frame.unwrap_or(-1))];
        self.one(sql, &bound, |row| {
            Ok(BindingFact {
                name: name.to_owned(),
                kind: BindingKind::parse(get::<Option<&str>>(row, 0)?.unwrap_or_default()),
                source: get(row, 1)?,
                updated: rows::stamp(row, 2)?,
                attachment: get(row, 3)?,
            })
        })
    }

    fn short_text(
        &self,
        name: &str,
        frame: Option<i64>,
        most: usize,
    ) -> Result<Option<String>, Fault> {
        let sql = "SELECT CASE WHEN octet_length(value) <= $4 AND COALESCE(attachment_path, '') = '' THEN value END
                   FROM openprose.bindings
                   WHERE name = $1 AND run_id = $2 AND COALESCE(execution_id, -1) = $3";
        let most = int(i64::try_from(most).unwrap_or(i64::MAX));
        let bound = [text(name), text(self.run), int(frame.unwrap_or(-1)), most];
        let value = self.one(sql, &bound, |row| get::<Option<String>>(row, 0))?;
        Ok(value.flatten())
    }

    fn binding_by_case(&self, _: &str, _: Option<i64>) -> Result<Option<String>, Fault> {
        Ok(None)
    }

    fn last_anonymous(&self) -> Result<u32, Fault> {
        // Names with more than nine digits come from other tools and do not fit into u32.
        let sql = "SELECT max(substr(name, 6)::bigint) FROM openprose.bindings
                   WHERE run_id = $1 AND name ~ '^anon_[0-9]{1,9}$'";
        let last = self.one(sql, &[text(self.run)], |row| get::<Option<i64>>(row, 0))?;
        Ok(last
            .flatten()
            .and_then(|last| last.try_into().ok())
            .unwrap_or(0))
    }

    fn attachment(&self, path: &str) -> Result<bool, Fault> {
        let sql = "SELECT 1 FROM openprose.x_attachments WHERE run_id = $1 AND path = $2 LIMIT 1";
        let found = self.one(sql, &[text(self.run), text(path)], |_| Ok(()))?;
        Ok(found.is_some())
    }

    fn agent(&self, name: &str) -> Result<Option<AgentFact>, Fault> {
        let of = self.of.borrow().clone();
        let found = self.agent_of(&of, name)?;
        let everybody = Of::Agents(Keeper::Project(None));
        if found.is_some() || !matches!(of, Of::Agents(Keeper::Project(Some(_)))) {
            return Ok(found);
        }
        // An agent that is shared by all projects stays shared (errata P13).
        let shared = self.agent_of(&everybody, name)?;
        if shared.is_some() {
            *self.of.borrow_mut() = everybody;
        }
        Ok(shared)
    }

    fn import(&self, alias: &str) -> Result<Option<ImportFact>, Fault> {
        let sql =
            "SELECT source_url, inputs_schema::text, outputs_schema::text FROM openprose.imports
                   WHERE alias = $1 AND run_id = $2";
        self.one(sql, &[text(alias), text(self.run)], |row| {
            Ok(ImportFact {
                // OpenProse's column is NOT NULL, so an empty text means unknown.
                source_url: get::<Option<String>>(row, 0)?.filter(|url| !url.is_empty()),
                inputs_schema: get(row, 1)?,
                outputs_schema: get(row, 2)?,
                nested: Vec::new(),
            })
        })
    }

    fn gates(&self) -> Result<Vec<Gate>, Fault> {
        let sql = format!(
            "SELECT {} FROM openprose.gates WHERE run_id = $1 ORDER BY x_seq",
            rows::GATE
        );
        let rows = self.rows(&sql, &[text(self.run)])?;
        self.said(rows.iter().map(rows::gate).collect())
    }

    fn gate(&self, id: &str) -> Result<Option<Gate>, Fault> {
        let sql = format!(
            "SELECT {} FROM openprose.gates WHERE run_id = $1 AND id = $2",
            rows::GATE
        );
        self.one(&sql, &[text(self.run), text(id)], rows::gate)
    }

    fn gate_events(&self, gate: &str) -> Result<Vec<AuditEvent>, Fault> {
        let sql = format!(
            "SELECT {} FROM openprose.gate_audit_log
             WHERE run_id = $1 AND gate_id = $2 AND event_type <> 'viewed' ORDER BY id",
            rows::EVENT
        );
        let rows = self.rows(&sql, &[text(self.run), text(gate)])?;
        self.said(rows.iter().map(rows::event).collect())
    }

    fn audit_rows(&self, each: &mut dyn FnMut(AuditEvent) -> ControlFlow<()>) -> Result<(), Fault> {
        let sql = format!(
            "SELECT {} FROM openprose.gate_audit_log WHERE run_id = $1 AND id > $2 ORDER BY id LIMIT {PIECE}",
            rows::EVENT
        );
        let mut behind = i64::MIN;
        loop {
            let rows = self.rows(&sql, &[text(self.run), int(behind)])?;
            for row in &rows {
                let event = self.said(rows::event(row))?;
                behind = event.id;
                if each(event).is_break() {
                    return Ok(());
                }
            }
            if (rows.len() as i64) < PIECE {
                return Ok(());
            }
        }
    }

    fn lacks_log(&self) -> Result<bool, Fault> {
        Ok(self.lacks_log)
    }

    fn audit_tail(&self) -> Result<AuditTail, Fault> {
        // Rows of other tools have no chain, so the search goes back to the last sealed row.
        let sql = format!(
            "SELECT id, metadata FROM openprose.gate_audit_log WHERE run_id = $1 AND id < $2
             ORDER BY id DESC LIMIT {PIECE}"
        );
        let mut tail = AuditTail {
            next: 0,
            chain: None,
        };
        let mut before = i64::MAX;
        loop {
            let rows = self.rows(&sql, &[text(self.run), int(before)])?;
            for row in &rows {
                before = self.said(get(row, 0))?;
                tail.next = tail.next.max(before);
                let metadata = self.said(get::<Option<&str>>(row, 1))?;
                tail.chain = metadata.and_then(Chain::of_metadata);
                if tail.chain.is_some() {
                    break;
                }
            }
            if tail.chain.is_some() || (rows.len() as i64) < PIECE {
                tail.next = tail.next.saturating_add(1);
                return Ok(tail);
            }
        }
    }
}
