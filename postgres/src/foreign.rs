//! Judges whether a database is recorded into: whether the tables that we write have nothing but what OpenProse's and
//! Prosescope's schemas have, further plain columns, and indexes over plain columns.
//!
//! Anything else would run with the rights of the writer, and PostgreSQL cannot disable it for one session. Other
//! tables, views, functions and triggers are left alone.

use prosescope_core::model::issue::Issue;
use prosescope_core::model::schema::{CHECKS, POSTGRES_SQL};
use prosescope_core::record::WriteError;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

use crate::address::Address;
use crate::apply::{StepCheck, TransactionStep, any};
use crate::cell::get;
use crate::fault;
use crate::server::{Bound, Lost, PgClient, bool_of, owned, text, texts};
use crate::shape::quoted;

/// The tables that Prosescope writes: first two tables for its own use, then the tables with rows of runs.
pub(crate) const WRITTEN: [&str; 15] = [
    "x_commands",
    "x_schema",
    "agent_segments",
    "agents",
    "bindings",
    "execution",
    "gate_audit_log",
    "gates",
    "imports",
    "run",
    "x_agent_memory_history",
    "x_attachments",
    "x_binding_history",
    "x_events",
    "x_original",
];

/// The tables of [`WRITTEN`] that contain rows of runs.
pub(crate) const OF_RUNS: &[&str] = WRITTEN.split_at(2).1;

/// A regular expression for a constant of a type of PostgreSQL, as the server prints it. The name of another type has a
/// schema, because the search path is `pg_catalog`.
macro_rules! constant {
    () => {
        r"('([^']|'')*'::[a-z0-9 ]+(\([0-9,]+\)[a-z ]*)?(\[\])?|-?[0-9.]+|true|false|NULL(::[a-z ]+)?)"
    };
}

/// A regular expression for the name of a column.
macro_rules! column {
    () => {
        r#"([a-z_][a-z0-9_]*|"([^"]|"")+")"#
    };
}

/// The allowed defaults.
const DEFAULT: &str = concat!(
    r"^(now\(\)|CURRENT_TIMESTAMP|gen_random_uuid\(\)|nextval\(",
    constant!(),
    r"\)|",
    constant!(),
    ")$"
);

/// The allowed expressions of an index.
const TERMS: &str = concat!(
    r#"^("left"\(id, 15\)|COALESCE\("#,
    column!(),
    ", ",
    constant!(),
    r"\)(, )?)+$"
);

/// The allowed conditions of an index.
const CONDITION: &str = concat!(
    r"^\(?(\(",
    column!(),
    r" IS( NOT)? NULL\)|\((",
    column!(),
    r"|\(",
    column!(),
    r"\)::text) = ",
    constant!(),
    r#"\)|\(id !?~ \('\^\[0-9]\{8}-\[0-9]\{6}-'::text COLLATE "C"\)\)|( AND ))+\)?$"#
);

/// Finds what is not allowed on the tables `$1`. If `$2` is true, also searches the tables whose rows change by a
/// foreign key when rows of `$1` are deleted: for triggers and rules if these rows are deleted too. Returns a clause,
/// such as `has the trigger t`, and the table. `$3` is the body of Prosescope's own trigger function, which is allowed:
/// it keeps the audit log append-only (errata G7). `$4` are the allowed CHECKs, `$5` is [`DEFAULT`], `$6` [`TERMS`],
/// `$7` [`CONDITION`].
const FOUND: &str = "
    WITH RECURSIVE reached AS (
        SELECT c.oid, true AS whole FROM pg_class AS c
        WHERE c.relnamespace = to_regnamespace('openprose')::oid AND c.relname = ANY($1)
        UNION
        SELECT k.conrelid, k.confdeltype <> 'c' FROM reached JOIN pg_constraint AS k
        ON $2 AND k.contype = 'f' AND k.confdeltype IN ('c', 'n', 'd') AND k.confrelid = reached.oid
    ), ours AS MATERIALIZED (
        SELECT c.oid, c.relkind, c.relrowsecurity, bool_or(reached.whole) AS whole
        FROM reached JOIN pg_class AS c ON c.oid = reached.oid GROUP BY c.oid, c.relkind, c.relrowsecurity
    ), whole AS MATERIALIZED (SELECT * FROM ours WHERE whole)
    SELECT found.what, found.rel::regclass::text FROM (
        SELECT CASE relkind WHEN 'p' THEN 'is partitioned' WHEN 'f' THEN 'is a table of another server' ELSE 'is a view' END AS what,
               oid AS rel FROM whole WHERE relkind <> 'r'
        UNION ALL
        SELECT 'is inherited by ' || i.inhrelid::regclass, i.inhparent FROM pg_inherits AS i
        WHERE i.inhparent = ANY(ARRAY(SELECT oid FROM whole))
        UNION ALL
        SELECT 'has the trigger ' || t.tgname, t.tgrelid FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid
        WHERE t.tgrelid = ANY(ARRAY(SELECT oid FROM ours)) AND NOT t.tgisinternal AND t.tgenabled <> 'D'
          AND NOT (p.pronamespace = to_regnamespace('openprose')::oid AND p.proname = 'x_audit_append_only'
                   AND p.prosrc = $3 AND NOT p.prosecdef AND p.proconfig = ARRAY['search_path=pg_catalog'])
        UNION ALL
        SELECT 'has the rule ' || r.rulename, r.ev_class FROM pg_rewrite AS r
        WHERE r.ev_class = ANY(ARRAY(SELECT oid FROM ours)) AND r.ev_enabled <> 'D' AND r.rulename <> '_RETURN'
        UNION ALL
        SELECT 'has the policy ' || p.polname, p.polrelid FROM pg_policy AS p
        WHERE p.polrelid = ANY(ARRAY(SELECT oid FROM whole WHERE relrowsecurity))
        UNION ALL
        SELECT 'has the constraint ' || k.conname, k.conrelid FROM pg_constraint AS k
        WHERE k.conrelid = ANY(ARRAY(SELECT oid FROM whole)) AND CASE k.contype
            WHEN 'c' THEN pg_get_expr(k.conbin, k.conrelid) <> ALL(string_to_array($4, chr(10)))
            WHEN 'f' THEN k.confrelid <> ALL(ARRAY(SELECT oid FROM pg_class WHERE relnamespace = to_regnamespace('openprose')::oid))
            ELSE k.contype = 'x' END
        UNION ALL
        SELECT CASE a.attgenerated WHEN '' THEN 'has a default that is computed, of column ' ELSE 'has the generated column ' END
               || a.attname, d.adrelid
        FROM pg_attrdef AS d JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
        WHERE d.adrelid = ANY(ARRAY(SELECT oid FROM whole))
          AND (a.attgenerated <> '' OR pg_get_expr(d.adbin, d.adrelid) !~ $5)
        UNION ALL
        SELECT 'has the index ' || i.indexrelid::regclass || ', which is not over plain columns', i.indrelid FROM pg_index AS i
        WHERE i.indrelid = ANY(ARRAY(SELECT oid FROM whole))
          AND (pg_get_expr(i.indexprs, i.indrelid) !~ $6 OR pg_get_expr(i.indpred, i.indrelid) !~ $7)
        UNION ALL
        SELECT 'has a type of its own in column ' || a.attname, a.attrelid FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
        WHERE a.attrelid = ANY(ARRAY(SELECT oid FROM whole)) AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid >= 16384
          AND (t.typtype <> 'b' OR t.typelem <> 0)
    ) AS found";

/// Returns the allowed CHECKs, as the server prints them for a column of either type of text.
fn checks() -> Vec<String> {
    let each = CHECKS.iter().flat_map(|(column, words)| {
        let list = |of: &str| {
            let words: Vec<String> = words.iter().map(|word| format!("'{word}'::{of}")).collect();
            words.join(", ")
        };
        [
            format!("({column} = ANY (ARRAY[{}]))", list("text")),
            format!(
                "(({column})::text = ANY ((ARRAY[{}])::text[]))",
                list("character varying")
            ),
        ]
    });
    each.collect()
}

/// Returns the body of the trigger function `x_audit_append_only`, as Prosescope's schema creates it.
fn append_only() -> &'static str {
    let after = POSTGRES_SQL.split("FUNCTION openprose.x_audit_append_only()");
    let body = after.skip(1).find_map(|after| after.split("$$").nth(1));
    body.unwrap_or_default()
}

fn bound<'a>(tables: &[&'a str], deletes: bool) -> Vec<Bound<'a>> {
    vec![
        texts(tables.iter().map(|table| Some(*table))),
        bool_of(deletes),
        text(append_only()),
        owned(checks().join("\n")),
        text(DEFAULT),
        text(TERMS),
        text(CONDITION),
    ]
}

/// Returns the statements that must precede a write to these tables. They lock the tables, so that nothing can be added
/// until the transaction ends. They fail if [`FOUND`] finds something; later statements of the transaction then do not
/// run. `deletes` is whether rows are also deleted.
pub(crate) fn guard<'a>(tables: &[&'a str], deletes: bool) -> [TransactionStep<'a>; 2] {
    let all: Vec<String> = tables
        .iter()
        .map(|table| format!("openprose.{}", quoted(table)))
        .collect();
    let lock = format!("LOCK TABLE {} IN ROW EXCLUSIVE MODE", all.join(", "));
    let none = format!("SELECT 1 / (count(*) = 0)::int FROM ({FOUND}) AS found");
    let none = TransactionStep {
        check: Some(StepCheck::NoCode),
        ..any(none, bound(tables, deletes))
    };
    [any(lock, Vec::new()), none]
}

/// Returns whether an error is that of [`guard`] or of [`NO_TABLES`].
pub(crate) fn is_of_guard(lost: &Lost) -> bool {
    matches!(lost, Lost::Error(error) if error.code() == Some(&SqlState::DIVISION_BY_ZERO))
}

/// Executes [`guard`] and waits for its answers; fails with the error of [`is_of_guard`] if [`FOUND`] finds something.
pub(crate) fn guarded(server: &PgClient, tables: &[&str], deletes: bool) -> Result<(), Lost> {
    for step in guard(tables, deletes) {
        server.rows(&step.sql, &step.bound)?;
    }
    Ok(())
}

/// Returns a sentence about everything that is not allowed on the tables. Must be called outside a transaction.
pub(crate) fn found(server: &PgClient) -> Result<Vec<String>, Lost> {
    named(&server.ask(FOUND, &bound(&WRITTEN, true))?)
}

fn named(rows: &[Row]) -> Result<Vec<String>, Lost> {
    let found = rows.iter().map(|row| {
        let (what, table): (&str, &str) = (get(row, 0)?, get(row, 1)?);
        Ok(format!("{table} {what}"))
    });
    Ok(found.collect::<Result<_, tokio_postgres::Error>>()?)
}

/// Ends the transaction of a command that [`guard`] stopped; returns the refusal, which says what was found.
pub(crate) fn refusal(server: &PgClient) -> WriteError {
    let address = server.address();
    if let Err(lost) = server.batch("ROLLBACK") {
        return fault::unwritten(address, &lost).into();
    }
    match found(server) {
        Ok(found) => match found.first() {
            Some(what) => refused(address, what),
            // Nothing is found. So a written row differed when it was read back, or what was found was removed
            // meanwhile.
            None => otherwise(address, "the stored row differs from the written one"),
        },
        Err(lost) => fault::unwritten(address, &lost).into(),
    }
}

/// Returns the refusal of a database whose tables have something that is not allowed; `what` is a sentence.
pub(crate) fn refused(address: &Address, what: &str) -> WriteError {
    WriteError::refused(
        "foreign-code",
        format!("{address} is not recorded into: {what}"),
        "nothing was recorded; make a copy in Prosescope's own schema: `prosescope convert RUN --to sqlite`; or remove from the table what is named (`prosescope check RUN` lists all of it)",
    )
}

/// Returns the refusal of a row that differs from the written one; `what` is a sentence.
pub(crate) fn otherwise(address: &Address, what: &str) -> WriteError {
    WriteError::refused(
        "written-otherwise",
        format!("{address} was not written: {what}"),
        "nothing was recorded; `prosescope check RUN` shows what is odd about the tables of `openprose`; compare them with the output of `prosescope postgres setup`",
    )
}

/// Reads the columns of the tables `$1`, with their types.
const TYPES: &str = "
    SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod)
    FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = to_regnamespace('openprose')::oid AND c.relkind IN ('r', 'p') AND c.relname = ANY($1)
    ORDER BY c.relname, a.attnum";

/// Returns issues on what is not allowed on the tables, and on columns with wrong types. Must be called inside a
/// transaction.
pub(crate) fn check_database(server: &PgClient, name: &str) -> Vec<Issue> {
    let looked = server
        .rows(FOUND, &bound(&WRITTEN, true))
        .and_then(|rows| Ok((named(&rows)?, odd_types(server)?)));
    let (found, types) = match looked {
        Ok(looked) => looked,
        Err(lost) => {
            let why = fault::unread(server.address(), &lost).to_string();
            let issue = Issue::noted("database-not-looked-through", why);
            return vec![
                issue
                    .hint("It is not known whether other programs added triggers, rules or other code to the tables.")
                    .at_file(name),
            ];
        }
    };
    let code = found.iter().map(|what| {
        Issue::warning("foreign-code", format!("{name} is not recorded into: {what}")).hint(
            "Other programs run what is on a table: it may change what they record, even a gate's decision.",
        )
    });
    let types = types.into_iter().map(|(column, is, wanted)| {
        Issue::warning(
            "odd-type",
            format!("column `{column}` is declared {is}, but Prosescope's schema declares {wanted}"),
        )
        .hint("A stored value may differ from the written one. `prosescope` reads each row back and refuses changed rows.")
    });
    code.chain(types).map(|issue| issue.at_file(name)).collect()
}

fn odd_types(server: &PgClient) -> Result<Vec<(String, String, &'static str)>, Lost> {
    let rows = server.rows(TYPES, &[texts(WRITTEN.iter().map(|name| Some(*name)))])?;
    let mut odd = Vec::new();
    for row in &rows {
        let (table, column, is): (&str, &str, &str) = (get(row, 0)?, get(row, 1)?, get(row, 2)?);
        if let Some(wanted) = declared(table, column).filter(|wanted| !is_same(is, wanted)) {
            odd.push((format!("openprose.{table}.{column}"), is.to_owned(), wanted));
        }
    }
    Ok(odd)
}

/// Returns the type that Prosescope's schema declares for a column, with a comma that follows, such as `TEXT,`; `None`
/// for an unknown column.
fn declared(table: &str, column: &str) -> Option<&'static str> {
    let mut made = POSTGRES_SQL
        .split("CREATE TABLE IF NOT EXISTS openprose.")
        .skip(1);
    let body = made.find_map(|made| made.strip_prefix(table)?.strip_prefix(" ("))?;
    let (columns, _) = body.split_once("\n);")?;
    let mut words = columns.lines().map(str::split_whitespace);
    words.find_map(|mut words| (words.next()? == column).then(|| words.next())?)
}

/// Returns whether the server's name of a type means the type in a definition: `bigint` means `BIGSERIAL`.
fn is_same(is: &str, wanted: &str) -> bool {
    let wanted = match wanted.trim_end_matches(',').to_ascii_lowercase().as_str() {
        "serial" => "integer".to_owned(),
        "bigserial" => "bigint".to_owned(),
        "timestamptz" => "timestamp with time zone".to_owned(),
        other => other.to_owned(),
    };
    // A wider number type and an unlimited text type accept everything that is written.
    is == wanted
        || (is, wanted.as_str()) == ("bigint", "integer")
        || (is, wanted.as_str()) == ("character varying", "text")
}

/// Fails if a relation with the name of an OpenProse table is not a table: reading a view executes its definition.
pub(crate) const NO_TABLES: &str = "
    SELECT 1 / (count(*) = 0)::int FROM pg_class AS c
    WHERE c.relnamespace = to_regnamespace('openprose')::oid AND c.relname = ANY($1) AND c.relkind <> 'r'";

/// Returns the value that [`NO_TABLES`] binds to `$1`: the names of the written tables.
pub(crate) fn no_tables<'a>() -> Bound<'a> {
    texts(WRITTEN.iter().map(|name| Some(*name)))
}

/// Returns the tables that some SQL statements write, by the table names in the statements.
pub(crate) fn tables_of<'s>(steps: impl Iterator<Item = &'s str>) -> Vec<&'static str> {
    let statements: Vec<&str> = steps.collect();
    let is_named = |table: &&&str| {
        let (insert, update, delete) = (
            format!("INTO openprose.{table} "),
            format!("UPDATE openprose.{table} "),
            format!("FROM openprose.{table} "),
        );
        statements.iter().any(|sql| {
            [&insert, &update, &delete]
                .iter()
                .any(|named| sql.contains(*named))
        })
    };
    WRITTEN.iter().filter(is_named).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_trigger_and_the_types_of_the_schema_are_known() {
        assert!(
            append_only().contains("is append-only"),
            "{}",
            append_only()
        );
        for (table, column, wanted) in [
            ("run", "id", Some("TEXT")),
            ("execution", "statement_index", Some("INTEGER,")),
            ("bindings", "value", Some("TEXT,")),
            ("x_attachments", "bytes", Some("BYTEA")),
            ("run", "mood", None),
        ] {
            assert_eq!(declared(table, column), wanted, "{table}.{column}");
        }
        assert!(is_same("text", "TEXT,") && is_same("integer", "SERIAL"));
        assert!(!is_same("character varying(5)", "TEXT"));
    }

    #[test]
    fn the_tables_of_a_statement_are_found() {
        let steps = [
            "INSERT INTO openprose.x_events (run_id) VALUES ($1)",
            "UPDATE openprose.run SET updated_at = now()",
        ];
        assert_eq!(tables_of(steps.into_iter()), ["run", "x_events"]);
    }
}
