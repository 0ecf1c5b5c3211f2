//! Describes in words what the program does after each outcome of a gate.

use std::collections::BTreeMap;

use super::{ResumeFacts, ResumePlan};
use crate::model::Gate;
use crate::model::text::short;
use crate::model::visit;
use crate::pages::view::{GateOutcomes, How};
use crate::program::{Listing, Statement, StatementKind as Kind};
use crate::read::gate::{first_word, is_continue, is_end};
use crate::trace::NodeId;

/// An index of a plan, from which the outcomes of any number of gates are described.
#[derive(Debug, Clone)]
pub struct Outlook<'a> {
    pub(crate) facts: ResumeFacts<'a>,
    pub(crate) plan: &'a ResumePlan,
    /// The index of each node in the plan's positions.
    positions: BTreeMap<NodeId, usize>,
}

/// Describes where a program goes on: ``goes on at line 9, `session "Write"` ``.
pub(crate) fn goes_on_at(next: &Statement) -> String {
    format!("goes on at line {}, `{}`", next.line, short(&next.text, 60))
}

impl<'a> Outlook<'a> {
    /// Builds the index of the plan's positions.
    pub fn new(facts: ResumeFacts<'a>, plan: &'a ResumePlan) -> Outlook<'a> {
        let positions = plan.positions.iter().enumerate().rev();
        Outlook {
            facts,
            plan,
            // If a node has several positions, the first position is used.
            positions: positions.filter_map(|(i, s)| Some((s.node?, i))).collect(),
        }
    }

    /// Returns the effect of each outcome of a gate; `node` is the gate's node.
    pub fn of(&self, gate: &Gate, node: Option<NodeId>) -> GateOutcomes {
        let tied = node.and_then(|at| self.facts.statement(at));
        // A gate without a row can still be found in the program by its name.
        let named = || self.facts.listing?.gates_named(visit(&gate.id).0).first();
        let at = tied.or_else(|| named().copied());
        let found = at.and_then(|at| Some((at, self.facts.listing?.get(at)?)));
        let says = |name: &str| {
            let (at, statement) = found?;
            says(self.facts.listing?, at, statement, name)
        };
        let go_on = self.go_on(node, at);
        let on_reject = gate.on_reject.as_deref().map(str::to_owned);
        let on_reject = on_reject.filter(|action| !action.trim().is_empty());
        let reject = match on_reject.or_else(|| says("on_reject")) {
            Some(action) => self.rejected(at, action.trim(), &go_on),
            None => "what the program does then is not recorded".to_owned(),
        };
        GateOutcomes {
            line: found.map(|(_, s)| s.line),
            if_timed_out: match (says("on_timeout"), &gate.timeout_at, &gate.timeout) {
                (Some(action), ..) => format!("does `{}`", short(&action, 80)),
                (None, None, None) => "no deadline: the gate waits for a decision".to_owned(),
                _ => format!("counts as a rejection by `system`: {reject}"),
            },
            if_rejected: reject,
            if_approved: match says("on_approve") {
                Some(action) => format!("does `{}`; {go_on}", short(&action, 80)),
                None => go_on,
            },
        }
    }

    /// Returns in words where the program continues after the gate.
    fn go_on(&self, node: Option<NodeId>, gate: Option<u32>) -> String {
        let Some(listing) = self.facts.listing else {
            return "goes on; without the program, the next statement is unknown".to_owned();
        };
        let Some(&position) = node.and_then(|node| self.positions.get(&node)) else {
            return "the run is not at this gate".to_owned();
        };
        // The statements ahead are sorted by position.
        let from = self.plan.ahead.partition_point(|a| a.position < position);
        let behind = (self.plan.ahead.iter().skip(from))
            .take_while(|a| a.position == position)
            .filter(|a| !matches!(a.how, How::Here | How::Called))
            .find(|a| gate.is_none_or(|gate| !listing.contains(gate, a.statement)));
        match behind.and_then(|a| listing.get(a.statement)) {
            Some(next) => goes_on_at(next),
            None => "the program ends".to_owned(),
        }
    }

    fn rejected(&self, gate: Option<u32>, action: &str, go_on: &str) -> String {
        let shown = short(action, 80);
        match first_word(action) {
            _ if is_continue(action) => format!("the program continues anyway: {go_on}"),
            "throw" => self.thrown(gate, action, &shown),
            "retry" | "goto" => format!("the program goes back and asks again (`{shown}`)"),
            _ if is_end(action) => format!("the run ends (`{shown}`)"),
            _ => format!("the program does `{shown}`"),
        }
    }

    fn thrown(&self, gate: Option<u32>, action: &str, shown: &str) -> String {
        let found = self.facts.listing.zip(gate);
        let handler = found.and_then(|(listing, gate)| listing.get(listing.handler(gate)?));
        if let Some(handler) = handler {
            return format!("`{shown}` is caught at line {}", handler.line);
        }
        // The run may continue even without a handler here: a `try` around the call of a block may catch errors of the
        // block, and a parallel block may continue without a branch.
        let is_outer = |of: &Statement| matches!(of.kind, Kind::Block | Kind::Parallel);
        let ends = |listing: &Listing, gate| {
            let mut around = listing.enclosing(gate);
            !around.any(|at| listing.get(at).is_some_and(is_outer))
        };
        match found {
            Some((listing, gate)) if ends(listing, gate) => {
                let message = action.strip_prefix("throw").map_or(action, str::trim);
                let quoted = message.strip_prefix('"').and_then(|m| m.strip_suffix('"'));
                match quoted.filter(|message| !message.contains('"')) {
                    Some(message) => format!("the run ends with “{}”", short(message, 80)),
                    None => format!("the run ends (`{shown}`)"),
                }
            }
            _ => format!("the program does `{shown}`"),
        }
    }
}

/// Returns the action in a property of a gate: its text, or the statements below it.
fn says(listing: &Listing, at: u32, gate: &Statement, name: &str) -> Option<String> {
    let property = gate.find(name)?;
    if !property.text.trim().is_empty() {
        return Some(property.text.clone());
    }
    let below = listing.children(at).filter_map(|child| listing.get(child));
    let below = below.filter(|s| s.line > property.line);
    let below: Vec<&str> = below.map(|s| s.text.as_str()).collect();
    (!below.is_empty()).then(|| below.join("; "))
}
