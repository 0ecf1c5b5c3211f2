//! Runs with hostile texts in every text field: texts that a browser runs or fetches, or that a terminal acts on
//! ([`terminal`]).
//!
//! The same builders serve both kinds of texts; the caller chooses the texts and how many of them a field contains.
//! Over all rows, every field contains every text.

pub mod database;
pub mod folder;
pub mod terminal;
pub mod web;

use std::fs;
use std::path::Path;

/// A supply of hostile texts for each field of each row.
pub struct Fill {
    texts: Vec<Vec<u8>>,
    /// How many texts one field contains.
    many: usize,
    row: usize,
    field: usize,
}

impl Fill {
    /// Creates a supply of these texts, `many` of them per field.
    pub fn new(texts: Vec<Vec<u8>>, many: usize) -> Fill {
        Fill {
            texts,
            many,
            row: 0,
            field: 0,
        }
    }

    /// Returns how many rows it takes until every field has contained every text.
    pub fn rows(&self) -> usize {
        self.texts.len().div_ceil(self.many)
    }

    /// Begins the row with this number.
    pub fn begin(&mut self, row: usize) {
        (self.row, self.field) = (row, 0);
    }

    /// Returns the texts of the next field. The fields of a row start at different texts, so that no text always
    /// follows the same other text: an unclosed comment hides the text after it.
    pub fn text(&mut self) -> Vec<u8> {
        self.field += 1;
        let first = self.row * self.many + self.field * 7;
        let texts = (first..first + self.many).map(|i| self.texts[i % self.texts.len()].as_slice());
        texts.collect::<Vec<_>>().join(b"\n\n".as_slice())
    }

    /// Returns the next text, on one line.
    pub fn line(&mut self) -> Vec<u8> {
        let text = self.text();
        let kept = |&b: &u8| if b == b'\n' { b' ' } else { b };
        text.iter().map(kept).collect()
    }

    /// Returns the next field's text as a JSON value.
    pub fn json(&mut self) -> serde_json::Value {
        String::from_utf8_lossy(&self.text()).into()
    }

    /// Returns one of these words; in every third row, returns a hostile text instead.
    pub fn or(&mut self, words: &[&str]) -> Vec<u8> {
        let text = self.text();
        if self.row % 3 == 2 {
            text
        } else {
            words[(self.row / 3 * 2 + self.row % 3) % words.len()].into()
        }
    }

    /// Returns one text as a name: not empty, without NUL, and unique by its row.
    pub fn name(&mut self) -> String {
        self.field += 1;
        let text = &self.texts[(self.row + self.field * 7) % self.texts.len()];
        let text = String::from_utf8_lossy(text).replace('\0', "");
        format!("{text} {}", self.row)
    }

    /// Returns one text as a file name, with only the characters that a file system allows.
    pub fn file_name(&mut self) -> String {
        let name = self.name().replace('/', "\u{2215}");
        let end = name.floor_char_boundary(120);
        format!("{}-{}", &name[..end], self.row)
    }
}

/// Writes bytes to a file, creating folders.
pub fn write(file: &Path, bytes: &[u8]) {
    fs::create_dir_all(file.parent().expect("a file in a folder")).expect("a folder");
    fs::write(file, bytes).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
}

/// Concatenates bytes.
fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// Returns a program with texts in every kind of statement.
pub fn program(fill: &mut Fill) -> Vec<u8> {
    let mut out = Vec::new();
    for row in 0..fill.rows() {
        fill.begin(row);
        let r = row.to_string();
        let r = r.as_bytes();
        let mut lines = |parts: &[&[u8]]| out.extend(joined(parts));
        lines(&[b"# ", &fill.line(), b"\n"]);
        lines(&[b"use \"", &fill.line(), b"\" as u", r, b"\n"]);
        lines(&[b"input i", r, b": \"", &fill.line(), b"\"\n"]);
        lines(&[
            b"agent a",
            r,
            b":\n  model: ",
            &fill.line(),
            b"\n  persist: \"",
            &fill.line(),
            b"\"\n  prompt: \"",
            &fill.line(),
            b"\"\n",
        ]);
        lines(&[
            b"let v",
            r,
            b" = session: ",
            &fill.line(),
            b"\n  prompt: \"",
            &fill.line(),
            b"\"\n  context: { ",
            &fill.line(),
            b" }\n",
        ]);
        lines(&[
            b"if **",
            &fill.line(),
            b"**:\n  session \"\"\"\n",
            &fill.text(),
            b"\n\"\"\"\n",
        ]);
        lines(&[
            b"approve g",
            r,
            b":\n  prompt: \"",
            &fill.line(),
            b"\"\n  allow: [\"",
            &fill.line(),
            b"\"]\n  on_reject: ",
            &fill.line(),
            b"\n",
        ]);
        lines(&[
            b"exec \"",
            &fill.line(),
            b"\"\n",
            &fill.line(),
            b"\n",
            &fill.text(),
            b"\n",
        ]);
    }
    out
}
