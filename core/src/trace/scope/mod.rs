//! Resolves a name to a binding. The search begins in a frame, continues in each enclosing frame, and ends at the root.
//!
//! Sources: sqlite.md "Scope Resolution Query", filesystem.md "Scoped Bindings"; errata B1–B5, B12.

mod parents;
mod reasons;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::issue::Issue;
use crate::model::{Binding, Form, Run};
use crate::trace::{Trace, named_round, round_of};

use parents::{instance, nearest, way};

/// The binding that a name means in a frame, and why.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    /// The name that was resolved.
    pub name: String,
    /// The frame from which the name was resolved; `None` is the root.
    pub from: Option<i64>,
    /// Index of the winning binding in [`Run::bindings`].
    pub winner: Option<usize>,
    /// Every binding of that name in the run, in this order: the winner, other bindings in reach by distance, bindings
    /// at the root, bindings out of reach.
    pub candidates: Vec<Candidate>,
    /// The ids of the searched scopes, from the starting execution outward, without the root. A scope is a frame, or
    /// another execution that some binding records as its frame.
    pub chain: Vec<i64>,
    /// Faults that changed the search: a cycle, an unknown frame, a missing parent (errata B2, B3).
    pub issues: Vec<Issue>,
}

/// A binding that has the resolved name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Index into [`Run::bindings`].
    pub binding: usize,
    /// The frame of the binding; `None` is the root.
    pub execution_id: Option<i64>,
    /// The number of steps from the starting frame up the chain; 0 is that frame itself. `None` for the root and for
    /// bindings out of reach.
    pub distance: Option<u32>,
    /// Whether the name means this binding, or why not.
    pub outcome: Outcome,
    /// The reason for the outcome, in one sentence.
    pub reason: String,
}

/// Whether a candidate won, or why it lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The name means this binding.
    Wins,
    /// The binding is in reach, but another binding is nearer.
    Shadowed,
    /// The binding's frame is not on the way from the starting frame to the root.
    OutOfReach,
    /// A later row has the same name and frame (errata S2).
    Superseded,
}

/// Resolves a name from a frame (`None`: from the root; errata B5).
///
/// `from` may be the id of any row of an execution, because all of these rows mean the same frame (errata T3). Chains
/// of 100,000 frames are legal, so the walk does not recurse and its cost is linear.
pub fn resolve(run: &Run, trace: &Trace, name: &str, from: Option<i64>) -> Resolution {
    let mut issues = Vec::new();
    let mut scopes = BTreeSet::new();
    let found = candidates(run, name, trace, &mut scopes, &mut issues);
    let way = from.map(|from| way(run, trace, from, &scopes));
    let way = way.unwrap_or_default();

    // Groups candidates by frame, so that one walk along the chain is enough.
    let mut places = places(&found, trace);
    let mut reach: BTreeMap<Option<i64>, u32> = BTreeMap::new();
    for (distance, id) in (0u32..).zip(&way.chain) {
        if places.contains_key(&Some(*id)) {
            reach.entry(Some(*id)).or_insert(distance);
        }
    }
    let known = |id: i64| trace.of_row(id).is_some() || from == Some(id);
    if let Some(id) = from
        && trace.of_row(id).is_none()
        && !places.contains_key(&Some(id))
    {
        issues.push(reasons::unknown_frame(id));
    }
    issues.extend(way.bend.map(|bend| reasons::bent(bend, from)));

    let nearest = reach.iter().min_by_key(|(_, d)| **d);
    let winning = match nearest {
        Some((place, _)) => Some(*place),
        None => places.contains_key(&None).then_some(None),
    };
    let mut candidates = Vec::with_capacity(found.len());
    for (place, mut bindings) in std::mem::take(&mut places) {
        // The last row that is not marked as superseded wins its frame (errata S2).
        let Some(current) = current(run, bindings.iter().copied()) else {
            continue;
        };
        bindings.retain(|at| *at != current);
        let distance = place.and_then(|_| reach.get(&place).copied());
        let in_reach = place.is_none() || distance.is_some();
        let outcome = match (Some(place) == winning, in_reach) {
            (true, _) => Outcome::Wins,
            (false, true) => Outcome::Shadowed,
            (false, false) => Outcome::OutOfReach,
        };
        let asked = reasons::ReasonFacts {
            name,
            from,
            way: &way,
            trace,
            winning: winning.flatten(),
            place,
            distance,
        };
        let mut push = |binding: usize, outcome, reason| {
            candidates.push(Candidate {
                binding,
                execution_id: run.bindings.get(binding).and_then(|b| b.execution_id),
                distance,
                outcome,
                reason,
            });
        };
        let exists = place.is_none_or(known);
        push(current, outcome, asked.reason(outcome, exists));
        for earlier in bindings.into_iter().rev() {
            push(earlier, Outcome::Superseded, asked.superseded());
        }
    }
    candidates.sort_by_key(|c| {
        let group = match (c.outcome, c.distance, c.execution_id) {
            (Outcome::Wins, ..) => 0,
            (_, Some(_), _) => 1,
            (_, None, None) => 2,
            _ => 3,
        };
        (group, c.distance, c.outcome == Outcome::Superseded)
    });
    Resolution {
        name: name.to_owned(),
        from,
        winner: candidates
            .first()
            .filter(|c| c.outcome == Outcome::Wins)
            .map(|c| c.binding),
        candidates,
        chain: way.chain,
        issues,
    }
}

/// Returns the index in [`Run::bindings`] of the winner of [`resolve`], without computing the reasons.
///
/// Reads only the bindings of that name, and stops at the first frame that has such a binding.
pub fn winner(run: &Run, trace: &Trace, name: &str, from: Option<i64>) -> Option<usize> {
    let found = named(run, name);
    let mut places: Vec<i64> = found
        .iter()
        .filter_map(|(_, frame)| Some(instance(trace, (*frame)?)))
        .collect();
    places.sort_unstable();
    let place = from
        .filter(|_| !places.is_empty())
        .and_then(|from| nearest(run, trace, from, |id| places.binary_search(&id).is_ok()));
    let there = |frame: Option<i64>| match (frame, place) {
        (Some(id), Some(place)) => id == place || instance(trace, id) == place,
        (frame, place) => frame == place,
    };
    let there = |at: &&(usize, Option<i64>)| there(at.1);
    current(run, found.iter().filter(there).map(|(at, _)| *at))
}

/// Returns the row that counts among `claims`, which are rows with the same name and frame: the last row that is not
/// marked as superseded (errata S2).
fn current(run: &Run, claims: impl DoubleEndedIterator<Item = usize> + Clone) -> Option<usize> {
    let marked = |at: &usize| run.bindings.get(*at).is_some_and(|b| b.superseded);
    let last = claims.clone().next_back();
    claims.rev().find(|at| !marked(at)).or(last)
}

/// Returns the bindings that a name may mean, and adds the frames of all bindings to `scopes`.
fn candidates(
    run: &Run,
    name: &str,
    trace: &Trace,
    scopes: &mut BTreeSet<i64>,
    issues: &mut Vec<Issue>,
) -> Vec<(usize, Option<i64>)> {
    let mut last = None;
    for binding in &run.bindings {
        // Bindings of one frame are mostly adjacent. Comparing with the previous binding's frame avoids most lookups.
        if binding.execution_id != last {
            last = binding.execution_id;
            scopes.extend(last.map(|id| instance(trace, id)));
        }
    }
    let found = named(run, name);
    if found.is_empty() {
        issues.extend(in_import(run, name));
    }
    found
}

/// Returns the bindings of a name with their frames, in store order. If there are none, returns the bindings that loop
/// rounds wrote, such as `draft_round2` for `draft`, in order of the round.
fn named(run: &Run, name: &str) -> Vec<(usize, Option<i64>)> {
    let all = || run.bindings.iter().enumerate();
    let exact: Vec<_> = all()
        .filter(|(_, binding)| *binding.name == *name)
        .map(|(at, binding)| (at, binding.execution_id))
        .collect();
    if !exact.is_empty() {
        return exact;
    }
    let of_round = |(at, binding): (usize, &Binding)| {
        // Compares the names first, because `round_of` scans the source in the binding's header, which is slow.
        named_round(&binding.name).filter(|(base, _)| *base == name)?;
        let (_, round) = round_of(binding)?;
        Some((round, at, binding.execution_id))
    };
    let mut rounds: Vec<_> = all().filter_map(of_round).collect();
    rounds.sort_unstable();
    if rounds.is_empty() {
        return of_node(run, name);
    }
    rounds
        .into_iter()
        .map(|(_, at, frame)| (at, frame))
        .collect()
}

/// Returns the only binding of a node or service whose last part is the name: `researcher/findings` for `findings`. If
/// several nodes have such a binding, none is meant. Only folders name values after nodes.
fn of_node(run: &Run, name: &str) -> Vec<(usize, Option<i64>)> {
    if !matches!(run.form, Form::Folder { .. }) {
        return Vec::new();
    }
    let is_named = |b: &Binding| {
        b.name
            .rsplit_once('/')
            .is_some_and(|(_, last)| last == name)
    };
    let own = run.bindings.iter().enumerate();
    let mut own = own.filter(|(_, binding)| is_named(binding));
    match (own.next(), own.next()) {
        (Some((at, only)), None) => vec![(at, only.execution_id)],
        _ => Vec::new(),
    }
}

/// Returns a note if a dotted name such as `research.findings` may mean the binding `findings` of the import `research`
/// (errata B12). Such a binding is in the import's own run, which
/// [`Session::in_import`](crate::pages::session::Session::in_import) opens.
fn in_import(run: &Run, name: &str) -> Option<Issue> {
    let (handle, inner) = name.split_once('.')?;
    let import = run.imports.iter().find(|i| *i.alias == *handle)?;
    Some(reasons::in_import(handle, inner, import.nested.as_deref()?))
}

/// Groups candidates by the first row of their frame's execution; the key `None` is the root.
fn places(found: &[(usize, Option<i64>)], trace: &Trace) -> BTreeMap<Option<i64>, Vec<usize>> {
    let mut places: BTreeMap<Option<i64>, Vec<usize>> = BTreeMap::new();
    for (at, frame) in found {
        places
            .entry(frame.map(|id| instance(trace, id)))
            .or_default()
            .push(*at);
    }
    places
}
