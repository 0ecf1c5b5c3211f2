//! Compares how fast the viewer and a page with npm's sql.js open databases. Both alternate, each in a fresh Chromium.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use prosescope_tests::browser::{Page, file_url};
use prosescope_tests::{build, needs};

use crate::Effort;
use crate::figures::{Figures, Rival, in_turn};
use crate::parts;
use crate::table::{Table, time, times};

/// The figures of opening one database once.
#[derive(Debug, Clone, Copy)]
struct Opened {
    /// The seconds from the navigation until the page is ready for a drop.
    ready: f64,
    /// The seconds from the file until the run's id, status and program are visible.
    first: f64,
    /// The seconds from the file until the first screen is full.
    full: f64,
    /// The WebAssembly memory of the page and its workers in bytes, plus the file's size if the page keeps the whole
    /// file.
    held: u64,
    /// The peak memory of the page's process in bytes.
    process: Option<u64>,
}

pub(crate) fn measure(effort: Effort) {
    let (Some(chromium), Some(viewer)) = (needs::chromium(), needs::viewer()) else {
        return;
    };
    if needs::node().is_none() || needs::sqlite3().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let theirs = sqljs_page(folder.path());
    println!(
        "From the moment the file is dropped (viewer) or chosen (sql.js), by the page's own clock. Ready: from the navigation \
         until the page listens. First facts: the run's id, program and status. Full: counts and the first rows, in the \
         viewer with their bars. Held: WebAssembly memory, and the file's bytes where a page loads them. Process: the most \
         the renderer had.\n"
    );
    // A person takes about a second before the drop. Without a wait, the drop comes as early as from a script.
    let hand = Duration::from_secs(1);
    let sizes = [
        (build::TINY, hand, 7),
        (build::TINY, Duration::ZERO, 7),
        (build::SMALL, hand, 7),
        (build::MEDIUM, hand, 5),
        (build::LARGE, hand, 3),
    ];
    for (size, rest, rounds) in effort.pick(&sizes[..], &sizes[..1]) {
        let database = build::sized(*size);
        let len = fs::metadata(&database).map_or(0, |meta| meta.len());
        println!(
            "{:.1} MB, {} statements, {} s after the page listens:",
            len as f64 / 1e6,
            size.executions,
            rest.as_secs()
        );
        if let Some(prose) = std::env::var_os("PROSE_BIN") {
            let took = (0..3).map(|_| natively(Path::new(&prose), &database));
            println!("`prosescope show`: {}", time(took.fold(f64::MAX, f64::min)));
        }
        let log = [RefCell::new(Vec::new()), RefCell::new(Vec::new())];
        let open = |at: usize| {
            let opened = match at {
                0 => in_sqljs(&chromium, &theirs, &database, *rest, len),
                _ => in_viewer(&chromium, &viewer, &database, *rest),
            };
            log[at].borrow_mut().push(opened);
            opened.full
        };
        let mut rivals = [
            Rival::new("sql.js", || open(0)),
            Rival::new("viewer", || open(1)),
        ];
        in_turn(*rounds, &mut rivals);
        let names = rivals.map(|rival| rival.name);
        print(&names, &log.map(RefCell::into_inner));
        parts(&chromium, &viewer, &database, *rest);
    }
}

/// Returns the wall-clock seconds that `prosescope show` takes for the same database, with the start of the process.
fn natively(prose: &Path, database: &Path) -> f64 {
    let begun = Instant::now();
    let out = Command::new(prose).arg("show").arg(database).output();
    assert!(out.expect("prosescope starts").status.success());
    begun.elapsed().as_secs_f64()
}

/// Returns the seconds since the navigation to the page began.
pub(crate) fn passed(page: &mut Page) -> f64 {
    let millis = page.eval("performance.now()");
    millis.as_f64().unwrap_or(f64::NAN) / 1000.0
}

/// JavaScript that notes, from the moment the file is there, when each of these conditions first holds, in milliseconds.
/// `BEGIN` is the event that brings the file.
const WATCH: &str = r#"
    globalThis.seen = {};
    addEventListener("BEGIN", () => {
        const begun = performance.now();
        performance.mark("begun");
        const look = () => {
            for (const [name, holds] of Object.entries(CONDITIONS)) {
                if (!(name in seen) && holds()) {
                    seen[name] = performance.now() - begun;
                    performance.mark(name);
                }
            }
            if (!("full" in seen)) requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
    }, { capture: true, once: true }); 0"#;

/// The viewer's first screen is full when it has the verdict, the counts of the tabs, and rows with their bars.
const IN_VIEWER: &str = r#"{
    first: () => document.querySelector(".band h1"),
    full: () => document.querySelector(".band .meta button") && document.querySelectorAll(".trace-rows .row .lane > i, .trace-rows .row .lane > [style]").length > 9,
}"#;

const IN_SQLJS: &str =
    r#"{ first: () => document.body.dataset.first, full: () => document.body.dataset.full }"#;

/// Opens a page, and waits until it is ready for a file. Returns the seconds that this took.
fn ready(chromium: &Path, html: &Path, is_ready: &str, rest: Duration) -> (Page, f64) {
    let mut page = Page::alone(chromium, &file_url(html));
    page.wait(is_ready);
    let ready = passed(&mut page);
    page.pause(rest);
    (page, ready)
}

fn watch(page: &mut Page, begin: &str, conditions: &str) {
    let watch = WATCH.replace("BEGIN", begin);
    page.eval(&watch.replace("CONDITIONS", conditions));
}

fn opened(page: &mut Page, ready: f64, kept: u64) -> Opened {
    page.wait("globalThis.seen.full || document.body.dataset.error");
    let error = page.eval("document.body.dataset.error ?? ''");
    assert_eq!(error, "", "sql.js");
    let seen = page.eval("globalThis.seen");
    let seconds = |name: &str| seen[name].as_f64().unwrap_or(f64::NAN) / 1000.0;
    Opened {
        ready,
        first: seconds("first"),
        full: seconds("full"),
        held: page.wasm_memory() + kept,
        process: page.renderer_peak(),
    }
}

fn in_viewer(chromium: &Path, viewer: &Path, database: &Path, rest: Duration) -> Opened {
    let (mut page, ready) = ready(chromium, viewer, "globalThis.prosescope?.stats", rest);
    watch(&mut page, "drop", IN_VIEWER);
    page.drop_files(&[database]);
    opened(&mut page, ready, 0)
}

fn in_sqljs(chromium: &Path, html: &Path, database: &Path, rest: Duration, len: u64) -> Opened {
    let (mut page, ready) = ready(chromium, html, "document.body.dataset.ready", rest);
    watch(&mut page, "change", IN_SQLJS);
    page.set_files("#file", &[database]);
    opened(&mut page, ready, len)
}

/// Prints what one more opening in the viewer took on which thread.
fn parts(chromium: &Path, viewer: &Path, database: &Path, rest: Duration) {
    let (mut page, _) = ready(chromium, viewer, "globalThis.prosescope?.stats", rest);
    watch(&mut page, "drop", IN_VIEWER);
    let events = page.trace(parts::CATEGORIES, |page| {
        page.drop_files(&[database]);
        page.wait("globalThis.seen.full");
    });
    println!("{}", parts::of(&events, "begun", "full"));
}

fn print(names: &[String; 2], log: &[Vec<Opened>; 2]) {
    let mut table = Table::new(&["", "", "min", "median", "max", "ratio", "(min … max)"]);
    type Fact = (&'static str, fn(&Opened) -> f64, fn(f64) -> String);
    let facts: [Fact; 5] = [
        ("ready", |o| o.ready, time),
        ("first facts", |o| o.first, time),
        ("full", |o| o.full, time),
        ("held", |o| o.held as f64, bytes),
        (
            "process",
            |o| o.process.map_or(f64::NAN, |n| n as f64),
            bytes,
        ),
    ];
    for (fact, of, shown) in facts {
        // The first opening of each page was a warm-up, so it is left out.
        let figures = |all: &Vec<Opened>| Figures(all.iter().skip(1).map(of).collect());
        let figures = [figures(&log[0]), figures(&log[1])];
        for (name, own) in names.iter().zip(&figures) {
            let ratio = own.over(&figures[1]);
            table.row(vec![
                name.clone(),
                fact.to_owned(),
                shown(own.min()),
                shown(own.median()),
                shown(own.max()),
                times(ratio.median()),
                format!("{} … {}", times(ratio.min()), times(ratio.max())),
            ]);
        }
    }
    table.print();
}

fn bytes(bytes: f64) -> String {
    if bytes.is_nan() {
        "-".to_owned()
    } else {
        format!("{:.1} MB", bytes / 1e6)
    }
}

/// Builds a page with sql.js in one HTML file, because the viewer is one file, too.
fn sqljs_page(folder: &Path) -> PathBuf {
    let dist = needs::root().join("tests/js/node_modules/sql.js/dist");
    let glue = fs::read_to_string(dist.join("sql-wasm.js")).expect("sql.js");
    let wasm = fs::read(dist.join("sql-wasm.wasm")).expect("sql.js");
    let (before, rest) = include_str!("sqljs.html")
        .split_once("@GLUE@")
        .expect("a place");
    let (between, after) = rest.split_once("@WASM@").expect("a place");
    let html = [before, &glue, between, &BASE64.encode(wasm), after].concat();
    let file = folder.join("sqljs.html");
    fs::write(&file, html).expect("a page");
    file
}
