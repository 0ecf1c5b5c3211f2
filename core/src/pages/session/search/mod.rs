//! Searches all parts of a run for a text, step by step.
//!
//! ```text
//! Search::new ──► step, step, step … (each reads a piece of a value, or a few small values) ──► Search::found
//! ```
//!
//! The first step searches the parts that are in memory (statements, errors, prompts, gates, names). Later steps read
//! values and memories in pieces, and then the rows of tables that OpenProse does not define. The caller runs each step
//! and can stop after any step. A row's value can only be read from its beginning. To limit repeated reading, each step
//! through a large value reads as many new bytes as all steps before it.

mod held;
mod needle;
mod tables;
mod values;

use std::collections::VecDeque;

use super::Session;
use crate::pages::view::{HitGroup, HitKind, SearchHit, SearchedRun, SkippedValue};
pub use needle::{EmptyText, Needle};
use needle::{Match, NeedleScan};
use tables::SearchWindow;
use values::{Job, PartlySearched};

/// The largest numbers of hits of a kind, of hits in one place, and of values that are listed as not searched.
const HITS: usize = 50;
const HITS_OF_PLACE: u32 = 5;
const SKIPPED: usize = 20;

/// A search through one run.
pub struct Search {
    needle: Needle,
    begun: bool,
    jobs: VecDeque<Job>,
    reading: Option<PartlySearched>,
    tables: VecDeque<SearchWindow>,
    found: SearchSoFar,
}

/// The hits and the progress of a search so far.
#[derive(Default)]
struct SearchSoFar {
    groups: Vec<HitGroup>,
    read: u64,
    of: u64,
    skipped: Vec<SkippedValue>,
    more_skipped: u32,
}

impl Search {
    /// Prepares a search without reading.
    pub fn new(session: &Session, needle: &Needle) -> Search {
        let (jobs, of) = values::jobs(session);
        Search {
            needle: needle.clone(),
            begun: false,
            jobs,
            reading: None,
            tables: tables::windows(session),
            found: SearchSoFar {
                of,
                ..SearchSoFar::default()
            },
        }
    }

    /// Runs the next step with the session for which the search was made. Returns whether more steps are needed.
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

    /// Returns whether everything was searched.
    pub fn is_done(&self) -> bool {
        self.begun && self.jobs.is_empty() && self.reading.is_none() && self.tables.is_empty()
    }

    /// Returns how many bytes of values were searched, and how many there are. Values that are not text count as
    /// searched.
    pub fn progress(&self) -> (u64, u64) {
        (self.found.read, self.found.of)
    }

    /// Returns the hits so far.
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

impl SearchSoFar {
    /// Adds a matching line. `nth` counts the matching lines of `place`.
    fn add(&mut self, kind: HitKind, place: &SearchHit, found: Match, nth: &mut u32) {
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
        group.hits.push(SearchHit {
            text_line: found.line,
            offset: found.offset,
            text: found.text,
            range: found.range,
            ..place.clone()
        });
    }

    /// Searches a text in memory.
    fn text(
        &mut self,
        needle: &Needle,
        kind: HitKind,
        text: &str,
        place: impl FnOnce() -> SearchHit,
    ) {
        let mut lines = Vec::new();
        let mut scan = NeedleScan::default();
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
        if self.skipped.len() < SKIPPED {
            self.skipped.push(skipped);
        } else {
            self.more_skipped += 1;
        }
    }
}

#[cfg(test)]
mod tests;
