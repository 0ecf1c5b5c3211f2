//! Defines the JSON of a run's timeline: when each row of the trace was running.

use serde::{Deserialize, Serialize};

use super::NodeRef;
use crate::model::time::Stamp;

/// The times at which each row of the trace was running.
///
/// Positions on the axis are milliseconds of drawn time since the beginning. Idle time is drawn shorter than it was.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Timeline {
    /// The first recorded time; `None` if no time is recorded.
    pub from: Option<Stamp>,
    /// The last recorded time; `None` if no time is recorded.
    pub until: Option<Stamp>,
    /// The time from the first recorded time to the last recorded time, in words; `None` if no time is recorded.
    pub took: Option<String>,
    /// The length of the axis, in milliseconds of drawn time.
    pub len: u64,
    /// Idle times that are drawn shorter, in order.
    pub gaps: Vec<Gap>,
    /// The rows with times, in the order of the trace.
    pub bars: Vec<Bar>,
    /// How many rows have no time.
    pub untimed: u32,
    /// The statements that took longest, the longest first.
    pub longest: Vec<Longest>,
    /// The load along the axis, in parts of equal length; empty for a run with at most 2,000 rows.
    pub dense: Vec<Dense>,
    /// Whether no two statements ran at the same time. The run's end then waited for every row. `None` if that is
    /// unknown, because branches have no times.
    pub sequential: Option<bool>,
}

impl Timeline {
    /// Returns the bar of a row, given the row's index in the trace.
    pub fn bar(&self, node: u32) -> Option<&Bar> {
        let at = self.bars.binary_search_by_key(&node, |bar| bar.node).ok()?;
        self.bars.get(at)
    }

    /// Returns the real time between the first recorded time and a position on the axis, in milliseconds.
    pub fn passed(&self, place: u64) -> u64 {
        let mut passed = place;
        for gap in self.gaps.iter().filter(|gap| gap.at < place) {
            let inside = place.saturating_sub(gap.at).min(gap.drawn);
            let share = u128::from(inside) * u128::from(gap.len_ms) / u128::from(gap.drawn.max(1));
            passed = passed.saturating_sub(inside).saturating_add(share as u64);
        }
        passed
    }
}

/// An idle time in which no statement was running.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Gap {
    /// Where the idle time begins on the axis.
    pub at: u64,
    /// The length of the idle time as drawn on the axis.
    pub drawn: u64,
    /// When the idle time began.
    pub from: Stamp,
    /// The real length, in milliseconds.
    pub len_ms: u64,
    /// The real length in words.
    pub len: String,
}

/// The load in a part of the axis.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Dense {
    /// How many statements were running, in percent of the busiest part.
    pub busy: u8,
    /// Whether a statement failed in this part.
    pub failed: bool,
}

/// The time during which a row was running.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Bar {
    /// The index in the trace of the row that the bar shows.
    pub node: u32,
    /// Where the bar begins on the axis.
    pub from: u64,
    /// Where the bar ends on the axis.
    pub until: u64,
    /// How the end of the bar is known.
    pub end: BarEnd,
    /// Whether the run's end waited for this row.
    pub critical: bool,
}

/// How the end of a bar is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum BarEnd {
    /// The row's end is recorded.
    Recorded,
    /// The end is taken from the rows inside of this row.
    Inner,
    /// The row did not end; its bar reaches to the run's last sign of life.
    Open,
    /// The end is not recorded; the bar only marks the moment of the beginning.
    Unknown,
}

/// One of the statements that took longest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Longest {
    /// The statement that took long.
    pub node: NodeRef,
    /// The duration in words.
    pub took: String,
    /// The duration in milliseconds.
    pub took_ms: i64,
}
