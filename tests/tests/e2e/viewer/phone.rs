//! A run on a narrow screen: what it lacks room for is a touch away.

use super::screenshots::shoot;
use super::{FAILED, Viewer, example};

#[test]
fn the_cause_peeks_below_the_trace_and_the_rest_of_the_bar_is_a_menu() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.look(400, 800, false);
    viewer.drop_run(&[&example(FAILED)]);
    // The trace stands at what failed first, whose error is seen; it opens when it is touched.
    viewer.wait(
        "document.querySelector('.detail.peek .error').innerText.startsWith('Output was cut off')",
    );
    viewer.wait("(row => row && row.getBoundingClientRect().bottom <= document.querySelector('.peek').getBoundingClientRect().top)(document.querySelector('.trace-rows .row.selected .cause'))");
    shoot(&mut viewer, "phone");
    viewer.look(400, 800, false);
    viewer.click_text(".peek button", "Asked, given, answered");
    viewer.wait("document.querySelector('.detail:not(.peek) .given')");
    viewer.wait("/\\/[0-9]+$/.test(location.hash)");
    // It sinks again, and goes when it is closed once more.
    viewer.key("Escape");
    viewer.wait("document.querySelector('.detail.peek')");
    viewer.key("Escape");
    viewer.wait("!document.querySelector('.detail')");

    let menu = "getComputedStyle(document.querySelector('.menu .inside')).display";
    viewer.wait(&format!("{menu} === 'none'"));
    viewer.click(".menu .more");
    viewer.wait(&format!("{menu} === 'grid'"));
    viewer.key("Escape");
    viewer.wait(&format!("{menu} === 'none'"));
    viewer.click(".menu .more");
    viewer.click_text(".menu button", "Keys");
    viewer
        .wait("document.querySelector('dialog[open]').innerText.includes('Next and previous row')");
    viewer.wait(&format!("{menu} === 'none'"));
    viewer.key("Escape");
    viewer.wait("!document.querySelector('dialog[open]')");
    assert_eq!(viewer.eval("document.documentElement.scrollWidth"), 400);
    viewer.click(".menu .more");
    viewer.click_text(".menu button", "Close");
    viewer.wait_text("Drop it anywhere");
    viewer.assert_quiet();
}
