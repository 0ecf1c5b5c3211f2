//! Detects foreign code on the tables that are written: triggers, rules, CHECKs, defaults, generated columns, indexes,
//! domains and casts that call other functions.
//!
//! Foreign code would run with the rights of the writer, and could change the written or other rows. PostgreSQL cannot
//! disable it for one session, so a database with such code is not written. This module does not parse definitions: an
//! expression is judged by the functions in its stored expression tree.

use prosescope_core::issue::Issue;
use prosescope_core::schema::POSTGRES_SQL;
use prosescope_core::write::WriteError;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

use crate::address::Address;
use crate::apply::{Check, Step, any};
use crate::fault;
use crate::rows::get;
use crate::server::{Bound, Lost, Server, bool_of, text, texts};
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

/// Finds foreign code on the tables `$1`. If `$2` is true, also searches the tables whose rows change by a foreign key
/// when rows of `$1` are deleted. Returns the kind of code, and the table. `$3` is the body of Prosescope's own trigger
/// function, which is allowed: it keeps the audit log append-only (errata G7). `$4` is [`TAME`].
///
/// An expression may call functions of PostgreSQL, or C functions of an extension, if these functions read nothing. Of
/// the functions that read something, only [`TAME`] is allowed: others, such as `table_to_xml` of a view, may run any
/// statement. Most expressions call no function, which one search by a pattern shows quickly.
const FOUND: &str = r"
    WITH RECURSIVE named AS (
        SELECT c.oid, c.relkind, c.relhassubclass FROM pg_class AS c
        WHERE c.relnamespace = to_regnamespace('openprose')::oid AND c.relname = ANY($1)
        UNION
        SELECT c.oid, c.relkind, c.relhassubclass
        FROM named JOIN pg_inherits AS i ON named.relhassubclass AND i.inhparent = named.oid JOIN pg_class AS c ON c.oid = i.inhrelid
    ), ours AS MATERIALIZED (
        SELECT oid, relkind FROM named
        UNION ALL
        SELECT c.oid, c.relkind FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid
        WHERE $2 AND k.contype = 'f' AND k.confdeltype IN ('c', 'n', 'd') AND k.confrelid = ANY(ARRAY(SELECT oid FROM named))
          AND k.conrelid <> ALL(ARRAY(SELECT oid FROM named))
    ), typed AS MATERIALIZED (
        SELECT a.attrelid, a.attname, t.oid AS type, t.typtype, t.typdefaultbin FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
        WHERE a.attrelid = ANY(ARRAY(SELECT oid FROM ours)) AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid >= 16384
    ), code AS (
        SELECT 'the CHECK ' || k.conname AS what, k.conrelid AS rel, k.conbin::text AS tree
        FROM pg_constraint AS k WHERE k.contype = 'c' AND k.conrelid = ANY(ARRAY(SELECT oid FROM ours))
        UNION ALL
        SELECT CASE a.attgenerated WHEN '' THEN 'the default of column ' ELSE 'the generated column ' END || a.attname,
               d.adrelid, d.adbin::text
        FROM pg_attrdef AS d JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
        WHERE d.adrelid = ANY(ARRAY(SELECT oid FROM ours))
        UNION ALL
        SELECT 'the index ' || (SELECT relname FROM pg_class WHERE oid = i.indexrelid), i.indrelid,
               concat(i.indexprs::text, i.indpred::text)
        FROM pg_index AS i WHERE i.indrelid = ANY(ARRAY(SELECT oid FROM ours))
          AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)
        UNION ALL
        SELECT 'the partitioning', p.partrelid, p.partexprs::text FROM pg_partitioned_table AS p
        WHERE p.partrelid = ANY(ARRAY(SELECT oid FROM ours)) AND p.partexprs IS NOT NULL
        UNION ALL
        SELECT 'the domain of column ' || typed.attname, typed.attrelid, concat(typed.typdefaultbin::text, k.conbin::text)
        FROM typed LEFT JOIN pg_constraint AS k ON k.contypid = typed.type WHERE typed.typtype = 'd'
    ), calls AS (
        SELECT code.what, code.rel, call[1] AS of, call[2]::oid AS id
        FROM (SELECT * FROM code OFFSET 0) AS code,
             LATERAL regexp_matches(code.tree, ':(funcid|opfuncid|resulttype) ([0-9]+)', 'g') AS call
        WHERE code.tree ~ ':(funcid (?!(480|1254|1256|1299|1574|3060|3432) )|(opfuncid|resulttype) [0-9]{5})'
    )
    SELECT found.what, c.oid::regclass::text FROM (
        SELECT 'the trigger ' || t.tgname AS what, t.tgrelid AS rel FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid
        WHERE t.tgrelid = ANY(ARRAY(SELECT oid FROM ours)) AND NOT t.tgisinternal AND t.tgenabled <> 'D'
          AND NOT (p.pronamespace = to_regnamespace('openprose')::oid AND p.proname = 'x_audit_append_only'
                   AND p.prosrc = $3 AND NOT p.prosecdef AND p.proconfig = ARRAY['search_path=pg_catalog'])
        UNION ALL
        SELECT 'the rule ' || r.rulename, r.ev_class FROM pg_rewrite AS r
        WHERE r.ev_class = ANY(ARRAY(SELECT oid FROM ours)) AND r.ev_enabled <> 'D' AND r.rulename <> '_RETURN'
        UNION ALL
        SELECT CASE relkind WHEN 'f' THEN 'the table of another server' ELSE 'a view' END, oid
        FROM ours WHERE relkind NOT IN ('r', 'p')
        UNION ALL
        SELECT 'a cast to the type of column ' || typed.attname, typed.attrelid FROM typed
        JOIN pg_cast AS k ON k.casttarget = typed.type JOIN pg_proc AS p ON p.oid = k.castfunc
        WHERE p.oid >= 16384 AND p.prolang NOT IN (12, 13)
        UNION ALL
        SELECT calls.what || ', which calls ' || p.oid::regprocedure::text, calls.rel
        FROM calls JOIN pg_proc AS p ON calls.of <> 'resulttype' AND p.oid = calls.id
        WHERE (p.oid >= 16384 AND p.prolang NOT IN (12, 13))
           OR (p.provolatile <> 'i' AND calls.of = 'funcid' AND NOT (p.oid < 16384 AND p.proname = ANY($4)))
        UNION ALL
        SELECT calls.what || ', which uses the domain ' || t.typname, calls.rel
        FROM calls JOIN pg_type AS t ON calls.of = 'resulttype' AND t.oid = calls.id WHERE t.typtype = 'd' AND t.oid >= 16384
    ) AS found JOIN pg_class AS c ON c.oid = found.rel";

/// Allowed functions that read the clock, a setting or a sequence, and execute nothing.
const TAME: [&str; 22] = [
    "age",
    "clock_timestamp",
    "concat",
    "concat_ws",
    "current_setting",
    "date",
    "date_trunc",
    "format",
    "gen_random_uuid",
    "json_build_object",
    "jsonb_build_object",
    "nextval",
    "now",
    "random",
    "statement_timestamp",
    "timestamp",
    "timestamptz",
    "timezone",
    "to_char",
    "to_jsonb",
    "to_timestamp",
    "transaction_timestamp",
];

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
        texts(TAME.iter().map(|name| Some(*name))),
    ]
}

/// Returns the statements that must precede a write to these tables. They lock the tables, so that no code can be added
/// until the transaction ends. They fail if there is foreign code already; later statements of the transaction then do
/// not run. `deletes` is whether rows are also deleted.
pub(crate) fn guard<'a>(tables: &[&'a str], deletes: bool) -> [Step<'a>; 2] {
    let all: Vec<String> = tables
        .iter()
        .map(|table| format!("openprose.{}", quoted(table)))
        .collect();
    // This statement also locks the tables that inherit from these, and their partitions.
    let lock = format!("LOCK TABLE {} IN ROW EXCLUSIVE MODE", all.join(", "));
    let none = format!("SELECT 1 / (count(*) = 0)::int FROM ({FOUND}) AS found");
    let none = Step {
        check: Some(Check::NoCode),
        ..any(none, bound(tables, deletes))
    };
    [any(lock, Vec::new()), none]
}

/// Returns whether an error is that of [`guard`] or of [`NO_TABLES`].
pub(crate) fn is_of_guard(lost: &Lost) -> bool {
    matches!(lost, Lost::Error(error) if error.code() == Some(&SqlState::DIVISION_BY_ZERO))
}

/// Executes [`guard`] and waits for its answers; fails with the error of [`is_of_guard`] if there is foreign code.
pub(crate) fn guarded(server: &Server, tables: &[&str], deletes: bool) -> Result<(), Lost> {
    for step in guard(tables, deletes) {
        server.rows(&step.sql, &step.bound)?;
    }
    Ok(())
}

/// Returns the kind and the table of each piece of foreign code. Must be called outside a transaction.
pub(crate) fn found(server: &Server) -> Result<Vec<(String, String)>, Lost> {
    named(&server.ask(FOUND, &bound(&WRITTEN, true))?)
}

fn named(rows: &[Row]) -> Result<Vec<(String, String)>, Lost> {
    let found = rows.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?)));
    Ok(found.collect::<Result<_, tokio_postgres::Error>>()?)
}

/// Ends the transaction of a command that [`guard`] stopped; returns the refusal, which describes the foreign code.
pub(crate) fn refusal(server: &Server) -> WriteError {
    let address = server.address();
    if let Err(lost) = server.batch("ROLLBACK") {
        return fault::unwritten(address, &lost).into();
    }
    let what = match found(server) {
        Ok(found) => found
            .first()
            .map(|(what, table)| format!("{what} on {table}")),
        Err(lost) => return fault::unwritten(address, &lost).into(),
    };
    match what {
        Some(what) => refused(address, &what),
        // No foreign code is found. So a written row differed when it was read back, or the code was removed
        // meanwhile.
        None => otherwise(address, "the stored row differs from the written one"),
    }
}

/// Returns the refusal of a database with foreign code on its tables.
pub(crate) fn refused(address: &Address, what: &str) -> WriteError {
    WriteError::refused(
        "foreign-code",
        format!(
            "{address} was not written: the database's schema would run {what} with each write"
        ),
        "nothing was recorded; `prosescope check RUN` lists the code that others added to the tables of `openprose`: remove this code, or disable it (`ALTER TABLE … DISABLE TRIGGER …`), or keep the run in a file: `prosescope pull RUN`",
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

/// Returns issues on foreign code, and on columns with wrong types. Must be called inside a transaction.
pub(crate) fn check_database(server: &Server, name: &str) -> Vec<Issue> {
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
    let code = found.iter().map(|(what, table)| {
        let rule = match what.starts_with("the trigger ") {
            true => "foreign-trigger",
            false => "foreign-code",
        };
        Issue::warning(rule, format!("{name} has {what} on {table}")).hint(
            "This code runs when other programs write, and may change what they record, even a decision. `prosescope` refuses to write while the code is there.",
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

fn odd_types(server: &Server) -> Result<Vec<(String, String, &'static str)>, Lost> {
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
    WHERE c.relnamespace = to_regnamespace('openprose')::oid AND c.relname = ANY($1) AND c.relkind NOT IN ('r', 'p')";

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
