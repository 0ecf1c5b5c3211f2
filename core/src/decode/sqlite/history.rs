//! Earlier values: our extension tables `x_binding_history` (errata B6) and `x_agent_memory_history` (A1).
//!
//! The documents overwrite a binding and a memory; where our writer kept what was there before, it is found here.
//! Databases of other writers have no such tables, and then there are no earlier values.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::bindings::{Kinds, length, stored_kind};
use super::error::DecodeError;
use super::scan::{Reader, Want};
use crate::model::{BindingKind, Text, ValueAt};
use crate::schema;
use crate::time::Stamp;

/// What a binding or a memory was before it was written again.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// The kind that a binding had; empty for a memory.
    pub kind: BindingKind,
    /// The statement that had made a binding.
    pub source: Option<Text>,
    /// When a binding was first written.
    pub created: Option<Stamp>,
    /// When this value was written.
    pub updated: Option<Stamp>,
    /// When it was replaced.
    pub replaced: Option<Stamp>,
    /// The attachment that a binding had.
    pub attachment: Option<Text>,
    /// Where the value lies: in `value` of `x_binding_history`, or in `memory` of `x_agent_memory_history`.
    pub value: ValueAt,
}

const BINDINGS: &[Want] = &[
    Want::short("name"),
    Want::short("execution_id"),
    Want::short("kind"),
    Want::long("source_statement"),
    Want::short("created_at"),
    Want::short("updated_at"),
    Want::short("replaced_at"),
    Want::short("attachment_path"),
];

const MEMORIES: &[Want] = &[
    Want::short("agent_name"),
    Want::short("updated_at"),
    Want::short("replaced_at"),
];

/// Earlier values of a binding, the oldest first.
///
/// # Errors
/// When the database cannot be read.
pub fn binding_versions(
    conn: &Connection,
    name: &str,
    execution_id: Option<i64>,
) -> Result<Vec<Version>, DecodeError> {
    let mut versions = Vec::new();
    walk(
        conn,
        schema::BINDING_HISTORY,
        BINDINGS,
        "value",
        |cells, value| {
            if cells.text(0).as_deref() == Some(name) && cells.int(1) == execution_id {
                versions.push(Version {
                    kind: BindingKind::parse(&cells.text(2).unwrap_or_else(|| "".into())),
                    source: cells.text(3),
                    created: cells.stamp(4),
                    updated: cells.stamp(5),
                    replaced: cells.stamp(6),
                    attachment: cells.text(7),
                    value,
                });
            }
        },
    )?;
    Ok(versions)
}

/// Earlier memories of an agent, the oldest first.
///
/// # Errors
/// When the database cannot be read.
pub fn memory_versions(conn: &Connection, agent: &str) -> Result<Vec<Version>, DecodeError> {
    let mut versions = Vec::new();
    walk(
        conn,
        schema::AGENT_MEMORY_HISTORY,
        MEMORIES,
        "memory",
        |cells, value| {
            if cells.text(0).as_deref() == Some(agent) {
                versions.push(Version {
                    kind: BindingKind::Other("".into()),
                    source: None,
                    created: None,
                    updated: cells.stamp(1),
                    replaced: cells.stamp(2),
                    attachment: None,
                    value,
                });
            }
        },
    )?;
    Ok(versions)
}

/// How many earlier values each binding has, by name and frame. Bindings without any are not listed.
///
/// # Errors
/// When the database cannot be read.
pub fn version_counts(
    conn: &Connection,
) -> Result<BTreeMap<(Text, Option<i64>), u32>, DecodeError> {
    let mut counts = BTreeMap::new();
    walk(
        conn,
        schema::BINDING_HISTORY,
        BINDINGS.get(..2).unwrap_or(BINDINGS),
        "value",
        |cells, _| {
            if let Some(name) = cells.text(0) {
                *counts.entry((name, cells.int(1))).or_insert(0) += 1;
            }
        },
    )?;
    Ok(counts)
}

fn walk(
    conn: &Connection,
    table: &'static str,
    wants: &[Want],
    column: &str,
    mut each: impl FnMut(&mut super::scan::Cells<'_, '_>, ValueAt),
) -> Result<(), DecodeError> {
    let mut reader = match Reader::of_table(conn, table, "") {
        Err(DecodeError::NotFound(_)) => return Ok(()),
        other => other?,
    };
    let Some(found) = reader.shape.table(table) else {
        return Ok(());
    };
    let extra = [stored_kind(found, column), length(found, column)];
    let kinds = Kinds::new();
    reader.scan(table, wants, &extra, |cells| {
        let value = kinds.value(cells.at, cells.extra(0), cells.extra_int(1));
        each(cells, value);
    });
    reader.failed.take().map_or(Ok(()), Err)
}
