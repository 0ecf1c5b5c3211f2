//! Reads and verifies the receipts of form D: `receipts.jsonl`, one JSON object per line. Each receipt contains the
//! hash of the previous receipt (docs/reference/formats.md).
//!
//! ```text
//! {"content_hash":"sha256:28b8…","prev":null,"kind":"control","detail":{"event":"run_start"},"run_id":"…", …}
//! {"content_hash":"sha256:e22e…","prev":"sha256:28b8…","kind":"session","statement_id":"s001","status":"rendered", …}
//! ```
//!
//! Verified are: each receipt's recorded hash (SHA-256 over the receipt as compact JSON with sorted keys, without
//! `content_hash`), each link to the previous receipt, and the last hash and the count in `run.json`. A last line
//! that was cut off during writing is reported as torn, not as a change.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::jsonl::{text, with_text};
use super::text::lossy;
use crate::model::ShownCell;
use crate::model::issue::{Issue, Issues};
use crate::model::text::{hex, short};
use crate::model::{
    Annotation, ColumnInfo, RunStatus, StateFile, Status, TableInfo, Text, TraceLine, words,
};

/// The file's name in the run folder, which is also the table's name.
pub const FILE: &str = "receipts.jsonl";
/// Maximum bytes read of the file, enough for some hundred thousand receipts.
pub const MOST: usize = 32 << 20;
/// Maximum number of columns in the table of receipts. Further keys are not decoded.
const MOST_COLUMNS: usize = 100;

/// Maximum number of statements kept. The table of receipts is not limited by this number.
const MOST_STATEMENTS: usize = 100_000;

/// Known keys of receipts, in the order in which a table shows them.
const COLUMNS: &[&str] = &[
    "statement_id",
    "kind",
    "status",
    "agent",
    "error",
    "detail",
    "usage",
    "content_hash",
    "prev",
    "input_fingerprints",
    "output_fingerprint",
    "reused_from",
    "surprise_cause",
    "run_id",
    "hash_algorithm",
    "v",
];

/// A summary of all receipts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Receipts {
    /// The keys that occur in the receipts, as columns: first the known keys, then the unknown keys.
    pub columns: Vec<ColumnInfo>,
    /// Number of receipts.
    pub count: u64,
    /// The run's status in the last control receipt: the outcome of a `run_end`, or running for a `run_start`.
    pub status: Option<RunStatus>,
    /// Hash of the last receipt.
    pub head: Option<Text>,
    /// Whether the line after the last receipt is incomplete because its writing was interrupted.
    pub torn: bool,
    /// The statements in the receipts, each once.
    pub statements: Vec<StatementReceipt>,
}

/// The last receipt of a statement.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementReceipt {
    /// The statement's id, such as `s001`.
    pub id: Text,
    /// The recorded status.
    pub status: Status,
    /// The earlier run whose result was taken instead of running the statement (`reused_from`).
    pub reused_from: Option<Text>,
}

impl Receipts {
    /// Returns the description of the receipts as a table.
    pub fn table(&self) -> TableInfo {
        TableInfo {
            name: FILE.to_owned(),
            kind: "lines".to_owned(),
            rows: Some(self.count),
            known: true,
            columns: self.columns.clone(),
        }
    }
}

/// Reads receipts. Lines that are not receipts become issues, as do broken links of the chain.
pub fn read(log: &str) -> (Receipts, Vec<Issue>) {
    let mut receipts = Receipts::default();
    let mut keys: BTreeSet<String> = BTreeSet::new();
    let mut places: BTreeMap<Text, usize> = BTreeMap::new();
    let (mut broken, mut altered) = (Issues::default(), Issues::default());
    let read = with_text(log, |number, line, object| {
        for key in object.keys() {
            if keys.len() < MOST_COLUMNS && !keys.contains(key) {
                keys.insert(key.clone());
            }
        }
        let get = |key: &str| object.get(key).and_then(text);
        let named = get("prev");
        if named != receipts.head {
            let which = receipt_in_words(get("statement_id").as_deref());
            let before = receipts.head.as_deref();
            broken.add(broken_chain(number, &which, named.as_deref(), before));
        }
        let hash = get("content_hash");
        let which = receipt_in_words(get("statement_id").as_deref());
        if let Some(issue) = without_its_hash(number, &which, line, &object) {
            altered.add(issue);
        }
        receipts.count += 1;
        receipts.status = run_status(&object).or(receipts.status.take());
        let status = get("status").and_then(|word| words::status(&word));
        let statement = get("statement_id").filter(|id| &**id != "run");
        if let (Some(id), Some(status)) = (statement, status)
            && receipts.statements.len() < MOST_STATEMENTS
        {
            let own = StatementReceipt {
                id: id.clone(),
                status,
                reused_from: object.get("reused_from").and_then(source_run),
            };
            match places
                .get(&id)
                .and_then(|at: &usize| receipts.statements.get_mut(*at))
            {
                Some(known) => *known = own,
                None => {
                    places.insert(id, receipts.statements.len());
                    receipts.statements.push(own);
                }
            }
        }
        receipts.head = hash.or(receipts.head.take());
        Ok(())
    });
    let known = COLUMNS
        .iter()
        .filter(|key| keys.contains(**key))
        .map(|key| (*key, true));
    let unknown = keys
        .iter()
        .map(|key| (key.as_str(), false))
        .filter(|(key, _)| !COLUMNS.contains(key));
    let column = |(name, known): (&str, bool)| ColumnInfo {
        name: name.to_owned(),
        declared: String::new(),
        known,
    };
    receipts.columns = known.chain(unknown).map(column).collect();
    receipts.torn = read.torn;
    let mut issues = read.issues;
    issues.extend(altered.finish());
    issues.extend(broken.finish());
    (receipts, issues)
}

/// Returns a state file whose trace has one line for each statement of the receipts. A line contains only the
/// statement's id, because receipts do not contain texts.
pub(crate) fn state_file(statements: &[StatementReceipt]) -> StateFile {
    let line = |(number, own): (u32, &StatementReceipt)| TraceLine {
        line: Some(number),
        text: own.id.clone(),
        annotation: Some(Annotation {
            status: Some(own.status.clone()),
            raw: own.status.word().into(),
            note: (own.reused_from.as_ref()).map(|run| format!("reused from {run}").into()),
            ..Annotation::default()
        }),
    };
    StateFile {
        trace: (1..).zip(statements).map(line).collect(),
        ..StateFile::default()
    }
}

/// Compares the count and the last hash of `run.json` with the receipts, and returns an issue if they differ. Returns
/// `None` as well if `run.json` has neither, or if only a cut-off last line is missing from the receipts.
pub fn anchored(receipts: &Receipts, count: Option<i64>, head: Option<&str>) -> Option<Issue> {
    let mut parts: Vec<String> = Vec::new();
    let with_torn = receipts.count.saturating_add(1);
    if receipts.torn && count.is_none_or(|n| u64::try_from(n) == Ok(with_torn)) {
        return None;
    }
    if let Some(count) = count.filter(|n| u64::try_from(*n) != Ok(receipts.count)) {
        parts.push(format!(
            "counts {count} receipts, but {FILE} contains {}",
            receipts.count
        ));
    }
    let last = receipts.head.as_deref();
    if let Some(head) = head.filter(|head| Some(*head) != last) {
        parts.push(format!(
            "names {} as the last receipt, but {FILE} ends with {}",
            named(Some(head)),
            named(last)
        ));
    }
    (!parts.is_empty())
        .then(|| chain(format!("run.json {}", parts.join("; it "))).at_file("run.json"))
}

/// A page of the receipts, read from the log in pieces. Reading stops at the end of the page, and only one piece and
/// one line are in memory.
pub struct ReceiptsPage<'c> {
    columns: &'c [ColumnInfo],
    skip: u64,
    left: u32,
    most: usize,
    /// The start of a line whose end has not been read yet.
    begun: Vec<u8>,
    rows: Vec<Vec<ShownCell>>,
}

impl<'c> ReceiptsPage<'c> {
    /// Returns an empty page of `len` receipts, the first of which has index `from`; cells are cut at `most` bytes.
    pub fn new(columns: &'c [ColumnInfo], from: u64, len: u32, most: usize) -> ReceiptsPage<'c> {
        ReceiptsPage {
            columns,
            skip: from,
            left: len,
            most,
            begun: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Takes the next piece of the log; returns whether more of the log is needed.
    pub fn take(&mut self, piece: &[u8]) -> bool {
        let mut rest = piece;
        while let Some(end) = rest.iter().position(|b| *b == b'\n') {
            let (line, after) = rest.split_at(end);
            rest = after.get(1..).unwrap_or_default();
            if self.begun.is_empty() {
                self.line(line);
            } else {
                self.begun.extend_from_slice(line);
                let line = std::mem::take(&mut self.begun);
                self.line(&line);
            }
            if self.left == 0 {
                return false;
            }
        }
        self.begun.extend_from_slice(rest);
        self.left > 0
    }

    /// Returns the rows of the page. A last line of the log without a line break is included.
    pub fn rows(mut self) -> Vec<Vec<ShownCell>> {
        let line = std::mem::take(&mut self.begun);
        self.line(&line);
        self.rows
    }

    fn line(&mut self, line: &[u8]) {
        let text = lossy(line).0;
        let line = text.trim_start_matches('\u{feff}').trim();
        // Lines before the page are only counted. To save time, a line is checked without building its values.
        let is_object =
            || line.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok();
        if self.left == 0 || !is_object() {
            return;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        self.left -= 1;
        let Ok(object) = serde_json::from_str::<Map<String, Value>>(line) else {
            return;
        };
        let cells = self.columns.iter();
        let cells = cells.map(|column| cell(object.get(&column.name), self.most));
        self.rows.push(cells.collect());
    }
}

fn cell(value: Option<&Value>, most: usize) -> ShownCell {
    let stored = match value {
        None | Some(Value::Null) => "null",
        Some(Value::Number(n)) if n.is_i64() || n.is_u64() => "integer",
        Some(Value::Number(_)) => "real",
        Some(_) => "text",
    };
    let whole = value.and_then(text).unwrap_or_default();
    let to = whole.floor_char_boundary(most);
    ShownCell {
        stored: stored.to_owned(),
        text: whole.get(..to).unwrap_or_default().to_owned(),
        len: whole.len() as u64,
        cut: to < whole.len(),
    }
}

/// Returns the run that a value of `reused_from` names: `{"run_id": …, "statement_id": …}`.
fn source_run(value: &Value) -> Option<Text> {
    text(value.get("run_id").unwrap_or(value))
}

/// Returns the run's status that a control receipt records; `None` for any other receipt.
fn run_status(object: &Map<String, Value>) -> Option<RunStatus> {
    let detail = object.get("detail")?.as_object()?;
    match detail.get("event")?.as_str()? {
        "run_start" => Some(RunStatus::Running),
        "run_end" => Some(RunStatus::parse(
            detail
                .get("outcome")
                .and_then(Value::as_str)
                .unwrap_or("completed"),
        )),
        _ => None,
    }
}

/// Returns the words for a receipt in a message, such as `the receipt of s001`.
fn receipt_in_words(statement: Option<&str>) -> String {
    match statement {
        Some(statement) => format!("the receipt of {statement}"),
        None => "a receipt".to_owned(),
    }
}

/// Whether a recorded hash is a SHA-256: 64 hexadecimal digits, optionally after `sha256:`. Hashes of other algorithms
/// are not verified.
fn is_sha256(hash: &str) -> bool {
    let hash = hash.strip_prefix("sha256:").unwrap_or(hash);
    hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether a receipt has this hash. Both spellings of non-ASCII characters are accepted, verbatim and as `\u00e9`, and
/// both orders of keys: by UTF-16 code units, as JavaScript sorts, and by characters, as Python does.
fn has_hash(line: &str, hash: &str) -> bool {
    let hash = hash.strip_prefix("sha256:").unwrap_or(hash);
    let by_character: KeyOrder = str::cmp;
    let by_unit: KeyOrder = |a, b| a.encode_utf16().cmp(b.encode_utf16());
    let ways = [by_character, by_unit].map(|order| [true, false].map(|ascii| (order, ascii)));
    ways.as_flattened().iter().any(|(order, ascii)| {
        let mut canonical = String::with_capacity(line.len());
        let written = write_sorted(line, *order, *ascii, Some("content_hash"), &mut canonical);
        let digest = hex(&Sha256::digest(&canonical));
        written.is_some() && digest.eq_ignore_ascii_case(hash)
    })
}

type KeyOrder = fn(&str, &str) -> Ordering;

/// Writes JSON without blanks and with sorted keys; numbers stay as written. Recursion is safe because the JSON
/// reader has limited the depth. Returns `None` if the text is not JSON.
fn write_sorted(
    text: &str,
    order: KeyOrder,
    ascii: bool,
    without: Option<&str>,
    out: &mut String,
) -> Option<()> {
    let text = text.trim();
    match text.as_bytes().first()? {
        b'{' => {
            let object: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            let mut pairs: Vec<_> = object
                .iter()
                .filter(|(key, _)| Some(key.as_str()) != without)
                .collect();
            pairs.sort_by(|(a, _), (b, _)| order(a, b));
            let mut before = '{';
            for (key, value) in pairs {
                out.push(before);
                before = ',';
                quote(key, ascii, out);
                out.push(':');
                write_sorted(value.get(), order, ascii, None, out)?;
            }
            out.push_str(if before == '{' { "{}" } else { "}" });
        }
        b'[' => {
            let list: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            let mut before = '[';
            for value in &list {
                out.push(before);
                before = ',';
                write_sorted(value.get(), order, ascii, None, out)?;
            }
            out.push_str(if before == '[' { "[]" } else { "]" });
        }
        b'"' => quote(&serde_json::from_str::<String>(text).ok()?, ascii, out),
        _ => out.push_str(text),
    }
    Some(())
}

fn quote(text: &str, ascii: bool, out: &mut String) {
    let quoted = Value::from(text).to_string();
    for c in quoted.chars() {
        if ascii && !matches!(c, ' '..='~') {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
}

const ALTERED: &str = "Compare the receipt with a copy of the run: it was changed after its hash was recorded. The changed receipt is shown.";
const NO_HASH: &str = "Compare the receipt with a copy of the run: its hash was changed or left out. The receipt is shown as it is.";

/// Returns the issue of a receipt whose content does not match its SHA-256, or that names this algorithm without such
/// a hash.
pub(crate) fn without_its_hash(
    number: i64,
    which: &str,
    line: &str,
    object: &Map<String, Value>,
) -> Option<Issue> {
    let get = |key: &str| object.get(key).and_then(Value::as_str);
    let hash = get("content_hash").filter(|hash| is_sha256(hash));
    let (why, hint) = match hash {
        Some(hash) if has_hash(line, hash) => return None,
        Some(_) => (
            "was altered: its content does not match its recorded hash",
            ALTERED,
        ),
        None if get("hash_algorithm") == Some("sha256") => {
            ("names sha256, but records no such hash", NO_HASH)
        }
        None => return None,
    };
    let issue = Issue::error("receipt-altered", format!("{which} {why}")).hint(hint);
    Some(issue.at_line(u32::try_from(number).unwrap_or(u32::MAX)))
}

pub(crate) fn broken_chain(
    number: i64,
    which: &str,
    named: Option<&str>,
    before: Option<&str>,
) -> Issue {
    let before = match before {
        Some(hash) => format!("the previous receipt is {}", self::named(Some(hash))),
        None => "the first receipt has none before it".to_owned(),
    };
    let message = format!(
        "{which} names {} as the previous receipt, but {before}",
        self::named(named)
    );
    chain(message).at_line(u32::try_from(number).unwrap_or(u32::MAX))
}

fn chain(message: String) -> Issue {
    Issue::error("receipt-chain", message)
        .hint("Compare the receipts with a copy of the run: some were changed, removed, added or reordered.")
}

fn named(hash: Option<&str>) -> String {
    hash.map_or("none".to_owned(), |hash| short(hash, 19))
}

#[cfg(test)]
mod tests;
