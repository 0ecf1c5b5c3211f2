//! What later lines of a log tell of earlier ones: when a frame is left, which markers belong to one pass of a loop.

use std::collections::BTreeMap;

use crate::model::{CompactLog, LogEvent};

/// What is known from reading the whole log once.
pub(super) struct Ahead {
    /// Lines that leave a frame, by its id.
    leaves: BTreeMap<i64, Vec<usize>>,
    /// The last line that speaks of a frame.
    last_of: BTreeMap<i64, usize>,
    /// The pass that a `loop:` marker belongs to, by line.
    pass_of: BTreeMap<usize, u32>,
    /// The last marker of each pass.
    ends: Vec<usize>,
}

/// A pass of a loop while its markers go by.
struct Pass {
    id: u32,
    n: u32,
    left: bool,
}

impl Ahead {
    pub(super) fn of(log: &CompactLog) -> Ahead {
        let mut ahead = Ahead {
            leaves: BTreeMap::new(),
            last_of: BTreeMap::new(),
            pass_of: BTreeMap::new(),
            ends: Vec::new(),
        };
        // By frame, branch and number.
        type Place<'l> = (Option<i64>, Option<&'l str>, Option<u32>);
        let mut passes: BTreeMap<Place<'_>, Pass> = BTreeMap::new();
        for (at, line) in log.lines.iter().enumerate() {
            if let Some(id) = line.frame {
                ahead.last_of.insert(id, at);
            }
            match &line.event {
                LogEvent::Leave { .. } => {
                    if let Some(id) = line.frame {
                        ahead.leaves.entry(id).or_default().push(at);
                    }
                }
                LogEvent::Enter {
                    id: Some(id),
                    status,
                    ..
                } => {
                    ahead.last_of.insert(*id, at);
                    if status
                        .as_ref()
                        .is_some_and(crate::model::Status::is_terminal)
                    {
                        ahead.leaves.entry(*id).or_default().push(at);
                    }
                }
                LogEvent::Round { n, exit, .. } => {
                    let key = (line.frame, line.branch.as_deref(), line.number);
                    let goes_on = passes
                        .get(&key)
                        .is_some_and(|pass| !pass.left && n.is_none_or(|n| n >= pass.n));
                    if !goes_on {
                        let id = u32::try_from(ahead.ends.len()).unwrap_or(u32::MAX);
                        passes.insert(
                            key,
                            Pass {
                                id,
                                n: 0,
                                left: false,
                            },
                        );
                        ahead.ends.push(at);
                    }
                    if let Some(pass) = passes.get_mut(&key) {
                        pass.n = n.unwrap_or(pass.n);
                        pass.left = *exit;
                        ahead.pass_of.insert(at, pass.id);
                        if let Some(end) = ahead.ends.get_mut(pass.id as usize) {
                            *end = at;
                        }
                    }
                }
                _ => {}
            }
        }
        ahead
    }

    /// The next line behind `at` that leaves a frame.
    pub(super) fn left_at(&self, frame: i64, at: usize) -> Option<usize> {
        let leaves = self.leaves.get(&frame)?;
        leaves
            .get(leaves.partition_point(|line| *line < at))
            .copied()
    }

    /// Whether no later line speaks of a frame.
    pub(super) fn is_last_of(&self, frame: i64, at: usize) -> bool {
        self.last_of.get(&frame).is_none_or(|last| *last <= at)
    }

    /// The pass of the marker at a line, and the last marker of it.
    pub(super) fn pass(&self, at: usize) -> Option<(u32, usize)> {
        let pass = *self.pass_of.get(&at)?;
        Some((pass, *self.ends.get(pass as usize)?))
    }
}
