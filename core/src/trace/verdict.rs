//! Decides which recorded status of the run counts, and explains why (errata T10).

use std::collections::BTreeSet;

use super::rows::Ledger;
use super::{Node, NodeId, NodeKind, NodeSlice, NodeStatus, Verdict};
use crate::model::issue::{Issue, Severity};
use crate::model::time::{DAY, Stamp};
use crate::model::{AgentScope, Form, Run, RunStatus};
use crate::program::Listing;

/// The status of the run that one source records.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claim {
    /// The name of the source: `run row`, `state file`, `disk`.
    pub(crate) source: String,
    /// The status that the source records.
    pub(crate) status: RunStatus,
    /// When the source recorded the status, if known.
    pub(crate) at: Option<Stamp>,
}

impl Claim {
    pub(crate) fn new(source: &str, status: RunStatus, at: Option<Stamp>) -> Claim {
        Claim {
            source: source.to_owned(),
            status,
            at,
        }
    }
}

/// Returns the statuses that the run's row, the state file, and other records such as `run.json` contain, in this
/// order.
pub(crate) fn recorded(run: &Run) -> Vec<Claim> {
    // A folder has no row: its status is in the head of its state file, or in a log's trailer.
    let who = match run.form {
        Form::Folder { .. } if run.log.is_some() => "log",
        Form::Folder { .. } => "state file",
        _ => "run row",
    };
    let row = run
        .status
        .iter()
        .map(|status| Claim::new(who, status.clone(), run.updated.clone()));
    let file = run.state_file.iter().filter_map(|file| {
        let status = file.status.clone()?;
        Some(Claim::new("state file", status, file.updated.clone()))
    });
    let others = run
        .recorded
        .iter()
        .map(|said| Claim::new(&said.file, said.status.clone(), said.at.clone()));
    row.chain(file).chain(others).collect()
}

/// Returns the index of the claim that counts. A recorded end is newer evidence than a record that the run is running.
/// Of several ends, the end written last counts; without times, the first end.
pub(crate) fn believed(claims: &[Claim]) -> Option<usize> {
    let millis = |at: usize| {
        claims
            .get(at)
            .and_then(|claim| claim.at.as_ref()?.millis())
            .unwrap_or(i64::MIN)
    };
    let ends = (0..claims.len()).filter(|at| claims[*at].status.is_finished());
    // Of claims with the same time, the first counts. `max_by_key` returns the last, so the list is reversed.
    ends.rev()
        .max_by_key(|at| millis(*at))
        .or_else(|| (!claims.is_empty()).then_some(0))
}

/// Returns the verdict for the complete nodes of a trace. `open` is the number of nodes whose end is not recorded.
pub(super) fn verdict(
    run: &Run,
    nodes: &NodeSlice,
    waits: Option<WaitReason>,
    claims: Vec<Claim>,
    open: usize,
    now: Option<i64>,
    ledger: &mut Ledger,
) -> Verdict {
    let mut verdict = Verdict::default();
    if let Some((at, from)) = last_sign(run) {
        verdict.last_sign = Some(at);
        verdict.last_sign_from = Some(from);
    }
    let claim = believed(&claims).and_then(|at| claims.get(at));
    match claim.map(|claim| (&claim.status, claim)) {
        Some((RunStatus::Completed | RunStatus::Failed | RunStatus::Interrupted, claim)) => {
            verdict.status = claim.status.word().to_owned();
            verdict.source.clone_from(&claim.source);
            verdict.reason = claim_in_words(claim);
            if let Some(waits) = waits {
                verdict.reason.push_str(&format!("; {}", waits.reason));
            }
        }
        Some((RunStatus::Other(word), claim)) if !word.trim().is_empty() => {
            verdict.status = word.to_string();
            verdict.source.clone_from(&claim.source);
            verdict.reason = format!(
                "{}; OpenProse does not define this status",
                claim_in_words(claim)
            );
        }
        _ if let Some(waits) = &waits => {
            verdict.status = "waiting".to_owned();
            waits.source.clone_into(&mut verdict.source);
            verdict.reason.clone_from(&waits.reason);
        }
        Some((RunStatus::Waiting, claim)) if !decided(nodes) => {
            verdict.status = "waiting".to_owned();
            verdict.source.clone_from(&claim.source);
            verdict.reason = claim_in_words(claim);
        }
        // Open nodes of a log without an end may be over; only rows and the markers of a state file prove that the
        // run is running.
        None if nodes.is_empty() || open == 0 || run.log.is_some() || run.form.has_nodes() => {
            let word = |node: &Node| match &node.status {
                NodeStatus::Other(word) if !word.is_empty() => Some(format!(
                    "`{}` ended as {word}, a status that OpenProse does not define",
                    node.text
                )),
                _ => None,
            };
            let (source, reason) = match (&run.sealed, nodes.iter().rev().find_map(word)) {
                (Some(file), _) => (
                    "nothing",
                    format!("{file} is not readable: it is encrypted"),
                ),
                (None, Some(said)) => ("outcome", said),
                (None, None) => (
                    "nothing",
                    "nothing in the run records its status".to_owned(),
                ),
            };
            (verdict.source, verdict.reason) = (source.to_owned(), reason);
        }
        claim => running(&mut verdict, run, claim.map(|(_, claim)| claim), now),
    }
    let rows = !run.executions.is_empty();
    compare(&mut verdict, &claims, open, rows, ledger);
    verdict
}

fn running(verdict: &mut Verdict, run: &Run, claim: Option<&Claim>, now: Option<i64>) {
    verdict.status = "running".to_owned();
    verdict.source = match claim {
        Some(claim) => claim.source.clone(),
        None if run.executions.is_empty() => "execution markers".to_owned(),
        None => "open rows".to_owned(),
    };
    let last = verdict.last_sign.as_ref().and_then(Stamp::millis);
    let silent = now.zip(last).map(|(now, last)| now.saturating_sub(last));
    verdict.reason = match (silent, &verdict.last_sign) {
        (Some(ms), _) if ms >= DAY => {
            verdict.stale = true;
            format!("running, no sign of life for {} d", ms / DAY)
        }
        (_, Some(at)) => format!("running, last sign of life {}", at.spoken()),
        (_, None) => "running; no time is recorded".to_owned(),
    };
    if let Some(claim) = claim.filter(|claim| claim.status == RunStatus::Waiting) {
        verdict.reason = format!(
            "{}; the {} says waiting, but the gate is decided",
            verdict.reason, claim.source
        );
        verdict.claims = vec![
            (claim.source.clone(), "waiting".to_owned()),
            ("gates".to_owned(), "decided".to_owned()),
        ];
    }
}

/// If the claims disagree, adds all claims to the verdict, and the reason why one of them counts.
///
/// `rows` means that the run has rows; otherwise the marks of a file show what is open.
fn compare(verdict: &mut Verdict, claims: &[Claim], open: usize, rows: bool, ledger: &mut Ledger) {
    // A waiting run is also running, so `waiting` and `running` do not contradict each other.
    let way = |word: &str| match word {
        "waiting" => "running".to_owned(),
        other => other.to_owned(),
    };
    let own = way(&verdict.status);
    let against: Vec<&Claim> = claims
        .iter()
        .filter(|claim| way(claim.status.word()) != own)
        .collect();
    let finished = matches!(own.as_str(), "completed" | "failed");
    let left_open = finished && open > 0;
    if against.is_empty() && !left_open {
        return;
    }
    verdict.claims = claims
        .iter()
        .map(|claim| (claim.source.clone(), claim.status.word().to_owned()))
        .collect();
    if left_open {
        let (who, says) = if rows {
            ("execution rows", format!("{open} still open"))
        } else {
            ("execution markers", format!("{open} still under way"))
        };
        verdict.claims.push((who.to_owned(), says));
        verdict.reason.push_str(match (rows, open) {
            (true, 1) => "; one execution has no recorded end",
            (true, _) => "; some executions have no recorded end",
            (false, 1) => "; one statement is still marked as running",
            (false, _) => "; some statements are still marked as running",
        });
    }
    if against.is_empty() {
        return;
    }
    let others: Vec<String> = against.iter().map(|claim| claim_in_words(claim)).collect();
    let others = others.join(", ");
    let why = match (finished, against.iter().any(|c| c.status.is_finished())) {
        (true, false) => ", but a recorded end counts more",
        (true, true) if against.iter().all(|c| c.at.is_some()) => ", but that was written earlier",
        _ => "",
    };
    verdict.reason.push_str(&format!("; {others}{why}"));
    ledger.note(Severity::Warning, "status-disagrees", || {
        let message = format!("the {} says {}, {others}", verdict.source, verdict.status);
        Issue::noted("", message).hint(format!("The status {} is used.", verdict.status))
    });
}

fn waiting_in_words(gates: &[String]) -> String {
    match gates {
        [gate] => format!("waiting at gate {gate}"),
        gates => format!("waiting at {} gates: {}", gates.len(), first_few(gates)),
    }
}

fn claim_in_words(claim: &Claim) -> String {
    let source = &claim.source;
    // A source that is a file is called by its name, without an article.
    let the = if source.contains('.') { "" } else { "the " };
    format!("{the}{source} says {}", claim.status.word())
}

/// Why a run waits for people.
pub(super) struct WaitReason {
    source: &'static str,
    reason: String,
}

/// Returns why the run waits, if every position is a pending gate or a question to a person.
pub(super) fn waits(
    nodes: &NodeSlice,
    positions: &[NodeId],
    questions: &BTreeSet<NodeId>,
    program: Option<&Listing>,
) -> Option<WaitReason> {
    let (mut gates, mut asked) = (Vec::new(), Vec::new());
    for at in positions {
        match nodes.get(*at).map(|node| (&node.kind, &node.status)) {
            Some((NodeKind::Gate { gate }, NodeStatus::Pending | NodeStatus::Waiting)) => {
                gates.push(gate.to_string());
            }
            _ => asked.push(questions.get(at)?),
        }
    }
    let question = |at: NodeId| {
        let node = nodes.get(at)?;
        program?.question(node.sure_index(program)?)
    };
    let first = asked.first().and_then(|at| question(**at));
    let first = first.unwrap_or_else(|| "a question without words".to_owned());
    let asked = match asked.len() {
        0 => None,
        1 => Some(format!("waiting for an answer to: {first}")),
        many => Some(format!(
            "waiting for answers to {many} questions, the first: {first}"
        )),
    };
    let source = match asked {
        Some(_) => "question at every position",
        None => "pending gate at every position",
    };
    let gates = (!gates.is_empty()).then(|| waiting_in_words(&gates));
    let reasons: Vec<String> = gates.into_iter().chain(asked).collect();
    (!reasons.is_empty()).then(|| WaitReason {
        source,
        reason: reasons.join("; "),
    })
}

/// Whether at least one gate is decided and no gate is pending.
fn decided(nodes: &NodeSlice) -> bool {
    let mut decided = false;
    for node in nodes {
        if let NodeKind::Gate { .. } = node.kind {
            if node.status.is_open() {
                return false;
            }
            decided = true;
        }
    }
    decided
}

fn first_few(names: &[String]) -> String {
    let mut text = names.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > 5 {
        text.push_str(", …");
    }
    text
}

/// The record that contains a time.
enum From<'a> {
    Run,
    StateFile,
    Execution(i64),
    Binding(&'a str),
    Gate(&'a str),
    Audit(i64),
    Agent(&'a str),
}

/// The text of [`Verdict::last_sign_from`] for a time in the state file.
pub(crate) const STATE_FILE: &str = "state file";

/// Returns the latest time in any row of the run. Dates of files are ignored, because copies and checkouts reset
/// them. Agents of the project and the user are ignored, because other runs change these agents as well.
pub(crate) fn last_sign<'a>(run: &'a Run) -> Option<(Stamp, String)> {
    let mut latest: Option<(Stamp, From<'a>)> = None;
    let mut see = |stamp: &Option<Stamp>, from: From<'a>| {
        let before = latest.as_ref().and_then(|(best, _)| best.millis());
        if let Some(stamp) = stamp
            && stamp.millis() > before
        {
            latest = Some((stamp.clone(), from));
        }
    };
    // Of two equal times, the first is named as the source. A folder's run repeats the times of its state file, so the
    // state file comes first.
    if let Some(file) = &run.state_file {
        see(&file.started, From::StateFile);
        see(&file.updated, From::StateFile);
    }
    see(&run.started, From::Run);
    see(&run.updated, From::Run);
    for row in &run.executions {
        see(&row.started, From::Execution(row.id));
        see(&row.completed, From::Execution(row.id));
    }
    for binding in &run.bindings {
        see(&binding.created, From::Binding(&binding.name));
        see(&binding.updated, From::Binding(&binding.name));
    }
    for gate in &run.gates {
        see(&gate.created, From::Gate(&gate.id));
        see(&gate.resolved, From::Gate(&gate.id));
    }
    for event in &run.audit {
        see(&event.timestamp, From::Audit(event.id));
    }
    for agent in &run.agents {
        if agent.scope != AgentScope::Execution {
            continue;
        }
        see(&agent.updated, From::Agent(&agent.name));
        for segment in &agent.segments {
            see(&segment.timestamp, From::Agent(&agent.name));
        }
    }
    let (at, from) = latest?;
    let from = match from {
        From::Run if run.log.is_some() => "log".to_owned(),
        From::Run if matches!(run.form, Form::Folder { .. }) => STATE_FILE.to_owned(),
        From::Run => "run row".to_owned(),
        From::StateFile => STATE_FILE.to_owned(),
        From::Execution(id) => format!("execution {id}"),
        From::Binding(name) => format!("binding {name}"),
        From::Gate(id) => format!("gate {id}"),
        From::Audit(id) => format!("audit row {id}"),
        From::Agent(name) => format!("agent {name}"),
    };
    Some((at, from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Agent, Binding, BindingKind, ValueAt};

    fn agent(name: &str, scope: AgentScope, updated: &str) -> Agent {
        Agent {
            name: name.into(),
            scope,
            memory: ValueAt::Missing,
            created: None,
            updated: Some(Stamp::parse(updated)),
            segments: Vec::new(),
            store: "state.db".into(),
        }
    }

    fn sign(run: &Run) -> Option<(String, String)> {
        last_sign(run).map(|(at, from)| (at.to_string(), from))
    }

    #[test]
    fn the_last_sign_is_the_latest_time_of_any_row_in_any_form() {
        let mut run = Run {
            started: Some(Stamp::parse("2026-01-15T10:00:00Z")),
            updated: Some(Stamp::parse("soon")),
            touched: Some(Stamp::parse("2026-01-20 00:00:00")),
            ..Run::default()
        };
        let told = |at: &str, from: &str| Some((at.to_owned(), from.to_owned()));
        assert_eq!(sign(&run), told("2026-01-15T10:00:00Z", "run row"));
        run.bindings.push(Binding {
            name: "a".into(),
            execution_id: None,
            kind: BindingKind::Let,
            value: ValueAt::Missing,
            source: None,
            created: None,
            updated: Some(Stamp::parse("2026-01-15 12:30:00+02:00")),
            attachment: None,
            fields: Box::default(),
            tail_known: true,
            parent_execution_id: None,
            superseded: false,
        });
        assert_eq!(sign(&run), told("2026-01-15T10:30:00Z", "binding a"));
        run.agents = vec![
            agent("captain", AgentScope::Execution, "2026-01-15 11:00:00"),
            agent("advisor", AgentScope::Project, "2026-01-16 11:00:00"),
            agent("me", AgentScope::User, "2026-01-16 11:00:00"),
        ];
        assert_eq!(sign(&run), told("2026-01-15T11:00:00Z", "agent captain"));
    }

    #[test]
    fn the_date_of_a_file_is_no_sign_of_life() {
        let run = Run {
            touched: Some(Stamp::parse("2026-01-20 00:00:00")),
            ..Run::default()
        };
        assert_eq!(sign(&run), None);
    }

    #[test]
    fn an_end_is_believed_before_progress_and_the_later_end_before_the_earlier() {
        let claim = |status: &str, at: Option<&str>| {
            Claim::new(status, RunStatus::parse(status), at.map(Stamp::parse))
        };
        for (claims, expected) in [
            (vec![], None),
            (
                vec![claim("running", None), claim("waiting", None)],
                Some(0),
            ),
            (vec![claim("running", None), claim("failed", None)], Some(1)),
            (
                vec![claim("completed", None), claim("failed", None)],
                Some(0),
            ),
            (
                vec![
                    claim("completed", Some("2026-01-01")),
                    claim("failed", Some("2026-01-02")),
                ],
                Some(1),
            ),
            (
                vec![claim("interrupted", None), claim("completed", None)],
                Some(1),
            ),
        ] {
            assert_eq!(believed(&claims), expected, "{claims:?}");
        }
    }
}
