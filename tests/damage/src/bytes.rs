//! Damages the bytes of a file: noise anywhere, and changes in the places that SQLite reads first.
#![expect(
    clippy::ptr_arg,
    reason = "all have one type, and some make the file longer"
)]

use crate::dice::Dice;
use crate::page::{self, put, put16, put32, varint};

/// Flips some bits at random places of the file.
pub(crate) fn bits(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.throw(24) {
        let at = dice.throw(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << dice.throw(8);
        }
    }
}

/// Changes the headers of pages: their type, their number of cells, the offset of their content.
pub(crate) fn heads(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.throw(6) {
        let page = dice.throw(page::count(bytes)) + 1;
        let at = page::start(bytes, page) + dice.throw(if page == 1 { 120 } else { 16 });
        let byte = dice.byte();
        put(bytes, at, &[byte]);
    }
}

/// Fills a range of the file with one byte value, or with noise.
pub(crate) fn fill(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let at = dice.throw(bytes.len());
    let len = dice.throw(2 * page::size(bytes)) + 1;
    let new = match dice.throw(4) {
        0 => vec![0; len],
        1 => vec![0xff; len],
        2 => vec![0x80; len],
        _ => dice.noise(len),
    };
    put(bytes, at, &new);
}

/// Swaps two pages, or copies one page over another.
pub(crate) fn swap_pages(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let size = page::size(bytes);
    for _ in 0..=dice.throw(3) {
        let (a, b) = (any_page(bytes, dice), any_page(bytes, dice));
        let (one, two) = (page_bytes(bytes, a, size), page_bytes(bytes, b, size));
        let (a, b) = (page::start(bytes, a), page::start(bytes, b));
        put(bytes, b, &one);
        if dice.throw(2) == 0 {
            put(bytes, a, &two);
        }
    }
}

/// Fills pages with zeros, as after a disk error or a sparse copy.
pub(crate) fn zero_pages(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let size = page::size(bytes);
    for _ in 0..=dice.throw(3) {
        let at = page::start(bytes, any_page(bytes, dice));
        put(bytes, at, &vec![0; size]);
    }
}

/// Removes the end of the file, or appends bytes.
pub(crate) fn cut(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let size = page::size(bytes);
    match dice.throw(5) {
        0 => bytes.truncate(dice.throw(bytes.len())),
        1 => bytes.truncate(page::start(bytes, any_page(bytes, dice))),
        2 => bytes.truncate(dice.throw(200)),
        3 => {
            // Truncates the file and corrects the page count in the header: the missing pages are still referenced.
            let pages = dice.throw(page::count(bytes)) + 1;
            bytes.truncate(pages * size);
            put32(bytes, 28, pages as u32);
        }
        _ => {
            let noise = dice.noise(dice.clone().throw(3 * size));
            bytes.extend(noise);
        }
    }
}

/// Changes fields of the file's header.
pub(crate) fn header(bytes: &mut Vec<u8>, dice: &mut Dice) {
    /// The offset and the length of each header field, in bytes.
    const FIELDS: [(usize, usize); 23] = [
        (0, 16),
        (16, 2),
        (18, 1),
        (19, 1),
        (20, 1),
        (21, 1),
        (22, 1),
        (23, 1),
        (24, 4),
        (28, 4),
        (32, 4),
        (36, 4),
        (40, 4),
        (44, 4),
        (48, 4),
        (52, 4),
        (56, 4),
        (60, 4),
        (64, 4),
        (68, 4),
        (72, 20),
        (92, 4),
        (96, 4),
    ];
    for _ in 0..=dice.throw(2) {
        let (at, len) = *dice.pick(&FIELDS);
        let number = match dice.throw(4) {
            0 => 0,
            1 => dice.throw(10) as i64,
            2 => dice.throw(2 * page::count(bytes)) as i64,
            _ => dice.odd_number(),
        };
        let new = number.to_be_bytes();
        put(bytes, at, &new[8 - len.min(8)..]);
    }
}

/// Changes fields in the header of a b-tree page: the offsets and the number of its cells, and its free space.
pub(crate) fn cell_pointers(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let trees = page::trees(bytes);
    if trees.is_empty() {
        return;
    }
    for _ in 0..=dice.throw(4) {
        let tree = dice.pick(&trees);
        let cells = tree.cells.len();
        let number = match dice.throw(5) {
            0 => 0,
            1 => page::size(bytes) - dice.throw(8),
            2 => page::be16(bytes, tree.pointers() + 2 * dice.throw(cells)),
            3 => 0xffff,
            _ => dice.throw(page::size(bytes)),
        };
        match dice.throw(8) {
            0 => put16(bytes, tree.head + 1, number),
            1 => put16(bytes, tree.head + 3, number),
            2 => put16(bytes, tree.head + 5, number),
            3 => put(bytes, tree.head + 7, &[number as u8]),
            _ => put16(bytes, tree.pointers() + 2 * dice.throw(cells), number),
        }
    }
}

/// Changes a length in a row to a number of up to 64 bits: the length of the row, of its header, or of a value.
pub(crate) fn lengths(bytes: &mut Vec<u8>, dice: &mut Dice) {
    const CLAIMS: [u64; 12] = [
        0,
        1,
        127,
        12 + 2 * 1_000,
        65_536,
        1 << 20,
        (1 << 31) - 1,
        1 << 31,
        u32::MAX as u64,
        2 * (1 << 31) + 13,
        i64::MAX as u64,
        u64::MAX,
    ];
    let trees: Vec<_> = page::trees(bytes)
        .into_iter()
        .filter(|t| t.kind != 5 && !t.cells.is_empty())
        .collect();
    if trees.is_empty() {
        return;
    }
    for _ in 0..=dice.throw(5) {
        let tree = dice.pick(&trees);
        let cell = *dice.pick(&tree.cells);
        let record = tree.record(bytes, cell);
        let at = match dice.throw(4) {
            0 => tree.payload(cell),
            1 => record,
            // This byte gives the type of a value in the record's header.
            _ => record + 1 + dice.throw(9),
        };
        let claim = *dice.pick(&CLAIMS);
        put(bytes, at, &varint(claim));
    }
}

/// Makes inner pages point to themselves, to their parents, to pages of other tables, or nowhere.
pub(crate) fn children(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let trees = page::trees(bytes);
    let inner: Vec<_> = trees.iter().filter(|t| t.is_inner()).collect();
    for _ in 0..=dice.throw(4) {
        let to = match dice.throw(5) {
            0 => 0,
            1 => u32::MAX,
            2 => page::count(bytes) as u32 + 1,
            3 if !inner.is_empty() => dice.pick(&inner).page as u32,
            _ => any_page(bytes, dice) as u32,
        };
        if trees.is_empty() {
            return;
        }
        if inner.is_empty() {
            // In a database without inner pages, one page of a tree becomes an inner page with an arbitrary child.
            let tree = dice.pick(&trees).clone();
            put(bytes, tree.head, &[5]);
            put32(bytes, tree.head + 8, to);
            continue;
        }
        let tree = (*dice.pick(&inner)).clone();
        let place = match dice.throw(tree.cells.len() + 1) {
            0 => tree.head + 8,
            n => tree.cells[n - 1],
        };
        put32(bytes, place, to);
    }
}

/// Makes chains of overflow pages loop, end early, or lead into other pages.
pub(crate) fn overflow(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let size = page::size(bytes);
    let known: Vec<usize> = page::trees(bytes).iter().map(|t| t.page).collect();
    // A page that is not part of a tree may belong to an overflow chain. The first four bytes of such a page are the
    // number of the next page.
    let links: Vec<usize> = (2..=page::count(bytes))
        .filter(|page| !known.contains(page))
        .collect();
    for _ in 0..=dice.throw(6) {
        let from = if links.is_empty() {
            any_page(bytes, dice)
        } else {
            *dice.pick(&links)
        };
        let to = match dice.throw(5) {
            0 => 0,
            1 => u32::MAX,
            2 => from as u32,
            3 if !links.is_empty() => *dice.pick(&links) as u32,
            _ => any_page(bytes, dice) as u32,
        };
        let at = (from - 1) * size;
        put32(bytes, at, to);
    }
}

/// Damages the list of free pages (loops, pages in use, wrong counts) and the pointer map of auto-vacuum.
pub(crate) fn free_pages(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let size = page::size(bytes);
    let trunk = match page::be32(bytes, 32) as usize {
        0 => any_page(bytes, dice),
        n => n.min(page::count(bytes)).max(1),
    };
    for _ in 0..=dice.throw(4) {
        let to = match dice.throw(4) {
            0 => trunk as u32,
            1 => u32::MAX,
            _ => any_page(bytes, dice) as u32,
        };
        match dice.throw(6) {
            0 => put32(bytes, 32, to),
            1 => put32(bytes, 36, to),
            2 => put32(bytes, (trunk - 1) * size, to),
            3 => put32(bytes, (trunk - 1) * size + 4, dice.odd_number() as u32),
            4 => put32(bytes, (trunk - 1) * size + 8 + 4 * dice.throw(size / 4), to),
            // With auto-vacuum, page 2 is the first pointer map.
            _ => {
                put32(bytes, 52, to);
                let at = size + 5 * dice.throw(size / 5);
                put(bytes, at, &[dice.byte() % 7]);
                put32(bytes, at + 1, to);
            }
        }
    }
}

fn any_page(bytes: &[u8], dice: &mut Dice) -> usize {
    dice.throw(page::count(bytes)) + 1
}

fn page_bytes(bytes: &[u8], number: usize, size: usize) -> Vec<u8> {
    let at = page::start(bytes, number);
    bytes.get(at..at + size).unwrap_or(&[]).to_vec()
}
