//! Ties the lines of a compact log (dialects.md, B) to statements.
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
//!
//! ```
//! use prosescope_core::program::{LogMark, scan};
//! let program = scan("input topic: \"x\"\nagent a:\n  model: opus\nlet plan = session: a\nsession \"Go\"\nlet end = session: a\n");
//! let mark = |number, label| LogMark { number: Some(number), label, ..LogMark::default() };
//! let marks = [mark(1, "plan"), mark(2, ""), mark(3, "end")];
//! let mut ties = program.log_ties(&marks);
//! let lines: Vec<_> = marks
//!     .iter()
//!     .filter_map(|mark| ties.tie(mark))
//!     .map(|tie| (program.statements[tie.statement as usize].line, tie.guessed))
//!     .collect();
//! assert_eq!(lines, [(4, false), (5, false), (6, false)]);
//! ```

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::rc::Rc;

use super::keys::Found;
use super::tie::{REMEMBERED, inside};
use super::{Listing, Statement, StatementKind as Kind, Tie, TiedBy};

/// Of more statements of one name than this, only the nearest are looked at.
const MANY: usize = 64;

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
    /// A tier for the lines of one compact log. It learns from all of them (in the order of the file) what their
    /// numbers mean; then each is tied with [`LogTies::tie`].
    pub fn log_ties(&self, marks: &[LogMark<'_>]) -> LogTies<'_> {
        LogTies::new(self, marks)
    }
}

/// Ties the lines of one compact log: see [`Listing::log_ties`].
#[derive(Debug, Clone)]
pub struct LogTies<'a> {
    listing: &'a Listing,
    /// The statements that are counted, in order.
    counted: Vec<u32>,
    /// Numbers whose statement a name makes sure, with the first and the last place in `counted`.
    anchors: BTreeMap<i64, (i64, i64)>,
    words: BTreeMap<String, Rc<Found>>,
}

/// Statements of a name, or of what they refer to.
struct Named<'a> {
    statements: &'a [u32],
    /// They bind or declare it; else they refer to it.
    bound: bool,
}

impl<'a> LogTies<'a> {
    fn new(listing: &'a Listing, marks: &[LogMark<'_>]) -> LogTies<'a> {
        let mut ties = LogTies {
            listing,
            counted: Vec::new(),
            anchors: BTreeMap::new(),
            words: BTreeMap::new(),
        };
        let inputs = marks.iter().any(|mark| {
            let named = ties.found(mark.label, mark.kind);
            mark.kind == Some(Kind::Input)
                || mark.number.is_some()
                    && mark.kind.is_none()
                    && !named.statements.is_empty()
                    && named.statements.iter().all(|id| ties.is_input(*id))
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

    /// The statement that a line speaks of. It is no guess when a name and the number agree, when only one statement
    /// binds the name and the number does not speak against it, or when nothing but the number tells and the named
    /// lines around it count alike. `None` also for a line of a frame that says nothing: only the lines of that frame
    /// before it tell how far its block has come, so that is the caller's to know.
    pub fn tie(&mut self, mark: &LogMark<'_>) -> Option<Tie> {
        let numbered = mark.number.and_then(|number| self.numbered(number));
        let block = mark
            .block
            .and_then(|name| self.listing.block_named(name))
            .map(|at| (at, true));
        // What runs in a block is written there, whatever the number says.
        let scope = block.or(numbered);
        self.by_name(mark, scope)
            .or_else(|| self.by_branch(mark, scope))
            .or_else(|| self.by_kind(mark, scope))
            .or_else(|| self.by_words(mark, scope))
            // The number of a line in a frame is its call's: it tells nothing of what runs in there.
            .or_else(|| self.by_number(mark, numbered.filter(|_| block.is_none())))
    }

    fn get(&self, statement: u32) -> Option<&'a Statement> {
        self.listing.get(statement)
    }

    fn is_input(&self, statement: u32) -> bool {
        self.get(statement).is_some_and(|s| s.kind == Kind::Input)
    }

    /// A line that names the only statement of that name says what its number means.
    fn learn(&mut self, mark: &LogMark<'_>) {
        let named = self.found(mark.label, mark.kind);
        let (Some(number), None, [only]) = (mark.number, mark.block, named.statements) else {
            return;
        };
        let only = *only;
        if !self.get(only).is_some_and(|s| fits(mark.kind, s)) {
            return;
        }
        let outer = self.listing.enclosing(only).last().unwrap_or(only);
        let Ok(place) = self.counted.binary_search(&outer) else {
            return;
        };
        let place = i64::try_from(place).unwrap_or(i64::MAX);
        let anchor = self
            .anchors
            .entry(i64::from(number))
            .or_insert((place, place));
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
        self.found(label, kind).statements
    }

    /// Whether statements bind a name, rather than refer to it.
    pub(crate) fn binds(&self, label: &str, kind: Option<Kind>) -> bool {
        self.found(label, kind).bound
    }

    fn found(&self, label: &str, kind: Option<Kind>) -> Named<'a> {
        let keys = self.listing.keys();
        let label = label.trim();
        let none: &[u32] = &[];
        if label.is_empty() {
            return Named {
                statements: none,
                bound: false,
            };
        }
        let name = label.to_lowercase();
        let bound = keys.bound(self.listing, &name);
        if !bound.is_empty() && kind != Some(Kind::Do) {
            return Named {
                statements: bound,
                bound: true,
            };
        }
        let kinds: &[Kind] = match &kind {
            Some(kind) => std::slice::from_ref(kind),
            None => &[Kind::Session, Kind::Resume, Kind::Do, Kind::Call],
        };
        let referring = kinds
            .iter()
            .map(|kind| keys.referring(self.listing, *kind, &name));
        let statements = referring.into_iter().find(|list| !list.is_empty());
        Named {
            statements: statements.unwrap_or(none),
            bound: false,
        }
    }

    fn by_name(&self, mark: &LogMark<'_>, scope: Option<(u32, bool)>) -> Option<Tie> {
        let Named { statements, bound } = self.found(mark.label, mark.kind);
        let by = match bound {
            true => TiedBy::Name,
            false => TiedBy::Target,
        };
        let fitting = |ids: &[u32]| -> Vec<u32> {
            let ids = ids.iter().copied().take(MANY);
            ids.filter(|id| self.get(*id).is_some_and(|s| fits(mark.kind, s)))
                .collect()
        };
        if let Some((outer, sure)) = scope {
            let there = fitting(inside(self.listing, statements, outer));
            if let Some(first) = there.first() {
                // A name that others have, too, agrees with a number by chance.
                let one = there.len() == 1 && (sure || statements.len() == 1);
                // Of several, the one in the branch of that letter.
                let branch = self.branch(mark, outer).filter(|_| there.len() > 1);
                let there = branch.and_then(|branch| {
                    let inside = |id: &&u32| **id == branch || self.listing.contains(branch, **id);
                    there.iter().find(inside)
                });
                return Some(Tie {
                    statement: *there.unwrap_or(first),
                    guessed: !(one && (bound || sure)),
                    by,
                });
            }
            let near = statements.partition_point(|id| *id < outer);
            let from = near.saturating_sub(MANY / 2);
            let around = fitting(statements.get(from..).unwrap_or_default());
            let nearest = around.iter().min_by_key(|id| id.abs_diff(outer))?;
            return Some(Tie {
                statement: *nearest,
                guessed: sure || !bound || statements.len() > 1,
                by,
            });
        }
        let all = fitting(statements);
        Some(Tie {
            statement: *all.first()?,
            guessed: !bound || statements.len() > 1,
            by,
        })
    }

    /// `3b→ ✓`: the second branch of the parallel.
    fn by_branch(&self, mark: &LogMark<'_>, scope: Option<(u32, bool)>) -> Option<Tie> {
        let (outer, _) = scope?;
        Some(Tie {
            statement: self.branch(mark, outer)?,
            guessed: true,
            by: TiedBy::Number,
        })
    }

    /// The branch of a letter, of the first parallel in `outer`.
    fn branch(&self, mark: &LogMark<'_>, outer: u32) -> Option<u32> {
        let letter = mark.branch?.trim().as_bytes();
        let [letter] = letter else { return None };
        let place = letter.to_ascii_lowercase().checked_sub(b'a')?;
        let parallel = self.first_of(Kind::Parallel, outer)?;
        self.listing.children(parallel).nth(usize::from(place))
    }

    fn by_kind(&self, mark: &LogMark<'_>, scope: Option<(u32, bool)>) -> Option<Tie> {
        let kind = mark.kind?;
        if let Some((outer, sure)) = scope {
            if self.get(outer).is_some_and(|s| fits(Some(kind), s)) {
                return Some(Tie {
                    statement: outer,
                    guessed: !sure || !mark.label.trim().is_empty(),
                    by: TiedBy::Number,
                });
            }
            if !mark.label.trim().is_empty() {
                return None;
            }
            if let Some(statement) = self.first_of(kind, outer) {
                return Some(Tie {
                    statement,
                    guessed: true,
                    by: TiedBy::Kind,
                });
            }
        }
        let (around, _) = scope.unwrap_or((0, false));
        let near = self.counted.partition_point(|id| *id < around);
        let from = near.saturating_sub(MANY / 2);
        let around_it = self.counted.get(from..).unwrap_or_default();
        let nearest = around_it
            .iter()
            .take(MANY)
            .filter(|id| self.get(**id).is_some_and(|s| fits(Some(kind), s)))
            .min_by_key(|id| id.abs_diff(around))?;
        Some(Tie {
            statement: *nearest,
            guessed: true,
            by: TiedBy::Kind,
        })
    }

    /// The first statement of a kind that is `outer` or lies in it.
    fn first_of(&self, kind: Kind, outer: u32) -> Option<u32> {
        (outer..)
            .take(MANY)
            .take_while(|id| *id == outer || self.listing.contains(outer, *id))
            .find(|id| self.get(*id).is_some_and(|s| fits(Some(kind), s)))
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
        let there = scope.map(|(outer, _)| inside(self.listing, all, outer));
        let list = there.filter(|list| !list.is_empty()).unwrap_or(all);
        let fitting = |id: &&u32| self.get(**id).is_some_and(|s| fits(mark.kind, s));
        Some(Tie {
            statement: *list.iter().take(MANY).find(fitting)?,
            guessed: true,
            by: TiedBy::Words,
        })
    }

    fn by_number(&self, mark: &LogMark<'_>, scope: Option<(u32, bool)>) -> Option<Tie> {
        let (statement, sure) = scope?;
        let nameless = self
            .get(statement)
            .is_some_and(|s| s.name.is_none() && !s.kind.is_loop());
        let silent = mark.label.trim().is_empty() && mark.branch.is_none();
        Some(Tie {
            statement,
            guessed: !(sure && nameless && silent),
            by: TiedBy::Number,
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
