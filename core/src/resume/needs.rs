//! The names that the statements ahead use: where each is, and which are nowhere.

use std::collections::{BTreeMap, BTreeSet};

use super::ahead::{Ahead, How};
use super::walk::is_given;
use super::{Facts, Plan};
use crate::model::ValueAt;
use crate::program::{Given, Listing, Statement, StatementKind as Kind};
use crate::scope;
use crate::text::short;

/// Names that are resolved; programs with more are generated.
const MOST: usize = 400;
/// Lines that are named of each.
pub(super) const LINES: usize = 12;

/// A name that statements ahead use.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    /// The name.
    pub name: String,
    /// The execution that it is resolved from; `None` is the root.
    pub scope: Option<i64>,
    /// Where it comes from.
    pub state: NeedState,
    /// The lines ahead that use it, in the order in which they are met.
    pub lines: Vec<u32>,
    /// Whether it can only be a name; `{x}` in a text may also just be text.
    pub sure: bool,
}

/// Where a name comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum NeedState {
    /// A binding has it: an index into [`crate::model::Run::bindings`], and why it is that one.
    There {
        /// The binding.
        binding: usize,
        /// Why.
        reason: String,
    },
    /// A binding has it, but its value is not there: the index names a file that is missing, or the row is NULL.
    Empty {
        /// The binding.
        binding: usize,
    },
    /// A parameter, counter, error or item of what is around, which no binding records. In words.
    Given(String),
    /// A statement ahead of its first use makes it: its line.
    Made(u32),
    /// It is a value of an import, to be looked up in that run.
    Import(String),
    /// Nothing has it; the line that should have bound it, where there is one.
    Nowhere(Option<u32>),
}

impl NeedState {
    /// `there`, `empty`, `given`, `made`, `import`, `nowhere`.
    pub fn word(&self) -> &'static str {
        match self {
            NeedState::There { .. } => "there",
            NeedState::Empty { .. } => "empty",
            NeedState::Given(_) => "given",
            NeedState::Made(_) => "made",
            NeedState::Import(_) => "import",
            NeedState::Nowhere(_) => "nowhere",
        }
    }
}

pub(super) fn look(facts: Facts<'_>, plan: &mut Plan) {
    let Some(listing) = facts.listing else { return };
    let mut names = Names {
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
    let mut stand = usize::MAX;
    for item in &plan.ahead {
        if item.stand != stand {
            // What another position makes comes at its own time.
            stand = item.stand;
            names.elsewhere.extend(std::mem::take(&mut names.made));
        }
        names.take(item);
    }
    if names.answers.len() >= MOST {
        plan.notes
            .push(format!("only the first {MOST} names ahead were looked up"));
    }
    names.elsewhere.extend(std::mem::take(&mut names.made));
    names.join();
    plan.needs = names.needs;
}

/// Where a name is made or asked for: a frame, and the block that is called in it.
type Place = (Option<i64>, Option<u32>);

struct Names<'a> {
    facts: Facts<'a>,
    listing: &'a Listing,
    /// Names that some statement of the program binds.
    bound: BTreeSet<&'a str>,
    /// Agents and blocks.
    declared: BTreeSet<&'a str>,
    /// Handles of imports, of the program or recorded.
    imported: BTreeSet<&'a str>,
    /// Names that statements ahead have made so far, and where.
    made: BTreeMap<(Place, String), (u32, How)>,
    /// The same of positions that were looked at before.
    elsewhere: BTreeMap<(Place, String), (u32, How)>,
    answers: BTreeMap<(String, Option<i64>), Answer>,
    needs: Vec<Need>,
    /// Where in `needs` a name with that answer stands.
    places: BTreeMap<(String, String), usize>,
}

#[derive(Clone)]
enum Answer {
    There(usize, String),
    Empty(usize),
    None,
}

impl Names<'_> {
    fn take(&mut self, item: &Ahead) {
        let Some(this) = self.listing.get(item.statement) else {
            return;
        };
        for used in self.listing.uses(item.statement) {
            if self.is_declared(&used.name) {
                continue;
            }
            let name = self.whole(item, used.name);
            let Some(state) = self.state(item, &name, used.sure) else {
                continue;
            };
            self.note(name, item.scope, state, used.line, used.sure);
        }
        if let Some(name) = binds(this) {
            let place = (item.scope, item.called);
            let key = (place, name.to_owned());
            self.made.entry(key).or_insert((this.line, item.how));
        }
    }

    /// `draft.summary` is a part of `draft`, unless something has that very name or `draft` is an import.
    fn whole(&mut self, item: &Ahead, name: String) -> String {
        match name.split_once('.') {
            Some((whole, _))
                if !self.is_import(whole)
                    && matches!(self.answer(&name, item.scope), Answer::None) =>
            {
                whole.to_owned()
            }
            _ => name,
        }
    }

    /// What a name comes from at a statement ahead; `None` where it is no name at all.
    fn state(&mut self, item: &Ahead, name: &str, sure: bool) -> Option<NeedState> {
        let given = self.listing.given(item.statement).get(name).copied();
        let made = self.made_before(item, name);
        // Of a call ahead the frame is not there yet: its parameters are what the call gives.
        if item.called.is_some()
            && let Some((how, around)) = given
        {
            return Some(NeedState::Given(self.words(how, around)));
        }
        let answer = self.answer(name, item.scope);
        // A parameter of the frame that no binding of it records: one of the same name further out is another.
        if let (Some((how @ Given::Parameter, around)), Answer::There(at, _)) = (given, &answer)
            && self.facts.run.bindings.get(*at).map(|b| b.execution_id) != Some(item.scope)
        {
            let words = self.words(how, around);
            return Some(NeedState::Given(words + &self.call(item.scope)));
        }
        // A statement that may be passed over makes nothing sure.
        if let Some((line, how)) = made
            && (how != How::Maybe || matches!(answer, Answer::None))
        {
            return Some(NeedState::Made(line));
        }
        let state = match answer {
            Answer::There(binding, reason) => NeedState::There { binding, reason },
            Answer::Empty(binding) => NeedState::Empty { binding },
            Answer::None => match (given, name.split_once('.')) {
                (Some((how, around)), _) => {
                    NeedState::Given(self.words(how, around) + &self.call(item.scope))
                }
                (None, Some((alias, _))) if self.is_import(alias) => {
                    NeedState::Import(alias.to_owned())
                }
                (None, _) if !sure && !self.bound.contains(name) => return None,
                (None, _) => self.nowhere(item, name),
            },
        };
        Some(state)
    }

    /// A name that no binding has: the program itself may tell what becomes of it.
    fn nowhere(&self, item: &Ahead, name: &str) -> NeedState {
        let binder = (0_u32..).zip(&self.listing.statements).find(|(_, s)| {
            s.name.as_deref() == Some(name) && (binds(s).is_some() || s.kind == Kind::Input)
        });
        let Some((at, this)) = binder else {
            return NeedState::Nowhere(None);
        };
        let around = self.listing.loop_of(item.statement);
        if let Some(round) = around.filter(|l| self.listing.contains(*l, at)) {
            let line = self.listing.get(round).map_or(0, |s| s.line);
            return NeedState::Given(format!(
                "a round of the loop at line {line} makes it, and none has yet"
            ));
        }
        let literal = this.kind == Kind::Assign
            && this.text.split_once('=').is_some_and(|(_, right)| {
                right
                    .trim_start()
                    .starts_with(|c: char| c == '"' || c.is_ascii_digit())
            });
        let bindings = &self.facts.run.bindings;
        let given = |name: &str| {
            bindings
                .iter()
                .position(|b| b.is_written() && *b.name == *name)
        };
        if this.kind == Kind::Input
            && let Some(binding) = given(&format!("caller/{name}"))
        {
            let reason = "the caller gave it".to_owned();
            return NeedState::There { binding, reason };
        }
        if this.kind == Kind::Input {
            return NeedState::Given(format!(
                "line {} takes it as an input, and no binding records what was given",
                this.line
            ));
        }
        match literal {
            true => NeedState::Given(format!("line {} of the program says what it is", this.line)),
            false => NeedState::Nowhere(Some(this.line)),
        }
    }

    /// How a frame was called.
    fn call(&self, scope: Option<i64>) -> String {
        let trace = self.facts.trace;
        let text = scope.and_then(|id| {
            let node = trace.node(trace.of_row(id)?)?;
            Some(short(&node.text, 60))
        });
        text.map_or(String::new(), |text| format!(": `{text}`"))
    }

    /// What nothing has at one position, another may be making (branches come together), or a block that is called:
    /// its names are its own by the documents, and programs use them behind the call all the same.
    fn join(&mut self) {
        let mut anywhere: BTreeMap<&str, u32> = BTreeMap::new();
        for ((_, name), (line, _)) in &self.elsewhere {
            anywhere.entry(name).or_insert(*line);
        }
        for need in &mut self.needs {
            if let (NeedState::Nowhere(_), Some(line)) =
                (&need.state, anywhere.get(need.name.as_str()))
            {
                need.state = NeedState::Made(*line);
            }
        }
    }

    fn made_before(&self, item: &Ahead, name: &str) -> Option<(u32, How)> {
        let of = |called| {
            let place = ((item.scope, called), name.to_owned());
            self.made.get(&place).copied()
        };
        of(item.called).or_else(|| item.called.and_then(|_| of(None)))
    }

    fn answer(&mut self, name: &str, scope: Option<i64>) -> Answer {
        let key = (name.to_owned(), scope);
        if let Some(known) = self.answers.get(&key) {
            return known.clone();
        }
        if self.answers.len() >= MOST {
            return Answer::None;
        }
        let run = self.facts.run;
        let found = scope::resolve(run, self.facts.trace, name, scope);
        let winner = found
            .winner
            .and_then(|at| Some((at, run.bindings.get(at)?)));
        let answer = match winner {
            None => Answer::None,
            Some((at, binding)) => {
                let value = match &binding.value {
                    ValueAt::Missing => false,
                    ValueAt::Row { len, .. } => len.is_some() || binding.attachment.is_some(),
                    ValueAt::File { .. } => true,
                };
                let reason = found.candidates.into_iter().next().map(|c| c.reason);
                match value {
                    true => Answer::There(at, reason.unwrap_or_default()),
                    false => Answer::Empty(at),
                }
            }
        };
        self.answers.insert(key, answer.clone());
        answer
    }

    fn note(&mut self, name: String, scope: Option<i64>, state: NeedState, line: u32, sure: bool) {
        let answer = match &state {
            NeedState::There { binding, .. } | NeedState::Empty { binding } => {
                format!("binding {binding}")
            }
            NeedState::Made(line) => format!("made {line}"),
            other => format!("{} {scope:?}", other.word()),
        };
        let next = self.needs.len();
        let at = *self.places.entry((name.clone(), answer)).or_insert(next);
        match self.needs.get_mut(at) {
            Some(need) => {
                need.sure |= sure;
                if need.lines.len() < LINES && !need.lines.contains(&line) {
                    need.lines.push(line);
                }
            }
            None => self.needs.push(Need {
                name,
                scope,
                state,
                lines: vec![line],
                sure,
            }),
        }
    }

    /// An agent's or a block's name is no value's.
    fn is_declared(&self, name: &str) -> bool {
        !self.bound.contains(name) && self.declared.contains(name)
    }

    fn is_import(&self, alias: &str) -> bool {
        self.imported.contains(alias)
    }

    fn words(&self, how: Given, around: u32) -> String {
        let this = self.listing.get(around);
        let line = this.map_or(0, |s| s.line);
        match how {
            Given::Parameter => format!(
                "a parameter of block {}, as it was called",
                this.and_then(|s| s.name.as_deref()).unwrap_or_default()
            ),
            Given::Counter => format!("the loop at line {line} counts or goes through it"),
            Given::Error => format!("the error that is caught at line {line}"),
            Given::Item => format!("the pipe at line {line} hands it on"),
        }
    }
}

/// The name that a statement gives a value to.
fn binds(this: &Statement) -> Option<&str> {
    if let Some(name) = this.property("as").filter(|_| this.kind == Kind::Do) {
        return Some(name);
    }
    let name = this.name.as_deref()?;
    let assigns = || {
        this.text
            .strip_prefix(name)
            .is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    ((this.binds.is_some() && !is_given(this)) || assigns()).then_some(name)
}

fn bound_anywhere(listing: &Listing) -> BTreeSet<&str> {
    listing
        .statements
        .iter()
        .filter(|s| s.kind == Kind::Input || binds(s).is_some())
        .filter_map(|s| binds(s).or(s.name.as_deref()))
        .collect()
}

fn imported<'a>(facts: Facts<'a>, listing: &'a Listing) -> BTreeSet<&'a str> {
    let mut imported = named(listing, |kind| kind == Kind::Use);
    imported.extend(facts.run.imports.iter().map(|import| &*import.alias));
    imported
}

fn named(listing: &Listing, of: impl Fn(Kind) -> bool) -> BTreeSet<&str> {
    listing
        .statements
        .iter()
        .filter(|s| of(s.kind))
        .filter_map(|s| s.name.as_deref())
        .collect()
}
