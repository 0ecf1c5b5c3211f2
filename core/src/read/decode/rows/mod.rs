//! Decodes the rows of a [`Database`] into a [`Run`]. The database is a `state.db`, an `agents.db` or another store.
//!
//! ```text
//! Source::database ──► Database ──► decode ──► Run: rows, lengths of values, issues
//!                         │
//!                         └─► later, for opened values and rows: value_bytes, binding_tail, row, table_rows
//! ```
//!
//! A database's schema may differ from OpenProse's: missing columns read as empty, and unknown tables are listed in
//! [`Run::tables`]. Decoding reads the length of a large value, but not its content (errata R8).

mod agents;
mod bindings;
pub(crate) mod cells;
mod events;
mod execution;
mod gates;
mod history;
pub(crate) mod meta;
mod named;
mod notes;
mod page;
mod reader;
mod receipt;
mod run;

pub use agents::{agent_tail, segment};
pub use bindings::{binding_tail, binding_tails};
pub use execution::dialect_of;
pub use history::{Version, Versions, all_binding_versions, all_memory_versions, version_counts};
pub use meta::meta_of;
pub use named::{NamedBindings, bindings_named, has_execution};
pub use page::{execution_row, row, table_rows};
pub use run::{RunEntry, runs, which_run};

use crate::model::database::FoundTable;
use crate::model::database::{CellAt, Database, DecodeError, Snapshot};
use crate::model::issue::Issue;
use crate::model::schema;
use crate::model::{Form, Run, TableInfo, ValueAt};
use reader::RowsReader;
pub(crate) use reader::whole_characters;

/// A decoded database.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodedRun {
    /// The run, including the issues found.
    pub run: Run,
    /// Ids of other runs in the same file, sorted; pass one to [`decode`] to read that run.
    pub other_runs: Vec<String>,
}

/// Decodes a database into its run, or into its agents if it has no run.
///
/// `name` is the database's path inside its source, for issues and for [`crate::model::Agent::store`]. `wanted` is
/// the id of one of several runs; without it, [`which_run`] chooses.
///
/// # Errors
/// If the database cannot be read at all, contains none of OpenProse's tables, or lacks the requested run. Every
/// other defect is an issue.
pub fn decode(
    db: &dyn Database,
    name: &str,
    wanted: Option<&str>,
) -> Result<DecodedRun, DecodeError> {
    decode_in(db, name, "", wanted)
}

/// Decodes a database like [`decode`], in a folder whose name is known. Of several runs, [`which_run`] prefers the run
/// with the folder's name.
///
/// # Errors
/// The same as [`decode`].
pub fn decode_in(
    db: &dyn Database,
    name: &str,
    folder: &str,
    wanted: Option<&str>,
) -> Result<DecodedRun, DecodeError> {
    // Without a snapshot, a concurrent writer could change one table after another table was read.
    let snapshot = Snapshot::of(db);
    let (mut reader, mut run) = begin(db, name)?;
    reader.notes.extend(if run.form == Form::Agents {
        schema::check_agents(&reader.tables)
    } else {
        schema::check(&reader.tables)
    });
    reader.notes.extend(db.notes());

    let others = run::read_run(&mut reader, &mut run, folder, wanted)?;
    // Bindings are read before executions for speed. Where values and executions alternate in the file, the scan of
    // the bindings reads all pages. A source that caches pages then has the pages of the executions, too.
    run.bindings = bindings::read(&mut reader);
    let stopped = reader.failed.take();
    executions(&mut reader, &mut run);
    if matches!(run.form, Form::Postgres { .. }) {
        run.events = events::read(&mut reader);
    }
    // After a failed scan, an execution may be missing only because its row was not read.
    if reader.failed.is_none() {
        bindings::check_frames(&run.bindings, &run.executions, &mut reader.notes);
    }
    reader.failed = reader.failed.take().or(stopped);
    run.agents = agents::read(&mut reader, name);
    run.imports = run::read_imports(&mut reader);
    let runs = gates::RunIds {
        chosen: &run.id,
        others: &others,
    };
    (run.gates, run.audit) = (
        gates::read_gates(&mut reader, &runs),
        gates::read_audit(&mut reader, &runs),
    );
    run.tables = tables(&reader);
    drop(snapshot);
    if reader.texts.shortened > 0 {
        reader.notes.add(
            Issue::warning(
                "long-text",
                format!(
                    "the texts of this run do not fit in memory; {} texts are cut to their first 200 bytes",
                    reader.texts.shortened
                ),
            )
            .hint("To read a whole text, open its row under files and tables."),
        );
    }
    run.issues = reader.notes.finish();
    Ok(DecodedRun {
        run,
        other_runs: others.into_iter().collect(),
    })
}

/// The parts of a run that one line of a list of runs needs.
#[derive(Debug, Clone, PartialEq)]
pub struct ListHead {
    /// The run without bindings, agents, imports, audit log and tables; also without executions if those were left
    /// out.
    pub run: Run,
    /// Approximate number of `execution` rows left out; `None` if all were read.
    pub left_out: Option<u64>,
}

/// Decodes a run's row, its gates and its executions. Nothing else is read, so a list of runs is fast even if a file
/// is large.
///
/// `folder` is the name of the database's folder. `most` receives the decoded run row and returns the maximum number
/// of executions to read. If the run has more executions, none is read.
///
/// # Errors
/// The same as [`decode`].
pub fn head(
    db: &dyn Database,
    name: &str,
    folder: &str,
    most: impl FnOnce(&Run) -> u64,
) -> Result<ListHead, DecodeError> {
    let snapshot = Snapshot::of(db);
    let (mut reader, mut run) = begin(db, name)?;
    let others = run::read_run(&mut reader, &mut run, folder, None)?;
    let rows = reader.about(schema::EXECUTION);
    let left_out = (rows > most(&run)).then_some(rows);
    if left_out.is_none() {
        executions(&mut reader, &mut run);
    }
    let runs = gates::RunIds {
        chosen: &run.id,
        others: &others,
    };
    run.gates = gates::read_gates(&mut reader, &runs);
    drop(snapshot);
    run.issues = reader.notes.finish();
    Ok(ListHead { run, left_out })
}

/// Decodes a run's row with its program, and the agents called `name` without their segments. Executions and bindings
/// are not read. `folder` is the name of the database's folder.
///
/// # Errors
/// The same as [`decode`].
pub fn agents_named(
    db: &dyn Database,
    store: &str,
    folder: &str,
    name: &str,
) -> Result<Run, DecodeError> {
    let snapshot = Snapshot::of(db);
    let (mut reader, mut run) = begin(db, store)?;
    if run.form != Form::Agents {
        run::read_run(&mut reader, &mut run, folder, None)?;
    }
    run.agents = agents::read_named(&mut reader, store, name);
    drop(snapshot);
    run.issues = reader.notes.finish();
    Ok(run)
}

fn begin<'d>(db: &'d dyn Database, name: &str) -> Result<(RowsReader<'d>, Run), DecodeError> {
    let reader = RowsReader::new(db, name)?;
    let form = match form(&reader.tables)? {
        Form::Sqlite { .. } if db.holds_many_runs() => Form::Postgres { receipts: false },
        form => form,
    };
    let run = Run {
        form,
        ..Run::default()
    };
    Ok((reader, run))
}

fn executions(reader: &mut RowsReader<'_>, run: &mut Run) {
    let (executions, dialect) = execution::read(reader);
    run.executions = executions;
    if let Form::Sqlite { dialect: found } = &mut run.form {
        *found = dialect;
    }
    receipt::read(reader, run);
}

/// Programs whose databases are often taken for a run's database, each with tables that together identify it. The
/// tables are from the programs' own sources: LangGraph's `SqliteSaver` and `PostgresSaver`, and the session store of
/// Hermes Agent, whose file is also called `state.db`.
const OTHERS: &[(&str, &[&str])] = &[
    ("LangGraph (checkpoints)", &["checkpoints", "writes"]),
    (
        "LangGraph (checkpoints)",
        &["checkpoints", "checkpoint_writes"],
    ),
    (
        "Hermes Agent (sessions)",
        &["sessions", "messages", "schema_version"],
    ),
];

/// Returns whether a database contains a run or only agents; an error if it has none of OpenProse's tables.
fn form(tables: &[FoundTable]) -> Result<Form, DecodeError> {
    let has = |name: &str| {
        tables
            .iter()
            .any(|t| t.is_table() && t.info.name.eq_ignore_ascii_case(name))
    };
    let of_agents = [schema::AGENTS, schema::AGENT_SEGMENTS];
    let of_runs = schema::TABLES.iter().map(|t| t.name);
    if of_runs.filter(|t| !of_agents.contains(t)).any(has) {
        return Ok(Form::Sqlite {
            dialect: crate::model::Dialect::Undecided,
        });
    }
    if of_agents.into_iter().any(has) {
        return Ok(Form::Agents);
    }
    let theirs = |(_, tables): &&(&str, &[&str])| tables.iter().all(|table| has(table));
    if let Some((program, _)) = OTHERS.iter().find(theirs) {
        return Err(DecodeError::NoTables(format!(
            "it is a database of {program}"
        )));
    }
    let names: Vec<String> = tables
        .iter()
        .take(8)
        .map(|t| match t.info.kind.as_str() {
            "table" => t.info.name.clone(),
            kind => format!("{} ({kind})", t.info.name),
        })
        .collect();
    Err(DecodeError::NoTables(match tables.len() {
        0 => "there are no tables at all".into(),
        n if n > names.len() => format!("there are {n} tables, among them {}", names.join(", ")),
        _ => format!("the only tables are {}", names.join(", ")),
    }))
}

/// Lists all tables with their numbers of rows. A number is `None` where counting would take too long.
fn tables(reader: &RowsReader<'_>) -> Vec<TableInfo> {
    // In a damaged or hostile file, tables may share pages, which are counted anew for each table. The limit is
    // therefore for all tables together.
    const MOST: u64 = 500_000;
    let mut left = MOST;
    let info = |found: &FoundTable| {
        let mut info = found.info.clone();
        let walked = schema::table_spec(&info.name).and_then(|t| reader.counts.get(t.name));
        info.rows = match walked {
            Some(rows) => Some(*rows),
            None if found.is_table() && left > 0 => {
                let rows = reader.db.count(found, left);
                left = left.saturating_sub(rows.unwrap_or(MOST / 4));
                rows
            }
            None => None,
        };
        info
    };
    reader.tables.iter().map(info).collect()
}

/// Returns at most `len` bytes of a value from `offset`; fewer at the value's end. Numbers are returned as text.
///
/// The column is `value` in `bindings` and `memory` in `agents`.
///
/// # Errors
/// If the row does not exist or cannot be read.
pub fn value_bytes(
    db: &dyn Database,
    table: &str,
    column: &str,
    value: &ValueAt,
    offset: u64,
    len: usize,
) -> Result<Vec<u8>, DecodeError> {
    let mut bytes = Vec::new();
    let end = offset.saturating_add(len as u64);
    db.pieces(&cell_of(table, column, value)?, offset..end, &mut |piece| {
        bytes.extend_from_slice(piece);
        true
    })?;
    Ok(bytes)
}

/// Passes a value to `each` in pieces from start to end, with only one piece in memory.
///
/// For values of hundreds of megabytes this is much faster than [`value_bytes`] in a loop, because the store seeks
/// only once.
///
/// # Errors
/// If the row does not exist or cannot be read. `each` stops the reading by returning `false`.
pub fn value_pieces(
    db: &dyn Database,
    table: &str,
    column: &str,
    value: &ValueAt,
    each: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<(), DecodeError> {
    db.pieces(&cell_of(table, column, value)?, 0..u64::MAX, each)
}

fn cell_of<'a>(
    table: &'a str,
    column: &'a str,
    value: &ValueAt,
) -> Result<CellAt<'a>, DecodeError> {
    let ValueAt::Row { rowid, stored, .. } = value else {
        return Err(DecodeError::NotFound("value in the database".into()));
    };
    Ok(CellAt {
        table,
        column,
        at: *rowid,
        stored: Some(*stored),
    })
}
