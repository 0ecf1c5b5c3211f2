//! How much of a file is fetched at once: a fetch costs as much as some hundred kilobytes do, so one brings the more the
//! longer a scan goes on.
//!
//! Measured in Chromium with a file of 1 GB on two cores: a fetch of 4 KB takes 1.6 ms, also where many are asked for
//! together 0.8 ms; all of it takes 4.9 s in pieces of 2 MB and 2.4 s in pieces of 16 MB; 11 MB at once take 19 ms.

use std::collections::{BTreeMap, VecDeque};

/// Bytes that are kept or dropped together: the usual page of a database.
pub(super) const UNIT: u64 = 4 * 1024;

/// Bytes that are fetched at least.
pub(super) const BLOCK: u64 = 4 * UNIT;

/// A file of at most so many bytes is fetched whole when its beginning is read.
pub(crate) const WHOLE: u64 = 1 << 20;

/// A file of at most so many bytes is fetched whole when it was fetched from a few times: a list of many runs reads little
/// of each, a run's own pages most of it.
const MIDDLE: u64 = 16 << 20;

/// How many times that is.
const FEW: u32 = 4;

/// Bytes that a scan which reads all that it fetches gets at once, at most.
const DENSE: u64 = 2 << 20;

/// The same of a scan that skips most of it: the rows of a table between large values, which were written in turn.
const SPARSE: u64 = 16 << 20;

/// A sparse piece of more bytes is sieved.
const SIEVED: u64 = 1 << 20;

/// How far ahead a read may jump and still go on with a scan, or as far as its last piece is long: so much is fetched in the
/// time that one more fetch takes.
const GAP: u64 = 512 << 10;

/// Scans that go on at a time: of a table, of its index, of another table in turn.
const SCANS: usize = 4;

/// Decides what to fetch.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// The last one went on last.
    scans: VecDeque<Scan>,
    /// How often each file was fetched from.
    fetches: BTreeMap<usize, u32>,
}

/// A part of a file that is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// Its first byte.
    pub(super) start: u64,
    /// Its length.
    pub(super) len: u64,
    /// Only pages of tables and indexes are kept of it.
    pub(super) sieved: bool,
}

/// The last piece that was fetched for a scan.
#[derive(Debug)]
struct Scan {
    file: usize,
    piece: Piece,
    /// Bytes of it that were read.
    read: u64,
}

impl Scan {
    fn end(&self) -> u64 {
        self.piece.start + self.piece.len
    }

    fn is_sparse(&self) -> bool {
        self.read * 2 < self.piece.len
    }
}

impl Ahead {
    /// Notes that bytes at `at` were read.
    pub(super) fn read(&mut self, file: usize, at: u64, len: u64) {
        let here =
            |scan: &&mut Scan| scan.file == file && (scan.piece.start..scan.end()).contains(&at);
        if let Some(scan) = self.scans.iter_mut().find(here) {
            scan.read += len;
        }
    }

    /// What to fetch when the byte at `at` of a file is wanted.
    pub(super) fn piece(&mut self, file: usize, size: u64, at: u64) -> Piece {
        let fetches = self.fetches.entry(file).or_default();
        *fetches += 1;
        if (size <= WHOLE && at < BLOCK) || (size <= MIDDLE && *fetches == FEW) {
            return Piece {
                start: 0,
                len: size,
                // Copying what is fetched takes as long as fetching it.
                sieved: size > WHOLE,
            };
        }
        let start = at - at % BLOCK;
        let goes_on = |scan: &Scan| {
            let gap = GAP.max(scan.piece.len);
            scan.file == file && (scan.end()..=scan.end() + gap).contains(&start)
        };
        let known = self.scans.iter().position(goes_on);
        let before = known.and_then(|at| self.scans.remove(at));
        let is_sparse = before.as_ref().is_some_and(Scan::is_sparse);
        let most = if is_sparse { SPARSE } else { DENSE };
        let end = before.as_ref().map(Scan::end);
        let len = before.map_or(BLOCK, |scan| (scan.piece.len * 4).min(most));
        let sieved = is_sparse && len > SIEVED;
        let piece = Piece {
            // Rows of other tables, which are read next, lie in what this scan skipped.
            start: end.filter(|_| sieved).unwrap_or(start),
            len,
            sieved,
        };
        if self.scans.len() == SCANS {
            self.scans.pop_front();
        }
        self.scans.push_back(Scan {
            file,
            piece,
            read: 0,
        });
        Piece {
            len: len.min(size.saturating_sub(piece.start)),
            ..piece
        }
    }
}
