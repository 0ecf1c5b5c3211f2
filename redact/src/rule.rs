//! What a rule is.

use std::ops::Range;

/// What a rule finds: secrets leave only when they are kept one by one, personal data leaves by a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Opens something: a token, a key, a password.
    Secret,
    /// Says who somebody is or where they work: a home directory, an e-mail address, a user name.
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

/// One row of the table: what is found, and how.
///
/// The examples are the rule's tests and its documentation. They are shapes (see [`crate::shape`]): [`Rule::examples`] makes texts
/// of them.
#[derive(Debug)]
pub struct Rule {
    /// Its name in reports, and the first part of a replacement: `[github-token #1]`.
    pub id: &'static str,
    /// What is found, for people: "GitHub: personal, OAuth, app and refresh tokens".
    pub what: &'static str,
    /// Whether it is a secret or personal data.
    pub kind: Kind,
    /// Shapes in which it finds something. What stands between `⟦` and `⟧` is replaced, or the whole text.
    pub found: [&'static str; 2],
    /// Shapes that look similar, in which it finds nothing.
    pub kept: [&'static str; 2],
    /// Without one of these, whatever their case, the text is not looked at.
    pub(crate) keywords: &'static [&'static str],
    pub(crate) how: How,
    /// How many bytes before its keyword a match may begin.
    pub(crate) back: usize,
    /// Whether a letter, digit or `_` may stand directly before a match.
    pub(crate) inside: bool,
    /// Whether a letter or digit may stand directly behind a match.
    pub(crate) open: bool,
    /// Says no to placeholders and the like.
    pub(crate) check: fn(&str) -> bool,
    /// Of two hits of one length the one with the higher rank gives the name.
    pub(crate) rank: u8,
}

/// How a rule looks at the place of its keyword.
#[derive(Debug, Clone, Copy)]
pub(crate) enum How {
    /// A regular expression; its first group, or else all of it, is the hit.
    Pattern(&'static str),
    /// A function of the text and the keyword's place.
    Code(fn(&str, Range<usize>) -> Option<Range<usize>>),
}

impl Rule {
    /// A token that is known by how it begins.
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
            back: 0,
            inside: true,
            open: true,
            check: crate::plausible::token,
            rank: 3,
        }
    }

    /// A secret that is known by what stands around it.
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

    /// What only a function can find.
    pub(crate) const fn code(
        id: &'static str,
        what: &'static str,
        keywords: &'static [&'static str],
        find: fn(&str, Range<usize>) -> Option<Range<usize>>,
        found: [&'static str; 2],
        kept: [&'static str; 2],
    ) -> Self {
        let mut rule = Rule::token(id, what, keywords, "", found, kept);
        rule.how = How::Code(find);
        rule.check = crate::plausible::any;
        rule.rank = 1;
        rule
    }

    /// Demands a boundary before and behind: for short or ordinary beginnings.
    pub(crate) const fn word(mut self) -> Self {
        self.inside = false;
        self.open = false;
        self
    }

    /// Demands a boundary before a match.
    pub(crate) const fn begin(mut self) -> Self {
        self.inside = false;
        self
    }

    /// Lets a match begin up to `bytes` before its keyword.
    pub(crate) const fn back(mut self, bytes: usize) -> Self {
        self.back = bytes;
        self
    }

    /// Asks `check` of each match.
    pub(crate) const fn check(mut self, check: fn(&str) -> bool) -> Self {
        self.check = check;
        self
    }

    /// Says that what is found is personal.
    pub(crate) const fn personal(mut self) -> Self {
        self.kind = Kind::Personal;
        self
    }

    /// Returns the texts in which the rule finds something, then those in which it does not; made anew, each time the same.
    pub fn examples(&self) -> ([String; 2], [String; 2]) {
        let plain = |shape| crate::shape::fill(shape, 1).replace(['⟦', '⟧'], "");
        (self.found.map(plain), self.kept.map(plain))
    }
}
