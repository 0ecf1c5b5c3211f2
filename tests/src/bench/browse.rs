//! Measures two things in the viewer: a dropped folder of 1,000 runs, and opening a value of 10 MB.

use std::fs;
use std::time::Duration;

use prosescope_tests::browser::{Page, file_url};
use prosescope_tests::{build, needs};

use crate::Effort;
use crate::table::{Table, time};

/// How many runs are in the folder.
const RUNS: usize = 1000;

/// JavaScript that begins to record the page's long tasks.
const WATCH: &str = "globalThis.tasks = [];
    new PerformanceObserver(all => all.getEntries().forEach(e => tasks.push(e.duration))).observe({ type: 'longtask' }); 0";

pub(crate) fn measure(effort: Effort) {
    if needs::chromium().is_none() || needs::viewer().is_none() || needs::sqlite3().is_none() {
        return;
    }
    let tries = effort.pick(5, 1);
    list(tries);
    value(tries);
}

fn page() -> Page {
    let (Some(chromium), Some(viewer)) = (needs::chromium(), needs::viewer()) else {
        unreachable!("both were there");
    };
    let mut page = Page::alone(&chromium, &file_url(&viewer));
    page.wait("document.querySelector('main') && globalThis.prosescope?.stats");
    page
}

/// Measures the time from the drop of the folder until its first rows, and until all rows, are shown.
fn list(tries: usize) {
    let example = needs::root().join("examples/.prose/runs/20260118-201530-z4t9wa/state.db");
    let folder = tempfile::tempdir().expect("a folder");
    let runs = folder.path().join(".prose");
    for n in 0..RUNS {
        let run = runs.join(format!("runs/20260118-2015{:02}-run{n:03}", n % 60));
        fs::create_dir_all(&run).expect("a run");
        fs::copy(&example, run.join("state.db")).expect("a database");
    }
    let mut table = Table::new(&["1,000 runs", "first rows", "all"]);
    for n in 0..tries {
        let mut page = page();
        // A person, too, takes about a second before dropping the folder.
        page.pause(Duration::from_secs(1));
        page.drop_files(&[&runs]);
        let first = page.wait("document.querySelector('.run-rows .row:not(.head) .glyph')");
        let rest = page.wait(&format!(
            "document.querySelector('.run-rows')?.ariaRowCount > {RUNS} && !document.querySelector('.reading')"
        ));
        let times = [first, first + rest].map(|took| time(took.as_secs_f64()));
        let [first, all] = times;
        table.row(vec![format!("try {}", n + 1), first, all]);
    }
    table.print();
}

/// Measures opening a value of 10 MB beside the list, and the page's long tasks meanwhile.
fn value(tries: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("state.db");
    let script = format!(
        "{}
        INSERT INTO bindings (name, kind, value, source_statement)
        SELECT 'large', 'let', replace(hex(zeroblob(200000)), '00', 'A line of fifty characters, and then the next.' || char(10)),
          'let large = session \"Write\"';",
        build::rows(10)
    );
    build::sql(&database, &script);
    let mut table = Table::new(&[
        "a value of 10 MB",
        "shown after",
        "tasks over 50 ms",
        "the longest",
    ]);
    for n in 0..tries {
        let mut page = page();
        page.drop_files(&[&database]);
        page.wait("document.querySelector('.band .meta button')");
        page.key("3");
        page.wait("document.querySelector('.binding-rows .row:not(.head) .preview')");
        page.eval(WATCH);
        page.key("j");
        page.key("Enter");
        let took = page.wait(
            "document.querySelector('.detail .value')?.innerText.includes('A line of fifty')",
        );
        let said = page.eval(
            "new Promise(done => setTimeout(() => done([tasks.length, Math.max(0, ...tasks)]), 500))",
        );
        table.row(vec![
            format!("try {}", n + 1),
            time(took.as_secs_f64()),
            said[0].to_string(),
            time(said[1].as_f64().unwrap_or(f64::NAN) / 1e3),
        ]);
    }
    table.print();
}
