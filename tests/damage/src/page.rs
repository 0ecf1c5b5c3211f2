//! Finds the parts of a database file that the tests damage: pages, cells, records. Source: SQLite, "Database File
//! Format". The functions expect a healthy file: they do not find a part that is not in its usual place.

/// Returns the page size in the header, in bytes; 512 if the header is invalid.
pub(crate) fn size(bytes: &[u8]) -> usize {
    match be16(bytes, 16) {
        1 => 65_536,
        n if n >= 512 && n.is_power_of_two() => n,
        _ => 512,
    }
}

/// Returns the number of complete pages in the file.
pub(crate) fn count(bytes: &[u8]) -> usize {
    bytes.len() / size(bytes)
}

/// Returns the offset of a page; the first page has number 1.
pub(crate) fn start(bytes: &[u8], page: usize) -> usize {
    page.saturating_sub(1) * size(bytes)
}

/// A page of a b-tree.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    /// The page's number.
    pub(crate) page: usize,
    /// The offset of the page's header: 100 bytes into the first page.
    pub(crate) head: usize,
    /// The page's type: 2 and 5 are inner pages of an index and a table, 10 and 13 their leaves.
    pub(crate) kind: u8,
    /// The offset of each cell.
    pub(crate) cells: Vec<usize>,
}

impl Tree {
    pub(crate) fn is_inner(&self) -> bool {
        self.kind == 2 || self.kind == 5
    }

    /// Returns the offset of the page's cell pointers.
    pub(crate) fn pointers(&self) -> usize {
        self.head + if self.is_inner() { 12 } else { 8 }
    }

    /// Returns the offset of the payload's length in a cell.
    pub(crate) fn payload(&self, cell: usize) -> usize {
        if self.kind == 2 { cell + 4 } else { cell }
    }

    /// Returns the offset of a table leaf's record: after the payload's length and the rowid.
    pub(crate) fn record(&self, bytes: &[u8], cell: usize) -> usize {
        let at = self.payload(cell);
        let at = at + varint_len(bytes, at);
        if self.kind == 13 {
            at + varint_len(bytes, at)
        } else {
            at
        }
    }
}

/// Returns the pages that look like pages of a b-tree.
pub(crate) fn trees(bytes: &[u8]) -> Vec<Tree> {
    (1..=count(bytes))
        .filter_map(|page| tree(bytes, page))
        .collect()
}

/// Returns a page if it looks like a page of a b-tree.
pub(crate) fn tree(bytes: &[u8], page: usize) -> Option<Tree> {
    let begin = start(bytes, page);
    let head = begin + if page == 1 { 100 } else { 0 };
    let kind = *bytes.get(head)?;
    if !matches!(kind, 2 | 5 | 10 | 13) {
        return None;
    }
    let mut tree = Tree {
        page,
        head,
        kind,
        cells: Vec::new(),
    };
    let (pointers, end) = (tree.pointers(), begin + size(bytes));
    for n in 0..be16(bytes, head + 3).min(size(bytes) / 2) {
        let cell = begin + be16(bytes, pointers + 2 * n);
        if cell <= head || cell + 4 > end.min(bytes.len()) {
            return None;
        }
        tree.cells.push(cell);
    }
    Some(tree)
}

/// Returns the root page of a table, according to the schema.
pub(crate) fn root_of(bytes: &[u8], table: &str) -> Option<usize> {
    let mut root = None;
    crate::seeds::with(bytes, |conn| {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        root = conn.query_row(sql, [table], |r| r.get::<_, i64>(0)).ok();
    });
    usize::try_from(root?).ok()
}

/// Returns how many bytes the variable-length number at `at` takes.
pub(crate) fn varint_len(bytes: &[u8], at: usize) -> usize {
    let more = |n: &usize| bytes.get(at + n).is_some_and(|b| b & 0x80 != 0);
    (0..8).take_while(more).count() + 1
}

/// Encodes a number as SQLite does, in one to nine bytes.
pub(crate) fn varint(number: u64) -> Vec<u8> {
    if number >> 56 != 0 {
        let mut bytes: Vec<u8> = (0..8)
            .map(|n| 0x80 | (number >> (8 + 7 * (7 - n))) as u8)
            .collect();
        bytes.push(number as u8);
        return bytes;
    }
    let mut bytes = vec![(number & 0x7f) as u8];
    let mut rest = number >> 7;
    while rest > 0 {
        bytes.insert(0, 0x80 | (rest & 0x7f) as u8);
        rest >>= 7;
    }
    bytes
}

pub(crate) fn be16(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..at + 2) {
        Some(two) => usize::from(two[0]) << 8 | usize::from(two[1]),
        None => 0,
    }
}

pub(crate) fn be32(bytes: &[u8], at: usize) -> u32 {
    match bytes.get(at..at + 4) {
        Some(four) => u32::from_be_bytes([four[0], four[1], four[2], four[3]]),
        None => 0,
    }
}

/// Overwrites bytes; bytes past the end are dropped.
pub(crate) fn put(bytes: &mut [u8], at: usize, new: &[u8]) {
    for (place, byte) in bytes.iter_mut().skip(at).zip(new) {
        *place = *byte;
    }
}

pub(crate) fn put16(bytes: &mut [u8], at: usize, number: usize) {
    put(bytes, at, &(number as u16).to_be_bytes());
}

pub(crate) fn put32(bytes: &mut [u8], at: usize, number: u32) {
    put(bytes, at, &number.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_length() {
        for (number, expected) in [
            (0, &[0][..]),
            (127, &[0x7f]),
            (128, &[0x81, 0]),
            (1 << 31, &[0x88, 0x80, 0x80, 0x80, 0]),
            (u64::MAX, &[0xff; 9]),
        ] {
            assert_eq!(varint(number), expected, "{number}");
            assert_eq!(varint_len(&varint(number), 0), expected.len());
        }
    }

    #[test]
    fn pages_of_a_healthy_database_are_found() {
        let seed = crate::seeds::databases()
            .iter()
            .find(|s| s.name == "many rows")
            .unwrap();
        let trees = trees(&seed.bytes);
        assert!(trees.iter().any(Tree::is_inner));
        let rows: usize = trees
            .iter()
            .filter(|t| t.kind == 13)
            .map(|t| t.cells.len())
            .sum();
        assert!(rows > 500, "{rows}");
        let root = root_of(&seed.bytes, "execution").unwrap();
        assert_eq!(tree(&seed.bytes, root).unwrap().kind, 5);
    }
}
