//! Tests a run on a narrow screen, which hides some parts: a single touch opens each hidden part.

use super::screenshots::shoot;
use super::{FAILED, Viewer, WAITING, example, examples};

#[test]
fn the_cause_peeks_below_the_trace_and_the_rest_of_the_bar_is_a_menu() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.look(400, 800, false);
    viewer.drop_run(&[&example(FAILED)]);
    // The trace shows the first failure with its error below the list; a touch opens it completely.
    viewer.wait(
        "document.querySelector('.detail.peek .error').innerText.startsWith('Output was cut off')",
    );
    viewer.wait("(row => row && row.getBoundingClientRect().bottom <= document.querySelector('.peek').getBoundingClientRect().top)(document.querySelector('.trace-rows .row.selected .cause'))");
    shoot(&mut viewer, "phone");
    viewer.look(400, 800, false);
    viewer.click_text(".peek button", "Asked, given, answered");
    viewer.wait("document.querySelector('.detail:not(.peek) .given')");
    viewer.wait("/\\/[0-9]+$/.test(location.hash)");
    // Esc shrinks the details again, and a second Esc closes them.
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
    // The arrow keys move through the entries of the menu.
    for name in ["Share…", "Open…"] {
        viewer.key("ArrowDown");
        viewer.wait(&format!(
            "document.activeElement.innerText.includes('{name}')"
        ));
    }
    viewer.click_text(".menu button", "Keys");
    viewer
        .wait("document.querySelector('dialog[open]').innerText.includes('Next and previous row')");
    viewer.wait(&format!("{menu} === 'none'"));
    viewer.key("Escape");
    viewer.wait("!document.querySelector('dialog[open]')");
    assert_eq!(viewer.eval("document.documentElement.scrollWidth"), 400);
    viewer.click(".menu .more");
    viewer.click_text(".menu button", "Close");
    viewer.wait_text("Drop a file or folder anywhere");
    viewer.assert_quiet();
}

#[test]
fn a_window_that_gets_narrow_has_rows_for_a_finger_and_says_what_a_gate_asks() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(WAITING)]);
    let height =
        "document.querySelector('.trace-rows .row:not(.head)').getBoundingClientRect().height";
    viewer.wait(&format!("{height} === 24"));
    viewer.look(400, 800, false);
    viewer.wait(&format!("{height} === 42"));
    viewer
        .wait("document.querySelector('.detail.peek .says').innerText.startsWith('Deploy 7.3.0')");
    viewer.look(1280, 800, false);
    viewer.wait(&format!("{height} === 24"));
    viewer.assert_quiet();
}

#[test]
fn runs_of_two_programs_are_marked_on_a_narrow_screen_and_it_is_said() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_files(&[&examples()]);
    viewer.wait("document.querySelectorAll('.run-rows .row').length > 3");
    viewer.look(400, 800, false);
    viewer.wait(
        "document.querySelector('.run-rows .row:not(.head)').getBoundingClientRect().height > 40",
    );
    viewer.click(".run-rows .row[aria-rowindex='2'] .mark-run");
    viewer.click(".run-rows .row[aria-rowindex='3'] .mark-run");
    viewer.wait("document.querySelector('.pairing').innerText.includes('of different programs are marked: ship-tax-rules and translate-manual')");
    viewer.assert_quiet();
}
