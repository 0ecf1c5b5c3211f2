//! Converts a row's cells to the model's types, whatever their stored types are.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::notes::Notes;
use crate::model::Text;
use crate::model::database::Value;
use crate::model::issue::Issue;
use crate::model::text::short;
use crate::model::time::Stamp;

/// A store that keeps each text once, however many rows share the text, and limits the total bytes.
///
/// The limit is needed because rows of a hostile file may share pages, so that a few hundred kilobytes expand to
/// gigabytes.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    known: BTreeSet<Text>,
    held: usize,
    /// Number of texts that were cut because of the limit.
    pub(crate) shortened: u64,
}

/// Maximum bytes of texts that are kept whole. Further texts are cut to [`BEGINNING`] bytes.
const HELD: usize = 48 << 20;
/// Bytes that are kept of a text that is cut.
const BEGINNING: usize = 200;
/// Approximate bytes of memory that a text takes in addition to its length.
const TEXT: usize = 80;

impl Texts {
    /// Returns the approximate bytes taken by the texts.
    pub(super) fn bytes(&self) -> usize {
        self.held + self.known.len() * TEXT
    }

    pub(crate) fn share(&mut self, text: &str) -> Text {
        if let Some(known) = self.known.get(text) {
            return Text::clone(known);
        }
        if self.held > HELD && text.len() > BEGINNING {
            self.shortened += 1;
            let beginning = text.get(..text.floor_char_boundary(BEGINNING));
            return self.share(beginning.unwrap_or_default());
        }
        self.held += text.len();
        let new: Text = text.into();
        self.known.insert(Text::clone(&new));
        new
    }
}

/// The position of a cell, for issues.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellPlace {
    pub(super) table: &'static str,
    pub(super) row: i64,
    pub(super) column: &'static str,
}

impl CellPlace {
    /// Adds an issue about the cell.
    pub(super) fn mark_odd(&self, notes: &mut Notes, issue: Issue) {
        notes.add(issue.at_row(self.table, self.row).at_column(self.column));
    }
}

/// Returns a cell as text: numbers as SQLite writes them, blobs and invalid UTF-8 with replacement characters.
pub(super) fn text_of(value: &Value<'_>, at: CellPlace, notes: &mut Notes) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Text(bytes) => Some(text_from(bytes, at, notes)),
        Value::Integer(_) | Value::Real(_) => value.lossy().map(Cow::into_owned),
        Value::Blob(bytes) => Some(text_from(bytes, at, notes)),
    }
}

/// Returns bytes as text; invalid UTF-8 is replaced and reported.
pub(super) fn text_from(bytes: &[u8], at: CellPlace, notes: &mut Notes) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(error) => {
            let message = format!(
                "`{}` is not valid UTF-8 from byte {} on",
                at.column,
                error.valid_up_to()
            );
            let issue = Issue::warning("invalid-utf8", message);
            at.mark_odd(notes, issue.hint("Invalid bytes are shown as \u{fffd}."));
            String::from_utf8_lossy(bytes).into_owned()
        }
    }
}

/// Returns a cell as a whole number; `None` for an empty cell. Any other cell that is not a whole number is an issue,
/// and is `None` too.
pub(super) fn int_of(value: &Value<'_>, at: CellPlace, notes: &mut Notes) -> Option<i64> {
    let odd = |notes: &mut Notes, what: &str| {
        let message = format!("`{}` is {what}, not a whole number", at.column);
        let issue = Issue::warning("not-a-number", message);
        at.mark_odd(notes, issue.hint("The value is treated as empty."));
        None
    };
    match value {
        Value::Null => None,
        Value::Integer(n) => Some(*n),
        Value::Real(x) if x.fract() == 0.0 && x.abs() < 9e15 => Some(*x as i64),
        Value::Real(x) => odd(notes, &format!("{x:?}")),
        Value::Blob(_) => odd(notes, "a BLOB"),
        Value::Text(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            match text.trim() {
                "" => None,
                word => match word.parse() {
                    Ok(n) => Some(n),
                    Err(_) => odd(notes, &format!("“{}”", short(word, 40))),
                },
            }
        }
    }
}

/// Returns a cell as a time. Accepts the forms of [`Stamp::parse`] and the numbers of SQLite's date functions:
/// seconds or milliseconds since 1970, Julian days.
pub(super) fn stamp_of(value: &Value<'_>, at: CellPlace, notes: &mut Notes) -> Option<Stamp> {
    let from_number = |x: f64| -> Option<i64> {
        // The ranges do not overlap: 2001 to 2286 in seconds and in milliseconds, 1995 to 2407 in Julian days.
        if (1e9..1e10).contains(&x) {
            Some((x * 1e3) as i64)
        } else if (1e12..1e13).contains(&x) {
            Some(x as i64)
        } else if (2_450_000.0..2_600_000.0).contains(&x) {
            Some(((x - 2_440_587.5) * 86_400_000.0).round() as i64)
        } else {
            None
        }
    };
    let text = value.lossy()?;
    if text.trim().is_empty() {
        return None;
    }
    let stamp = Stamp::parse(&text);
    if stamp.millis().is_some() {
        notes.time_form(at.table, at.column, &text);
        return Some(stamp);
    }
    if let Some(ms) = text.trim().parse().ok().and_then(from_number) {
        let message = format!("the number in `{}` is read as a time", at.column);
        let issue = Issue::noted("numeric-time", message);
        at.mark_odd(
            notes,
            issue.hint("Check the time. OpenProse writes times as `YYYY-MM-DD HH:MM:SS`, in UTC."),
        );
        return Some(Stamp::At(ms));
    }
    let shown = short(&text, 40);
    let message = format!(
        "`{}` is “{shown}”, which cannot be read as a time",
        at.column
    );
    let issue = Issue::warning("unreadable-time", message);
    at.mark_odd(
        notes,
        issue.hint("The text is shown as written, but not used as a time."),
    );
    Some(stamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: CellPlace = CellPlace {
        table: "execution",
        row: 7,
        column: "started_at",
    };

    fn text(bytes: &'static [u8]) -> Value<'static> {
        Value::Text(bytes.into())
    }

    fn blob(bytes: &'static [u8]) -> Value<'static> {
        Value::Blob(bytes.into())
    }

    fn rules(notes: Notes) -> Vec<String> {
        notes.finish().into_iter().map(|i| i.rule).collect()
    }

    #[test]
    fn texts_that_take_too_much_are_cut() {
        let mut texts = Texts::default();
        let long = |n: u32| format!("{n:06}{}", "ä".repeat(500_000));
        let lens: Vec<usize> = (0..100).map(|n| texts.share(&long(n)).len()).collect();
        assert_eq!(lens[0], 1_000_006);
        assert_eq!(lens[99], 200);
        let whole = lens.iter().filter(|len| **len > 200).count();
        assert_eq!((whole, texts.shortened), (51, 49));
        // A text that is already stored needs no further memory, so it is not cut.
        assert_eq!(texts.share(&long(0)).len(), 1_000_006);
    }

    #[test]
    fn any_stored_type_reads_as_text() {
        for (value, expected, rule) in [
            (Value::Null, None, None),
            (text(b"plain"), Some("plain"), None),
            (text(b"nul\0inside"), Some("nul\0inside"), None),
            (
                text(b"bad \xff byte"),
                Some("bad \u{fffd} byte"),
                Some("invalid-utf8"),
            ),
            (Value::Integer(-3), Some("-3"), None),
            (Value::Real(3.0), Some("3.0"), None),
            (blob(b"blob"), Some("blob"), None),
        ] {
            let mut notes = Notes::new("state.db");
            assert_eq!(text_of(&value, AT, &mut notes).as_deref(), expected);
            assert_eq!(rules(notes), Vec::from_iter(rule.map(str::to_owned)));
        }
    }

    #[test]
    fn any_stored_type_reads_as_a_whole_number() {
        for (value, expected, rule) in [
            (Value::Null, None, None),
            (Value::Integer(43), Some(43), None),
            (Value::Real(43.0), Some(43), None),
            (text(b" 43 "), Some(43), None),
            (text(b""), None, None),
            (Value::Real(4.5), None, Some("not-a-number")),
            (Value::Real(1e300), None, Some("not-a-number")),
            (text(b"root"), None, Some("not-a-number")),
            (blob(b"1"), None, Some("not-a-number")),
        ] {
            let mut notes = Notes::new("state.db");
            assert_eq!(int_of(&value, AT, &mut notes), expected, "{value:?}");
            assert_eq!(rules(notes), Vec::from_iter(rule.map(str::to_owned)));
        }
    }

    #[test]
    fn times_in_every_form_that_sqlite_writes() {
        let at = Some(Stamp::At(1_768_487_452_000));
        for (value, expected, rule) in [
            (Value::Null, None, None),
            (text(b""), None, None),
            (text(b"2026-01-15 14:30:52"), at.clone(), None),
            (text(b"2026-01-15T15:30:52+01:00"), at.clone(), None),
            (
                Value::Integer(1_768_487_452),
                at.clone(),
                Some("numeric-time"),
            ),
            (text(b"1768487452"), at.clone(), Some("numeric-time")),
            (
                Value::Integer(1_768_487_452_000),
                at.clone(),
                Some("numeric-time"),
            ),
            (Value::Real(2_461_056.104_768_519), at, Some("numeric-time")),
            (
                text(b"soon"),
                Some(Stamp::Odd("soon".into())),
                Some("unreadable-time"),
            ),
            (
                Value::Integer(12),
                Some(Stamp::Odd("12".into())),
                Some("unreadable-time"),
            ),
        ] {
            let mut notes = Notes::new("state.db");
            assert_eq!(stamp_of(&value, AT, &mut notes), expected, "{value:?}");
            assert_eq!(rules(notes), Vec::from_iter(rule.map(str::to_owned)));
        }
    }
}
