//! Measures scrolling a trace of 50,000 rows in the viewer.

use prosescope_tests::browser::{Page, file_url};
use prosescope_tests::{build, needs};

use crate::Effort;
use crate::figures::{Rival, in_turn};
use crate::table::{Table, time};

/// JavaScript that scrolls from the top, first by pages, then by large jumps; returns the gaps between frames and the
/// tasks of more than 50 ms, in milliseconds.
const SCROLL: &str = "(async () => {
    const list = document.querySelector('[data-list]'), frame = () => new Promise(requestAnimationFrame);
    const tasks = [], gaps = [];
    const watch = new PerformanceObserver(all => all.getEntries().forEach(e => tasks.push(e.duration)));
    list.scrollTop = 0;
    for (let i = 0; i < 10; i++) await frame();
    watch.observe({ type: 'longtask' });
    let before = await frame();
    for (let i = 0; i < 90; i++) {
      list.scrollTop += i < 60 ? 700 : 30000;
      const now = await frame();
      gaps.push(now - before);
      before = now;
    }
    await new Promise(done => setTimeout(done, 100));
    watch.disconnect();
    gaps.sort((a, b) => a - b);
    return [gaps[gaps.length >> 1], gaps[gaps.length - 1], tasks.length, Math.max(0, ...tasks)];
  })()";

pub(crate) fn measure(effort: Effort) {
    let (Some(chromium), Some(viewer)) = (needs::chromium(), needs::viewer()) else {
        return;
    };
    if needs::sqlite3().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("state.db");
    build::sql(&database, &build::rows(50_000));
    let mut page = Page::alone(&chromium, &file_url(&viewer));
    page.drop_files(&[&database]);
    page.wait("document.querySelector('.band .meta button')");
    page.key("1");
    let first = page
        .wait("document.querySelector('.trace-rows .row:not(.head)').innerText.includes('Row 1')");
    println!(
        "50,000 rows; the first of them were there {} after the key.",
        time(first.as_secs_f64())
    );
    let names = [
        "frames apart, median",
        "frames apart, worst",
        "tasks over 50 ms",
        "the longest of them",
    ];
    let mut tries: Vec<[f64; 4]> = Vec::new();
    in_turn(
        effort.pick(5, 1),
        &mut [Rival::new("scroll", || {
            let said = page.eval(SCROLL);
            tries.push([0, 1, 2, 3].map(|n| said[n].as_f64().unwrap_or(f64::NAN)));
            0.0
        })],
    );
    let mut table = Table::new(&["", "best try", "worst try"]);
    for (n, name) in names.iter().enumerate() {
        let of = |pick: fn(f64, f64) -> f64| {
            tries
                .iter()
                .skip(1)
                .map(|one| one[n])
                .reduce(pick)
                .unwrap_or(f64::NAN)
        };
        let shown = |figure: f64| {
            if n == 2 {
                figure.to_string()
            } else {
                time(figure / 1e3)
            }
        };
        table.row(vec![
            (*name).to_owned(),
            shown(of(f64::min)),
            shown(of(f64::max)),
        ]);
    }
    table.print();
}
