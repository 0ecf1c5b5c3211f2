//! Caches recently read bytes of a source's files, so that SQLite need not fetch a page from the browser twice. The
//! cache is bounded, and all files of a source share it.

use std::collections::BTreeMap;
use std::ops::Range;

use prosescope_desk::protocol::Counters;

use super::ahead::{BLOCK, ReadAhead, UNIT};

/// The most bytes that the cache keeps: the pages with rows of a database of 1 GB. That is also enough for the pages that
/// SQLite needs again.
const KEPT: u64 = 96 << 20;

/// The maximum number of small files that are fetched together. A folder's files are read in order, and each separate
/// fetch costs a message to another process of the browser.
const FILES_AHEAD: usize = 64;

/// The most bytes of several runs' files to fetch together. A browser returns so many bytes in the time of a few single
/// fetches.
pub(crate) const TOGETHER: u64 = 2 << 20;

/// The size in bytes up to which a file counts as small.
pub(crate) const SMALL: u64 = BLOCK;

/// A cache of the most recently used bytes.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    units: BTreeMap<(usize, u64), Unit>,
    tick: u64,
    ahead: ReadAhead,
    /// The page size of each file that is a database.
    pages: BTreeMap<usize, usize>,
    row: FetchedTogether,
    counters: Counters,
}

#[derive(Debug)]
struct Unit {
    bytes: Box<[u8]>,
    /// The value of [`Cache::tick`] at the last use. 0 for bytes that a scan has read and will hardly need again.
    used: u64,
    /// Whether the bytes were fetched for a scan that has not reached them yet.
    ahead: bool,
}

/// The small files that were fetched together last. `next` is the index of the file after them, `files` their number.
#[derive(Debug, Default)]
struct FetchedTogether {
    next: usize,
    files: usize,
}

/// Fetched bytes. They may stay in the browser's memory; single bytes can be examined without copying all of them.
pub(crate) trait Fetched {
    /// Returns the number of bytes.
    fn len(&self) -> usize;

    /// Returns the byte at `at`.
    fn byte(&self, at: usize) -> u8;

    /// Copies a range.
    fn copy(&self, range: Range<usize>) -> Box<[u8]>;
}

impl Fetched for &[u8] {
    fn len(&self) -> usize {
        <[u8]>::len(self)
    }

    fn byte(&self, at: usize) -> u8 {
        self.get(at).copied().unwrap_or_default()
    }

    fn copy(&self, range: Range<usize>) -> Box<[u8]> {
        self.get(range).unwrap_or_default().into()
    }
}

impl Cache {
    /// Returns how many small files to fetch together when the file with the index `file` is read. The number is 0 if
    /// that file is in the cache. It is 1 at first, and doubles while files are read in order.
    pub(crate) fn files_to_fetch(&mut self, file: usize) -> usize {
        if self.has(file) {
            return 0;
        }
        let goes_on = self.row.files > 0 && file == self.row.next;
        let files = if goes_on {
            (self.row.files * 2).min(FILES_AHEAD)
        } else {
            1
        };
        self.row = FetchedTogether {
            next: file + files,
            files,
        };
        files
    }

    /// Returns whether the beginning of a file is in the cache.
    pub(crate) fn has(&self, file: usize) -> bool {
        self.units.contains_key(&(file, 0))
    }

    /// Adds small files that were fetched together. Each is given by its index and all its bytes.
    pub(crate) fn take_in<'a>(
        &mut self,
        files: impl ExactSizeIterator<Item = (usize, &'a [u8])>,
        bytes: u64,
    ) {
        self.make_room(bytes + files.len() as u64 * UNIT);
        self.counters.fetches += 1;
        for (file, bytes) in files {
            self.counters.fetched += bytes.len() as u64;
            self.keep(file, 0, &bytes, false);
        }
    }

    /// Adds the pages with rows or keys of a piece of a database, for a scan that will read them.
    pub(crate) fn take_rows(&mut self, file: usize, start: u64, bytes: &impl Fetched) {
        self.counters.fetches += 1;
        self.counters.fetched += bytes.len() as u64;
        self.keep(file, start, bytes, true);
    }

    /// Returns the number of reads and fetches so far, and of their bytes.
    pub(crate) fn counters(&self) -> Counters {
        self.counters
    }

    /// Fills `buf` from `offset` of a file of `size` bytes and returns the number of bytes read. `fetch` returns
    /// exactly the bytes of a range, or an error.
    pub(crate) fn read<E, F: Fetched>(
        &mut self,
        file: usize,
        size: u64,
        offset: u64,
        buf: &mut [u8],
        mut fetch: impl FnMut(Range<u64>) -> Result<F, E>,
    ) -> Result<usize, E> {
        self.counters.reads += 1;
        self.counters.bytes += buf.len() as u64;
        let wanted = (buf.len() as u64).min(size.saturating_sub(offset)) as usize;
        let mut done = 0;
        while done < wanted {
            let at = offset + done as u64;
            let number = at / UNIT;
            if !self.units.contains_key(&(file, number)) {
                self.fetch(file, size, at, &mut fetch)?;
            }
            self.tick += 1;
            let Some(unit) = self.units.get_mut(&(file, number)) else {
                return Ok(done);
            };
            unit.used = if unit.ahead { 0 } else { self.tick };
            unit.ahead = false;
            let start = (at % UNIT) as usize;
            let part = unit.bytes.get(start..).unwrap_or_default();
            let length = part.len().min(wanted - done);
            if length == 0 {
                return Ok(done);
            }
            buf[done..done + length].copy_from_slice(&part[..length]);
            done += length;
        }
        self.ahead.read(file, offset, done as u64);
        Ok(done)
    }

    fn fetch<E, F: Fetched>(
        &mut self,
        file: usize,
        size: u64,
        at: u64,
        fetch: &mut impl FnMut(Range<u64>) -> Result<F, E>,
    ) -> Result<(), E> {
        let piece = self.ahead.piece(file, size, at);
        let bytes = fetch(piece.start..piece.start + piece.len)?;
        self.counters.fetches += 1;
        self.counters.fetched += bytes.len() as u64;
        if !piece.sieved {
            self.make_room(piece.len);
        }
        self.keep(file, piece.start, &bytes, piece.sieved);
        if piece.sieved && !self.units.contains_key(&(file, at / UNIT)) {
            // `keep` left out the requested page, which has neither rows nor keys, so the page is added separately.
            let start = (at / UNIT * UNIT - piece.start) as usize;
            let wanted = bytes.copy(start..bytes.len().min(start + UNIT as usize));
            self.insert(file, at / UNIT, wanted, false);
        }
        Ok(())
    }

    /// Keeps the bytes of a file from the offset `start` on. If `sieved` is true, keeps only pages with rows or keys.
    fn keep(&mut self, file: usize, start: u64, bytes: &impl Fetched, sieved: bool) {
        if start == 0 {
            self.pages.remove(&file);
            self.pages.extend(page_size(bytes).map(|size| (file, size)));
        }
        let page = self.pages.get(&file).copied().filter(|_| sieved);
        let unit = UNIT as usize;
        for from in (0..bytes.len()).step_by(unit) {
            let number = (start + from as u64) / UNIT;
            let is_of_tree = page.is_none_or(|page| {
                // The distance from the beginning of the database page in which this unit begins. If pages are smaller
                // than the unit, further pages begin within the unit.
                let before = (start as usize + from) % page.max(unit);
                let Some(first) = from.checked_sub(before) else {
                    return true;
                };
                let mut pages = (first..from + unit).step_by(page);
                pages.any(|at| is_of_tree(bytes.byte(at)))
            });
            if is_of_tree {
                if sieved {
                    self.make_room(UNIT);
                }
                let part = bytes.copy(from..bytes.len().min(from + unit));
                self.insert(file, number, part, sieved);
            }
        }
    }

    fn insert(&mut self, file: usize, number: u64, bytes: Box<[u8]>, ahead: bool) {
        self.tick += 1;
        let unit = Unit {
            bytes,
            used: self.tick,
            ahead,
        };
        self.units.insert((file, number), unit);
    }

    /// Drops the less recently used half of the cache if `bytes` more would exceed [`KEPT`].
    fn make_room(&mut self, bytes: u64) {
        if (self.units.len() as u64) * UNIT + bytes <= KEPT {
            return;
        }
        let mut used: Vec<u64> = self.units.values().map(|unit| unit.used).collect();
        let half = used.len() / 2;
        if half == 0 {
            return;
        }
        let (_, newest_dropped, _) = used.select_nth_unstable(half);
        let newest_dropped = *newest_dropped;
        self.units.retain(|_, unit| unit.used > newest_dropped);
    }
}

/// Returns the page size in a database's header ("Database File Format", 1.3.2).
fn page_size(bytes: &impl Fetched) -> Option<usize> {
    let head = bytes.copy(0..18.min(bytes.len()));
    let size = head.strip_prefix(b"SQLite format 3\0")?;
    match u16::from_be_bytes(size.try_into().ok()?) {
        1 => Some(65_536),
        size => Some(usize::from(size)).filter(|size| size.is_power_of_two() && *size >= 512),
    }
}

/// Returns whether a page that begins with this byte contains rows or keys ("Database File Format", 1.6). An overflow
/// page begins with the number of the next overflow page. The first byte of that number is 0 in a file smaller than 64
/// GB.
fn is_of_tree(first: u8) -> bool {
    matches!(first, 2 | 5 | 10 | 13)
}

#[cfg(test)]
mod tests {
    use super::super::ahead::Piece;
    use super::*;

    /// Reads from a file whose byte at `i` is `i % 251`. Returns the bytes, and adds the fetched ranges to `log`.
    fn read(
        cache: &mut Cache,
        size: u64,
        offset: u64,
        len: usize,
        log: &mut Vec<Range<u64>>,
    ) -> Vec<u8> {
        let mut buf = vec![0; len];
        let got = cache.read(0, size, offset, &mut buf, |range| {
            log.push(range.clone());
            Ok::<_, ()>(Of(range.map(|i| (i % 251) as u8).collect()))
        });
        buf.truncate(got.unwrap());
        buf
    }

    struct Of(Vec<u8>);

    impl Fetched for Of {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn byte(&self, at: usize) -> u8 {
            self.0[at]
        }

        fn copy(&self, range: Range<usize>) -> Box<[u8]> {
            self.0[range].into()
        }
    }

    fn bytes(range: Range<u64>) -> Vec<u8> {
        range.map(|i| (i % 251) as u8).collect()
    }

    #[test]
    fn gives_the_bytes_across_units_and_stops_at_the_end() {
        let (mut cache, mut log) = (Cache::default(), Vec::new());
        let size = 2 * BLOCK + 10;
        let cases: [(u64, usize, Range<u64>); 5] = [
            (0, 100, 0..100),
            (BLOCK - 3, 6, BLOCK - 3..BLOCK + 3),
            (0, 3 * BLOCK as usize, 0..size),
            (size - 4, 100, size - 4..size),
            (size + 5, 100, 0..0),
        ];
        for (offset, len, want) in cases {
            assert_eq!(
                read(&mut cache, size, offset, len, &mut log),
                bytes(want),
                "{offset}+{len}"
            );
        }
    }

    const MB: u64 = 1 << 20;

    #[test]
    fn what_is_here_is_not_fetched_again() {
        let (mut cache, mut log) = (Cache::default(), Vec::new());
        for offset in [0, 4096, 8192, 100] {
            read(&mut cache, 100 * MB, offset, 4096, &mut log);
        }
        assert_eq!(log.len(), 1);
        assert_eq!(
            cache.counters(),
            Counters {
                reads: 4,
                bytes: 16384,
                fetches: 1,
                fetched: BLOCK
            }
        );
    }

    #[test]
    fn a_small_file_is_fetched_whole_and_a_middling_one_after_some_fetches() {
        for (size, fetches) in [(MB - 5, 1), (9 * MB, 4)] {
            let (mut cache, mut log) = (Cache::default(), Vec::new());
            for part in [0, 40, 3, 63, 20, 30, 11, 50, 60] {
                read(&mut cache, size, part * (size / 64), 16, &mut log);
            }
            assert_eq!(log.len(), fetches, "{size}: {log:?}");
            assert_eq!(*log.last().unwrap(), 0..size);
        }
    }

    /// Returns the bytes in `range` of a database in which every `step`-th page contains rows. All other pages contain
    /// a large value.
    fn database(range: Range<u64>, step: u64) -> Of {
        let mut bytes = vec![0; (range.end - range.start) as usize];
        for (at, place) in (range.start..range.end).enumerate().step_by(4096) {
            if (place / 4096) % step == 0 {
                bytes[at] = 13;
            }
        }
        if range.start == 0 {
            bytes[..18].copy_from_slice(b"SQLite format 3\0\x10\0");
        }
        Of(bytes)
    }

    /// The pages with rows are 160 KB apart, and belong to two tables in turn. The test reads the pages of the first
    /// table, then those of the second.
    #[test]
    fn rows_between_values_are_fetched_in_one_pass_in_large_pieces() {
        let mut cache = Cache::default();
        let (size, step) = (1024 * MB, 40);
        let mut page = |number: u64| {
            let mut buf = [0; 4096];
            let got = cache.read(0, size, number * 4096, &mut buf, |range| {
                Ok::<_, ()>(database(range, step))
            });
            assert_eq!(got, Ok(4096));
            assert_eq!(buf[0] == 13, number > 0, "page {number}");
        };
        page(0);
        let all = (step..size / 4096).step_by(step as usize);
        for table in [0, 1] {
            for number in all.clone().filter(|number| number / step % 2 == table) {
                page(number);
            }
        }
        let counters = cache.counters();
        assert!(counters.fetches < 90, "{counters:?}");
        assert!(counters.fetched < size / 20 * 21, "{counters:?}");
        assert!(cache.units.len() as u64 * UNIT <= KEPT);
    }

    /// If a file is fetched whole, its large values are not copied into the cache. A large value is fetched again when
    /// it is opened.
    #[test]
    fn of_a_middling_database_pages_with_rows_are_kept() {
        let mut cache = Cache::default();
        let (size, step) = (9 * MB, 9);
        let pages = size / 4096;
        for number in [0, pages / 2, pages / 4, pages - step] {
            let mut buf = [0; 16];
            let got = cache.read(0, size, number * 4096, &mut buf, |range| {
                Ok::<_, ()>(database(range, step))
            });
            assert_eq!(got, Ok(16));
        }
        assert_eq!(cache.counters().fetched, size + 3 * BLOCK);
        let kept = cache.units.len() as u64;
        assert!((pages / step..pages / step + 20).contains(&kept), "{kept}");
    }

    #[test]
    fn a_value_is_read_in_pieces_of_two_megabytes_and_a_jump_ends_a_scan() {
        let (mut ahead, mut at) = (ReadAhead::default(), 0);
        let mut lengths = Vec::new();
        while lengths.len() < 7 {
            let Piece { start, len, sieved } = ahead.piece(0, 100 * MB, at);
            assert!(start == at && !sieved);
            ahead.read(0, start, len);
            lengths.push(len >> 10);
            at += len;
        }
        assert_eq!(lengths, [16, 64, 256, 1024, 2048, 2048, 2048]);
        assert_eq!(ahead.piece(0, 100 * MB, 90 * MB).len, BLOCK);
        // A piece does not extend beyond the end of the file.
        assert_eq!(ahead.piece(0, 100 * MB, 100 * MB - 10).len, BLOCK);
        assert_eq!(ahead.piece(0, 100 * MB + 7, 100 * MB + 3).len, 7);
    }

    #[test]
    fn small_files_that_are_read_in_a_row_are_fetched_together() {
        let mut cache = Cache::default();
        let mut read = |file| {
            let files = cache.files_to_fetch(file);
            cache.take_in(
                (file..file + files)
                    .map(|n| (n, &b"abc"[..]))
                    .collect::<Vec<_>>()
                    .into_iter(),
                3 * files as u64,
            );
            files
        };
        let fetched: Vec<usize> = (0..200).map(&mut read).filter(|n| *n > 0).collect();
        assert_eq!(fetched, [1, 2, 4, 8, 16, 32, 64, 64, 64]);
        // After a jump to another file, a file that is still in the cache is not fetched again.
        assert_eq!([read(500), read(500), read(190)], [1, 0, 0]);
    }

    #[test]
    fn memory_is_bounded() {
        let (mut cache, mut log) = (Cache::default(), Vec::new());
        for number in 0..5000 {
            read(&mut cache, 5000 * BLOCK, number * BLOCK, 16, &mut log);
            assert!(cache.units.len() as u64 * UNIT <= KEPT);
        }
    }
}
