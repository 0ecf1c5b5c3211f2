//! Cases with database pages, headers and b-trees that contradict themselves.
#![expect(
    clippy::ptr_arg,
    reason = "all have one type, and some make the file longer"
)]

use super::{Make, RUN, bare, database, documents};
use crate::Outcome::{self, Either, Refused, Shown};
use crate::page::{self, put, put16, put32, varint};
use crate::seeds::{self, MANY, make};

/// Cases that change the file header: name, required outcome, offset, new bytes.
const HEADERS: &[(&str, Outcome, usize, &[u8])] = &[
    ("a page size of 0", Refused("page size"), 16, &[0, 0]),
    ("a page size of 3", Refused("page size"), 16, &[0, 3]),
    ("a page size of another database", Either, 16, &[0x20, 0]),
    (
        "a magic of another version",
        Refused("not a SQLite database"),
        0,
        b"SQLite format 4\0",
    ),
    ("a version that nobody can write", Shown(&[]), 18, &[3]),
    ("a version that nobody can read", Refused(""), 19, &[9]),
    ("half of each page reserved", Either, 20, &[255]),
    (
        "payload fractions that are not",
        Refused(""),
        21,
        &[65, 33, 33],
    ),
    (
        "a schema format of the future",
        Refused("file format"),
        44,
        &[0, 0, 0, 99],
    ),
    (
        "an encoding that does not exist",
        Refused("damaged"),
        56,
        &[0, 0, 0, 7],
    ),
    (
        "pages counted as four billion",
        Refused("cut off"),
        28,
        &[0xff; 4],
    ),
    ("pages counted as none", Shown(&[]), 28, &[0; 4]),
    (
        "a default cache of minus two billion pages",
        Shown(&[]),
        48,
        &[0x80, 0, 0, 0],
    ),
    ("four billion free pages", Shown(&[]), 36, &[0xff; 4]),
    (
        "a list of free pages that begins in the schema",
        Shown(&[]),
        32,
        &[0, 0, 0, 1],
    ),
    ("auto-vacuum where no map is", Shown(&[]), 52, &[0, 0, 0, 5]),
];

pub(super) fn cases() -> Vec<Make> {
    let mut cases: Vec<Make> = Vec::new();
    for (name, outcome, at, new) in HEADERS {
        cases.push(Box::new(move || {
            let mut bytes = documents(RUN);
            put(&mut bytes, *at, new);
            database(name, *outcome, bytes)
        }));
    }
    for (name, size) in [("pages of 64 KB", 65_536), ("pages of 512 bytes", 512)] {
        cases.push(Box::new(move || {
            let settings = format!("PRAGMA page_size = {size}");
            let bytes = make(
                &settings,
                &[super::SCHEMA, super::PLAIN_KEY, super::GATES_SCHEMA, MANY],
            );
            database(name, Shown(&[]), bytes)
        }));
    }
    for (name, outcome, change) in [
        (
            "a page that is its own child",
            Shown(&["table-damaged"]),
            own_child as fn(&mut Vec<u8>),
        ),
        (
            "a tree that shares one leaf a thousand times",
            Shown(&["table-damaged"]),
            shared_leaf,
        ),
        (
            "a tree that shares its inner pages twenty levels deep",
            Shown(&["table-damaged"]),
            shared_levels,
        ),
        ("two tables that begin on one page", Either, one_root),
        ("a table that begins in the schema", Either, root_in_schema),
        (
            "a table that begins behind the end",
            Refused("damaged"),
            root_behind_end,
        ),
        ("cells that lie over each other", Either, cells_together),
        ("cells that begin in the page's head", Either, cells_in_head),
        ("free blocks in a circle", Shown(&[]), free_blocks),
        ("free pages in a circle", Shown(&[]), free_circle),
        ("free pages that are in use", Shown(&[]), free_in_use),
        ("a row that claims two gigabytes", Either, |b| {
            payload(b, 1 << 31);
        }),
        ("a row that claims all that 64 bits hold", Either, |b| {
            payload(b, u64::MAX);
        }),
        ("a value that claims two gigabytes", Either, |b| {
            serial_type(b, 2 * (1 << 31) + 13);
        }),
        ("a row's header that claims a gigabyte", Either, |b| {
            record_header(b, 1 << 30);
        }),
        ("an overflow chain in a circle", Shown(&[]), overflow_circle),
        (
            "an overflow chain that ends early",
            Shown(&[]),
            overflow_end,
        ),
        (
            "thousands of rows that share one long overflow chain",
            Shown(&["table-damaged"]),
            shared_overflow,
        ),
        (
            "rowids that run backwards",
            Shown(&["table-damaged"]),
            rowids_backwards,
        ),
    ] {
        cases.push(Box::new(move || {
            let mut bytes = many();
            change(&mut bytes);
            database(name, outcome, bytes)
        }));
    }
    cases.push(Box::new(|| {
        let mut bytes = many();
        let cut = bytes.len() - 700;
        bytes.truncate(cut);
        database("cut in the middle of a page", Refused("cut off"), bytes)
    }));
    cases.push(Box::new(|| {
        let mut bytes = many();
        let half = page::count(&bytes) / 2;
        bytes.truncate(half * 512);
        put32(&mut bytes, 28, half as u32);
        database("half of it gone, and the header agrees", Either, bytes)
    }));
    cases.push(Box::new(|| {
        let mut bytes = make(
            "PRAGMA page_size = 512; PRAGMA auto_vacuum = FULL",
            &[super::SCHEMA, super::PLAIN_KEY, super::GATES_SCHEMA, MANY],
        );
        put(&mut bytes, 512, &[0xff; 512]);
        database("auto-vacuum with a map of nonsense", Shown(&[]), bytes)
    }));
    cases.push(Box::new(|| {
        let columns: Vec<String> = (0..1_990).map(|n| format!("c{n} TEXT")).collect();
        let values = "'v', ".repeat(1_990);
        let bytes = bare(&format!(
            "CREATE TABLE x_wide ({columns}); INSERT INTO x_wide VALUES ({values});
             CREATE TABLE execution ({columns}, id INTEGER PRIMARY KEY, statement_text, status);
             INSERT INTO execution VALUES ({values_first}1, 'session \"A\"', 'failed');
             CREATE TABLE bindings ({columns}, name, kind, value); INSERT INTO bindings VALUES ({values_first}'a', 'let', 'x')",
            columns = columns.join(", "),
            values = values.trim_end_matches(", "),
            values_first = values,
        ));
        database("tables of two thousand columns", Shown(&["unknown-column"]), bytes)
    }));
    cases.push(Box::new(|| {
        let columns: Vec<String> = (0..1_990).map(|n| format!("c{n}")).collect();
        let bytes = bare(&format!(
            "CREATE TABLE execution (id INTEGER PRIMARY KEY, {columns}, statement_text, status, metadata);
             CREATE TABLE bindings ({columns}, name, execution_id, kind, value, source_statement);
             CREATE TABLE gate_audit_log ({columns}, id, gate_id, run_id, event_type);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) INSERT INTO execution (id) SELECT i FROM n;
             INSERT INTO bindings (c0) SELECT id FROM execution; INSERT INTO gate_audit_log (c0) SELECT id FROM execution",
            columns = columns.join(", "),
        ));
        database("thousands of empty rows in tables of two thousand columns", Shown(&[]), bytes)
    }));
    cases.push(Box::new(|| {
        let script = format!(
            "{RUN} PRAGMA writable_schema = ON;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
             INSERT INTO sqlite_schema SELECT 'table', 't' || i, 't' || i, 2, 'CREATE TABLE t' || i || '(a)' FROM n"
        );
        database("twelve thousand tables", Either, documents(&script))
    }));
    cases.push(Box::new(|| {
        let bytes = bare(&format!(
            "CREATE TABLE run (id TEXT, status TEXT DEFAULT ('{}')); INSERT INTO run (id) VALUES ('r')",
            "x".repeat(900_000)
        ));
        database("a CREATE statement of a megabyte", Either, bytes)
    }));
    cases
}

/// Returns a database with many rows on pages of 512 bytes: `execution` has two levels of pages.
fn many() -> Vec<u8> {
    let long =
        "INSERT INTO bindings (name, kind, value) VALUES ('long', 'let', hex(zeroblob(9000)))";
    make(
        "PRAGMA page_size = 512",
        &[
            super::SCHEMA,
            super::PLAIN_KEY,
            super::GATES_SCHEMA,
            MANY,
            long,
        ],
    )
}

/// Returns the root of `execution`, an inner page.
fn root(bytes: &[u8]) -> page::Tree {
    page::root_of(bytes, "execution")
        .and_then(|root| page::tree(bytes, root))
        .filter(page::Tree::is_inner)
        .expect("a table of two levels")
}

/// Returns a leaf of `execution`.
fn leaf(bytes: &[u8]) -> page::Tree {
    let root = root(bytes);
    let mut page = page::be32(bytes, root.cells[0]) as usize;
    loop {
        let tree = page::tree(bytes, page).expect("a page of the table");
        if !tree.is_inner() {
            return tree;
        }
        page = page::be32(bytes, tree.cells[0]) as usize;
    }
}

fn own_child(bytes: &mut Vec<u8>) {
    let root = root(bytes);
    for cell in &root.cells {
        put32(bytes, *cell, root.page as u32);
    }
}

/// Makes one leaf the child of every inner page, so that the leaf's rows are repeated again and again.
fn shared_leaf(bytes: &mut Vec<u8>) {
    let (root, leaf) = (root(bytes), leaf(bytes));
    let inner: Vec<usize> = root
        .cells
        .iter()
        .map(|cell| page::be32(bytes, *cell) as usize)
        .collect();
    for page in inner.into_iter().chain([root.page]) {
        let Some(tree) = page::tree(bytes, page).filter(page::Tree::is_inner) else {
            continue;
        };
        for cell in tree.cells.iter().chain([&(tree.head + 8)]) {
            put32(bytes, *cell, leaf.page as u32);
        }
    }
}

/// Adds inner pages in a row: all children of an inner page are the next page. The number of rows grows exponentially
/// with the number of these pages.
fn shared_levels(bytes: &mut Vec<u8>) {
    let (root, leaf) = (root(bytes), leaf(bytes));
    let first = page::count(bytes) + 1;
    const LEVELS: usize = 18;
    for level in 0..LEVELS {
        let next = if level + 1 == LEVELS {
            leaf.page
        } else {
            first + level + 1
        };
        bytes.extend(inner_page(512, next as u32, 40));
    }
    let count = page::count(bytes) as u32;
    put32(bytes, 28, count);
    let at = root.head;
    let page = inner_page(512, first as u32, 40);
    put(bytes, at, &page);
}

/// Returns an inner page of a table with this many cells, all with the same child.
fn inner_page(size: usize, child: u32, cells: usize) -> Vec<u8> {
    let mut page = vec![0; size];
    page[0] = 5;
    put16(&mut page, 3, cells);
    let start = size - 6 * cells;
    put16(&mut page, 5, start);
    put32(&mut page, 8, child);
    for n in 0..cells {
        let cell = start + 6 * n;
        put16(&mut page, 12 + 2 * n, cell);
        put32(&mut page, cell, child);
        put(&mut page, cell + 4, &varint(1_000 + n as u64));
    }
    page
}

fn schema(bytes: &mut Vec<u8>, sql: &str) {
    let changed = seeds::with(bytes, |conn| {
        let _ = conn.execute_batch(&format!("PRAGMA writable_schema = ON; {sql}"));
    });
    *bytes = changed.expect("a database that opens");
}

fn one_root(bytes: &mut Vec<u8>) {
    schema(
        bytes,
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'bindings') WHERE name = 'execution'",
    );
}

fn root_in_schema(bytes: &mut Vec<u8>) {
    schema(
        bytes,
        "UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'execution'",
    );
}

fn root_behind_end(bytes: &mut Vec<u8>) {
    schema(
        bytes,
        "UPDATE sqlite_schema SET rootpage = 1000000 WHERE name = 'execution'",
    );
}

fn cells_together(bytes: &mut Vec<u8>) {
    let leaf = leaf(bytes);
    let first = page::be16(bytes, leaf.pointers());
    for n in 0..leaf.cells.len() {
        put16(bytes, leaf.pointers() + 2 * n, first);
    }
}

fn cells_in_head(bytes: &mut Vec<u8>) {
    let leaf = leaf(bytes);
    for n in 0..leaf.cells.len() {
        put16(bytes, leaf.pointers() + 2 * n, n);
    }
}

fn free_blocks(bytes: &mut Vec<u8>) {
    let leaf = leaf(bytes);
    let at = leaf.cells[0] - page::start(bytes, leaf.page);
    put16(bytes, leaf.head + 1, at);
}

fn free_circle(bytes: &mut Vec<u8>) {
    let page = page::count(bytes) + 1;
    let mut trunk = vec![0; 512];
    put32(&mut trunk, 0, page as u32);
    put32(&mut trunk, 4, 100);
    for n in 0..100 {
        put32(&mut trunk, 8 + 4 * n, page as u32);
    }
    bytes.extend(trunk);
    put32(bytes, 28, page as u32);
    put32(bytes, 32, page as u32);
    put32(bytes, 36, 1_000_000);
}

fn free_in_use(bytes: &mut Vec<u8>) {
    let root = root(bytes);
    put32(bytes, 32, root.page as u32);
    put32(bytes, 36, 9);
}

fn payload(bytes: &mut Vec<u8>, claim: u64) {
    let leaf = leaf(bytes);
    for cell in &leaf.cells {
        put(bytes, *cell, &varint(claim));
    }
}

fn serial_type(bytes: &mut Vec<u8>, claim: u64) {
    let leaf = leaf(bytes);
    for cell in &leaf.cells {
        let at = leaf.record(bytes, *cell) + 3;
        put(bytes, at, &varint(claim));
    }
}

fn record_header(bytes: &mut Vec<u8>, claim: u64) {
    let leaf = leaf(bytes);
    for cell in &leaf.cells {
        let at = leaf.record(bytes, *cell);
        put(bytes, at, &varint(claim));
    }
}

/// Returns the first overflow page of a value in `bindings` that is longer than a page.
fn chain(bytes: &[u8]) -> usize {
    let root = page::root_of(bytes, "bindings").expect("bindings");
    let mut leaves = vec![root];
    if let Some(tree) = page::tree(bytes, root).filter(page::Tree::is_inner) {
        leaves = tree
            .cells
            .iter()
            .chain([&(tree.head + 8)])
            .map(|cell| page::be32(bytes, *cell) as usize)
            .collect();
    }
    let count = page::count(bytes);
    for leaf in leaves
        .into_iter()
        .filter_map(|page| page::tree(bytes, page))
    {
        for cell in &leaf.cells {
            let (one, two) = (bytes[*cell], bytes[*cell + 1]);
            if one & 0x80 == 0 || two & 0x80 == 0 {
                continue;
            }
            // A length of three bytes exceeds a page, so the row has overflow pages. How much of the row is on the leaf
            // depends on this length.
            let usable = 512_usize;
            let payload = (usize::from(one & 0x7f) << 14)
                | (usize::from(two & 0x7f) << 7)
                | usize::from(bytes[*cell + 2] & 0x7f);
            let least = (usable - 12) * 32 / 255 - 23;
            let most = usable - 35;
            let surplus = least + (payload - least) % (usable - 4);
            let local = if surplus <= most { surplus } else { least };
            let next = page::be32(bytes, leaf.record(bytes, *cell) + local) as usize;
            assert!(
                (2..=count).contains(&next),
                "page {next} is no overflow page"
            );
            return next;
        }
    }
    panic!("no value has a chain");
}

fn overflow_circle(bytes: &mut Vec<u8>) {
    let first = chain(bytes);
    let at = page::start(bytes, first);
    put32(bytes, at, first as u32);
}

fn overflow_end(bytes: &mut Vec<u8>) {
    let first = chain(bytes);
    let at = page::start(bytes, first);
    put32(bytes, at, 0);
}

/// Adds leaves full of rows that share one overflow chain. The statement, error and metadata of each row have 60 KB
/// each, so a file of some hundred KB has hundreds of megabytes of text. No two rows are alike.
fn shared_overflow(bytes: &mut Vec<u8>) {
    const SIZE: usize = 512;
    let root = root(bytes);
    // The columns of a row: id, index, text, status, started, completed, error, parent, metadata. The part on the leaf
    // ends within the first bytes of the text, and these bytes differ between rows. The length is chosen so that only
    // a small part of a row is on the leaf.
    let header = |long: usize| {
        let text = varint(2 * long as u64 + 13);
        let mut header = vec![16, 0, 9];
        header.extend(&text);
        header.extend([0, 0, 0]);
        header.extend(&text);
        header.push(0);
        header.extend(&text);
        header
    };
    let kept = |long: usize| {
        let (payload, least) = (header(long).len() + 3 * long, (SIZE - 12) * 32 / 255 - 23);
        least + (payload - least) % (SIZE - 4)
    };
    let long = (60_000..).find(|long| kept(*long) < 60).expect("a length");
    let (header, local) = (header(long), kept(long));
    let payload = header.len() + 3 * long;

    let chain = page::count(bytes) + 1;
    let links = payload / (SIZE - 4) + 2;
    for n in 0..links {
        let mut link = vec![b'a' + (n % 26) as u8; SIZE];
        let next = if n + 1 < links { chain + n + 1 } else { 0 };
        put32(&mut link, 0, next as u32);
        bytes.extend(link);
    }
    let mut rowid = 1_u64;
    let mut leaves = Vec::new();
    for _ in 0..500 {
        let mut page = vec![0; SIZE];
        page[0] = 13;
        let (mut end, mut cells) = (SIZE, 0);
        loop {
            let mut cell = varint(payload as u64);
            cell.extend(varint(rowid));
            cell.extend(&header);
            let own = format!("{rowid:012}").into_bytes();
            cell.extend(own.iter().cycle().take(local - header.len()));
            cell.extend((chain as u32).to_be_bytes());
            if end < 8 + 2 * (cells + 1) + cell.len() {
                break;
            }
            end -= cell.len();
            put(&mut page, end, &cell);
            put16(&mut page, 8 + 2 * cells, end);
            cells += 1;
            rowid += 1;
        }
        put16(&mut page, 3, cells);
        put16(&mut page, 5, end);
        bytes.extend(page);
        leaves.push((page::count(bytes) as u32, rowid - 1));
    }
    let inner: Vec<(u32, u64)> = leaves
        .chunks(40)
        .map(|children| {
            bytes.extend(parent_of(SIZE, children));
            (page::count(bytes) as u32, children[children.len() - 1].1)
        })
        .collect();
    put(bytes, root.head, &parent_of(SIZE, &inner));
    let count = page::count(bytes) as u32;
    put32(bytes, 28, count);
}

/// Returns an inner page over these pages, each with its last rowid.
fn parent_of(size: usize, children: &[(u32, u64)]) -> Vec<u8> {
    let cells = children.len() - 1;
    let mut page = inner_page(size, children[cells].0, cells);
    for (n, (child, last)) in children[..cells].iter().enumerate() {
        let cell = size - 6 * cells + 6 * n;
        put32(&mut page, cell, *child);
        put(&mut page, cell + 4, &varint(*last));
    }
    page
}

fn rowids_backwards(bytes: &mut Vec<u8>) {
    let root = root(bytes);
    let mut children: Vec<u32> = root
        .cells
        .iter()
        .map(|cell| page::be32(bytes, *cell))
        .collect();
    children.reverse();
    for (cell, child) in root.cells.iter().zip(children) {
        put32(bytes, *cell, child);
    }
}
