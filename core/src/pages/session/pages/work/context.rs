//! Finds the inputs of a statement: the binding that each name means in the statement's frame, and the value of that
//! binding when the statement began.

use super::order::{self, before};
use super::{guessed, kept, of_binding, of_text, sentence, tied};
use crate::model::text::short;
use crate::model::time::Stamp;
use crate::model::{Binding, BindingKind};
use crate::pages::session::Session;
use crate::pages::session::pages::task::input_of;
use crate::pages::session::pages::trace::node_ref;
use crate::pages::session::pages::writes::{ValueWriter, written};
use crate::pages::view::{GivenName, NodeWork, Received, RunPart};
use crate::program::{Expression, Listing, NameUse, ProvidedName, scan};
use crate::record::render::brief::InputState;
use crate::trace::scope::{self, Candidate, Outcome};
use crate::trace::{Node, NodeId, NodeKind, NodeStatus};

/// The largest number of names that are resolved.
const MOST: usize = 50;

/// The largest value, in bytes, for which the times of the value's row are read. The times are stored after the value,
/// and reading past a larger value takes too long.
const NEAR: u64 = 1 << 20;

pub(super) fn add(session: &Session, node: NodeId, at: &Node, work: &mut NodeWork) {
    if at.kind.is_round() {
        return;
    }
    if at.status == NodeStatus::Skipped {
        work.context_note = Some("The statement was skipped and received no values.".to_owned());
        return;
    }
    let alone;
    let (listing, statement): (&Listing, u32) = match (session.listing.as_ref(), tied(session, at))
    {
        (Some(listing), Some(statement)) => {
            work.context_note = guessed(at);
            (listing, statement)
        }
        (program, _) => {
            let why = match program {
                Some(_) => "the line of the statement in the program is not known".to_owned(),
                None => session.run.program.missing(),
            };
            // Gates and branches have no inputs in any case.
            let asked = matches!(at.kind, NodeKind::Statement | NodeKind::Frame { .. });
            work.context_note = asked.then(|| {
                sentence(&format!(
                    "{why}: the statement may have received more values than its record shows"
                ))
            });
            alone = scan(&at.text);
            (&alone, 0)
        }
    };
    let asked = ResolvedStatement::new(session, node, at);
    let given = listing.given(statement);
    let names = listing.uses(statement);
    let mut found = names.iter().filter_map(|name| match given.get(&name.name) {
        Some((how, around)) => {
            let line = listing.get(*around).map(|s| s.line);
            let passed = asked.passed(listing, statement, &name.name);
            Some(passed.unwrap_or_else(|| asked.around(statement, &name.name, *how, line)))
        }
        None => asked.name(name),
    });
    work.context = found.by_ref().take(MOST).collect();
    work.more_context = found.count() as u32;
}

/// The statement whose names are resolved.
struct ResolvedStatement<'s> {
    session: &'s Session,
    node: NodeId,
    /// When the statement began and when it ended, as far as that is recorded.
    span: (Option<i64>, Option<i64>),
    /// The frame in which the statement's names are resolved (`None`: the root); `Err` if the frame has no id.
    from: Result<Option<i64>, ()>,
    /// Whether the statement has not begun, or is a gate that waits: the present values are those that it would receive.
    is_ahead: bool,
}

impl<'s> ResolvedStatement<'s> {
    fn new(session: &'s Session, node: NodeId, at: &Node) -> ResolvedStatement<'s> {
        // The arguments of a call are resolved outside of the call.
        let inside = if at.is_frame { at.parent } else { Some(node) };
        let frame = session.trace.frame(inside);
        let frame = frame.and_then(|frame| session.node(frame));
        ResolvedStatement {
            session,
            node,
            span: at.worked(&session.run),
            from: match frame {
                Some(frame) => frame.id.map(Some).ok_or(()),
                None => Ok(None),
            },
            is_ahead: matches!(at.status, NodeStatus::Pending | NodeStatus::Waiting),
        }
    }

    /// Resolves a name that a block, loop or catch defines, such as a parameter. If the frame has a binding of that
    /// name, the name means the binding. Otherwise, its value is not recorded.
    fn around(
        &self,
        statement: u32,
        name: &str,
        how: ProvidedName,
        line: Option<u32>,
    ) -> GivenName {
        let candidates = self.candidates(name).unwrap_or_default();
        let here = self.from.ok().flatten();
        let own = candidates.into_iter().filter(|c| {
            c.outcome != Outcome::OutOfReach && (c.distance == Some(0) || here == c.execution_id)
        });
        let own: Vec<Candidate> = own.collect();
        if !own.is_empty() {
            return self.among(name, &own);
        }
        let argument = (how == ProvidedName::Parameter).then(|| self.argument(statement, name));
        if let Some(found) = argument.flatten() {
            return found;
        }
        let what = match how {
            ProvidedName::Parameter => "a parameter of the block",
            ProvidedName::Counter => "given by the loop",
            ProvidedName::Error => "the error that was caught",
            ProvidedName::Item => "an item of the pipe",
        };
        let line = line.map_or(String::new(), |line| format!(" at line {line}"));
        let why = format!("the name is {what}{line}; its value in this frame is not recorded");
        without_value(name, Received::default(), why)
    }

    /// Returns the value of a parameter: the argument of the call, as the brief names it.
    fn argument(&self, statement: u32, name: &str) -> Option<GivenName> {
        let session = self.session;
        let input = input_of(session, self.node, statement, name)?;
        let why = input.note.unwrap_or_default();
        match (input.state, input.binding) {
            (InputState::Text, _) => Some(GivenName {
                value: input.value.as_deref().map(of_text),
                ..without_value(name, Received::Same, why)
            }),
            (InputState::Bound, Some((of, scope))) => {
                let found = scope::resolve(&session.run, &session.trace, &of, scope).candidates;
                let near = found
                    .into_iter()
                    .filter(|c| c.outcome != Outcome::OutOfReach);
                let near: Vec<Candidate> = near.collect();
                (!near.is_empty()).then(|| GivenName {
                    why,
                    ..self.among(name, &near)
                })
            }
            _ => None,
        }
    }

    /// Returns the value of a name that is an argument of this call. The frame of the called block records the value
    /// under the name of the parameter.
    fn passed(&self, listing: &Listing, call: u32, name: &str) -> Option<GivenName> {
        let session = self.session;
        let at = session.node(self.node)?;
        let NodeKind::Frame { block, .. } = &at.kind else {
            return None;
        };
        let (call, block, frame) = (listing.get(call)?, listing.block_named(block)?, at.id?);
        let argument = Some(Expression::Name(name.to_owned()));
        let is_it = |binding: &Binding| {
            binding.execution_id == Some(frame)
                && !binding.superseded
                && binding.kind == BindingKind::Input
                && listing.argument(call, block, &binding.name) == argument
        };
        let (at, binding) = session
            .run
            .bindings
            .iter()
            .enumerate()
            .find(|(_, b)| is_it(b))?;
        let why = format!(
            "the call passed the value as the parameter {}",
            binding.name
        );
        Some(self.settled(name, at as u32, binding, Received::Same, false, why))
    }

    /// Resolves a name; `None` if no binding has the name and the name may be plain text.
    fn name(&self, used: &NameUse) -> Option<GivenName> {
        let name = &used.name;
        let Some(candidates) = self.candidates(name) else {
            let why = "the frame of the statement has no recorded id, so the names in the statement cannot be resolved";
            return used
                .sure
                .then(|| without_value(name, Received::default(), why));
        };
        let reach = |c: &Candidate| c.outcome != Outcome::OutOfReach;
        let near: Vec<Candidate> = candidates.iter().filter(|c| reach(c)).cloned().collect();
        if near.is_empty() {
            return used.sure.then(|| self.nothing(name, candidates.len()));
        }
        Some(self.among(name, &near))
    }

    fn candidates(&self, name: &str) -> Option<Vec<Candidate>> {
        let session = self.session;
        let from = self.from.ok()?;
        Some(scope::resolve(&session.run, &session.trace, name, from).candidates)
    }

    fn nothing(&self, name: &str, out_of_reach: usize) -> GivenName {
        let unread = self.session.unread();
        let unread = unread.iter().any(|u| u.concerns(RunPart::Bindings));
        let import = name.split_once('.').is_some();
        let (seen, why) = match out_of_reach {
            _ if unread => (Received::Unknown, "not all values could be read"),
            0 if import => (
                Received::Unknown,
                "the name is a value of an import, which is a run of its own",
            ),
            0 => (Received::Nothing, "no value of that name is recorded"),
            _ => (
                Received::Nothing,
                "values of that name exist, but not in the frame of the statement or the frames around it",
            ),
        };
        without_value(name, seen, why)
    }

    /// Returns the first candidate that existed when the statement began. A candidate that was written later is
    /// skipped, and the name means the next candidate.
    fn among(&self, name: &str, candidates: &[Candidate]) -> GivenName {
        let mut late = None;
        for (nth, candidate) in candidates.iter().enumerate() {
            let at = candidate.binding as u32;
            let Some(binding) = self.session.run.bindings.get(candidate.binding) else {
                continue;
            };
            let mut by = written(self.session, at, None);
            // For a name that no statement binds, the time of writing was not read yet.
            by.at = by.at.or_else(|| {
                let (created, updated) = self.times(binding)?;
                updated.or(created)
            });
            let claimed = self.session.index.claims.contains_key(&at);
            let (mut seen, inferred) = match self.is_ahead {
                true => (Received::Same, false),
                false => order::seen(self.session, self.node, self.span, binding, &by),
            };
            if seen == Received::Replaced && claimed && by.at.is_none() {
                // Several rows have this name, each with its own writer. Without times, the writer is unknown.
                seen = Received::Unknown;
            }
            if seen != Received::Replaced {
                let why = match (nth, candidate.outcome) {
                    (0, _) => candidate.reason.clone(),
                    (_, Outcome::Superseded) => {
                        "this row of the name existed when the statement began".to_owned()
                    }
                    _ => "nearer bindings were written later".to_owned(),
                };
                let by = by.by.filter(|_| seen == Received::Same);
                let written_by = by.and_then(|node| node_ref(self.session, node));
                return GivenName {
                    written_by,
                    ..self.settled(name, at, binding, seen, inferred, why)
                };
            }
            let passed = claimed || self.made_later(binding);
            late.get_or_insert((candidate, binding, by, inferred, passed));
            if !passed {
                break;
            }
        }
        match late {
            Some((candidate, binding, by, inferred, _)) => {
                self.replaced(name, candidate, binding, &by, inferred)
            }
            None => self.nothing(name, 0),
        }
    }

    /// Returns whether a binding was first written after the statement began.
    fn made_later(&self, binding: &Binding) -> bool {
        let created = self.times(binding).and_then(|(created, _)| created);
        let since = self.span.0.zip(created);
        since.is_some_and(|(from, at)| before(from, at))
    }

    /// Returns when a binding was first and last written; `None` if its value is larger than [`NEAR`].
    fn times(&self, binding: &Binding) -> Option<(Option<i64>, Option<i64>)> {
        let near = binding.tail_known || binding.value.len().is_none_or(|len| len <= NEAR);
        let full = near.then(|| self.session.values.binding_tail(binding))?;
        let millis = |stamp: Option<Stamp>| stamp.as_ref().and_then(Stamp::millis);
        Some((millis(full.created), millis(full.updated)))
    }

    fn settled(
        &self,
        name: &str,
        at: u32,
        binding: &Binding,
        seen: Received,
        inferred: bool,
        why: String,
    ) -> GivenName {
        let note = (seen != Received::Same).then_some(
            "The value may have been different when the statement ran: only the last value was kept.",
        );
        GivenName {
            name: name.to_owned(),
            binding: self.session.binding_ref(at),
            why,
            seen,
            inferred,
            value: of_binding(self.session, binding),
            note: note.map(str::to_owned),
            ..GivenName::default()
        }
    }

    fn replaced(
        &self,
        name: &str,
        candidate: &Candidate,
        binding: &Binding,
        by: &ValueWriter,
        inferred: bool,
    ) -> GivenName {
        let kept = kept::there_at(self.session, binding, self.span);
        let who = match by.by.map(|by| (by == self.node, self.session.node(by))) {
            Some((true, _)) => "The statement itself wrote the name later".to_owned(),
            Some((_, Some(node))) => {
                let text = short(&node.text, 60);
                match node.id {
                    Some(id) => format!("#{id} wrote the name later ({text})"),
                    None => format!("\u{201c}{text}\u{201d} wrote the name later"),
                }
            }
            _ => "The name was written later".to_owned(),
        };
        let (value, what) = match kept {
            kept::EarlierValue::Value(value) => (Some(value), "the value before that is shown"),
            kept::EarlierValue::Some => (
                None,
                "the run keeps earlier values, but does not record which of them the statement received",
            ),
            kept::EarlierValue::None => {
                (None, "the value that the statement received was not kept")
            }
        };
        GivenName {
            name: name.to_owned(),
            binding: self.session.binding_ref(candidate.binding as u32),
            why: candidate.reason.clone(),
            seen: Received::Replaced,
            inferred,
            value,
            note: Some(format!("{who}; {what}.")),
            ..GivenName::default()
        }
    }
}

/// Builds a name without a value.
fn without_value(name: &str, seen: Received, why: impl Into<String>) -> GivenName {
    GivenName {
        name: name.to_owned(),
        seen,
        why: why.into(),
        ..GivenName::default()
    }
}
