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
use crate::table::{Table, time, times};

/// The figures of opening one database once.
#[derive(Debug, Clone, Copy)]
struct Opened {
    /// The seconds from the navigation until the page is ready for a drop.
    ready: f64,
    /// The seconds until the run's id, status and program are visible.
    first: f64,
    /// The seconds until counts and last rows are visible.
    overview: f64,
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
        "From the moment the file is dropped (viewer) or chosen (sql.js). Ready: from the navigation until the page listens. First facts: the \
         run's id, program and status. Overview: counts by status and the last rows. Held: WebAssembly memory, and the \
         file's bytes where a page loads them. Process: the most the renderer had.\n"
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
            opened.first
        };
        let mut rivals = [
            Rival::new("sql.js", || open(0)),
            Rival::new("viewer", || open(1)),
        ];
        in_turn(*rounds, &mut rivals);
        let names = rivals.map(|rival| rival.name);
        print(&names, &log.map(RefCell::into_inner));
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

fn in_viewer(chromium: &Path, viewer: &Path, database: &Path, rest: Duration) -> Opened {
    let mut page = Page::alone(chromium, &file_url(viewer));
    page.wait("document.querySelector('main')");
    page.wait("globalThis.prosescope?.stats");
    let ready = passed(&mut page);
    page.pause(rest);
    page.drop_files(&[database]);
    let first = page.wait("document.querySelector('.band h1')");
    let rest = page.wait("document.querySelector('.band .meta button') && document.querySelector('.trace-rows .row .text')");
    let process = page.renderer_peak();
    Opened {
        ready,
        first: first.as_secs_f64(),
        overview: (first + rest).as_secs_f64(),
        held: page.wasm_memory(),
        process,
    }
}

fn in_sqljs(chromium: &Path, html: &Path, database: &Path, rest: Duration, len: u64) -> Opened {
    let mut page = Page::alone(chromium, &file_url(html));
    page.wait("document.body.dataset.ready");
    let ready = passed(&mut page);
    page.pause(rest);
    page.set_files("#file", &[database]);
    let data = "document.body.dataset";
    let first = page.wait(&format!("{data}.first || {data}.error"));
    let rest = page.wait(&format!("{data}.overview || {data}.error"));
    let error = page.eval(&format!("{data}.error ?? ''"));
    assert_eq!(error, "", "sql.js");
    let process = page.renderer_peak();
    Opened {
        ready,
        first: first.as_secs_f64(),
        overview: (first + rest).as_secs_f64(),
        held: page.wasm_memory() + len,
        process,
    }
}

fn print(names: &[String; 2], log: &[Vec<Opened>; 2]) {
    let mut table = Table::new(&["", "", "min", "median", "max", "ratio", "(min … max)"]);
    type Fact = (&'static str, fn(&Opened) -> f64, fn(f64) -> String);
    let facts: [Fact; 5] = [
        ("ready", |o| o.ready, time),
        ("first facts", |o| o.first, time),
        ("overview", |o| o.overview, time),
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
