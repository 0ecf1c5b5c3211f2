use prosescope_core::time::Stamp;
use std::ops::ControlFlow;
use std::path::Path;

use prosescope_core::gate::audit::Chain;
use prosescope_core::model::{AgentScope, AuditEvent, BindingKind, Execution, Gate, RunStatus};
use prosescope_core::program;
use prosescope_core::write::{
    AgentFact, AuditTail, BindingFact, Facts, Fault, ImportFact, Place, RunFact, Style,
};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, params};

use super::{guard, rows};
use crate::dir::Dir;
use crate::record::fault;

/// The [`Facts`] of a database, read inside the transaction of the command that asks for them.
pub(super) struct SqliteFacts<'a> {
    pub(super) conn: &'a Connection,
    pub(super) path: &'a Path,
    pub(super) dir: &'a Dir,
    pub(super) run: &'a str,
    pub(super) style: Style,
}

impl SqliteFacts<'_> {
    fn said<T>(&self, answer: rusqlite::Result<T>) -> Result<T, Fault> {
        answer.map_err(|error| fault::sqlite(self.path, &error))
    }

    /// Passes the rows of a query to `each` until `each` breaks.
    fn each(
        &self,
        sql: &str,
        params: impl Params,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> rusqlite::Result<()> {
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut found = statement.query(params)?;
        while let Some(row) = found.next()? {
            if each(rows::execution(row)?).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Returns the id of the next row of a table; an id of a deleted row is not used again.
    fn next(&self, table: &str) -> rusqlite::Result<i64> {
        let highest: i64 = self
            .conn
            .prepare_cached(&format!("SELECT ifnull(max(id), 0) FROM {table}"))?
            .query_row([], |row| row.get(0))?;
        // SQLite creates `sqlite_sequence` with the first AUTOINCREMENT table.
        let counts: bool = self
            .conn
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence')",
            )?
            .query_row([], |row| row.get(0))?;
        let counted = match counts {
            true => self
                .conn
                .prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = ?1")?
                .query_row([table], |row| row.get::<_, Option<i64>>(0))
                .optional()?
                .flatten(),
            false => None,
        };
        Ok(highest.max(counted.unwrap_or(0)).saturating_add(1))
    }

    fn audit(&self, each: &mut dyn FnMut(AuditEvent) -> ControlFlow<()>) -> rusqlite::Result<()> {
        let sql = format!(
            "SELECT {} FROM gate_audit_log WHERE run_id = ?1 ORDER BY id",
            rows::EVENT
        );
        let mut statement = self.conn.prepare_cached(&sql)?;
        let mut found = statement.query([self.run])?;
        while let Some(row) = found.next()? {
            if each(rows::event(row)?).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn tail(&self) -> rusqlite::Result<AuditTail> {
        let mut chain = None;
        let mut statement = self.conn.prepare_cached(
            "SELECT metadata FROM gate_audit_log WHERE run_id = ?1 ORDER BY id DESC",
        )?;
        let mut found = statement.query([self.run])?;
        while let (None, Some(row)) = (&chain, found.next()?) {
            chain = rows::text(row, 0)?.and_then(|json| Chain::of_metadata(&json));
        }
        Ok(AuditTail {
            next: self.next("gate_audit_log")?,
            chain,
        })
    }
}

impl Facts for SqliteFacts<'_> {
    fn style(&self) -> Style {
        self.style
    }

    fn run(&self) -> Result<RunFact, Fault> {
        let said = self.said(
            self.conn
                .query_row("SELECT * FROM run WHERE id = ?1", [self.run], |row| {
                    let text = |column: &str| match row.as_ref().column_index(column) {
                        Ok(at) => rows::text(row, at),
                        Err(_) => Ok(None),
                    };
                    Ok((text("status")?, text("updated_at")?))
                })
                .optional(),
        )?;
        let (status, updated) = said.unwrap_or_default();
        Ok(RunFact {
            id: self.run.to_owned(),
            name: self.run.to_owned(),
            status: RunStatus::parse(status.as_deref().unwrap_or("running")),
            updated: updated.as_deref().map(Stamp::parse),
        })
    }

    fn program(&self) -> Result<Option<String>, Fault> {
        let source = self.said(
            self.conn
                .query_row(
                    "SELECT iif(octet_length(program_source) <= ?2, program_source, NULL) FROM run WHERE id = ?1",
                    params![self.run, program::MOST_BYTES as i64],
                    |row| rows::text(row, 0),
                )
                .optional(),
        )?;
        let source = source.flatten().filter(|source| !source.is_empty());
        match source {
            Some(source) => Ok(Some(source.to_string())),
            // Without a stored program, reads the copy of the program beside the database.
            None => Ok(self
                .dir
                .read_small("program.prose", program::MOST_BYTES as u64)
                .ok()
                .flatten()
                .and_then(|bytes| String::from_utf8(bytes).ok())),
        }
    }

    fn next_execution(&self) -> Result<i64, Fault> {
        self.said(self.next("execution"))
    }

    fn execution(&self, id: i64) -> Result<Option<Execution>, Fault> {
        let sql = format!("SELECT {} FROM execution WHERE id = ?1", rows::EXECUTION);
        let mut found = None;
        self.said(self.each(&sql, [id], &mut |row| {
            found = Some(row);
            ControlFlow::Break(())
        }))?;
        Ok(found)
    }

    fn executions_back(
        &self,
        place: &Place<'_>,
        since: i64,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        // Each of the two conditions has its own database index. In the index by line, all rows without a line share
        // the key NULL, so a statement that is not in the program is found by its text instead.
        let of = match place.index {
            Some(_) => "statement_index IS ?2",
            None => "statement_index IS NULL AND statement_text IS ?2",
        };
        let sql = format!(
            "SELECT {} FROM execution WHERE parent_id IS ?1 AND {of} AND id >= ?3 ORDER BY id DESC",
            rows::EXECUTION
        );
        self.said(match place.index {
            Some(index) => self.each(&sql, params![place.parent, index, since], each),
            None => self.each(&sql, params![place.parent, place.text, since], each),
        })
    }

    fn newest(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault> {
        let sql = format!("SELECT {} FROM execution ORDER BY id DESC", rows::EXECUTION);
        self.said(self.each(&sql, [], each))
    }

    fn open(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault> {
        // A partial index on `execution` contains only the wanted rows.
        let sql = format!(
            "SELECT {} FROM execution WHERE completed_at IS NULL
             AND status IN ('executing', 'pending', 'started', 'waiting') ORDER BY id DESC",
            rows::EXECUTION
        );
        self.said(self.each(&sql, [], each))
    }

    fn children(
        &self,
        parent: i64,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let sql = format!(
            "SELECT {} FROM execution WHERE parent_id = ?1 ORDER BY id",
            rows::EXECUTION
        );
        self.said(self.each(&sql, [parent], each))
    }

    fn binding(&self, name: &str, frame: Option<i64>) -> Result<Option<BindingFact>, Fault> {
        // If several rows have one name, the last one counts (errata S2).
        self.said(
            self.conn
                .prepare_cached(&format!(
                    "SELECT kind, source_statement, updated_at, attachment_path FROM bindings
                     WHERE name = ?1 AND execution_id IS ?2 {} LIMIT 1",
                    guard::by_coming(self.conn, "bindings", true)
                ))
                .and_then(|mut statement| {
                    statement
                        .query_row(params![name, frame], |row| {
                            Ok(BindingFact {
                                name: name.to_owned(),
                                kind: BindingKind::parse(
                                    &rows::text(row, 0)?.unwrap_or_else(|| "".into()),
                                ),
                                source: rows::text(row, 1)?.map(|text| text.to_string()),
                                updated: rows::stamp(row, 2)?,
                                attachment: rows::text(row, 3)?.map(|text| text.to_string()),
                            })
                        })
                        .optional()
                }),
        )
    }

    fn short_text(
        &self,
        name: &str,
        frame: Option<i64>,
        most: usize,
    ) -> Result<Option<String>, Fault> {
        let sql = format!(
            "SELECT iif(typeof(value) = 'text' AND octet_length(value) <= ?3 AND ifnull(attachment_path, '') = '',
                        value, NULL)
             FROM bindings WHERE name = ?1 AND execution_id IS ?2 {} LIMIT 1",
            guard::by_coming(self.conn, "bindings", true)
        );
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let value = self
            .conn
            .query_row(&sql, params![name, frame, most], |row| rows::text(row, 0));
        let value = self.said(value.optional())?.flatten();
        Ok(value.map(|value| value.to_string()))
    }

    fn binding_by_case(&self, _: &str, _: Option<i64>) -> Result<Option<String>, Fault> {
        Ok(None)
    }

    fn last_anonymous(&self) -> Result<u32, Fault> {
        // The index returns the names that consist of `anon_` and digits. Names with more than nine digits come from
        // other tools and do not fit into u32.
        self.said(
            self.conn
                .prepare_cached(
                    "SELECT ifnull(max(CAST(substr(name, 6) AS INTEGER)), 0) FROM bindings
                     WHERE name GLOB 'anon_[0-9]*' AND substr(name, 6) NOT GLOB '*[^0-9]*'
                       AND length(name) <= 14",
                )
                .and_then(|mut statement| statement.query_row([], |row| row.get(0))),
        )
    }

    fn attachment(&self, path: &str) -> Result<bool, Fault> {
        let there = self.dir.look(path);
        there
            .map(|meta| meta.is_some())
            .map_err(|cause| fault::io(&self.dir.shown(path), "cannot be read", &cause))
    }

    fn agent(&self, name: &str) -> Result<Option<AgentFact>, Fault> {
        let row = self.said(
            self.conn
                .query_row(
                    "SELECT scope, memory IS NOT NULL FROM agents WHERE name = ?1",
                    [name],
                    |row| Ok((rows::text(row, 0)?, row.get::<_, bool>(1)?)),
                )
                .optional(),
        )?;
        let last_segment = self.said(self.conn.query_row(
            "SELECT ifnull(max(segment_number), 0) FROM agent_segments WHERE agent_name = ?1",
            [name],
            |row| row.get(0),
        ))?;
        Ok(row.map(|(scope, has_memory)| AgentFact {
            scope: AgentScope::parse(scope.as_deref().unwrap_or("execution")),
            has_memory,
            last_segment,
        }))
    }

    fn import(&self, alias: &str) -> Result<Option<ImportFact>, Fault> {
        let row = self.conn.query_row(
            "SELECT source_url, inputs_schema, outputs_schema FROM imports WHERE alias = ?1",
            [alias],
            |row| {
                let text = |at| rows::text(row, at).map(|text| text.map(|text| text.to_string()));
                Ok(ImportFact {
                    source_url: text(0)?,
                    inputs_schema: text(1)?,
                    outputs_schema: text(2)?,
                    nested: Vec::new(),
                })
            },
        );
        self.said(row.optional())
    }

    fn gates(&self) -> Result<Vec<Gate>, Fault> {
        let sql = format!(
            "SELECT {} FROM gates WHERE {} {}",
            rows::GATE,
            rows::GATE_OF_RUN,
            guard::by_coming(self.conn, "gates", false)
        );
        self.said(
            self.conn
                .prepare_cached(&sql)
                .and_then(|mut statement| rows::gates(statement.query([self.run])?)),
        )
    }

    fn gate(&self, id: &str) -> Result<Option<Gate>, Fault> {
        // If other runs have a gate of this id too, the run's own gate is taken.
        let sql = format!(
            "SELECT {} FROM gates WHERE id = ?2 AND {} LIMIT 1",
            rows::GATE,
            rows::GATE_OF_RUN_FIRST
        );
        self.said(
            self.conn
                .query_row(&sql, [self.run, id], rows::gate)
                .optional(),
        )
    }

    fn gate_elsewhere(&self, id: &str) -> Result<Option<String>, Fault> {
        let other = self.conn.query_row(
            "SELECT run_id FROM gates WHERE id = ?1 AND run_id IS NOT ?2",
            [id, self.run],
            |row| rows::text(row, 0),
        );
        let other = self.said(other.optional())?.flatten();
        Ok(other.map(|run| run.to_string()))
    }

    fn gate_events(&self, gate: &str) -> Result<Vec<AuditEvent>, Fault> {
        let events = || {
            let sql = format!(
                "SELECT {} FROM gate_audit_log
                 WHERE gate_id = ?1 AND run_id = ?2 AND event_type IS NOT 'viewed' ORDER BY id",
                rows::EVENT
            );
            let mut statement = self.conn.prepare_cached(&sql)?;
            rows::events(statement.query([gate, self.run])?)
        };
        self.said(events())
    }

    fn audit_rows(&self, each: &mut dyn FnMut(AuditEvent) -> ControlFlow<()>) -> Result<(), Fault> {
        self.said(self.audit(each))
    }

    fn lacks_log(&self) -> Result<bool, Fault> {
        // A database of agents, which has no run, has neither gates nor an audit log.
        if self.run.is_empty() {
            return Ok(false);
        }
        let asked = "SELECT EXISTS (SELECT 1 FROM gates WHERE run_id = ?1)
                     AND NOT EXISTS (SELECT 1 FROM gate_audit_log WHERE run_id = ?1)";
        let mut asked = match self.conn.prepare_cached(asked) {
            // Tables without these columns do not contain gates of Prosescope. A command that writes to these tables
            // reports the missing columns.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::Unknown) => {
                return Ok(false);
            }
            asked => self.said(asked)?,
        };
        self.said(asked.query_row([self.run], |row| row.get(0)))
    }

    fn audit_tail(&self) -> Result<AuditTail, Fault> {
        self.said(self.tail())
    }
}
