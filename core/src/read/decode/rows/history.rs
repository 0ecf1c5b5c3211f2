//! Reads earlier values from Prosescope's extension tables `x_binding_history` (errata B6) and
//! `x_agent_memory_history` (A1).
//!
//! OpenProse overwrites bindings and memories. Prosescope keeps the earlier values in these two tables. Databases of
//! other writers lack the tables, so their history is empty.

use std::collections::BTreeMap;

use super::reader::{RowsReader, ScannedRow};
use crate::model::database::{Database, DecodeError, Want};
use crate::model::schema;
use crate::model::time::Stamp;
use crate::model::{BindingKind, Text, ValueAt};
use crate::read::decode::fields::Fields as _;

/// An earlier value of a binding or a memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Version {
    /// The binding's kind; empty for a memory.
    pub kind: BindingKind,
    /// The statement that wrote the binding.
    pub source: Option<Text>,
    /// When the binding was first written.
    pub created: Option<Stamp>,
    /// When this value was written.
    pub updated: Option<Stamp>,
    /// When this value was replaced.
    pub replaced: Option<Stamp>,
    /// The column `attachment_path` of the binding, as recorded.
    pub attachment: Option<Text>,
    /// Location of the value: in `value` of `x_binding_history`, or in `memory` of `x_agent_memory_history`.
    pub value: ValueAt,
}

/// Earlier values, by the binding's name and the execution id of its frame (`None` at the root).
pub type Versions = BTreeMap<(Text, Option<i64>), Vec<Version>>;

const BINDINGS: &[Want<'static>] = &[
    Want::short("name"),
    Want::short("execution_id"),
    Want::short("kind"),
    Want::long("source_statement"),
    Want::short("created_at"),
    Want::short("updated_at"),
    Want::short("replaced_at"),
    Want::short("attachment_path"),
    Want::size("value"),
];

const MEMORIES: &[Want<'static>] = &[
    Want::short("agent_name"),
    Want::short("updated_at"),
    Want::short("replaced_at"),
    Want::size("memory"),
];

/// Reads the earlier values of all bindings in one scan, oldest first.
///
/// # Errors
/// If the earlier values of the bindings cannot be read.
pub fn all_binding_versions(db: &dyn Database) -> Result<Versions, DecodeError> {
    let mut versions: BTreeMap<_, Vec<Version>> = BTreeMap::new();
    walk(db, schema::BINDING_HISTORY, BINDINGS, |cells| {
        let key = (cells.word("name"), cells.int("execution_id"));
        versions.entry(key).or_default().push(of_binding(cells));
    })?;
    Ok(versions)
}

fn of_binding(cells: &mut ScannedRow<'_>) -> Version {
    Version {
        kind: BindingKind::parse(&cells.word("kind")),
        source: cells.text("source_statement"),
        created: cells.stamp("created_at"),
        updated: cells.stamp("updated_at"),
        replaced: cells.stamp("replaced_at"),
        attachment: cells.text("attachment_path"),
        value: cells.value_at("value"),
    }
}

/// Reads the earlier memories of all agents in one scan, by name, oldest first.
///
/// # Errors
/// If the earlier memories cannot be read.
pub fn all_memory_versions(db: &dyn Database) -> Result<BTreeMap<Text, Vec<Version>>, DecodeError> {
    let mut versions: BTreeMap<Text, Vec<Version>> = BTreeMap::new();
    walk(db, schema::AGENT_MEMORY_HISTORY, MEMORIES, |cells| {
        let name = cells.word("agent_name");
        let version = Version {
            updated: cells.stamp("updated_at"),
            replaced: cells.stamp("replaced_at"),
            value: cells.value_at("memory"),
            ..Version::default()
        };
        versions.entry(name).or_default().push(version);
    })?;
    Ok(versions)
}

/// Returns the number of earlier values per binding, by name and frame. Bindings without earlier values are omitted.
///
/// # Errors
/// If the earlier values cannot be counted, because their table cannot be read.
pub fn version_counts(
    db: &dyn Database,
) -> Result<BTreeMap<(Text, Option<i64>), u32>, DecodeError> {
    const WANTS: &[Want<'static>] = &[Want::short("name"), Want::short("execution_id")];
    let mut counts = BTreeMap::new();
    walk(db, schema::BINDING_HISTORY, WANTS, |cells| {
        if let Some(name) = cells.text("name") {
            *counts.entry((name, cells.int("execution_id"))).or_insert(0) += 1;
        }
    })?;
    Ok(counts)
}

fn walk(
    db: &dyn Database,
    table: &'static str,
    wants: &[Want<'static>],
    each: impl FnMut(&mut ScannedRow<'_>),
) -> Result<(), DecodeError> {
    let mut reader = match RowsReader::of_table(db, table, "") {
        Err(DecodeError::NotFound(_)) => return Ok(()),
        other => other?,
    };
    reader.scan_some(table, wants, each);
    reader.failed.take().map_or(Ok(()), Err)
}
