//! Ties rows and annotations to statements.
//!
//! The text decides first: the same text, a name, what it refers to, a beginning, a quoted text, common words, the
//! kind. What a row ran in and its index decide between equals, and the index alone only where the text says nothing.
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
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::keys::{Found, Keys};
use super::{Listing, Tie, TiedBy};
use counting::{COUNTINGS, Counted, Learned};

/// A listing made ready for ties.
#[derive(Debug, Clone, Default)]
pub(super) struct Ready {
    keys: Keys,
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
        let found = self.ready().keys.find(self, text);
        choose(self, &Learned::default(), &found, index, None)
    }

    /// A tier for many rows: it remembers texts and learns how the indices count.
    pub fn ties(&self) -> Ties<'_> {
        Ties {
            listing: self,
            found: BTreeMap::new(),
            same: BTreeSet::new(),
            learned: Learned::default(),
            ranks: BTreeMap::new(),
            last: 0,
        }
    }

    /// What its statements can be found by.
    pub(super) fn keys(&self) -> &Keys {
        &self.ready().keys
    }

    fn ready(&self) -> &Ready {
        self.ready.get_or_init(|| Ready {
            keys: Keys::new(self),
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
    /// The different indices of a text that several statements have: as many as there are statements, in the
    /// same order, they tell which is which.
    ranks: BTreeMap<String, Vec<i64>>,
    /// The statement that was surely tied last: rows mostly come in the order of the program.
    last: u32,
}

impl Ties<'_> {
    /// Learns from rows, given as text and index, how their indices count. Rows whose text is that of one
    /// statement alone teach it.
    pub fn learn<'r>(&mut self, rows: impl IntoIterator<Item = (&'r str, Option<i64>)>) {
        // The index first: numbers are compared faster than texts that begin alike.
        let mut asked: BTreeSet<(i64, &str)> = BTreeSet::new();
        for (text, index) in rows {
            let Some(index) = index else { continue };
            if !asked.insert((index, text)) {
                continue;
            }
            let counted = &self.listing.ready().counted;
            if let Some(sure) = self.sure(text) {
                self.learned.take(counted, index, sure);
                self.learned.hear(counted, index, &[sure]);
                continue;
            }
            let found = self.find(text);
            if found.exact {
                self.learned.hear(counted, index, &found.statements);
            }
            match found.statements.as_slice() {
                [only] if found.is_sure() => {
                    self.learned.take(counted, index, *only);
                }
                [] | [_] => {}
                _ => {
                    let ranks = self.ranks.entry(text.to_owned()).or_default();
                    if let Err(at) = ranks.binary_search(&index) {
                        ranks.insert(at, index);
                    }
                }
            }
        }
        self.learned.weigh();
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
        let tie = choose(self.listing, &self.learned, &found, index, within)?;
        if tie.guessed
            && let (Some(index), Some(ranks)) = (index, self.ranks.get(text))
            && ranks.len() == found.statements.len()
            && let Ok(rank) = ranks.binary_search(&index)
            && let Some(statement) = found.statements.get(rank)
            && within.is_none_or(|within| {
                let outer = *statement > within.outer;
                outer
                    && (*statement <= within.last || self.listing.contains(within.last, *statement))
            })
        {
            return Some(Tie {
                statement: *statement,
                ..tie
            });
        }
        Some(tie)
    }

    /// Ties the next of several texts that come in the order of the program, as the lines of a state.md do:
    /// of equals, the first after the statement `after`.
    pub fn tie_after(&mut self, text: &str, after: Option<u32>) -> Option<Tie> {
        let found = self.find(text);
        let all = found.statements.as_slice();
        let from = after.map_or(0, |after| all.partition_point(|id| *id <= after));
        Some(Tie {
            statement: *all.get(from).or(all.first())?,
            guessed: !found.is_sure(),
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
        if often < 2 || found.statements.len() != often {
            return Some(tie);
        }
        Some(Tie {
            statement: found.statements.get(nth).copied()?,
            guessed: !found.exact,
            by: found.by,
        })
    }

    /// Whether the sure rows of the run say that indices are lines; without any, whether all others may say so.
    pub(crate) fn counts_lines(&self) -> bool {
        match self.learned.best.first() {
            Some(best) => *best == COUNTINGS[0],
            None => self.learned.may_be_lines(),
        }
    }

    /// The statement that a text is surely of, without asking what else it may speak of.
    fn sure(&mut self, text: &str) -> Option<u32> {
        let keys = &self.listing.ready().keys;
        let sure = keys.sure(self.listing, text, self.last)?;
        self.last = sure;
        Some(sure)
    }

    fn find(&mut self, text: &str) -> Rc<Found> {
        if let Some(found) = self.found.get(text) {
            return Rc::clone(found);
        }
        let found = self.listing.ready().keys.find(self.listing, text);
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
    let tie = |statement: u32, sure: bool| Tie {
        statement,
        guessed: !sure,
        by: found.by,
    };
    if found.is_sure()
        && let [only] = all
    {
        return Some(tie(*only, true));
    }
    let hit = index.and_then(|index| hit(listing, learned, found, index));
    let by_index = |statement: u32| Tie {
        statement,
        guessed: true,
        by: TiedBy::Index,
    };
    let Some(first) = all.first() else {
        // The text says nothing.
        return hit.map(|(statement, _)| by_index(statement));
    };
    let inside =
        within.map(|within| (inside(listing, all, within.outer, within.last), within.sure));
    let inside = inside.filter(|(list, _)| !list.is_empty());
    if let Some((statement, sure)) = hit {
        let spoken_of = all.binary_search(&statement).is_ok();
        let there = inside.is_none_or(|(list, _)| list.binary_search(&statement).is_ok());
        return Some(match spoken_of {
            // A word alone (`break`) may be a name; with its line it is the statement.
            true => tie(
                statement,
                (found.exact || found.by == TiedBy::Text) && sure && there,
            ),
            false => by_index(statement),
        });
    }
    if let Some(([only], sure)) = inside {
        let sure = found.exact && found.longer.is_none() && sure && index.is_none();
        return Some(tie(*only, sure));
    }
    let list = inside.map_or(all, |(list, _)| list);
    let nearest = nearest(listing, learned, found, list, index);
    Some(tie(nearest.unwrap_or(*first), false))
}

/// The statement that an index names, and whether that may be relied on: one that the text speaks of; else one that
/// the text may speak of, if the run is known to count so and the text is a weak witness.
fn hit(listing: &Listing, learned: &Learned, found: &Found, index: i64) -> Option<(u32, bool)> {
    let counted = &listing.ready().counted;
    let all = found.statements.as_slice();
    let spoken_of = |statement: &u32| all.binary_search(statement).is_ok();
    let any = learned
        .possible()
        .filter_map(|counting| counted.at(counting, index));
    if learned.best.is_empty() {
        let mut hits = COUNTINGS
            .into_iter()
            .filter_map(|counting| counted.at(counting, index));
        return match all {
            [] => hits.find(|statement| found.may_be(listing, *statement)),
            _ => hits.find(spoken_of),
        }
        .map(|statement| {
            (
                statement,
                learned.whole && is_line(counted, index, any, spoken_of),
            )
        });
    }
    let mut named = learned
        .best
        .iter()
        .map(|counting| counted.at(*counting, index));
    let first = named.next().flatten();
    let steady = named.all(|other| other == first) && learned.is_steady(index);
    if let Some(statement) = first.filter(spoken_of) {
        let line = learned.agree
            && learned.best.first() == Some(&COUNTINGS[0])
            && is_line(counted, index, any, spoken_of);
        return Some((statement, steady || line));
    }
    first
        .filter(|statement| {
            let weak = all.is_empty() || steady && found.is_weak();
            weak && found.may_be(listing, *statement)
                || steady && found.may_be_cut_from(listing, *statement)
        })
        .map(|statement| (statement, false))
}

/// Whether an index is the line of one of the statements that a text speaks of, and counted in another way that the rows of
/// the run allow names none of the others: then it tells them apart.
fn is_line(
    counted: &Counted,
    index: i64,
    any: impl Iterator<Item = u32>,
    spoken_of: impl Fn(&u32) -> bool,
) -> bool {
    let line = counted.at(COUNTINGS[0], index).filter(&spoken_of);
    let mut others = any.filter(&spoken_of);
    line.is_some() && others.all(|other| Some(other) == line)
}

/// Of several, the one that the index is nearest to; without one, the likeliest.
fn nearest(
    listing: &Listing,
    learned: &Learned,
    found: &Found,
    list: &[u32],
    index: Option<i64>,
) -> Option<u32> {
    let counting = learned.best.first().copied();
    let near = counting
        .zip(index)
        .map(|(counting, index)| listing.ready().counted.near(counting, index));
    match near {
        Some(near) => list.iter().min_by_key(|id| id.abs_diff(near)).copied(),
        None => found
            .likeliest
            .filter(|id| list.binary_search(id).is_ok())
            .or(list.first().copied()),
    }
}

/// Those of a list, in order of the program, that lie in a statement, or are it.
pub(super) fn inside<'s>(listing: &Listing, list: &'s [u32], outer: u32, last: u32) -> &'s [u32] {
    let from = list.partition_point(|id| *id < outer);
    let rest = list.get(from..).unwrap_or_default();
    let to = rest.partition_point(|id| *id <= last || listing.contains(last, *id));
    rest.get(..to).unwrap_or_default()
}
