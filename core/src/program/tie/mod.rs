//! Ties rows and annotations to statements of the program.
//!
//! The text counts first: an equal text, a name, a target, a beginning, a quoted text. The enclosing construct and
//! the index decide between equal candidates; the index alone counts only if the text gives no evidence.
//!
//! | a tie is certain when | |
//! |---|---|
//! | the text matches only one statement | and no other text begins with it, as the text may have been cut |
//! | only one statement binds the name | and the name precedes an `=`, or declares something of the same kind |
//! | several statements have the text | and the index selects one, counted as all certain rows (at least two) count |
//! | | or the row has no index, and certainly ran in a construct that contains only one of them |
//!
//! Any other tie is marked as a guess.

mod counting;
mod features;
mod index;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{Listing, Tie, TiedBy};
use counting::{COUNTINGS, CountedStatements, CountingEvidence};
use index::{Index, StatementMatches};

/// The look-up tables of a listing.
#[derive(Debug, Clone, Default)]
pub(super) struct Ready {
    index: Index,
    counted: CountedStatements,
}

/// The construct, or the called block, in which a row ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Within {
    /// The statement whose body the row ran in.
    pub(crate) outer: u32,
    /// The last statement that belongs to the construct. For a branch that begins with a `try` or `if`, `last` is the
    /// last clause of the branch, such as its `catch` or `else`; otherwise `last` equals `outer`.
    pub(crate) last: u32,
    /// Whether it is certain that the row ran in this construct.
    pub(crate) sure: bool,
}

impl Listing {
    /// Ties a row to a statement. The row's text counts first; texts are often shortened, so a prefix suffices. The
    /// index (a count of statements or lines, depending on the writer) decides only between equal texts, or if the text
    /// matches nothing.
    ///
    /// For all rows of a run use [`Listing::ties`], which learns how their indices count. A single row's index makes no
    /// tie certain.
    pub fn tie(&self, text: &str, index: Option<i64>) -> Option<Tie> {
        let found = self.index().find(self, text);
        choose(self, &CountingEvidence::default(), &found, index, None)
    }

    /// Returns a [`ProgramTies`] for many rows, which remembers texts and learns how the indices count.
    pub fn ties(&self) -> ProgramTies<'_> {
        ProgramTies {
            listing: self,
            found: BTreeMap::new(),
            same: BTreeSet::new(),
            learned: CountingEvidence::default(),
            last: 0,
        }
    }

    /// Returns the look-up tables of the statements by their texts, names and targets.
    pub(super) fn index(&self) -> &Index {
        &self.ready().index
    }

    fn ready(&self) -> &Ready {
        self.ready.get_or_init(|| Ready {
            index: Index::new(self),
            counted: CountedStatements::new(self),
        })
    }
}

/// Maximum number of remembered texts. Remembering helps because each text is looked up twice: for learning how indices
/// count, and for its tie.
const REMEMBERED: usize = 1 << 17;

/// A lookup that ties many rows to one program (see [`Listing::ties`]).
#[derive(Debug, Clone)]
pub struct ProgramTies<'a> {
    listing: &'a Listing,
    /// The candidates found for the first [`REMEMBERED`] texts; other texts are looked up again.
    found: BTreeMap<String, Rc<StatementMatches>>,
    /// Distinct results, shared by all texts with the same candidates.
    same: BTreeSet<Rc<StatementMatches>>,
    learned: CountingEvidence,
    /// The statement of the last certain tie.
    last: u32,
}

impl ProgramTies<'_> {
    /// Learns how indices count from rows, given as text and index. Only rows whose text matches statements
    /// contribute.
    pub fn learn<'r>(&mut self, rows: impl IntoIterator<Item = (&'r str, Option<i64>)>) {
        // The index comes first because numbers are compared faster than texts with equal beginnings.
        let mut seen: BTreeSet<(i64, &str)> = BTreeSet::new();
        for (text, index) in rows {
            let Some(index) = index.filter(|index| seen.insert((*index, text))) else {
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

    /// Returns the statement that a text certainly matches, without searching other candidates.
    fn sure(&mut self, text: &str) -> Option<u32> {
        let sure = self.listing.index().sure(self.listing, text, self.last)?;
        self.last = sure;
        Some(sure)
    }

    /// Ties a row to a statement like [`Listing::tie`], but with the learned way of counting.
    pub fn tie(&mut self, text: &str, index: Option<i64>) -> Option<Tie> {
        self.tie_within(text, index, None)
    }

    /// Ties a row whose enclosing construct is known.
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

    /// Ties the next of several texts in program order, such as the lines of a state.md. Of equal candidates, chooses
    /// the first candidate after the statement `after`.
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

    /// Ties the occurrence `nth` (from 0) of a text that occurs `often` times. If as many statements have that text,
    /// the n-th occurrence gets the n-th statement. Otherwise ties like [`ProgramTies::tie_after`].
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

    /// Whether the indices of rows with certain ties are line numbers.
    pub(crate) fn counts_lines(&self) -> bool {
        self.learned.best.first() == Some(&COUNTINGS[0])
    }

    fn find(&mut self, text: &str) -> Rc<StatementMatches> {
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

/// Chooses one of the statements that a text matches.
fn choose(
    listing: &Listing,
    learned: &CountingEvidence,
    found: &StatementMatches,
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
        // The text matches no statement, so only the index is evidence.
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
        let is_inside = inside.is_none_or(|(list, _)| list.binary_search(&statement).is_ok());
        // A single word such as `break` may be a name. If the index agrees as well, the word is the statement's text.
        let exact = found.exact || found.by == TiedBy::Text;
        return tie(statement, exact && steady && is_inside);
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

/// Returns the statement with an index, and whether the index is reliable. The statement must match the text, or the
/// text's kind if the text matches nothing.
fn hit(
    listing: &Listing,
    learned: &CountingEvidence,
    found: &StatementMatches,
    index: i64,
) -> Option<(u32, bool)> {
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

/// Returns the statements of an ordered list from `outer` to `last`, and the statements inside of `last`.
fn inside<'s>(listing: &Listing, list: &'s [u32], outer: u32, last: u32) -> &'s [u32] {
    let from = list.partition_point(|id| *id < outer);
    let rest = list.get(from..).unwrap_or_default();
    let to = rest.partition_point(|id| *id <= last || listing.contains(last, *id));
    rest.get(..to).unwrap_or_default()
}
