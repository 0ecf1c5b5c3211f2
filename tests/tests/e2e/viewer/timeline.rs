//! Tests the timeline of the trace, and the filter of its rows.

use super::screenshots::shoot;
use super::{FAILED, FINISHED, FOLDER, Viewer, example};

/// JavaScript that returns the statements of the visible rows, from the top.
const TEXTS: &str = "[...document.querySelectorAll('.trace-rows .row:not(.head)')]
    .sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map(row => row.querySelector('.text').innerText)";

/// JavaScript that returns the width of the widest bar, in pixels.
const WIDEST: &str = "Math.max(...[...document.querySelectorAll('.lane .stretch')].map(bar => bar.getBoundingClientRect().width))";

#[test]
fn the_timeline_stands_beside_the_tree_and_zooms() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(FINISHED)]);
    viewer.key("1");
    viewer.wait_page("Trace");
    viewer.wait("document.querySelectorAll('.lane .stretch').length > 5");
    // The first label of the axis is a time of day; later labels count from this time.
    viewer.wait("/^\\d\\d:\\d\\d$/.test(document.querySelector('.lane .tick').innerText)");
    viewer.wait("document.querySelectorAll('.lane .tick')[1].innerText.startsWith('+')");
    let words = viewer.eval("document.querySelector('.lane[title]').title");
    assert!(
        words.as_str().unwrap().starts_with("began after "),
        "{words}"
    );
    shoot(&mut viewer, "timeline");
    let wide = viewer.eval(WIDEST).as_f64().unwrap();
    viewer.key("+");
    viewer.wait(&format!("{WIDEST} > {wide} * 1.4"));
    viewer.key("-");
    viewer.wait(&format!("{WIDEST} < {wide} * 1.1"));
    // Turning the wheel zooms in at the pointer.
    viewer.eval(
        "document.querySelector('.rows-body .lane').dispatchEvent(new WheelEvent('wheel',
            {deltaY: -100, ctrlKey: true, bubbles: true, cancelable: true}))",
    );
    viewer.wait(&format!("{WIDEST} > {wide} * 1.4"));
    viewer.click_text("button", "Fit");
    viewer.wait(&format!("{WIDEST} < {wide} * 1.1"));
    // The key `f` zooms to the row, and the key `0` shows the whole axis again.
    viewer.key("j");
    viewer.key("f");
    let current = "(bar => bar && bar.getBoundingClientRect().width > bar.parentElement.getBoundingClientRect().width * .8)(document.querySelector('.row.current .stretch'))";
    viewer.wait(current);
    viewer.key("0");
    viewer.wait(&format!("{WIDEST} < {wide} * 1.1"));
    // A run without times has no axis and reports that.
    viewer.drop_run(&[&example(FOLDER)]);
    viewer.key("1");
    viewer.wait_page("Trace");
    viewer.wait_main("Times were not recorded");
    assert_eq!(viewer.eval("!document.querySelector('.lane')"), true);
    viewer.assert_quiet();
}

#[test]
fn rows_of_the_trace_are_sorted_and_chosen() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(FAILED)]);
    viewer.key("1");
    viewer.wait_page("Trace");
    viewer.wait("document.querySelectorAll('.trace-rows .row .text').length > 5");
    viewer.key("e");
    viewer.wait("+document.querySelector('[data-list]').ariaRowCount - 1 > 25");
    let all = viewer.rows();
    viewer.click_text(".segments button", "Longest");
    viewer.wait(&format!("{TEXTS}[0].startsWith('draft')"));
    assert_eq!(viewer.rows(), all, "an order leaves nothing out");
    assert_eq!(
        viewer.eval("!!document.querySelector('.detail .cause')"),
        true,
        "what is open stays open"
    );
    viewer.click(".choose input");
    viewer.type_text("status:failed");
    viewer.wait("/^\\d+ rows?$/.test(document.querySelector('.choose [role=status]').innerText)");
    viewer.wait("[...document.querySelectorAll('.trace-rows .row:not(.head) .glyph')].every(glyph => glyph.title === 'failed')");
    assert!(viewer.rows() < all);
    viewer.wait("document.querySelector('.segments button[aria-pressed=true]').innerText.startsWith('Failed')");
    viewer.key("Enter");
    // The address contains the filter, so going back from a value, and a link, restore the same rows.
    let address = viewer.eval("location.hash");
    assert!(
        address
            .as_str()
            .unwrap()
            .ends_with("/trace?status=failed&order=longest"),
        "{address}"
    );
    viewer.key("3");
    viewer.wait_page("Values");
    viewer.eval("history.back()");
    viewer.wait_page("Trace");
    viewer.wait(&format!("location.hash === {address}"));
    assert!(viewer.rows() < all);
    viewer.click(".choose input");
    viewer.type_text(" no statement has this");
    viewer.wait_main("No row matches");
    viewer.click(".segments button");
    viewer.wait(&format!("{TEXTS}.length > 5"));
    assert_eq!(viewer.rows(), all);
    shoot(&mut viewer, "trace-choice");
    viewer.assert_quiet();
}

#[test]
fn what_is_open_is_made_wider() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(FAILED)]);
    let width = "Math.round(document.querySelector('.detail').getBoundingClientRect().width)";
    viewer.wait("document.querySelector('.detail')");
    let before = viewer.eval(width).as_u64().unwrap();
    viewer.eval("document.querySelector('.divider').focus()");
    viewer.key("ArrowLeft");
    viewer.key("ArrowLeft");
    viewer.wait(&format!("{width} === {}", before + 48));
    // The changed width is kept on other pages, and another key resets it.
    viewer.open_page("Agents");
    viewer.wait(&format!("{width} === {}", before + 48));
    viewer.eval("document.querySelector('.divider').focus()");
    viewer.key("Home");
    viewer.wait(&format!("{width} !== {}", before + 48));
    viewer.assert_quiet();
}

#[test]
fn a_page_is_printed_with_all_of_its_rows() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(FAILED)]);
    viewer.look(1280, 400, false);
    viewer.key("1");
    viewer.wait_page("Trace");
    let drawn = "document.querySelectorAll('.rows-body .row .text').length";
    viewer.wait(&format!("{drawn} > 5"));
    let all = viewer.rows();
    // The window is too low for all rows.
    viewer.wait(&format!("{drawn} < {all}"));
    viewer.eval(&format!(
        "window.print = () => {{ window.printed = {drawn} }}"
    ));
    viewer.key("Ctrl+p");
    viewer.wait(&format!("window.printed === {all}"));
    viewer.eval("dispatchEvent(new Event('afterprint'))");
    viewer.wait(&format!("{drawn} < {all}"));
    // A page without a list is printed as it is on the screen.
    viewer.open_page("state.md");
    viewer.eval("window.printed = null");
    viewer.key("Ctrl+p");
    viewer.wait("window.printed === 0");
    viewer.assert_quiet();
}

#[test]
fn what_is_open_is_told_and_has_the_focus() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(FAILED)]);
    viewer.wait_page("Trace");
    let told = "document.querySelector('p.told').textContent";
    viewer.wait(&format!("{told} === 'Trace of translate-manual, failed'"));
    viewer.wait("document.activeElement.id === 'main'");
    viewer.key("1");
    viewer.wait(&format!("{told} === 'Trace of translate-manual, failed'"));
    viewer.assert_quiet();
}

/// Checks that the remaining statements of a run are listed below its trace, with their lines.
#[test]
fn what_is_left_stands_below_the_trace() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(FAILED)]);
    viewer.wait("document.querySelector('.ahead summary').innerText === 'Not done: up to 8 statements, from line 38 on'");
    viewer.click(".ahead summary");
    viewer.wait("[...document.querySelectorAll('.ahead li')].some(line => line.innerText.includes('the run is here'))");
    viewer.click_text(".ahead li a", "line 46");
    viewer.wait_page("Program");
    viewer.wait("location.hash.endsWith('/program/46')");
    // A finished run has no remaining statements.
    viewer.drop_run(&[&example(FINISHED)]);
    viewer.wait("document.querySelectorAll('.trace-rows .row').length > 3");
    assert_eq!(viewer.eval("!document.querySelector('.ahead')"), true);
    viewer.assert_quiet();
}
