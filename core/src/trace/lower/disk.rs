//! Ties bindings on disk to the statements that wrote them, and finds outdated marks of a state file (errata T10).

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{Fact, LineEvidence};
use super::state::Evidence;
use crate::model::issue::{Issue, Severity};
use crate::model::{Binding, BindingKind, Run};
use crate::program::{Statement, StatementKind, TiedBy};
use crate::trace::NodeStatus;
use crate::trace::rows::Ledger;

/// Maximum number of bindings that one message lists by name.
const NAMED: usize = 5;

/// Contradictions between the state file and the bindings on disk.
#[derive(Debug, Default)]
pub(in crate::trace) struct Stale {
    /// The statements that the state file marks as running although bindings on disk prove that they are over.
    pub(in crate::trace) overruled: Vec<String>,
    /// The names of written bindings whose statement the state file does not mark.
    pub(in crate::trace) unmarked: Vec<String>,
    /// The rounds that have bindings on disk although the state file has not reached them.
    pub(in crate::trace) rounds: Vec<String>,
    /// The highest round that the state file records for the loops of `rounds`; 0 if the state file does not count
    /// rounds.
    pub(in crate::trace) reached: u32,
}

impl Stale {
    /// Whether any binding on disk is newer than the state file.
    pub(in crate::trace) fn any(&self) -> bool {
        !self.overruled.is_empty() || !self.unmarked.is_empty() || !self.rounds.is_empty()
    }
}

/// Written bindings, by the statement that wrote the binding and the id of the frame in which the statement ran. Each
/// binding comes with the evidence that this statement wrote it.
pub(in crate::trace) type WrittenBindings<'r> = BTreeMap<(u32, Option<i64>), (&'r Binding, TiedBy)>;

/// Ties written bindings to statements (errata E2): by the source that a binding's header quotes, otherwise by a name
/// that only one statement binds.
pub(in crate::trace) fn written<'r>(run: &'r Run, facts: &LineEvidence<'_>) -> WrittenBindings<'r> {
    let mut binders: BTreeMap<(&str, bool), Vec<u32>> = BTreeMap::new();
    // The binding of an input is not written by a statement of the program.
    let wrote = |statement: &Statement| statement.kind != StatementKind::Input;
    for (at, statement) in (0_u32..).zip(&facts.listing.statements) {
        if let (Some(name), Some(fact), true) = (statement.bound(), facts.get(at), wrote(statement))
        {
            let of = binders.entry((name, fact.block.is_some())).or_default();
            of.push(at);
        }
    }
    let mut ties = facts.listing.ties();
    let mut found = BTreeMap::new();
    let all = run.bindings.iter().filter(|b| b.is_written());
    for binding in all.filter(|b| b.kind != BindingKind::Input) {
        let frame = binding.execution_id;
        let binders = binders.get(&(&*binding.name, frame.is_some()));
        let binders = binders.map_or(&[][..], Vec::as_slice);
        let first = binding.first_line();
        let source = binding.source.as_deref().unwrap_or_default();
        let quoted = facts.listing.quoted(binders.iter().copied(), source);
        let one = match (quoted, binders) {
            (Some(one), _) => Some((one, TiedBy::Text)),
            // If several statements bind the name, the writer is unknown.
            (_, [one]) => Some((*one, TiedBy::Name)),
            (_, []) if frame.is_none() => first
                .and_then(|first| ties.tie(first, None))
                .filter(|tie| !tie.guessed && facts.statement(tie.statement).is_some_and(wrote))
                .map(|tie| (tie.statement, tie.by)),
            _ => None,
        };
        if let Some((statement, by)) = one {
            found.insert((statement, frame), (binding, by));
        }
    }
    found
}

/// Marks statements whose binding is written as completed, and reports contradicting marks of the state file.
pub(in crate::trace) fn compare(
    run: &Run,
    told: &mut Evidence<'_, '_>,
    ledger: &mut Ledger,
) -> Stale {
    let Evidence {
        facts,
        frames,
        written,
        ..
    } = told;
    let mut stale = Stale::default();
    let mut last = rounds(run, facts, &mut stale, ledger);
    for (&(at, frame), &(binding, by)) in &*written {
        let (Some(statement), Some(fact)) = (facts.statement(at), facts.get(at)) else {
            continue;
        };
        // Marks inside a block's body refer to the innermost frame that runs the block, not to earlier frames.
        let spoken_of = match fact.block {
            None => frame.is_none(),
            Some(block) => frame.is_some() && frames.innermost(block).map(|f| f.id) == frame,
        };
        let settled = fact.is_over() || fact.is_in_other_words();
        if !spoken_of || !statement.kind.runs() || settled || !proves(facts, fact) {
            continue;
        }
        let marked = fact.status.clone();
        if let Some(fact) = facts.of.get_mut(at as usize) {
            fact.status = Some(NodeStatus::Completed);
            if marked.is_none() {
                (fact.derived, fact.by) = (true, Some(by));
            }
            fact.ahead = false;
        }
        match marked {
            Some(marker) => {
                let but = format!("its binding {} is written", binding.name);
                overrule(run, statement, &marker, &but, &mut stale, ledger);
            }
            None => {
                stale.unmarked.push(binding.name.to_string());
                if frame.is_none() && last.is_none_or(|(last, _)| last < at) {
                    last = Some((at, binding));
                }
            }
        }
    }
    if let Some(last) = last {
        complete_earlier(run, facts, last, &mut stale, ledger);
    }
    unmarked(run, &stale.unmarked, ledger);
    stale
}

/// Reports written bindings that no other record mentions. The message contains no number, because rounds and frames
/// may have written further bindings.
pub(in crate::trace) fn unmarked(run: &Run, names: &[String], ledger: &mut Ledger) {
    // If part of the log is encrypted, the missing records may be in that part.
    let is_readable = run.state_file.is_some() || run.log.as_ref().is_some_and(|log| !log.sealed);
    if names.is_empty() || !is_readable {
        return;
    }
    let (file, teller) = recording_file(run);
    ledger.note(Severity::Warning, "state-file-behind", || {
        let message = match names {
            [one] => format!("the binding {one} is written, but the {teller} does not mark its statement as run"),
            names => {
                let first = names.iter().take(NAMED).map(String::as_str);
                let first = first.collect::<Vec<_>>().join(", ");
                let more = if names.len() > NAMED {
                    " and others"
                } else {
                    ""
                };
                format!(
                    "the bindings {first}{more} are written, but the {teller} does not mark their statements as run"
                )
            }
        };
        Issue::noted("", message)
            .at_file(file)
            .hint("The statements are shown as completed, because only a completed statement writes its binding.")
    });
}

/// Marks earlier running statements as completed once a later statement has written a binding, because statements run
/// in order. Statements in the same construct as the later statement are left out, because they may run in parallel or
/// in another round.
fn complete_earlier(
    run: &Run,
    facts: &mut LineEvidence<'_>,
    (last, binding): (u32, &Binding),
    stale: &mut Stale,
    ledger: &mut Ledger,
) {
    let mut tops: Vec<u32> = Vec::with_capacity(facts.of.len());
    for (at, statement) in (0_u32..).zip(&facts.listing.statements) {
        let top = statement.parent.and_then(|p| tops.get(p as usize));
        tops.push(top.copied().unwrap_or(at));
    }
    let top = tops.get(last as usize).copied().unwrap_or(last);
    let statements = facts.listing.statements.iter().zip(&tops);
    for ((statement, own), fact) in statements.zip(&mut facts.of) {
        let kept = statement.kind == StatementKind::Gate || fact.is_in_other_words();
        let marker = fact.status.clone().filter(NodeStatus::is_open);
        let Some(marker) = marker.filter(|_| *own < top && fact.block.is_none() && !kept) else {
            continue;
        };
        fact.status = Some(NodeStatus::Completed);
        fact.derived = true;
        let but = format!(
            "the binding {} of a later statement is written",
            binding.name
        );
        overrule(run, statement, &marker, &but, stale, ledger);
    }
}

/// Reports a binding on disk that contradicts a statement's mark in the state file.
fn overrule(
    run: &Run,
    statement: &Statement,
    marker: &NodeStatus,
    but: &str,
    stale: &mut Stale,
    ledger: &mut Ledger,
) {
    stale.overruled.push(format!("`{}`", statement.text));
    ledger.note(Severity::Warning, "marker-contradicts-disk", || {
        let message = format!("`{}` is marked {}, but {but}", statement.text, marker.word());
        Issue::noted("", message)
            .at_file(recording_file(run).0)
            .hint("The statement is shown as completed, because a binding on disk counts more than a mark.")
    });
}

/// Returns the file that records the run, and its name for users.
fn recording_file(run: &Run) -> (String, &'static str) {
    match &run.log {
        Some(log) if run.state_file.is_none() => (log.file.to_string(), "log"),
        _ => ("state.md".to_owned(), "state file"),
    }
}

/// Whether a binding on disk proves that the statement's current execution is over. In a loop, the binding may come
/// from an earlier round.
fn proves(facts: &LineEvidence<'_>, fact: &Fact) -> bool {
    let Some(inside) = fact.in_loop.and_then(|l| facts.get(l)) else {
        return true;
    };
    match (&fact.status, inside.round) {
        _ if inside.is_over() => true,
        // The statement is marked as running, so it runs again and the binding is from an earlier round.
        (Some(_), _) => false,
        (None, Some(round)) => round <= 1,
        (None, None) => true,
    }
}

/// Returns, by loop and round, the statements outside of blocks that have a binding named after a round, such as
/// `verify_round2`.
pub(super) fn in_rounds(
    run: &Run,
    facts: &LineEvidence<'_>,
) -> BTreeMap<(u32, u32), BTreeSet<u32>> {
    let mut names: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for binding in run.bindings.iter().filter(|b| b.is_written()) {
        if let (Some((base, round)), None) = (round_of(binding), binding.execution_id) {
            names.entry(base).or_default().insert(round);
        }
    }
    let mut of: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
    for (at, statement) in (0_u32..).zip(&facts.listing.statements) {
        let rounds = statement.bound().and_then(|name| names.get(name));
        let fact = facts.get(at).filter(|fact| fact.block.is_none());
        if let (Some(rounds), Some(looped)) = (rounds, fact.and_then(|fact| fact.in_loop)) {
            for round in rounds {
                of.entry((looped, *round)).or_default().insert(at);
            }
        }
    }
    of
}

/// Finds bindings of a later round than the state file records, such as `verify_round4` at round 1. Returns the last
/// statement outside of blocks that wrote such a binding, and the binding.
fn rounds<'r>(
    run: &'r Run,
    facts: &mut LineEvidence<'_>,
    stale: &mut Stale,
    ledger: &mut Ledger,
) -> Option<(u32, &'r Binding)> {
    let mut names: BTreeMap<&str, (u32, &Binding)> = BTreeMap::new();
    for binding in run.bindings.iter().filter(|b| b.is_written()) {
        if let Some((base, round)) = round_of(binding) {
            let known = names.entry(base).or_insert((round, binding));
            if round > known.0 {
                *known = (round, binding);
            }
        }
    }
    let mut last = None;
    if names.is_empty() {
        return last;
    }
    for (at, statement) in (0_u32..).zip(&facts.listing.statements) {
        let Some(&(round, binding)) = statement.name.as_deref().and_then(|n| names.get(n)) else {
            continue;
        };
        let own = facts.get(at);
        let at_root = own.is_some_and(|own| own.block.is_none());
        let Some(inside) = own.and_then(|own| own.in_loop) else {
            continue;
        };
        let Some(fact) = facts.of.get_mut(inside as usize) else {
            continue;
        };
        let recorded = fact.round.unwrap_or(0);
        if round <= recorded {
            continue;
        }
        let name = &binding.name;
        if at_root {
            last = Some((at, binding));
        }
        fact.round = Some(round);
        fact.ahead = false;
        if fact.status.is_none() {
            fact.status = Some(NodeStatus::Started);
            fact.derived = true;
        }
        let (file, teller) = recording_file(run);
        if run.state_file.is_some() || run.log.is_some() {
            stale.rounds.push(format!("round {round} ({name})"));
            stale.reached = stale.reached.max(recorded);
            ledger.note(Severity::Warning, "round-behind-disk", || {
                let message = match recorded {
                    0 => format!(
                        "the {teller} does not count the rounds of a loop, but the binding {name} of a round is written"
                    ),
                    n => format!("the {teller} is at round {n} of a loop, but the binding {name} of a later round is written"),
                };
                Issue::noted("", message).at_file(file).hint(format!(
                    "The loop is shown in round {round}, because a binding on disk counts more than the {teller}."
                ))
            });
        }
    }
    last
}

/// Returns the base name and the round of a binding that is named after a round of a loop: `verify_round2_final` is
/// `verify` in round 2. Returns `None` if the binding's header quotes a source that binds another name.
pub(crate) fn round_of(binding: &Binding) -> Option<(&str, u32)> {
    let (base, round) = named_round(&binding.name)?;
    let binds = |line: &str| {
        let listing = crate::program::scan(line);
        let statement = listing.statements.first();
        statement.and_then(|s| s.bound()) == Some(base)
    };
    let said = binding.first_line().is_none_or(binds);
    said.then_some((base, round))
}

/// Splits a binding's name into its base and the round: `verify_round2` into `verify` and 2.
pub(crate) fn named_round(name: &str) -> Option<(&str, u32)> {
    let (base, rest) = name.split_once("_round")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let round = rest.get(..digits)?.parse().ok()?;
    (!base.is_empty()).then_some((base, round))
}
