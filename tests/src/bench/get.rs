//! Compares `prosescope get` with `sqlite3`: both read the same value of the same file, each in a process of its own.

use std::path::Path;
use std::process::{Command, Stdio};

use prosescope_tests::{build, needs};

use crate::Effort;
use crate::figures::{Rival, in_turn};
use crate::table::beside;

/// An example and the name of one of its values.
const SMALL: (&str, &str) = (
    "examples/.prose/runs/20260118-201530-z4t9wa/state.db",
    "style",
);

pub(crate) fn measure(effort: Effort) {
    let (Some(prose), Some(sqlite3)) = (needs::prose(), needs::sqlite3()) else {
        return;
    };
    println!(
        "prosescope {} the viewer inside. `prosescope get` escapes nothing into a pipe; `sqlite3` runs the query of sqlite.md.\n",
        if std::env::var_os("PROSE_VIEWER_HTML").is_some() {
            "with"
        } else {
            "without"
        }
    );
    println!("The version alone:");
    let mut rivals = [
        Rival::whole("prosescope --version", || {
            run(command(&prose, &["--version".as_ref()]));
        }),
        Rival::whole("sqlite3 -version", || {
            run(command(&sqlite3, &["-version".as_ref()]));
        }),
    ];
    let figures = in_turn(effort.pick(200, 2), &mut rivals);
    beside(&rivals, &figures).print();
    let small = needs::root().join(SMALL.0);
    let medium = build::sized(effort.pick(build::MEDIUM, build::TINY));
    let last = format!(
        "value_{}",
        effort.pick(build::MEDIUM, build::TINY).bindings - 2
    );
    let cases = [
        (&small, SMALL.1),
        (&medium, "value_2"),
        (&medium, last.as_str()),
        (&medium, "value_0"),
    ];
    for (database, name) in cases {
        let query =
            format!("SELECT value FROM bindings WHERE name = '{name}' AND execution_id IS NULL");
        let ours = || {
            let run = ["get".as_ref(), "--run".as_ref(), database.as_os_str()];
            let mut prose = command(&prose, &run);
            prose.arg(name);
            prose
        };
        let theirs = || {
            let args = ["-readonly", "-batch"].map(AsRef::as_ref);
            let mut sqlite3 = command(&sqlite3, &args);
            sqlite3.arg(database).arg(&query);
            sqlite3
        };
        let (a, b) = (printed(ours()), printed(theirs()));
        assert_eq!(a.trim_ascii_end(), b.trim_ascii_end(), "the same value");
        println!("{} bytes of {} MB:", a.len(), megabytes(database));
        let mut rivals = [
            Rival::whole("prosescope get", || run(ours())),
            Rival::whole("sqlite3", || run(theirs())),
        ];
        let figures = in_turn(effort.pick(200, 2), &mut rivals);
        beside(&rivals, &figures).print();
    }
}

fn megabytes(file: &Path) -> String {
    let len = std::fs::metadata(file).map_or(0, |meta| meta.len());
    format!("{:.1}", len as f64 / 1e6)
}

/// Returns a command that ignores the user's settings, because its home folder does not exist.
pub(crate) fn command(program: &Path, args: &[&std::ffi::OsStr]) -> Command {
    let mut command = Command::new(program);
    command
        .args(args)
        .env("HOME", "/nonexistent")
        .stdin(Stdio::null());
    command
}

fn printed(mut command: Command) -> Vec<u8> {
    let out = command.output().expect("it starts");
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    out.stdout
}

/// Runs a command to its end and discards its output.
pub(crate) fn run(mut command: Command) {
    let status = command.stdout(Stdio::null()).status().expect("it starts");
    assert!(status.code().is_some(), "{status}");
}
