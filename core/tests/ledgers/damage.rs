//! Damages a folder: one change of one file.

use proptest::prelude::*;
use proptest::sample::Index;

use crate::contract2::Files;

/// Bytes that no writer writes at that place. An end of the log is no damage, so there is none among them.
const GARBAGE: [&[u8]; 8] = [
    b"\xff\xfe\x00",
    b"null\n",
    b"{}\n",
    b"\n[[[[\n",
    b"\"",
    "\n# run:20260101-000000-other0 other\n".as_bytes(),
    b"\n---\n",
    b"{\"node\":\"draft-2\",\"status\":\"rendered\"}\n",
];

/// A change of a file. `Index` chooses among as many places as the file has.
#[derive(Debug, Clone)]
pub(crate) enum Damage {
    /// Changes the lowest bit of a byte.
    Flip(Index),
    /// Ends the file in front of a byte.
    Cut(Index),
    WithoutLastLine,
    Remove,
    /// Swaps a line with the next one.
    Swap(Index),
    Insert(Index, usize),
    /// Replaces the whole file.
    Replace(usize),
}

pub(crate) fn damages() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => any::<Index>().prop_map(Damage::Flip),
        2 => any::<Index>().prop_map(Damage::Cut),
        2 => Just(Damage::WithoutLastLine),
        1 => Just(Damage::Remove),
        1 => any::<Index>().prop_map(Damage::Swap),
        2 => (any::<Index>(), 0..GARBAGE.len()).prop_map(|(at, of)| Damage::Insert(at, of)),
        1 => (0..GARBAGE.len()).prop_map(Damage::Replace),
    ]
}

/// Damages a file; an empty file is only replaced or removed.
pub(crate) fn damage(files: &mut Files, path: &str, damage: &Damage) {
    let Some(mut bytes) = files.remove(path) else {
        return;
    };
    let len = bytes.len().max(1);
    match damage {
        Damage::Flip(at) => {
            if let Some(byte) = bytes.get_mut(at.index(len)) {
                *byte ^= 1;
            }
        }
        Damage::Cut(at) => bytes.truncate(at.index(len)),
        Damage::WithoutLastLine => bytes.truncate(start_of_last_line(&bytes)),
        Damage::Remove => return,
        Damage::Swap(at) => {
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            if lines.len() > 1 {
                let first = at.index(lines.len() - 1);
                lines.swap(first, first + 1);
            }
            bytes = lines.concat();
        }
        Damage::Insert(at, of) => {
            let at = at.index(len).min(bytes.len());
            bytes.splice(at..at, GARBAGE[*of].iter().copied());
        }
        Damage::Replace(of) => bytes = GARBAGE[*of].to_vec(),
    }
    files.insert(path.to_owned(), bytes);
}

/// Returns where the last line of a file begins.
pub(crate) fn start_of_last_line(bytes: &[u8]) -> usize {
    let before = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let end = before.iter().rposition(|byte| *byte == b'\n');
    end.map_or(0, |end| end + 1)
}
