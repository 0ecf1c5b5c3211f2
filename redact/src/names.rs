//! The names of secrets within one file, such as `github-token #1`.

use std::collections::BTreeMap;
use std::fmt;

/// The name of each secret: equal secrets get equal names, numbered in order of appearance, so that a trace stays
/// understandable.
///
/// One `SecretNames` serves all texts of one shared file, in the order in which a reader meets them. The struct
/// contains the secrets themselves, so it must never be written; its `Debug` prints only names.
#[derive(Default, Clone)]
pub struct SecretNames {
    by_secret: BTreeMap<String, SecretName>,
    counts: BTreeMap<String, usize>,
}

#[derive(Clone)]
struct SecretName {
    stem: String,
    number: usize,
    replaced: bool,
    kept: bool,
}

impl SecretName {
    fn name(&self) -> String {
        format!("{} #{}", self.stem, self.number)
    }
}

impl SecretNames {
    /// Returns an empty set of names.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the name of a secret: `github-token #1`. A caller may also replace a whole cell by this name.
    pub fn name(&mut self, secret: &str, stem: &str) -> String {
        if let Some(named) = self.by_secret.get(secret) {
            return named.name();
        }
        let count = self.counts.entry(stem.to_owned()).or_default();
        *count += 1;
        let named = SecretName {
            stem: stem.to_owned(),
            number: *count,
            replaced: false,
            kept: false,
        };
        let name = named.name();
        self.by_secret.insert(secret.to_owned(), named);
        name
    }

    /// Records that this secret is replaced at some place.
    pub(crate) fn replaced(&mut self, secret: &str) {
        if let Some(named) = self.by_secret.get_mut(secret) {
            named.replaced = true;
        }
    }

    /// Records that this secret is kept at some place, so that [`crate::Remains`] does not search for it.
    pub(crate) fn kept(&mut self, secret: &str) {
        if let Some(named) = self.by_secret.get_mut(secret) {
            named.kept = true;
        }
    }

    /// Returns each secret that was replaced everywhere, with its name, for [`crate::Remains`] to search for.
    pub fn replacements(&self) -> impl Iterator<Item = (&str, String)> {
        self.by_secret
            .iter()
            .filter(|(_, named)| named.replaced && !named.kept)
            .map(|(secret, named)| (secret.as_str(), named.name()))
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
        f.debug_set()
            .entries(self.by_secret.values().map(SecretName::name))
            .finish()
    }
}
