//! Parses binding files: a header, a `---`, and the value (filesystem.md, "bindings/{name}.md").
//!
//! ````
//! use prosescope_core::read::decode::binding_md::parse;
//! let file = b"# result\n\nkind: let\nexecution_id: 43\n\nsource:\n```prose\nlet result = session\n```\n\n---\n\nthe value";
//! let head = parse(file, true, "result").expect("the whole file");
//! assert_eq!(head.execution_id, Some(43));
//! assert_eq!(&file[head.start as usize..], b"the value");
//! ````
//!
//! The first `---` ends the header. Later `---` lines and all `# ` lines after it belong to the value (errata F1). If a
//! file has no header, the whole file is the value: 20 of 151 files in real runs, and 39 encrypted envelopes. Only
//! the head of a file is read, because the value may be large.

use std::borrow::Cow;

use super::state_md::lines::{closes, fence, heading};
use super::text::{is_nothing, unescape};
use crate::model::issue::Issue;
use crate::model::time::Stamp;
use crate::model::{BindingKind, Text};
use crate::read::decode::preamble::unbold;
use crate::read::decode::sealed::is_sealed_bytes;

/// Number of bytes read first of a file. If the header does not end within these bytes, more are read.
pub const FIRST_PART: usize = 16 << 10;
/// The number of bytes after which the search for the header's end stops.
pub const LONGEST_HEADER: usize = 1 << 20;
/// Maximum number of header fields unknown to OpenProse that are kept.
const MOST_EXTRAS: usize = 100;

/// The header of a binding file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BindingHeader {
    /// The name in the header's heading, which may differ from the file's name.
    pub name: Option<Text>,
    /// The value of `kind:` as written.
    pub kind: Option<Text>,
    /// The value of `execution_id:`: the frame that the binding belongs to.
    pub execution_id: Option<i64>,
    /// Whether the header states `execution_id: (root)`: the binding belongs to the root frame.
    pub says_root: bool,
    /// The value of `parent_execution_id:`, a key that Prosescope adds.
    pub parent_execution_id: Option<i64>,
    /// The statement that wrote the binding: the fence below `source:`, or the text after it, as in `source: caller`.
    pub source: Option<Text>,
    /// The path in `attachment:` or `attachment_path:` as written. The parser does not check whether the path is safe.
    pub attachment: Option<Text>,
    /// The value of `created:`, a key that Prosescope adds.
    pub created: Option<Stamp>,
    /// The value of `updated:`, a key that Prosescope adds.
    pub updated: Option<Stamp>,
    /// The header's other fields (`agent`, `exit_code`, `stderr`), in order, whether before or after the source.
    pub extra: Vec<(Text, Text)>,
    /// Offset of the value in bytes.
    pub start: u64,
    /// Whether the file has a header; without one, the whole file is the value.
    pub has_header: bool,
    /// Whether the file is an encrypted envelope.
    pub encrypted: bool,
    /// Defects of the header.
    pub issues: Vec<Issue>,
}

/// Parses the head of a binding file. Returns `None` if the head does not end within these bytes, so more must be read.
/// `whole` means that no further bytes can be read; `None` is then not returned. `stem` is the file's name without
/// its ending. A heading with that name counts as a header even without `kind:`.
///
/// Never fails; takes linear time in the header's length.
pub fn parse(bytes: &[u8], whole: bool, stem: &str) -> Option<BindingHeader> {
    let at = if bytes.starts_with(b"\xEF\xBB\xBF") {
        3
    } else {
        0
    };
    let text = bytes.get(at..).unwrap_or_default().trim_ascii_start();
    let encrypted = is_sealed_bytes(text.get(..FIRST_PART).unwrap_or(text));
    if encrypted || text.starts_with(b"{") {
        return Some(BindingHeader {
            encrypted,
            ..BindingHeader::default()
        });
    }
    // Bytes that are not the whole file may end in the middle of a line. Only complete lines are parsed.
    let last = || bytes.iter().rposition(|b| *b == b'\n');
    let lines = if whole {
        bytes.len()
    } else {
        last().map_or(0, |last| last + 1)
    };
    let mut reader = HeaderReader {
        bytes: bytes.get(..lines).unwrap_or_default(),
        whole,
        at,
        number: 0,
        head: BindingHeader::default(),
        known: false,
        last_key: None,
        stem,
    };
    match reader.header() {
        End::Value(start) => Some(BindingHeader {
            start: start as u64,
            has_header: true,
            ..reader.head
        }),
        End::NoHeader => Some(BindingHeader::default()),
        End::Cut => None,
    }
}

/// The result of the search for the header's end.
enum End {
    /// The value begins at this offset.
    Value(usize),
    /// The whole file is the value.
    NoHeader,
    /// The bytes end before the header's end was found.
    Cut,
}

struct HeaderReader<'a> {
    bytes: &'a [u8],
    whole: bool,
    at: usize,
    number: u32,
    head: BindingHeader,
    /// Whether a field was found that occurs only in headers.
    known: bool,
    /// The key of the last field. An indented line or a fence after that field continues its value.
    last_key: Option<String>,
    stem: &'a str,
}

impl<'a> HeaderReader<'a> {
    /// Returns the next line and its offset; `None` at the end.
    fn line(&mut self) -> Option<(usize, Cow<'a, str>)> {
        let rest = self.bytes.get(self.at..).filter(|r| !r.is_empty())?;
        let start = self.at;
        let line = rest.split(|b| *b == b'\n').next().unwrap_or_default();
        self.at = self.bytes.len().min(start + line.len() + 1);
        self.number = self.number.saturating_add(1);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Some((start, String::from_utf8_lossy(line)))
    }

    fn header(&mut self) -> End {
        let mut front_matter = false;
        let mut titled = false;
        while let Some((start, line)) = self.line() {
            let text = line.trim();
            if text.is_empty() {
                continue;
            }
            if is_rule(text) {
                // A `---` in the very first line opens front matter instead of ending the header.
                if !titled && !self.known && self.last_key.is_none() && !front_matter {
                    front_matter = true;
                    continue;
                }
                return self.ended();
            }
            if let Some((mark, count, _)) = fence(&line) {
                if !titled && !self.known {
                    return End::NoHeader;
                }
                if let Some(end) = self.fence(mark, count) {
                    return end;
                }
                continue;
            }
            if let (false, Some((1, name))) = (titled, heading(&line)) {
                titled = true;
                self.head.name = Some(unescape(name).into());
                continue;
            }
            if line.starts_with([' ', '\t']) && self.last_key.is_some() {
                self.continued(&line);
                continue;
            }
            if self.field(text) && (titled || self.known || front_matter) {
                continue;
            }
            return self.broken_off(start);
        }
        match (self.whole, self.known) {
            (false, _) => End::Cut,
            // The file ends with its header and has no value.
            (true, true) => End::Value(self.bytes.len()),
            (true, false) => End::NoHeader,
        }
    }

    /// Handles the `---` that ends a complete header. The value begins after that line and at most one blank line.
    fn ended(&mut self) -> End {
        let named = self.head.name.as_deref().is_some_and(|name| {
            let base = self
                .stem
                .rsplit_once("__")
                .map_or(self.stem, |(base, _)| base);
            name == self.stem || name == base
        });
        // Many plain texts begin with a heading and a `---`, so a heading and a `---` alone are not a header.
        if !self.known && !named {
            return End::NoHeader;
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let blank = [&b"\r\n"[..], b"\n"];
        let blank = blank.iter().find(|blank| rest.starts_with(blank));
        End::Value(self.at + blank.map_or(0, |blank| blank.len()))
    }

    /// Handles a line that cannot belong to a header. If a header came before the line, the value begins at the line.
    fn broken_off(&mut self, start: usize) -> End {
        if !self.known {
            return End::NoHeader;
        }
        let issue = Issue::warning("binding-header-unended", "the header of the binding has no closing `---`")
            .hint("The value is read from this line on. Add a line `---` between the header and the value.");
        self.head.issues.push(issue.at_line(self.number));
        End::Value(start)
    }

    /// Reads the text of a fence as the value of the field above the fence. Returns where the header ends if the fence
    /// is never closed, otherwise `None`.
    fn fence(&mut self, mark: u8, count: usize) -> Option<End> {
        let mut text = String::new();
        let opened = self.number;
        // If the fence is never closed, the first `---` inside the fence ends the header.
        let mut rule: Option<(usize, String)> = None;
        while let Some((_, line)) = self.line() {
            if closes(&line, mark, count) {
                let key = self.last_key.take().unwrap_or_else(|| "source".to_owned());
                self.set(&key, text.trim_end_matches('\n'));
                return None;
            }
            if rule.is_none() && is_rule(line.trim()) {
                rule = Some((self.at, text.clone()));
            }
            text.push_str(&line);
            text.push('\n');
        }
        if !self.whole {
            return Some(End::Cut);
        }
        let issue = Issue::warning(
            "unclosed-fence",
            "the code fence in the header of the binding is not closed",
        );
        let issue = issue.hint(
            "The code was read up to the first `---` or the end of the file. Close the fence.",
        );
        self.head.issues.push(issue.at_line(opened));
        let (at, before) = rule.unwrap_or((self.bytes.len(), text));
        let key = self.last_key.take().unwrap_or_else(|| "source".to_owned());
        self.set(&key, before.trim_end_matches('\n'));
        self.at = at;
        Some(self.ended())
    }

    /// Reads `key: value`; returns `false` for any other line.
    fn field(&mut self, text: &str) -> bool {
        let text = unbold(text);
        let Some((key, value)) = text.split_once(':') else {
            return false;
        };
        let key = unescape(key.trim());
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
        if key.is_empty()
            || key.len() > 60
            || !key.chars().all(fits)
            || !(value.is_empty() || value.starts_with([' ', '\t']))
        {
            return false;
        }
        let key = key.to_lowercase().replace([' ', '-'], "_");
        let value = value.trim();
        if !value.is_empty() {
            self.set(&key, value);
        } else {
            self.known |= is_known(&key);
        }
        self.last_key = Some(key);
        true
    }

    fn continued(&mut self, line: &str) {
        let Some(key) = self.last_key.clone() else {
            return;
        };
        let more = |old: Option<&Text>| -> Text {
            old.map_or_else(
                || line.trim().to_owned(),
                |old| format!("{old}\n{}", line.trim_end()),
            )
            .into()
        };
        match key.as_str() {
            "source" => self.head.source = Some(more(self.head.source.as_ref())),
            _ => {
                if let Some((_, old)) = self.head.extra.iter_mut().rev().find(|(k, _)| **k == *key)
                {
                    *old = more(Some(old));
                } else {
                    self.set(&key, line.trim());
                }
            }
        }
    }

    fn set(&mut self, key: &str, value: &str) {
        self.known |= is_known(key);
        let text = || Some(unescape(value).into());
        match key {
            "kind" if self.head.kind.is_none() => self.head.kind = text(),
            // Later writers record the kind under the key `binding` (`binding: input`; OpenProse 0.12 to 0.14).
            "binding" if self.head.kind.is_none() && is_kind(value) => {
                self.known = true;
                self.head.kind = text();
            }
            "source" | "source_statement" if self.head.source.is_none() => {
                self.head.source = Some(value.into());
            }
            "attachment" | "attachment_path" if self.head.attachment.is_none() => {
                self.head.attachment = text();
            }
            "created" | "created_at" if self.head.created.is_none() => {
                self.head.created = Some(Stamp::parse(value));
            }
            "updated" | "updated_at" if self.head.updated.is_none() => {
                self.head.updated = Some(Stamp::parse(value));
            }
            "execution_id" | "parent_execution_id" => {
                let root = is_nothing(value)
                    || matches!(value.trim_matches(['(', ')', '`']), "root" | "null");
                let id = value.trim_matches(['`', '#', '"', ' ']).parse::<i64>();
                match (id, key) {
                    (Ok(id), "execution_id") if self.head.execution_id.is_none() => {
                        self.head.execution_id = Some(id);
                    }
                    (Ok(id), _) if self.head.parent_execution_id.is_none() => {
                        self.head.parent_execution_id = Some(id);
                    }
                    (_, "execution_id") if root => self.head.says_root = true,
                    (_, _) if root => {}
                    _ => {
                        let issue =
                            Issue::warning("unreadable-frame", format!("{key} is not a number"));
                        self.head.issues.push(issue.at_line(self.number));
                        self.keep(key, value);
                    }
                }
            }
            _ => self.keep(key, value),
        }
    }

    fn keep(&mut self, key: &str, value: &str) {
        if self.head.extra.len() < MOST_EXTRAS {
            self.head.extra.push((key.into(), value.into()));
        }
    }
}

/// Whether a field occurs only in the headers of bindings.
fn is_known(key: &str) -> bool {
    matches!(
        key,
        "kind" | "source" | "execution_id" | "parent_execution_id"
    )
}

/// Whether a value is one of the binding kinds.
fn is_kind(value: &str) -> bool {
    !matches!(BindingKind::parse(value), BindingKind::Other(_))
}

/// Whether a line is a rule: `---` or longer.
fn is_rule(text: &str) -> bool {
    text.len() >= 3 && text.bytes().all(|b| b == b'-')
}

#[cfg(test)]
mod tests;
