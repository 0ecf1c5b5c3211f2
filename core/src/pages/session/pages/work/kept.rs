//! Finds replaced values in the tables and folders of earlier values that Prosescope keeps.

use super::order::before;
use super::{BYTES, Excerpt, Text, of_bytes};
use crate::model::database::CellAt;
use crate::model::schema;
use crate::model::time::Stamp;
use crate::model::{Binding, ValueAt};
use crate::pages::session::Session;
use crate::read::decode::{folder, rows};

use super::ValueTable;

/// An earlier value of a binding.
pub(super) enum EarlierValue {
    /// The value was kept.
    Value(Excerpt),
    /// The store kept earlier values, but the times do not show which of these values is the right one.
    Some,
    /// No earlier value was kept.
    None,
}

/// Finds the value that was written while a statement was running.
pub(super) fn written_in(
    session: &Session,
    binding: &Binding,
    span: (Option<i64>, Option<i64>),
) -> EarlierValue {
    find(session, binding, |written, _| {
        let (from, to) = (span.0?, span.1?);
        Some(!before(written, from) && !before(to, written))
    })
}

/// Finds the value that existed when a statement began.
pub(super) fn there_at(
    session: &Session,
    binding: &Binding,
    span: (Option<i64>, Option<i64>),
) -> EarlierValue {
    find(session, binding, |written, replaced| {
        let from = span.0?;
        Some(before(written, from) && before(from, replaced?))
    })
}

/// Finds the only earlier value whose times of writing and replacement satisfy a condition.
fn find(
    session: &Session,
    binding: &Binding,
    is: impl Fn(i64, Option<i64>) -> Option<bool>,
) -> EarlierValue {
    let key = (Text::clone(&binding.name), binding.execution_id);
    if session.earlier.get(&key).is_none_or(|count| *count == 0) {
        return EarlierValue::None;
    }
    let versions = match &session.values.db {
        Some(db) => rows::all_binding_versions(db.db.as_ref())
            .ok()
            .and_then(|mut all| all.remove(&key))
            .unwrap_or_default(),
        None => {
            let (source, root) = (session.values.source.as_ref(), &session.root);
            folder::binding_versions(source, root, &binding.name, binding.execution_id)
        }
    };
    let millis = |stamp: &Option<Stamp>| stamp.as_ref().and_then(Stamp::millis);
    let mut fitting = versions.iter().filter(|version| {
        let at = millis(&version.updated).or_else(|| millis(&version.created));
        at.and_then(|at| is(at, millis(&version.replaced))) == Some(true)
    });
    let one = match (fitting.next(), fitting.next()) {
        (Some(one), None) => one,
        _ => return EarlierValue::Some,
    };
    read(session, &one.value).map_or(EarlierValue::Some, EarlierValue::Value)
}

fn read(session: &Session, at: &ValueAt) -> Option<Excerpt> {
    let len = at.len()?;
    let most = usize::try_from(len).unwrap_or(usize::MAX).min(BYTES);
    let bytes = match (at, &session.values.db) {
        (ValueAt::Row { rowid, stored, .. }, Some(store)) => {
            let cell = CellAt {
                table: schema::BINDING_HISTORY,
                column: "value",
                at: *rowid,
                stored: Some(*stored),
            };
            let mut bytes = Vec::new();
            let range = 0..most as u64;
            let read = store.db.pieces(&cell, range, &mut |piece| {
                bytes.extend_from_slice(piece);
                true
            });
            read.ok()?;
            bytes
        }
        _ => session
            .values
            .read_at(&ValueTable::Bindings, at, 0, most)
            .ok()?,
    };
    Some(of_bytes(&bytes, len))
}
