//! Loops of a log: `loop:2/5` begins round 2, `exit(…)` leaves the loop.

use std::collections::BTreeSet;

use super::{At, Lowering, Place, Said};
use crate::model::{LogEvent, LogLine, Meta, Status};

/// A loop that lines lie in.
pub(super) struct Loop {
    pub(super) first: At,
    pub(super) number: Option<u32>,
    statement: Option<u32>,
    pass: u32,
    /// The last marker of this pass.
    pub(super) end: usize,
    n: Option<u32>,
    /// Nothing ran since the last marker.
    empty: bool,
    /// Numbers of statements that ran in it.
    numbers: BTreeSet<u32>,
}

impl Lowering<'_, '_, '_> {
    /// What a line's record lies in: the innermost loop of its scope that goes on at the line, else the scope.
    pub(super) fn inside(&mut self, at: usize, line: &LogLine, scope: Place) -> Place {
        loop {
            let Some(top) = self.loops.get(&scope).and_then(|loops| loops.last()) else {
                return scope;
            };
            if self.goes_on(top, at, line) {
                break;
            }
            self.leave_loop(scope);
        }
        let loops = self.loops.get_mut(&scope)?;
        for around in loops.iter_mut() {
            around.numbers.extend(line.number);
            around.empty = false;
        }
        loops.last().map(|top| top.first)
    }

    /// Leaves loops whose last marker is past, before another loop begins: that lies in one of them only where the program
    /// has it so, or in the round that was just begun.
    fn leave_ended(&mut self, at: usize, scope: Place) {
        let own = self.tie(at).map(|(tie, _)| tie.statement);
        while let Some(top) = self.loops.get(&scope).and_then(|loops| loops.last()) {
            let inside = own
                .zip(top.statement)
                .is_some_and(|(own, body)| self.facts.listing.contains(body, own));
            // A round that was just begun holds something.
            if at <= top.end || top.empty || inside {
                break;
            }
            self.leave_loop(scope);
        }
    }

    pub(super) fn leave_loop(&mut self, scope: Place) {
        if let Some(loops) = self.loops.get_mut(&scope) {
            loops.pop();
        }
    }

    /// Whether a line lies in an open loop: a later marker of the loop follows, or nothing speaks against it.
    fn goes_on(&self, around: &Loop, at: usize, line: &LogLine) -> bool {
        if at <= around.end {
            return true;
        }
        if let (Some((tie, _)), Some(body)) = (self.tie(at), around.statement)
            && !tie.guessed
        {
            return self.facts.listing.contains(body, tie.statement);
        }
        let same = |n: u32| around.number == Some(n) || around.numbers.contains(&n);
        // In a frame numbers tell nothing.
        line.frame.is_some() || around.empty || line.number.is_some_and(same)
    }

    /// A marker of a loop.
    pub(super) fn round(&mut self, at: usize, line: &LogLine, scope: Place) {
        let LogEvent::Round { n, max, over, exit } = &line.event else {
            return;
        };
        let Some((pass, end)) = self.ahead.pass(at) else {
            return;
        };
        let is_it = |around: &Loop| around.pass == pass;
        let known = self
            .loops
            .get(&scope)
            .is_some_and(|loops| loops.iter().any(is_it));
        let meta = || Meta {
            max: max.map(i64::from),
            ..Meta::default()
        };
        if known {
            let top = |loops: &Vec<Loop>| loops.last().is_some_and(is_it);
            while self.loops.get(&scope).is_some_and(|loops| !top(loops)) {
                self.leave_loop(scope);
            }
        } else {
            self.leave_ended(at, scope);
            let place = self.inside(at, line, scope);
            let id = format!("loop {pass}");
            let said = Said {
                label: "loop".into(),
                round: *n,
                meta: Meta {
                    loop_id: Some(id.into()),
                    ..meta()
                },
                ..Said::default()
            };
            let first = self.begin(at, place, Status::Started, said);
            let statement = self.tie(at).map(|(tie, _)| tie.statement);
            self.loops.entry(scope).or_default().push(Loop {
                first,
                number: line.number,
                statement,
                pass,
                end,
                n: *n,
                empty: true,
                numbers: BTreeSet::new(),
            });
        }
        let Some(top) = self
            .loops
            .get_mut(&scope)
            .and_then(|loops| loops.last_mut())
        else {
            return;
        };
        let first = top.first;
        let begins = known && n.is_some() && *n != top.n;
        top.n = n.or(top.n);
        top.empty = true;
        let round = top.n;
        if begins || (known && !*over && !*exit) {
            let said = Said {
                round: *n,
                meta: meta(),
                ..Said::default()
            };
            self.go_on(Some(at), first, Status::Started, said);
        }
        if *exit {
            let said = Said {
                meta: meta(),
                ..Said::default()
            };
            self.go_on(Some(at), first, Status::Exited, said);
            self.leave_loop(scope);
        } else if *over {
            let said = Said {
                meta: Meta {
                    iteration: round.map(i64::from),
                    ..meta()
                },
                ..Said::default()
            };
            self.go_on(Some(at), first, Status::Iteration, said);
        }
    }
}
