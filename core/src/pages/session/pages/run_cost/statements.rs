//! Lists the statements that may have asked a model, with their times and names.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::successors;
use std::ops::RangeInclusive;

use super::super::writes::{second, wrote};
use crate::model::time::Stamp;
use crate::pages::session::Session;
use crate::pages::view::StatementCost;
use crate::program::{Statement, StatementKind as Kind, scan};
use crate::read::transcript::Conversation;
use crate::trace::{Node, NodeKind, NodeStatus};

/// By how much a recorded time without a zone may differ from UTC, in milliseconds.
const ZONES: i64 = 14 * 3_600_000;

/// A time in milliseconds since 1970 UTC.
type Time = RangeInclusive<i64>;

/// A statement that may have asked a model.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) cost: StatementCost,
    /// When its executions ran, or may have run. `true` if begin and end are recorded; otherwise the time is that of the
    /// block around it, or any, or has no end.
    pub(super) times: Vec<(Time, bool)>,
    /// The names by which a prompt may call the statement: its bindings, the node, and what the statement calls.
    pub(super) names: BTreeSet<String>,
    /// The text of its session, which a prompt may repeat.
    pub(super) prompt: Option<String>,
}

/// What ran, and when.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) statements: Vec<Asked>,
    /// When the run began and ended; the minimum and the maximum for what did not happen or is not recorded.
    pub(super) time: Time,
}

impl Ran {
    /// Returns whether a moment is within the run's time. An unknown moment is.
    pub(super) fn has(&self, at: Option<i64>) -> bool {
        at.is_none_or(|at| self.time.contains(&at))
    }

    /// Returns whether a conversation was within the run's time at some moment.
    pub(super) fn is_of_time(&self, of: &Conversation) -> bool {
        of.last.is_none_or(|last| *self.time.start() <= last)
            && of.first.is_none_or(|first| first <= *self.time.end())
    }
}

/// Lists the statements of a run, in the order in which they began.
pub(super) fn statements(session: &Session) -> Ran {
    let (run, trace, listing) = (session.run(), session.trace(), session.listing());
    let mut all: BTreeMap<(Option<u32>, &str), Asked> = BTreeMap::new();
    for (at, node) in trace.nodes.iter_enumerated() {
        let own = node.sure_statement(listing);
        let is_leaf = matches!(node.kind, NodeKind::Statement | NodeKind::Branch { .. })
            && node.descendants == 0;
        let idle = [
            NodeStatus::Skipped,
            NodeStatus::Unchanged,
            NodeStatus::Pending,
        ];
        let asks = own.is_none_or(|own| asks(own.kind)) && !idle.contains(&node.status);
        if !is_leaf || !asks || node.is_given(run, listing) {
            continue;
        }
        let key = (node.line, &*node.text);
        let asked = all.entry(key).or_insert_with(|| {
            let scanned = scan(&node.text).statements.into_iter().next();
            let statement = own.or(scanned.as_ref());
            let name = statement.and_then(|own| own.name.clone());
            // A log names a service by one word, and a program calls it by that word.
            let is_name = own.is_none() && !node.text.contains(char::is_whitespace);
            let of_node = (run.form.has_nodes() || is_name).then(|| node.text.to_string());
            let called = statement.filter(|own| own.kind == Kind::Call);
            let called = called.and_then(|own| own.target.clone());
            Asked {
                names: name.into_iter().chain(of_node).chain(called).collect(),
                prompt: statement.and_then(prompt),
                ..Asked::default()
            }
        });
        asked.cost.line = node.line;
        asked.cost.text = node.text.to_string();
        asked.cost.nodes.push(at.get());
        let written = wrote(session, at).into_iter();
        asked.names.extend(written.map(|binding| binding.name));
        asked.names.remove("");
        asked.times.push(time(session, node));
    }
    let mut statements: Vec<Asked> = all.into_values().collect();
    statements.sort_by(|a, b| a.cost.nodes.cmp(&b.cost.nodes));
    let moved = |at: &Stamp, by: i64| match at {
        Stamp::Zoneless(at) => Some(at.saturating_add(by)),
        other => other.millis(),
    };
    let began = run.started.clone().or_else(|| run.started_by_id());
    let nodes = trace.nodes.iter().filter_map(|node| node.times(run).0);
    let began = nodes.chain(&began).filter_map(|at| moved(at, -ZONES)).min();
    let is_over = ["completed", "failed", "interrupted"].contains(&trace.verdict.word());
    let ended = trace.verdict.last_sign.as_ref().filter(|_| is_over);
    let ended = ended.and_then(|at| moved(at, ZONES));
    let ended = ended.map_or(i64::MAX, |at| second(at).1);
    Ran {
        statements,
        time: began.unwrap_or(i64::MIN)..=ended,
    }
}

/// Returns when a node was executing. If that is not recorded, returns the time of the innermost node around it that has
/// one, else any time.
fn time(session: &Session, node: &Node) -> (Time, bool) {
    let around = successors(Some(node), |of| session.trace().node(of.parent?));
    let mut times = around.enumerate().filter_map(|(above, of)| {
        let is_open = of.status.is_open();
        match of.times(session.run()) {
            (Some(Stamp::At(from)), Some(Stamp::At(until))) => {
                Some((second(*from).0..=second(*until).1, above == 0 && !is_open))
            }
            (Some(Stamp::At(from)), None) if is_open => Some((second(*from).0..=i64::MAX, false)),
            _ => None,
        }
    });
    times.next().unwrap_or((i64::MIN..=i64::MAX, false))
}

/// Returns whether a statement of this kind may ask a model.
fn asks(kind: Kind) -> bool {
    use Kind::{Agent, Block, Exec, Gate, Input, Label, Use};
    kind.is_work() && !matches!(kind, Use | Input | Agent | Block | Gate | Exec | Label)
}

/// Returns the prompt of a statement, if it is long enough to be found in another text by no accident.
fn prompt(of: &Statement) -> Option<String> {
    let quoted = || Some(of.text.split_once('"')?.1.split_once('"')?.0);
    let prompt = of.property("prompt").or_else(quoted)?.trim_matches('"');
    (prompt.len() >= 12).then(|| prompt.to_owned())
}
