//! Scans one text with the rules of a share.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use regex_lite::Regex;

use crate::exact::{ASKED, Exact};
#[cfg(not(target_arch = "wasm32"))]
use crate::file::{self, WrongFile};
use crate::find;
use crate::hit::Hit;
use crate::merge::{RawHit, back, merged, touches, without};
use crate::names::{SecretNames, without_letters};
use crate::needles::Needles;
use crate::pattern::{self, RejectedPattern};
use crate::reading::{Reading, each_reading};
use crate::rule::{Rule, RuleKind};
use crate::table::{BUILT_IN, RuleTable};

/// The most times that a text with hits is scanned again.
const ROUNDS: usize = 4;

/// The rules of one share: the table, exact values, the user's patterns, and exceptions.
///
/// ```
/// use prosescope_redact::{SecretNames, Rules, replace, shape};
///
/// let text = format!("log in with {}\n", shape::fill("ghp_{A:36}", 1));
/// let mut names = SecretNames::new();
/// let hits = Rules::new().scan(&text, &mut names);
/// assert_eq!(replace(&text, &hits), "log in with [github-token #1]\n");
/// ```
#[derive(Default)]
pub struct Rules {
    off: BTreeSet<String>,
    /// The rules of the user's files.
    added: Vec<RuleTable>,
    exact: Vec<Exact>,
    /// The values of `exact`.
    known: BTreeSet<String>,
    needles: OnceLock<Needles>,
    patterns: Vec<Regex>,
    kept_names: BTreeSet<String>,
    kept_secrets: BTreeSet<String>,
    kept_places: BTreeSet<(String, String)>,
}

impl Rules {
    /// Returns a set of all rules, without exact values.
    pub fn new() -> Self {
        Rules::default()
    }

    /// Adds the rules of a user's file, which has the form of `rules.toml`.
    ///
    /// # Errors
    /// [`WrongFile`] if a rule is not valid, does not find what its examples mark, or has the id of another rule.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn add_file(&mut self, bytes: &[u8]) -> Result<(), WrongFile> {
        let ids: BTreeSet<_> = self.rules().map(|rule| rule.id.as_str()).collect();
        let table = file::read(bytes, &ids)?;
        self.added.push(table);
        Ok(())
    }

    /// Returns the built-in rules and those of the user's files.
    fn rules(&self) -> impl Iterator<Item = &Rule> {
        let added = self.added.iter().flat_map(|table| &table.rules);
        BUILT_IN.rules.iter().chain(added)
    }

    /// Switches off all rules of a kind; exact values are still replaced.
    pub fn without(mut self, kind: RuleKind) -> Self {
        let of_kind = self.rules().filter(|rule| rule.kind == kind);
        let ids: Vec<_> = of_kind.map(|rule| rule.id.clone()).collect();
        self.off.extend(ids);
        self
    }

    /// Switches off one rule; returns false if no rule has this id.
    pub fn without_rule(&mut self, id: &str) -> bool {
        let known = self.rules().any(|rule| rule.id == id);
        if known {
            self.off.insert(id.to_owned());
        }
        known
    }

    /// Adds a value to replace wherever it occurs.
    ///
    /// # Errors
    /// [`RejectedPattern::TooShort`] if the value is too short and the user did not name it.
    pub fn exact(&mut self, exact: Exact) -> Result<(), RejectedPattern> {
        if !exact.usable() {
            return Err(RejectedPattern::TooShort);
        }
        if self.known.insert(exact.value.clone()) {
            self.exact.push(exact);
            self.needles = OnceLock::new();
        }
        Ok(())
    }

    /// Adds a text or, between slashes, a regular expression that the user named.
    ///
    /// # Errors
    /// [`RejectedPattern`] if the text or the pattern cannot be used.
    pub fn asked(&mut self, text: &str) -> Result<(), RejectedPattern> {
        match text
            .strip_prefix('/')
            .and_then(|rest| rest.strip_suffix('/'))
            .filter(|pattern| !pattern.is_empty())
        {
            Some(pattern) => {
                let pattern = pattern::compile(pattern, pattern::ASKED)?;
                self.patterns.push(pattern::unless_empty(pattern)?);
                Ok(())
            }
            None => self.exact(Exact::secret(ASKED, text).asked()),
        }
    }

    /// Excludes the secret with this name, such as `github-token #1`, from replacement. The names of other secrets stay
    /// the same.
    pub fn keep_name(&mut self, name: &str) {
        let name = without_letters(name.trim_matches(['[', ']']));
        self.kept_names.insert(name.to_owned());
    }

    /// Excludes this secret from replacement wherever it occurs.
    pub fn keep_secret(&mut self, secret: &str) {
        self.kept_secrets.insert(secret.to_owned());
    }

    /// Excludes a rule's hits at one place from replacement; the place is named as in [`Rules::scan_at`]. The secret
    /// may still be replaced elsewhere. [`crate::Remains`] does not search for the secret, because it remains at this
    /// place.
    pub fn keep_place(&mut self, rule: &str, place: &str) {
        self.kept_places.insert((rule.to_owned(), place.to_owned()));
    }

    /// Adds every secret that was replaced so far as an exact value, so that the next scan also finds it bare, encoded and
    /// split, and the names of people that e-mail addresses reveal. Skips other personal data, and secrets shorter than
    /// [`crate::SHORTEST`]. Decides how marks end, so that no text can contain one already: all texts must have been
    /// scanned.
    pub fn learn(&mut self, names: &mut SecretNames) {
        names.settle();
        let people = names.replacements();
        let people = people.filter_map(|(value, _)| find::person(value));
        for person in people.collect::<Vec<_>>() {
            let _ = self.exact(Exact::personal("person", &person));
        }
        for (secret, name) in names.secrets() {
            if !self.known.contains(secret) {
                let stem = name.split(" #").next().unwrap_or_default();
                let rule = self.rules().find(|rule| rule.id == stem);
                let known = Exact {
                    rule: rule.map(|rule| rule.id.clone()),
                    ..Exact::secret(stem, secret)
                };
                let _ = self.exact(known);
            }
        }
    }

    /// Returns the hits of this text, in order, without overlaps.
    ///
    /// Takes time proportional to the length of the text. Pass the same `names` for all texts of a file.
    pub fn scan(&self, text: &str, names: &mut SecretNames) -> Vec<Hit> {
        self.scan_at("", text, names)
    }

    /// Scans a text like [`Rules::scan`]. `place` names the cell or file of the text, for [`Rules::keep_place`].
    pub fn scan_at(&self, place: &str, text: &str, names: &mut SecretNames) -> Vec<Hit> {
        names.meet(text);
        self.scan_again(place, text, names)
    }

    /// Scans a text in which hits were replaced before, so that what looks like a mark of this file is one. Pass the
    /// original text to [`SecretNames::meet`].
    pub fn scan_again(&self, place: &str, text: &str, names: &mut SecretNames) -> Vec<Hit> {
        let own = names.marks();
        let mut raws = self.once(text, &own.within(text));
        let mut places = merged(&raws);
        // A second secret directly beside the first is recognised only after the first is replaced. Scanning again
        // here ensures that a scan of the written file finds nothing.
        for _ in 0..ROUNDS {
            if places.is_empty() {
                break;
            }
            let (rest, cuts) = without(text, &places);
            let mut marks = own.within(&rest);
            marks.extend(cuts.iter().map(|[from, to, _]| *from..*to));
            marks.sort_by_key(|mark| mark.start);
            let more = self.once(&rest, &marks);
            if more.is_empty() {
                break;
            }
            raws.extend(more.into_iter().map(|raw| RawHit {
                range: back(&cuts, raw.range.start)..back(&cuts, raw.range.end),
                ..raw
            }));
            places = merged(&raws);
        }
        self.named(place, text, places, names)
    }

    /// Returns the hits of each rule, value and pattern in one pass over each reading of a text, but for those that
    /// touch a mark: what it replaced is gone.
    fn once<'a>(&'a self, text: &str, marks: &[Range<usize>]) -> Vec<RawHit<'a>> {
        let needles = self.needles.get_or_init(|| {
            let values = self.exact.iter();
            Needles::new(values.map(|exact| (exact.value.as_str(), exact.word)))
        });
        let (mut raws, mut found) = (Vec::new(), Vec::new());
        each_reading(text.as_bytes(), needles.wanted(false), &mut |reading| {
            if reading.is_text
                && let Ok(read) = std::str::from_utf8(&reading.bytes)
            {
                raws.extend(self.by_rules(read, reading));
            }
            needles.find(reading, &mut found, &mut |_| false)
        });
        raws.extend(found.into_iter().map(|found| {
            let exact = &self.exact[found.value];
            RawHit {
                range: found.range,
                rule: exact.rule.as_deref().unwrap_or("exact"),
                stem: &exact.stem,
                kind: exact.kind,
                rank: if exact.rule.is_some() { 0 } else { 5 },
                form: found.form,
                value: Some(Cow::Borrowed(&exact.value)),
            }
        }));
        raws.retain(|raw| {
            let hit = text.get(raw.range.clone());
            hit.is_some_and(|hit| !hit.is_empty()) && !touches(marks, &raw.range)
        });
        raws
    }

    /// Returns the hits of the rules and of the user's patterns in a reading.
    fn by_rules<'a>(&'a self, read: &str, reading: &Reading<'_>) -> Vec<RawHit<'a>> {
        let mut raws = BUILT_IN.find(read, &self.off);
        for table in &self.added {
            raws.extend(table.find(read, &self.off));
        }
        for pattern in &self.patterns {
            let found = pattern.find_iter(read);
            raws.extend(found.map(|found| RawHit {
                range: found.range(),
                rule: "pattern",
                stem: ASKED,
                kind: RuleKind::Secret,
                rank: 4,
                form: "plain",
                value: None,
            }));
        }
        if reading.form != "plain" {
            raws.retain_mut(|raw| {
                let said = read.get(raw.range.clone()).map(str::to_owned);
                raw.value = said.map(Cow::Owned);
                raw.form = reading.form;
                let range = reading.back(raw.range.clone());
                raw.range = range.unwrap_or_default();
                !raw.range.is_empty()
            });
        }
        raws
    }

    fn named(
        &self,
        place: &str,
        text: &str,
        raws: Vec<RawHit<'_>>,
        names: &mut SecretNames,
    ) -> Vec<Hit> {
        let mut hits = Vec::new();
        for raw in raws {
            let secret = raw.value.as_deref().unwrap_or(&text[raw.range.clone()]);
            let name = names.name(secret, raw.stem);
            let here = || {
                self.kept_places
                    .contains(&(raw.rule.to_owned(), place.to_owned()))
            };
            if self.kept_names.contains(without_letters(&name))
                || self.kept_secrets.contains(secret)
                || here()
            {
                names.kept(secret);
                continue;
            }
            names.replaced(secret, raw.kind);
            hits.push(Hit {
                range: raw.range,
                rule: raw.rule.to_owned(),
                kind: raw.kind,
                name,
                form: raw.form,
            });
        }
        hits
    }
}

/// Prints the rules without values, so that no log contains a secret.
impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules")
            .field("off", &self.off)
            .field("exact", &self.exact)
            .field("patterns", &self.patterns)
            .finish_non_exhaustive()
    }
}
