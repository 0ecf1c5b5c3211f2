//! Searches data that OpenProse does not define: tables of extensions (`x_…`), other tables, and columns added to
//! OpenProse's tables.

use std::collections::VecDeque;

use super::{Search, SearchSoFar};
use crate::model::TableInfo;
use crate::pages::session::Session;
use crate::pages::view::{HitKind, SearchHit, ShownCell, SkippedValue};
use crate::read::decode::rows;

/// How many rows a step reads, and how many bytes of each cell. Steps are long, because a store counts from the first
/// row to find the rows of a step.
const ROWS: u32 = 5_000;
const CELL: u32 = 512;

/// How many bytes of a cell longer than [`CELL`] are read. The row of such a cell is read separately.
const MOST: u32 = 1 << 20;

/// The next rows to search: the index of the table among the run's tables, and the first row.
pub(super) struct SearchWindow {
    table: usize,
    from: u64,
}

/// Returns the tables to search.
pub(super) fn windows(session: &Session) -> VecDeque<SearchWindow> {
    if session.values.db.is_none() {
        return VecDeque::new();
    }
    let tables = session.run.tables.iter().enumerate();
    tables
        .filter(|(_, info)| {
            info.kind == "table" && info.columns.iter().any(|c| is_extra(info, &c.name))
        })
        .map(|(table, _)| SearchWindow { table, from: 0 })
        .collect()
}

/// Searches the next rows.
pub(super) fn step(search: &mut Search, session: &Session) {
    let Some(SearchWindow { table, from }) = search.tables.pop_front() else {
        return;
    };
    let (Some(info), Some(db)) = (session.run.tables.get(table), &session.values.db) else {
        return;
    };
    let page = match rows::table_rows(db.db.as_ref(), &info.name, from, ROWS, CELL) {
        Ok(page) => page,
        Err(error) => {
            return search.found.skip(SkippedValue {
                place: format!("table {}", info.name),
                len: 0,
                why: error.to_string(),
                failed: true,
            });
        }
    };
    for (number, row) in (from..).zip(&page.rows) {
        let extra = |cells: &[ShownCell]| -> Vec<ShownCell> {
            let cells = page.columns.iter().zip(cells);
            let cells = cells.filter(|(column, _)| is_extra(info, column));
            cells.map(|(_, cell)| cell.clone()).collect()
        };
        let mut cells = extra(row);
        if cells.iter().any(|cell| cell.cut)
            && let Ok(whole) = rows::table_rows(db.db.as_ref(), &info.name, number, 1, MOST)
            && let Some(row) = whole.rows.first()
        {
            cells = extra(row);
        }
        look(search, info, number.saturating_add(1), &cells);
    }
    if page.rows.len() as u64 == u64::from(ROWS) {
        let from = from.saturating_add(u64::from(ROWS));
        search.tables.push_front(SearchWindow { table, from });
    }
}

fn look(search: &mut Search, info: &TableInfo, number: u64, cells: &[ShownCell]) {
    let place = || format!("{}, row {number}", info.name);
    let Search { needle, found, .. } = search;
    for cell in cells.iter().filter(|cell| cell.stored == "text") {
        found.text(needle, HitKind::Tables, &cell.text, || SearchHit {
            place: place(),
            table: Some(info.name.clone()),
            ..SearchHit::default()
        });
        if cell.cut {
            cut(found, place(), cell);
        }
    }
}

fn cut(found: &mut SearchSoFar, place: String, cell: &ShownCell) {
    found.skip(SkippedValue {
        place,
        len: cell.len,
        why: format!(
            "only the first {} bytes of the value were searched",
            cell.text.len()
        ),
        failed: false,
    });
}

/// Returns whether OpenProse does not define the column. Other columns are searched as statements, values and so on.
fn is_extra(info: &TableInfo, column: &str) -> bool {
    let mut columns = info.columns.iter();
    !info.known || columns.any(|own| own.name == column && !own.known)
}
