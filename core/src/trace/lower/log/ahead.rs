//! Collects facts about a log that need all lines: which line is the last of a frame, and which markers belong to one
//! loop.

use std::collections::BTreeMap;

use crate::model::{CompactLog, LogEvent, LogLine};

/// Facts that a first reading of the whole log collects.
pub(super) struct LogPreview {
    /// The last line that refers to each frame.
    last_of: BTreeMap<i64, usize>,
    /// The pass through a loop to which a `loop:` marker belongs, by line.
    pass_of: BTreeMap<usize, u32>,
    /// The line of the last marker of each pass.
    ends: Vec<usize>,
    /// The last line that joins a parallel block, by the line's frame and statement number.
    joins: BTreeMap<(Option<i64>, Option<u32>), usize>,
}

/// One pass through a loop, from its first `loop:` marker to its last.
struct Pass {
    id: u32,
    n: Option<u32>,
    max: Option<u32>,
}

impl LogPreview {
    pub(super) fn of(log: &CompactLog) -> LogPreview {
        let mut ahead = LogPreview {
            last_of: BTreeMap::new(),
            pass_of: BTreeMap::new(),
            ends: Vec::new(),
            joins: BTreeMap::new(),
        };
        // The loops that are running at the current line, by frame and branch.
        type Place<'l> = (Option<i64>, Option<&'l str>);
        let mut passes: BTreeMap<Place<'_>, Vec<Pass>> = BTreeMap::new();
        for (at, line) in log.lines.iter().enumerate() {
            if let Some(id) = line.frame {
                ahead.last_of.insert(id, at);
            }
            match &line.event {
                LogEvent::Join { .. } => {
                    ahead.joins.insert((line.frame, line.number), at);
                }
                LogEvent::Enter { id: Some(id), .. } => {
                    ahead.last_of.insert(*id, at);
                }
                LogEvent::Round { n, max, over, exit } => {
                    let around = passes
                        .entry((line.frame, line.branch.as_deref()))
                        .or_default();
                    // The number before the arrow does not identify a loop, because some writers number their lines.
                    let ends = *exit || *over;
                    let goes_on = |pass: &Pass| {
                        let rises = match (n, pass.n) {
                            (Some(n), Some(before)) => *n > before || (ends && *n == before),
                            _ => true,
                        };
                        rises && (max.is_none() || pass.max.is_none() || *max == pass.max)
                    };
                    match around.iter().rposition(goes_on) {
                        Some(found) => around.truncate(found + 1),
                        None => {
                            let id = u32::try_from(ahead.ends.len()).unwrap_or(u32::MAX);
                            ahead.ends.push(at);
                            around.push(Pass {
                                id,
                                n: None,
                                max: None,
                            });
                        }
                    }
                    let Some(pass) = around.last_mut() else {
                        continue;
                    };
                    pass.n = n.or(pass.n);
                    pass.max = max.or(pass.max);
                    ahead.pass_of.insert(at, pass.id);
                    if let Some(end) = ahead.ends.get_mut(pass.id as usize) {
                        *end = at;
                    }
                    if *exit {
                        around.pop();
                    }
                }
                _ => {}
            }
        }
        ahead
    }

    /// Whether a later line joins a parallel block with this line's number. If so, the letter in this line (`3a→`) is
    /// the name of a branch.
    pub(super) fn is_joined(&self, at: usize, line: &LogLine) -> bool {
        let last = self.joins.get(&(line.frame, line.number));
        line.number.is_some() && last.is_some_and(|last| *last > at)
    }

    /// Whether a line is the last line that refers to a frame.
    pub(super) fn is_last_of(&self, frame: i64, at: usize) -> bool {
        self.last_of.get(&frame).is_none_or(|last| *last <= at)
    }

    /// Returns the pass to which the marker at a line belongs, and the line of the pass's last marker.
    pub(super) fn pass(&self, at: usize) -> Option<(u32, usize)> {
        let pass = *self.pass_of.get(&at)?;
        Some((pass, *self.ends.get(pass as usize)?))
    }
}
