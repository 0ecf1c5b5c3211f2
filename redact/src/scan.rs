//! Scans one text with the rules of a share.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::OnceLock;

use regex_lite::Regex;

use crate::exact::{ASKED, Exact};
#[cfg(not(target_arch = "wasm32"))]
use crate::file::{self, WrongFile};
use crate::hit::Hit;
use crate::merge::{RawHit, back, inside_marker, merged, without};
use crate::names::SecretNames;
use crate::needles::Needles;
use crate::pattern::{self, RejectedPattern};
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
        if !self.exact.iter().any(|known| known.value == exact.value) {
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
        self.kept_names
            .insert(name.trim_matches(['[', ']']).to_owned());
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

    /// Adds every secret that was replaced so far as an exact value, so that the next scan also finds it bare,
    /// encoded and split. Skips personal data and secrets shorter than [`crate::SHORTEST`].
    pub fn learn(&mut self, names: &SecretNames) {
        for (secret, name) in names.replacements() {
            let stem = name.split(" #").next().unwrap_or_default();
            let rule = self.rules().find(|rule| rule.id == stem);
            if rule.is_none_or(|rule| rule.kind == RuleKind::Secret) {
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
        let mut raws = self.once(text);
        let mut places = merged(text, &raws);
        // A second secret directly beside the first is recognised only after the first is replaced. Scanning again
        // here ensures that a scan of the written file finds nothing.
        for _ in 0..ROUNDS {
            if places.is_empty() {
                break;
            }
            let (rest, cuts) = without(text, &places);
            let more: Vec<_> = self
                .once(&rest)
                .into_iter()
                .filter(|raw| !inside_marker(&rest, &raw.range))
                .collect();
            if more.is_empty() {
                break;
            }
            raws.extend(more.into_iter().map(|raw| RawHit {
                range: back(&cuts, raw.range.start)..back(&cuts, raw.range.end),
                ..raw
            }));
            places = merged(text, &raws);
        }
        self.named(place, text, places, names)
    }

    /// Returns the hits of each rule, value and pattern in one pass.
    fn once<'a>(&'a self, text: &str) -> Vec<RawHit<'a>> {
        let mut raws = BUILT_IN.find(text, &self.off);
        for table in &self.added {
            raws.extend(table.find(text, &self.off));
        }
        self.by_values(text, &mut raws);
        for pattern in &self.patterns {
            let found = pattern
                .find_iter(text)
                .filter(|found| !found.range().is_empty());
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
        raws.retain(|raw| {
            text.get(raw.range.clone())
                .is_some_and(|hit| !hit.is_empty())
        });
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
            let secret = raw.value.unwrap_or(&text[raw.range.clone()]);
            let name = names.name(secret, raw.stem);
            let here = || {
                self.kept_places
                    .contains(&(raw.rule.to_owned(), place.to_owned()))
            };
            if self.kept_names.contains(&name) || self.kept_secrets.contains(secret) || here() {
                names.kept(secret);
                continue;
            }
            names.replaced(secret);
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

    fn by_values<'a>(&'a self, text: &str, raws: &mut Vec<RawHit<'a>>) {
        if self.exact.is_empty() {
            return;
        }
        let needles = self.needles.get_or_init(|| {
            Needles::new(
                self.exact
                    .iter()
                    .map(|exact| (exact.value.as_str(), exact.word)),
                false,
            )
        });
        for found in needles.find(text.as_bytes(), &mut |_| false) {
            let exact = &self.exact[found.value];
            raws.push(RawHit {
                range: found.range,
                rule: exact.rule.as_deref().unwrap_or("exact"),
                stem: &exact.stem,
                kind: exact.kind,
                rank: if exact.rule.is_some() { 0 } else { 5 },
                form: found.form,
                value: Some(&exact.value),
            });
        }
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
