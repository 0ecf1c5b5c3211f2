//! Lines of the program that no record speaks of, and what is known of them all the same (one-fold.md, rule 3).

use std::collections::BTreeSet;

use super::Session;
use crate::program::{Listing, StatementKind as Kind, Ways};
use crate::trace::NodeStatus;

/// A statement of a body whose condition did not hold, or the branch of an `if` that was not taken.
pub(super) const NOT_RUN: &str = "not run";
/// A statement before the farthest record, or anywhere in a completed run.
pub(super) const NOT_RECORDED: &str = "not recorded";
/// A statement after the place where the run stands or ended.
pub(super) const NOT_REACHED: &str = "not reached";

/// What the records say of the statements that none of them names.
#[derive(Debug, Default)]
pub(super) struct Silent {
    /// Statements of which all lies in a body that did not run.
    not_run: BTreeSet<u32>,
    /// The farthest statement of the top level, and what lies in it, that a record names.
    farthest: Option<u32>,
    completed: bool,
}

impl Silent {
    pub(super) fn of(session: &Session) -> Silent {
        let mut silent = Silent {
            completed: session.trace.verdict.status == "completed",
            ..Silent::default()
        };
        let Some(listing) = &session.listing else {
            return silent;
        };
        let count = listing.statements.len() as u32;
        // By statement: whether a record names it, and whether all of them say that it was skipped.
        let mut named = vec![(false, true); count as usize];
        for node in &session.trace.nodes {
            let at = node.line.and_then(|line| listing.statement_at(line));
            let Some((is_named, skipped)) = at.and_then(|at| named.get_mut(at as usize)) else {
                continue;
            };
            *is_named = true;
            *skipped &= node.status == NodeStatus::Skipped;
        }
        let state = |at: u32| named.get(at as usize).copied().unwrap_or_default();
        let ways = Taken::of(listing, |at| state(at) == (true, false));
        for at in 0..count {
            let Some(statement) = listing.get(at) else {
                break;
            };
            let (is_named, skipped) = state(at);
            let outer = statement
                .parent
                .is_some_and(|p| silent.not_run.contains(&p));
            let untaken = !is_named && ways.is_untaken(at);
            let refused = is_named && skipped && statement.kind.is_way();
            if outer || untaken || refused {
                silent.not_run.insert(at);
            } else if is_named && !in_block(listing, at) {
                silent.farthest = Some(at);
            }
        }
        silent
    }

    /// The word for a statement that no record names; empty for what does not run, and where nothing is known.
    pub(super) fn word(&self, listing: &Listing, at: u32) -> &'static str {
        let Some(statement) = listing.get(at) else {
            return "";
        };
        let idle = statement.kind.is_declaration()
            || matches!(statement.kind, Kind::Input | Kind::Other | Kind::Label);
        if idle {
            return "";
        }
        if self.not_run.contains(&at) {
            return NOT_RUN;
        }
        // How far a block came depends on its calls.
        if in_block(listing, at) {
            return "";
        }
        match self.farthest {
            _ if self.completed => NOT_RECORDED,
            Some(farthest) if at < farthest => NOT_RECORDED,
            Some(_) => NOT_REACHED,
            None => "",
        }
    }
}

/// The ways of each choice that a record says were taken.
struct Taken {
    ways: Ways,
    taken: BTreeSet<(u32, u32)>,
}

impl Taken {
    fn of(listing: &Listing, ran: impl Fn(u32) -> bool) -> Taken {
        let ways = listing.ways();
        let mut taken = BTreeSet::new();
        for at in (0..listing.statements.len() as u32).filter(|at| ran(*at)) {
            // Programs do not nest deeper; the bound keeps hostile ones cheap.
            let around = std::iter::once(at).chain(listing.enclosing(at)).take(64);
            taken.extend(around.filter_map(|way| Some((ways.choice(way)?, way))));
        }
        Taken { ways, taken }
    }

    /// Whether another way than this was taken, and this one was not.
    fn is_untaken(&self, way: u32) -> bool {
        let Some(choice) = self.ways.choice(way) else {
            return false;
        };
        let mut taken = self.taken.range((choice, 0)..=(choice, u32::MAX));
        !self.taken.contains(&(choice, way)) && taken.next().is_some()
    }
}

fn in_block(listing: &Listing, at: u32) -> bool {
    let is_block = |at: u32| listing.get(at).is_some_and(|s| s.kind == Kind::Block);
    is_block(at) || listing.enclosing(at).any(is_block)
}
