//! Applies the committed pages of a `-wal` file to its database, both in memory.
//!
//! Source: SQLite, "Database File Format", 4 "The Write-Ahead Log". Frames count up to the last commit with valid
//! checksums; later frames were never committed, or remain from an earlier use of the file.

use crate::read::decode::sqlite_header::be32;

const HEADER: usize = 32;
const FRAME: usize = 24;

/// Returns the database with the committed pages of its `-wal`; `None` if the `-wal` has no frames for this database.
pub(super) fn apply(db: &[u8], wal: &[u8], page_size: u32) -> Option<Vec<u8>> {
    let magic = be32(wal, 0)?;
    let big_endian = match magic {
        0x377f_0682 => false,
        0x377f_0683 => true,
        _ => return None,
    };
    if be32(wal, 8)? != page_size {
        return None;
    }
    let salts = wal.get(16..24)?;
    let mut sum = Sum {
        a: 0,
        b: 0,
        big_endian,
    };
    sum.add(wal.get(..24)?);
    if (be32(wal, 24)?, be32(wal, 28)?) != (sum.a, sum.b) {
        return None;
    }

    let size = page_size as usize;
    let mut pages: Vec<(u32, &[u8])> = Vec::new();
    let mut committed: Option<(usize, u32)> = None;
    let mut at = HEADER;
    while let (Some(head), Some(page)) = (
        wal.get(at..at + FRAME),
        wal.get(at + FRAME..at + FRAME + size),
    ) {
        sum.add(head.get(..8)?);
        sum.add(page);
        let valid =
            head.get(8..16)? == salts && (be32(head, 16)?, be32(head, 20)?) == (sum.a, sum.b);
        let number = be32(head, 0)?;
        if !valid || number == 0 {
            break;
        }
        pages.push((number, page));
        let after = be32(head, 4)?;
        if after > 0 {
            committed = Some((pages.len(), after));
        }
        at += FRAME + size;
    }

    let (count, after) = committed?;
    // The page count is limited to the pages of both files. A larger count is false, and would cost memory.
    let most = db.len() / size + count + 1;
    let len = (after as usize).min(most).checked_mul(size)?;
    let mut merged = db.to_vec();
    merged.resize(len, 0);
    for (number, page) in pages.into_iter().take(count) {
        let start = (number as usize - 1).checked_mul(size)?;
        if let Some(place) = merged.get_mut(start..start + size) {
            place.copy_from_slice(page);
        }
    }
    Some(merged)
}

/// The running checksum of a `-wal`: two sums over pairs of 32-bit words.
struct Sum {
    a: u32,
    b: u32,
    big_endian: bool,
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        for pair in bytes.chunks_exact(8) {
            let (x, y) = pair.split_at(4);
            self.a = self.a.wrapping_add(self.word(x)).wrapping_add(self.b);
            self.b = self.b.wrapping_add(self.word(y)).wrapping_add(self.a);
        }
    }

    fn word(&self, bytes: &[u8]) -> u32 {
        let four: [u8; 4] = bytes.try_into().unwrap_or_default();
        if self.big_endian {
            u32::from_be_bytes(four)
        } else {
            u32::from_le_bytes(four)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 512;

    /// Returns a `-wal` of one frame with valid checksums. The frame contains page 2 of the database, full of sevens.
    /// The arguments are the frame's salts, and the database's page count after the frame.
    fn log(frame_salts: [u8; 8], after: u32) -> Vec<u8> {
        let mut sum = Sum {
            a: 0,
            b: 0,
            big_endian: false,
        };
        let mut wal = Vec::new();
        for number in [0x377f_0682, 3_007_000, SIZE as u32, 0] {
            wal.extend(number.to_be_bytes());
        }
        wal.extend([1; 8]);
        sum.add(&wal);
        wal.extend([sum.a.to_be_bytes(), sum.b.to_be_bytes()].concat());

        let mut frame = [2_u32.to_be_bytes(), after.to_be_bytes()].concat();
        sum.add(&frame);
        sum.add(&[7; SIZE]);
        frame.extend(frame_salts);
        frame.extend([sum.a.to_be_bytes(), sum.b.to_be_bytes()].concat());
        wal.extend(frame);
        wal.extend([7; SIZE]);
        wal
    }

    fn merged(wal: &[u8]) -> Option<Vec<u8>> {
        apply(&[0; 2 * SIZE], wal, SIZE as u32)
    }

    #[test]
    fn a_committed_page_replaces_the_database_s() {
        let expected = [[0; SIZE], [7; SIZE]].concat();
        assert_eq!(merged(&log([1; 8], 2)), Some(expected));
    }

    #[test]
    fn a_log_whose_head_does_not_hold_has_nothing() {
        let mut wal = log([1; 8], 2);
        wal[27] ^= 1;
        assert_eq!(merged(&wal), None);
    }

    #[test]
    fn frames_of_an_earlier_round_were_never_committed_in_this_one() {
        assert_eq!(merged(&log([2; 8], 2)), None);
    }

    #[test]
    fn a_count_of_pages_beyond_both_files_takes_no_memory() {
        let found = merged(&log([1; 8], u32::MAX)).unwrap();
        assert!(found.len() <= 4 * SIZE, "{}", found.len());
    }
}
