//! A `state.db` or an `agents.db`, through a connection that the shell opened, or from bytes.
//!
//! ```text
//! shell opens ──► guard ──► decode ──► Run: rows, lengths of values, issues
//!                             │
//!                             └─► later, for what a person opens: value_bytes, binding_tail, row, table_rows
//! ```
//!
//! Nothing is assumed of the schema: tables and columns are discovered, what is missing reads as empty, what no
//! document lists is listed in [`Run::tables`]. A list never reads a large value (build.md, "Lazy lists").
//!
//! ```
//! use prosescope_core::decode::sqlite;
//! # let path = tempfile::NamedTempFile::new().unwrap();
//! # let made = rusqlite::Connection::open(path.path()).unwrap();
//! # made.execute_batch(prosescope_core::schema::STATE_SQL).unwrap();
//! # made.execute_batch("INSERT INTO run(id) VALUES ('r1'); INSERT INTO bindings(name, value) VALUES ('a', 'text')").unwrap();
//! # let bytes = std::fs::read(path.path()).unwrap();
//! let mut conn = sqlite::from_bytes(&bytes)?;
//! sqlite::guard(&mut conn, sqlite::Guard::default())?;
//! let run = sqlite::decode(&conn, "state.db", None)?.run;
//! assert_eq!(&*run.id, "r1");
//! let value = &run.bindings[0].value;
//! assert_eq!(sqlite::value_bytes(&conn, "bindings", "value", value, 0, 100)?, b"text");
//! # Ok::<(), sqlite::DecodeError>(())
//! ```

mod agents;
mod bindings;
mod bytes;
pub(crate) mod cells;
mod error;
mod execution;
mod foreign;
mod gates;
mod guard;
mod header;
mod history;
mod intact;
pub(crate) mod meta;
mod named;
mod notes;
mod read;
mod run_rows;
mod scan;
mod shape;
mod wal;

use rusqlite::Connection;

pub use agents::{AGENT_EAGER, agent_tail, segment};
pub use bindings::{binding_tail, binding_tails};
pub use bytes::{from_bytes, from_bytes_with_wal};
pub use error::DecodeError;
pub use execution::dialect_of;
pub use foreign::{Unfit, fit_for_writing, foreign_triggers, odd_schema, runs_foreign};
pub use guard::{DEADLINE, Guard, Stop, exclusive, guard, probe, snapshot};
pub use header::{HEAD, Header, wal_missing};
pub use history::{
    Version, Versions, all_binding_versions, all_memory_versions, binding_versions,
    memory_versions, version_counts,
};
pub use intact::quick_check;
pub use meta::meta_of;
pub use named::{Named, bindings_named};
pub use read::{cell_bytes, execution_row, row, table_rows, value_bytes, value_pieces};

use crate::issue::Issue;
use crate::model::{Form, Run, TableInfo};
use crate::schema::{self, Found};
use scan::Reader;
use shape::quoted;

/// What a database was decoded into.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The run; what was odd is in its issues.
    pub run: Run,
    /// Ids of other runs in the same file, sorted; [`decode`] reads one when it is named.
    pub other_runs: Vec<String>,
}

/// Decodes a database that [`guard`] guards: the run in it, or the agents.
///
/// `name` is the database's path inside its source, for issues and for [`crate::model::Agent::store`]. `wanted`
/// is the id of one run of several; without it the one that started last is read.
///
/// # Errors
/// When it cannot be read at all, holds none of the documents' tables, or not the run that was asked for.
/// Everything else is an issue.
pub fn decode(conn: &Connection, name: &str, wanted: Option<&str>) -> Result<Decoded, DecodeError> {
    // One snapshot for all tables: a writer may be busy beside us. Within a caller's transaction there is one.
    let snapshot = conn.unchecked_transaction().ok();
    let mut reader = Reader::new(conn, name)?;
    let mut run = Run {
        form: form(&reader.shape.tables)?,
        ..Run::default()
    };
    reader.notes.extend(if run.form == Form::Agents {
        schema::check_agents(&reader.shape.tables)
    } else {
        schema::check(&reader.shape.tables)
    });
    if !reader.shape.utf8 {
        reader.notes.add(
            Issue::info("utf16", "the database stores its texts as UTF-16")
                .hint("Values are read whole to know their lengths; opening is slower."),
        );
    }

    let others = run_rows::read_run(&mut reader, &mut run, wanted)?;
    let (executions, dialect) = execution::read(&mut reader);
    run.executions = executions;
    if run.form != Form::Agents {
        run.form = Form::Sqlite { dialect };
    }
    run.bindings = bindings::read(&mut reader, &run.executions);
    run.agents = agents::read(&mut reader, name);
    run.imports = run_rows::read_imports(&mut reader);
    let id = std::sync::Arc::clone(&run.id);
    let runs = gates::Runs {
        chosen: &id,
        others: &others,
    };
    run.gates = gates::read_gates(&mut reader, &runs);
    run.audit = gates::read_audit(&mut reader, &runs);
    run.tables = tables(&reader)?;
    drop(snapshot);
    if reader.texts.shortened > 0 {
        reader.notes.add(
            Issue::warning(
                "long-text",
                format!(
                    "the texts of this run take more than can be held; {} are shown in their first 200 bytes",
                    reader.texts.shortened
                ),
            )
            .hint("Open the row under files and tables to read one whole."),
        );
    }
    run.issues = reader.notes.finish();
    Ok(Decoded {
        run,
        other_runs: others.into_iter().collect(),
    })
}

/// A run's head: enough for a line in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// The run without bindings, agents, imports, audit log and tables; without executions where they are left out.
    pub run: Run,
    /// About how many rows of `execution` were left out; `None`: all were read.
    pub left_out: Option<u64>,
}

/// Decodes the head of a run's database that [`guard`] guards: its run row, its gates, and its executions where they
/// are no more than `most` says of the run row. Its values and lists are not touched, however large the file is.
///
/// # Errors
/// As [`decode`].
pub fn head(
    conn: &Connection,
    name: &str,
    most: impl FnOnce(&Run) -> u64,
) -> Result<Head, DecodeError> {
    let snapshot = conn.unchecked_transaction().ok();
    let mut reader = Reader::new(conn, name)?;
    let mut run = Run {
        form: form(&reader.shape.tables)?,
        ..Run::default()
    };
    let others = run_rows::read_run(&mut reader, &mut run, None)?;
    let rows = reader.span(schema::EXECUTION);
    let left_out = (rows > most(&run)).then_some(rows);
    if left_out.is_none() {
        let (executions, dialect) = execution::read(&mut reader);
        run.executions = executions;
        if run.form != Form::Agents {
            run.form = Form::Sqlite { dialect };
        }
    }
    let id = std::sync::Arc::clone(&run.id);
    let runs = gates::Runs {
        chosen: &id,
        others: &others,
    };
    run.gates = gates::read_gates(&mut reader, &runs);
    drop(snapshot);
    run.issues = reader.notes.finish();
    Ok(Head { run, left_out })
}

/// Decodes what is known of one agent in a database that [`guard`] guards: the run's own row, with its program, and the
/// agents of that name without their segments. What ran and what was bound is not touched.
///
/// # Errors
/// As [`decode`].
pub fn agents_named(conn: &Connection, store: &str, name: &str) -> Result<Run, DecodeError> {
    let snapshot = conn.unchecked_transaction().ok();
    let mut reader = Reader::new(conn, store)?;
    let mut run = Run {
        form: form(&reader.shape.tables)?,
        ..Run::default()
    };
    if run.form != Form::Agents {
        run_rows::read_run(&mut reader, &mut run, None)?;
    }
    run.agents = agents::read_named(&mut reader, store, name);
    drop(snapshot);
    run.issues = reader.notes.finish();
    Ok(run)
}

/// Tells a run's database from one of agents only, and from somebody else's.
fn form(tables: &[Found]) -> Result<Form, DecodeError> {
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
    let names: Vec<String> = tables
        .iter()
        .take(8)
        .map(|t| match t.info.kind.as_str() {
            "table" => t.info.name.clone(),
            kind => format!("{} ({kind})", t.info.name),
        })
        .collect();
    Err(DecodeError::NoTables(match tables.len() {
        0 => "it has no tables at all".into(),
        n if n > names.len() => format!("it has {n} tables, among them {}", names.join(", ")),
        _ => format!("it has the tables {}", names.join(", ")),
    }))
}

/// Lists all tables with their rows, as far as counting them is cheap.
fn tables(reader: &Reader<'_>) -> Result<Vec<TableInfo>, DecodeError> {
    // A row may cost a page: in a large file fewer are counted. Pages that many tables share are counted again
    // for each: all counting together is bounded.
    let large = read::file_len(reader.conn)? > 64 << 20;
    let most: u64 = if large { 20_000 } else { 500_000 };
    let mut left = most;
    let mut tables = Vec::with_capacity(reader.shape.tables.len());
    for found in &reader.shape.tables {
        let mut info = found.info.clone();
        let walked = schema::table_spec(&info.name).and_then(|t| reader.counts.get(t.name));
        info.rows = match walked {
            Some(rows) => Some(*rows),
            None if found.is_table() && left > 0 => {
                let rows = count(reader.conn, found, left);
                left = left.saturating_sub(rows.unwrap_or(most / 4));
                rows
            }
            None => None,
        };
        tables.push(info);
    }
    Ok(tables)
}

fn count(conn: &Connection, found: &Found, most: u64) -> Option<u64> {
    let sql = format!(
        "SELECT count(*) FROM (SELECT 1 FROM {} LIMIT {})",
        quoted(&found.info.name),
        most + 1
    );
    let rows: i64 = conn.query_row(&sql, [], |r| r.get(0)).ok()?;
    u64::try_from(rows).ok().filter(|n| *n <= most)
}
