//! Derives the results of program lines without a record (errata E3).

use std::collections::{BTreeMap, BTreeSet};

use crate::pages::session::Session;
use crate::program::{Listing, StatementKind as Kind};
use crate::trace::{Node, NodeKind, NodeStatus};

/// The word for a statement that did not run: its condition was false, or it is in a branch of an `if` that was not
/// taken.
pub(super) const NOT_RUN: &str = "not run";
/// The word for a statement before the last recorded statement, or anywhere in a completed run.
pub(super) const NOT_RECORDED: &str = "not recorded";
/// The word for a statement after the run's position, or after the point at which the run ended.
pub(super) const NOT_REACHED: &str = "not reached";

/// The results of statements without a record, derived from the records of other statements.
#[derive(Debug, Default)]
pub(super) struct Unrecorded {
    /// Statements that are completely inside of bodies that did not run.
    not_run: BTreeSet<u32>,
    /// The last statement outside of blocks that has a record. If that statement completed, the last statement inside
    /// of it. `None` without a record.
    farthest: Option<u32>,
    completed: bool,
    /// Branches that a parallel announced and that have no line in any record, with their status.
    announced: BTreeMap<u32, &'static str>,
}

impl Unrecorded {
    pub(super) fn of(session: &Session) -> Unrecorded {
        let mut unrecorded = Unrecorded {
            completed: session.trace.verdict.status == "completed",
            ..Unrecorded::default()
        };
        let Some(listing) = &session.listing else {
            return unrecorded;
        };
        let count = listing.statements.len() as u32;
        // Counts for each statement its records, and how many of them are skipped, completed or failed.
        let mut counts = vec![RecordCounts::default(); count as usize];
        // Collects the branches, by name, of each parallel that announced its branches.
        let mut branches = BTreeMap::new();
        for node in &session.trace.nodes {
            if let Some(at) = announced(session, listing, node, &mut branches) {
                let word = match node.status {
                    NodeStatus::Skipped => "skipped",
                    _ => "pending",
                };
                unrecorded.announced.insert(at, word);
            }
            let at = node.line.and_then(|line| listing.statement_at(line));
            let Some(own) = at.and_then(|at| counts.get_mut(at as usize)) else {
                continue;
            };
            own.records += 1;
            own.skipped += u32::from(node.status == NodeStatus::Skipped);
            own.completed += u32::from(node.status == NodeStatus::Completed);
            own.failed += u32::from(node.status == NodeStatus::Failed);
        }
        let state = |at: u32| counts.get(at as usize).copied().unwrap_or_default();
        let taken = taken(listing, |at| state(at).records > state(at).skipped);
        // An alternative, such as an `else`, is untaken if only other alternatives of the same choice were taken.
        let is_untaken = |way: u32| {
            let choice = listing.choice(way);
            choice.is_some_and(|of| {
                let mut others = taken.range((of, 0)..=(of, u32::MAX));
                others.next().is_some() && !taken.contains(&(of, way))
            })
        };
        for at in 0..count {
            let Some(statement) = listing.get(at) else {
                break;
            };
            let (counts, outer) = (state(at), statement.parent);
            let not_run = match (counts.records, statement.kind) {
                _ if outer.is_some_and(|outer| unrecorded.not_run.contains(&outer)) => true,
                (0, Kind::Catch) => has_nothing_to_catch(listing, at, state),
                (0, _) => is_untaken(at),
                (records, kind) => kind.is_way() && counts.skipped == records,
            };
            if not_run {
                unrecorded.not_run.insert(at);
            }
            // A record of a skipped statement also shows how far the run came.
            if counts.records > 0 && !in_block(listing, at) {
                // A completed statement is over, and so is everything inside of it.
                let is_over =
                    counts.completed > 0 && counts.completed + counts.skipped == counts.records;
                let inside = listing
                    .statements
                    .partition_point(|s| s.line <= statement.end);
                let inside = u32::try_from(inside).unwrap_or_default().saturating_sub(1);
                let last = if is_over { inside.max(at) } else { at };
                unrecorded.farthest = unrecorded.farthest.max(Some(last));
            }
        }
        unrecorded
    }

    /// Returns the word for a statement without a record; empty if the statement is not executable, or if nothing is
    /// known.
    pub(super) fn word(&self, listing: &Listing, at: u32) -> &'static str {
        let Some(statement) = listing.get(at) else {
            return "";
        };
        if !statement.kind.runs() || statement.kind == Kind::Other {
            return "";
        }
        if self.not_run.contains(&at) {
            return NOT_RUN;
        }
        if let Some(word) = self.announced.get(&at) {
            return word;
        }
        // A block may have run several times, so its lines do not show how far the run came.
        if in_block(listing, at) {
            return "";
        }
        match self.farthest {
            _ if self.completed => NOT_RECORDED,
            Some(farthest) if at <= farthest => NOT_RECORDED,
            Some(_) => NOT_REACHED,
            None => "",
        }
    }
}

/// How many records a statement has, and how many of them are skipped, completed, or failed.
#[derive(Debug, Clone, Copy, Default)]
struct RecordCounts {
    records: u32,
    skipped: u32,
    completed: u32,
    failed: u32,
}

/// Returns whether the `try` of a `catch` completed without a failure. For that, the `try`, or the last statement of
/// its body, must have completed in all records. No statement in the body may have failed, and the `catch` must have no
/// records.
fn has_nothing_to_catch(
    listing: &Listing,
    catch: u32,
    counts: impl Fn(u32) -> RecordCounts,
) -> bool {
    let tried = listing.leader(catch);
    if tried == catch {
        return false;
    }
    let completed = |at: u32| {
        let counts = counts(at);
        counts.records > 0 && counts.completed == counts.records
    };
    let ends = completed(tried) || listing.children(tried).last().is_some_and(completed);
    let mut handler = (catch..).take_while(|at| *at == catch || listing.contains(catch, *at));
    ends && (tried..catch).all(|at| counts(at).failed == 0)
        && handler.all(|at| counts(at).records == 0)
}

/// Returns the statement of a branch that its parallel announced. The record has no line, so the branch's name
/// identifies the statement.
fn announced(
    session: &Session,
    listing: &Listing,
    node: &Node,
    known: &mut BTreeMap<u32, BTreeMap<String, u32>>,
) -> Option<u32> {
    let NodeKind::Branch { branch } = &node.kind else {
        return None;
    };
    if !node.derived || node.line.is_some() {
        return None;
    }
    let parallel = session.node(node.parent?)?;
    let parallel = listing.statement_at(parallel.line?)?;
    let branches = known.entry(parallel).or_insert_with(|| {
        let branches = listing.branches(parallel).into_iter().rev();
        branches.collect()
    });
    branches.get(&**branch).copied()
}

/// Returns the alternatives that were taken according to the records, as pairs of a choice and an alternative.
fn taken(listing: &Listing, ran: impl Fn(u32) -> bool) -> BTreeSet<(u32, u32)> {
    let all = (0..listing.statements.len() as u32).filter(|at| ran(*at));
    // Programs are not nested deeper than 64. The limit protects against malicious programs.
    let around = all.flat_map(|at| std::iter::once(at).chain(listing.enclosing(at)).take(64));
    around
        .filter_map(|way| Some((listing.choice(way)?, way)))
        .collect()
}

/// Returns whether a statement is a block or inside of one.
fn in_block(listing: &Listing, at: u32) -> bool {
    let is_block = listing.get(at).is_some_and(|s| s.kind == Kind::Block);
    is_block || listing.block_of(at).is_some()
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use crate::pages::session::{Options, Session};
    use crate::read::sqlite::MemorySource;

    #[test]
    fn a_catch_whose_try_completed_is_not_run() {
        let program = "try:\n  let a = session \"A\"\n  let b = session \"B\"\ncatch:\n  session \"C\"\nlet d = session \"D\"\n";
        for (log, catch) in [
            (
                "1→ a ✓\n2→ b ✓\n3→ d ✓\n---end 2026-01-04T10:20:00Z\n",
                "not run",
            ),
            ("1→ a ✓\n2→ b ✓\n", "not run"),
            // No record shows whether `b` ran or whether `a` failed.
            ("1→ a ✓\n3→ d ✓\n", "not recorded"),
            ("1→ a ✓\n2→ b ✗ no wind\n3→ d ✓\n", "not recorded"),
        ] {
            let files = [
                ("program.prose", program.to_owned()),
                (
                    "state.md",
                    format!("# run:20260104-101500-log001 p.prose\n\n{log}"),
                ),
            ];
            let files = files.map(|(path, text)| (path.to_owned(), text.into_bytes()));
            let source = Rc::new(MemorySource::new("run", files));
            let session = Session::open(source, "", &Options::default()).unwrap();
            let lines = crate::pages::session::pages::program_page(&session, 0, 100).lines;
            let words: Vec<&str> = lines.iter().map(|line| line.status.as_str()).collect();
            assert_eq!(words.get(3..5), Some(&[catch; 2][..]), "{log}: {words:?}");
        }
    }
}
