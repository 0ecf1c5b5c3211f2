//! Tests that a statement's prompt, inputs and answer are shown in its row, and that texts can be found.

use std::fs;

use prosescope_tests::{build, needs};

use super::screenshots::shoot;
use super::{FAILED, FINISHED, Viewer, example, examples};

/// Opens the finder, and types a text over the previous one, which is selected.
fn find(viewer: &mut Viewer, text: &str) {
    viewer.key("Ctrl+k");
    viewer.wait("document.querySelector('dialog.finder input:focus')");
    viewer.eval("document.querySelector('dialog.finder input').select()");
    viewer.type_text(text);
}

/// JavaScript that returns the number of marked matches.
const MARKS: &str = "(CSS.highlights.get('sought') || {size: 0}).size";

#[test]
fn a_row_shows_what_was_asked_given_and_answered() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(FINISHED)]);
    viewer.key("1");
    viewer.wait_page("Trace");
    viewer.click_text(".trace-rows .text", "let theory = resume: captain");
    viewer.wait("document.querySelector('.detail .work')");
    let titles = viewer
        .eval("[...document.querySelectorAll('.detail .work h3')].map(h => h.firstChild.textContent).join()");
    assert_eq!(titles, "Asked,Given,Answered");
    // The name of an input links to the statement that wrote it, and its size to the value.
    let before = viewer.eval("location.hash");
    let name = viewer.eval("document.querySelector('.detail .given a').innerText");
    viewer.click(".detail .given b a");
    viewer.wait(&format!("location.hash !== {before}"));
    viewer.wait(&format!(
        "document.querySelector('.trace-rows .row.selected .text').innerText.includes({name})"
    ));
    viewer.eval("history.back()");
    viewer.wait(&format!("location.hash === {before}"));
    viewer.wait("document.querySelector('.detail .whole-value a')");
    viewer.click(".detail .whole-value a");
    viewer.wait_page("Values");
    viewer.wait(&format!(
        "document.querySelector('.detail h2').innerText.includes({name})"
    ));
    viewer.eval("history.back()");
    viewer.wait("document.querySelector('.detail .work')");
    shoot(&mut viewer, "row");
    viewer.assert_quiet();
}

#[test]
fn a_text_is_found_while_it_is_typed_and_marked_where_it_is() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(FAILED)]);
    viewer.key("/");
    viewer.wait("document.querySelector('dialog.finder input:focus')");
    viewer.type_text("headings");
    viewer.wait("document.querySelectorAll('#found .entry mark').length > 1");
    viewer.wait("/^\\d+ lines?/.test(document.querySelector('.find-state').innerText)");
    let groups =
        viewer.eval("[...document.querySelectorAll('#found .group')].map(g => g.innerText).join()");
    assert!(groups.as_str().unwrap().contains("Statements"), "{groups}");
    shoot(&mut viewer, "finder");
    viewer.key("Enter");
    viewer.wait("!document.querySelector('dialog.finder[open]')");
    viewer.wait("document.querySelector('.detail')");
    viewer.wait(&format!("{MARKS} > 0"));
    // The finder offers the last text again, and Esc removes the marks.
    viewer.key("Escape");
    viewer.wait(&format!("{MARKS} === 0"));
    viewer.key("Ctrl+k");
    viewer.wait("document.querySelector('dialog.finder input').value === 'headings'");
    viewer.key("Escape");
    viewer.wait("!document.querySelector('dialog.finder[open]')");
    viewer.assert_quiet();
}

/// Checks that a match far down in a long value, which is drawn line by line, is scrolled into view, also within a very
/// long line.
#[test]
fn a_hit_in_a_long_value_opens_at_its_line() {
    if needs::sqlite3().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("state.db");
    let line = "replace(hex(zeroblob(40000)), '00', 'A line of fifty characters, and then the next.' || char(10))";
    let endless = "replace(hex(zeroblob(40000)), '00', 'no break ')";
    build::sql(
        &database,
        &format!(
            "{} INSERT INTO bindings (name, kind, value, source_statement) VALUES
               ('long', 'let', {line} || 'A line with the albatross.' || char(10) || {line}, 'let long = session \"Write\"'),
               ('json', 'let', '{{\"a\": \"' || {endless} || '\", \"b\": \"a penguin\"}}', 'let json = session \"Write\"');",
            build::rows(10)
        ),
    );
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&database]);
    viewer.wait("document.querySelector('.band button.in-text')");
    for (text, number) in [("albatross", "40001"), ("a penguin", "3")] {
        find(&mut viewer, text);
        viewer.wait("document.querySelector('#found .entry mark')");
        viewer.key("Enter");
        viewer.wait("!document.querySelector('dialog.finder[open]')");
        let row = format!(
            "[...document.querySelectorAll('.text-rows .row')].find(row => row.innerText.includes('{text}'))"
        );
        viewer.wait(&row);
        viewer.wait(&format!("{MARKS} > 0"));
        let is_seen = format!(
            "(() => {{ const row = {row}.getBoundingClientRect(), list = {row}.closest('[role=grid]').getBoundingClientRect();
               return row.top >= list.top && row.bottom <= list.bottom + 1; }})()"
        );
        viewer.wait(&is_seen);
        assert_eq!(
            viewer.eval(&format!("{row}.querySelector('.no').innerText")),
            number
        );
    }
    shoot(&mut viewer, "long-value");
    viewer.assert_quiet();
}

#[test]
fn pages_runs_and_commands_are_gone_to_by_name() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_files(&[&examples()]);
    viewer.wait_text("4 runs");
    find(&mut viewer, "flaky");
    viewer.wait("document.querySelector('#found').innerText.includes('hunt-flaky-tests')");
    viewer.click_text("#found .entry", "completed");
    viewer.wait("document.title.startsWith('hunt-flaky-tests')");
    // A search in all runs lists matches within runs first, and each match shows the name of its run.
    viewer.key("g");
    viewer.wait_text("4 runs");
    find(&mut viewer, "translate");
    viewer
        .wait("document.querySelector('#found .group').innerText.includes(' of translate-manual')");
    shoot(&mut viewer, "finder-all");
    viewer.key("Enter");
    viewer.wait("document.title.startsWith('translate-manual')");
    find(&mut viewer, "issue");
    viewer.wait("document.querySelector('#found').innerText.includes('Issues')");
    viewer.click_text("#found .entry", "Issues");
    viewer.wait_page("Issues");
    // The next text occurs in no run.
    find(&mut viewer, "qqqqq");
    viewer.wait("document.querySelector('.find-state').innerText.startsWith('No match for “qqqqq”. Searched: ')");
    assert_eq!(
        viewer.eval("document.querySelectorAll('#found .entry').length"),
        0
    );
    viewer.assert_quiet();
}

#[test]
fn a_list_is_narrowed_ordered_and_linked_to() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_files(&[&examples()]);
    viewer.wait_text("4 runs");
    let first = "document.querySelector('.run-rows .row:not(.head)').innerText";
    viewer.click_text(".run-rows .head button", "Result");
    viewer.wait(&format!("{first}.includes('translate-manual')"));
    // The list shows the error of a failed run.
    viewer.wait(&format!("{first}.includes('Output was cut off')"));
    viewer.wait("location.hash === '#/?order=problems'");
    // Dragging over the bars selects days. The script selects the last eight of fourteen days.
    viewer.eval(
        "(() => { const days = document.querySelector('.days'), box = days.getBoundingClientRect();
          const point = (type, nth, buttons) => days.dispatchEvent(new PointerEvent(type,
            {bubbles: true, buttons, clientX: box.left + (nth + .5) / 14 * box.width, clientY: box.top + 5}));
          point('pointerdown', 6, 1); point('pointermove', 10, 1); point('pointermove', 13, 1); })()",
    );
    viewer.wait_text("2 of 4 runs");
    viewer.wait("location.hash === '#/?since=2026-01-18&until=2026-01-25&order=problems'");
    // Going back from a run restores the list as it was.
    viewer.key("j");
    viewer.key("Enter");
    viewer.wait_page("Trace");
    viewer.eval("history.back()");
    viewer.wait_text("2 of 4 runs");
    // The address also restores the list, once the files are dropped again.
    viewer.reload();
    viewer.wait_text("Drop a file or folder anywhere");
    viewer.drop_files(&[&examples()]);
    viewer.wait_text("2 of 4 runs");
    shoot(&mut viewer, "runs-chosen");
    viewer.assert_quiet();
}

#[test]
fn words_and_reasons_narrow_the_list() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_files(&[&examples()]);
    viewer.wait_text("4 runs");
    for (words, found) in [
        ("failed", "1 of 4 runs"),
        ("cut off translate", "1 of 4 runs"),
        ("2026-01-12..2026-01-15", "2 of 4 runs"),
        ("failed today", "0 of 4 runs"),
        ("", "4 runs"),
    ] {
        viewer.key("/");
        viewer.key("Ctrl+a");
        match words {
            "" => viewer.key("Delete"),
            words => viewer.type_text(words),
        }
        viewer.wait(&format!(
            "document.querySelector('h1').innerText === '{found}'"
        ));
    }
    viewer.key("Escape");
    // A click on the reason of a failure filters the list by this reason.
    viewer.click_text(".causes button", "Output was cut off");
    viewer.wait("document.querySelector('h1').innerText === '1 of 4 runs'");
    viewer.wait("location.hash.startsWith('#/?why=Output%20was')");
    viewer.click_text(".pairing button", "Show all");
    viewer.wait("document.querySelector('h1').innerText === '4 runs'");
    viewer.click_text(".segments button", "Waiting");
    viewer.wait("location.hash === '#/?status=waiting'");
    viewer.assert_quiet();
}

#[test]
fn a_long_list_of_runs_comes_piece_by_piece_and_stops() {
    const RUNS: u32 = 200;
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join(".prose/runs");
    for n in 0..RUNS {
        let run = runs.join(format!("20260118-2015{:02}-run{n:03}", n % 60));
        fs::create_dir_all(&run).unwrap();
        fs::copy(example(FAILED).join("state.db"), run.join("state.db")).unwrap();
    }
    // The script clicks the button that stops reading as soon as the button appears.
    viewer.eval(
        "window.stopping = new MutationObserver(() => {
            const stop = [...document.querySelectorAll('.reading button')].find(b => b.innerText === 'Stop' && b.parentNode.innerText.includes(' read'));
            if (stop) { stopping.disconnect(); stop.click(); } });
         stopping.observe(document.body, {childList: true, subtree: true}); 0",
    );
    viewer.drop_files(&[&folder.path().join(".prose")]);
    viewer.wait(
        "[...document.querySelectorAll('.reading button')].some(b => b.innerText === 'Go on')",
    );
    let some = viewer.eval("parseInt(document.querySelector('.reading progress').value)");
    assert!(some.as_u64().unwrap() < u64::from(RUNS), "{some}");
    shoot(&mut viewer, "runs-reading");
    viewer.click_text("button", "Go on");
    viewer.wait_text(&format!("{RUNS} runs"));
    viewer.wait("!document.querySelector('.reading')");
    assert_eq!(viewer.rows(), u64::from(RUNS));
    viewer.assert_quiet();
}

/// Checks that the newest runs are shown while the browser still lists a large folder.
#[test]
fn the_newest_of_many_runs_are_shown_while_the_folder_is_listed() {
    // More than a hundred runs are needed, because fewer are listed in one step.
    const RUNS: u32 = 120;
    /// A number of runs that is larger than the first step of the listing, but smaller than all runs.
    const NEWEST: u32 = 50;
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join(".prose/runs");
    for n in 0..RUNS {
        let run = runs.join(format!("20260118-20{:02}{:02}-run{n:03}", n / 60, n % 60));
        fs::create_dir_all(&run).unwrap();
        fs::copy(example(FAILED).join("state.db"), run.join("state.db")).unwrap();
    }
    // The listing of older runs is held back until the newest are shown, so that the test does not depend on speed.
    viewer.eval(&format!(
        "window.said = [], window.held = 0;
         const shown = new Promise(done => new MutationObserver(() => {{
            const h1 = document.querySelector('h1')?.innerText, first = document.querySelector('.run-rows .row:not(.head)')?.innerText;
            if (h1?.includes('so far') && first) {{
                said.push([parseInt(h1), parseInt(first.match(/-run(\\d+)/)?.[1])]);
                done();
            }}
         }}).observe(document.body, {{childList: true, subtree: true, characterData: true}}));
         const values = FileSystemDirectoryHandle.prototype.values;
         FileSystemDirectoryHandle.prototype.values = function () {{
            const inside = values.call(this), run = this.name.match(/-run(\\d+)$/)?.[1];
            if (run === undefined || run >= {RUNS} - {NEWEST}) return inside;
            held += 1;
            return {{next: async () => {{ await shown; return inside.next() }}}};
         }}; 0"
    ));
    viewer.drop_files(&[&folder.path().join(".prose")]);
    viewer.wait(&format!(
        "document.querySelector('h1')?.innerText === '{RUNS} runs' && !document.querySelector('.reading')"
    ));
    // All runs began at the same time, so any of the listed runs may be first.
    let said = viewer.eval("said[0]");
    let (listed, first) = (said[0].as_u64().unwrap(), said[1].as_u64().unwrap());
    assert!(
        listed < u64::from(NEWEST) && first + listed >= u64::from(RUNS),
        "{listed} listed, run {first} first"
    );
    assert!(viewer.eval("held").as_u64().unwrap() > 0);
    assert_eq!(viewer.rows(), u64::from(RUNS));
    viewer.assert_quiet();
}
