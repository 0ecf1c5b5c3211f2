//! Discovers the workflow tables, and how their columns are read and written.

use prosescope_workflow::{
    Kind, Op, Select, SqlDialect, SqlValue, Statement, TableShape, TurnStatus, WorkflowColumn,
    WorkflowShape, WorkflowStatus, WorkflowTable, label,
};

use super::barrier::Sequence;
use crate::cell::get;
use crate::server::{Lost, PgClient, owned, texts};
use crate::shape::quoted;

/// Returns the schemas of the role's search path, in order.
const SCHEMAS: &str =
    "SELECT s::text FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) AS s";

const TABLES: [WorkflowTable; 3] = [
    WorkflowTable::Workflows,
    WorkflowTable::Runs,
    WorkflowTable::Events,
];

/// Returns the columns of the tables, with the words that an enum type or a CHECK lists.
const COLUMNS: &str = "
    SELECT n.nspname::text, c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod),
           ARRAY(SELECT enumlabel::text FROM pg_enum WHERE enumtypid = a.atttypid ORDER BY enumsortorder),
           (SELECT string_agg(pg_get_constraintdef(k.oid), ' ') FROM pg_constraint k
            WHERE k.conrelid = c.oid AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum])
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relkind IN ('r', 'p') AND n.nspname = ANY($1::text[]) AND c.relname = ANY($2::text[])
    ORDER BY array_position($1::text[], n.nspname::text), c.relname, a.attnum";

/// Returns the sequence of the event ids: from the column's default, or from its identity.
const SEQUENCE: &str = "
    SELECT s.seqrelid::regclass::text, s.seqcache, s.seqincrement, pg_is_in_recovery()
    FROM pg_attribute a
    LEFT JOIN LATERAL (
      SELECT d.refobjid AS oid FROM pg_attrdef f
      JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid
       AND d.refclassid = 'pg_class'::regclass
      JOIN pg_class c ON c.oid = d.refobjid AND c.relkind = 'S'
      WHERE f.adrelid = a.attrelid AND f.adnum = a.attnum
      UNION ALL
      SELECT d.objid FROM pg_depend d
      JOIN pg_class c ON c.oid = d.objid AND c.relkind = 'S'
      WHERE d.classid = 'pg_class'::regclass AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
        AND d.deptype = 'i'
      LIMIT 1) AS found ON true
    LEFT JOIN pg_sequence s ON s.seqrelid = found.oid
    WHERE a.attrelid = $1::text::regclass AND a.attname = 'id'";

/// Returns the schemas of the role's search path, whatever another client of a pooler set in the session.
fn schemas(server: &PgClient) -> Result<Vec<String>, Lost> {
    server.batch("BEGIN READ ONLY; SET LOCAL search_path TO DEFAULT")?;
    let rows = server.rows(SCHEMAS, &[])?;
    server.batch("END")?;
    let schemas: Result<Vec<String>, _> = rows.iter().map(|row| get::<String>(row, 0)).collect();
    Ok(schemas?)
}

/// Returns the schema that contains workflow tables, else the first schema of the role's search path; `None` if the
/// path is empty.
pub(super) fn schema(server: &PgClient) -> Result<Option<String>, Lost> {
    const FIRST: &str = "
        SELECT n.nspname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p') AND n.nspname = ANY($1::text[]) AND c.relname = ANY($2::text[])
        ORDER BY array_position($1::text[], n.nspname::text) LIMIT 1";
    let schemas = schemas(server)?;
    let bound = [
        texts(schemas.iter().map(|schema| Some(schema.as_str()))),
        texts(TABLES.map(|table| Some(table.name()))),
    ];
    let found = server.ask(FIRST, &bound)?;
    let found = found.first().map(|row| get(row, 0)).transpose()?;
    Ok(found.or_else(|| schemas.first().cloned()))
}

/// Discovers the workflow tables with their columns, and the sequence of the event ids.
pub(super) fn look(server: &PgClient) -> Result<(WorkflowShape, Sequence), Lost> {
    let schemas = schemas(server)?;
    let names = TABLES.map(WorkflowTable::name);
    let bound = [
        texts(schemas.iter().map(|schema| Some(schema.as_str()))),
        texts(names.iter().map(|name| Some(*name))),
    ];
    let rows = server.ask(COLUMNS, &bound)?;
    let mut shape = WorkflowShape::default();
    let mut of_schema: Option<String> = None;
    for row in &rows {
        let (schema, table): (String, String) = (get(row, 0)?, get(row, 1)?);
        // All tables must be in one schema: the first that contains a workflow table.
        if *of_schema.get_or_insert_with(|| schema.clone()) != schema {
            continue;
        }
        let Some(known) = TABLES.into_iter().find(|known| known.name() == table) else {
            continue;
        };
        let mut column = WorkflowColumn {
            name: get(row, 2)?,
            of: get(row, 3)?,
            labels: get(row, 4)?,
        };
        if column.labels.is_empty() {
            column.labels = checked_words(get::<Option<&str>>(row, 5)?.unwrap_or_default());
        }
        match shape.tables.iter_mut().find(|(there, _)| *there == known) {
            Some((_, there)) => there.columns.push(column),
            None => {
                let name = format!("{}.{}", quoted(&schema), quoted(&table));
                let columns = vec![column];
                shape.tables.push((known, TableShape { name, columns }));
            }
        }
    }
    let mut sequence = Sequence::default();
    if let Some(events) = shape.table(WorkflowTable::Events) {
        sequence.table.clone_from(&events.name);
        let rows = server.ask(SEQUENCE, &[owned(events.name.clone())])?;
        if let Some(row) = rows.first() {
            sequence.name = get(row, 0)?;
            sequence.cache = get::<Option<i64>>(row, 1)?.unwrap_or_default();
            sequence.step = get::<Option<i64>>(row, 2)?.unwrap_or_default();
            sequence.is_replica = get(row, 3)?;
        }
    }
    Ok((shape, sequence))
}

/// Returns OpenProse's words in the text of a CHECK, in the spelling of the CHECK, such as `ACTIVE`. The column accepts
/// no other spelling, and an empty table has no row that shows the spelling.
fn checked_words(check: &str) -> Vec<String> {
    let quoted = check.split('\'').skip(1).step_by(2);
    let known = quoted.filter(|word| {
        WorkflowStatus::parse(word).is_some()
            || TurnStatus::parse(word).is_some()
            || Kind::parse(word).is_some()
    });
    known.map(str::to_owned).collect()
}

/// Returns the statement that selects the wanted rows; `None` if no row can match. For example, a text that is not a
/// UUID cannot match a UUID column, and such a query would fail.
pub(super) fn statement(shape: &WorkflowShape, wanted: &Select<'_>) -> Option<Statement> {
    let table = shape.table(wanted.table)?;
    let mut possible = wanted.clone();
    for filter in &mut possible.filters {
        let column = table.column(filter.column)?;
        match &mut filter.op {
            Op::Is(value) if !can_hold(column, value) => return None,
            Op::In(values) => values.retain(|value| can_hold(column, value)),
            _ => {}
        }
    }
    shape.select(&possible, &Postgres)
}

/// Returns whether a column can contain a value that it is compared with.
fn can_hold(column: &WorkflowColumn, value: &SqlValue) -> bool {
    match value {
        SqlValue::Text(text) if text.contains('\0') => false,
        SqlValue::Text(text) if column.of == "uuid" => is_uuid(text),
        // An enum of another program may lack OpenProse's word.
        SqlValue::Word(word) => {
            column.labels.is_empty() || column.labels.contains(&label(word, column))
        }
        _ => true,
    }
}

fn is_uuid(text: &str) -> bool {
    let digits = text.chars().filter(|c| *c != '-').count();
    let in_place = text.len() == 32
        || text.len() == 36
            && text
                .char_indices()
                .all(|(at, c)| (c == '-') == matches!(at, 8 | 13 | 18 | 23));
    digits == 32 && in_place && text.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}

/// The SQL dialect of PostgreSQL: every column is read as text, and values are bound as text and cast to the column's
/// type.
pub(super) struct Postgres;

impl SqlDialect for Postgres {
    fn read(&self, column: &WorkflowColumn) -> String {
        format!("{}::text", quoted(&column.name))
    }

    fn place(&self, n: usize, column: &WorkflowColumn) -> String {
        // A cast to a type such as `character(9)` would silently cut a longer text. An assignment to the column reports
        // an error.
        if column.of.starts_with("character") || column.of == "text" {
            format!("${n}::text")
        } else {
            format!("${n}::text::{}", column.of)
        }
    }

    fn value(&self, value: &SqlValue, column: &WorkflowColumn) -> SqlValue {
        match value {
            SqlValue::Word(word) => SqlValue::Text(label(word, column)),
            // SQLAlchemy stores UUIDs as CHAR(32), without dashes, unless the model uses the type `uuid`.
            SqlValue::Text(id) if column.of == "character(32)" && is_uuid(id) => {
                SqlValue::Text(id.replace('-', ""))
            }
            other => other.clone(),
        }
    }
}
