//! Laws of what may come next, over generated programs and histories: failures, rejections and time-outs at random, cut
//! anywhere, in each form, with and without steps that nobody offered. `PROSE_CASES` and `PROSE_SEED` choose others;
//! `PROSE_HISTORY` runs only the history with the seed that a broken law names.

mod commands;
mod history;
/// The unit tests' run in memory; its paths name what this crate imports below.
#[path = "../../src/record/tests/memory.rs"]
#[allow(dead_code, reason = "the unit tests use more of it")]
mod memory;
mod playing;

use prosescope_core::model;
use prosescope_core::model::RunStatus;
use prosescope_core::pages::resume::ahead;
use prosescope_core::program::StatementKind;
use prosescope_core::record::{Style, WriteError};
use prosescope_core::trace::judgement::{Bodies, Order, went_against};
use prosescope_core::trace::{NodeKind, NodeStatus, Trace};
use prosescope_core::{program, record};

use commands::Command;
use history::{Broken, History, LONGEST, each};

/// The number of histories of each law.
const CASES: u64 = 60;

impl History {
    fn against(&self) -> Vec<String> {
        let trace = self.memory.trace();
        let all = went_against(&self.memory.run, &trace, Some(&self.memory.listing));
        all.iter().map(|passed| passed.bar.passed()).collect()
    }

    /// Returns what `check` tells of the order: what was recorded against the program, lines that were passed over, and
    /// bodies, rounds and failures that are lacking.
    fn told_by_check(&self) -> Vec<String> {
        let trace = self.memory.trace();
        let order = Order::of(&trace, &self.memory.listing);
        let over = order.map(|order| order.all_passed_over(&self.memory.run, &trace));
        let over = over.into_iter().flatten().flat_map(|(_, lines)| lines);
        let over = over.map(|line| format!("line {line} was passed over"));
        let bodies = Bodies::of(&self.memory.run, &trace, &self.memory.listing);
        let lacks = bodies.iter().flat_map(Bodies::lacks);
        let lacks = lacks.map(|(at, lack)| {
            let text = trace.node(at).map_or("", |node| &*node.text);
            format!("{text}: {}", lack.told())
        });
        let against = self.against().into_iter().chain(over);
        against.chain(lacks).collect()
    }

    /// Returns the line of the execution with this id.
    fn line_of(&self, trace: &Trace, id: i64) -> Option<u32> {
        trace.node(trace.of_row(id)?)?.line
    }

    fn a_handler_failed(&self, trace: &Trace) -> bool {
        let listing = &self.memory.listing;
        let is_handler = |at: u32| {
            let kind = listing.get(at).map(|own| own.kind);
            matches!(kind, Some(StatementKind::Catch | StatementKind::Finally))
        };
        let mut failed = trace
            .nodes
            .iter()
            .filter(|node| node.status == NodeStatus::Failed);
        failed.any(|node| {
            let own = node.line.and_then(|line| listing.statement_at(line));
            own.is_some_and(|own| is_handler(own) || listing.enclosing(own).any(is_handler))
        })
    }

    /// The law that `resume` stands where `next` does: at the statement that begins next, or at the open statement.
    fn agree(&self) -> Result<(), Broken> {
        let trace = self.memory.trace();
        // After a failure in a handler, `resume` may name that one, and `next` what it should have handled.
        if self.a_handler_failed(&trace) {
            return Ok(());
        }
        let next = self.next(&trace)?;
        let plan = ahead(self.memory.facts(&trace));
        let lines: Vec<Option<u32>> = plan
            .positions
            .iter()
            .map(|position| {
                let ahead = position.next.and_then(|at| plan.ahead.get(at));
                let own = self.memory.listing.get(ahead?.statement)?;
                Some(own.line)
            })
            .collect();
        let offered: Vec<Command<'_>> = next
            .choices
            .iter()
            .map(|choice| Command::of(&choice.command))
            .collect();
        // Which of several commands comes, a condition decides.
        let begins: Vec<u32> = offered.iter().filter_map(Command::line).collect();
        let [command, ..] = offered.as_slice() else {
            return Ok(());
        };
        let wanted = match command.verb() {
            "put" if command.option("--into").is_some() => {
                command.id().and_then(|id| self.line_of(&trace, id))
            }
            // A failed construct is tried again as a whole, and `resume` names the failure in it.
            "retry" => {
                let failed = command.id().and_then(|id| trace.of_row(id));
                let mut places = plan.positions.iter().map(|position| position.node);
                // The handler of a `try` around it begins once what is in between has failed, too.
                let handler = || {
                    let statement = self
                        .memory
                        .listing
                        .statement_at(trace.node(failed?)?.line?)?;
                    let handler = self.memory.listing.handler(statement)?;
                    Some(self.memory.listing.get(handler)?.line)
                };
                let handled = handler().is_some_and(|line| lines.contains(&Some(line)));
                let mut inside = |at| trace.upward(at).any(|at| Some(at) == failed);
                // Whether a parallel goes on without the branch that failed, is up to the parallel.
                let mut around = trace.upward(failed).filter(|at| {
                    let node = trace.node(*at);
                    node.is_some_and(|node| node.kind == NodeKind::Parallel)
                });
                let branch = around.any(|at| plan.positions.iter().any(|own| own.node == Some(at)));
                let holds = handled || branch || places.any(&mut inside);
                return if holds {
                    Ok(())
                } else {
                    self.broken(&format!(
                        "resume stands at {:?}, next at {:?}",
                        plan.positions, next.choices
                    ))
                };
            }
            _ if begins.len() == offered.len() => None,
            _ => return Ok(()),
        };
        let holds = match wanted {
            Some(line) => lines.contains(&Some(line)),
            None => lines.iter().flatten().any(|line| begins.contains(line)),
        };
        if !holds {
            let commands: Vec<&str> = next.choices.iter().map(|c| &*c.command).collect();
            return self.broken(&format!("resume stands at {lines:?}, next at {commands:?}"));
        }
        Ok(())
    }
}

#[test]
fn what_next_offers_is_accepted_and_never_against_the_program() {
    each(CASES, |seed| {
        let mut history = History::new(seed);
        while history.told.len() < LONGEST && history.step()? {}
        let against = history.told_by_check();
        if !against.is_empty() {
            return history.broken(&format!("only next was followed, and still: {against:?}"));
        }
        Ok(())
    });
}

#[test]
fn resume_stands_where_next_does() {
    each(CASES, |seed| {
        let mut history = History::new(seed);
        while history.told.len() < LONGEST && history.step()? {
            history.agree()?;
        }
        Ok(())
    });
}

/// The law that holds for rows of others, too: without any metadata, with the number of a statement instead of its
/// line, and cut anywhere.
#[test]
fn resume_stands_where_next_does_in_plain_rows() {
    each(CASES, |seed| {
        let mut history = History::new(seed);
        if history.memory.run.style != Style::AppendOnly {
            return Ok(());
        }
        while history.told.len() < LONGEST && history.step()? {}
        let ordinals = history.chance.once_in(2);
        let kept = 1 + history.chance.below(history.memory.run.executions.len());
        let listing = history.memory.listing.clone();
        let runs: Vec<u32> = listing
            .statements
            .iter()
            .filter(|own| own.kind.runs())
            .map(|own| own.line)
            .collect();
        let run = &mut history.memory.run;
        run.status = Some(RunStatus::Running);
        run.executions.truncate(kept);
        run.gates.clear();
        run.audit.clear();
        for row in &mut run.executions {
            row.meta = None;
            let line = row.index.and_then(|line| u32::try_from(line).ok());
            let nth = line.and_then(|line| runs.iter().position(|known| *known == line));
            if let Some(nth) = nth.filter(|_| ordinals) {
                row.index = i64::try_from(nth + 1).ok();
            }
        }
        history.agree()
    });
}

#[test]
fn what_nobody_offered_is_refused_or_noted_and_what_was_forced_stays() {
    each(CASES, |seed| {
        let mut history = History::new(seed);
        let steps = 4 + history.chance.below(40);
        for _ in 0..steps {
            if !history.step()? {
                return Ok(());
            }
        }
        if history.memory.run.status != Some(RunStatus::Running) {
            return Ok(());
        }
        let lines = history.memory.listing.statements.iter();
        let lines: Vec<u32> = lines
            .filter(|own| own.kind.is_work())
            .map(|own| own.line)
            .collect();
        let Some(line) = history.chance.one(&lines).copied() else {
            return Ok(());
        };
        let text = format!("prosescope begin {line}");
        let (before, told) = (history.against(), history.told_by_check());
        history.told.push(text.clone());
        match history.run(&text, false) {
            Ok(notes) if notes.is_empty() && history.told_by_check().len() > told.len() => {
                return history.broken("check tells what the command recorded without a note");
            }
            Err(WriteError::Refused { rule, .. }) if BARS.contains(&rule) => {
                history.told.push("by force".to_owned());
                if history.run(&text, true).is_ok() && history.against().len() <= before.len() {
                    return history.broken(&format!("{rule} was overridden, and nothing tells it"));
                }
            }
            _ => {}
        }
        let before = history.against();
        let _ = history.run("prosescope finish", true);
        let after = history.against();
        if !before.iter().all(|one| after.contains(one)) {
            return history.broken(&format!("{before:?} became {after:?}"));
        }
        Ok(())
    });
}

/// The rules that bar what the program does not allow.
const BARS: [&str; 6] = [
    "gate-rejected",
    "gate-timed-out",
    "gate-missed",
    "gate-gone",
    "after-failure",
    "call-returned",
];
