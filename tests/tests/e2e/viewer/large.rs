//! Tests with large runs: 50,000 rows scroll, and a run of 1 GB opens at once with little memory.

use std::time::Duration;

use prosescope_tests::{build, needs};

use super::Viewer;

/// The most wasm memory for a run of 1 GB, in bytes. wasm never returns memory, so this also limits the peak during
/// opening.
const MEMORY_MOST: u64 = 100_000_000;

/// The most processor time that the page and its worker together may take until the first of many rows are shown.
const MOST_FIRST: Duration = Duration::from_secs(5);

/// The most processor time that the page may take for one step of scrolling, which redraws about one screenful.
const MOST_STEP: Duration = Duration::from_millis(500);

#[test]
fn fifty_thousand_rows_scroll() {
    if needs::sqlite3().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("state.db");
    let times = "UPDATE execution SET started_at = datetime('2026-01-11', id || ' seconds'), completed_at = datetime('2026-01-11', (id + 1) || ' seconds')";
    build::sql(&database, &format!("{}\n{times};", build::rows(50_000)));
    let Some(mut viewer) = Viewer::alone() else {
        return;
    };
    let before = viewer.page_time() + viewer.worker_time();
    viewer.drop_run(&[&database]);
    viewer.key("1");
    viewer
        .wait("document.querySelector('.trace-rows .row:not(.head)').innerText.includes('Row 1')");
    let first = viewer.page_time() + viewer.worker_time() - before;
    viewer.wait_page("Trace");
    assert_eq!(viewer.rows(), 50_000);

    let mut slowest = Duration::ZERO;
    for step in 0..90 {
        let before = viewer.page_time();
        let down = if step < 60 { 700 } else { 30_000 };
        viewer.eval(&format!(
            "(async () => {{
               document.querySelector('[data-list]').scrollTop += {down};
               for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
             }})()"
        ));
        slowest = slowest.max(viewer.page_time() - before);
    }
    eprintln!("processor time: first rows {first:?}, the slowest step of scrolling {slowest:?}");
    assert!(slowest <= MOST_STEP, "a step of scrolling took {slowest:?}");
    assert!(first <= MOST_FIRST, "the first rows took {first:?}");

    // Above the times is a map of the whole axis. Dragging in the map selects a part of the axis.
    viewer.wait("document.querySelectorAll('.map i').length === 160");
    viewer.eval(
        "(() => {
           const map = document.querySelector('.map'), box = map.getBoundingClientRect();
           const at = part => ({clientX: box.left + box.width * part, clientY: box.top + 5, buttons: 1, bubbles: true});
           map.dispatchEvent(new PointerEvent('pointerdown', at(.2)));
           map.dispatchEvent(new PointerEvent('pointermove', at(.4)));
         })()",
    );
    viewer.wait("Math.abs(parseFloat(document.querySelector('.map b').style.width) - 20) < 1");
    viewer.key("0");
    viewer.wait("parseFloat(document.querySelector('.map b').style.width) === 100");

    // The number of drawn rows does not grow with the list, and the end of the list can be reached.
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

/// Checks that a run opens with few fetches, because each fetch takes one to three milliseconds, however few bytes it
/// returns.
#[test]
fn runs_open_in_few_fetches() {
    if needs::sqlite3().is_none() {
        return;
    }
    for (size, most) in [(build::TINY, 2), (build::SMALL, 6), (build::MEDIUM, 30)] {
        let database = build::sized(size);
        let Some(mut viewer) = Viewer::from_disk() else {
            return;
        };
        viewer.drop_run(&[&database]);
        viewer.wait("document.querySelector('.band button.in-text')");
        let stats = viewer.stats();
        eprintln!("{}: {stats}", size.folder);
        let fetches = stats["fetches"].as_u64().unwrap();
        assert!(fetches <= most, "{}: {stats}", size.folder);
        let len = std::fs::metadata(&database).unwrap().len();
        assert!(stats["fetched"].as_u64().unwrap() < len / 4 * 5, "{stats}");
        viewer.assert_quiet();
    }
}

#[test]
fn a_gigabyte_opens_at_once_in_little_memory() {
    if needs::sqlite3().is_none() {
        return;
    }
    let database = build::large();
    let size = std::fs::metadata(&database).unwrap().len();
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_files(&[&database]);
    // The facts in the run's row are shown before its statements are read.
    let first = viewer.wait("document.querySelector('.band h1')");
    let overview = viewer.wait("document.querySelector('.band button.in-text')");
    viewer.wait_page("Trace");
    viewer.key("1");
    viewer.wait_page("Trace");
    viewer.key("3");
    viewer.wait_page("Values");
    assert_eq!(viewer.rows() as usize, build::LARGE_BINDINGS);
    viewer.key("j");
    viewer.key("End");
    viewer.wait("document.querySelector('.binding-rows .row.current .mono')");
    viewer.wait_page("Values");
    viewer.open_page("Data");

    let (stats, memory) = (viewer.stats(), viewer.wasm_memory());
    let fetched = stats["fetched"].as_u64().unwrap();
    eprintln!(
        "{size} bytes: first facts after {first:?}, overview {overview:?} later; {fetched} bytes fetched for 4 pages; {memory} bytes of wasm memory, {} of them the worker's",
        stats["memory"]
    );
    assert!(memory < MEMORY_MOST, "{memory} bytes of wasm memory");
    // Values are stored between the rows: reading the file once in large pieces takes a fifth of the time of one
    // fetch per row.
    assert!(
        fetched < size / 4 * 5,
        "{fetched} of {size} bytes were fetched: {stats}"
    );
    let fetches = stats["fetches"].as_u64().unwrap();
    assert!(fetches < size >> 22, "{fetches} fetches: {stats}");
    let read = stats["bytes"].as_u64().unwrap();
    assert!(
        read < size / 20,
        "{read} bytes were asked for: the lists read values. {stats}"
    );

    // A value of 1 MB is read only when it is opened, and takes a few times its size in memory.
    viewer.key("3");
    viewer.wait_page("Values");
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
