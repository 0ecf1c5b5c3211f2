//! Answers a user's SQL query over a guarded connection. Adds Prosescope's own tables to those of the file, limits the
//! statement, and converts its rows into an answer.
//!
//! The guard's restrictions stay in force (defensive mode, no trusted schema, no views and triggers of the file). In
//! addition, a query may use named subqueries (`WITH`).

mod bounds;

use std::sync::{Arc, Mutex};

use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, params_from_iter};

use super::guard::Steps;
use super::shape::{discover, quoted};
use super::{Guard, Sqlite};
use crate::model::database::query::{
    ANSWER, AddedTable, CELL, MOST_ROWS, QueryColumn, QueryError, QueryView, Question, instead,
};
use crate::model::database::{DecodeError, Limits, Value};
use crate::model::text;
use crate::model::{ShownCell, StoredType};
use crate::read::decode::rows::whole_characters;

/// Maximum bytes of a value that a query processes. The added table `value_list` contains the beginnings of longer
/// values.
const LONGEST: i32 = 16 << 20;

/// Maximum bytes of a pattern of LIKE and GLOB. SQLite compares the pattern at every position of a value, and cannot be
/// interrupted while it does.
const PATTERN: i32 = 256;

/// Opens an empty database in memory, for queries about a run that is not in a SQLite database.
///
/// # Errors
/// If SQLite cannot allocate its memory.
pub fn empty(limits: &Limits) -> Result<Sqlite, DecodeError> {
    Sqlite::new(Connection::open_in_memory()?, Guard::from(limits))
}

/// Answers a query. Do not use the connection for anything else afterwards: its tables, limits and authorizer are
/// changed.
pub(super) fn query(
    conn: &Connection,
    steps: &Steps,
    question: &Question<'_>,
) -> Result<QueryView, QueryError> {
    if let Some(at) = question.sql.find('\0') {
        return Err(QueryError::Sql {
            message: "the statement has a NUL character".to_owned(),
            offset: Some(characters(question.sql, at)),
            next: "Remove the character.".to_owned(),
        });
    }
    let tables = discover(conn)?;
    let named = has_names(conn)?;
    // rusqlite panics if SQLite cannot allocate a result, so the longest result must be far below the memory limit.
    let longest = if super::shape::is_utf8(conn)? {
        LONGEST
    } else {
        LONGEST / 4
    };
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, longest),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN),
    ] {
        conn.set_limit(limit, most).map_err(DecodeError::from)?;
    }
    // Steps are not limited while the added tables are filled, because the core's own statements fill them.
    steps.begin(u64::MAX);
    put_beside(conn, question.beside)?;
    let refused = Arc::new(Mutex::new(None));
    bounds::only_reads(conn, &tables, Arc::clone(&refused)).map_err(DecodeError::from)?;
    steps.begin(question.steps);
    ask(conn, question, named).map_err(|failed| {
        let refused = refused.lock().ok().and_then(|mut why| why.take());
        failed.explained(question, refused)
    })
}

/// Creates the added tables and fills them. Only these statements may write.
fn put_beside(conn: &Connection, tables: &[AddedTable<'_>]) -> Result<(), QueryError> {
    let put = || -> rusqlite::Result<()> {
        conn.pragma_update(None, "query_only", false)?;
        conn.execute_batch("BEGIN")?;
        for table in tables {
            put_one(conn, table)?;
        }
        conn.execute_batch("COMMIT")?;
        conn.pragma_update(None, "query_only", true)
    };
    let put = prosescope_authorizer::authorize_during(conn, |_, _| true, put);
    match put.and_then(|put| put).map_err(DecodeError::from) {
        Ok(()) => Ok(()),
        Err(DecodeError::Stopped) => Err(QueryError::Stopped),
        Err(DecodeError::TooBig(why)) => Err(QueryError::TooBig(why)),
        Err(error) => Err(error.into()),
    }
}

fn put_one(conn: &Connection, table: &AddedTable<'_>) -> rusqlite::Result<()> {
    let declared = |column: &QueryColumn| {
        let declared = column.declared.as_deref().unwrap_or_default();
        format!("{} {declared}", quoted(&column.name))
    };
    let columns: Vec<String> = table.columns.iter().map(declared).collect();
    let name = quoted(&table.name);
    conn.execute_batch(&format!(
        "CREATE TEMP TABLE {name} ({})",
        columns.join(", ")
    ))?;
    let marks = vec!["?"; table.columns.len()].join(", ");
    let mut insert = conn.prepare(&format!("INSERT INTO temp.{name} VALUES ({marks})"))?;
    let mut put = Ok(0);
    (table.fill)(&mut |row: &[Value<'_>]| {
        put = insert.execute(params_from_iter(row));
        put.is_ok()
    });
    put.map(|_| ())
}

/// The reason why a query failed, before the message for the user is composed.
enum QueryFailure {
    Said(QueryError),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for QueryFailure {
    fn from(error: rusqlite::Error) -> QueryFailure {
        QueryFailure::Sqlite(error)
    }
}

/// Returns whether every name in the schema is UTF-8. If not, the query must not ask for column names, because rusqlite
/// panics at a name that is not UTF-8.
fn has_names(conn: &Connection) -> Result<bool, DecodeError> {
    let mut statement = conn.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if row.get_ref(0)?.as_str().is_err() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn columns(statement: &rusqlite::Statement<'_>) -> Vec<QueryColumn> {
    let columns = statement.columns().map(|column| QueryColumn {
        name: column.name().to_owned(),
        declared: column.decl_type().map(str::to_owned),
    });
    columns.collect()
}

/// Returns the names `column 1`, `column 2` and so on, for statements whose column names cannot be read.
fn numbered(statement: &rusqlite::Statement<'_>) -> Vec<QueryColumn> {
    let columns = (1..=statement.column_count()).map(|place| QueryColumn {
        name: format!("column {place}"),
        declared: None,
    });
    columns.collect()
}

fn ask(conn: &Connection, question: &Question<'_>, named: bool) -> Result<QueryView, QueryFailure> {
    let mut statement = conn.prepare(question.sql)?;
    if !statement.readonly() {
        let why = "the statement would change the database".to_owned();
        return Err(QueryFailure::Said(QueryError::Refused(why)));
    }
    if statement.column_count() == 0 {
        return Err(QueryFailure::Said(QueryError::Empty));
    }
    if statement.parameter_count() > 0 {
        return Err(QueryFailure::Said(QueryError::Sql {
            message: "the statement has parameters without values".to_owned(),
            offset: question
                .sql
                .find('?')
                .map(|at| characters(question.sql, at)),
            next: "Write values in place of the parameters, such as 'text' or 12.".to_owned(),
        }));
    }
    let mut view = QueryView::default();
    if named {
        view.columns = columns(&statement);
    } else {
        view.columns = numbered(&statement);
        let note = "Columns are numbered: a name in the database is not UTF-8 text.";
        view.notes.push(note.to_owned());
    }
    let limit = question.limit.min(MOST_ROWS) as usize;
    let (width, mut held) = (view.columns.len(), 0);
    let mut rows = statement.query([])?;
    loop {
        let is_full = view.rows.len() >= limit || held >= ANSWER;
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => break,
            Err(error) if is_full && is_interrupted(&error) => {
                view.more = true;
                let note = "There may be further rows: the statement was stopped while it computed the next row.";
                view.notes.push(note.to_owned());
                break;
            }
            Err(error) => return Err(error.into()),
        };
        if is_full {
            view.more = true;
            break;
        }
        let mut cells = Vec::with_capacity(width);
        for at in 0..width {
            let cell = cell(row.get_ref(at)?);
            held += cell.text.len();
            view.cut += u64::from(cell.cut);
            cells.push(cell);
        }
        view.rows.push(cells);
    }
    view.returned = view.rows.len() as u64;
    if view.more && held >= ANSWER {
        let most = crate::model::database::bytes_in_words(ANSWER as u64);
        view.notes.push(format!(
            "Further rows are left out because an answer has at most {most}."
        ));
    }
    Ok(view)
}

/// Returns a cell of the answer, cut to the maximum length.
fn cell(value: ValueRef<'_>) -> ShownCell {
    let value = Value::from(value);
    let stored = match &value {
        Value::Null => StoredType::Null,
        Value::Integer(_) => StoredType::Integer,
        Value::Real(_) => StoredType::Real,
        Value::Text(_) => StoredType::Text,
        Value::Blob(_) => StoredType::Blob,
    };
    let bytes = value.bytes();
    let cut = bytes.len() > CELL;
    let shown = bytes.get(..CELL).unwrap_or(bytes);
    let text = match &value {
        Value::Text(_) if cut => String::from_utf8_lossy(whole_characters(shown)).into_owned(),
        Value::Blob(_) => text::hex(shown),
        value => value.lossy().unwrap_or_default().into_owned(),
    };
    ShownCell {
        stored: stored.word().to_owned(),
        len: match bytes.len() {
            0 => text.len() as u64,
            len => len as u64,
        },
        text,
        cut,
    }
}

/// Returns the number of characters before a byte offset.
fn characters(sql: &str, at: usize) -> usize {
    sql.get(..at).map_or(0, |before| before.chars().count())
}

fn is_interrupted(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}

impl QueryFailure {
    /// Converts the failure into a message; `refused` is the action that the authorizer denied, if any.
    fn explained(self, question: &Question<'_>, refused: Option<String>) -> QueryError {
        let error = match self {
            QueryFailure::Said(error) => return error,
            QueryFailure::Sqlite(rusqlite::Error::MultipleStatement) => return QueryError::Several,
            QueryFailure::Sqlite(error) => error,
        };
        if let Some(why) = refused {
            return QueryError::Refused(why);
        }
        let offset = match &error {
            // SQLite's offset counts from the start of the statement that failed, which may be the second of the
            // query.
            rusqlite::Error::SqlInputError { sql, offset, .. } => usize::try_from(*offset)
                .ok()
                .map(|at| at + question.sql.len().saturating_sub(sql.len()))
                .map(|at| characters(question.sql, at)),
            _ => None,
        };
        match (error.sqlite_error_code(), DecodeError::from(error)) {
            (Some(ErrorCode::OperationInterrupted), _) => QueryError::Stopped,
            (_, DecodeError::TooBig(why)) => QueryError::TooBig(why),
            (_, DecodeError::Refused(why)) => QueryError::Refused(why),
            (_, DecodeError::Sqlite(said)) if said.starts_with("unsafe use") => {
                QueryError::Refused(said)
            }
            (_, DecodeError::Sqlite(message)) => QueryError::Sql {
                next: next(&message, question),
                message,
                offset,
            },
            (_, error) => QueryError::Store(error),
        }
    }
}

/// Returns the next step after an error: a proposal of similar names if a name is unknown, otherwise an empty text.
fn next(message: &str, question: &Question<'_>) -> String {
    let unknown = message.strip_prefix("no such ");
    let unknown = unknown.and_then(|rest| rest.split_once(": "));
    match unknown {
        Some((kind, name)) => {
            let name = name.split(" - should").next().unwrap_or(name);
            instead(kind, name.trim_matches('"'), question.sql, question.tables)
        }
        None => String::new(),
    }
}
