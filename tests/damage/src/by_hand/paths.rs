//! Cases with paths that lead out of the run, and with entries of a folder that are not files (errata R5).

use super::{Make, folder};
use crate::Outcome::{self, Either, Shown};
use crate::What;
use crate::folders::A;

/// Each case: its name, the required outcome, and a path beside a healthy run. The file at that path must not be taken
/// for a part of the run.
const PATHS: &[(&str, Outcome, &str)] = &[
    (
        "a path that leads up",
        Shown(&["unsafe-path"]),
        "bindings/../../../escape.md",
    ),
    ("a path that begins above", Either, "../escape.md"),
    ("an absolute path", Either, "/etc/escape.md"),
    (
        "a path with empty parts",
        Shown(&["unsafe-path"]),
        "bindings//escape.md",
    ),
    (
        "a path with a dot as a part",
        Shown(&["unsafe-path"]),
        "bindings/./escape.md",
    ),
    (
        "a path that ends in a slash",
        Shown(&["unsafe-path"]),
        "bindings/escape.md/",
    ),
    (
        "a path of Windows",
        Shown(&[]),
        "bindings\\..\\..\\escape.md",
    ),
    ("a drive of Windows", Either, "C:/escape.md"),
    ("a device of Windows", Shown(&[]), "bindings/CON.md"),
    (
        "a stream of Windows",
        Shown(&[]),
        "bindings/escape.md:stream",
    ),
    (
        "a name that ends in blanks and dots",
        Shown(&[]),
        "bindings/escape.md . .",
    ),
    (
        "a path with a NUL",
        Shown(&["unsafe-path"]),
        "bindings/escape.md\0.png",
    ),
    (
        "a path with terminal escapes",
        Shown(&[]),
        "bindings/\u{1b}]0;x\u{7}\u{1b}[2J.md",
    ),
    (
        "a path written from right to left",
        Shown(&[]),
        "bindings/\u{202e}dm.epacse.md",
    ),
    ("a path with line breaks", Shown(&[]), "bindings/a\nb\r.md"),
    (
        "a path that is markup",
        Shown(&[]),
        "bindings/<img src=x onerror=alert(1)>.md",
    ),
    (
        "a name that differs in case",
        Shown(&[]),
        "bindings/TIDE.md",
    ),
    (
        "a name in another normal form",
        Shown(&[]),
        "bindings/e\u{301}.md",
    ),
];

pub(super) fn cases() -> Vec<Make> {
    let mut cases: Vec<Make> = Vec::new();
    for (name, outcome, path) in PATHS {
        cases.push(Box::new(move || {
            folder(name, *outcome, A).file(*path, *b"# escape\n\nkind: let\n\n---\n\nOut.\n")
        }));
    }
    cases.push(Box::new(|| {
        folder("a path of sixty thousand bytes", Shown(&[]), A).file(
            format!(
                "bindings/{}/x.md",
                "d/".repeat(30_000).trim_end_matches('/')
            ),
            *b"x",
        )
    }));
    cases.push(Box::new(|| {
        folder("a name of four thousand bytes", Shown(&[]), A)
            .file(format!("bindings/{}.md", "n".repeat(4_000)), *b"x")
    }));
    cases.push(Box::new(|| {
        let mut case = folder(
            "thirty thousand files that are none of a run's",
            Shown(&[]),
            A,
        );
        for n in 0..30_000 {
            case = case.file(format!("node_modules/p{}/f{n}.js", n % 300), *b"");
        }
        case
    }));
    for (name, outcome, path, what) in [
        (
            "a link out of the run",
            Shown(&[]),
            "bindings/passwd.md",
            What::Link("/etc/passwd".into()),
        ),
        (
            "a link to its own folder",
            Shown(&[]),
            "bindings/loop",
            What::Link("..".into()),
        ),
        (
            "a link to itself",
            Shown(&[]),
            "agents/me",
            What::Link("me".into()),
        ),
        (
            "a link to a device that never ends",
            Shown(&[]),
            "bindings/zero.md",
            What::Link("/dev/zero".into()),
        ),
        (
            "a link to a terminal",
            Shown(&[]),
            "bindings/tty.md",
            What::Link("/dev/tty".into()),
        ),
        (
            "a pipe that nobody writes to",
            Shown(&[]),
            "bindings/pipe.md",
            What::Pipe,
        ),
        ("a socket", Shown(&[]), "bindings/socket.md", What::Socket),
        (
            "a folder in place of a value",
            Shown(&[]),
            "bindings/folder.md",
            What::Folder,
        ),
        (
            "a pipe in place of the state file's database",
            Shown(&[]),
            "state.db",
            What::Pipe,
        ),
        (
            "a folder in place of the database",
            Shown(&[]),
            "state.db",
            What::Folder,
        ),
        (
            "a pipe beside the database",
            Shown(&[]),
            "x.db-wal",
            What::Pipe,
        ),
        (
            "a sparse file of a terabyte",
            Shown(&[]),
            "bindings/sparse.md",
            What::Hole(1 << 40),
        ),
    ] as [(&'static str, Outcome, &'static str, What); 12]
    {
        cases.push(Box::new(move || {
            folder(name, outcome, A).other(path, what.clone())
        }));
    }
    for (name, target) in [
        ("a database that is a link out", "/etc/passwd"),
        ("a state file that is a link to a device", "/dev/zero"),
    ] {
        cases.push(Box::new(move || {
            folder(
                name,
                Shown(&[]),
                &[("program.prose", "session \"A\"\n"), ("bindings/a.md", "x")],
            )
            .other(
                if name.contains("database") {
                    "state.db"
                } else {
                    "state.md"
                },
                What::Link(target.to_owned()),
            )
        }));
    }
    cases.push(Box::new(|| {
        // SQLite would open a pipe beside a database, and wait for ever.
        folder("pipes where SQLite looks beside a database", Either, &[])
            .file("state.db", super::documents(super::RUN))
            .other("state.db-wal", What::Pipe)
            .other("state.db-journal", What::Pipe)
            .other("state.db-shm", What::Pipe)
    }));
    cases.push(Box::new(|| {
        folder("links where SQLite looks beside a database", Either, &[])
            .file("state.db", super::documents(super::RUN))
            .other("state.db-wal", What::Link("/dev/zero".into()))
            .other("state.db-journal", What::Link("/etc/passwd".into()))
    }));
    cases
}
