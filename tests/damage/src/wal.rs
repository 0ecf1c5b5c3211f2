//! Builds write-ahead logs: healthy logs from two states of a database, and damaged logs.
//!
//! SQLite chooses a log's salts at random. These logs always have the same salts, so that every log is reproducible.

use crate::dice::Dice;
use crate::page::{self, put, put32};
use crate::seeds;

const HEADER: usize = 32;
const FRAME: usize = 24;

/// Returns a database in WAL mode and the log that turns it into `after`: one frame for each page that differs.
pub(crate) fn between(before: &[u8], after: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut before = before.to_vec();
    put(&mut before, 18, &[2, 2]);
    let mut after = after.to_vec();
    put(&mut after, 18, &[2, 2]);
    let size = page::size(&after);
    let numbers: Vec<usize> = (1..=page::count(&after))
        .filter(|n| {
            let at = (n - 1) * size;
            before.get(at..at + size) != after.get(at..at + size)
        })
        .collect();
    let mut log = Log::new(size);
    for (i, number) in numbers.iter().enumerate() {
        let at = (number - 1) * size;
        // The last frame is the commit, and contains the new number of pages. Other frames contain 0.
        let commit = if i + 1 == numbers.len() {
            page::count(&after)
        } else {
            0
        };
        log.frame(*number as u32, commit as u32, &after[at..at + size]);
    }
    (before, log.bytes)
}

/// A write-ahead log that frames are added to.
pub(crate) struct Log {
    pub(crate) bytes: Vec<u8>,
    sum: (u32, u32),
}

impl Log {
    pub(crate) fn new(page_size: usize) -> Log {
        let mut bytes = vec![0; HEADER];
        for (at, number) in [
            (0, 0x377f_0683),
            (4, 3_007_000),
            (8, page_size as u32),
            (16, 0x0bad_cafe),
            (20, 0x5a17),
        ] {
            put32(&mut bytes, at, number);
        }
        let sum = sum((0, 0), &bytes[..24]);
        put32(&mut bytes, 24, sum.0);
        put32(&mut bytes, 28, sum.1);
        Log { bytes, sum }
    }

    /// Adds a frame with valid checksums. The content of its page may be invalid.
    pub(crate) fn frame(&mut self, page: u32, commit: u32, content: &[u8]) {
        let mut head = [0; FRAME];
        put32(&mut head, 0, page);
        put32(&mut head, 4, commit);
        head[8..16].copy_from_slice(&self.bytes[16..24]);
        self.sum = sum(sum(self.sum, &head[..8]), content);
        put32(&mut head, 16, self.sum.0);
        put32(&mut head, 20, self.sum.1);
        self.bytes.extend(head);
        self.bytes.extend(content);
    }
}

/// Continues the checksum of a log with these bytes, which are read as big-endian words.
fn sum((mut a, mut b): (u32, u32), bytes: &[u8]) -> (u32, u32) {
    for at in (0..bytes.len()).step_by(8) {
        a = a.wrapping_add(page::be32(bytes, at)).wrapping_add(b);
        b = b.wrapping_add(page::be32(bytes, at + 4)).wrapping_add(a);
    }
    (a, b)
}

/// Returns a database and a log with later rows. Either the database or the log is damaged.
pub(crate) fn damaged(before: &[u8], dice: &mut Dice) -> (Vec<u8>, Vec<u8>) {
    let later = seeds::with(before, |conn| {
        seeds::run(
            conn,
            "INSERT INTO execution (statement_index, statement_text, status) VALUES (90, 'session \"Newest\"', 'failed');
             INSERT INTO bindings (name, kind, value) VALUES ('newest', 'let', hex(zeroblob(2000)));
             INSERT INTO agents (name, memory) VALUES ('newest', hex(zeroblob(900)));
             UPDATE run SET status = 'failed';",
        );
    });
    let after = later.unwrap_or_else(|| before.to_vec());
    let (mut database, mut wal) = between(before, &after);
    let size = page::size(&after);
    let frames = wal.len().saturating_sub(HEADER) / (FRAME + size);
    match dice.throw(9) {
        // Changed bytes of the log make its checksums wrong.
        0 => super::bytes::bits(&mut wal, dice),
        1 => {
            let byte = dice.byte();
            put(&mut wal, dice.throw(HEADER), &[byte]);
        }
        2 => {
            let at = HEADER + dice.throw(frames) * (FRAME + size) + dice.throw(FRAME);
            let byte = dice.byte();
            put(&mut wal, at, &[byte]);
        }
        3 => wal.truncate(dice.throw(wal.len())),
        // The added frames have valid checksums, and damaged pages.
        4 | 5 => {
            let mut log = Log::new(size);
            for n in 0..=dice.throw(8) {
                let number = match dice.throw(4) {
                    0 => dice.odd_number() as u32,
                    _ => dice.throw(page::count(&after) + 2) as u32,
                };
                let commit = match dice.throw(3) {
                    0 => dice.odd_number() as u32,
                    1 => 0,
                    _ => page::count(&after) as u32,
                };
                let at = dice.throw(page::count(&after)) * size;
                let content = if n % 3 == 2 {
                    dice.noise(size)
                } else {
                    after[at..at + size].to_vec()
                };
                log.frame(number, commit, &content);
            }
            wal = log.bytes;
        }
        // The log has another page size, or is a database file.
        6 => wal = Log::new(if size == 4096 { 512 } else { 4096 }).bytes,
        7 => wal = after,
        // The log is valid, but the database is damaged.
        _ => {
            let keep = dice.throw(database.len()).max(100);
            database.truncate(keep);
        }
    }
    (database, wal)
}

#[cfg(test)]
mod tests {
    use prosescope_core::read::sqlite;

    use super::*;

    #[test]
    fn a_healthy_log_holds_the_newest_rows() {
        let before = &seeds::databases()[0].bytes;
        let after = seeds::with(before, |conn| {
            conn.execute_batch("UPDATE run SET id = 'newest'").unwrap();
        })
        .unwrap();
        let (database, wal) = between(before, &after);
        let conn = sqlite::from_bytes_with_wal(&database, &wal).unwrap();
        let id: String = conn
            .query_row("SELECT id FROM run", [], |r| r.get(0))
            .unwrap();
        assert_eq!(id, "newest");
    }
}
