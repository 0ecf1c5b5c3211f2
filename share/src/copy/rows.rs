//! Decides for each column of a database how its texts are redacted.

use prosescope_core::model::database::{FoundTable, Value};
use prosescope_core::read::gate::chain;
use prosescope_core::read::sqlite::{Cells, Rebuild};
use serde_json::Map;

use super::{Redactor, TextPlace};
use crate::what::SharedContent;

/// Redacts the rows of a database one by one.
pub struct RowRedaction<'a> {
    redactor: &'a mut Redactor,
    /// The number of the row in its table, from 1.
    nth: u64,
    table: String,
    /// The columns of the current table, taken from the table's first row.
    columns: Vec<TableColumn>,
}

/// A column of the current table.
struct TableColumn {
    name: String,
    /// The column's name in reports, such as `bindings.value`.
    of: String,
    column: ColumnRedaction,
}

/// The way in which the text of a column is redacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnRedaction {
    /// Text that may be JSON.
    Text,
    /// Text that the user can leave out as a whole.
    Content(SharedContent),
    /// Names of people.
    People,
    /// A list of the people who may decide a gate.
    Allow,
    /// The text of a gate, of which the audit log records a hash.
    Hashed,
}

fn column(table: &str, column: &str) -> ColumnRedaction {
    use ColumnRedaction::{Allow, Content as Of, Hashed, People, Text};
    match (table, column) {
        ("run", "program_source") => Of(SharedContent::Program),
        ("bindings", "value") | ("agent_segments", "summary") => Of(SharedContent::Values),
        ("agent_segments", "prompt") => Of(SharedContent::Prompts),
        ("agents", "memory") => Of(SharedContent::Memories),
        ("gates", "prompt" | "on_reject") => Hashed,
        ("gates", "resolved_by") => People,
        ("gates", "allow") => Allow,
        _ => Text,
    }
}

impl<'a> RowRedaction<'a> {
    /// Creates a redactor of rows.
    pub fn new(redactor: &'a mut Redactor) -> RowRedaction<'a> {
        RowRedaction {
            redactor,
            nth: 0,
            table: String::new(),
            columns: Vec::new(),
        }
    }

    /// Redacts a row of the audit log as a JSON object, because the row's seal is a hash of that object.
    fn log(&mut self, at: &str, cells: &mut Cells) {
        let mut row = Map::new();
        let mut changed = false;
        for ((name, value), at_column) in cells.iter_mut().zip(0..) {
            // The JSON object contains bytes as hexadecimal digits, which rules cannot scan, so bytes are redacted
            // first.
            if value.as_text().is_none()
                && let Some(now) = self.cell(at_column, None, at, value)
            {
                *value = now;
                changed = true;
            }
            row.insert(name.clone(), chain::cell(value));
        }
        let of = "gate_audit_log";
        self.redactor
            .log_row(TextPlace { of, at }, &mut row, changed);
        for (name, value) in cells.iter_mut() {
            if let (Value::Text(_), Some(serde_json::Value::String(now))) = (&*value, row.get(name))
            {
                *value = Value::text(now);
            }
        }
    }

    /// Redacts a cell; `None` if it stays the same.
    fn cell(
        &mut self,
        column: usize,
        of_name: Option<&str>,
        at: &str,
        value: &Value<'_>,
    ) -> Option<Value<'static>> {
        let bytes = value.bytes();
        let known = self.columns.get(column).filter(|_| !bytes.is_empty())?;
        let place = TextPlace { of: &known.of, at };
        let len = bytes.len() as u64;
        let content = match known.column {
            ColumnRedaction::Content(content) => content,
            _ => SharedContent::Values,
        };
        if (matches!(known.column, ColumnRedaction::Content(_)) || len > super::LONG)
            && let Err(note) = self.redactor.whole(content, len)
        {
            return Some(Value::text(&note));
        }
        if len > super::LONGEST_CELL && !self.redactor.raw {
            let what = format!("a text longer than 16 MB ({at}, {})", known.name);
            self.redactor.leave_out(&what, len);
            return Some(Value::text(&format!(
                "[left out when this run was shared, because it is longer than 16 MB: {len} bytes]"
            )));
        }
        let text = std::str::from_utf8(bytes).ok();
        let Some(text) = text.filter(|text| !self.redactor.is_wide(text)) else {
            if self.redactor.raw {
                return None;
            }
            self.redactor.leave_out("bytes that are not text", len);
            return Some(Value::text(&format!(
                "[left out when this run was shared: {len} bytes that are not text]"
            )));
        };
        let now = match known.column {
            ColumnRedaction::People => self.redactor.person(place, text),
            ColumnRedaction::Content(_) => match of_name {
                Some(of_name) => self.redactor.named(place, of_name, text),
                None => self.redactor.said(place, text),
            },
            ColumnRedaction::Hashed => {
                let now = self.redactor.said(place, text);
                if let Some(now) = &now {
                    self.redactor.sealed.hashed(text, now);
                }
                now
            }
            ColumnRedaction::Allow => self.redactor.json_under("allow", place, text),
            ColumnRedaction::Text if text.starts_with(['{', '[']) => {
                self.redactor.json(place, text)
            }
            ColumnRedaction::Text => self.redactor.named(place, &known.name, text),
        }?;
        Some(match value {
            Value::Blob(_) => Value::Blob(now.into_bytes().into()),
            _ => Value::text(&now),
        })
    }
}

impl Rebuild for RowRedaction<'_> {
    fn table(&mut self, table: &FoundTable) -> bool {
        self.nth = 0;
        self.columns.clear();
        self.table = table.info.name.to_ascii_lowercase();
        // A table or column name cannot be replaced, because queries use it. A table with a secret in such a name is
        // left out.
        let columns = table.info.columns.iter();
        let mut names = columns.flat_map(|column| [&*column.name, &*column.declared]);
        let mut is_secret = |name: &str| !self.redactor.raw && self.redactor.masked(name) != name;
        if is_secret(&table.info.name) || names.any(is_secret) {
            self.redactor
                .leave_out("tables whose names hold a secret", 0);
            return false;
        }
        !self.table.starts_with("sqlite_")
    }

    fn row(&mut self, _: &FoundTable, cells: &mut Cells) -> bool {
        self.nth += 1;
        let bytes = cells.iter().map(|(_, value)| value.bytes().len() as u64);
        self.redactor.add_scanned(bytes.sum());
        if self.columns.is_empty() {
            let table = &self.table;
            let columns = cells.iter().map(|(name, _)| TableColumn::of(table, name));
            self.columns = columns.collect();
        }
        let is_history = self.table.ends_with("_history") && self.table.starts_with("x_");
        if is_history && !self.redactor.what.has(SharedContent::History) {
            let bytes = cells.iter().map(|(_, value)| value.bytes().len() as u64);
            self.redactor
                .leave_out(SharedContent::History.word(), bytes.sum());
            return false;
        }
        let text = |wanted: &str| {
            let found = self.columns.iter().position(|known| known.name == wanted);
            let (_, value) = cells.get(found?)?;
            value.as_text().map(str::to_owned)
        };
        let of_name = match self.table.as_str() {
            "bindings" => text("name"),
            _ => None,
        };
        let at = match of_name.clone().or_else(|| text("id")) {
            Some(name) => format!("{}, {}", self.table, self.redactor.masked(&name)),
            None => format!("{}, row {}", self.table, self.nth),
        };
        if self.table == "gate_audit_log" {
            self.log(&at, cells);
            return true;
        }
        for (column, (_, value)) in cells.iter_mut().enumerate() {
            if let Some(now) = self.cell(column, of_name.as_deref(), &at, value) {
                *value = now;
            }
        }
        true
    }
}

impl TableColumn {
    fn of(table: &str, name: &str) -> TableColumn {
        let name = name.to_ascii_lowercase();
        TableColumn {
            of: format!("{table}.{name}"),
            column: column(table, &name),
            name,
        }
    }
}
