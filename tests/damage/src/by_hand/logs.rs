//! Cases with damaged files beside a database: `-wal`, `-shm` and `-journal` (errata R2).

use super::{Make, RUN, database, documents};
use crate::Outcome::{self, Either, Refused, Shown};
use crate::page::{self, put, put32};
use crate::wal::{Log, between};
use crate::{Case, seeds};

pub(super) fn cases() -> Vec<Make> {
    let mut cases: Vec<Make> = Vec::new();
    cases.push(Box::new(|| {
        let (file, wal) = pair();
        with_wal("the newest rows only in the -wal", Shown(&[]), file, wal)
    }));
    cases.push(Box::new(|| {
        let (file, _) = pair();
        database(
            "in WAL mode, and the -wal is missing",
            Shown(&["wal-missing"]),
            file,
        )
    }));
    cases.push(Box::new(|| {
        let (file, _) = pair();
        with_wal(
            "in WAL mode, and the -wal is empty",
            Shown(&[]),
            file,
            Vec::new(),
        )
    }));
    cases.push(Box::new(|| {
        let (_, wal) = pair();
        Case::new("a -wal in place of the database", Refused("-wal")).file("state.db", wal)
    }));
    cases.push(Box::new(|| {
        // After the first commit of a new database, its whole content is still in the `-wal`.
        let after = documents(RUN);
        let (_, wal) = between(&[], &after);
        with_wal(
            "a database of one page, all else in the -wal",
            Shown(&[]),
            after[..1024].to_vec(),
            wal,
        )
    }));
    for (name, outcome, change) in [
        (
            "a -wal cut in the middle of a frame",
            Shown(&[]),
            (|wal: &mut Vec<u8>| {
                let cut = wal.len() - 600;
                wal.truncate(cut);
            }) as fn(&mut Vec<u8>),
        ),
        ("a -wal with a broken checksum", Shown(&[]), |wal| {
            let at = wal.len() / 2;
            wal[at] ^= 1;
        }),
        ("a -wal of another page size", Shown(&[]), |wal| {
            *wal = Log::new(4096).bytes;
        }),
        ("a -wal of noise", Shown(&[]), |wal| {
            *wal = crate::Dice::new(1).noise(9_000);
        }),
        ("a -wal that commits four billion pages", Either, |wal| {
            let mut log = Log::new(1024);
            log.frame(1, u32::MAX, &documents(RUN)[..1024]);
            *wal = log.bytes;
        }),
        (
            "a -wal that writes the last page there can be",
            Either,
            |wal| {
                let mut log = Log::new(1024);
                log.frame(u32::MAX, 3, &[0; 1024]);
                *wal = log.bytes;
            },
        ),
        ("a -wal that leaves one page", Either, |wal| {
            let mut log = Log::new(1024);
            log.frame(1, 1, &documents(RUN)[..1024]);
            *wal = log.bytes;
        }),
        (
            "a -wal that writes the same page a thousand times",
            Shown(&[]),
            |wal| {
                let first = documents(RUN);
                let mut log = Log::new(1024);
                for _ in 0..1_000 {
                    log.frame(1, page::count(&first) as u32, &first[..1024]);
                }
                *wal = log.bytes;
            },
        ),
        (
            "a -wal whose first page is another database",
            Either,
            |wal| {
                let mut other = seeds::make("PRAGMA page_size = 1024", &["CREATE TABLE songs (a)"]);
                put32(&mut other, 28, 3);
                let mut log = Log::new(1024);
                log.frame(1, 3, &other[..1024]);
                *wal = log.bytes;
            },
        ),
    ] as [(&'static str, Outcome, fn(&mut Vec<u8>)); 9]
    {
        cases.push(Box::new(move || {
            let (file, mut wal) = pair();
            change(&mut wal);
            with_wal(name, outcome, file, wal)
        }));
    }
    cases.push(Box::new(|| {
        let (file, wal) = pair();
        with_wal("a -shm of noise beside the -wal", Either, file, wal)
            .file("state.db-shm", crate::Dice::new(2).noise(32_768))
    }));
    cases.push(Box::new(|| {
        let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
        journal.extend([0, 0, 0, 1, 1, 2, 3, 4, 0, 0, 0, 3, 0, 0, 2, 0, 0, 0, 4, 0]);
        journal.resize(512, 0);
        // The journal contains a page whose checksum is wrong.
        journal.extend([0, 0, 0, 2]);
        journal.extend([0x5a; 1024]);
        journal.extend([0; 4]);
        database("a hot journal", Either, documents(RUN)).file("state.db-journal", journal)
    }));
    cases.push(Box::new(|| {
        database("a journal of noise", Shown(&[]), documents(RUN))
            .file("state.db-journal", crate::Dice::new(3).noise(5_000))
    }));
    cases.push(Box::new(|| {
        // The journal contains the path of a master journal. The sender of the file chose this path.
        let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
        journal.resize(512, 0);
        let name = b"/etc/passwd";
        journal.extend([0, 0, 0, 0]);
        journal.extend(name);
        journal.extend((name.len() as u32).to_be_bytes());
        journal.extend(
            name.iter()
                .map(|b| u32::from(*b))
                .sum::<u32>()
                .to_be_bytes(),
        );
        journal.extend([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
        database(
            "a journal that names another one outside",
            Either,
            documents(RUN),
        )
        .file("state.db-journal", journal)
    }));
    cases
}

/// Returns a database and the log of its newest rows.
fn pair() -> (Vec<u8>, Vec<u8>) {
    let before = documents(RUN);
    let after = seeds::with(&before, |conn| {
        seeds::run(
            conn,
            "INSERT INTO execution (statement_index, statement_text, status) VALUES (2, 'session \"Newest\"', 'failed');
             INSERT INTO bindings (name, kind, value) VALUES ('newest', 'let', hex(zeroblob(3000)));
             UPDATE run SET status = 'failed'",
        );
    });
    between(&before, &after.expect("a database that opens"))
}

fn with_wal(name: &str, outcome: Outcome, mut file: Vec<u8>, wal: Vec<u8>) -> Case {
    put(&mut file, 18, &[2, 2]);
    database(name, outcome, file).file("state.db-wal", wal)
}
