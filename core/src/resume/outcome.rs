//! What each outcome of a gate means for the program.

use std::collections::BTreeMap;

use super::ahead::How;
use super::{Facts, Plan};
use crate::gate::{first_word, is_continue};
use crate::model::Gate;
use crate::program::{Listing, Statement};
use crate::text::short;
use crate::trace::NodeId;

/// What happens after a gate is decided, in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// When it is approved.
    pub approve: String,
    /// When it is rejected.
    pub reject: String,
    /// When its deadline passes.
    pub timeout: String,
    /// The line of the gate in the program.
    pub line: Option<u32>,
}

/// Tells what each outcome of a gate means, of as many gates as a run has.
#[derive(Debug, Clone)]
pub struct Outlook<'a> {
    pub(crate) facts: Facts<'a>,
    pub(crate) plan: &'a Plan,
    /// The place of each node among the plan's stands.
    stands: BTreeMap<NodeId, usize>,
}

impl<'a> Outlook<'a> {
    /// Looks through the plan once.
    pub fn new(facts: Facts<'a>, plan: &'a Plan) -> Outlook<'a> {
        let stands = plan.stands.iter().enumerate().rev();
        Outlook {
            facts,
            plan,
            // Of one node the first place is the one that counts.
            stands: stands.filter_map(|(i, s)| Some((s.node?, i))).collect(),
        }
    }

    /// What each outcome of a gate means; `node` is the gate's node.
    pub fn of(&self, gate: &Gate, node: Option<NodeId>) -> Outcomes {
        outcomes(self, gate, node)
    }
}

fn outcomes(outlook: &Outlook<'_>, gate: &Gate, node: Option<NodeId>) -> Outcomes {
    let facts = outlook.facts;
    let tied = node.and_then(|n| facts.statement(n));
    let statement = tied.and_then(|s| Some((s, facts.listing?.get(s)?)));
    let base = crate::gate::visit(&gate.id).0;
    // A gate that is tied to no row is still named in the program.
    let named = || {
        let listing = facts.listing?;
        let at = *listing.gates_named(base).first()?;
        Some((at, listing.get(at)?))
    };
    let found = statement.or_else(named);
    let go_on = go_on(outlook, node, found.map(|(at, _)| at));
    let on_reject = gate
        .on_reject
        .as_deref()
        .map(str::to_owned)
        .filter(|t| !t.trim().is_empty())
        .or_else(|| found.and_then(|(at, s)| handler(facts.listing, at, s, "on_reject")));
    let reject = rejected(facts, found, on_reject.as_deref(), &go_on);
    let property = |name: &str| found.and_then(|(at, s)| handler(facts.listing, at, s, name));
    let timeout = match (property("on_timeout"), &gate.timeout_at, &gate.timeout) {
        (Some(action), _, _) => format!("does `{}`", short(&action, 80)),
        (None, None, None) => "it has no deadline, and waits until somebody decides".to_owned(),
        _ => format!("counts as a rejection by system: {reject}"),
    };
    Outcomes {
        approve: match property("on_approve") {
            Some(action) => format!("does `{}`; {go_on}", short(&action, 80)),
            None => go_on,
        },
        reject,
        timeout,
        line: found.map(|(_, s)| s.line),
    }
}

/// Where the program goes on behind the gate.
fn go_on(outlook: &Outlook<'_>, node: Option<NodeId>, gate: Option<u32>) -> String {
    let Some(listing) = outlook.facts.listing else {
        return "goes on; what comes next is not known without the program".to_owned();
    };
    let Some(&stand) = node.and_then(|node| outlook.stands.get(&node)) else {
        return "the run does not stand at it".to_owned();
    };
    // What lies ahead is in the order of the stands.
    let ahead = &outlook.plan.ahead;
    let from = ahead.partition_point(|a| a.stand < stand);
    let ahead = ahead.get(from..).unwrap_or_default().iter();
    let behind = ahead
        .take_while(|a| a.stand == stand)
        .filter(|a| a.how != How::Here && a.how != How::Called)
        .find(|a| gate.is_none_or(|gate| !listing.contains(gate, a.statement)))
        .and_then(|a| listing.get(a.statement));
    match behind {
        Some(s) => format!("goes on at line {}, `{}`", s.line, short(&s.text, 60)),
        None => "the program ends".to_owned(),
    }
}

/// What a property of a gate does: its text, or the statements below it.
fn handler(listing: Option<&Listing>, at: u32, gate: &Statement, name: &str) -> Option<String> {
    let property = gate
        .properties
        .iter()
        .find(|p| p.name.replace('-', "_") == name)?;
    if !property.text.trim().is_empty() {
        return Some(property.text.clone());
    }
    let listing = listing?;
    let below: Vec<&str> = listing
        .children(at)
        .filter_map(|child| listing.get(child))
        .filter(|s| s.line > property.line)
        .map(|s| s.text.as_str())
        .collect();
    (!below.is_empty()).then(|| below.join("; "))
}

fn rejected(
    facts: Facts<'_>,
    gate: Option<(u32, &Statement)>,
    action: Option<&str>,
    go_on: &str,
) -> String {
    let Some(action) = action.map(str::trim) else {
        return "nothing says what the program does then".to_owned();
    };
    let shown = short(action, 80);
    match first_word(action) {
        _ if is_continue(action) => format!("`{shown}`: {go_on}"),
        "throw" => {
            let caught = gate.and_then(|(at, _)| {
                let listing = facts.listing?;
                let handler = listing.catch_of(listing.try_of(at)?)?;
                Some(listing.get(handler)?.line)
            });
            match caught {
                Some(line) => format!("`{shown}` is caught at line {line}"),
                None => format!("`{shown}`: the run fails"),
            }
        }
        "retry" | "goto" => format!("`{shown}`: goes back, and asks again"),
        "stop" | "exit" | "abort" | "end" | "fail" => format!("`{shown}`: the run ends"),
        _ => format!("does `{shown}`"),
    }
}
