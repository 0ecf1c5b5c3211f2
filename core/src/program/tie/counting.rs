//! Determines how the statement indices of a run's rows count: from 0 or from 1; all statements, only statements that
//! run, only outermost statements, or lines. The evidence is the rows whose ties are certain.

use crate::program::{LineRole, Listing, Statement};

/// A way to number statements: the statements or lines that are counted, and the number of the first of them.
pub(super) type Counting = (CountedItems, i64);

/// The statements or lines that are counted. `Running` leaves out mere declarations; `Outer` counts the top level only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CountedItems {
    Lines,
    Statements,
    Running,
    OuterRunning,
    Outer,
}

/// All ways to number statements, likely ones first.
pub(super) const COUNTINGS: [Counting; 9] = [
    (CountedItems::Lines, 1),
    (CountedItems::Statements, 1),
    (CountedItems::Statements, 0),
    (CountedItems::Running, 1),
    (CountedItems::Running, 0),
    (CountedItems::OuterRunning, 1),
    (CountedItems::OuterRunning, 0),
    (CountedItems::Outer, 1),
    (CountedItems::Outer, 0),
];

/// The statements of each [`CountedItems`], in order; `None` for a line that does not begin a statement.
#[derive(Debug, Clone, Default)]
pub(super) struct CountedStatements([Vec<Option<u32>>; 5]);

impl CountedStatements {
    pub(super) fn new(listing: &Listing) -> CountedStatements {
        let lines = listing.lines.iter();
        let lines = lines.map(|line| line.statement.filter(|_| line.role == LineRole::Statement));
        let those = |is: fn(&Statement) -> bool| {
            let all = (0..).zip(&listing.statements);
            all.filter(|(_, s)| is(s)).map(|(id, _)| Some(id)).collect()
        };
        CountedStatements([
            lines.collect(),
            those(|_| true),
            those(|s| !s.kind.is_declaration()),
            those(|s| s.depth == 0 && !s.kind.is_declaration()),
            those(|s| s.depth == 0),
        ])
    }

    fn all(&self, what: CountedItems) -> &[Option<u32>] {
        self.0.get(what as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the statement that has this index under a way of counting.
    pub(super) fn at(&self, (what, from): Counting, index: i64) -> Option<u32> {
        let at = usize::try_from(index.checked_sub(from)?).ok()?;
        self.all(what).get(at).copied().flatten()
    }

    /// Returns the statement that has this index under a way of counting, or else the last statement before the index.
    pub(super) fn near(&self, (what, from): Counting, index: i64) -> u32 {
        let at = usize::try_from(index.saturating_sub(from)).unwrap_or(0);
        let upto = self.all(what).iter().take(at.saturating_add(1));
        upto.rev().flatten().next().copied().unwrap_or_default()
    }
}

/// The evidence, from rows with certain ties, about the way in which the rows of a run count.
#[derive(Debug, Clone, Default)]
pub(super) struct CountingEvidence {
    /// The ways of counting with which most rows agree, likeliest first; empty without evidence.
    pub(super) best: Vec<Counting>,
    votes: [usize; COUNTINGS.len()],
    asked: usize,
    /// Whether all rows agree with the ways in `best`.
    pub(super) agree: bool,
    /// The lowest and the highest index of the rows.
    span: Option<(i64, i64)>,
}

impl CountingEvidence {
    /// Adds a row with this index that belongs to one of the statements `among`, which must be in ascending order.
    pub(super) fn take(&mut self, counted: &CountedStatements, index: i64, among: &[u32]) {
        self.asked += 1;
        for (vote, counting) in self.votes.iter_mut().zip(COUNTINGS) {
            let at = counted.at(counting, index);
            *vote += usize::from(at.is_some_and(|at| among.binary_search(&at).is_ok()));
        }
        let (low, high) = self.span.unwrap_or((index, index));
        self.span = Some((low.min(index), high.max(index)));
    }

    /// Sets `best` and `agree` from the rows that were added.
    pub(super) fn weigh(&mut self) {
        let most = self.votes.iter().copied().max().unwrap_or(0);
        let best = self.votes.iter().zip(COUNTINGS);
        self.best = best
            .filter(|(vote, _)| most > 0 && **vote == most)
            .map(|(_, counting)| counting)
            .collect();
        self.agree = most == self.asked;
    }

    /// Whether an index may decide between equal statements. All rows with certain ties must agree, and there must be
    /// at least three such rows, or two with the index between their indices. A single row may agree by chance.
    pub(super) fn is_steady(&self, index: i64) -> bool {
        let between = self
            .span
            .is_some_and(|(low, high)| (low..=high).contains(&index));
        self.agree && (self.asked > 2 || self.asked == 2 && between)
    }
}
