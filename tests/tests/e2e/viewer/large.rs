//! Large runs: 50,000 rows scroll, and 1 GB opens at once in little memory.

use std::time::Duration;

use prosescope_tests::{build, needs};

use super::Viewer;

/// What wasm may hold of a run of 1 GB: it never gives memory back, so this is the most that opening takes.
const MEMORY_MOST: u64 = 64_000_000;

/// Notes the length of every task over 50 ms, in milliseconds.
const WATCH: &str = "globalThis.tasks = [];
    new PerformanceObserver(list => list.getEntries().forEach(e => tasks.push(Math.round(e.duration))))
        .observe({ type: 'longtask' })";

#[test]
fn fifty_thousand_rows_scroll() {
    if needs::sqlite3().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("state.db");
    build::sql(&database, &build::rows(50_000));
    let Some(mut viewer) = Viewer::alone() else {
        return;
    };
    viewer.drop_run(&[&database]);
    viewer.key("3");
    let first = viewer.wait_for(
        "document.querySelector('.trace-rows .row:not(.head)').innerText.includes('Row 1')",
        Duration::from_secs(10),
    );
    viewer.wait_page("Trace");
    assert_eq!(viewer.rows(), 50_000);

    // The machine may be busy with something else for a moment: the best of five tries counts.
    viewer.eval(WATCH);
    let mut worst = Vec::new();
    for _ in 0..5 {
        viewer.eval(
            "(async () => {
               const list = document.querySelector('[data-list]'), frame = () => new Promise(requestAnimationFrame);
               list.scrollTop = 0;
               for (let i = 0; i < 10; i++) await frame();
               tasks.length = 0;
               for (let i = 0; i < 90; i++) { list.scrollTop += i < 60 ? 700 : 30000; await frame() }
               await new Promise(r => setTimeout(r, 100));
             })()",
        );
        let tasks = viewer.eval("Math.max(0, ...tasks)").as_u64().unwrap();
        worst.push(tasks);
        if tasks == 0 {
            break;
        }
    }
    eprintln!(
        "first rows after {first:?}; tasks over 50 ms while scrolling, worst of each try: {worst:?}"
    );
    // Figures to read, not to fail on: CI's machine may be busy. These bounds only tell smooth from stuck.
    assert!(
        worst.iter().any(|task| *task <= 500),
        "tasks of {worst:?} ms while scrolling"
    );
    assert!(first < Duration::from_secs(5), "first rows after {first:?}");

    // What is drawn does not grow with what there is, and the end is there.
    let drawn = viewer
        .eval("document.querySelectorAll('.row').length")
        .as_u64()
        .unwrap();
    assert!(drawn < 200, "{drawn} rows are drawn");
    viewer.key("j");
    viewer.key("End");
    viewer
        .wait("document.querySelector('.trace-rows .row.current').innerText.includes('Row 50000')");
    viewer.assert_quiet();
}

#[test]
fn a_gigabyte_opens_at_once_in_little_memory() {
    if needs::sqlite3().is_none() {
        return;
    }
    let database = build::large();
    let size = std::fs::metadata(&database).unwrap().len();
    let Some(mut viewer) = Viewer::alone() else {
        return;
    };
    viewer.drop_files(&[&database]);
    // What the run row says is there before its rows are read; then all of it.
    let first = viewer.wait_for(
        "document.querySelector('.meanwhile, .by-status')",
        Duration::from_secs(60),
    );
    let overview = viewer.wait_for(
        "document.querySelector('.by-status')",
        Duration::from_secs(60),
    );
    viewer.wait_page("Overview");
    viewer.key("3");
    viewer.wait_page("Trace");
    viewer.key("4");
    viewer.wait_page("Bindings");
    assert_eq!(viewer.rows() as usize, build::LARGE_BINDINGS);
    viewer.key("j");
    viewer.key("End");
    viewer.wait("document.querySelector('.binding-rows .row.current .mono')");
    viewer.wait_page("Bindings");
    viewer.key("9");
    viewer.wait_page("Files and tables");

    let (stats, memory) = (viewer.stats(), viewer.wasm_memory());
    let fetched = stats["fetched"].as_u64().unwrap();
    eprintln!(
        "{size} bytes: first facts after {first:?}, overview {overview:?} later; {fetched} bytes fetched for 4 pages; {memory} bytes of wasm memory, {} of them the worker's",
        stats["memory"]
    );
    assert!(memory < MEMORY_MOST, "{memory} bytes of wasm memory");
    assert!(fetched < size / 4, "{fetched} bytes were fetched: {stats}");
    let read = stats["bytes"].as_u64().unwrap();
    assert!(
        read < size / 20,
        "{read} bytes were asked for: the lists read values. {stats}"
    );

    // A value of 1 MB is read when it is opened, and costs a few times itself.
    viewer.key("4");
    viewer.wait_page("Bindings");
    viewer.key("j");
    viewer.key("Home");
    viewer
        .wait("document.querySelector('.binding-rows .row.current .mono').innerText === 'value_0'");
    viewer.key("Enter");
    viewer.wait(
        "document.querySelector('.detail .value') && !document.querySelector('.detail .waiting')",
    );
    let memory = viewer.wasm_memory();
    assert!(
        memory < MEMORY_MOST,
        "{memory} bytes of wasm memory with a value of 1 MB open"
    );
    viewer.assert_quiet();
}
