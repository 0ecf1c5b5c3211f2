//! The check after writing: searches the bytes of the written file for secrets that should have been replaced.

use std::fmt;
use std::ops::Range;

use crate::exact::SHORTEST;
use crate::names::SecretNames;
use crate::needles::Needles;
use crate::plausible;

/// A search for secrets in bytes: as UTF-8 and UTF-16, in base64 at each of three alignments (both alphabets),
/// URL-encoded, JSON-escaped, as `\u` escapes, HTML-escaped, hexadecimal, and each of these split over line breaks with
/// indentation.
pub struct Remains {
    needles: Needles,
    names: Vec<String>,
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
    /// chance; a scan with the rules finds the short secrets that remain.
    pub fn of(names: &SecretNames) -> Self {
        Self::new(
            names
                .replacements()
                .filter(|(secret, _)| secret.chars().count() >= SHORTEST),
        )
    }

    /// Prepares a search for these secrets, each with its name.
    pub fn new<'a>(secrets: impl Iterator<Item = (&'a str, String)>) -> Self {
        let (secrets, names): (Vec<&str>, Vec<String>) =
            secrets.filter(|(secret, _)| !secret.is_empty()).unzip();
        Remains {
            needles: Needles::new(secrets.into_iter().map(|secret| (secret, false)), true),
            names,
        }
    }

    /// Returns the first place that contains one of the secrets.
    pub fn search(&self, bytes: &[u8]) -> Option<RemainingSecret> {
        let mut first = None;
        self.needles.find(bytes, &mut |found| {
            // The name in a replacement, such as `token`, can itself be a secret, so replacements are skipped.
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
                first = Some(RemainingSecret {
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

/// Prints only the names of the secrets, so that no log contains a secret.
impl fmt::Debug for Remains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Remains").field(&self.names).finish()
    }
}
