//! Defines the hash chain of the audit log, and seals rows with it (errata G7).
//!
//! # The chain
//! A program that seals a row adds `chain` to the row's `metadata`:
//!
//! ```json
//! {"client":"cli","chain":{"seq":3,"prev":"<64 hex>","hash":"<64 hex>"}}
//! ```
//!
//! - Each run has one chain. `seq` counts the run's sealed rows from 1. `prev` is the `hash` of the previous sealed
//!   row, or 64 zeros in the first.
//! - `hash` is SHA-256 in lower-case hex over four lines of UTF-8, joined by single line feeds, without a line feed at
//!   the end: `prosescope-audit-1`, `seq` in decimal, `prev`, and the canonical JSON of the row.
//! - The canonical JSON of a row is one object with all of its columns, including `id`, by name, in the types in which
//!   they are stored (a BLOB is `{"blob":"hex"}`). NULL columns are left out, so that a column which is added to the
//!   table later does not change the hash. `metadata` is parsed and included as JSON without its key `chain`;
//!   `metadata` without any other key is left out. Keys are sorted by code point at every depth. There are no blanks.
//!   Escapes and numbers are as serde_json writes them.
//! - A row that was copied to another store and got another id there keeps its first id as `chain.id`, which is then
//!   hashed instead of `id`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::canonical::{self, parse};
use crate::model::database::Value as Cell;
use crate::model::text::hex;

/// The first line of the hashed text: the version of the format.
const VERSION: &str = "prosescope-audit-1";
/// The `prev` of a chain's first row.
pub const FIRST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A row's link in the chain, stored as `metadata.chain`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    /// The row's position in its run's chain, from 1.
    pub seq: u64,
    /// The hash of the previous sealed row, or [`FIRST`].
    pub prev: String,
    /// The row's own hash.
    pub hash: String,
    /// The id under which the row was sealed, if the row has another id now.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<i64>,
}

impl Chain {
    /// Parses the link in a row's metadata; `None` if it is missing or malformed.
    pub fn of_metadata(metadata: &str) -> Option<Chain> {
        let value: serde_json::Value = serde_json::from_str(metadata).ok()?;
        serde_json::from_value(value.get("chain")?.clone()).ok()
    }
}

/// Returns whether a text is a hash as chains write it: 64 hex digits in lower case.
pub(super) fn is_hash(text: &str) -> bool {
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == FIRST.len() && text.bytes().all(hex)
}

/// Converts a cell for a row's canonical JSON. A BLOB, or a text that is not UTF-8, becomes `{"blob":"hex"}`. Numbers
/// that JSON lacks, such as infinity, become text.
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

/// The reason why a row cannot be sealed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SealError {
    /// The row is not a JSON object.
    #[error("an audit row must be a JSON object of its columns: {0}")]
    Row(String),
    /// The metadata is not a JSON object, so that it cannot contain a chain.
    #[error("`metadata` must be a JSON object to carry a chain: {0}")]
    Metadata(String),
    /// `seq` reached the largest number that it can have.
    #[error("the chain is full")]
    Full,
}

/// Seals a row, given as a JSON object of its columns, after the last sealed row of its run.
///
/// # Errors
/// [`SealError`] if the row or its metadata is not a JSON object.
pub fn seal(last: Option<&Chain>, row_json: &str) -> Result<Chain, SealError> {
    let seq = last.map_or(0, |last| last.seq).checked_add(1);
    let seq = seq.ok_or(SealError::Full)?;
    let prev = last.map_or(FIRST, |last| last.hash.as_str());
    let row = SealedContent::parse(row_json)?;
    Ok(Chain {
        seq,
        prev: prev.to_owned(),
        hash: hash(seq, prev, &row.canonical(None)),
        id: None,
    })
}

/// Returns the metadata with the chain added, as canonical JSON.
///
/// # Errors
/// [`SealError::Metadata`] if the metadata is not a JSON object.
pub fn with_chain(metadata: Option<&str>, chain: &Chain) -> Result<String, SealError> {
    let mut object = match metadata.map(parse) {
        None | Some(Ok(Value::Null)) => Map::new(),
        Some(Ok(Value::Object(object))) => object,
        Some(Ok(_)) => return Err(SealError::Metadata("it is not an object".to_owned())),
        Some(Err(error)) => return Err(SealError::Metadata(error.to_string())),
    };
    let link = serde_json::to_value(chain).map_err(|e| SealError::Metadata(e.to_string()))?;
    object.insert("chain".to_owned(), link);
    Ok(canonical::text(Value::Object(object)))
}

/// The hashed content of an audit row, and the link that is not hashed.
#[derive(Debug)]
pub(super) struct SealedContent {
    columns: Map<String, Value>,
    pub(super) chain: Option<Value>,
}

impl SealedContent {
    /// Parses a JSON object of columns. `metadata` may be a text, as in a database, or JSON, as it may be in a folder.
    pub(super) fn parse(text: &str) -> Result<SealedContent, SealError> {
        let mut columns = match parse(text) {
            Ok(Value::Object(columns)) => columns,
            Ok(_) => return Err(SealError::Row("it is not an object".to_owned())),
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
            _ => return Err(SealError::Metadata("it is not an object".to_owned())),
        }
        Ok(SealedContent { columns, chain })
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
