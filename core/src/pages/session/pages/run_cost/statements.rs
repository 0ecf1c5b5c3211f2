//! Lists the statements that may have asked a model, with their times and names.

use std::collections::BTreeMap;

use super::super::writes::{second, wrote};
use crate::model::time::Stamp;
use crate::pages::session::Session;
use crate::pages::view::StatementCost;
use crate::program::{Statement, StatementKind, scan};
use crate::read::transcript::Conversation;
use crate::trace::{Node, NodeKind, NodeStatus};

/// By how much a recorded time without a zone may differ from UTC, in milliseconds.
const ZONES: i64 = 14 * 3_600_000;

/// A statement that may have asked a model.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) cost: StatementCost,
    /// When its executions ran, as far as recorded with a time zone.
    pub(super) times: Vec<Time>,
    /// The names by which a prompt may call the statement: its bindings; the node of contract 2.
    pub(super) names: Vec<String>,
    /// The text of its session, which a prompt may repeat.
    pub(super) prompt: Option<String>,
}

/// A time in which a statement was executing, or may have been.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time {
    /// In milliseconds since 1970 UTC.
    pub(super) from: i64,
    /// In milliseconds since 1970 UTC, inclusive.
    pub(super) until: i64,
    /// Whether begin and end of the execution are recorded. Otherwise the time is that of the block around it, or has no
    /// end.
    pub(super) recorded: bool,
}

/// What ran, and when.
#[derive(Debug, Default)]
pub(super) struct Ran {
    pub(super) statements: Vec<Asked>,
    /// When the run began, in milliseconds since 1970 UTC.
    pub(super) began: Option<i64>,
    /// When the run ended; `None` if it did not end, or if its end is not recorded.
    pub(super) ended: Option<i64>,
}

impl Ran {
    /// Returns whether a moment is within the run's time. An unknown moment is.
    pub(super) fn has(&self, at: Option<i64>) -> bool {
        let is_after = |at| self.began.is_none_or(|began| began <= at);
        at.is_none_or(|at| is_after(at) && self.ended.is_none_or(|ended| at <= ended))
    }

    /// Returns whether a conversation was within the run's time at some moment.
    pub(super) fn is_of_time(&self, of: &Conversation) -> bool {
        let is_over = |began| of.last.is_some_and(|last| last < began);
        let is_ahead = |ended| of.first.is_some_and(|first| first > ended);
        !self.began.is_some_and(is_over) && !self.ended.is_some_and(is_ahead)
    }
}

/// Lists the statements of a run, in the order in which they began.
pub(super) fn statements(session: &Session) -> Ran {
    let (run, trace, listing) = (session.run(), session.trace(), session.listing());
    let mut ran = Ran::default();
    let mut places: BTreeMap<(Option<u32>, &str), usize> = BTreeMap::new();
    let mut began = Vec::new();
    began.extend(run.started.clone().or_else(|| run.started_by_id()));
    for (at, node) in trace.nodes.iter_enumerated() {
        let (from, _) = node.times(run);
        began.extend(from.cloned());
        let own = node.sure_statement(listing);
        let asks = own.is_none_or(|own| asks(own.kind));
        let is_leaf = matches!(node.kind, NodeKind::Statement | NodeKind::Branch { .. })
            && node.descendants == 0;
        let idle = matches!(
            node.status,
            NodeStatus::Skipped | NodeStatus::Unchanged | NodeStatus::Pending
        );
        if !is_leaf || !asks || idle || node.is_given(run, listing) {
            continue;
        }
        let key = (node.line, &*node.text);
        let place = *places.entry(key).or_insert(ran.statements.len());
        if place == ran.statements.len() {
            let scanned = scan(&node.text).statements.into_iter().next();
            let statement = own.or(scanned.as_ref());
            let names = statement.and_then(|own| own.name.clone());
            let node_name = run.form.has_nodes().then(|| node.text.to_string());
            ran.statements.push(Asked {
                cost: StatementCost {
                    line: node.line,
                    text: node.text.to_string(),
                    ..StatementCost::default()
                },
                names: names.into_iter().chain(node_name).collect(),
                prompt: statement.and_then(prompt),
                ..Asked::default()
            });
        }
        let Some(asked) = ran.statements.get_mut(place) else {
            continue;
        };
        asked.cost.nodes.push(at.get());
        for binding in wrote(session, at) {
            if !asked.names.contains(&binding.name) {
                asked.names.push(binding.name);
            }
        }
        asked.times.extend(time(session, node));
    }
    let earliest = |at: &Stamp| match at {
        Stamp::Zoneless(at) => Some(at.saturating_sub(ZONES)),
        other => other.millis(),
    };
    ran.began = began.iter().filter_map(earliest).min();
    let word = trace.verdict.word();
    let is_over = ["completed", "failed", "interrupted"].contains(&word);
    let last = trace.verdict.last_sign.as_ref().filter(|_| is_over);
    ran.ended = last.and_then(|at| match at {
        Stamp::Zoneless(at) => Some(at.saturating_add(ZONES)),
        other => other.millis().map(|at| second(at).1),
    });
    ran
}

/// Returns when a node was executing. If that is not recorded, returns the time of the innermost node around it that has
/// one.
fn time(session: &Session, node: &Node) -> Option<Time> {
    let mut around = Some(node);
    while let Some(of) = around {
        let (from, until) = of.times(session.run());
        let is_open = of.status.is_open();
        let (from, until) = match (from, until) {
            (Some(Stamp::At(from)), Some(Stamp::At(until))) => (*from, second(*until).1),
            (Some(Stamp::At(from)), None) if is_open => (*from, i64::MAX),
            _ => {
                around = of.parent.and_then(|parent| session.trace().node(parent));
                continue;
            }
        };
        return Some(Time {
            from: second(from).0,
            until,
            recorded: std::ptr::eq(of, node) && !is_open,
        });
    }
    None
}

/// Returns whether a statement of this kind may ask a model.
fn asks(kind: StatementKind) -> bool {
    use StatementKind as K;
    kind.is_work()
        && !matches!(
            kind,
            K::Use | K::Input | K::Agent | K::Block | K::Gate | K::Exec | K::Label
        )
}

/// Returns the prompt of a statement, if it is long enough to be found in another text by no accident.
fn prompt(of: &Statement) -> Option<String> {
    let quoted = || Some(of.text.split_once('"')?.1.split_once('"')?.0);
    let prompt = of.property("prompt").or_else(quoted)?.trim_matches('"');
    (prompt.len() >= 12).then(|| prompt.to_owned())
}
