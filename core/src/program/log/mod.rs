//! What the numbers and names of a compact log mean (dialects.md, B): [`crate::trace`] walks along its lines with them.
//!
//! A log counts the statements of the top level that run: no `use`, `agent` or `block`, and no clause of a `try` or
//! an `if`; `input` only where a line says so. What runs inside of a statement bears its number. Numbers repeat and
//! skip, and most lines name what they bind, so names decide first and teach what the numbers mean.
//!
//! | line | number | branch | block | kind | label |
//! |---|---|---|---|---|---|
//! | `1→ plan ✓` | 1 | | | | `plan` |
//! | `4→ ✓` | 4 | | | | |
//! | `3→ ∥start a,b`, `3→ ∥done` | 3 | | | `Parallel` | |
//! | `3a→ system_prompt ✓` | 3 | `a` | | | `system_prompt` |
//! | `5→ loop:2/5 exit(**c**)` | 5 | | | `Loop` | |
//! | `5→ block:implement#1 TASK-001` | 5 | | | `Do` | `implement` |
//! | `5→ #1 impl ✓` | 5 | | `implement` | | `impl` |
//! | `6→ gate:fast_tests ✓ approved` | 6 | | | `Gate` | `fast_tests` |
//! | `7→ if(false) skip` | 7 | | | `If` | |
//! | `8→ exec .version ✓` | 8 | | | `Exec` | `.version` |
//! | `1→ [input] question ✓` | 1 | | | `Input` | `question` |
//! | `12→ commit+tag+push ✓` | 12 | | | | `commit+tag+push` |

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::rc::Rc;

use super::keys::Found;
use super::tie::inside;
use super::{Listing, Statement, StatementKind as Kind, Tie, TiedBy};

/// Of more statements that words speak of than this, only the first are looked at.
const MANY: usize = 64;

/// Labels that are remembered: a loop repeats its few.
const REMEMBERED: usize = 4096;

/// What one line of a compact log says of the statement that it speaks of. What a line does not say stays empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogMark<'a> {
    /// `3` of `3→` and of `3a→`.
    pub number: Option<u32>,
    /// `a` of `3a→`.
    pub branch: Option<&'a str>,
    /// The block in whose invocation it runs: what `block:implement#1` called `#1`, for a line `#1 …`.
    pub block: Option<&'a str>,
    /// What it must be, where the line says so.
    pub kind: Option<Kind>,
    /// A name, or words: `plan`; of `block:implement#1` the block, of `gate:fast_tests` the gate.
    pub label: &'a str,
}

impl Listing {
    /// What the numbers of one compact log mean, learned from all of its lines in the order of the file.
    pub fn log_ties(&self, marks: &[LogMark<'_>]) -> LogTies<'_> {
        LogTies::new(self, marks)
    }
}

/// What the numbers and names of one compact log mean: see [`Listing::log_ties`].
#[derive(Debug, Clone)]
pub struct LogTies<'a> {
    listing: &'a Listing,
    /// The statements that are counted, in order.
    counted: Vec<u32>,
    /// Numbers whose statement a name makes sure, with the first and the last place in `counted`.
    anchors: BTreeMap<i64, (i64, i64)>,
    words: BTreeMap<String, Rc<Found>>,
}

impl<'a> LogTies<'a> {
    fn new(listing: &'a Listing, marks: &[LogMark<'_>]) -> LogTies<'a> {
        let mut ties = LogTies {
            listing,
            counted: Vec::new(),
            anchors: BTreeMap::new(),
            words: BTreeMap::new(),
        };
        let is_input = |id: &u32| listing.get(*id).is_some_and(|s| s.kind == Kind::Input);
        let inputs = marks.iter().any(|mark| {
            let named = ties.named(mark.label, mark.kind);
            mark.kind == Some(Kind::Input)
                || mark.number.is_some()
                    && mark.kind.is_none()
                    && !named.is_empty()
                    && named.iter().all(is_input)
        });
        ties.counted = (0..)
            .zip(&listing.statements)
            .filter(|(_, s)| s.depth == 0 && counts(s.kind, inputs))
            .map(|(id, _)| id)
            .collect();
        for mark in marks {
            ties.learn(mark);
        }
        ties
    }

    /// A line that names the only statement of that name says what its number means.
    fn learn(&mut self, mark: &LogMark<'_>) {
        let named = self.named(mark.label, mark.kind);
        let (Some(number), None, [only]) = (mark.number, mark.block, named) else {
            return;
        };
        if !self.listing.get(*only).is_some_and(|s| fits(mark.kind, s)) {
            return;
        }
        let outer = self.listing.enclosing(*only).last().unwrap_or(*only);
        let Ok(place) = self.counted.binary_search(&outer) else {
            return;
        };
        let place = i64::try_from(place).unwrap_or(i64::MAX);
        let anchor = self.anchors.entry(i64::from(number));
        let anchor = anchor.or_insert((place, place));
        *anchor = (anchor.0.min(place), anchor.1.max(place));
    }

    /// The statement of a number, and whether the named lines around it make it sure.
    pub(crate) fn numbered(&self, number: u32) -> Option<(u32, bool)> {
        let number = i64::from(number);
        let last = i64::try_from(self.counted.len().checked_sub(1)?).ok()?;
        // Before the first statement nothing is counted.
        let start = (0, (-1, -1));
        let before = self.anchors.range(..=number).next_back();
        let (low, (_, from)) = before.map_or(start, |(n, place)| (*n, *place));
        let after = self.anchors.range(number..).next();
        let straight = from.saturating_add(number.saturating_sub(low));
        let (place, sure) = match after {
            Some((high, (to, end))) if *high == number => (*to, to == end),
            Some((high, (to, _))) => {
                let even = to.saturating_sub(from) == high.saturating_sub(low);
                (straight.min(to.saturating_sub(1)).max(from), even)
            }
            None => (straight, false),
        };
        let place = usize::try_from(place.clamp(0, last)).ok()?;
        Some((self.counted.get(place).copied()?, sure))
    }

    /// The statements that bind a name; else those that refer to it: an agent, a block, a program.
    pub(crate) fn named(&self, label: &str, kind: Option<Kind>) -> &'a [u32] {
        let bound = self.bound(label, kind);
        if !bound.is_empty() {
            return bound;
        }
        let kinds: &[Kind] = match &kind {
            Some(kind) => std::slice::from_ref(kind),
            None => &[Kind::Session, Kind::Resume, Kind::Do, Kind::Call],
        };
        let name = label.trim().to_lowercase();
        let mut referring = kinds
            .iter()
            .map(|kind| self.listing.keys().referring(self.listing, *kind, &name));
        referring.find(|list| !list.is_empty()).unwrap_or_default()
    }

    /// Whether statements bind a name, rather than refer to it.
    pub(crate) fn binds(&self, label: &str, kind: Option<Kind>) -> bool {
        !self.bound(label, kind).is_empty()
    }

    fn bound(&self, label: &str, kind: Option<Kind>) -> &'a [u32] {
        if kind == Some(Kind::Do) {
            return &[];
        }
        let name = label.trim().to_lowercase();
        self.listing.keys().bound(self.listing, &name)
    }

    /// `exec .version`, `jj new`: words of a statement's text.
    pub(crate) fn by_words(
        &mut self,
        mark: &LogMark<'_>,
        scope: Option<(u32, bool)>,
    ) -> Option<Tie> {
        let label = mark.label.trim();
        if label.is_empty() {
            return None;
        }
        let found = match self.words.get(label) {
            Some(found) => Rc::clone(found),
            None => Rc::new(self.listing.keys().find(self.listing, label)),
        };
        if self.words.len() < REMEMBERED {
            self.words.insert(label.to_owned(), Rc::clone(&found));
        }
        let all = found.statements.as_slice();
        let there = scope.map(|(outer, _)| inside(self.listing, all, outer, outer));
        let list = there.filter(|list| !list.is_empty()).unwrap_or(all);
        let fitting = |id: &&u32| self.listing.get(**id).is_some_and(|s| fits(mark.kind, s));
        Some(Tie {
            statement: *list.iter().take(MANY).find(fitting)?,
            guessed: true,
            by: TiedBy::Words,
        })
    }
}

impl Listing {
    /// The first lines of the statements that a compact log numbers, in order: the first is statement 1.
    pub fn log_numbers(&self) -> Vec<u32> {
        let counted = self
            .statements
            .iter()
            .filter(|s| s.depth == 0 && counts(s.kind, false));
        counted.map(|s| s.line).collect()
    }
}

/// Whether a log gives a statement of the top level a number.
fn counts(kind: Kind, inputs: bool) -> bool {
    match kind {
        Kind::Input => inputs,
        Kind::Catch | Kind::Finally | Kind::Elif | Kind::Else | Kind::Option => false,
        kind => !kind.is_declaration(),
    }
}

/// Whether a log that counts every statement counts one of this kind.
pub(crate) fn is_counted(kind: Kind) -> bool {
    counts(kind, false)
}

/// Whether a statement may be what a line calls by a kind: logs have one word for all that goes in rounds, and one
/// for all that decides.
pub(crate) fn fits(kind: Option<Kind>, statement: &Statement) -> bool {
    let is = statement.kind;
    match kind {
        None => true,
        Some(Kind::Loop) => {
            is.is_loop()
                || is == Kind::Pipe
                || is == Kind::Parallel && statement.property("each").is_some()
        }
        Some(Kind::Parallel) => matches!(is, Kind::Parallel | Kind::Pipe),
        Some(Kind::If) => matches!(
            is,
            Kind::If | Kind::Elif | Kind::Else | Kind::Choice | Kind::Option
        ),
        Some(Kind::Session) => matches!(is, Kind::Session | Kind::Resume),
        Some(kind) => is == kind,
    }
}
