//! The check after writing: no secret that was replaced remains in the bytes of a file.

use std::fmt;
use std::ops::Range;

use crate::exact::SHORTEST;
use crate::names::Names;
use crate::needles::Needles;
use crate::plausible;

/// Searches bytes for secrets: as UTF-8 and UTF-16, in base64 at each of three alignments (both alphabets), URL-encoded,
/// JSON-escaped, as `\u` escapes, HTML-escaped, hexadecimal, and each of these split over line breaks with indentation.
pub struct Remains {
    needles: Needles,
    names: Vec<String>,
}

/// Where a secret remains. It tells the secret's name, never the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The bytes that hold it.
    pub range: Range<usize>,
    /// What it is called: `github-token #1`.
    pub name: String,
    /// The form in which it stands there: `plain`, `base64`, …
    pub form: &'static str,
}

impl Remains {
    /// Searches for every secret that was replaced under these names and has at least [`SHORTEST`] characters: shorter ones occur by
    /// chance, and the rules find them again where they stand as they stood.
    pub fn of(names: &Names) -> Self {
        Self::new(
            names
                .replacements()
                .filter(|(secret, _)| secret.chars().count() >= SHORTEST),
        )
    }

    /// Searches for these secrets, each with its name.
    pub fn new<'a>(secrets: impl Iterator<Item = (&'a str, String)>) -> Self {
        let (secrets, names): (Vec<&str>, Vec<String>) =
            secrets.filter(|(secret, _)| !secret.is_empty()).unzip();
        Remains {
            needles: Needles::new(secrets.into_iter().map(|secret| (secret, false)), true),
            names,
        }
    }

    /// Returns the first place that was found.
    pub fn search(&self, bytes: &[u8]) -> Option<Place> {
        let mut first = None;
        self.needles.find(bytes, &mut |found| {
            // A secret that is itself a part of a replacement's name.
            let before = bytes[..found.range.start]
                .iter()
                .rev()
                .take(96)
                .position(|b| *b == b'[');
            let marker = before.is_some_and(|back| {
                let open = found.range.start - 1 - back;
                let text = String::from_utf8_lossy(&bytes[open..bytes.len().min(open + 100)]);
                plausible::marker(&text).is_some_and(|length| found.range.end <= open + length)
            });
            if !marker {
                let name = self.names.get(found.value).cloned().unwrap_or_default();
                first = Some(Place {
                    range: found.range.clone(),
                    name,
                    form: found.form,
                });
            }
            !marker
        });
        first
    }
}

/// Shows names alone.
impl fmt::Debug for Remains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Remains").field(&self.names).finish()
    }
}
