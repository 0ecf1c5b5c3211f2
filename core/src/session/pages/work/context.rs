//! What a statement was given: each name as its frame means it, and the value that it had then.

use super::order::{self, before};
use super::{guessed, kept, of_binding, sentence, tied};
use crate::model::Binding;
use crate::program::{Given, Listing, NameUse, scan};
use crate::scope::{self, Candidate, Outcome};
use crate::session::Session;
use crate::session::pages::trace::{binding_ref, node_ref};
use crate::session::pages::writes::{Written, written};
use crate::text::short;
use crate::time::Stamp;
use crate::trace::{Node, NodeId, NodeKind, NodeStatus};
use crate::view::{GivenName, NodeWork, Part, Seen};

/// How many names are resolved.
const MOST: usize = 50;

/// When a binding was first written is not read behind a larger value than this.
const NEAR: u64 = 1 << 20;

pub(super) fn add(session: &Session, node: NodeId, at: &Node, work: &mut NodeWork) {
    if at.kind.is_round() {
        return;
    }
    if at.status == NodeStatus::Skipped {
        work.context_note = Some("It was passed over, and was given nothing.".to_owned());
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
                Some(_) => "no line of the program is tied to it".to_owned(),
                None => session.run.program.missing(),
            };
            // A gate and a branch say nothing of a context in any case.
            let asked = matches!(at.kind, NodeKind::Statement | NodeKind::Frame { .. });
            work.context_note = asked.then(|| {
                sentence(&format!(
                    "{why}: it may have been given more than its record says"
                ))
            });
            alone = scan(&at.text);
            (&alone, 0)
        }
    };
    let asked = Asked::new(session, node, at);
    let given = listing.given(statement);
    let names = listing.uses(statement);
    let mut found = names.iter().filter_map(|name| match given.get(&name.name) {
        Some((how, around)) => {
            let line = listing.get(*around).map(|s| s.line);
            Some(asked.around(&name.name, *how, line))
        }
        None => asked.name(name),
    });
    work.context = found.by_ref().take(MOST).collect();
    work.more_context = found.count() as u32;
}

/// The statement whose names are resolved.
struct Asked<'s> {
    session: &'s Session,
    node: NodeId,
    /// When it was under way.
    span: (Option<i64>, Option<i64>),
    /// The frame that its names are looked up in; `Err` where it has no id to look it up by.
    from: Result<Option<i64>, ()>,
    pending: bool,
}

impl<'s> Asked<'s> {
    fn new(session: &'s Session, node: NodeId, at: &Node) -> Asked<'s> {
        // What a call is given is looked up where it is called from.
        let inside = match at.kind.is_frame() {
            true => at.parent,
            false => Some(node),
        };
        let frame = session.trace.frame(inside);
        let frame = frame.and_then(|frame| session.node(frame));
        Asked {
            session,
            node,
            span: at.worked(&session.run),
            from: match frame {
                Some(frame) => frame.id.map(Some).ok_or(()),
                None => Ok(None),
            },
            pending: at.status == NodeStatus::Pending,
        }
    }

    /// A name that its surroundings give without binding it, unless a binding of the frame itself records it.
    fn around(&self, name: &str, how: Given, line: Option<u32>) -> GivenName {
        let candidates = self.candidates(name).unwrap_or_default();
        let here = self.from.ok().flatten();
        let own = candidates.into_iter().filter(|c| {
            c.outcome != Outcome::OutOfReach && (c.distance == Some(0) || here == c.execution_id)
        });
        let own: Vec<Candidate> = own.collect();
        if !own.is_empty() {
            return self.among(name, &own);
        }
        let what = match how {
            Given::Parameter => "a parameter of the block",
            Given::Counter => "given by the loop",
            Given::Error => "what was caught",
            Given::Item => "handed over by the pipe",
        };
        let line = line.map_or(String::new(), |line| format!(" at line {line}"));
        let why = format!("it is {what}{line}; no record of this frame has its value");
        told(name, Seen::default(), why)
    }

    /// A name; `None` for what may be mere text and means nothing.
    fn name(&self, used: &NameUse) -> Option<GivenName> {
        let name = &used.name;
        let Some(candidates) = self.candidates(name) else {
            let why = "its frame has no id in the records to look names up in";
            return used.sure.then(|| told(name, Seen::default(), why));
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
        let unread = unread.iter().any(|u| u.concerns(Part::Bindings));
        let import = name.split_once('.').is_some();
        let (seen, why) = match out_of_reach {
            _ if unread => (Seen::Unknown, "not all values could be read"),
            0 if import => (
                Seen::Unknown,
                "it is a value of an import, which is a run of its own",
            ),
            0 => (Seen::Nothing, "no value of that name is recorded"),
            _ => (
                Seen::Nothing,
                "values of that name are not in reach of its frame",
            ),
        };
        told(name, seen, why)
    }

    /// The first candidate that was there when the statement began. One that was made later is passed over: then the name
    /// meant the next.
    fn among(&self, name: &str, candidates: &[Candidate]) -> GivenName {
        let mut late = None;
        for (nth, candidate) in candidates.iter().enumerate() {
            let at = candidate.binding as u32;
            let Some(binding) = self.session.run.bindings.get(candidate.binding) else {
                continue;
            };
            let mut by = written(self.session, at, None);
            // Of a name that no statement binds, nobody asked yet when it was written.
            by.at = by.at.or_else(|| {
                let (created, updated) = self.times(binding)?;
                updated.or(created)
            });
            let claimed = self.session.index.claims.contains_key(&at);
            let (mut seen, inferred) =
                order::seen(self.session, self.node, self.span, binding, &by);
            if seen == Seen::Replaced && claimed && by.at.is_none() {
                // Each claim has a writer of its own, and without times nothing tells which.
                seen = Seen::Unknown;
            }
            if seen != Seen::Replaced {
                let why = match (nth, candidate.outcome) {
                    (0, _) => candidate.reason.clone(),
                    (_, Outcome::Superseded) => {
                        "it is the row of that name that was there when the statement began"
                            .to_owned()
                    }
                    _ => "the nearer ones were written later".to_owned(),
                };
                let by = by.by.filter(|_| seen == Seen::Same);
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

    /// Whether a binding was first written after the statement began.
    fn made_later(&self, binding: &Binding) -> bool {
        let created = self.times(binding).and_then(|(created, _)| created);
        let since = self.span.0.zip(created);
        since.is_some_and(|(from, at)| before(from, at))
    }

    /// When a binding was first and last written; `None` behind a large value.
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
        seen: Seen,
        inferred: bool,
        why: String,
    ) -> GivenName {
        let note = match seen {
            Seen::Same => None,
            _ if self.pending => Some("It has not begun; this is the value there now."),
            _ => Some("May have had another value then: only the last one was kept."),
        };
        GivenName {
            name: name.to_owned(),
            binding: binding_ref(self.session, at),
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
        by: &Written,
        inferred: bool,
    ) -> GivenName {
        let kept = kept::there_at(self.session, binding, self.span);
        let who = match by.by.map(|by| (by == self.node, self.session.node(by))) {
            Some((true, _)) => "It wrote the name itself afterwards".to_owned(),
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
            kept::Kept::Value(value) => (Some(value), "this is the value before that"),
            kept::Kept::Some => (
                None,
                "the run keeps earlier values, but not which of them it was given",
            ),
            kept::Kept::None => (None, "what it was given is not kept"),
        };
        GivenName {
            name: name.to_owned(),
            binding: binding_ref(self.session, candidate.binding as u32),
            why: candidate.reason.clone(),
            seen: Seen::Replaced,
            inferred,
            value,
            note: Some(format!("{who}; {what}.")),
            ..GivenName::default()
        }
    }
}

/// A name of which no value is there.
fn told(name: &str, seen: Seen, why: impl Into<String>) -> GivenName {
    GivenName {
        name: name.to_owned(),
        seen,
        why: why.into(),
        ..GivenName::default()
    }
}
