//! Compiles the patterns that a user passes as `--redact /regex/`, within limits of size.

use std::fmt;

use regex_lite::{Regex, RegexBuilder};

/// The longest pattern that is accepted, in bytes.
const LONGEST: usize = 1000;
/// The largest compiled pattern, in bytes. `regex-lite` does not backtrack, so a search takes time proportional to this
/// size and to the length of the text: the limit bounds time too.
const LARGEST: usize = 16 << 10;

/// The reason why a pattern or an exact value is rejected, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The pattern is not a regular expression.
    #[error(
        "the pattern is not a regular expression: {0}. Next: correct the pattern, or write the text itself without slashes"
    )]
    NoPattern(String),
    /// The pattern is too long, or too large once its repetitions are unrolled.
    #[error(
        "the pattern is too large: at most {LONGEST} bytes, and about 250 steps with all repetitions written out, are allowed. Next: shorten repetitions such as {{1,500}}"
    )]
    TooLarge,
    /// The pattern matches the empty text, so it would match everywhere.
    #[error(
        "the pattern matches the empty text, so it would match everywhere. Next: write a pattern that matches at least one character"
    )]
    Empty,
    /// The exact value is too short, and the user did not name it.
    #[error(
        "a text of fewer than {} characters is too short to search for: it also occurs by chance. Next: name a longer text",
        crate::exact::SHORTEST
    )]
    TooShort,
}

/// A compiled pattern.
#[derive(Clone)]
pub(crate) struct Pattern(pub(crate) Regex);

impl Pattern {
    pub(crate) fn new(pattern: &str) -> Result<Self, Refused> {
        if pattern.len() > LONGEST {
            return Err(Refused::TooLarge);
        }
        let built = RegexBuilder::new(pattern)
            .size_limit(LARGEST)
            .nest_limit(50)
            .build();
        let regex = built.map_err(|e| {
            let why = e.to_string();
            if why.contains("size") {
                Refused::TooLarge
            } else {
                Refused::NoPattern(why)
            }
        })?;
        if regex.is_match("") {
            Err(Refused::Empty)
        } else {
            Ok(Pattern(regex))
        }
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({})", self.0.as_str())
    }
}
