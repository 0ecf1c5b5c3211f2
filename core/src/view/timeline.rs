use serde::{Deserialize, Serialize};

use super::NodeRef;
use crate::time::Stamp;

/// When each row of the trace was worked on.
///
/// Places on the axis are milliseconds of drawn time from its beginning: idle time is drawn shorter than it was.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Timeline {
    /// The first time that is recorded; `None`: none is.
    pub from: Option<Stamp>,
    /// The last one.
    pub until: Option<Stamp>,
    /// From the first to the last, in words.
    pub took: Option<String>,
    /// The length of the axis.
    pub len: u64,
    /// Idle times that are drawn short, in order.
    pub gaps: Vec<Gap>,
    /// The rows with times, in the order of the trace.
    pub bars: Vec<Bar>,
    /// Rows without any time.
    pub untimed: u32,
    /// The statements that took longest, the longest first.
    pub longest: Vec<Longest>,
    /// How much was worked on along the axis, in parts of equal length; empty where a run has at most 2,000 rows.
    pub dense: Vec<Dense>,
    /// Nothing ran beside anything else: the run's end waited for every row. `None`: branches without times leave it open.
    pub sequential: Option<bool>,
}

impl Timeline {
    /// The bar of a row, by its place in the trace.
    pub fn bar(&self, node: u32) -> Option<&Bar> {
        let at = self.bars.binary_search_by_key(&node, |bar| bar.node).ok()?;
        self.bars.get(at)
    }

    /// The time that had passed since the first one at a place on the axis, in milliseconds.
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

/// A stretch in which nothing was worked on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Gap {
    /// Where it begins on the axis.
    pub at: u64,
    /// How long it is drawn.
    pub drawn: u64,
    /// When it began.
    pub from: Stamp,
    /// How long it was, in milliseconds.
    pub len_ms: u64,
    /// The same in words.
    pub len: String,
}

/// How much was worked on in a part of the axis.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Dense {
    /// How many statements, in percent of the part with the most.
    pub busy: u8,
    /// A statement failed in it.
    pub failed: bool,
}

/// When a row was worked on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Bar {
    /// The row, by its place in the trace.
    pub node: u32,
    /// Where it begins on the axis.
    pub from: u64,
    /// Where it ends.
    pub until: u64,
    /// What is known of its end.
    pub end: BarEnd,
    /// The run's end waited for it.
    pub critical: bool,
}

/// What is known of the end of a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum BarEnd {
    /// It is recorded.
    Recorded,
    /// It is that of what lies in the row.
    Inner,
    /// It did not end: the bar reaches to the run's last sign of life.
    Open,
    /// It is not recorded: the bar is the moment at which it began.
    Unknown,
}

/// A statement that took long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Longest {
    /// The statement.
    pub node: NodeRef,
    /// How long, in words.
    pub took: String,
    /// The same in milliseconds.
    pub took_ms: i64,
}
