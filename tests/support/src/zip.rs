//! Builds zips byte by byte, for tests: valid zips, and zips that no tool writes.

/// An entry of a zip. Its fields may contradict each other.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The name in the central directory.
    pub name: Vec<u8>,
    /// The name in the local header.
    pub local: Vec<u8>,
    /// The stored bytes.
    pub bytes: Vec<u8>,
    /// The compression method: 0 stored, 8 deflated.
    pub method: u16,
    /// The flags of the entry; 1 means encrypted.
    pub flags: u16,
    /// The declared checksum.
    pub crc: u32,
    /// The declared length after unpacking.
    pub len: u32,
    /// The type and permissions of a Unix file.
    pub mode: u32,
    /// The declared offset of the local header, if it is not the true one.
    pub at: Option<u32>,
}

impl Entry {
    /// Creates a valid entry, stored without compression.
    pub fn stored(name: &str, bytes: &[u8]) -> Entry {
        Entry {
            name: name.into(),
            local: name.into(),
            bytes: bytes.to_vec(),
            method: 0,
            flags: 0,
            crc: crc(bytes),
            len: bytes.len() as u32,
            mode: 0o100_644,
            at: None,
        }
    }
}

/// Returns a zip with these entries.
pub fn zip(entries: &[Entry]) -> Vec<u8> {
    zip_listing(entries, entries.len() as u16)
}

/// Returns a zip that declares this number of entries.
pub fn zip_listing(entries: &[Entry], listed: u16) -> Vec<u8> {
    let (mut zip, mut list) = (Vec::new(), Vec::new());
    for entry in entries {
        let at = entry.at.unwrap_or(zip.len() as u32);
        let put = |to: &mut Vec<u8>, name: &[u8]| {
            for half in [20, entry.flags, entry.method, 0, 33] {
                to.extend(u16::to_le_bytes(half));
            }
            for word in [entry.crc, entry.bytes.len() as u32, entry.len] {
                to.extend(u32::to_le_bytes(word));
            }
            to.extend(u16::to_le_bytes(name.len() as u16));
            to.extend([0, 0]);
        };
        zip.extend(b"PK\x03\x04");
        put(&mut zip, &entry.local);
        zip.extend(&entry.local);
        zip.extend(&entry.bytes);
        // The 3 means "made by Unix", so the upper half of the attributes contains the permissions.
        list.extend(b"PK\x01\x02\x14\x03");
        put(&mut list, &entry.name);
        list.extend([0; 6]);
        list.extend(u32::to_le_bytes(entry.mode << 16));
        list.extend(u32::to_le_bytes(at));
        list.extend(&entry.name);
    }
    let (start, len) = (zip.len() as u32, list.len() as u32);
    zip.extend(list);
    zip.extend(b"PK\x05\x06\0\0\0\0");
    zip.extend(u16::to_le_bytes(listed));
    zip.extend(u16::to_le_bytes(listed));
    zip.extend(u32::to_le_bytes(len));
    zip.extend(u32::to_le_bytes(start));
    zip.extend([0, 0]);
    zip
}

/// Returns a zip that declares a million entries in its zip64 record.
pub fn zip_of_a_million() -> Vec<u8> {
    let mut zip = zip_listing(&[Entry::stored("a", b"")], 1);
    zip.truncate(zip.len() - 22);
    long(zip, 1_000_000, 46_000_000, 0)
}

/// Returns a zip with a zip64 record, which can list more entries than the classic format.
pub fn zip_long(entries: &[Entry]) -> Vec<u8> {
    let mut zip = zip_listing(entries, 0);
    let end = zip.split_off(zip.len() - 22);
    let word = |at: usize| {
        end[at..at + 4]
            .iter()
            .rev()
            .fold(0, |n, b| n << 8 | u64::from(*b))
    };
    long(zip, entries.len() as u64, word(12), word(16))
}

/// Appends the zip64 record that ends a zip.
fn long(mut zip: Vec<u8>, listed: u64, len: u64, start: u64) -> Vec<u8> {
    let at = zip.len() as u64;
    zip.extend(b"PK\x06\x06");
    zip.extend(u64::to_le_bytes(44));
    zip.extend([45, 0, 45, 0]);
    zip.extend([0; 8]);
    for long in [listed, listed, len, start] {
        zip.extend(u64::to_le_bytes(long));
    }
    zip.extend(b"PK\x06\x07\0\0\0\0");
    zip.extend(u64::to_le_bytes(at));
    zip.extend(u32::to_le_bytes(1));
    zip.extend(b"PK\x05\x06\0\0\0\0");
    zip.extend([0xff; 12]);
    zip.extend([0, 0]);
    zip
}

/// Returns the CRC-32 checksum of an entry's bytes.
pub fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    let all = bytes.iter();
    !all.fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}
