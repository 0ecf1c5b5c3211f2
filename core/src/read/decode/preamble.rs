//! Parses the head of a file that a person or a model wrote: front matter, and lines such as `status: done`.

use std::borrow::Cow;

use crate::model::time::Stamp;
use crate::model::{RunHead, Text};
use crate::read::decode::state_md::header::{header_key, run_status};

/// Maximum number of lines of front matter.
const MOST_LINES: usize = 60;
/// Maximum bytes of a key; a longer text before a colon is a sentence.
const LONGEST_KEY: usize = 40;

/// Splits a text into its front matter, which is between a first line `---` and the next line `---`, and the text after
/// that line. Returns `None` if the text does not begin with front matter.
pub(crate) fn front_matter(text: &str) -> Option<(&str, &str)> {
    let skipped = text.len()
        - text
            .trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n'])
            .len();
    let mut end = skipped;
    let mut start = None;
    for line in text.get(skipped..)?.split_inclusive('\n').take(MOST_LINES) {
        let before = end;
        end += line.len();
        let line = line.trim();
        match start {
            None if line == "---" => start = Some(end),
            None => return None,
            Some(start) if line == "---" => {
                return Some((text.get(start..before)?, text.get(end..)?));
            }
            // A line without a colon is plain text, so the first `---` was a horizontal rule, not front matter.
            Some(_) if !line.is_empty() && !line.contains(':') && !line.starts_with(['-', '#']) => {
                return None;
            }
            Some(_) => {}
        }
    }
    None
}

/// Removes the asterisks from a line with a bold key: `**Key:** value`.
pub(crate) fn unbold(line: &str) -> Cow<'_, str> {
    if line.starts_with("**") {
        line.replacen("**", "", 2).into()
    } else {
        line.into()
    }
}

/// A key and its value in a head.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pair<'t> {
    pub(crate) key: &'t str,
    pub(crate) value: &'t str,
    /// Whether the key is bold or in a list item, and so cannot be the start of a sentence.
    pub(crate) marked: bool,
}

/// Parses `key: value`, `- key: value`, `**Key:** value`, `- **Key**: "value"`.
pub(crate) fn pair(line: &str) -> Option<Pair<'_>> {
    let line = line.trim();
    let item = ["- ", "* ", "+ "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark));
    let text = item.unwrap_or(line).trim_start();
    let bold = text.starts_with("**");
    let (key, value) = text.split_once(':')?;
    let key = key.trim_matches(['*', '`', ' ', '\t']);
    let is_key = key.len() <= LONGEST_KEY
        && key.starts_with(|c: char| c.is_alphabetic())
        && key
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' '));
    let value = value.trim();
    let value = if bold {
        value.trim_start_matches('*').trim_start()
    } else {
        value
    };
    let unquoted = ['"', '\'']
        .iter()
        .find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    is_key.then_some(Pair {
        key,
        value: unquoted.unwrap_or(value),
        marked: item.is_some() || bold,
    })
}

/// Maximum number of unknown keys that are kept.
const MOST_FACTS: usize = 50;

impl RunHead {
    /// Stores the value of a known key; returns `false` if the key is unknown.
    pub(crate) fn take(&mut self, key: &str, value: &str) -> bool {
        let value = value.trim();
        let time = || Some(Stamp::parse(value)).filter(|at| at.millis().is_some());
        let own = header_key(key);
        let key = key.to_ascii_lowercase().replace([' ', '-'], "_");
        match own.unwrap_or(&key) {
            _ if value.is_empty() => return own.is_some(),
            "run" => self.run = self.run.take().or_else(|| word(value)),
            "program" | "system" => self.program = self.program.take().or_else(|| word(value)),
            "root" | "upstream" => {
                let value = value.trim_matches(['[', ']', '`']);
                self.facts.push((key.as_str().into(), value.into()));
            }
            "state_backend" => self.mode = word(value),
            "started" => self.started = time().or(self.started.take()),
            "created_at" => self.started = self.started.take().or_else(time),
            "updated" => self.ended = time().or(self.ended.take()),
            "completed" => self.ended = self.ended.take().or_else(time),
            "status" | "outcome" if self.status.is_none() => {
                self.status = word(value).map(|value| run_status(&value));
            }
            _ => return false,
        }
        true
    }

    /// Stores a value like [`RunHead::take`], but keeps an unknown key as a fact. Returns whether the value was kept.
    pub(crate) fn take_or_keep(&mut self, key: &str, value: &str) -> bool {
        let took = self.take(key, value);
        let kept = !took && self.facts.len() < MOST_FACTS;
        if kept {
            self.facts.push((key.into(), value.trim().into()));
        }
        took || kept
    }
}

/// Returns the code span at the start of a value, without backticks; without a code span, the whole value.
fn word(value: &str) -> Option<Text> {
    let value = value.trim();
    let span = value
        .strip_prefix('`')
        .and_then(|rest| rest.split_once('`'));
    let value = span.map_or(value, |(span, _)| span);
    Some(value).filter(|v| !v.is_empty()).map(Text::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_in_any_dress() {
        for (line, key, value, marked) in [
            ("status: done", "status", "done", false),
            ("- status: complete", "status", "complete", true),
            ("**Status:** completed", "Status", "completed", true),
            ("* **Run id**: r1", "Run id", "r1", true),
            (
                "started_at: \"2026-01-04\"",
                "started_at",
                "2026-01-04",
                false,
            ),
        ] {
            assert_eq!(pair(line), Some(Pair { key, value, marked }), "{line}");
        }
        for line in ["1→ gate:x ✓", "no colon", ": x", "- 2→ a: b"] {
            assert_eq!(pair(line), None, "{line}");
        }
    }

    #[test]
    fn front_matter_ends_at_its_second_rule() {
        for (text, head, rest) in [
            ("---\na: b\n---\nrest\n", "a: b\n", "rest\n"),
            ("\n---\r\na: b\r\n- c\r\n---\r\n", "a: b\r\n- c\r\n", ""),
            ("---\n---\nrest", "", "rest"),
        ] {
            assert_eq!(front_matter(text), Some((head, rest)), "{text:?}");
        }
        for text in [
            "",
            "---\n",
            "---\na sentence\n---\n",
            "a: b\n---\n",
            "---end\n---\n",
        ] {
            assert_eq!(front_matter(text), None, "{text:?}");
        }
    }
}
