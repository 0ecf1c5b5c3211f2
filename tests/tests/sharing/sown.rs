//! Chooses the secrets to plant: which kind of secret in which place, and which part of the secret must not remain.

use std::collections::BTreeMap;

use prosescope_redact::{Rules, SecretNames, replace};

use crate::leaks::Sought;
use crate::planted::{kinds, plant};

/// The maximum number of random secrets of one kind that are made, until the rules find one in a text of its own. A
/// secret that the rules miss even there would show nothing about sharing.
const TRIES: u64 = 20;

/// Kinds of secrets that are not found in any place, as docs/reference/sharing.md documents.
pub(crate) const UNFOUND: [&str; 1] = ["mailgun-signed"];

/// A secret that was planted in a place.
pub(crate) struct Sown {
    pub(crate) place: String,
    pub(crate) kind: &'static str,
}

/// A record of the secrets that one share contains, which also chooses the secrets for further places.
pub(crate) struct Sower {
    /// The number of this share, and the number of shares that together cover all combinations of kinds and places.
    turn: usize,
    turns: usize,
    places: BTreeMap<String, usize>,
    rules: Rules,
    pub(crate) sown: Vec<Sown>,
    pub(crate) sought: Sought,
}

impl Sower {
    pub(crate) fn new(turn: usize, turns: usize) -> Sower {
        Sower {
            turn,
            turns,
            places: BTreeMap::new(),
            rules: Rules::new(),
            sown: Vec::new(),
            sought: Sought::default(),
        }
    }

    /// Returns texts to write into one part of a run, such as `a value`. Each text contains a secret of its own.
    pub(crate) fn texts(&mut self, place: &str) -> Vec<String> {
        self.fitting(place, |_| true)
    }

    /// Returns texts like [`Sower::texts`], for a part of a run that accepts only texts for which `fits` returns true.
    pub(crate) fn fitting(&mut self, place: &str, fits: impl Fn(&str) -> bool) -> Vec<String> {
        let next = self.places.len();
        let place_number = *self.places.entry(place.to_owned()).or_insert(next);
        let mut texts = Vec::new();
        for (number, kind) in kinds().enumerate() {
            if (number + place_number) % self.turns != self.turn {
                continue;
            }
            if UNFOUND.contains(&kind.0.as_str()) {
                continue;
            }
            let seed = TRIES * (self.sown.len() + 100_000 * self.turn) as u64;
            let seeds = seed..seed + TRIES;
            let found = seeds.map(|seed| plant(kind, seed)).find(|planted| {
                let text = &planted.text;
                replace(text, &self.rules.scan(text, &mut SecretNames::new())) != *text
            });
            let one = found.unwrap_or_else(|| panic!("{} is not found", kind.0));
            let other = plant(kind, u64::MAX);
            if !fits(&one.text) {
                continue;
            }
            let known = |piece: &str| other.secret.contains(piece);
            for piece in pieces(&one.secret, known) {
                self.sought.add(self.sown.len(), piece);
            }
            self.sown.push(Sown {
                place: place.to_owned(),
                kind: &kind.0,
            });
            texts.push(one.text);
        }
        texts
    }
}

/// Returns the parts of a secret that must not remain: its words of at least 12 characters, without words that every
/// secret of the kind contains. Returns the whole secret if it has no such word.
fn pieces(secret: &str, known: impl Fn(&str) -> bool) -> Vec<&str> {
    let between = |c: char| c.is_whitespace() || matches!(c, ';' | ',' | '.' | '=');
    let words = secret.split(between).filter(|word| word.len() >= 12);
    let words: Vec<&str> = words.filter(|word| !known(word)).collect();
    if words.is_empty() {
        vec![secret]
    } else {
        words
    }
}
