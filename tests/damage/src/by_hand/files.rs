//! Cases with files that have the name of a database, but are not databases.

use super::{Make, RUN, database, documents};
use crate::Outcome::{Either, Refused};
use crate::{Dice, What};

pub(super) fn cases() -> Vec<Make> {
    let mut cases: Vec<Make> = Vec::new();
    for (name, says, bytes) in [
        ("an empty file", "empty", &b""[..]),
        (
            "sixteen bytes of a database",
            "cut off",
            b"SQLite format 3\0",
        ),
        ("a zip archive", "zip", b"PK\x03\x04\x14\0\0\0\x08\0"),
        ("a gzip file", "gzip", b"\x1f\x8b\x08\0\0\0\0\0"),
        (
            "a pointer of Git LFS",
            "git lfs",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
        ),
        (
            "a page of a failed download",
            "HTML",
            b"<!doctype html><script>alert(1)</script>",
        ),
        ("JSON in place of a database", "JSON", b"{\"run\": []}"),
        (
            "SQLite 2",
            "a database of SQLite 2",
            b"** This file contains an SQLite 2.1 database **",
        ),
        (
            "a journal in place of the database",
            "journal",
            b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7",
        ),
        (
            "terminal escapes in place of a database",
            "\\x1b",
            b"\x1b]0;owned\x07\x1b[2J\x1b[31m",
        ),
    ] {
        cases.push(Box::new(move || {
            database(name, Refused(says), bytes.to_vec())
        }));
    }
    cases.push(Box::new(|| {
        // SQLCipher encrypts the whole file: it begins with a salt instead of a header, and looks like noise.
        database(
            "an encrypted database",
            Refused("encrypted"),
            Dice::new(5).noise(16_384),
        )
    }));
    cases.push(Box::new(|| {
        // Some encryption extensions leave the first hundred bytes of a database, its header, unencrypted.
        let mut bytes = documents(RUN);
        let noise = Dice::new(6).noise(bytes.len() - 100);
        bytes[100..].copy_from_slice(&noise);
        database(
            "an encrypted database with a plain header",
            Refused(""),
            bytes,
        )
    }));
    cases.push(Box::new(|| {
        database("nothing but zeros", Refused("zeros"), vec![0; 8_192])
    }));
    cases.push(Box::new(|| {
        let mut bytes = b"SQLite format 3\0".to_vec();
        bytes.resize(4_096, 0);
        database("a magic and nothing but zeros", Refused("page size"), bytes)
    }));
    cases.push(Box::new(|| {
        let mut bytes = documents(RUN);
        bytes.truncate(100);
        database("only the header", Refused("cut off"), bytes)
    }));
    cases.push(Box::new(|| {
        let mut bytes = documents(RUN);
        bytes.extend(documents(RUN));
        database("two databases in one file", Either, bytes)
    }));
    cases.push(Box::new(|| {
        let text = String::from_utf8_lossy(&documents(RUN)).replace('\n', "\r\n");
        database(
            "a database that was copied as text",
            Refused(""),
            text.into_bytes(),
        )
    }));
    cases.push(Box::new(|| {
        crate::Case::new("a database of a gigabyte of zeros", Refused("zeros"))
            .other("state.db", What::Hole(1 << 30))
    }));
    cases
}
