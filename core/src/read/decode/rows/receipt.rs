//! Reads the table of receipts of a database of contract 2 (contract-2.md, "Databases").

use serde_json::{Map, Value};

use super::notes::Notes;
use super::reader::RowsReader;
use crate::model::database::ColumnType;
use crate::model::issue::Issue;
use crate::model::schema::{self, RECEIPT, RECEIPT_COLUMNS, ROOT_PATH};
use crate::model::{Dialect, Form, Run};
use crate::read::decode::folder::{CONTRACT_2, receipts_of_table, written_by};

/// The texts of a row, each with its column.
type Texts = Vec<(&'static str, String)>;

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
    reader.scan_some(RECEIPT, &RECEIPT_COLUMNS, |cells| {
        let columns = RECEIPT_COLUMNS.iter().map(|want| want.column);
        let texts: Texts = columns
            .filter_map(|column| Some((column, cells.string(column)?)))
            .collect();
        cells.more = texts.iter().map(|(_, text)| text.len()).sum();
        receipts.push((cells.at, texts));
    });
    let has_rows = !receipts.is_empty();
    run.form = match run.form {
        Form::Postgres { .. } => Form::Postgres { receipts: has_rows },
        _ if has_rows => Form::Sqlite {
            dialect: Dialect::Receipts,
        },
        _ => Form::Sqlite {
            dialect: Dialect::Renamed,
        },
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
    let of_json = |column: &str| {
        let mut wants = RECEIPT_COLUMNS.iter();
        wants.any(|want| want.column == column && want.kind == ColumnType::Json)
    };
    let mut receipt = Map::new();
    for (column, text) in texts {
        let value = if of_json(column) {
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
