//! Finds the inputs of a session: each name in its prompt and its context, with the place of its value.
//!
//! | a name is | the brief says |
//! |---|---|
//! | bound in the scope of the execution, or further out | the command that prints the value |
//! | a parameter of the block | the argument of the call: a text, or the command that prints the value passed |
//! | an item or a counter of a loop, an item of a pipe | the round or branch, and the list |
//! | the error that a `catch` caught | the recorded error |
//! | without a value | why: skipped, failed, not written yet |

mod around;
mod item;
mod missing;

use std::collections::BTreeSet;

pub(crate) use around::InputLookup;
use around::{chain, last_of};

use super::Fault;
use crate::model::Execution;
use crate::program::{
    Expression, Listing, ProvidedName, Statement, StatementKind as Kind, names_in, names_in_text,
};
use crate::record::render::brief::{InputOfTask, InputState};
use crate::trace::frame_block;

/// Limit for the number of calls through which a parameter is traced.
const DEEPEST: u32 = 32;

/// Returns the inputs of a statement that runs in the execution `from`, ordered by name. `branch` is the name of the
/// branch if the statement itself is a branch.
pub(crate) fn inputs(
    run: &dyn InputLookup,
    listing: &Listing,
    statement: u32,
    from: Option<i64>,
    branch: Option<&str>,
) -> Result<Vec<InputOfTask>, Fault> {
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    let at = UsePlace {
        listing,
        run,
        statement,
        from,
        branch,
        deep: 0,
    };
    let uses = listing.uses(statement).into_iter();
    let mut open: Vec<(String, bool, UsePlace)> =
        uses.map(|used| (used.name, used.sure, at)).collect();
    open.reverse();
    while let Some((name, sure, at)) = open.pop() {
        if !known.insert((name.clone(), at.statement)) {
            continue;
        }
        let Some(Input { input, names }) = at.input(&name, sure)? else {
            continue;
        };
        if let Some((at, names, sure)) = names.filter(|(at, ..)| at.deep < DEEPEST) {
            open.extend(names.into_iter().map(|name| (name, sure, at)));
        }
        if !found.contains(&input) {
            found.push(input);
        }
    }
    Ok(found)
}

/// Returns what one name means at a statement that runs in the execution `from`; `None` if the name is not the name of
/// a value.
pub(crate) fn input(
    run: &dyn InputLookup,
    listing: &Listing,
    statement: u32,
    from: Option<i64>,
    name: &str,
) -> Result<Option<InputOfTask>, Fault> {
    let at = UsePlace {
        listing,
        run,
        statement,
        from,
        branch: None,
        deep: 0,
    };
    Ok(at.input(name, false)?.map(|found| found.input))
}

/// The place where names are used: a statement, and the execution that it runs in.
#[derive(Clone, Copy)]
struct UsePlace<'a> {
    listing: &'a Listing,
    run: &'a dyn InputLookup,
    statement: u32,
    from: Option<i64>,
    /// The name of the branch, if the statement itself is a branch.
    branch: Option<&'a str>,
    /// Number of calls and loops traced outward so far.
    deep: u32,
}

/// An input of a statement. If the program passes a text or an expression for the input, `names` has the names in that
/// text, the place where they are resolved, and whether they are certainly names.
struct Input<'a> {
    input: InputOfTask,
    names: Option<(UsePlace<'a>, Vec<String>, bool)>,
}

impl<'a> UsePlace<'a> {
    fn input(&self, name: &str, sure: bool) -> Result<Option<Input<'a>>, Fault> {
        let given = self.listing.given(self.statement).get(name).copied();
        if let Some((how, around)) = given
            && let Some(holder) = self.listing.get(around)
        {
            let scope = self.run.scope_of(name, self.from)?;
            let rows = chain(self.run, self.from)?;
            let of = |row: &&Execution| match how {
                ProvidedName::Parameter => frame_block(row) == holder.name.as_deref(),
                _ => row.index == Some(holder.line.into()) && !is_branch(row),
            };
            let place = rows.iter().position(|row| of(&row));
            if let Some(scope) = scope.filter(|scope| self.is_own(name, *scope, &rows, place)) {
                return Ok(Some(bound(name, name, scope)));
            }
            let row = place.and_then(|place| rows.get(place));
            let found = match how {
                ProvidedName::Parameter => self.parameter(name, around, row)?,
                ProvidedName::Error => self.caught(name, around, &rows)?,
                ProvidedName::Counter | ProvidedName::Item => {
                    self.item(name, around, &rows, place)?
                }
            };
            return Ok(Some(found));
        }
        if let Some(scope) = self.run.scope_of(name, self.from)? {
            return Ok(Some(bound(name, name, scope)));
        }
        if let Some((whole, part)) = name.split_once('.') {
            return self.part(name, whole, part, sure);
        }
        self.unbound(name, sure)
    }

    /// Returns whether a binding is the value that the program passes under this name, rather than a binding of the
    /// same name further out.
    fn is_own(
        &self,
        name: &str,
        scope: Option<i64>,
        rows: &[Execution],
        holder: Option<usize>,
    ) -> bool {
        let inside = scope.and_then(|id| rows.iter().position(|row| row.id == id));
        let own = inside.zip(holder);
        // The agent that executes a loop may write the item as a binding outside of the loop. In that case, no line of
        // the program gives a value to the binding's name.
        let free = || self.makers(name).next().is_none() && !self.is_parameter(name);
        own.is_some_and(|(inside, holder)| inside <= holder) || free()
    }

    fn is_parameter(&self, name: &str) -> bool {
        let given = self.listing.given(self.statement);
        matches!(given.get(name), Some((ProvidedName::Parameter, _)))
    }

    /// Returns the statements that give this name a value.
    fn makers(&self, name: &str) -> impl Iterator<Item = u32> {
        let makes = move |s: &Statement| {
            s.bound() == Some(name) || (s.kind == Kind::Input && s.name.as_deref() == Some(name))
        };
        let all = (0_u32..).zip(&self.listing.statements);
        all.filter(move |(_, s)| makes(s)).map(|(at, _)| at)
    }

    /// Resolves a dotted name: `draft.summary` is a part of `draft`; `research.findings` is a value of an import.
    fn part(
        &self,
        name: &str,
        whole: &str,
        part: &str,
        sure: bool,
    ) -> Result<Option<Input<'a>>, Fault> {
        if self.run.imported(whole)? || self.declares(whole, Kind::Use) {
            let note = format!("a value of the import {whole}");
            return Ok(Some(plain(InputOfTask {
                note: Some(note),
                ..bound(name, name, None).input
            })));
        }
        let Some(mut of) = self.input(whole, sure)? else {
            return Ok(None);
        };
        of.input.name = name.to_owned();
        if matches!(of.input.state, InputState::Bound | InputState::Text) {
            of.input.state = InputState::Part;
            of.input.note = Some(format!("{part} of {whole}"));
        }
        Ok(Some(of))
    }

    fn declares(&self, name: &str, kind: Kind) -> bool {
        let mut all = self.listing.statements.iter();
        all.any(|s| s.kind == kind && s.name.as_deref() == Some(name))
    }

    /// Returns the argument that a call passes for a parameter of the called block.
    fn parameter(
        &self,
        name: &str,
        block: u32,
        frame: Option<&Execution>,
    ) -> Result<Input<'a>, Fault> {
        let block_name = self.listing.get(block).and_then(|s| s.name.as_deref());
        let what = format!("a parameter of block {}", block_name.unwrap_or_default());
        let Some(frame) = frame else {
            return Ok(told(name, format!("{what}, whose call is not recorded")));
        };
        let alone;
        let (call, at) = match call_of(self.listing, frame) {
            Some(at) => (self.listing.get(at), at),
            None => {
                alone = crate::program::scan(&frame.text);
                (alone.get(0), block)
            }
        };
        let argument = call.and_then(|call| self.listing.argument(call, block, name));
        let caller = UsePlace {
            statement: at,
            from: frame.parent,
            branch: None,
            deep: self.deep + 1,
            ..*self
        };
        let what = format!("{what}, called by execution {}", frame.id);
        match argument {
            Some(expression) => caller.value(name, &expression, &what),
            None => Ok(told(
                name,
                format!("{what}, which passes no value for this parameter"),
            )),
        }
    }

    /// Returns the value of an expression at this place, as the input `name`.
    fn value(&self, name: &str, of: &Expression, what: &str) -> Result<Input<'a>, Fault> {
        Ok(match of {
            Expression::Text(text) => Input {
                input: InputOfTask {
                    state: InputState::Text,
                    value: Some(text.clone()),
                    note: Some(what.to_owned()),
                    ..named(name)
                },
                names: Some((*self, names_in_text(text), false)),
            },
            Expression::Name(other) if self.deep < DEEPEST => {
                let Some(mut found) = self.input(other, true)? else {
                    return Ok(told(name, format!("{what}: `{other}`")));
                };
                name.clone_into(&mut found.input.name);
                let why = found.input.note.take();
                let why = why.map_or(String::new(), |why| format!("; {why}"));
                found.input.note = Some(format!("{what}: `{other}`{why}"));
                found
            }
            Expression::Name(other) | Expression::Other(other) => Input {
                names: Some((*self, names_in(other), true)),
                ..told(name, format!("{what}: `{other}`"))
            },
        })
    }
}

fn is_branch(row: &Execution) -> bool {
    row.meta
        .as_deref()
        .is_some_and(|meta| meta.branch.is_some())
}

/// Returns the statement that made a call: the statement at the frame's line, if this statement calls the frame's
/// block.
fn call_of(listing: &Listing, frame: &Execution) -> Option<u32> {
    let line = frame.index.and_then(|line| u32::try_from(line).ok())?;
    let at = listing.begun_at(line)?;
    let target = listing.get(at)?.target.as_deref();
    (target == frame_block(frame)).then_some(at)
}

fn named(name: &str) -> InputOfTask {
    InputOfTask {
        name: name.to_owned(),
        ..InputOfTask::default()
    }
}

fn plain<'a>(input: InputOfTask) -> Input<'a> {
    Input { input, names: None }
}

/// Returns an input whose value is in a binding.
fn bound<'a>(name: &str, binding: &str, scope: Option<i64>) -> Input<'a> {
    plain(InputOfTask {
        state: InputState::Bound,
        binding: Some((binding.to_owned(), scope)),
        ..named(name)
    })
}

/// Returns an input without a recorded value. Only the agent that executes the program has the value.
fn told<'a>(name: &str, what: String) -> Input<'a> {
    plain(InputOfTask {
        state: InputState::Told,
        note: Some(what),
        ..named(name)
    })
}
