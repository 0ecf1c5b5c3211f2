//! Finds the alternatives of a decision, of which only one runs: `if`, `elif` and `else`, and the options of a choice.

use std::collections::BTreeMap;

use super::{Listing, Statement, StatementKind, StatementKind as Kind};

impl StatementKind {
    /// Whether a statement of this kind is one of several alternatives.
    pub fn is_way(self) -> bool {
        matches!(self, Kind::If | Kind::Elif | Kind::Else | Kind::Option)
    }
}

impl Listing {
    /// Returns the statement to which a `catch`, `finally`, `elif` or `else` belongs: the `try`, `if` or loop before it
    /// in the same body. For any other statement, returns that statement itself.
    pub fn leader(&self, statement: u32) -> u32 {
        let leaders = self.leaders.get_or_init(|| self.find_leaders());
        let leader = leaders.get(statement as usize);
        leader.copied().unwrap_or(statement)
    }

    fn find_leaders(&self) -> Vec<u32> {
        // For each parent, the last statement that is not a clause (`catch`, `finally`, `elif`, `else`), with its kind.
        let mut last: BTreeMap<Option<u32>, (u32, Kind)> = BTreeMap::new();
        let all = (0_u32..).zip(&self.statements);
        let leader = |(at, own): (u32, &Statement)| {
            if !matches!(
                own.kind,
                Kind::Catch | Kind::Finally | Kind::Elif | Kind::Else
            ) {
                last.insert(own.parent, (at, own.kind));
                return at;
            }
            let leads = |kind: Kind| kind.is_loop() || matches!(kind, Kind::Try | Kind::If);
            let before = last.get(&own.parent).filter(|(_, kind)| leads(*kind));
            before.map_or(at, |(before, _)| *before)
        };
        all.map(leader).collect()
    }

    /// Returns the statement that decides between a statement and its alternatives: for an `if`, `elif` or `else` the
    /// `if`, for an option the `choice`.
    pub fn choice(&self, statement: u32) -> Option<u32> {
        let own = self.get(statement)?;
        let leader = self.leader(statement);
        match own.kind {
            Kind::If | Kind::Elif | Kind::Else => {
                (self.get(leader)?.kind == Kind::If).then_some(leader)
            }
            Kind::Option => own.parent,
            _ => None,
        }
    }
}
