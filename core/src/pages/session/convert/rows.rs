//! Converts the statements and imports of a run, and the run's own row.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{Carry, ROWS, damaged, odd_keys, stamp, stamped, text};
use crate::model::Execution;
use crate::model::database::{self, Database, DecodeError, Row, Scan, Want, WantedRows};
use crate::model::schema;
use crate::read::decode::jsonl;
use crate::record::{Change, ExecutionRow, ImportRow, RunChange, WriteError};

/// The status of a run that goes on.
const RUNNING: &str = "running";

/// The texts of a statement's row, without parsing.
#[derive(Default)]
struct RawStatement {
    status: Option<String>,
    metadata: Option<String>,
}

impl Carry<'_, '_> {
    /// Converts statements, imports, gates, the audit log, and the run itself.
    pub(super) fn rows(&mut self) -> Result<(), WriteError> {
        let run = &self.session.run;
        self.executions()?;
        let mut changes: Vec<Change> = Vec::new();
        for import in &run.imports {
            // In a folder, an import without recorded facts needs no row: its nested run's folder is copied.
            let bare = import.source_url.is_none()
                && import.fetched.is_none()
                && import.inputs_schema.is_none()
                && import.outputs_schema.is_none();
            if self.to_folder && bare && import.nested.is_some() {
                continue;
            }
            changes.push(Change::Import(ImportRow {
                nested: None,
                alias: import.alias.to_string(),
                source_url: text(&import.source_url).unwrap_or_default(),
                fetched: stamp(import.fetched.as_ref(), self.to_folder),
                inputs_schema: text(&import.inputs_schema),
                outputs_schema: text(&import.outputs_schema),
            }));
        }
        changes.extend(self.gates());
        let mut audit = self.audit().into_iter();
        loop {
            let some: Vec<Change> = audit.by_ref().take(ROWS).collect();
            if some.is_empty() {
                break;
            }
            (self.each)(some)?;
        }
        let told = run
            .state_file
            .as_ref()
            .and_then(|file| file.status.as_ref());
        let status = match self.session.values.db {
            Some(_) => run.status.as_ref(),
            None => told.or(run.status.as_ref()),
        };
        let mut status = status.map(|status| status.word().to_owned());
        if !self.by_hand.rows.is_empty() {
            // The marks of the state file tell that the run goes on; the rows made of them do not.
            let marks = self.session.status();
            status = status.or_else(|| (marks == RUNNING).then(|| marks.to_owned()));
        }
        // The header of a folder's state file needs the time at which the run started.
        let began = run.started.as_ref().filter(|_| self.to_folder);
        if self.to_folder {
            // A new folder needs a status. The store removes this status again if the run records no status.
            status = status.or_else(|| Some(RUNNING.to_owned()));
        }
        changes.push(Change::Run(RunChange {
            status,
            updated: stamp(run.updated.as_ref().or(began), self.to_folder),
        }));
        (self.each)(changes)
    }

    fn executions(&mut self) -> Result<(), WriteError> {
        let session = self.session;
        let rows = &session.run.executions;
        if rows.is_empty() {
            let ended = session.ended();
            if !self.by_hand.rows.is_empty() {
                for some in self.by_hand.rows.chunks(ROWS) {
                    let rows = some.iter().cloned().map(Change::Execution);
                    (self.each)(rows.collect())?;
                }
                return Ok(());
            }
            if session.recorded_in_state_file() {
                let ran = ended.unwrap_or_else(|| "what ran".to_owned());
                let what = format!(
                    "{ran}: recorded only in this file, not in rows; the file is copied unchanged"
                );
                self.left("state.md", what);
            } else if session.run.log.is_none()
                && !self.to_folder
                && let Some(ended) = ended
            {
                let what = format!(
                    "{ended}: only the values of these statements show their end; the copy has the values, but no record of the statements"
                );
                self.left("bindings", what);
            }
            return Ok(());
        }
        let mut raw: BTreeMap<i64, RawStatement> = BTreeMap::new();
        match &session.values.db {
            Some(db) => raw_rows(db.db.as_ref(), &mut raw)
                .map_err(|error| damaged(&format!("execution: {error}")))?,
            None => self.raw_events(&mut raw),
        }
        let (mut changes, mut ids) = (Vec::new(), BTreeSet::new());
        let mut given = 0;
        for row in rows {
            if !ids.insert(row.id) {
                let what = "not copied: another row has the same id";
                self.left(format!("execution {}", row.id), what);
                continue;
            }
            let raw = raw.remove(&row.id).unwrap_or_default();
            let place = || format!("execution {}", row.id);
            let metadata = self.metadata(place, raw.metadata.as_deref());
            changes.push(Change::Execution(execution(
                row,
                raw.status,
                metadata,
                self.to_folder,
            )));
            // The store of a folder reads its whole log before each group. The groups double in size, so that the store
            // reads the log less often.
            let most = if self.to_folder {
                ROWS.max(given)
            } else {
                ROWS
            };
            if changes.len() >= most {
                given += changes.len();
                (self.each)(std::mem::take(&mut changes))?;
            }
        }
        if changes.is_empty() {
            return Ok(());
        }
        (self.each)(changes)
    }

    /// Reads the lines of `x_events.jsonl` as they were written.
    fn raw_events(&mut self, into: &mut BTreeMap<i64, RawStatement>) {
        let path = format!("{}x_events.jsonl", self.session.root);
        let source = self.session.values.source.as_ref();
        let bytes = source.file(&path).and_then(|file| {
            let len = usize::try_from(file.len).ok()?;
            source.read(&path, 0, len).ok()
        });
        let mut odd = Vec::new();
        let _ = jsonl::lines(
            &String::from_utf8_lossy(&bytes.unwrap_or_default()),
            |number, object| {
                let id = object.get("id").and_then(jsonl::integer).unwrap_or(number);
                let get = |key: &str| text(&object.get(key).and_then(jsonl::text));
                let place = format!("x_events.jsonl, row {id}");
                let keys: BTreeSet<&String> = object.keys().collect();
                odd.extend(odd_keys(place, keys.into_iter(), schema::EXECUTION, &[]));
                let raw = RawStatement {
                    status: get("status"),
                    metadata: get("metadata"),
                };
                into.insert(id, raw);
                Ok(())
            },
        );
        self.left.extend(odd);
    }
}

fn raw_rows(db: &dyn Database, into: &mut BTreeMap<i64, RawStatement>) -> Result<(), DecodeError> {
    let scan = Scan {
        table: &db.table(schema::EXECUTION)?,
        wants: &["id", "status", "metadata"].map(|column| Want::of(column, u32::MAX)),
        rows: WantedRows::All,
    };
    let text =
        |row: &dyn Row, i| Ok::<_, DecodeError>(row.cell(i)?.value.lossy().map(Cow::into_owned));
    let mut raw = |row: &dyn Row| -> Result<(), DecodeError> {
        // A row whose id is not a number is skipped, because no statement has such an id.
        if let database::Value::Integer(id) = row.cell(0)?.value {
            let (status, metadata) = (text(row, 1)?, text(row, 2)?);
            into.insert(id, RawStatement { status, metadata });
        }
        Ok(())
    };
    let mut read = Ok(());
    db.scan(&scan, &mut |row| {
        read = raw(row);
        read.is_ok()
    })?;
    read
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
        started: stamped(row.started.as_ref(), to_folder),
        completed: stamped(row.completed.as_ref(), to_folder),
        error: text(&row.error),
        parent: row.parent,
        metadata,
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::pages::session::{Options, Session};
    use crate::read::sqlite::MemorySource;

    /// A hand-written folder may number a call as it likes; the rows of its copy are in the order of the events.
    #[test]
    fn a_frame_of_a_hand_written_folder_gets_the_number_of_its_row() {
        let program = "block work(n):\n  let x = session \"work\"\ndo work(1)\nsession \"end\"\n";
        let state = format!(
            "# Execution State\n\nrun: r\nstatus: running\n\n## Execution Trace\n\n```prose\n{}```\n",
            program
                .replace("do work(1)", "do work(1)  # (complete)")
                .replace("\"end\"", "\"end\"  # <-- EXECUTING")
        );
        let binding = "# x\n\nkind: let\nexecution_id: 7\n\n---\n\nvalue\n";
        let files = [
            ("program.prose", program),
            ("state.md", &state),
            ("bindings/x__7.md", binding),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        let source = MemorySource::new("r", files);
        let session = Session::open(Rc::new(source), "", &Options::default()).unwrap();
        let (mut frames, mut open, mut value) = (Vec::new(), Vec::new(), None);
        let mut each = |changes: Vec<Change>| {
            for change in changes {
                match change {
                    Change::Execution(row) if row.metadata.contains_key("block") => {
                        frames.push((row.id, row.status));
                    }
                    Change::Execution(row) if row.status == "executing" => open.push(row.text),
                    Change::Binding(row) => value = row.execution_id,
                    _ => {}
                }
            }
            Ok(())
        };
        session.carry(false, &mut each).unwrap();
        assert_eq!(frames.first().map(|(_, status)| &**status), Some("started"));
        assert_eq!(value, frames.first().map(|(id, _)| *id));
        assert_eq!(open, ["session \"end\""]);
    }

    #[test]
    fn a_folder_takes_rows_in_lots_that_double() {
        let mut conn = rusqlite::Connection::open_in_memory().unwrap();
        conn.execute_batch(schema::STATE_SQL).unwrap();
        conn.execute_batch(
            "INSERT INTO run (id) VALUES ('r');
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 45000)
             INSERT INTO execution (id, statement_index, status, statement_text)
               SELECT i, 1, 'completed', 'session \"A\"' FROM n",
        )
        .unwrap();
        let bytes = conn.serialize("main").unwrap().to_vec();
        let source = MemorySource::new("run", [("state.db".to_owned(), bytes)]);
        let session = Session::open(Rc::new(source), "", &Options::default()).unwrap();
        for (to_folder, expected) in [
            (true, &[10_000, 10_000, 20_000, 5_000][..]),
            (false, &[10_000, 10_000, 10_000, 10_000, 5_000]),
        ] {
            let mut lots = Vec::new();
            let mut each = |changes: Vec<Change>| {
                let rows = changes.iter();
                lots.push(rows.filter(|c| matches!(c, Change::Execution(_))).count());
                Ok(())
            };
            session.carry(to_folder, &mut each).unwrap();
            lots.retain(|rows| *rows > 0);
            assert_eq!(lots, expected);
        }
    }
}
