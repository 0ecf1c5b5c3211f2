//! Decides how much of a file to fetch from the browser at once. The overhead of one fetch equals the time for reading
//! some hundred kilobytes. The pieces therefore become larger the longer a scan continues.
//!
//! Measured in Chromium with a file of 1 GB on two cores: a fetch of 4 KB takes 1.6 ms, or 0.8 ms if many are requested
//! together. The whole file takes 4.9 s in pieces of 2 MB, and 2.4 s in pieces of 16 MB. A single fetch of 11 MB takes
//! 19 ms.

use std::collections::{BTreeMap, VecDeque};

/// The number of bytes that the cache keeps or drops together: the usual page size of a database.
pub(super) const UNIT: u64 = 4 * 1024;

/// The smallest fetch, in bytes.
pub(super) const BLOCK: u64 = 4 * UNIT;

/// The largest file, in bytes, that is fetched whole when its beginning is read.
pub(crate) const WHOLE: u64 = 1 << 20;

/// The largest file, in bytes, that is fetched whole by its fourth fetch ([`FEW`]). A list of many runs needs only a
/// few fetches from each file. The pages of one run read most of its file.
const MIDDLE: u64 = 16 << 20;

/// Which fetch from a file of up to [`MIDDLE`] bytes fetches the whole file: the fourth.
const FEW: u32 = 4;

/// The largest piece, in bytes, for a scan that reads every byte.
const DENSE: u64 = 2 << 20;

/// The largest piece, in bytes, for a scan that skips most bytes, such as a scan of table rows between large values.
const SPARSE: u64 = 16 << 20;

/// The size in bytes above which the cache keeps only parts of a sparse scan's piece ([`Piece::sieved`]).
const SIEVED: u64 = 1 << 20;

/// The longest jump, in bytes, after which a read still continues a scan. A scan whose last piece was longer may jump
/// as far as that piece is long. Fetching the skipped bytes takes as long as the overhead of one more fetch.
const GAP: u64 = 512 << 10;

/// The maximum number of scans that are tracked at the same time. A query may scan a table, its index and another table
/// at once.
const SCANS: usize = 4;

/// The scans and fetches so far, from which the next piece to fetch is decided.
#[derive(Debug, Default)]
pub(super) struct ReadAhead {
    /// The tracked scans. The scan that continued last is at the end.
    scans: VecDeque<ReadScan>,
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
    /// Whether the cache keeps only the piece's pages with rows or keys, and drops those with large values.
    pub(super) sieved: bool,
}

/// A scan: a series of reads that go forward in one file, with the piece that was fetched last for them.
#[derive(Debug)]
struct ReadScan {
    file: usize,
    piece: Piece,
    /// The number of bytes of the piece that were read.
    read: u64,
}

impl ReadScan {
    fn end(&self) -> u64 {
        self.piece.start + self.piece.len
    }

    fn is_sparse(&self) -> bool {
        self.read * 2 < self.piece.len
    }
}

impl ReadAhead {
    /// Records that `len` bytes of a file were read from the offset `at` on.
    pub(super) fn read(&mut self, file: usize, at: u64, len: u64) {
        let here = |scan: &&mut ReadScan| {
            scan.file == file && (scan.piece.start..scan.end()).contains(&at)
        };
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
                // Only some pages of a large file are kept, because copying the whole file takes as long as fetching
                // it.
                sieved: size > WHOLE,
            };
        }
        let start = at - at % BLOCK;
        let goes_on = |scan: &ReadScan| {
            let gap = GAP.max(scan.piece.len);
            scan.file == file && (scan.end()..=scan.end() + gap).contains(&start)
        };
        let known = self.scans.iter().position(goes_on);
        let before = known.and_then(|at| self.scans.remove(at));
        let is_sparse = before.as_ref().is_some_and(ReadScan::is_sparse);
        let most = if is_sparse { SPARSE } else { DENSE };
        let end = before.as_ref().map(ReadScan::end);
        let len = before.map_or(BLOCK, |scan| (scan.piece.len * 4).min(most));
        let sieved = is_sparse && len > SIEVED;
        let piece = Piece {
            // A sieved piece starts at the end of the scan's last piece. The skipped part contains rows of other
            // tables, which will be read next.
            start: end.filter(|_| sieved).unwrap_or(start),
            len,
            sieved,
        };
        if self.scans.len() == SCANS {
            self.scans.pop_front();
        }
        self.scans.push_back(ReadScan {
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
