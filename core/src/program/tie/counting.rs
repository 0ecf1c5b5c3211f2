//! How indices count: documents count statements from 0 or from 1, with or without declarations, only the outer
//! ones, or lines. Rows that are sure teach it.

use crate::program::{LineRole, Listing};

/// A way to count, in which an index may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counting {
    what: What,
    /// The number of the first.
    from: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Lines,
    Statements,
    /// Without what only declares.
    Running,
    Outer,
    OuterRunning,
}

/// The likely ones first.
pub(super) const COUNTINGS: [Counting; 9] = {
    const fn of(what: What, from: i64) -> Counting {
        Counting { what, from }
    }
    [
        of(What::Lines, 1),
        of(What::Statements, 1),
        of(What::Statements, 0),
        of(What::Running, 1),
        of(What::Running, 0),
        of(What::OuterRunning, 1),
        of(What::OuterRunning, 0),
        of(What::Outer, 1),
        of(What::Outer, 0),
    ]
};

/// The statements that each way of counting counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Counted {
    running: Vec<u32>,
    outer: Vec<u32>,
    outer_running: Vec<u32>,
}

impl Counted {
    pub(super) fn new(listing: &Listing) -> Counted {
        let mut counted = Counted::default();
        for (id, statement) in (0..).zip(&listing.statements) {
            let runs = !statement.kind.is_declaration();
            let outer = statement.depth == 0;
            if runs {
                counted.running.push(id);
            }
            if outer {
                counted.outer.push(id);
            }
            if runs && outer {
                counted.outer_running.push(id);
            }
        }
        counted
    }

    /// The statement with that index in a way of counting.
    pub(super) fn at(&self, listing: &Listing, counting: Counting, index: i64) -> Option<u32> {
        let at = usize::try_from(index.checked_sub(counting.from)?).ok()?;
        match counting.what {
            What::Lines => listing
                .lines
                .get(at)
                .filter(|line| line.role == LineRole::Statement)
                .and_then(|line| line.statement),
            What::Statements => u32::try_from(at)
                .ok()
                .filter(|id| listing.get(*id).is_some()),
            What::Running => self.running.get(at).copied(),
            What::Outer => self.outer.get(at).copied(),
            What::OuterRunning => self.outer_running.get(at).copied(),
        }
    }

    /// The statement that an index is nearest to in a way of counting.
    pub(super) fn near(&self, listing: &Listing, counting: Counting, index: i64) -> u32 {
        let most = match counting.what {
            What::Lines => listing.lines.len(),
            What::Statements => listing.statements.len(),
            What::Running => self.running.len(),
            What::Outer => self.outer.len(),
            What::OuterRunning => self.outer_running.len(),
        };
        let last = i64::try_from(most).unwrap_or(i64::MAX).saturating_sub(1);
        let most = last.saturating_add(counting.from).max(counting.from);
        let index = index.clamp(counting.from, most);
        match counting.what {
            What::Lines => {
                let line = u32::try_from(index).unwrap_or(u32::MAX);
                let after = listing.statements.partition_point(|s| s.line <= line);
                u32::try_from(after.saturating_sub(1)).unwrap_or(u32::MAX)
            }
            _ => self.at(listing, counting, index).unwrap_or_default(),
        }
    }
}

/// What the sure rows of a run say of how it counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Learned {
    /// The ways that most of them agree with, the likeliest first; none when nothing was learned.
    pub(super) best: Vec<Counting>,
    votes: [usize; COUNTINGS.len()],
    asked: usize,
    /// Whether all of them agree.
    agree: bool,
    /// The lowest and the highest index among them.
    span: Option<(i64, i64)>,
}

impl Learned {
    /// A row with that index is surely that statement.
    pub(super) fn take(&mut self, counted: &Counted, listing: &Listing, index: i64, is: u32) {
        self.asked += 1;
        for (vote, counting) in self.votes.iter_mut().zip(COUNTINGS) {
            *vote += usize::from(counted.at(listing, counting, index) == Some(is));
        }
        let (low, high) = self.span.unwrap_or((index, index));
        self.span = Some((low.min(index), high.max(index)));
    }

    /// Weighs what was taken.
    pub(super) fn weigh(&mut self) {
        let most = self.votes.iter().copied().max().unwrap_or(0);
        let best = self.votes.iter().zip(COUNTINGS);
        self.best = best
            .filter(|(vote, _)| most > 0 && **vote == most)
            .map(|(_, counting)| counting)
            .collect();
        self.agree = most == self.asked;
    }

    /// Whether an index may tell equals apart: all sure rows count alike, and they are several, or it lies between
    /// them. One that agrees may do so by chance.
    pub(super) fn is_steady(&self, index: i64) -> bool {
        let between = self
            .span
            .is_some_and(|(low, high)| (low..=high).contains(&index));
        self.agree && (self.asked > 2 || self.asked == 2 && between)
    }
}
