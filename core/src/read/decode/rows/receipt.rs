//! Reads the table of receipts of a database of contract 2 (contract-2.md, "Databases").

use serde_json::{Map, Value};

use super::reader::RowsReader;
use crate::model::database::Want;
use crate::model::schema::{self, RECEIPT, ROOT_PATH};
use crate::model::{Dialect, Form, Run};
use crate::read::decode::folder::{CONTRACT_2, receipts_of_table, written_by};

/// The columns with a text.
const TEXTS: [&str; 3] = ["node", "prev", "status"];
/// The columns with an object or a list as JSON.
const OBJECTS: [&str; 4] = ["wake", "fingerprints", "semantic_diff", "cost"];

/// Reads the receipts of a database of contract 2 into the run. Does nothing for another database.
pub(super) fn read(reader: &mut RowsReader<'_>, run: &mut Run) {
    let has_receipts = reader.table(RECEIPT).is_some();
    let of_run = reader.table(schema::RUN);
    if !has_receipts && of_run.is_none_or(|table| table.column(ROOT_PATH).is_none()) {
        return;
    }
    let wants: Vec<Want<'_>> = TEXTS
        .map(Want::short)
        .into_iter()
        .chain(OBJECTS.map(Want::long))
        .collect();
    let mut receipts: Vec<Vec<(&str, String)>> = Vec::new();
    reader.scan_some(RECEIPT, &wants, |cells| {
        let cell = |want: &Want<'static>| Some((want.column, cells.string(want.column)?));
        let texts: Vec<(&str, String)> = wants.iter().filter_map(cell).collect();
        cells.more = texts.iter().map(|(_, text)| text.len()).sum();
        receipts.push(texts);
    });
    let dialect = if receipts.is_empty() {
        Dialect::Renamed
    } else {
        Dialect::Receipts
    };
    run.form = Form::Sqlite { dialect };
    written_by(run, CONTRACT_2);
    if dialect == Dialect::Receipts {
        for issue in receipts_of_table(receipts.into_iter().map(object), run) {
            reader.notes.add(issue.at_table(RECEIPT));
        }
    }
}

/// Returns the receipt of a row. A cell that is not JSON counts as absent.
fn object(texts: Vec<(&str, String)>) -> Map<String, Value> {
    let texts = texts.into_iter();
    let field = |(column, text): (&str, String)| {
        let value = if TEXTS.contains(&column) {
            Value::String(text)
        } else {
            serde_json::from_str(&text).ok()?
        };
        Some((column.to_owned(), value))
    };
    texts.filter_map(field).collect()
}
