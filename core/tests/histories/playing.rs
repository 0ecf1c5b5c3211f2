//! A run that a history records.

use prosescope_core::model::Binding;
use prosescope_core::model::time::Stamp;
use prosescope_core::pages::resume;
use prosescope_core::program::{Listing, scan};
use prosescope_core::record::{Change, NextView, Record, Shelf, Style, WriteError, at_text};
use prosescope_core::trace::{Trace, fold};

use crate::memory::{Memory, RUN};

pub(crate) struct Playing {
    pub(crate) run: Memory,
    pub(crate) listing: Listing,
    /// The time of the last command, in milliseconds since 1970.
    pub(crate) now: i64,
    /// The changes of all commands.
    pub(crate) changes: Vec<Change>,
}

impl Playing {
    /// Begins a run of a program.
    pub(crate) fn new(style: Style, program: &str) -> Playing {
        let start = Stamp::parse("2026-01-25 12:00:00");
        Playing {
            run: Memory::running(style, program),
            listing: scan(program),
            now: start.millis().expect("a time"),
            changes: Vec::new(),
        }
    }

    pub(crate) fn trace(&self) -> Trace {
        fold(&self.run, Some(&self.listing), None)
    }

    /// Returns what readers know of the run.
    pub(crate) fn facts<'a>(&'a self, trace: &'a Trace) -> resume::ResumeFacts<'a> {
        resume::ResumeFacts {
            run: &self.run,
            trace,
            listing: Some(&self.listing),
        }
    }

    /// Records a command, a second after the one before.
    pub(crate) fn record<R: Record>(&mut self, command: &R) -> Result<R::Done, WriteError> {
        self.now += 1_000;
        let done = self.run.at(&at_text(self.now, Style::Files), command)?;
        self.changes.extend(self.run.changes.iter().cloned());
        Ok(done)
    }

    /// Returns what `prosescope next` prints.
    pub(crate) fn next(&self, trace: &Trace) -> Result<NextView, WriteError> {
        let values =
            |binding: &Binding, most: usize| self.run.short_text(binding, most).ok().flatten();
        resume::next(self.facts(trace), self.now, (RUN, false), &values)
    }
}
