//! Explains in one sentence why a candidate binding won or lost.

use super::Outcome;
use super::parents::{Bend, Way};
use crate::model::issue::Issue;
use crate::model::text::short;
use crate::trace::Trace;

/// The facts from which the reason for one candidate's outcome is formed.
pub(super) struct ReasonFacts<'a> {
    pub(super) name: &'a str,
    pub(super) from: Option<i64>,
    pub(super) way: &'a Way,
    pub(super) trace: &'a Trace,
    /// The winner's frame; `None` is the root.
    pub(super) winning: Option<i64>,
    /// The candidate's frame; `None` is the root.
    pub(super) place: Option<i64>,
    pub(super) distance: Option<u32>,
}

impl ReasonFacts<'_> {
    pub(super) fn reason(&self, outcome: Outcome, exists: bool) -> String {
        match outcome {
            Outcome::Wins => self.wins(),
            Outcome::Shadowed => self.shadowed(),
            Outcome::OutOfReach => self.out_of_reach(exists),
            Outcome::Superseded => self.superseded(),
        }
    }

    /// Returns the reason for a row that a later row with the same name and frame replaced (errata S2).
    pub(super) fn superseded(&self) -> String {
        let place = match self.place {
            Some(id) => format!("in execution {id}"),
            None => "at the root".to_owned(),
        };
        format!("a later row has the same name {place}")
    }

    /// Returns the recorded statement of an execution, shortened to 60 characters.
    fn text(&self, id: i64) -> Option<String> {
        let node = self.trace.nodes.get(self.trace.of_row(id)?)?;
        (!node.text.is_empty()).then(|| short(&node.text, 60))
    }

    /// Returns the statement of an execution with the execution's id, because a block may be called many times.
    fn called(&self, id: i64) -> String {
        match self.text(id) {
            Some(text) => format!("{text} (execution {id})"),
            None => format!("execution {id}"),
        }
    }

    fn wins(&self) -> String {
        match (self.place, self.from, self.distance) {
            (Some(id), _, Some(0)) => {
                let call = self.text(id);
                format!(
                    "from this call: {}",
                    call.unwrap_or(format!("execution {id}"))
                )
            }
            (Some(id), Some(from), Some(steps)) => format!(
                "the nearest binding: {} is {} execution {from}",
                self.called(id),
                above(steps)
            ),
            (_, None, _) if self.name.contains('.') => {
                "the names of imports belong to the root".to_owned()
            }
            (_, None, _) => "from the program's top level".to_owned(),
            (_, Some(from), _) => format!(
                "no scope from execution {from} up to the root has a binding of that name; the root is searched last{}",
                self.why()
            ),
        }
    }

    fn shadowed(&self) -> String {
        let nearer = match self.winning {
            Some(id) if Some(id) == self.way.chain.first().copied() => {
                format!("execution {id} itself has a binding of that name")
            }
            Some(id) => format!("execution {id} has a binding of that name"),
            None => "another binding is nearer".to_owned(),
        };
        match (self.place, self.from, self.distance) {
            (Some(id), Some(from), Some(steps)) => format!(
                "{} is {} execution {from}, but {nearer}, which is nearer",
                self.called(id),
                above(steps)
            ),
            _ => format!("the root is searched last, and {nearer}"),
        }
    }

    fn out_of_reach(&self, exists: bool) -> String {
        let id = self.place.unwrap_or_default();
        match self.from {
            _ if !exists => format!("execution {id} does not exist"),
            None => format!("the search starts at the root, which does not see execution {id}"),
            Some(from) => format!(
                "{} is none of the calls around execution {from}{}",
                self.called(id),
                self.why()
            ),
        }
    }

    /// Explains why the chain of frames is shorter than expected (errata B3).
    fn why(&self) -> String {
        match (self.way.bend.as_ref(), self.way.chain.as_slice()) {
            // A parent that is not a scope, such as a loop, still counts as a parent.
            (None, [_]) if !self.way.alone => String::new(),
            (Some(Bend::Orphan(id, parent)), _) => {
                format!(": execution {id} names parent {parent}, which does not exist")
            }
            (Some(Bend::Circle(id)), _) => {
                format!(": the parents of execution {id} lead back to it")
            }
            (Some(Bend::Itself(id)), _) => format!(": execution {id} names itself as its parent"),
            (Some(Bend::NoParent(id, _)), _) | (None, [id]) => {
                format!(": execution {id} names no parent")
            }
            (None, _) => String::new(),
        }
    }
}

fn above(steps: u32) -> String {
    match steps {
        1 => "1 step above".to_owned(),
        n => format!("{n} steps above"),
    }
}

/// Returns a warning that the frame in which the search was to begin does not exist.
pub(super) fn unknown_frame(id: i64) -> Issue {
    Issue::warning("unknown-frame", format!("there is no execution {id}"))
        .hint("Only the root was searched.")
        .at_row("execution", id)
}

/// Returns the warning for a fault that ended the walk.
pub(super) fn bent(bend: Bend, from: Option<i64>) -> Issue {
    let from = from.unwrap_or_default();
    let (rule, row, message, hint) = match bend {
        Bend::Circle(id) => (
            "parent-cycle",
            id,
            format!("the parents of execution {id} lead back to it"),
            "The search for the name leaves the cycle and continues at the root.",
        ),
        Bend::Orphan(id, parent) => (
            "orphan-parent",
            id,
            format!("execution {id} names parent {parent}, which does not exist"),
            "The search for the name continues at the root.",
        ),
        Bend::Itself(id) => (
            "self-parent",
            id,
            format!("execution {id} names itself as its parent"),
            "The search for the name continues at the root.",
        ),
        Bend::NoParent(id, depth) => (
            "missing-parent",
            id,
            format!("execution {id} records depth {depth} but names no parent"),
            "The search for the name continues at the root, so it may skip enclosing frames.",
        ),
    };
    let message = if row == from {
        message
    } else {
        format!("{message}, on the way from execution {from}")
    };
    Issue::warning(rule, message)
        .hint(hint)
        .at_row("execution", row)
}

/// Returns a note that the name belongs to the run of an import (errata B12).
pub(super) fn in_import(handle: &str, inner: &str, nested: &str) -> Issue {
    Issue::noted(
        "import-binding",
        format!(
            "`{handle}` is an import: `{inner}` is looked up in the run of the import, {nested}"
        ),
    )
    .hint("Open the nested run to see its bindings.")
    .at_file(nested)
}
