//! Texts that are one statement's alone, found by their hash.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::program::{Listing, StatementKind as Kind};

/// Statements whose very text is nobody else's, and begins nobody else's.
#[derive(Debug, Clone, Default)]
pub(super) struct Alone {
    /// The text's hash, the statement and the kind that its text has; sorted.
    sorted: Vec<(u64, u32, Option<Kind>)>,
    /// Where in `sorted` each of as many equal shares of all hashes begins, and its end: hashes are spread evenly.
    shares: Vec<u32>,
    /// Which statements they are.
    those: Vec<bool>,
}

impl Alone {
    /// `those` says of each statement whether its text is its own alone; of others, `sorted` is not asked.
    pub(super) fn new(mut sorted: Vec<(u64, u32, Option<Kind>)>, mut those: Vec<bool>) -> Alone {
        let is_one = |those: &[bool], id: u32| those.get(id as usize) == Some(&true);
        sorted.retain(|(_, id, _)| is_one(&those, *id));
        those.fill(false);
        for (_, id, _) in &sorted {
            if let Some(one) = those.get_mut(*id as usize) {
                *one = true;
            }
        }
        sorted.sort_unstable();
        let len = sorted.len();
        let mut shares = Vec::with_capacity(len + 1);
        for (at, (hash, ..)) in (0..).zip(&sorted) {
            while shares.len() <= share(*hash, len) {
                shares.push(at);
            }
        }
        shares.resize(len + 1, len as u32);
        Alone {
            sorted,
            shares,
            those,
        }
    }

    /// Whether a statement has this text, and it alone.
    pub(super) fn is(&self, listing: &Listing, id: u32, text: &str) -> bool {
        self.those.get(id as usize) == Some(&true)
            && listing.get(id).is_some_and(|s| s.text == text)
    }

    /// The statement that has this text, and its text's kind.
    pub(super) fn find(&self, listing: &Listing, text: &str) -> Option<(u32, Option<Kind>)> {
        let hash = hash(text);
        let share = share(hash, self.sorted.len());
        let (from, to) = (self.shares.get(share)?, self.shares.get(share + 1)?);
        let few = self.sorted.get(*from as usize..*to as usize)?;
        let same = |(other, id, _): &&(u64, u32, Option<Kind>)| {
            *other == hash && listing.get(*id).is_some_and(|s| s.text == text)
        };
        few.iter().find(same).map(|(_, id, kind)| (*id, *kind))
    }
}

/// The share of all hashes that one lies in, of `of`.
fn share(hash: u64, of: usize) -> usize {
    ((u128::from(hash) * of as u128) >> 64) as usize
}

/// The same for the same text, on every machine.
pub(super) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
