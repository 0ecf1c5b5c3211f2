//! Reads the header of a SQLite database from a file's first bytes. For a file of another type, the error contains
//! the probable type, such as a zip archive.
//!
//! Source: SQLite, "Database File Format", 1.3 "The Database Header".

use crate::model::database::{DecodeError, bytes_in_words};
use crate::model::issue::Issue;

/// Number of bytes at a file's start that callers pass to [`Header::read`]; of a shorter file, all its bytes.
pub const HEAD: usize = 512;

const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// The parsed header of a SQLite database file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The page size in bytes, from 512 to 65,536.
    pub page_size: u32,
    /// Number of pages; `None` if the header's count is missing or outdated.
    pub pages: Option<u32>,
    /// Whether the database is in WAL mode: its newest rows may be in a separate `-wal` file.
    pub wal: bool,
    /// Size of the file in bytes.
    pub len: u64,
}

impl Header {
    /// Reads the header from a file's first bytes ([`HEAD`] of them) and its length.
    ///
    /// # Errors
    /// If the file is not a SQLite database: empty, another format, or encrypted.
    pub fn read(head: &[u8], len: u64) -> Result<Header, DecodeError> {
        if !head.starts_with(MAGIC) {
            return Err(not_sqlite(head, len));
        }
        let cut_off = || DecodeError::Truncated {
            expected: "at least 100 bytes".into(),
            found: bytes_in_words(len),
        };
        let page_size = match be16(head, 16).ok_or_else(cut_off)? {
            1 => 65_536,
            n => u32::from(n),
        };
        if page_size < 512 || !page_size.is_power_of_two() {
            return Err(DecodeError::BadHeader(format!(
                "the page size of {page_size} bytes is invalid"
            )));
        }
        let counted = be32(head, 28).ok_or_else(cut_off)?;
        let current = be32(head, 24) == be32(head, 92);
        let (write, read) = (head.get(18).copied(), head.get(19).copied());
        Ok(Header {
            page_size,
            pages: (current && counted > 0).then_some(counted),
            wal: write == Some(2) || read == Some(2),
            len,
        })
    }

    /// Checks that the file contains all pages counted in its header. In WAL mode, pages that are missing in the file
    /// may be in the `-wal` file.
    ///
    /// # Errors
    /// [`DecodeError::Truncated`] if pages are missing.
    pub fn whole(&self) -> Result<(), DecodeError> {
        let expected = self
            .pages
            .map_or(512, |n| u64::from(n) * u64::from(self.page_size));
        if self.len < expected {
            return Err(DecodeError::Truncated {
                expected: bytes_in_words(expected),
                found: bytes_in_words(self.len),
            });
        }
        Ok(())
    }
}

/// Returns the issue for a database in WAL mode whose `-wal` file does not exist. `has_shm` is whether its `-shm` file
/// exists.
///
/// A writer that closes the database removes `-wal` and `-shm` together. A remaining `-shm` therefore proves that
/// rows are missing. Without a `-shm`, rows are missing only if the database was copied while it was open.
pub fn wal_missing(path: &str, has_shm: bool) -> Issue {
    let what = format!("{path} is in WAL mode and there is no {path}-wal");
    let issue = if has_shm {
        Issue::warning(
            "wal-missing",
            format!("{what}, but a {path}-shm: the newest rows are missing"),
        )
    } else {
        Issue::noted(
            "wal-missing",
            format!(
                "{what}: rows are missing if the database was copied while a program had it open"
            ),
        )
    };
    issue.at_file(path).hint(format!(
        "If there is a {path}-wal beside the original, copy both files again together."
    ))
}

fn be16(head: &[u8], at: usize) -> Option<u16> {
    let bytes = head.get(at..at + 2)?;
    Some(u16::from_be_bytes(bytes.try_into().ok()?))
}

pub(crate) fn be32(head: &[u8], at: usize) -> Option<u32> {
    let bytes = head.get(at..at + 4)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// First bytes of file types that users may mistake for databases, with the words for the error message.
const GUESSES: &[(&[u8], &str)] = &[
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"RIFF", "a picture, a sound or a film"),
    (b"\x00\x00\x00\x18ftyp", "a film"),
    (b"\x00\x00\x00\x1cftyp", "a film or a picture"),
    (b"\x00\x00\x00\x20ftyp", "a film"),
    (b"\x1aE\xdf\xa3", "a film"),
    (b"ID3", "a sound"),
    (b"OggS", "a sound or a film"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\0asm", "a WebAssembly program"),
    (b"#!", "a script"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"PK\x03\x04", "a zip archive; unpack it first"),
    (
        b"BZh",
        "a file compressed with bzip2; unpack the file first",
    ),
    (
        b"\xfd7zXZ\x00",
        "a file compressed with xz; unpack the file first",
    ),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it first"),
    (b"Rar!\x1a\x07", "a RAR archive; unpack it first"),
    (b"PAR1", "a Parquet table"),
    (b"PGDMP", "a dump of PostgreSQL; restore it first"),
    (
        b"age-encryption.org/",
        "a file encrypted with age; decrypt the file first",
    ),
    (
        b"\x1f\x8b",
        "a file compressed with gzip; unpack the file first",
    ),
    (
        b"\x28\xb5\x2f\xfd",
        "a file compressed with zstd; unpack the file first",
    ),
    (
        b"\x37\x7f\x06\x82",
        "the `-wal` file of a database; open the database itself, with this file in the same folder",
    ),
    (
        b"\x37\x7f\x06\x83",
        "the `-wal` file of a database; open the database itself, with this file in the same folder",
    ),
    (
        b"\xd9\xd5\x05\xf9",
        "the rollback journal of a database; open the database itself",
    ),
    (
        b"SQLite format 3",
        "a SQLite header that is damaged or of a newer version",
    ),
    (
        b"** This file contains an SQLite 2",
        "a database of SQLite 2; convert the database to SQLite 3 first",
    ),
    (
        b"# Execution State",
        "the `state.md` of a run folder; open the folder instead",
    ),
    (
        b"# run:",
        "the `state.md` of a run folder; open the folder instead",
    ),
    (b"{", "probably JSON"),
    (
        b"<",
        "probably HTML or XML; check whether a web page was downloaded instead of the file",
    ),
    (
        b"version https://git-lfs",
        "a Git LFS pointer; fetch the file itself with `git lfs pull`",
    ),
];

/// Returns the error for a file that is not a SQLite database. The message contains the file's probable type, derived
/// from its first bytes and its length.
pub fn not_sqlite(head: &[u8], len: u64) -> DecodeError {
    if len == 0 {
        return DecodeError::Empty;
    }
    let size = bytes_in_words(len);
    let start = head.get(..16).unwrap_or(head);
    let shown = format!("\"{}\"", start.escape_ascii());
    if let Some((_, guess)) = GUESSES.iter().find(|(magic, _)| head.starts_with(magic)) {
        return DecodeError::NotSqlite {
            what: format!("{size}, {guess}"),
        };
    }
    if looks_random(head) {
        return DecodeError::Encrypted { size, head: shown };
    }
    let what = if head.iter().all(|b| *b == 0) {
        format!(
            "{size}, only zeros, because a copy or download was not finished; copy or download the file again"
        )
    } else if std::str::from_utf8(head).is_ok_and(|t| !t.contains('\0')) {
        format!("{size} of text, beginning with {shown}")
    } else {
        format!("{size}, beginning with {shown}")
    };
    DecodeError::NotSqlite { what }
}

/// Whether a file's first bytes have as many distinct values as encrypted data. Compressed data has as many distinct
/// values, so the caller must rule out compressed file types first.
fn looks_random(head: &[u8]) -> bool {
    if head.len() < 256 {
        return false;
    }
    let mut seen = [false; 256];
    for byte in head {
        if let Some(flag) = seen.get_mut(usize::from(*byte)) {
            *flag = true;
        }
    }
    // 256 random bytes have about 162 distinct values, and 512 random bytes about 221. Text has some 70.
    seen.iter().filter(|s| **s).count() > head.len().min(512) / 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_database_is_named() {
        let noise: Vec<u8> = (0..512u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        for (head, len, expected) in [
            (&b""[..], 0, "the file is empty (0 bytes)"),
            (
                b"hello",
                5,
                "this is not a SQLite database: 5 bytes of text, beginning with \"hello\"",
            ),
            (
                b"PK\x03\x04\x14\x00",
                123_456,
                "this is not a SQLite database: 123 KB, a zip archive; unpack it first",
            ),
            (
                &[0; 512],
                4096,
                "this is not a SQLite database: 4096 bytes, only zeros, because a copy or download was not finished; copy or download the file again",
            ),
            (
                b"\x37\x7f\x06\x82\x00",
                4_152,
                "this is not a SQLite database: 4152 bytes, the `-wal` file of a database; open the database itself, with this file in the same folder",
            ),
            (
                b"SQLite format 3\0\x10\x00",
                18,
                "the database is cut off: its header announces at least 100 bytes, the file has 18 bytes",
            ),
        ] {
            assert_eq!(Header::read(head, len).unwrap_err().to_string(), expected);
        }
        // These files are compressed inside, so their bytes look random.
        for (magic, named) in [
            (&b"%PDF-1.7\n"[..], "a PDF document"),
            (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
            (b"\xff\xd8\xff\xe0", "a JPEG picture"),
            (b"PK\x03\x04", "a zip archive"),
            (b"\x1f\x8b\x08", "compressed with gzip"),
            (b"\xfd7zXZ\x00", "compressed with xz"),
            (b"\x7fELF\x02", "a program"),
        ] {
            let bytes = [magic, &noise].concat();
            let said = Header::read(&bytes, 8192).unwrap_err().to_string();
            assert!(
                said.contains(named) && !said.contains("encrypted"),
                "{said}"
            );
        }
        let error = Header::read(&noise, 8192).unwrap_err();
        assert!(matches!(error, DecodeError::Encrypted { .. }), "{error}");
        assert!(error.to_string().ends_with("it is probably encrypted"));
    }

    #[test]
    fn a_header_says_what_it_is() {
        let mut head = vec![0u8; 100];
        head[..16].copy_from_slice(MAGIC);
        head[16..20].copy_from_slice(&[0x10, 0, 2, 2]);
        head[31] = 7;
        let header = Header::read(&head, 4096 * 7).unwrap();
        assert_eq!(
            header,
            Header {
                page_size: 4096,
                pages: Some(7),
                wal: true,
                len: 28_672
            }
        );
        assert!(header.whole().is_ok());
        let short = Header {
            len: 28_671,
            ..header
        };
        assert_eq!(
            short.whole().unwrap_err().to_string(),
            "the database is cut off: its header announces 29 KB, the file has 29 KB"
        );
        head[16] = 0x11;
        assert_eq!(
            Header::read(&head, 4096).unwrap_err().to_string(),
            "the database's header is damaged: the page size of 4352 bytes is invalid"
        );
        head[16] = 0;
        head[17] = 1;
        assert_eq!(Header::read(&head, 65_536).unwrap().page_size, 65_536);
    }
}
