//! Builds the lines of a list for a store that contains many runs. The table of runs and the pending gates are scanned
//! once each, however many runs there are.

use std::collections::BTreeMap;

use super::Options;
use super::list::ListedRun;
use super::replay::Replay;
use super::summary::{line_of, says_its_end};
use super::survey::SurveyPlace;
use crate::model::database::{
    Database, DecodeError, LookupKey, Row, Scan, Snapshot, Want, WantedRows,
};
use crate::model::issue::Issue;
use crate::model::schema::{self, postgres_name};
use crate::model::source::Source;
use crate::model::time::Stamp;
use crate::model::{Form, GateStatus, Program, Run, RunStatus};
use crate::pages::view::{Counts, RunSummary};
use crate::program;
use crate::read::decode::rows;
use crate::trace;

/// The rows of the store's table of runs, by id.
pub(super) struct RunRows(BTreeMap<String, StoredHead>);

struct StoredHead {
    run: Run,
    pending_gates: u32,
}

impl RunRows {
    /// Reads the table of runs. `None` if each run has a store of its own, or if the table cannot be read; opening each
    /// run then gives the reason.
    pub(super) fn of(source: &dyn Source, options: &Options) -> Option<RunRows> {
        let db = source.all_runs(&options.limits).ok()??;
        RunRows::read(db.as_ref()).ok()
    }

    fn read(db: &dyn Database) -> Result<RunRows, DecodeError> {
        let _snapshot = Snapshot::of(db);
        let receipts = db.table(schema::RECEIPT).is_ok();
        let mut heads = BTreeMap::new();
        let columns = schema::table_spec(schema::RUN).map_or(&[][..], |spec| spec.columns);
        scan(db, schema::RUN, columns, WantedRows::All, &mut |cells| {
            let text = |column| cells.text(column);
            let stamp = |column| text(column).map(|at| Stamp::parse(&at));
            let run = Run {
                id: text("id").unwrap_or_default().into(),
                form: Form::Postgres { receipts },
                program: Program {
                    path: text("program_path").map(Into::into),
                    ..Program::default()
                },
                started: stamp("started_at"),
                updated: stamp("updated_at"),
                status: text("status").map(|status| RunStatus::parse(&status)),
                ..Run::default()
            };
            let head = StoredHead {
                run,
                pending_gates: 0,
            };
            heads.insert(head.run.id.to_string(), head);
        })?;
        let pending = WantedRows::Holding("status", LookupKey::Text(GateStatus::Pending.word()));
        let columns = [Want::short("run_id"), Want::short("status")];
        let gates = scan(db, schema::GATES, &columns, pending, &mut |cells| {
            let is_pending = cells.text("status").as_deref() == Some(GateStatus::Pending.word());
            let head = cells.text("run_id").and_then(|run| heads.get_mut(&run));
            if let Some(head) = head.filter(|_| is_pending) {
                head.pending_gates += 1;
            }
        });
        match gates {
            Ok(()) | Err(DecodeError::NotFound(_)) => Ok(RunRows(heads)),
            Err(error) => Err(error),
        }
    }

    /// Returns a reader of the rows of all unfinished runs, which reads each table once; `None` if the store cannot be
    /// read.
    pub(super) fn rest(&self, source: &dyn Source, options: &Options) -> Option<Replay> {
        let open = self.0.iter().filter(|(_, head)| !is_enough(&head.run));
        let ids: Vec<&str> = open.map(|(id, _)| id.as_str()).collect();
        let db = source.some_runs(&ids, &options.limits).ok()??;
        Some(Replay::of(db))
    }

    /// Returns the line of a run; `None` if the table of runs has no row for the run.
    pub(super) fn line(&self, found: &SurveyPlace, options: &Options) -> Option<ListedRun> {
        let StoredHead { run, pending_gates } = self.0.get(&found.name)?;
        let trace = trace::fold(run, None, options.now);
        let summary = RunSummary {
            name: found.name.clone(),
            pending_gates: *pending_gates,
            head_only: Some("statements were not read for this line of the list".to_owned()),
            ..line_of(run, &trace, &found.place)
        };
        Some(ListedRun {
            summary,
            is_whole: is_enough(run),
        })
    }
}

/// Returns whether a run's own row is enough for its line. The state of an unfinished run follows from rows of other
/// tables, and receipts count more than the row.
fn is_enough(run: &Run) -> bool {
    says_its_end(run) && !run.form.has_nodes()
}

/// Returns the line of a run from its rows; `None` if the rows cannot be read. Opening the run then gives the reason.
pub(super) fn by_rows(rows: &Replay, found: &SurveyPlace, options: &Options) -> Option<RunSummary> {
    let head = rows::head(
        &rows.run(&found.name),
        &postgres_name(&found.name),
        &found.name,
        |_| u64::MAX,
    )
    .ok()?;
    let run = head.run;
    let is_unread = |issue: &Issue| {
        matches!(
            issue.rule.as_str(),
            "reading-failed" | "reading-stopped" | "table-damaged" | "no-run-row"
        )
    };
    if run.issues.iter().any(is_unread) {
        return None;
    }
    let listing = run.program.source.as_deref().map(program::scan);
    let trace = trace::fold(&run, listing.as_ref(), options.now);
    Some(RunSummary {
        name: found.name.clone(),
        issues: Counts::of(&run.issues),
        head_only: Some("values were not read for this line of the list".to_owned()),
        ..line_of(&run, &trace, &found.place)
    })
}

/// The cells of a row, by column name.
struct NamedCells<'a> {
    row: &'a dyn Row,
    columns: &'a [Want<'a>],
}

impl NamedCells<'_> {
    fn text(&self, column: &str) -> Option<String> {
        let at = self.columns.iter().position(|want| want.column == column)?;
        let cell = self.row.cell(at).ok()?;
        cell.value.lossy().map(|text| text.into_owned())
    }
}

fn scan(
    db: &dyn Database,
    table: &str,
    columns: &[Want<'_>],
    rows: WantedRows<'_>,
    each: &mut dyn FnMut(&NamedCells<'_>),
) -> Result<(), DecodeError> {
    let scan = Scan {
        table: &db.table(table)?,
        wants: columns,
        rows,
    };
    db.scan(&scan, &mut |row| {
        each(&NamedCells { row, columns });
        true
    })
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::model::database::Limits;
    use crate::model::schema::STATE_SQL;
    use crate::pages::session::FoundKind;
    use crate::read::sqlite::MemorySource;

    #[test]
    fn a_database_of_several_runs_tells_what_a_list_says_of_each() {
        let mut conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(STATE_SQL).unwrap();
        conn.execute_batch(
            "INSERT INTO run (id, program_path, status, started_at, updated_at) VALUES
               ('a', 'x.prose', 'completed', '2026-01-15 10:00:00', '2026-01-15 10:05:00'),
               ('b', 'y.prose', 'running', '2026-01-16 10:00:00', '2026-01-16 10:00:01'),
               ('c', NULL, 'completed', '2026-01-17 10:00:00', '2026-01-17 10:00:00');
             INSERT INTO execution (id, statement_text, status) VALUES (1, 'session \"A\"', 'executing');
             INSERT INTO gates (id, run_id, execution_id, status) VALUES
               ('g', 'b', 1, 'pending'), ('h', 'b', 1, 'approved'), ('i', 'b', 1, 'pending');",
        )
        .unwrap();
        let bytes = conn.serialize("main").unwrap().to_vec();
        let source = MemorySource::new("several", [("state.db".to_owned(), bytes)]);
        let db = source.database("state.db", &Limits::default()).unwrap();
        let heads = RunRows::read(db.as_ref()).unwrap();
        let line = |id: &str| {
            let found = SurveyPlace {
                kind: FoundKind::RunFolder,
                place: format!("runs/{id}"),
                name: id.to_owned(),
            };
            let line = heads.line(&found, &Options::default())?;
            let run = line.summary;
            let program = run.program.unwrap_or_default();
            let took = run.duration.unwrap_or_default();
            let words = format!("{} {program} {} {took}", run.status, run.pending_gates);
            Some((words, line.is_whole))
        };
        assert_eq!(line("a"), Some(("completed x.prose 0 5m".to_owned(), true)));
        assert!(line("b").unwrap().0.contains(" y.prose 2 "));
        // The row of run `c` was not updated after the start, so the run's other rows determine the duration.
        assert!(!line("b").unwrap().1 && !line("c").unwrap().1);
        assert_eq!(line("d"), None);
    }

    /// In a database of several runs, the list's line of each run contains the first failure of that run only.
    #[test]
    fn a_run_that_did_not_end_says_what_failed_first() {
        let mut conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(STATE_SQL).unwrap();
        conn.execute_batch(
            "ALTER TABLE execution ADD COLUMN run_id TEXT;
             INSERT INTO run (id, status, started_at) VALUES
               ('a', 'running', '2026-01-15 10:00:00'), ('b', 'running', '2026-01-15 10:00:00');
             INSERT INTO execution (id, run_id, statement_index, statement_text, status, error_message) VALUES
               (1, 'a', 1, 'session \"A\"', 'failed', 'no room left'),
               (2, 'b', 1, 'session \"A\"', 'executing', NULL);",
        )
        .unwrap();
        let bytes = conn.serialize("main").unwrap().to_vec();
        let source = MemorySource::new("several", [("state.db".to_owned(), bytes)]);
        let db = source.database("state.db", &Limits::default()).unwrap();
        let rows = Replay::of(db);
        let failure = |id: &str| {
            let found = SurveyPlace {
                kind: FoundKind::RunFolder,
                place: format!("runs/{id}"),
                name: id.to_owned(),
            };
            by_rows(&rows, &found, &Options::default()).unwrap().failure
        };
        assert_eq!(failure("a").as_deref(), Some("no room left"));
        assert_eq!(failure("b"), None);
    }
}
