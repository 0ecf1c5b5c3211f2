//! Reads the table of receipts of a database of contract 2 (contract-2.md, "Databases").

use serde_json::{Map, Value};

use super::notes::Notes;
use super::reader::RowsReader;
use crate::model::database::{ColumnType, Want};
use crate::model::issue::Issue;
use crate::model::schema::{self, RECEIPT, RECEIPT_COLUMNS, ROOT_PATH};
use crate::model::{Dialect, Form, Run};
use crate::read::decode::folder::{CONTRACT_2, receipts_of_table, written_by};

/// The texts of a row, each with its column.
type Texts = Vec<(&'static Want<'static>, String)>;

/// Reads the receipts of a database of contract 2 into the run. Does nothing for another database.
pub(super) fn read(reader: &mut RowsReader<'_>, run: &mut Run) {
    let has_receipts = reader.table(RECEIPT).is_some();
    let of_run = reader.table(schema::RUN);
    let is_of_contract_2 =
        has_receipts || of_run.is_some_and(|table| table.column(ROOT_PATH).is_some());
    if run.form == Form::Agents || !is_of_contract_2 {
        return;
    }
    let mut receipts: Vec<(i64, Texts)> = Vec::new();
    let columns: &'static [Want<'static>] = &RECEIPT_COLUMNS;
    reader.scan_some(RECEIPT, columns, |cells| {
        let cell = |want: &'static Want<'_>| Some((want, cells.string(want.column)?));
        let texts: Texts = columns.iter().filter_map(cell).collect();
        cells.more = texts.iter().map(|(_, text)| text.len()).sum();
        receipts.push((cells.at, texts));
    });
    let has_rows = !receipts.is_empty();
    let dialect = match has_rows {
        true => Dialect::Receipts,
        false => Dialect::Renamed,
    };
    run.form = match run.form {
        Form::Postgres { .. } => Form::Postgres { receipts: has_rows },
        _ => Form::Sqlite { dialect },
    };
    written_by(run, CONTRACT_2);
    if has_rows {
        let notes = &mut reader.notes;
        let objects = receipts.into_iter().map(|row| object(row, notes));
        for issue in receipts_of_table(objects, run) {
            reader.notes.add(issue.at_table(RECEIPT));
        }
    }
}

/// Returns the receipt of a row. A cell that is not JSON counts as absent, with an issue.
fn object((at, texts): (i64, Texts), notes: &mut Notes) -> Map<String, Value> {
    let mut receipt = Map::new();
    for (want, text) in texts {
        let column = want.column;
        let value = if want.kind == ColumnType::Json {
            serde_json::from_str(&text)
        } else {
            Ok(Value::String(text))
        };
        match value {
            Ok(value) => _ = receipt.insert(column.to_owned(), value),
            Err(error) => {
                let message = format!("`{column}` of a receipt is not JSON: {error}");
                let issue = Issue::warning("malformed-json", message).at_row(RECEIPT, at);
                let hint = "The rest of the receipt is read.";
                notes.add(issue.at_column(column).hint(hint));
            }
        }
    }
    receipt
}
