//! Which tables there are, and how their columns are read and written.

use prosescope_core::workflow::{Column, Dialect, Select, Shape, Table, TableShape, Value, label};

use super::barrier::Sequence;
use super::can_hold;
use crate::rows::get;
use crate::server::{Lost, Server, owned, texts};
use crate::shape::quoted;

/// The schemas that the role looks into, in their order.
const SCHEMAS: &str =
    "SELECT s::text FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) AS s";

const TABLES: [Table; 4] = [
    Table::Workflows,
    Table::Runs,
    Table::Events,
    Table::Followers,
];

/// Columns of the tables, with the words of enums.
const COLUMNS: &str = "
    SELECT n.nspname::text, c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod),
           ARRAY(SELECT enumlabel::text FROM pg_enum WHERE enumtypid = a.atttypid ORDER BY enumsortorder)
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relkind IN ('r', 'p') AND n.nspname = ANY($1::text[]) AND c.relname = ANY($2::text[])
    ORDER BY array_position($1::text[], n.nspname::text), c.relname, a.attnum";

/// The sequence that gives events their ids: what the column's default calls, or its identity.
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

/// Looks for the tables.
pub(super) fn look(server: &Server) -> Result<(Shape, Sequence), Lost> {
    // Asked before the search path is set: it is the role's own.
    let rows = server.rows(SCHEMAS, &[])?;
    let schemas: Result<Vec<String>, _> = rows.iter().map(|row| get::<String>(row, 0)).collect();
    let schemas = schemas?;
    let names = TABLES.map(Table::name);
    let bound = [
        texts(schemas.iter().map(|schema| Some(schema.as_str()))),
        texts(names.iter().map(|name| Some(*name))),
    ];
    let rows = server.ask(COLUMNS, &bound)?;
    let mut shape = Shape::default();
    let mut of_schema: Option<String> = None;
    for row in &rows {
        let (schema, table): (String, String) = (get(row, 0)?, get(row, 1)?);
        // All of one schema: the first that has any.
        if *of_schema.get_or_insert_with(|| schema.clone()) != schema {
            continue;
        }
        let Some(known) = TABLES.into_iter().find(|known| known.name() == table) else {
            continue;
        };
        let column = Column {
            name: get(row, 2)?,
            of: get(row, 3)?,
            labels: get(row, 4)?,
        };
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
    if let Some(events) = shape.table(Table::Events) {
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

/// Whether rows can be like this: a text that is no UUID is in no column of UUIDs, and asking would be an error.
pub(super) fn may_be(shape: &Shape, wanted: &Select<'_>) -> bool {
    wanted.filters.iter().all(|filter| {
        let table = shape.table(wanted.table);
        let column = table.and_then(|table| table.column(filter.column));
        column.is_none_or(|column| column.of != "uuid" || can_hold(&filter.op))
    })
}

/// How PostgreSQL writes it: everything is read as text, and bound as text that is cast to the column's type.
pub(super) struct Postgres;

impl Dialect for Postgres {
    fn read(&self, column: &Column) -> String {
        format!("{}::text", quoted(&column.name))
    }

    fn place(&self, n: usize, column: &Column) -> String {
        // A cast to a text of limited length would cut it; assigning one that is too long is an error.
        match column.of.starts_with("character") || column.of == "text" {
            true => format!("${n}::text"),
            false => format!("${n}::text::{}", column.of),
        }
    }

    fn value(&self, value: &Value, column: &Column) -> Value {
        match value {
            Value::Word(word) => Value::Text(label(word, column)),
            other => other.clone(),
        }
    }
}
