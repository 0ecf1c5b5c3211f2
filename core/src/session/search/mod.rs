//! Looks for a text in everything that a run holds, step by step.
//!
//! ```text
//! Search::new ──► step, step, step … (each reads a piece of a value, or a few small ones) ──► Search::found
//! ```
//!
//! What an opened run holds (statements, errors, prompts, gates, names) is looked through by the first step. Values and
//! memories are read by those that follow, piece by piece, then the rows of tables unknown to OpenProse; the caller asks for each step and may stop at any. Rows are walked
//! from their beginning, so the steps through one large value grow: each reads as much as was read of it before.

mod held;
mod needle;
mod tables;
mod values;

use std::collections::VecDeque;

use super::Session;
use crate::view::{Hit, HitGroup, HitKind, SearchedRun, SkippedValue};
use needle::Scan;
pub use needle::{EmptyText, Match, Needle};
use tables::Window;
use values::{Job, Reading};

/// Hits of a kind that are listed, and of one place; values that are named as not searched.
const HITS: usize = 50;
const HITS_OF_PLACE: u32 = 5;
const SKIPPED: usize = 20;

/// A search through one run.
pub struct Search {
    needle: Needle,
    begun: bool,
    jobs: VecDeque<Job>,
    reading: Option<Reading>,
    tables: VecDeque<Window>,
    found: Found,
}

/// What was found so far.
#[derive(Default)]
struct Found {
    groups: Vec<HitGroup>,
    read: u64,
    of: u64,
    skipped: Vec<SkippedValue>,
    more_skipped: u32,
}

impl Search {
    /// Prepares a search; nothing is read yet.
    pub fn new(session: &Session, needle: &Needle) -> Search {
        let (jobs, of) = values::jobs(session);
        Search {
            needle: needle.clone(),
            begun: false,
            jobs,
            reading: None,
            tables: tables::windows(session),
            found: Found {
                of,
                ..Found::default()
            },
        }
    }

    /// Goes on, with the session that the search was made of; whether there is more to do.
    pub fn step(&mut self, session: &Session) -> bool {
        if !self.begun {
            self.begun = true;
            held::look(session, &self.needle, &mut self.found);
        } else if !self.jobs.is_empty() || self.reading.is_some() {
            values::step(self, session);
        } else {
            tables::step(self, session);
        }
        !self.is_done()
    }

    /// Whether nothing is left to look through.
    pub fn is_done(&self) -> bool {
        self.begun && self.jobs.is_empty() && self.reading.is_none() && self.tables.is_empty()
    }

    /// Bytes of values that were read, and of how many; a value that turns out to be no text counts as read.
    pub fn progress(&self) -> (u64, u64) {
        (self.found.read, self.found.of)
    }

    /// What was found so far.
    pub fn found(&self, run: &str) -> SearchedRun {
        let found = &self.found;
        SearchedRun {
            run: run.to_owned(),
            error: None,
            groups: found.groups.clone(),
            read: found.read,
            of: found.of,
            done: self.is_done(),
            skipped: found.skipped.clone(),
            more_skipped: found.more_skipped,
        }
    }
}

impl Found {
    /// Adds a line that matches; `nth` counts those of its place.
    fn add(&mut self, kind: HitKind, place: &Hit, found: Match, nth: &mut u32) {
        let at = self.groups.partition_point(|group| group.kind < kind);
        if self.groups.get(at).is_none_or(|group| group.kind != kind) {
            let hits = Vec::new();
            self.groups.insert(
                at,
                HitGroup {
                    kind,
                    hits,
                    more: 0,
                },
            );
        }
        let Some(group) = self.groups.get_mut(at) else {
            return;
        };
        *nth += 1;
        if group.hits.len() >= HITS || *nth > HITS_OF_PLACE {
            group.more += 1;
            return;
        }
        group.hits.push(Hit {
            text_line: found.line,
            offset: found.offset,
            text: found.text,
            range: found.range,
            ..place.clone()
        });
    }

    /// Looks through a text that is held.
    fn text(&mut self, needle: &Needle, kind: HitKind, text: &str, place: impl FnOnce() -> Hit) {
        let mut lines = Vec::new();
        let mut scan = Scan::default();
        scan.piece(needle, text.as_bytes(), true, &mut |m| lines.push(m));
        if lines.is_empty() {
            return;
        }
        let (place, mut nth) = (place(), 0);
        for line in lines {
            self.add(kind, &place, line, &mut nth);
        }
    }

    fn skip(&mut self, skipped: SkippedValue) {
        match self.skipped.len() < SKIPPED {
            true => self.skipped.push(skipped),
            false => self.more_skipped += 1,
        }
    }
}

#[cfg(test)]
mod tests;
