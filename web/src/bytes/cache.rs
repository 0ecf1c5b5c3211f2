//! The block cache between SQLite and a slow file: bounded, shared by all files of a source.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use prosescope_desk::protocol::Counters;

/// Bytes of a block: what is fetched at least. Small, because a list of bindings touches a page here and there all
/// over a file of large values.
pub(crate) const BLOCK: u64 = 16 * 1024;

/// Blocks that are kept, 8 MB together: SQLite keeps the pages that it needs again.
const KEPT: usize = 512;

/// Blocks of a file that is fetched whole when any of it is read: 1 MB. A fetch costs as much as 100 KB to 250 KB do.
const WHOLE: u64 = 64;

/// Blocks that a scan fetches at once, at most: 2 MB.
const AHEAD: u64 = 128;

/// How far ahead a read may jump and still count as a scan: 256 KB, which are fetched in the time that one more fetch takes.
/// Rows of large values that were written in turn lie so far apart.
const GAP: u64 = 16;

/// Scans that go on at a time: of a table, of its index, of another table in turn.
const SCANS: usize = 4;

/// Small files that are fetched with the one that is asked for, at most: a folder's files are read in their order, and
/// a browser is asked for each across processes.
const FILES_AHEAD: usize = 64;

/// A cache of the blocks that were used last, with read-ahead that grows while a scan goes on.
#[derive(Debug, Default)]
pub(crate) struct BlockCache {
    blocks: BTreeMap<(usize, u64), Block>,
    tick: u64,
    /// The last one went on last.
    scans: VecDeque<Scan>,
    row: Row,
    counters: Counters,
}

#[derive(Debug)]
struct Block {
    bytes: Box<[u8]>,
    used: u64,
}

/// Where a scan's last fetch ended, and how many blocks it took.
#[derive(Debug)]
struct Scan {
    file: usize,
    next: u64,
    blocks: u64,
}

/// Where the last files that were fetched together ended, and how many they were.
#[derive(Debug, Default)]
struct Row {
    next: usize,
    files: usize,
}

impl BlockCache {
    /// How many files, small ones, are best fetched together when the one at `file` is read: itself alone, unless the
    /// files before it were read as well. 0 when it is here already.
    pub(crate) fn files_to_fetch(&mut self, file: usize) -> usize {
        if self.blocks.contains_key(&(file, 0)) {
            return 0;
        }
        let goes_on = self.row.files > 0 && file == self.row.next;
        let files = if goes_on {
            (self.row.files * 2).min(FILES_AHEAD)
        } else {
            1
        };
        self.row = Row {
            next: file + files,
            files,
        };
        files
    }

    /// Takes in small files that were fetched together: each with all of its bytes, a block at most.
    pub(crate) fn take_in<'a>(&mut self, files: impl ExactSizeIterator<Item = (usize, &'a [u8])>) {
        self.make_room(files.len());
        self.counters.fetches += 1;
        self.tick += 1;
        for (file, bytes) in files {
            self.counters.fetched += bytes.len() as u64;
            let block = Block {
                bytes: bytes.into(),
                used: self.tick,
            };
            self.blocks.insert((file, 0), block);
        }
    }

    /// What was read so far.
    pub(crate) fn counters(&self) -> Counters {
        self.counters
    }

    /// Fills `buf` from `offset` of a file of `size` bytes and returns how much there was; `fetch` gives exactly
    /// the bytes of a range, or says why not.
    pub(crate) fn read<E>(
        &mut self,
        file: usize,
        size: u64,
        offset: u64,
        buf: &mut [u8],
        mut fetch: impl FnMut(Range<u64>) -> Result<Vec<u8>, E>,
    ) -> Result<usize, E> {
        self.counters.reads += 1;
        self.counters.bytes += buf.len() as u64;
        let wanted = (buf.len() as u64).min(size.saturating_sub(offset)) as usize;
        let mut done = 0;
        while done < wanted {
            let at = offset + done as u64;
            let number = at / BLOCK;
            if !self.blocks.contains_key(&(file, number)) {
                self.fetch(file, size, number, &mut fetch)?;
            }
            self.tick += 1;
            let Some(block) = self.blocks.get_mut(&(file, number)) else {
                return Ok(done);
            };
            block.used = self.tick;
            let start = (at % BLOCK) as usize;
            let part = block.bytes.get(start..).unwrap_or_default();
            let length = part.len().min(wanted - done);
            if length == 0 {
                return Ok(done);
            }
            buf[done..done + length].copy_from_slice(&part[..length]);
            done += length;
        }
        Ok(done)
    }

    fn fetch<E>(
        &mut self,
        file: usize,
        size: u64,
        number: u64,
        fetch: &mut impl FnMut(Range<u64>) -> Result<Vec<u8>, E>,
    ) -> Result<(), E> {
        let blocks = self.blocks_to_fetch(file, size, number);
        self.make_room(blocks as usize);

        let start = number * BLOCK;
        let bytes = fetch(start..(start + blocks * BLOCK).min(size))?;
        self.counters.fetches += 1;
        self.counters.fetched += bytes.len() as u64;
        self.tick += 1;
        for (n, part) in bytes.chunks(BLOCK as usize).enumerate() {
            let block = Block {
                bytes: part.into(),
                used: self.tick,
            };
            self.blocks.insert((file, number + n as u64), block);
        }
        Ok(())
    }

    /// How many blocks are best fetched when this one is read: four times as many as last time, while a scan goes on.
    fn blocks_to_fetch(&mut self, file: usize, size: u64, number: u64) -> u64 {
        let of_file = size.div_ceil(BLOCK);
        if number == 0 && of_file <= WHOLE {
            return of_file;
        }
        let goes_on =
            |scan: &Scan| scan.file == file && (scan.next..=scan.next + GAP).contains(&number);
        let known = self.scans.iter().position(goes_on);
        let known = known.and_then(|at| self.scans.remove(at));
        let blocks = known.map_or(1, |scan| (scan.blocks * 4).min(AHEAD));
        if self.scans.len() == SCANS {
            self.scans.pop_front();
        }
        self.scans.push_back(Scan {
            file,
            next: number + blocks,
            blocks,
        });
        blocks
    }

    /// Drops the half that was not used for longest, where so many more would be too many.
    fn make_room(&mut self, blocks: usize) {
        if self.blocks.len() + blocks <= KEPT {
            return;
        }
        let mut used: Vec<u64> = self.blocks.values().map(|block| block.used).collect();
        let half = used.len() / 2;
        let (_, newest_dropped, _) = used.select_nth_unstable(half);
        let newest_dropped = *newest_dropped;
        self.blocks.retain(|_, block| block.used > newest_dropped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file whose byte at `i` is `i % 251`, and the ranges that were fetched from it.
    fn read(
        cache: &mut BlockCache,
        size: u64,
        offset: u64,
        len: usize,
        log: &mut Vec<Range<u64>>,
    ) -> Vec<u8> {
        let mut buf = vec![0; len];
        let got = cache.read(0, size, offset, &mut buf, |range| {
            log.push(range.clone());
            Ok::<_, ()>(range.map(|i| (i % 251) as u8).collect())
        });
        buf.truncate(got.unwrap());
        buf
    }

    fn bytes(range: Range<u64>) -> Vec<u8> {
        range.map(|i| (i % 251) as u8).collect()
    }

    #[test]
    fn gives_the_bytes_across_blocks_and_stops_at_the_end() {
        let (mut cache, mut log) = (BlockCache::default(), Vec::new());
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

    /// A file that is not fetched whole.
    const LARGE: u64 = 10_000 * BLOCK;

    fn lengths(log: &[Range<u64>]) -> Vec<u64> {
        log.iter().map(|r| (r.end - r.start) / BLOCK).collect()
    }

    #[test]
    fn a_block_is_fetched_once() {
        let (mut cache, mut log) = (BlockCache::default(), Vec::new());
        for offset in [0, 4096, 8192, 100] {
            read(&mut cache, LARGE, offset, 4096, &mut log);
        }
        assert_eq!(
            log,
            vec![Range {
                start: 0,
                end: BLOCK
            }]
        );
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
    fn a_small_file_is_fetched_whole() {
        let (mut cache, mut log) = (BlockCache::default(), Vec::new());
        let size = WHOLE * BLOCK - 5;
        for number in [0, 40, 3, 63] {
            read(&mut cache, size, number * BLOCK, 16, &mut log);
        }
        assert_eq!(
            log,
            vec![Range {
                start: 0,
                end: size
            }]
        );
    }

    #[test]
    fn a_scan_reads_ahead_up_to_two_megabytes_and_a_jump_ends_it() {
        let (mut cache, mut log) = (BlockCache::default(), Vec::new());
        for number in [0, 1, 5, 21, 85, 213, 1000] {
            read(&mut cache, LARGE, number * BLOCK, 16, &mut log);
        }
        assert_eq!(lengths(&log), [1, 4, 16, 64, 128, 128, 1]);
    }

    #[test]
    fn rows_that_were_written_in_turn_are_fetched_in_large_pieces() {
        let (mut cache, mut log) = (BlockCache::default(), Vec::new());
        for number in (0..5000).step_by(3) {
            read(&mut cache, LARGE, number * BLOCK, 16, &mut log);
            // An index page somewhere else does not end the scan.
            if number % 300 == 0 {
                read(&mut cache, LARGE, (9_000 - number) * BLOCK, 16, &mut log);
            }
        }
        assert!(log.len() < 70, "{} fetches", log.len());
    }

    #[test]
    fn small_files_that_are_read_in_a_row_are_fetched_together() {
        let mut cache = BlockCache::default();
        let mut read = |file| {
            let files = cache.files_to_fetch(file);
            cache.take_in(
                (file..file + files)
                    .map(|n| (n, &b"abc"[..]))
                    .collect::<Vec<_>>()
                    .into_iter(),
            );
            assert!(cache.blocks.len() <= KEPT);
            files
        };
        let fetched: Vec<usize> = (0..200).map(&mut read).filter(|n| *n > 0).collect();
        assert_eq!(fetched, [1, 2, 4, 8, 16, 32, 64, 64, 64]);
        // A jump, and a file that is still here.
        assert_eq!([read(500), read(500), read(190)], [1, 0, 0]);
    }

    #[test]
    fn memory_is_bounded() {
        let (mut cache, mut log) = (BlockCache::default(), Vec::new());
        for number in 0..1000 {
            read(&mut cache, 1000 * BLOCK, number * BLOCK, 16, &mut log);
            assert!(cache.blocks.len() <= KEPT);
        }
    }

    #[test]
    fn a_failed_fetch_leaves_nothing_behind() {
        let mut cache = BlockCache::default();
        let mut buf = [0; 16];
        assert_eq!(
            cache.read(0, 100, 0, &mut buf, |_| Err("changed")),
            Err("changed")
        );
        assert!(cache.blocks.is_empty());
    }
}
