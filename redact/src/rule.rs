//! The parts of a rule: what it finds and how.

use std::ops::Range;

/// The kind of data that a rule finds. One option keeps all personal data; secrets are kept one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A secret, which grants access to something: a token, a key, a password.
    Secret,
    /// Personal data, which identifies a person or their workplace: a home directory, an e-mail address, a user name.
    Personal,
}

impl Kind {
    /// Returns the kind's name in reports: `secret` or `personal`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Secret => "secret",
            Kind::Personal => "personal",
        }
    }
}

/// One row of the table: what the rule finds, and how.
///
/// The examples serve as the rule's tests and its documentation. They are shapes (see [`crate::shape`]), from which
/// [`Rule::examples`] makes texts.
#[derive(Debug)]
pub struct Rule {
    /// The rule's name in reports, and the first part of a replacement: `[github-token #1]`.
    pub id: &'static str,
    /// A description for people: "GitHub: personal, OAuth, app and refresh tokens".
    pub what: &'static str,
    /// Whether the rule finds secrets or personal data.
    pub kind: Kind,
    /// The shapes of texts in which the rule finds something. The part between `⟦` and `⟧`, or else the whole text,
    /// is replaced.
    pub found: [&'static str; 2],
    /// The shapes of similar texts in which the rule finds nothing.
    pub kept: [&'static str; 2],
    /// The keywords of the rule. The rule applies only to a text that contains one of these keywords, in any case.
    pub(crate) keywords: &'static [&'static str],
    pub(crate) how: How,
    /// The distances in bytes from the keyword back to where a match may begin, the largest first.
    pub(crate) back: &'static [usize],
    /// Whether a letter, digit or `_` may directly precede a match.
    pub(crate) inside: bool,
    /// Whether a letter or digit may directly follow a match.
    pub(crate) open: bool,
    /// Accepts a match that can be a secret, and rejects placeholders and other texts.
    pub(crate) check: fn(&str) -> bool,
    /// The rank of the rule: of two hits of equal length, the one with the higher rank gives the name.
    pub(crate) rank: u8,
}

/// A function that finds the hit at a keyword's position. Its error is a position before which the rule need not search
/// again.
pub(crate) type Code = fn(&str, Range<usize>) -> Result<Option<Range<usize>>, usize>;

/// How a rule searches at the position of its keyword.
#[derive(Debug, Clone, Copy)]
pub(crate) enum How {
    /// A regular expression; its first group, or else its whole match, is the hit.
    Pattern(&'static str),
    /// A function, for secrets that a regular expression cannot describe.
    Code(Code),
}

impl Rule {
    /// Creates a rule for a token with a known beginning.
    pub(crate) const fn token(
        id: &'static str,
        what: &'static str,
        keywords: &'static [&'static str],
        pattern: &'static str,
        found: [&'static str; 2],
        kept: [&'static str; 2],
    ) -> Self {
        Rule {
            id,
            what,
            kind: Kind::Secret,
            found,
            kept,
            keywords,
            how: How::Pattern(pattern),
            back: &[0],
            inside: true,
            open: true,
            check: crate::plausible::token,
            rank: 3,
        }
    }

    /// Creates a rule for a secret that its context reveals, such as `Cookie: `.
    pub(crate) const fn place(
        id: &'static str,
        what: &'static str,
        keywords: &'static [&'static str],
        pattern: &'static str,
        found: [&'static str; 2],
        kept: [&'static str; 2],
    ) -> Self {
        let mut rule = Rule::token(id, what, keywords, pattern, found, kept);
        rule.check = crate::plausible::value;
        rule.rank = 2;
        rule
    }

    /// Creates a rule that finds its secrets with a function.
    pub(crate) const fn code(
        id: &'static str,
        what: &'static str,
        keywords: &'static [&'static str],
        find: Code,
        found: [&'static str; 2],
        kept: [&'static str; 2],
    ) -> Self {
        let mut rule = Rule::token(id, what, keywords, "", found, kept);
        rule.how = How::Code(find);
        rule.check = crate::plausible::any;
        rule.rank = 1;
        rule
    }

    /// Requires a word boundary before and after a match, for a keyword that is short or an ordinary word.
    pub(crate) const fn word(mut self) -> Self {
        self.inside = false;
        self.open = false;
        self
    }

    /// Requires a word boundary before a match.
    pub(crate) const fn begin(mut self) -> Self {
        self.inside = false;
        self
    }

    /// Lets a match begin before its keyword, at one of these distances in bytes.
    pub(crate) const fn back(mut self, bytes: &'static [usize]) -> Self {
        self.back = bytes;
        self
    }

    /// Accepts only the matches for which `check` returns true.
    pub(crate) const fn check(mut self, check: fn(&str) -> bool) -> Self {
        self.check = check;
        self
    }

    /// Marks the findings as personal data.
    pub(crate) const fn personal(mut self) -> Self {
        self.kind = Kind::Personal;
        self
    }

    /// Returns the keywords. The rule applies only to a text that contains one of these keywords, in any case.
    pub fn keywords(&self) -> &'static [&'static str] {
        self.keywords
    }

    /// Returns texts in which the rule finds something, then texts in which it finds nothing. Each call returns the
    /// same texts.
    pub fn examples(&self) -> ([String; 2], [String; 2]) {
        let plain = |shape| crate::shape::fill(shape, 1).replace(['⟦', '⟧'], "");
        (self.found.map(plain), self.kept.map(plain))
    }
}
