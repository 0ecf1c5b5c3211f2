//! Computes the load along the timeline's axis, as a summary of a run with more rows than a screen shows.

use super::{Axis, Spans};
use crate::pages::session::Opened;
use crate::pages::view::Dense;
use crate::trace::{NodeId, NodeStatus};

/// The largest number of rows for which no summary is made.
const ROWS: usize = 2_000;

/// The number of parts into which the axis is divided.
const PARTS: usize = 160;

/// Returns the load in each part of the axis; empty for a run with few rows.
pub(super) fn dense(
    opened: &Opened,
    innermost: &[NodeId],
    spans: &Spans,
    axis: &Axis,
    len: u64,
) -> Vec<Dense> {
    if spans.len() <= ROWS {
        return Vec::new();
    }
    let part = |time: i64| {
        let place = u128::from(axis.at(time)) * PARTS as u128 / u128::from(len.max(1));
        (place as usize).min(PARTS - 1)
    };
    // Counts for each part the nodes that begin in it, minus those that ended in the part before.
    let mut change = [0_i64; PARTS + 1];
    let mut failed = [false; PARTS];
    for at in innermost {
        let Some(span) = spans.get(*at).copied().flatten() else {
            continue;
        };
        let (from, until) = (part(span.from), part(span.until));
        if let Some(change) = change.get_mut(from) {
            *change += 1;
        }
        if let Some(change) = change.get_mut(until + 1) {
            *change -= 1;
        }
        let node = opened.trace.nodes.get(*at);
        let is_failed = node.is_some_and(|node| node.status == NodeStatus::Failed);
        if let Some(failed) = failed.get_mut(until).filter(|_| is_failed) {
            *failed = true;
        }
    }
    let counts = change.iter().scan(0_i64, |now, change| {
        *now += change;
        Some(*now)
    });
    let counts: Vec<i64> = counts.take(PARTS).collect();
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let percent = |count: i64| u8::try_from((count * 100 + most - 1) / most).unwrap_or(100);
    let parts = counts.into_iter().zip(failed);
    parts
        .map(|(count, failed)| Dense {
            busy: percent(count),
            failed,
        })
        .collect()
}
