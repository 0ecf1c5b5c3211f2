//! Finds the values that a loop, a `parallel for`, a pipe or a `catch` passes to its body without a binding.

use std::ops::ControlFlow;

use super::around::error_in;
use super::{Input, InputLookup, UsePlace, bound, is_branch, last_of, named, plain, told};
use crate::model::Execution;
use crate::program::{Expression, StatementKind as Kind, items};
use crate::record::render::brief::{InputOfTask, InputState};
use crate::record::{Fault, StatementPlace};
use crate::trace::frame_block;

impl<'a> UsePlace<'a> {
    /// Returns the error that a `catch` caught: the newest error in its `try`.
    pub(super) fn caught(
        &self,
        name: &str,
        catch: u32,
        rows: &[Execution],
    ) -> Result<Input<'a>, Fault> {
        let line = self.listing.get(catch).map_or(0, |s| s.line);
        let tried = Some(self.listing.leader(catch)).filter(|tried| *tried != catch);
        let tried = tried.or_else(|| self.listing.try_of(catch));
        let tried = tried.and_then(|at| self.listing.get(at));
        let frame = rows.iter().find(|row| frame_block(row).is_some());
        let failed = match tried {
            Some(tried) => {
                let lines = i64::from(tried.line)..=i64::from(tried.end);
                error_in(self.run, lines, frame.map(|row| row.id))?
            }
            None => None,
        };
        let Some(row) = failed else {
            let none = format!("the error that is caught at line {line}; no error is recorded");
            return Ok(told(name, none));
        };
        let note = format!("the error of execution {}, caught at line {line}", row.id);
        Ok(plain(InputOfTask {
            state: InputState::Text,
            value: row.error.as_deref().map(str::to_owned),
            note: Some(note),
            ..named(name)
        }))
    }

    /// Returns the item, or the counter, that a loop, a `parallel for` or a pipe passes to its body.
    pub(super) fn item(
        &self,
        name: &str,
        around: u32,
        rows: &[Execution],
        holder: Option<usize>,
    ) -> Result<Input<'a>, Fault> {
        let Some(own) = self.listing.get(around) else {
            return Ok(told(name, String::new()));
        };
        let is = |property: &str| own.property(property).is_some_and(|says| says == name);
        let row = holder.and_then(|at| rows.get(at));
        // Finds the innermost branch inside the construct, because each branch runs one item.
        let below = rows.get(..holder.unwrap_or(rows.len())).unwrap_or_default();
        let branch = below.iter().rev().find(|row| is_branch(row));
        let scope = branch.map(|row| row.id);
        let branch = branch.and_then(|row| row.meta.as_deref()?.branch.as_deref());
        let branch = branch.or(self.branch);
        let round = match row.filter(|_| own.kind.is_loop()) {
            Some(row) => Some(self.round(row)?),
            None => None,
        };
        let line = own.line;
        let which = match (&branch, round) {
            (Some(branch), _) => format!("branch {branch} of line {line}"),
            (None, Some(round)) => format!("round {round} of the loop at line {line}"),
            (None, None) => format!("line {line}"),
        };
        // `reduce(sum, item)`; the other operations pass items only.
        let reduces = own
            .properties
            .iter()
            .any(|of| of.name == "op" && of.text == "reduce");
        let params = own.property("params").and_then(|all| all.split_once(','));
        if params.is_some_and(|(sum, _)| reduces && sum.trim() == name) {
            let what = format!(
                "the result of `reduce` at line {line} so far: what the session of the item before this one made; nothing for the first item"
            );
            return Ok(told(name, what));
        }
        let list = own.property("in").map(str::to_owned).or_else(|| {
            let sure = self.listing.uses(around).into_iter().find(|used| used.sure);
            sure.filter(|_| own.kind == Kind::Pipe)
                .map(|used| used.name)
        });
        let goes_through = own.kind == Kind::Pipe || is("each");
        let Some(list) = list.filter(|_| goes_through) else {
            return Ok(told(name, format!("{which} counts it")));
        };
        let outside = UsePlace {
            statement: around,
            from: row.map_or(self.from, |row| row.parent),
            branch: None,
            deep: self.deep + 1,
            ..*self
        };
        let nth = round.and_then(|round| usize::try_from(round).ok()?.checked_sub(1));
        let called = |item: &Expression| match item {
            Expression::Text(text) | Expression::Name(text) => Some(&**text) == branch,
            Expression::Other(_) => false,
        };
        let before = self.operation_before(around);
        let maps = before.as_ref().is_some_and(|before| !before.is_filter());
        let item = items(&list).filter(|_| !maps).and_then(|all| match branch {
            Some(_) => all.into_iter().find(called),
            None => all.into_iter().nth(nth?),
        });
        if let Some(item) = item {
            return outside.value(name, &item, &format!("the item of {which}"));
        }
        if let Some(before) = before.as_ref().filter(|before| !before.is_filter()) {
            return self.handed_on(name, before, &which, scope);
        }
        let what = match &before {
            Some(filter) => format!(
                "the item of {which} that the filter of line {} kept of the list `{list}`",
                filter.line
            ),
            None => format!("the item of {which} in the list `{list}`"),
        };
        let mut found = match Expression::of(&list) {
            of @ Expression::Name(_) => outside.value(name, &of, &what)?,
            _ => told(name, what.clone()),
        };
        if found.input.state == InputState::Bound {
            found.input.state = InputState::Part;
        }
        found.input.note = Some(what);
        Ok(found)
    }

    /// Returns the item that the previous operation of a pipe made: the value of that operation's session, if recorded.
    fn handed_on(
        &self,
        name: &str,
        before: &Operation,
        which: &str,
        scope: Option<i64>,
    ) -> Result<Input<'a>, Fault> {
        let Operation { word, line, .. } = before;
        let what = format!("the result of `{word}` in line {line} for the item of {which}");
        let last = before.last.and_then(|at| self.listing.get(at));
        let wrote = match last.filter(|_| scope.is_some()) {
            Some(own) => last_of(self.run, &StatementPlace::of_statement(scope, own))?,
            None => None,
        };
        let meta = wrote.and_then(|(_, row)| row.meta);
        let written = meta.as_deref().and_then(|meta| meta.binding.as_deref());
        let Some(binding) = written else {
            return Ok(told(name, what));
        };
        let mut found = bound(
            name,
            binding,
            meta.as_deref().and_then(|meta| meta.binding_scope),
        );
        found.input.note = Some(what);
        Ok(found)
    }

    /// Returns the operation of a pipe whose results are the items of this statement's operation; `None` for the first
    /// operation. A `filter` passes its items on unchanged, so an earlier operation that makes new items is preferred.
    fn operation_before(&self, pipe: u32) -> Option<Operation> {
        let listing = self.listing;
        let own = listing.get(pipe).filter(|s| s.kind == Kind::Pipe)?;
        let line_of = |at: u32| listing.get(at).map_or(0, |s| s.line);
        let mut way = std::iter::once(self.statement).chain(listing.enclosing(self.statement));
        let here = way.find(|at| listing.get(*at).is_some_and(|s| s.parent == Some(pipe)))?;
        let operations = (own.line..line_of(here)).filter_map(|line| {
            let text = listing.lines.get(line.checked_sub(1)? as usize)?;
            let text = text.text.trim();
            let after = if line == own.line {
                text.rsplit_once('|').map(|(_, after)| after)
            } else {
                text.strip_prefix('|')
            }?;
            let end = |c: char| !c.is_alphanumeric();
            let word = after.trim_start().split(end).next()?.to_owned();
            Some(Operation {
                word,
                line,
                last: None,
            })
        });
        let mut operations: Vec<Operation> = operations.collect();
        let this = operations.pop()?;
        for at in listing.children(pipe).filter(|at| line_of(*at) < this.line) {
            let of = operations.iter_mut().rfind(|of| of.line <= line_of(at));
            if let Some(of) = of {
                of.last = Some(at);
            }
        }
        let mut before = operations.into_iter().filter(|of| of.last.is_some()).rev();
        let nearest = before.next()?;
        if nearest.is_filter() {
            Some(before.find(|of| !of.is_filter()).unwrap_or(nearest))
        } else {
            Some(nearest)
        }
    }

    /// Returns the number of the loop's current round, from 1.
    fn round(&self, row: &Execution) -> Result<i64, Fault> {
        let last = last_of_loop(self.run, row)?;
        let ended = last.meta.as_deref().and_then(|meta| meta.iteration);
        Ok(ended.unwrap_or(0).saturating_add(1))
    }
}

/// One operation of a pipe, such as `map`.
struct Operation {
    /// The operation's name: `map`, `filter`, …
    word: String,
    line: u32,
    /// The index of the operation's last statement in the listing; `None` if the operation has no statement.
    last: Option<u32>,
}

impl Operation {
    /// Returns whether the operation is a `filter`, which passes its items on unchanged.
    fn is_filter(&self) -> bool {
        self.word == "filter"
    }
}

/// Returns the newest row of the loop whose first row is `first`.
fn last_of_loop(run: &dyn InputLookup, first: &Execution) -> Result<Execution, Fault> {
    let own = |row: &Execution| row.meta.as_deref().and_then(|meta| meta.loop_id.clone());
    let mut last = None;
    run.back(&StatementPlace::of(first), &mut |row| {
        if own(&row) != own(first) {
            return ControlFlow::Continue(());
        }
        last = Some(row);
        ControlFlow::Break(())
    })?;
    Ok(last.unwrap_or_else(|| first.clone()))
}
