//! Reads the table of receipts of a database of contract 2 (contract-2.md, "Databases").

use serde_json::{Map, Value};

use super::reader::RowsReader;
use crate::model::database::Want;
use crate::model::schema::{self, RECEIPT, ROOT_PATH};
use crate::model::{Dialect, Form, Run};
use crate::read::decode::folder::receipts_of_table;

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
    let wants = [
        Want::short("node"),
        Want::short("prev"),
        Want::short("status"),
        Want::long("wake"),
        Want::long("fingerprints"),
        Want::long("semantic_diff"),
        Want::long("cost"),
    ];
    let mut receipts: Vec<Map<String, Value>> = Vec::new();
    reader.scan_some(RECEIPT, &wants, |cells| {
        let texts = TEXTS.map(|column| (column, cells.string(column).map(Value::String)));
        let objects = OBJECTS.map(|column| {
            let text = cells.string(column);
            (
                column,
                text.and_then(|text| serde_json::from_str(&text).ok()),
            )
        });
        let fields = texts.into_iter().chain(objects);
        receipts.push(
            fields
                .filter_map(|(column, value)| Some((column.to_owned(), value?)))
                .collect(),
        );
    });
    let dialect = if receipts.is_empty() {
        Dialect::Renamed
    } else {
        Dialect::Receipts
    };
    run.form = Form::Sqlite { dialect };
    let written = "OpenProse 0.15 to 0.18 (contract 2)";
    run.facts.push(("written by".into(), written.into()));
    if dialect == Dialect::Receipts {
        for issue in receipts_of_table(receipts, run) {
            reader.notes.add(issue.at_table(RECEIPT));
        }
    }
}
