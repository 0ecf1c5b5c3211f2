//! Tests common tasks as people perform them: by mouse alone and by keyboard alone, with a dropped folder and with
//! `prosescope view`.

use prosescope_tests::needs;

use super::opening::Served;
use super::{Viewer, examples};

/// The input device for a task.
#[derive(Clone, Copy)]
enum Hand {
    Mouse,
    Keys,
}

use Hand::{Keys, Mouse};

#[test]
fn the_questions_of_users_are_answered_from_a_dropped_folder() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_files(&[&examples()]);
    for hand in [Mouse, Keys] {
        all(&mut viewer, hand);
    }
    viewer.assert_quiet();
}

#[test]
fn the_questions_of_users_are_answered_over_http() {
    let (Some(prose), Some(_)) = (needs::prose(), needs::viewer()) else {
        return;
    };
    let served = Served::start(&prose, &[&examples()]);
    let Some(mut viewer) = Viewer::served(&served.address) else {
        return;
    };
    for hand in [Mouse, Keys] {
        all(&mut viewer, hand);
    }
    viewer.assert_no_errors();
}

fn all(viewer: &mut Viewer, hand: Hand) {
    open(viewer, hand, "translate-manual");
    why_did_it_fail(viewer, hand);
    open(viewer, hand, "hunt-flaky-tests");
    what_was_asked_and_answered(viewer, hand);
    what_took_longest(viewer, hand);
    why_has_a_name_its_value(viewer, hand);
    what_does_an_agent_remember(viewer, hand);
    where_is_a_text(viewer, hand);
    open(viewer, hand, "ship-tax-rules");
    what_does_a_gate_wait_for(viewer, hand);
}

/// Opens a run of the list, from any page.
fn open(viewer: &mut Viewer, hand: Hand, program: &str) {
    viewer.wait("document.querySelector('.run-rows .row:not(.head), .bar a.brand')");
    let at_list = viewer.eval("!!document.querySelector('.run-rows')") == true;
    match hand {
        Mouse => {
            if !at_list {
                viewer.click(".bar a.brand");
            }
            viewer.click_text(".run-rows .row", program);
        }
        Keys => {
            if !at_list {
                viewer.key("g");
            }
            viewer.wait("document.querySelector('input[type=search]')");
            viewer.key("/");
            viewer.key("Ctrl+a");
            viewer.type_text(program);
            viewer.wait("document.querySelector('h1').innerText === '1 of 4 runs'");
            viewer.key("Enter");
            viewer.key("Enter");
        }
    }
    viewer.wait_page("Trace");
    viewer.wait(&format!("document.title.startsWith('{program}')"));
}

/// Opens a page of the run.
fn turn(viewer: &mut Viewer, hand: Hand, title: &str, key: &str) {
    match hand {
        Mouse => viewer.click(&format!("nav.pages a[title^='{title} (']")),
        Keys => viewer.key(key),
    }
    viewer.wait_page(title);
}

/// Opens the row of the current list that contains a text.
fn open_row(viewer: &mut Viewer, hand: Hand, cell: &str, text: &str) {
    match hand {
        Mouse => viewer.click_text(cell, text),
        Keys => {
            viewer.key("j");
            viewer.key("Home");
            let is_there = format!(
                "document.querySelector('[data-list] .row.current').innerText.includes('{text}')"
            );
            for _ in 0..viewer.rows() {
                if viewer.eval(&is_there) == true {
                    break;
                }
                viewer.key("j");
            }
            assert_eq!(viewer.eval(&is_there), true, "no row shows {text}");
            viewer.key("Enter");
        }
    }
    viewer.wait(
        "document.querySelector('.detail h2') && !document.querySelector('.detail .waiting')",
    );
}

/// Moves the focus by Tab until this JavaScript is true of the focused element, and presses Enter.
fn tab_to(viewer: &mut Viewer, holds: &str) {
    for _ in 0..60 {
        viewer.key("Tab");
        if viewer.eval(&format!("(e => {holds})(document.activeElement)")) == true {
            return viewer.key("Enter");
        }
    }
    panic!("Tab does not come to where {holds}");
}

fn wait_detail(viewer: &mut Viewer, text: &str) {
    viewer.wait(&format!(
        "document.querySelector('.detail')?.innerText.toLowerCase().includes('{}')",
        text.to_lowercase()
    ));
}

fn why_did_it_fail(viewer: &mut Viewer, hand: Hand) {
    viewer.wait_main("Output was cut off in the middle of table 4.2-14");
    match hand {
        // The failure is open from the start; the headline also links to it.
        Mouse => viewer.click(".band h1 a"),
        Keys => {
            viewer.key("n");
            viewer.wait_page("Trace");
            viewer.key("Enter");
        }
    }
    viewer.wait_page("Trace");
    wait_detail(viewer, "Output was cut off in the middle of table 4.2-14");
}

fn what_was_asked_and_answered(viewer: &mut Viewer, hand: Hand) {
    turn(viewer, hand, "Trace", "1");
    open_row(
        viewer,
        hand,
        ".trace-rows .text",
        "let theory = resume: captain",
    );
    for title in ["Asked", "Given", "Answered"] {
        viewer.wait(&format!(
            "[...document.querySelectorAll('.detail .work h3')].some(h => h.firstChild.textContent === '{title}')"
        ));
    }
    // The size of an input links to its value.
    match hand {
        Mouse => viewer.click(".detail .whole-value a"),
        Keys => tab_to(viewer, "e.matches('.whole-value a')"),
    }
    viewer.wait_page("Values");
    viewer.wait("document.querySelector('.detail .value')");
}

fn what_took_longest(viewer: &mut Viewer, hand: Hand) {
    turn(viewer, hand, "Trace", "1");
    viewer.wait("document.querySelector('.trace-rows .stretch')");
    match hand {
        Mouse => viewer.click_text(".segments button", "Longest"),
        Keys => tab_to(
            viewer,
            "e.matches('.segments button') && e.innerText === 'Longest'",
        ),
    }
    viewer.wait("location.hash.includes('order=longest')");
    // The rows come from the worker, so the test waits for them.
    viewer.wait(
        "document.querySelector('.trace-rows .row[aria-rowindex=\"2\"] .text').innerText.startsWith('parallel')",
    );
    match hand {
        Mouse => viewer.click(".trace-rows .row[aria-rowindex='2'] .text"),
        Keys => {
            viewer.key("j");
            viewer.key("Home");
            viewer.key("Enter");
        }
    }
    wait_detail(viewer, "12m 10s");
    match hand {
        Mouse => viewer.click_text(".segments button", "Longest"),
        Keys => tab_to(
            viewer,
            "e.matches('.segments button') && e.innerText === 'Longest'",
        ),
    }
    viewer.wait("!location.hash.includes('order=longest')");
}

fn why_has_a_name_its_value(viewer: &mut Viewer, hand: Hand) {
    turn(viewer, hand, "Values", "3");
    open_row(viewer, hand, ".binding-rows .row .mono", "theory");
    viewer.wait("document.querySelector('.detail .value')");
    viewer.wait("document.querySelector('.detail .why li')");
}

fn what_does_an_agent_remember(viewer: &mut Viewer, hand: Hand) {
    turn(viewer, hand, "Agents", "4");
    open_row(viewer, hand, ".agent-rows .row b", "captain");
    wait_detail(viewer, "Memory");
    viewer.wait("document.querySelector('.detail .segment')");
}

/// Searches all open runs, starting from any of them.
fn where_is_a_text(viewer: &mut Viewer, hand: Hand) {
    match hand {
        Mouse => viewer.click(".bar button.seek"),
        Keys => viewer.key("/"),
    }
    viewer.wait("document.querySelector('dialog.finder input:focus')");
    viewer.key("Ctrl+a");
    viewer.type_text("theory");
    viewer.wait("document.querySelector('#found .entry mark')");
    match hand {
        Mouse => viewer.click("#found .entry:has(mark)"),
        Keys => viewer.key("Enter"),
    }
    viewer.wait("!document.querySelector('dialog.finder[open]')");
    viewer.wait("CSS.highlights.get('sought')?.size > 0");
}

fn what_does_a_gate_wait_for(viewer: &mut Viewer, hand: Hand) {
    turn(viewer, hand, "Gates", "5");
    open_row(viewer, hand, ".gate-rows .row b", "production_deploy");
    // The deadline has passed, so the time-out is recorded instead of an approval.
    wait_detail(viewer, "Deadline passed");
    wait_detail(viewer, "prosescope gates expire");
}
