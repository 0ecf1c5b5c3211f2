//! Ties rows and annotations to statements.
//!
//! The text decides first: the same text, a name, what it refers to, a beginning, a quoted text. What a row ran in and its
//! index decide between equals, and the index alone only where the text says nothing.
//!
//! | a tie is certain when | |
//! |---|---|
//! | the text is that of one statement alone | and no other statement's text begins with it: it may have been cut |
//! | the name is bound by one statement alone | and stands before an `=`, or declares something of the same kind |
//! | several statements have the text | and the index singles one out, as all sure rows of the run count (several) |
//! | | or the row has no index, and what it surely ran in holds one of them alone |
//!
//! Anything else is a guess and says so.

mod counting;
mod features;
mod index;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{Listing, Tie, TiedBy};
use counting::{COUNTINGS, Counted, Learned};
use index::{Found, Index};

/// A listing made ready for ties.
#[derive(Debug, Clone, Default)]
pub(super) struct Ready {
    index: Index,
    counted: Counted,
}

/// What a row ran in: a construct, or the block that was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Within {
    /// The statement whose body it is.
    pub(crate) outer: u32,
    /// The last statement whose body belongs to it: another one in a branch that begins with a `try` or `if`.
    pub(crate) last: u32,
    /// Whether that is no guess.
    pub(crate) sure: bool,
}

impl Listing {
    /// Ties a row to a statement: by its text first (texts are often shortened: a prefix will do), its index
    /// only deciding between equals and where the text says nothing (documents count statements or lines).
    ///
    /// For the rows of a whole run use [`Listing::ties`], which learns how they count: one row's index alone makes
    /// nothing certain.
    pub fn tie(&self, text: &str, index: Option<i64>) -> Option<Tie> {
        let found = self.index().find(self, text);
        choose(self, &Learned::default(), &found, index, None)
    }

    /// A tier for many rows: it remembers texts and learns how the indices count.
    pub fn ties(&self) -> Ties<'_> {
        Ties {
            listing: self,
            found: BTreeMap::new(),
            same: BTreeSet::new(),
            learned: Learned::default(),
            last: 0,
        }
    }

    /// What its statements can be found by.
    pub(super) fn index(&self) -> &Index {
        &self.ready().index
    }

    fn ready(&self) -> &Ready {
        self.ready.get_or_init(|| Ready {
            index: Index::new(self),
            counted: Counted::new(self),
        })
    }
}

/// Texts that a tier remembers: each is looked up twice, to learn and to be tied.
const REMEMBERED: usize = 1 << 17;

/// Ties many rows to one program: see [`Listing::ties`].
#[derive(Debug, Clone)]
pub struct Ties<'a> {
    listing: &'a Listing,
    /// What texts speak of: of the first [`REMEMBERED`], the others are looked up again.
    found: BTreeMap<String, Rc<Found>>,
    /// What was found, each once: very many texts speak of the same.
    same: BTreeSet<Rc<Found>>,
    learned: Learned,
    /// The statement that was surely tied last.
    last: u32,
}

impl Ties<'_> {
    /// Learns from rows, given as text and index, how their indices count. Rows that have the text of statements teach it.
    pub fn learn<'r>(&mut self, rows: impl IntoIterator<Item = (&'r str, Option<i64>)>) {
        // The index first: numbers are compared faster than texts that begin alike.
        let mut asked: BTreeSet<(i64, &str)> = BTreeSet::new();
        for (text, index) in rows {
            let Some(index) = index.filter(|index| asked.insert((*index, text))) else {
                continue;
            };
            let counted = &self.listing.ready().counted;
            if let Some(sure) = self.sure(text) {
                self.learned.take(counted, index, &[sure]);
                continue;
            }
            let found = self.find(text);
            if found.exact {
                self.learned.take(counted, index, &found.statements);
            }
        }
        self.learned.weigh();
    }

    /// The statement that a text is surely of, without asking what else it may speak of.
    fn sure(&mut self, text: &str) -> Option<u32> {
        let sure = self.listing.index().sure(self.listing, text, self.last)?;
        self.last = sure;
        Some(sure)
    }

    /// Ties a row to a statement, as [`Listing::tie`] does, by the counting that was learned.
    pub fn tie(&mut self, text: &str, index: Option<i64>) -> Option<Tie> {
        self.tie_within(text, index, None)
    }

    /// Ties a row of which is known what it ran in.
    pub(crate) fn tie_within(
        &mut self,
        text: &str,
        index: Option<i64>,
        within: Option<Within>,
    ) -> Option<Tie> {
        if let Some(statement) = self.sure(text) {
            return Some(Tie {
                statement,
                guessed: false,
                by: TiedBy::Text,
            });
        }
        let found = self.find(text);
        choose(self.listing, &self.learned, &found, index, within)
    }

    /// Ties the next of several texts that come in the order of the program, as the lines of a state.md do:
    /// of equals, the first after the statement `after`.
    pub fn tie_after(&mut self, text: &str, after: Option<u32>) -> Option<Tie> {
        let found = self.find(text);
        let all = found.statements.as_slice();
        let from = after.map_or(0, |after| all.partition_point(|id| *id <= after));
        Some(Tie {
            statement: *all.get(from).or(all.first())?,
            guessed: found.sure().is_none(),
            by: found.by,
        })
    }

    /// As [`Ties::tie_after`], for a text that comes `often` times, now for the `nth` time (from 0): as often as
    /// there are statements of it, each is the one in its place.
    pub fn tie_nth(
        &mut self,
        text: &str,
        (nth, often): (usize, usize),
        after: Option<u32>,
    ) -> Option<Tie> {
        let found = self.find(text);
        let tie = self.tie_after(text, after)?;
        let in_place = found
            .statements
            .get(nth)
            .filter(|_| often == found.statements.len());
        Some(match in_place {
            Some(statement) => Tie {
                statement: *statement,
                guessed: !found.exact,
                by: found.by,
            },
            None => tie,
        })
    }

    /// Whether the sure rows of the run say that indices are lines.
    pub(crate) fn counts_lines(&self) -> bool {
        self.learned.best.first() == Some(&COUNTINGS[0])
    }

    fn find(&mut self, text: &str) -> Rc<Found> {
        if let Some(found) = self.found.get(text) {
            return Rc::clone(found);
        }
        let found = self.listing.index().find(self.listing, text);
        let found = match self.same.get(&found) {
            Some(same) => Rc::clone(same),
            None => Rc::new(found),
        };
        if self.found.len() < REMEMBERED {
            self.same.insert(Rc::clone(&found));
            self.found.insert(text.to_owned(), Rc::clone(&found));
        }
        found
    }
}

/// One of the statements that a text speaks of.
fn choose(
    listing: &Listing,
    learned: &Learned,
    found: &Found,
    index: Option<i64>,
    within: Option<Within>,
) -> Option<Tie> {
    let all = found.statements.as_slice();
    let tie = |statement: u32, sure: bool| {
        Some(Tie {
            statement,
            guessed: !sure,
            by: found.by,
        })
    };
    if let Some(only) = found.sure() {
        return tie(only, true);
    }
    let hit = index.and_then(|index| hit(listing, learned, found, index));
    if all.is_empty() {
        // The text says nothing.
        let (statement, _) = hit?;
        return Some(Tie {
            statement,
            guessed: true,
            by: TiedBy::Index,
        });
    }
    let inside = within.map(|w| (inside(listing, all, w.outer, w.last), w.sure));
    let inside = inside.filter(|(list, _)| !list.is_empty());
    if let Some((statement, steady)) = hit {
        let there = inside.is_none_or(|(list, _)| list.binary_search(&statement).is_ok());
        // A word alone (`break`) may be a name; with its line it is the statement.
        let exact = found.exact || found.by == TiedBy::Text;
        return tie(statement, exact && steady && there);
    }
    if let Some(([only], sure)) = inside {
        return tie(*only, found.exact && sure && index.is_none());
    }
    let list = inside.map_or(all, |(list, _)| list);
    let counting = learned.best.first().copied().zip(index);
    let near = counting.map(|(counting, index)| listing.ready().counted.near(counting, index));
    let nearest = match near {
        Some(near) => list.iter().min_by_key(|id| id.abs_diff(near)),
        None => list.iter().find(|id| Some(**id) == found.likeliest),
    };
    tie(*nearest.or(list.first())?, false)
}

/// The statement that an index names, and whether that may be relied on: one that the text speaks of; where it says
/// nothing, one of its kind.
fn hit(listing: &Listing, learned: &Learned, found: &Found, index: i64) -> Option<(u32, bool)> {
    let counted = &listing.ready().counted;
    let may_be = |statement: &u32| match found.statements.as_slice() {
        [] => {
            let own = listing.get(*statement).map(|own| own.kind);
            found.kind.is_none() || own == found.kind
        }
        all => all.binary_search(statement).is_ok(),
    };
    let ways: &[_] = match learned.best.as_slice() {
        [] => &COUNTINGS,
        best => best,
    };
    let mut named = ways.iter().map(|way| counted.at(*way, index));
    if learned.best.is_empty() {
        return Some((named.flatten().find(may_be)?, false));
    }
    let first = named.next()?;
    let steady = named.all(|other| other == first) && learned.is_steady(index);
    Some((first.filter(may_be)?, steady))
}

/// Those of a list, in order of the program, that lie in a statement, or are it.
fn inside<'s>(listing: &Listing, list: &'s [u32], outer: u32, last: u32) -> &'s [u32] {
    let from = list.partition_point(|id| *id < outer);
    let rest = list.get(from..).unwrap_or_default();
    let to = rest.partition_point(|id| *id <= last || listing.contains(last, *id));
    rest.get(..to).unwrap_or_default()
}
