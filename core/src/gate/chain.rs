//! The hash chain of the audit log: its format, and how a row is sealed (errata G7).
//!
//! # The chain
//! Whoever seals a row puts `chain` into its `metadata`:
//!
//! ```json
//! {"client":"cli","chain":{"seq":3,"prev":"<64 hex>","hash":"<64 hex>"}}
//! ```
//!
//! - One chain a run. `seq` counts its sealed rows from 1; `prev` is the `hash` of the sealed row before, 64 zeros
//!   for the first.
//! - `hash` is SHA-256, in small hex, over these four lines in UTF-8, joined by single line feeds, none at the end:
//!   `prosescope-audit-1`, `seq` in decimal, `prev`, and the canonical JSON of the row.
//! - The canonical JSON of a row is one object of all of its columns, `id` included, by name, in the types in which
//!   they are stored (a BLOB is `{"blob":"hex"}`). Columns that are NULL are left out, so that a column which
//!   somebody adds later changes nothing. `metadata` is parsed and stands as JSON, without its key `chain`; when
//!   nothing else is in it, it is left out. Keys are sorted by code point, at every depth; no blanks; escapes and
//!   numbers as serde_json writes them.
//! - A row that moved to another store and got another id there keeps its first one as `chain.id`; that one is
//!   hashed in place of `id`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::canonical::{self, parse};
use crate::database::Value as Cell;
use crate::text::hex;

/// What a hash is taken over begins with this.
const VERSION: &str = "prosescope-audit-1";
/// `prev` of the first row.
pub const FIRST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A row's link of the chain: `metadata.chain`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    /// The row's place in its run's chain, from 1.
    pub seq: u64,
    /// The hash of the row before; [`FIRST`] in the first.
    pub prev: String,
    /// The row's own hash.
    pub hash: String,
    /// The id under which it was sealed, where it has another one now.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<i64>,
}

impl Chain {
    /// The link that a row's metadata carries, when it carries a well-formed one.
    pub fn of_metadata(metadata: &str) -> Option<Chain> {
        let value: serde_json::Value = serde_json::from_str(metadata).ok()?;
        serde_json::from_value(value.get("chain")?.clone()).ok()
    }
}

/// Whether a text is a hash as a chain writes it: 64 hex digits in lower case.
pub(super) fn is_hash(text: &str) -> bool {
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == FIRST.len() && text.bytes().all(hex)
}

/// A cell as a row's canonical JSON has it: what is no text, or not in UTF-8, as `{"blob":"hex"}`; a number that JSON has not, as text.
pub fn cell(value: &Cell<'_>) -> Value {
    let blob = |bytes: &[u8]| serde_json::json!({ "blob": hex(bytes) });
    match value {
        Cell::Null => Value::Null,
        Cell::Integer(n) => (*n).into(),
        Cell::Real(x) => serde_json::Number::from_f64(*x)
            .map_or_else(|| Value::String(format!("{x:?}")), Value::Number),
        Cell::Text(bytes) => std::str::from_utf8(bytes).map_or_else(|_| blob(bytes), Into::into),
        Cell::Blob(bytes) => blob(bytes),
    }
}

/// Why a row cannot be sealed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SealError {
    /// The row is no JSON object.
    #[error("an audit row must be a JSON object of its columns: {0}")]
    Row(String),
    /// Its metadata is no JSON object, so it has no place for a chain.
    #[error("`metadata` must be a JSON object to carry a chain: {0}")]
    Metadata(String),
    /// The chain has as many rows as can be counted.
    #[error("the chain is full")]
    Full,
}

/// Seals a row, given as a JSON object of its columns, behind the last sealed row of its run.
///
/// # Errors
/// [`SealError`] when the row or its metadata is no JSON object.
pub fn seal(last: Option<&Chain>, row_json: &str) -> Result<Chain, SealError> {
    let seq = last.map_or(0, |last| last.seq).checked_add(1);
    let seq = seq.ok_or(SealError::Full)?;
    let prev = last.map_or(FIRST, |last| last.hash.as_str());
    let row = Row::parse(row_json)?;
    Ok(Chain {
        seq,
        prev: prev.to_owned(),
        hash: hash(seq, prev, &row.canonical(None)),
        id: None,
    })
}

/// The metadata with the chain in it, canonical.
///
/// # Errors
/// [`SealError::Metadata`] when it is no JSON object.
pub fn with_chain(metadata: Option<&str>, chain: &Chain) -> Result<String, SealError> {
    let mut object = match metadata.map(parse) {
        None | Some(Ok(Value::Null)) => Map::new(),
        Some(Ok(Value::Object(object))) => object,
        Some(Ok(_)) => return Err(SealError::Metadata("it is something else".to_owned())),
        Some(Err(error)) => return Err(SealError::Metadata(error.to_string())),
    };
    let link = serde_json::to_value(chain).map_err(|e| SealError::Metadata(e.to_string()))?;
    object.insert("chain".to_owned(), link);
    Ok(canonical::text(Value::Object(object)))
}

/// A row as it is hashed.
#[derive(Debug)]
pub(super) struct Row {
    columns: Map<String, Value>,
    pub(super) chain: Option<Value>,
}

impl Row {
    /// Reads a JSON object of columns; its metadata is a text, as in a database, or JSON itself, as in a folder.
    pub(super) fn parse(text: &str) -> Result<Row, SealError> {
        let mut columns = match parse(text) {
            Ok(Value::Object(columns)) => columns,
            Ok(_) => return Err(SealError::Row("it is something else".to_owned())),
            Err(error) => return Err(SealError::Row(error.to_string())),
        };
        columns.retain(|_, value| !value.is_null());
        let metadata = match columns.remove("metadata") {
            None => Value::Null,
            Some(Value::String(text)) => {
                parse(&text).map_err(|error| SealError::Metadata(error.to_string()))?
            }
            Some(other) => other,
        };
        let mut chain = None;
        match metadata {
            Value::Null => {}
            Value::Object(mut object) => {
                chain = object.remove("chain");
                if !object.is_empty() {
                    columns.insert("metadata".to_owned(), Value::Object(object));
                }
            }
            _ => return Err(SealError::Metadata("it is something else".to_owned())),
        }
        Ok(Row { columns, chain })
    }

    pub(super) fn canonical(self, id: Option<i64>) -> String {
        let mut columns = self.columns;
        if let Some(id) = id {
            columns.insert("id".to_owned(), id.into());
        }
        canonical::text(Value::Object(columns))
    }
}

pub(super) fn hash(seq: u64, prev: &str, canonical: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(format!("{VERSION}\n{seq}\n{prev}\n"));
    hasher.update(canonical);
    hex(&hasher.finalize())
}
