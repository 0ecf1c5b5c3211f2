//! Decides how much of a file to fetch at once. One fetch costs as much time as some hundred kilobytes, so the longer
//! a scan continues, the larger its pieces become.
//!
//! Measured in Chromium with a file of 1 GB on two cores: a fetch of 4 KB takes 1.6 ms, or 0.8 ms if many are
//! requested together; the whole file takes 4.9 s in pieces of 2 MB and 2.4 s in pieces of 16 MB; 11 MB at once take
//! 19 ms.

use std::collections::{BTreeMap, VecDeque};

/// The number of bytes that the cache keeps or drops together: the usual page size of a database.
pub(super) const UNIT: u64 = 4 * 1024;

/// The smallest fetch, in bytes.
pub(super) const BLOCK: u64 = 4 * UNIT;

/// The largest file, in bytes, that is fetched whole when its beginning is read.
pub(crate) const WHOLE: u64 = 1 << 20;

/// The largest file, in bytes, that is fetched whole after [`FEW`] fetches. A list of many runs reads little of each
/// file; the pages of one run read most of it.
const MIDDLE: u64 = 16 << 20;

/// The number of fetches after which a file of middling size is fetched whole.
const FEW: u32 = 4;

/// The largest piece, in bytes, for a scan that reads every byte.
const DENSE: u64 = 2 << 20;

/// The largest piece, in bytes, for a scan that skips most bytes: table rows stored between large values.
const SPARSE: u64 = 16 << 20;

/// The size in bytes from which only parts of a sparse scan's piece are kept ([`Piece::sieved`]).
const SIEVED: u64 = 1 << 20;

/// The longest jump, in bytes, after which a read still continues a scan (a scan with a longer last piece may jump
/// that far). Fetching this many bytes takes as long as one more fetch.
const GAP: u64 = 512 << 10;

/// The most scans that are tracked at the same time: of a table, of its index, of another table.
const SCANS: usize = 4;

/// Decides which piece of a file to fetch next.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// The tracked scans; the one that continued last is at the end.
    scans: VecDeque<Scan>,
    /// The number of fetches from each file.
    fetches: BTreeMap<usize, u32>,
}

/// A part of a file to fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// The offset of the first byte.
    pub(super) start: u64,
    /// The length in bytes.
    pub(super) len: u64,
    /// Whether the cache keeps only the pages of tables and indexes.
    pub(super) sieved: bool,
}

/// A scan of a file, with the piece that was fetched last for the scan.
#[derive(Debug)]
struct Scan {
    file: usize,
    piece: Piece,
    /// The number of bytes of the piece that were read.
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
    /// Records that bytes at `at` were read.
    pub(super) fn read(&mut self, file: usize, at: u64, len: u64) {
        let here =
            |scan: &&mut Scan| scan.file == file && (scan.piece.start..scan.end()).contains(&at);
        if let Some(scan) = self.scans.iter_mut().find(here) {
            scan.read += len;
        }
    }

    /// Returns the piece to fetch if the byte at `at` of a file is needed.
    pub(super) fn piece(&mut self, file: usize, size: u64, at: u64) -> Piece {
        let fetches = self.fetches.entry(file).or_default();
        *fetches += 1;
        if (size <= WHOLE && at < BLOCK) || (size <= MIDDLE && *fetches == FEW) {
            return Piece {
                start: 0,
                len: size,
                // Keeping all of a large file would copy the file, which takes as long as fetching it.
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
            // Starts at the scan's last piece: the skipped part contains rows of other tables, which are read next.
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
