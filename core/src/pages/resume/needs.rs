//! Finds the names that the statements ahead use, the source of each name's value, and the names without a value.

use std::collections::{BTreeMap, BTreeSet};

use super::ahead::StatementAhead;
use super::{ResumeFacts, ResumePlan};
use crate::model::ValueAt;
use crate::model::text::short;
use crate::pages::view::{How, NeedState};
use crate::program::{Listing, ProvidedName, Statement, StatementKind as Kind};
use crate::trace::scope;

/// Limit for the number of names listed; a program that uses more is probably generated.
const MOST: usize = 400;
/// Limit for the number of lines listed for each name.
const LINES: usize = 12;

/// A name that statements ahead use.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    /// The name, such as `draft`, or `research.findings` for a value of an import.
    pub name: String,
    /// The execution from which the name is resolved; `None` is the root.
    pub scope: Option<i64>,
    /// The source of the name's value.
    pub from: Origin,
    /// The lines of statements ahead that use the name, in the order of execution.
    pub lines: Vec<u32>,
    /// Whether the text is certainly a name; `{x}` inside a text may be ordinary text.
    pub sure: bool,
}

/// The source of a name's value.
#[derive(Debug, Clone, PartialEq)]
pub struct Origin {
    /// Whether the value exists, will be made, or is missing.
    pub state: NeedState,
    /// The binding of the name, also if its value is empty: an index into [`crate::model::Run::bindings`].
    pub binding: Option<u32>,
    /// The program line that will first make the value, or that should have bound it already.
    pub line: Option<u32>,
    /// Why the name means this binding, or why the value is missing, in words.
    pub reason: String,
}

impl Origin {
    fn of(state: NeedState, reason: impl Into<String>) -> Origin {
        Origin {
            state,
            binding: None,
            line: None,
            reason: reason.into(),
        }
    }

    fn binding(state: NeedState, binding: usize, reason: impl Into<String>) -> Origin {
        Origin {
            binding: u32::try_from(binding).ok(),
            ..Origin::of(state, reason)
        }
    }

    fn made(line: u32) -> Origin {
        Origin {
            line: Some(line),
            ..Origin::of(
                NeedState::Made,
                format!("line {line} gives the name its value first"),
            )
        }
    }
}

pub(super) fn add_needs(facts: ResumeFacts<'_>, plan: &mut ResumePlan) {
    let Some(listing) = facts.listing else { return };
    let mut names = NeededNames {
        facts,
        listing,
        bound: bound_anywhere(listing),
        declared: named(listing, |kind| matches!(kind, Kind::Agent | Kind::Block)),
        imported: imported(facts, listing),
        made: BTreeMap::new(),
        elsewhere: BTreeMap::new(),
        answers: BTreeMap::new(),
        needs: Vec::new(),
        places: BTreeMap::new(),
    };
    let mut position = usize::MAX;
    for item in &plan.ahead {
        if item.position != position {
            // Statements ahead of another position may make values too late, so each position starts with its own set.
            position = item.position;
            names.elsewhere.extend(std::mem::take(&mut names.made));
        }
        names.take(item);
    }
    if names.answers.len() >= MOST {
        plan.notes.push(format!(
            "only the first {MOST} names that remaining statements use were looked up"
        ));
    }
    names.elsewhere.extend(std::mem::take(&mut names.made));
    names.join();
    plan.needs = names.needs;
}

/// The place where a name is made or used: the execution id of a frame, and the index of the block called in the frame.
type FrameAndBlock = (Option<i64>, Option<u32>);

struct NeededNames<'a> {
    facts: ResumeFacts<'a>,
    listing: &'a Listing,
    /// Names that some statement of the program binds.
    bound: BTreeSet<&'a str>,
    /// The names of agents and blocks that the program declares.
    declared: BTreeSet<&'a str>,
    /// The handles of imports that the program declares or the run recorded.
    imported: BTreeSet<&'a str>,
    /// The names that statements ahead have made so far, by the place where each was made.
    made: BTreeMap<(FrameAndBlock, String), (u32, How)>,
    /// The names made by statements ahead of earlier positions, by the place where each was made.
    elsewhere: BTreeMap<(FrameAndBlock, String), (u32, How)>,
    /// Cached origins: the binding that a name means in a scope.
    answers: BTreeMap<(String, Option<i64>), Option<Origin>>,
    needs: Vec<Need>,
    /// The indexes in `needs` of names that were added already.
    places: BTreeMap<NeedKey, usize>,
}

/// The key by which two uses of a name count as one need: name, state, and the binding, line or scope.
type NeedKey = (String, NeedState, Option<u32>, Option<u32>, Option<i64>);

impl NeededNames<'_> {
    fn take(&mut self, item: &StatementAhead) {
        let Some(this) = self.listing.get(item.statement) else {
            return;
        };
        for used in self.listing.uses(item.statement) {
            if self.is_declared(&used.name) {
                continue;
            }
            let name = self.whole(item, used.name);
            if let Some(from) = self.origin(item, &name, used.sure) {
                self.note(name, item.scope, from, used.line, used.sure);
            }
        }
        if let Some(name) = binds(this) {
            let place = (item.scope, item.called);
            let key = (place, name.to_owned());
            self.made.entry(key).or_insert((this.line, item.how));
        }
    }

    /// Returns the base name of a dotted name: `draft.summary` is a part of `draft`, unless a value has the full name
    /// or `draft` is an import.
    fn whole(&mut self, item: &StatementAhead, name: String) -> String {
        match name.split_once('.') {
            Some((whole, _))
                if !self.imported.contains(whole) && self.answer(&name, item.scope).is_none() =>
            {
                whole.to_owned()
            }
            _ => name,
        }
    }

    /// Returns the origin of the value of a name at a statement ahead; `None` if the text is not a name.
    fn origin(&mut self, item: &StatementAhead, name: &str, sure: bool) -> Option<Origin> {
        let given = self.listing.given(item.statement).get(name).copied();
        let made = self.made_before(item, name);
        // A block that has yet to be called has no frame, so its parameters come from the call.
        if item.called.is_some()
            && let Some((how, around)) = given
        {
            return Some(self.given(how, around, None));
        }
        let answer = self.answer(name, item.scope);
        // A frame may have a parameter without a recorded binding; a binding of that name in an outer frame is another
        // value.
        let there = answer.as_ref().filter(|of| of.state == NeedState::There);
        let there = there.and_then(|of| self.facts.run.bindings.get(of.binding? as usize));
        if let Some((how @ ProvidedName::Parameter, around)) = given
            && there.is_some_and(|binding| binding.execution_id != item.scope)
        {
            return Some(self.given(how, around, item.scope));
        }
        // A statement that may be skipped does not ensure a value, so a recorded value counts more than the statement.
        let made = made.filter(|(_, how)| *how != How::Maybe || answer.is_none());
        if let Some((line, _)) = made {
            return Some(Origin::made(line));
        }
        if answer.is_some() {
            return answer;
        }
        match (given, name.split_once('.')) {
            (Some((how, around)), _) => Some(self.given(how, around, item.scope)),
            (None, Some((alias, _))) if self.imported.contains(alias) => Some(Origin::of(
                NeedState::Import,
                format!("a value of import {alias}, which is in the run of the import"),
            )),
            (None, _) if !sure && !self.bound.contains(name) => None,
            (None, _) => Some(self.nowhere(item, name)),
        }
    }

    /// Returns where the program would make the value of a name that has no binding.
    fn nowhere(&self, item: &StatementAhead, name: &str) -> Origin {
        let mut all = (0_u32..).zip(&self.listing.statements);
        let binder = all.find(|(_, s)| {
            s.name.as_deref() == Some(name) && (binds(s).is_some() || s.kind == Kind::Input)
        });
        let Some((at, this)) = binder else {
            return Origin::of(NeedState::Nowhere, "no binding has this name");
        };
        let line = this.line;
        let around = self.listing.loop_of(item.statement);
        if let Some(round) = around.filter(|around| self.listing.contains(*around, at)) {
            let line = self.listing.get(round).map_or(0, |s| s.line);
            let why = format!(
                "a round of the loop at line {line} has to make the value, and no round has done so yet"
            );
            return Origin::of(NeedState::Given, why);
        }
        if this.kind == Kind::Input {
            let given = format!("caller/{name}");
            let mut bindings = self.facts.run.bindings.iter();
            let why = format!("line {line} takes the name as an input, but no value is recorded");
            return match bindings.position(|b| b.is_written() && *b.name == given) {
                Some(at) => Origin::binding(NeedState::There, at, "the caller gave the value"),
                None => Origin::of(NeedState::Given, why),
            };
        }
        let is_literal = |text: &str| text.starts_with(|c: char| c == '"' || c.is_ascii_digit());
        let right = this
            .text
            .split_once('=')
            .map(|(_, right)| right.trim_start());
        if this.kind == Kind::Assign && right.is_some_and(is_literal) {
            let why = format!("line {line} of the program states the value");
            return Origin::of(NeedState::Given, why);
        }
        Origin {
            line: Some(line),
            ..Origin::of(
                NeedState::Nowhere,
                format!(
                    "line {line} should have given the name a value, but no binding has this name"
                ),
            )
        }
    }

    /// Returns the text of the statement that called the frame `scope`, as the end of a sentence.
    fn call(&self, scope: Option<i64>) -> String {
        let trace = self.facts.trace;
        let text = scope.and_then(|id| {
            let node = trace.node(trace.of_row(id)?)?;
            Some(short(&node.text, 60))
        });
        text.map_or(String::new(), |text| format!(": `{text}`"))
    }

    /// Marks missing names as made if a statement ahead of another position, or in a called block, makes them. In
    /// OpenProse, a block's names are visible only inside the block, but real programs also use them after the call.
    fn join(&mut self) {
        let mut anywhere: BTreeMap<&str, u32> = BTreeMap::new();
        for ((_, name), (line, _)) in &self.elsewhere {
            anywhere.entry(name).or_insert(*line);
        }
        for need in &mut self.needs {
            if let (NeedState::Nowhere, Some(line)) =
                (need.from.state, anywhere.get(need.name.as_str()))
            {
                need.from = Origin::made(*line);
            }
        }
    }

    fn made_before(&self, item: &StatementAhead, name: &str) -> Option<(u32, How)> {
        let of = |called| {
            let place = ((item.scope, called), name.to_owned());
            self.made.get(&place).copied()
        };
        of(item.called).or_else(|| item.called.and_then(|_| of(None)))
    }

    /// Returns the binding that a name means in a scope, if there is one.
    fn answer(&mut self, name: &str, scope: Option<i64>) -> Option<Origin> {
        let key = (name.to_owned(), scope);
        if let Some(known) = self.answers.get(&key) {
            return known.clone();
        }
        if self.answers.len() >= MOST {
            return None;
        }
        let found = scope::resolve(self.facts.run, self.facts.trace, name, scope);
        let winner = found.winner.map(|at| (at, self.facts.run.bindings.get(at)));
        let answer = winner.and_then(|(at, binding)| {
            let there = match &binding?.value {
                ValueAt::Missing => false,
                ValueAt::Row { len, .. } => len.is_some() || binding?.attachment.is_some(),
                ValueAt::File { .. } => true,
            };
            let reason = found.candidates.into_iter().next().map(|c| c.reason);
            Some(if there {
                Origin::binding(NeedState::There, at, reason.unwrap_or_default())
            } else {
                Origin::binding(
                    NeedState::Empty,
                    at,
                    "a binding has this name, but the value of the binding is missing",
                )
            })
        });
        self.answers.insert(key, answer.clone());
        answer
    }

    fn note(&mut self, name: String, scope: Option<i64>, from: Origin, line: u32, sure: bool) {
        let of_scope = from.binding.is_none() && from.state != NeedState::Made;
        let within = scope.filter(|_| of_scope);
        let key = (name.clone(), from.state, from.binding, from.line, within);
        let next = self.needs.len();
        let at = *self.places.entry(key).or_insert(next);
        if self.needs.len() == at {
            self.needs.push(Need {
                name,
                scope,
                from,
                lines: Vec::new(),
                sure,
            });
        }
        if let Some(need) = self.needs.get_mut(at) {
            need.sure |= sure;
            add_line(&mut need.lines, line);
        }
    }

    /// Returns whether a name is declared as an agent or a block, which is not a value.
    fn is_declared(&self, name: &str) -> bool {
        !self.bound.contains(name) && self.declared.contains(name)
    }

    /// Returns the origin of a name that an enclosing statement provides. With a scope, the reason quotes the call of
    /// that frame.
    fn given(&self, how: ProvidedName, around: u32, scope: Option<i64>) -> Origin {
        let this = self.listing.get(around);
        let line = this.map_or(0, |s| s.line);
        let words = match how {
            ProvidedName::Parameter => format!(
                "a parameter of block {}, passed by the call",
                this.and_then(|s| s.name.as_deref()).unwrap_or_default()
            ),
            ProvidedName::Counter => {
                format!("the loop at line {line} sets the value in each round")
            }
            ProvidedName::Error => format!("the error that the `catch` at line {line} handles"),
            ProvidedName::Item => format!("the pipe at line {line} passes the value on"),
        };
        Origin::of(NeedState::Given, words + &self.call(scope))
    }
}

/// Adds a line to the lines that use a name, up to the limit.
pub(super) fn add_line(lines: &mut Vec<u32>, line: u32) {
    if lines.len() < LINES && !lines.contains(&line) {
        lines.push(line);
    }
}

/// Returns whether an input is given when the program begins; an input with a prompt (`input x: **Go on?**`) is asked
/// for later.
fn is_given(statement: &Statement) -> bool {
    statement.kind == Kind::Input && statement.property("prompt").is_none()
}

/// Returns the name to which a statement binds a value.
fn binds(this: &Statement) -> Option<&str> {
    if let Some(name) = this.property("as").filter(|_| this.kind == Kind::Do) {
        return Some(name);
    }
    this.bound().filter(|_| !is_given(this))
}

fn bound_anywhere(listing: &Listing) -> BTreeSet<&str> {
    let asked = |s: &'_ Statement| s.kind == Kind::Input;
    let names = listing.statements.iter();
    let names = names.filter_map(|s| binds(s).or(s.name.as_deref().filter(|_| asked(s))));
    names.collect()
}

fn imported<'a>(facts: ResumeFacts<'a>, listing: &'a Listing) -> BTreeSet<&'a str> {
    let mut imported = named(listing, |kind| kind == Kind::Use);
    imported.extend(facts.run.imports.iter().map(|import| &*import.alias));
    imported
}

fn named(listing: &Listing, of: impl Fn(Kind) -> bool) -> BTreeSet<&str> {
    let declared = listing.statements.iter().filter(|s| of(s.kind));
    declared.filter_map(|s| s.name.as_deref()).collect()
}
