//! The names of secrets within one file, such as `github-token #1`, and the marks that stand for secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use crate::needles::MOST;
use crate::rule::RuleKind;

/// The name of each secret: equal secrets get equal names, numbered in order of appearance, so that a trace stays
/// understandable.
///
/// One `SecretNames` serves all texts of one shared file, in the order in which a reader meets them. The struct
/// contains the secrets themselves, so it must never be written; its `Debug` prints only names.
///
/// A text can already contain `[github-token #1]`: written by somebody, or by an earlier share. So that such a text
/// cannot pass for a mark of this file, the marks of this file then end with letters that no text has there:
/// `[github-token #1b]`.
#[derive(Default, Clone)]
pub struct SecretNames {
    by_secret: BTreeMap<String, SecretName>,
    marks: Marks,
    /// The letters at the end of what looks like a mark in the texts.
    taken: BTreeSet<String>,
    /// Whether the letters of this file's marks are decided, because all texts were read.
    settled: bool,
}

#[derive(Clone)]
struct SecretName {
    stem: String,
    number: usize,
    replaced: bool,
    kept: bool,
    kind: RuleKind,
}

impl SecretNames {
    /// Returns an empty set of names.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the name of a secret: `github-token #1`. A caller may also replace a whole cell by this name.
    pub fn name(&mut self, secret: &str, stem: &str) -> String {
        if let Some(named) = self.by_secret.get(secret) {
            return self.written(named);
        }
        let count = self.marks.counts.entry(stem.to_owned()).or_default();
        *count += 1;
        let named = SecretName {
            stem: stem.to_owned(),
            number: *count,
            replaced: false,
            kept: false,
            kind: RuleKind::Personal,
        };
        let name = self.written(&named);
        self.by_secret.insert(secret.to_owned(), named);
        name
    }

    fn written(&self, named: &SecretName) -> String {
        format!("{} #{}{}", named.stem, named.number, self.marks.letters)
    }

    /// Records what looks like a mark in an original text, so that this file's marks end with other letters.
    /// [`crate::Rules::scan`] calls this function.
    pub fn meet(&mut self, text: &str) {
        if self.settled {
            return;
        }
        let met = marks(text).map(|(_, mark)| mark.letters.to_owned());
        self.taken.extend(met);
        let mut number = 0;
        while self.taken.contains(&self.marks.letters) {
            number += 1;
            self.marks.letters = letters(number);
        }
    }

    /// Decides how this file's marks end. Does nothing if no secret was found.
    pub(crate) fn settle(&mut self) {
        self.settled |= !self.by_secret.is_empty();
    }

    /// Returns what tells the marks of this file from other texts.
    pub(crate) fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Records that this secret is replaced at some place.
    pub(crate) fn replaced(&mut self, secret: &str, kind: RuleKind) {
        if let Some(named) = self.by_secret.get_mut(secret) {
            named.replaced = true;
            named.kind = named.kind.min(kind);
        }
    }

    /// Records that this secret is kept at some place, so that [`crate::Remains`] does not search for it.
    pub(crate) fn kept(&mut self, secret: &str) {
        if let Some(named) = self.by_secret.get_mut(secret) {
            named.kept = true;
        }
    }

    /// Returns each text that was replaced everywhere, with its name.
    pub fn replacements(&self) -> impl Iterator<Item = (&str, String)> {
        self.of_kind(|_| true)
    }

    /// Returns each secret that was replaced everywhere, with its name, for [`crate::Remains`] to search for. Personal
    /// data are not searched for in other forms: they are replaced where the rules find them.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = (&str, String)> {
        self.of_kind(|kind| kind == RuleKind::Secret)
    }

    /// Returns how many secrets are replaced where the rules find them, and not searched for in other forms or in the
    /// written file: a search holds 4 MB of secrets.
    pub fn unsearched(&self) -> usize {
        let mut held = 0;
        let mut fits = |secret: &str| {
            held += secret.len();
            held <= MOST
        };
        self.secrets().filter(|(secret, _)| !fits(secret)).count()
    }

    fn of_kind(&self, is: fn(RuleKind) -> bool) -> impl Iterator<Item = (&str, String)> {
        let all = self.by_secret.iter();
        let replaced = all.filter(move |(_, of)| of.replaced && !of.kept && is(of.kind));
        replaced.map(|(secret, named)| (secret.as_str(), self.written(named)))
    }

    /// Returns how many different secrets were replaced, by the first part of their names: `github-token`.
    pub fn counts(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for named in self.by_secret.values().filter(|named| named.replaced) {
            *counts.entry(named.stem.as_str()).or_default() += 1;
        }
        counts
    }
}

impl fmt::Debug for SecretNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.by_secret.values().map(|named| self.written(named));
        f.debug_set().entries(names).finish()
    }
}

/// Tells the marks of one file from other texts.
#[derive(Default, Clone)]
pub(crate) struct Marks {
    /// How many names there are with each first part.
    counts: BTreeMap<String, usize>,
    /// The letters at the end: the first that no text has there.
    letters: String,
}

impl Marks {
    /// Returns where the text has marks of this file, in order.
    pub(crate) fn within(&self, text: &str) -> Vec<Range<usize>> {
        let own = marks(text).filter(|(_, mark)| {
            let count = self.counts.get(mark.stem).copied().unwrap_or_default();
            mark.letters == self.letters && (1..=count).contains(&mark.number)
        });
        own.map(|(range, _)| range).collect()
    }
}

/// The parts of a mark, or of what looks like one: `[github-token #1b]`.
struct Mark<'a> {
    stem: &'a str,
    number: usize,
    letters: &'a str,
}

/// Returns each range of a text that looks like a mark.
fn marks(text: &str) -> impl Iterator<Item = (Range<usize>, Mark<'_>)> {
    let open = text.match_indices('[').map(|(at, _)| at);
    open.filter_map(|at| {
        let (mark, length) = mark(&text[at..])?;
        Some((at..at + length, mark))
    })
}

/// Reads the mark with which a text begins; returns its length, too.
fn mark(text: &str) -> Option<(Mark<'_>, usize)> {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let rest = text.strip_prefix('[')?;
    let length = rest.bytes().take(80).take_while(word).count();
    let (stem, rest) = rest.split_at(length);
    let rest = rest.strip_prefix(" #").filter(|_| !stem.is_empty())?;
    let digits = rest.bytes().take(9).take_while(u8::is_ascii_digit).count();
    let (number, rest) = rest.split_at(digits);
    let letters = rest
        .bytes()
        .take(9)
        .take_while(u8::is_ascii_lowercase)
        .count();
    let (letters, rest) = rest.split_at(letters);
    let mark = Mark {
        stem,
        number: number.parse().ok()?,
        letters,
    };
    rest.starts_with(']')
        .then(|| (mark, text.len() - rest.len() + 1))
}

/// Returns the letters with this number: none, `b`, …, `z`, `bb`, …
fn letters(number: usize) -> String {
    let mut letters = String::new();
    let mut rest = number;
    while rest > 0 {
        rest -= 1;
        letters.insert(0, char::from(b'b' + (rest % 25) as u8));
        rest /= 25;
    }
    letters
}

/// Returns whether a value is nothing but a mark with a name that sharing gives, such as `[github-token #1]` of an
/// earlier share: it says that something was replaced, and is none.
pub fn is_mark(value: &str) -> bool {
    let given = |stem: &str| {
        let known = |rule: &crate::Rule| rule.id == stem;
        crate::rules().any(known)
            || ["asked", "person"].contains(&stem)
            || crate::names_secret(stem)
    };
    mark(value).is_some_and(|(mark, length)| {
        length == value.len() && mark.number < 100_000 && given(mark.stem)
    })
}

/// Returns a name without the letters at its end.
pub(crate) fn without_letters(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_lowercase())
}
