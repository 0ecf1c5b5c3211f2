//! Which column of which table is what.

use prosescope_core::database::{Found, Value};
use prosescope_core::sqlite::{Cells, Rebuild};
use serde_json::{Map, Number};

use super::{Place, Redactor};
use crate::what::Content;

/// Rows of a database, redacted one by one.
pub struct Rows<'a> {
    redactor: &'a mut Redactor,
    /// Which row of its table it is, from 1.
    nth: u64,
    table: String,
}

/// What the text of a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    /// A text, or JSON.
    Text,
    /// A content that is left out as a whole where the user says so.
    Content(Content),
    /// Names of people.
    People,
    /// A list of names.
    Allow,
    /// A gate's text, of which its log records a hash.
    Hashed,
}

fn column(table: &str, column: &str) -> Column {
    use Column::{Allow, Content as Of, Hashed, People, Text};
    match (table, column) {
        ("run", "program_source") => Of(Content::Program),
        ("bindings", "value") | ("agent_segments", "summary") => Of(Content::Values),
        ("agent_segments", "prompt") => Of(Content::Prompts),
        ("agents", "memory") => Of(Content::Memories),
        ("gates", "prompt" | "on_reject") => Hashed,
        ("gates", "resolved_by") => People,
        ("gates", "allow") => Allow,
        _ => Text,
    }
}

impl<'a> Rows<'a> {
    /// Redacts rows.
    pub fn new(redactor: &'a mut Redactor) -> Rows<'a> {
        Rows {
            redactor,
            nth: 0,
            table: String::new(),
        }
    }

    /// The audit log's row, as what its seal is taken over.
    fn log(&mut self, at: &str, cells: &mut Cells) {
        // Bytes are nothing that a log holds.
        for (name, value) in cells
            .iter_mut()
            .filter(|(_, v)| matches!(v, Value::Blob(_)))
        {
            if let Some(now) = self.cell("gate_audit_log", name, None, at, value) {
                *value = now;
                self.redactor.sealed.change();
            }
        }
        let mut row = Map::new();
        for (name, value) in cells.iter() {
            row.insert(name.clone(), as_json(value));
        }
        let of = "gate_audit_log";
        self.redactor.log_row(Place { of, at }, &mut row);
        for (name, value) in cells.iter_mut() {
            if let (Value::Text(_), Some(serde_json::Value::String(now))) = (&*value, row.get(name))
            {
                *value = Value::text(now);
            }
        }
    }

    fn cell(
        &mut self,
        table: &str,
        name: &str,
        of_name: Option<&str>,
        at: &str,
        value: &Value<'_>,
    ) -> Option<Value<'static>> {
        let bytes = value.bytes();
        if bytes.is_empty() {
            return None;
        }
        let of = format!("{table}.{name}");
        let place = Place { of: &of, at };
        let len = bytes.len() as u64;
        let kind = column(table, name);
        let content = match kind {
            Column::Content(content) => content,
            _ => Content::Values,
        };
        if (matches!(kind, Column::Content(_)) || len > super::LONG)
            && let Err(note) = self.redactor.whole(content, len)
        {
            return Some(Value::text(&note));
        }
        let text = std::str::from_utf8(bytes);
        let Some(text) = text.ok().filter(|text| !self.redactor.is_wide(text)) else {
            if self.redactor.raw {
                return None;
            }
            self.redactor.leave("bytes that are no text", len);
            return Some(Value::text(&format!(
                "[left out when this run was shared: {len} bytes that are no text]"
            )));
        };
        let now = match kind {
            Column::People => self.redactor.person(place, text),
            Column::Content(_) => match of_name {
                Some(of_name) => self.redactor.named(place, of_name, text),
                None => self.redactor.said(place, text),
            },
            Column::Hashed => {
                let now = self.redactor.said(place, text);
                if let Some(now) = &now {
                    self.redactor.sealed.hashed(text, now);
                }
                now
            }
            Column::Allow => self.redactor.json_under("allow", place, text),
            Column::Text if text.starts_with(['{', '[']) => self.redactor.json(place, text),
            Column::Text => self.redactor.named(place, name, text),
        }?;
        Some(match value {
            Value::Blob(_) => Value::Blob(now.into_bytes().into()),
            _ => Value::text(&now),
        })
    }
}

impl Rebuild for Rows<'_> {
    fn table(&mut self, table: &Found) -> bool {
        let name = table.info.name.to_ascii_lowercase();
        self.nth = 0;
        self.table.clone_from(&name);
        // A name cannot be replaced: somebody's queries name it.
        let columns = table.info.columns.iter();
        let mut names = columns.flat_map(|column| [&*column.name, &*column.declared]);
        let mut is_secret = |name: &str| !self.redactor.raw && self.redactor.masked(name) != name;
        if is_secret(&table.info.name) || names.any(is_secret) {
            self.redactor.leave("tables whose names hold a secret", 0);
            return false;
        }
        !name.starts_with("sqlite_")
    }

    fn row(&mut self, _: &Found, cells: &mut Cells) -> bool {
        self.nth += 1;
        let table = self.table.clone();
        let is_history = table.ends_with("_history") && table.starts_with("x_");
        if is_history && !self.redactor.what.has(Content::History) {
            let bytes = cells.iter().map(|(_, value)| value.bytes().len() as u64);
            self.redactor.leave(Content::History.word(), bytes.sum());
            return false;
        }
        let text = |wanted: &str| {
            let found = cells
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found
                .and_then(|(_, value)| value.as_text())
                .map(str::to_owned)
        };
        let of_name = match table.as_str() {
            "bindings" => text("name"),
            _ => None,
        };
        let at = match of_name.clone().or_else(|| text("id")) {
            Some(name) => format!("{table}, {}", self.redactor.masked(&name)),
            None => format!("{table}, row {}", self.nth),
        };
        if table == "gate_audit_log" {
            self.log(&at, cells);
            return true;
        }
        for (name, value) in cells.iter_mut() {
            let name = name.to_ascii_lowercase();
            if let Some(now) = self.cell(&table, &name, of_name.as_deref(), &at, value) {
                *value = now;
            }
        }
        true
    }
}

/// A cell as a seal is taken over it (`gate::chain`).
fn as_json(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Integer(n) => (*n).into(),
        Value::Real(x) => Number::from_f64(*x).map_or(serde_json::Value::Null, Into::into),
        Value::Text(bytes) => String::from_utf8_lossy(bytes).into(),
        Value::Blob(bytes) => serde_json::json!({ "blob": crate::manifest::hex(bytes) }),
    }
}
