//! Compiles the patterns of rules, and those that a user passes as `--redact /regex/`, within limits of size.

use regex_lite::{Regex, RegexBuilder};

/// The longest pattern that is accepted, in bytes.
const LONGEST: usize = 1000;
/// The number of bytes of a compiled pattern for each of its steps, about.
const STEP: usize = 64;
/// The largest pattern that searches a whole text, in steps. `regex-lite` does not backtrack, so a search takes time
/// proportional to this number and to the length of the text: the limit bounds time too.
pub(crate) const ASKED: usize = 256;
/// The largest pattern of a rule, in steps. It searches the text after its keywords only.
pub(crate) const OF_RULE: usize = 1024;

/// The reason why a pattern or an exact value is rejected, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RejectedPattern {
    /// The pattern is not a regular expression.
    #[error(
        "the pattern is not a regular expression: {0}. Next: correct the pattern, or write the text itself without slashes"
    )]
    NoPattern(String),
    /// The pattern is too long, or too large once its repetitions are unrolled.
    #[error(
        "the pattern is too large: at most {LONGEST} bytes, and about {0} steps with all repetitions written out, are allowed. Next: shorten repetitions such as {{1,500}}"
    )]
    TooLarge(usize),
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

/// Compiles a pattern of at most this number of steps.
pub(crate) fn compile(pattern: &str, steps: usize) -> Result<Regex, RejectedPattern> {
    if pattern.len() > LONGEST {
        return Err(RejectedPattern::TooLarge(steps));
    }
    let mut builder = RegexBuilder::new(pattern);
    let built = builder.size_limit(steps * STEP).nest_limit(50).build();
    built.map_err(|e| match e.to_string() {
        why if why.contains("size") => RejectedPattern::TooLarge(steps),
        why => RejectedPattern::NoPattern(why),
    })
}

/// Returns the pattern unless it matches the empty text.
pub(crate) fn unless_empty(pattern: Regex) -> Result<Regex, RejectedPattern> {
    if pattern.is_match("") {
        Err(RejectedPattern::Empty)
    } else {
        Ok(pattern)
    }
}
