//! Reads the states of executions from `x_events`, the table of a store that updates rows in place (errata P3).

use super::meta::Metas;
use super::reader::RowsReader;
use crate::model::database::Want;
use crate::model::schema;
use crate::model::{ExecutionState, Status};
use crate::read::decode::fields::Fields as _;

const COLUMNS: &[Want<'static>] = &[
    Want::short("id"),
    Want::short("execution_id"),
    Want::short("word"),
    Want::short("at"),
    Want::long("metadata"),
    Want::long("error"),
];

/// Reads all events, in order of the execution's id, then of time.
pub(super) fn read(reader: &mut RowsReader<'_>) -> Vec<ExecutionState> {
    let mut events = Vec::new();
    let mut metas = Metas::default();
    reader.scan_some(schema::EVENTS, COLUMNS, |cells| {
        let order = cells.int("id").unwrap_or(cells.at);
        let Some(id) = cells.int("execution_id") else {
            return;
        };
        let status = Status::parse(&cells.word("word"));
        let at = cells.stamp("at");
        let metadata = cells.string("metadata");
        let metadata = metadata.map(|text| metas.parse(&text, cells.texts).meta);
        let error = cells.text("error");
        events.push(ExecutionState::new(
            order,
            id,
            status,
            at,
            error,
            metadata.flatten(),
        ));
    });
    events.sort_by_key(|event| (event.row.id, event.order));
    events
}
