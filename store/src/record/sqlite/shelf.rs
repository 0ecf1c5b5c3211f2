use std::path::Path;

use prosescope_core::model::{AgentScope, Binding};
use prosescope_core::record::{AgentFact, Fault, Shelf};
use rusqlite::{Connection, OptionalExtension};

use super::rows;
use crate::record::fault;
use crate::record::reading::Reading;

/// The [`Shelf`] of a database, asked inside the transaction of the command.
pub(super) struct SqliteShelf<'a> {
    pub(super) conn: &'a Connection,
    pub(super) path: &'a Path,
    pub(super) run: &'a str,
    /// The run as it was read; `None` in a database of agents.
    pub(super) reading: Option<&'a Reading>,
}

impl SqliteShelf<'_> {
    fn said<T>(&self, answer: rusqlite::Result<T>) -> Result<T, Fault> {
        answer.map_err(|error| fault::sqlite(self.path, &error))
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
        let counted = if counts {
            self.conn
                .prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = ?1")?
                .query_row([table], |row| row.get::<_, Option<i64>>(0))
                .optional()?
                .flatten()
        } else {
            None
        };
        Ok(highest.max(counted.unwrap_or(0)).saturating_add(1))
    }
}

impl Shelf for SqliteShelf<'_> {
    fn next_execution(&self) -> Result<i64, Fault> {
        self.said(self.next("execution"))
    }

    fn next_audit(&self) -> Result<i64, Fault> {
        self.said(self.next("gate_audit_log"))
    }

    fn whole(&self, binding: &Binding) -> Result<Binding, Fault> {
        let read = self.reading.map(|reading| reading.session().whole(binding));
        Ok(read.unwrap_or_else(|| binding.clone()))
    }

    fn short_text(&self, binding: &Binding, most: usize) -> Result<Option<String>, Fault> {
        self.reading
            .map_or(Ok(None), |reading| reading.short_text(binding, most))
    }

    fn attachment(&self, path: &str) -> Result<bool, Fault> {
        self.reading
            .map_or(Ok(false), |reading| reading.attachment(path))
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

    fn gate_elsewhere(&self, id: &str) -> Result<Option<String>, Fault> {
        let other = self.conn.query_row(
            "SELECT run_id FROM gates WHERE id = ?1 AND run_id IS NOT ?2",
            [id, self.run],
            |row| rows::text(row, 0),
        );
        let other = self.said(other.optional())?.flatten();
        Ok(other.map(|run| run.to_string()))
    }
}
