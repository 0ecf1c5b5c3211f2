//! The check after writing: searches the bytes of the written file for secrets that should have been replaced.

use std::fmt;
use std::ops::Range;

use crate::exact::SHORTEST;
use crate::names::{Marks, SecretNames};
use crate::needles::Needles;
use crate::reading::each_reading;

/// The longest mark, in bytes.
const MARK: usize = 104;

/// A search for secrets in bytes: as UTF-8 and UTF-16, in base64 (both alphabets), as hexadecimal digits, with escapes of
/// JSON, URLs, HTML and terminals up to three times over, and split over line breaks with indentation.
pub struct Remains {
    needles: Needles,
    names: Vec<String>,
    marks: Marks,
}

/// A place that still contains a secret. Its fields contain the secret's name, never the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemainingSecret {
    /// The range of bytes that contains the secret.
    pub range: Range<usize>,
    /// The secret's name: `github-token #1`.
    pub name: String,
    /// The form of the secret at this place: `plain`, `base64`, …
    pub form: &'static str,
}

impl Remains {
    /// Prepares a search for every replaced secret of at least [`SHORTEST`] characters. Shorter secrets also occur by
    /// chance; a scan with the rules finds the short secrets that remain, and personal data.
    pub fn of(names: &SecretNames) -> Self {
        let long = names
            .secrets()
            .filter(|(secret, _)| secret.chars().count() >= SHORTEST);
        Remains {
            marks: names.marks().clone(),
            ..Self::new(long)
        }
    }

    /// Prepares a search for these secrets, each with its name.
    pub fn new<'a>(secrets: impl Iterator<Item = (&'a str, String)>) -> Self {
        let (secrets, names): (Vec<&str>, Vec<String>) =
            secrets.filter(|(secret, _)| !secret.is_empty()).unzip();
        Remains {
            needles: Needles::new(secrets.into_iter().map(|secret| (secret, false))),
            names,
            marks: Marks::default(),
        }
    }

    /// Returns the first place that contains one of the secrets.
    pub fn search(&self, bytes: &[u8]) -> Option<RemainingSecret> {
        let mut first = None;
        let mut found = Vec::new();
        each_reading(bytes, self.needles.wanted(true), &mut |reading| {
            self.needles.find(reading, &mut found, &mut |found| {
                // The name in a mark, such as `token`, can itself be a secret, so marks are skipped.
                let before = bytes[..found.range.start].iter().rev().take(MARK);
                let marked = before
                    .enumerate()
                    .find(|(_, byte)| **byte == b'[')
                    .is_some_and(|(back, _)| {
                        let open = found.range.start - 1 - back;
                        let ahead = &bytes[open..bytes.len().min(open + MARK)];
                        let marks = self.marks.within(&String::from_utf8_lossy(ahead));
                        let mark = marks.first().filter(|mark| mark.start == 0);
                        mark.is_some_and(|mark| found.range.end <= open + mark.end)
                    });
                if !marked {
                    first = Some(RemainingSecret {
                        range: found.range.clone(),
                        name: self.names.get(found.value).cloned().unwrap_or_default(),
                        form: found.form,
                    });
                }
                !marked
            })
        });
        first
    }
}

/// Prints only the names of the secrets, so that no log contains a secret.
impl fmt::Debug for Remains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Remains").field(&self.names).finish()
    }
}
