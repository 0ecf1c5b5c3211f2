//! Ways of which one is taken: `if`, `elif` and `else`, the options of a choice.

use std::collections::BTreeMap;

use super::{Listing, StatementKind, StatementKind as Kind};

/// Which statements are ways of one choice.
#[derive(Debug, Clone, Default)]
pub struct Ways {
    /// By statement, what its ways go by: the first of an `if`, the choice of an option.
    choice: Vec<Option<u32>>,
}

impl StatementKind {
    /// Whether it is one of several ways.
    pub fn is_way(self) -> bool {
        matches!(self, Kind::If | Kind::Elif | Kind::Else | Kind::Option)
    }
}

impl Listing {
    /// The statement that a `catch`, `finally`, `elif` or `else` belongs to: the `try`, `if` or loop before it in the same
    /// body. Any other statement belongs to itself.
    pub fn leader(&self, statement: u32) -> u32 {
        let follows = |at: u32| {
            let kind = self.get(at).map(|s| s.kind);
            matches!(
                kind,
                Some(Kind::Catch | Kind::Finally | Kind::Elif | Kind::Else)
            )
        };
        if !follows(statement) {
            return statement;
        }
        let before = self
            .siblings(statement)
            .take_while(|at| *at < statement)
            .filter(|at| !follows(*at))
            .last();
        let leads = |at: &u32| {
            let kind = self.get(*at).map(|s| s.kind);
            matches!(
                kind,
                Some(Kind::Try | Kind::If | Kind::Loop | Kind::For | Kind::Repeat)
            )
        };
        before.filter(leads).unwrap_or(statement)
    }

    /// The ways of its statements.
    pub fn ways(&self) -> Ways {
        let mut choice: Vec<Option<u32>> = Vec::with_capacity(self.statements.len());
        // The last statement so far, by what it lies in.
        let mut last: BTreeMap<Option<u32>, u32> = BTreeMap::new();
        for (at, statement) in (0_u32..).zip(&self.statements) {
            let before = last.insert(statement.parent, at);
            choice.push(match statement.kind {
                Kind::If => Some(at),
                Kind::Elif | Kind::Else => {
                    before.and_then(|before| choice.get(before as usize)?.as_ref().copied())
                }
                Kind::Option => statement.parent,
                _ => None,
            });
        }
        Ways { choice }
    }
}

impl Ways {
    /// What a way belongs to; `None` for any other statement.
    pub fn choice(&self, statement: u32) -> Option<u32> {
        self.choice.get(statement as usize).copied().flatten()
    }
}
