//! Runs SQL statements on a run. A statement can read the tables of the run's own database, and tables with the run's
//! interpreted data (`trace`, `value_list` …), which are the same for every form of run.

mod stored;
mod tables;

use std::cell::Cell;

pub use crate::model::database::query::DEADLINE;
use crate::model::database::query::{AddedTable, Fill, QueryError, Question, STEPS, words};
use crate::model::database::{Database as _, Limits, Value};
use crate::model::source::SourceError;
use crate::pages::session::Session;
use crate::pages::view::{
    QueryColumn, QueryTable, QueryTables, QueryView, RunPart, StoredQuestion,
};
use crate::read::sqlite;
use tables::{MODEL, Model, QueriedRun};

/// The beginning of a query, for hints and for the placeholder of empty input fields.
pub const EXAMPLE: &str = "SELECT … FROM trace";

/// The reason why a query has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnansweredQuery {
    /// The statement fails or is refused.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The run's database cannot be opened.
    #[error(transparent)]
    Source(#[from] SourceError),
}

/// Runs one SQL statement and returns at most `limit` rows. `limits` can stop the statement at a deadline or on a
/// user's request; without such limits, the statement ends after a fixed number of steps. `now` is in milliseconds
/// since 1970 UTC.
///
/// # Errors
/// Fails when the text is not one statement, does more than read tables, or takes too long, and when the run's database
/// cannot be opened.
pub fn ask(
    session: &Session,
    sql: &str,
    limit: u32,
    limits: &Limits,
    now: Option<i64>,
) -> Result<QueryView, UnansweredQuery> {
    let asked = QueriedRun {
        session,
        now,
        values: tables::asks_for_values(sql),
        left: Cell::new(tables::MOST_OF_VALUES),
        unread: Cell::new(0),
    };
    let beside: Vec<AddedTable<'_>> = named(session, sql)
        .map(|(name, model)| AddedTable {
            name,
            columns: columns(model),
            fill: fill(model, &asked),
        })
        .collect();
    let tables = tables(session).tables;
    let question = Question {
        sql,
        beside: &beside,
        tables: &tables,
        limit,
        steps: STEPS,
    };
    let own = match session.own_database() {
        Some(path) => session.source().database(&path, limits)?.query(&question),
        None => None,
    };
    let answer = match own {
        Some(answer) => answer,
        None => {
            let empty = sqlite::empty(limits).map_err(QueryError::from)?;
            let answer = empty.query(&question);
            answer.unwrap_or(Err(QueryError::Empty))
        }
    };
    let mut view = answer?;
    match asked.unread.get() {
        0 => {}
        n => view.notes.push(format!(
            "In {n} rows of `value_list`, the column `value` is NULL, because the value could not be read or all values together are too long. `prosescope get NAME` prints a single value."
        )),
    }
    Ok(view)
}

/// Returns a function that supplies a table's rows. Values and memories are read before the query, because reading them
/// opens the database a second time, and both connections share the memory that SQLite may use.
fn fill<'a>(model: &'static Model, asked: &'a QueriedRun<'_>) -> Fill<'a> {
    if !matches!(model.part, Some(RunPart::Bindings | RunPart::Agents)) {
        return Box::new(|push| (model.fill)(asked, push));
    }
    let mut rows: Vec<Vec<Value<'static>>> = Vec::new();
    (model.fill)(asked, &mut |row| {
        rows.push(row.iter().cloned().map(Value::into_owned).collect());
        true
    });
    Box::new(move |push| {
        let _ = rows.iter().all(|row| push(row));
    })
}

/// Lists the tables that [`ask`] offers, and the stored questions.
pub fn tables(session: &Session) -> QueryTables {
    let model = MODEL.iter().map(|model| QueryTable {
        name: name_in(session, model.name),
        own: false,
        about: model.about.to_owned(),
        rows: (model.rows)(session),
        columns: columns(model),
    });
    let own = session.own_database().is_some();
    let is_table = |kind: &str| kind == "table" || kind == "shadow";
    let own = session
        .run()
        .tables
        .iter()
        .filter(|table| own && is_table(&table.kind));
    let own = own.map(|table| QueryTable {
        name: table.name.clone(),
        own: true,
        about: String::new(),
        rows: table.rows,
        columns: table
            .columns
            .iter()
            .map(|column| QueryColumn {
                name: column.name.clone(),
                declared: Some(column.declared.clone()).filter(|declared| !declared.is_empty()),
            })
            .collect(),
    });
    QueryTables {
        tables: model.chain(own).collect(),
        questions: stored::questions(|table| name_in(session, table)),
    }
}

/// Returns the stored question with this name.
///
/// # Errors
/// [`QueryError::NoQuestion`] if no stored question has this name.
pub fn stored(session: &Session, name: &str) -> Result<StoredQuestion, QueryError> {
    let all = stored::questions(|table| name_in(session, table));
    let found = all.into_iter().find(|question| question.name == name);
    found.ok_or_else(|| QueryError::NoQuestion(name.to_owned()))
}

/// Returns the parts of the run that a statement reads through the interpreted tables. If one of these parts was not
/// read completely, the answer is incomplete.
pub fn parts(session: &Session, sql: &str) -> Vec<RunPart> {
    named(session, sql)
        .filter_map(|(_, model)| model.part)
        .collect()
}

/// Returns the interpreted tables whose names occur in a statement; only these are built.
fn named(session: &Session, sql: &str) -> impl Iterator<Item = (String, &'static Model)> {
    let words = words(sql);
    MODEL
        .iter()
        .map(|model| (name_in(session, model.name), model))
        .filter(move |(name, _)| words.contains(&name.to_lowercase()))
}

/// Returns the name of an interpreted table in this run: with the prefix `model_` if the run has a table of the same
/// name, so that the run's own table stays readable.
fn name_in(session: &Session, name: &str) -> String {
    let mut free = name.to_owned();
    let tables = &session.run().tables;
    while tables
        .iter()
        .any(|own| own.name.eq_ignore_ascii_case(&free))
    {
        free.insert_str(0, "model_");
    }
    free
}

fn columns(model: &Model) -> Vec<QueryColumn> {
    let columns = model.columns.iter().map(|(name, declared)| QueryColumn {
        name: (*name).to_owned(),
        declared: Some((*declared).to_owned()),
    });
    columns.collect()
}
