//! The program of `cargo xtask bench`: measures ratios of two programs within one run, and how time grows with size.
//! No measurement fails because of a limit; `docs/contribute/performance.md` explains how to use the figures.
//!
//! ```text
//! bench [--quick] [PART…]      parts: get fold scope runs record postgres server moving share open browse scroll
//! size; default: all
//! ```
//!
//! `PROSE_BIN`, `PROSE_VIEWER_HTML` and the other variables of [`prosescope_tests::needs`] select what is measured. A
//! part whose requirement is missing prints a message and is skipped.

mod browse;
mod figures;
mod fold;
mod get;
mod made;
mod moving;
mod open;
mod parts;
mod postgres;
mod record;
mod runs;
mod scope;
mod scroll;
mod server;
mod share;
mod size;
mod table;

use std::process::ExitCode;
use std::thread::JoinHandle;
use std::time::Instant;

/// How thoroughly the program measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Measures all figures in `docs/contribute/performance.md`.
    Full,
    /// Measures small sizes a few times, to check in seconds that the program works. The figures are meaningless.
    Quick,
}

impl Effort {
    /// Returns `full` or `quick`, depending on the effort.
    pub(crate) fn pick<T>(self, full: T, quick: T) -> T {
        match self {
            Effort::Full => full,
            Effort::Quick => quick,
        }
    }
}

/// A part of the program: its name, its description, its function.
type Part = (&'static str, &'static str, fn(Effort));

const PARTS: &[Part] = &[
    (
        "get",
        "`prosescope get` beside `sqlite3`, the same value, whole processes",
        get::measure,
    ),
    (
        "fold",
        "Folding and rendering statements, in this process",
        fold::measure,
    ),
    (
        "scope",
        "Scope resolution beside the documents' recursive query, in this process",
        scope::measure,
    ),
    (
        "runs",
        "`prosescope runs` over many run folders, whole processes",
        runs::measure,
    ),
    (
        "record",
        "Recording: `prosescope put` beside `sqlite3`, writers at once, the n-th write",
        record::measure,
    ),
    (
        "postgres",
        "Few runs in PostgreSQL beside many, whole processes",
        postgres::measure,
    ),
    (
        "server",
        "Writing to PostgreSQL beside `psql` and beside `state.db`",
        server::measure,
    ),
    (
        "moving",
        "A run moved into PostgreSQL and out of it beside `psql \\copy`, whole processes",
        moving::measure,
    ),
    (
        "share",
        "Sharing beside `zip` and `sqlite3 .backup`; opening what was shared, in Chromium",
        share::measure,
    ),
    (
        "open",
        "Opening a database in Chromium, the viewer beside a page made with sql.js",
        open::measure,
    ),
    (
        "browse",
        "A folder of 1,000 runs, and a value of 10 MB, in Chromium",
        browse::measure,
    ),
    (
        "scroll",
        "Scrolling 50,000 rows in Chromium",
        scroll::measure,
    ),
    ("size", "The viewer's size beside sql.js", size::measure),
];

fn main() -> ExitCode {
    let (mut effort, mut wanted) = (Effort::Full, Vec::new());
    for arg in std::env::args().skip(1) {
        match arg.as_str() {
            "--quick" => effort = Effort::Quick,
            name if PARTS.iter().any(|(part, ..)| *part == name) => wanted.push(arg),
            other => {
                let names: Vec<&str> = PARTS.iter().map(|(name, ..)| *name).collect();
                eprintln!("error: {other} is none of --quick {}", names.join(" "));
                return ExitCode::FAILURE;
            }
        }
    }
    println!("{}", machine());
    let mut code = ExitCode::SUCCESS;
    for (name, what, measure) in PARTS {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        println!("\n## {name}: {what}\n");
        let start = Instant::now();
        // Each part has its own thread, so a panic in one part does not end the others. The thread's name appears in
        // messages about skipped parts.
        let (measure, name) = (*measure, *name);
        let part = std::thread::Builder::new().name(name.to_owned());
        let ended = part.spawn(move || measure(effort)).map(JoinHandle::join);
        if !matches!(ended, Ok(Ok(()))) {
            println!("{name} failed");
            code = ExitCode::FAILURE;
        }
        println!(
            "\n({name} took {:.0} s; load now {})",
            start.elapsed().as_secs_f64(),
            load()
        );
    }
    code
}

/// Returns a text with the number of processors and the machine's load.
fn machine() -> String {
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    format!(
        "{processors} processors, load {} at the start (1, 5, 15 minutes)",
        load()
    )
}

/// Returns the load of the machine as a text, `unknown` if the system does not report it.
fn load() -> String {
    let said = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let three: Vec<&str> = said.split(' ').take(3).collect();
    if three.len() == 3 {
        three.join(" ")
    } else {
        "unknown".to_owned()
    }
}
