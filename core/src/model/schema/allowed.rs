//! The list of what the tables that we write may have: the one place that decides whether a database is recorded into.
//!
//! Allowed are plain columns, defaults that are constants or OpenProse's, OpenProse's CHECKs and foreign keys, indexes
//! over plain columns or with the calls that OpenProse and Prosescope use, and Prosescope's triggers word for word.
//! Nothing else may be attached. Other tables, views, functions and triggers are not judged.

use super::is_own_trigger;
use super::sql::{SqlToken, is_one_of, object, tokens};

/// The tables of a run that we write in SQLite.
pub const OF_RUNS: [&str; 10] = [
    super::RUN,
    super::EXECUTION,
    super::BINDINGS,
    super::AGENTS,
    super::AGENT_SEGMENTS,
    super::IMPORTS,
    super::GATES,
    super::GATE_AUDIT_LOG,
    super::BINDING_HISTORY,
    super::AGENT_MEMORY_HISTORY,
];

/// The tables of workflows that we write.
pub const OF_WORKFLOWS: [&str; 3] = ["workflows", "workflow_runs", "workflow_events"];

/// The allowed CHECKs: a column, and the words that it may contain. postgres.md has them as CHECKs, sqlite.md as
/// comments, and the tables of workflows have them in either spelling (errata M1).
pub const CHECKS: &[(&str, &[&str])] = &[
    ("status", &["running", "completed", "failed", "interrupted"]),
    (
        "status",
        &["pending", "executing", "completed", "failed", "skipped"],
    ),
    ("status", &["pending", "approved", "rejected", "timeout"]),
    ("status", &["active", "paused", "cancelled", "error"]),
    (
        "status",
        &[
            "running",
            "waiting_for_input",
            "completed",
            "failed",
            "cancelled",
        ],
    ),
    ("kind", &["input", "output", "let", "const"]),
    ("kind", &["progress", "status", "warning", "error", "final"]),
    ("scope", &["execution", "project", "user", "custom"]),
    (
        "event_type",
        &[
            "created", "viewed", "approved", "rejected", "timeout", "resumed",
        ],
    ),
    ("ask_clarifications", &["0", "1"]),
];

/// The allowed defaults of SQLite that are not one constant, as [`shape`] writes them.
const DEFAULTS: &[&str] = &["datetime ( L )", "strftime ( L ) | | L"];

/// The allowed terms of an index of SQLite.
const TERMS: &[&str] = &[
    "C",
    "C asc",
    "C desc",
    "ifnull ( C , L )",
    "coalesce ( C , L )",
];

/// The allowed conditions of a partial index of SQLite, which `AND` may join.
const CONDITIONS: &[&str] = &["C is null", "C is not null", "C = L", "C in ( L )"];

/// The words that [`shape`] keeps: those of the lists above.
const WORDS: &[&str] = &[
    "and", "asc", "coalesce", "datetime", "desc", "ifnull", "in", "is", "not", "null", "strftime",
];

/// Returns whether a column of SQLite may have a default, given as `PRAGMA table_xinfo` reports it.
pub fn allows_default(sql: &str) -> bool {
    let tokens = tokens(sql);
    let tokens = bare(&tokens);
    let shape = shape(tokens);
    // SQLite takes a single name for a text.
    tokens.len() == 1 || shape == "L" || DEFAULTS.contains(&shape.as_str())
}

/// An object of a SQLite schema, as the text of its `CREATE` statement names it.
#[derive(Debug)]
pub struct SchemaName {
    /// `table`, `index`, `view` or `trigger`.
    pub kind: String,
    /// The table that the object is, or is attached to.
    pub table: String,
    /// What is not allowed of the object, as a noun: `a COLLATE`, `the trigger evil`.
    pub foreign: Option<String>,
}

/// Judges the text of an object of a SQLite schema; `None` if the text is not a `CREATE` statement.
pub fn judge(sql: &str) -> Option<SchemaName> {
    let tokens = tokens(sql);
    let object = object(&tokens)?;
    let foreign = match object.kind {
        "table" => foreign_clause(object.rest),
        "index" => (!allows_index(object.rest))
            .then(|| format!("the index {}, which is not over plain columns", object.name)),
        "trigger" => {
            (!is_own_trigger(object.name, sql)).then(|| format!("the trigger {}", object.name))
        }
        _ => None,
    };
    Some(SchemaName {
        kind: object.kind.to_owned(),
        table: object.table.to_owned(),
        foreign,
    })
}

/// Returns the first clause of a table's definition that is not allowed and that no pragma reports.
fn foreign_clause(tokens: &[SqlToken]) -> Option<String> {
    tokens.iter().enumerate().find_map(|(at, token)| {
        let rest = tokens.get(at + 1..).unwrap_or_default();
        let SqlToken::Word(word) = token else {
            return None;
        };
        match word.as_str() {
            "check" => (!allows_check(group(rest))).then(|| "a CHECK of its own".to_owned()),
            "collate" => Some("a COLLATE".to_owned()),
            "on" if rest
                .first()
                .is_some_and(|next| is_one_of(next, &["conflict"])) =>
            {
                Some("an ON CONFLICT".to_owned())
            }
            _ => None,
        }
    })
}

fn allows_check(group: &[SqlToken]) -> bool {
    let condition = bare(group);
    let (Some(SqlToken::Word(column) | SqlToken::Quoted(column)), "C in ( L )") =
        (condition.first(), &*shape(condition))
    else {
        return false;
    };
    let words = condition.iter().filter_map(|token| match token {
        SqlToken::Literal(text) => Some(text.to_ascii_lowercase()),
        _ => None,
    });
    let words: Vec<String> = words.collect();
    CHECKS.iter().any(|(of, allowed)| {
        column.eq_ignore_ascii_case(of)
            && words.len() == allowed.len()
            && allowed
                .iter()
                .all(|word| words.iter().any(|there| there == word))
    })
}

/// Returns whether the part of an index's definition after the name of the table is allowed.
fn allows_index(rest: &[SqlToken]) -> bool {
    let terms = group(rest);
    let condition = rest.get(terms.len()..).unwrap_or_default();
    let mut depth = 0;
    let mut split = inside(terms).split(|token| {
        depth += nesting(token);
        depth == 0 && *token == SqlToken::Sign(',')
    });
    let allows_condition = match condition.split_first() {
        None => true,
        Some((word, condition)) => {
            let shape = shape(bare(condition));
            is_one_of(word, &["where"])
                && shape.split(" and ").all(|part| CONDITIONS.contains(&part))
        }
    };
    split.all(|term| TERMS.contains(&&*shape(bare(term)))) && allows_condition
}

/// Returns the group in parentheses with which some tokens begin, with its parentheses.
fn group(tokens: &[SqlToken]) -> &[SqlToken] {
    let mut depth = 0;
    let end = tokens.iter().position(|token| {
        depth += nesting(token);
        depth <= 0
    });
    tokens.get(..=end.unwrap_or(tokens.len())).unwrap_or(tokens)
}

fn nesting(token: &SqlToken) -> i32 {
    match token {
        SqlToken::Sign('(') => 1,
        SqlToken::Sign(')') => -1,
        _ => 0,
    }
}

fn inside(group: &[SqlToken]) -> &[SqlToken] {
    match group {
        [SqlToken::Sign('('), inside @ .., SqlToken::Sign(')')] => inside,
        other => other,
    }
}

/// Removes parentheses around all of an expression.
fn bare(tokens: &[SqlToken]) -> &[SqlToken] {
    if group(tokens).len() == tokens.len() && inside(tokens).len() < tokens.len() {
        bare(inside(tokens))
    } else {
        tokens
    }
}

/// Writes an expression with `C` for each name, and `L` for each literal and each list of literals.
fn shape(tokens: &[SqlToken]) -> String {
    let parts = tokens.iter().map(|token| match token {
        SqlToken::Word(word) if WORDS.contains(&word.as_str()) => word.clone(),
        SqlToken::Word(_) | SqlToken::Quoted(_) => "C".to_owned(),
        SqlToken::Literal(_) => "L".to_owned(),
        SqlToken::Sign(sign) => sign.to_string(),
    });
    let shape = parts.collect::<Vec<String>>().join(" ");
    let mut shape = shape.replace("- L", "L").replace("+ L", "L");
    while shape.contains("L , L") {
        shape = shape.replace("L , L", "L");
    }
    shape
}
