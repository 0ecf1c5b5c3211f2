//! Tests that every page and every value can be reached by keyboard alone.

use std::collections::BTreeSet;
use std::fs;

use prosescope_tests::{build, needs};

use super::{FAILED, FINISHED, FOLDER, Viewer, WAITING, example, examples};

#[test]
fn files_are_opened_and_runs_chosen_from_the_keyboard() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let database = example(FINISHED).join("state.db");
    viewer.choose_files(&[&database], |page| page.key("Ctrl+o"));
    viewer.wait_page("Trace");
    // A folder is opened first: Tab from the top of the page reaches the button.
    viewer.reload();
    viewer.wait_text("Open folder…");
    let folder = examples();
    viewer.choose_files(&[&folder], |page| {
        for _ in 0..20 {
            page.key("Tab");
            if page.eval("document.activeElement.innerText.includes('Open folder')") == true {
                return page.key("Enter");
            }
        }
        panic!("Tab does not come to “Open folder…”");
    });
    // The address still contains the previously open run, which is also in this folder.
    viewer.wait_page("Trace");
    for name in ["heat-the-school", "ship-tax-rules"] {
        viewer.key("g");
        viewer.wait_text("4 runs");
        let at = viewer.eval(&format!(
            "[...document.querySelectorAll('.run-rows .row:not(.head)')].findIndex(r => r.innerText.includes('{name}'))"
        ));
        viewer.key("j");
        viewer.key("Home");
        for _ in 0..at.as_u64().unwrap() {
            viewer.key("j");
        }
        viewer.key("Enter");
        viewer.wait_page("Trace");
        viewer.wait(&format!("document.title.startsWith('{name}')"));
    }
    // The list comes back to the row of the run that was shown.
    viewer.key("g");
    viewer.wait_text("4 runs");
    viewer.wait(
        "document.querySelector('.run-rows .row.current').innerText.includes('ship-tax-rules')",
    );
    // The list is filtered by the name of a program.
    viewer.key("/");
    viewer.type_text("flaky");
    viewer.wait_text("1 of 4 runs");
    viewer.key("Enter");
    viewer.key("Enter");
    viewer.wait("document.title.startsWith('hunt-flaky-tests')");
    viewer.assert_quiet();
}

#[test]
fn every_page_of_every_example_is_a_key_away() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    for run in [FINISHED, FOLDER, FAILED, WAITING] {
        viewer.drop_run(&[&example(run)]);
        for (title, key) in viewer.tabs() {
            viewer.key(&key);
            viewer.wait_page(&title);
            let text = viewer.main_text();
            assert!(text.trim().len() > 20, "{run}, {title}: {text}");
        }
        viewer.eval("history.back()");
        viewer.wait_page("SQL");
        viewer.assert_quiet();
    }
}

#[test]
fn every_value_is_opened_from_the_keyboard() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    for run in [FINISHED, FOLDER, FAILED] {
        viewer.drop_run(&[&example(run)]);
        viewer.key("3");
        viewer.wait_page("Values");
        let rows = viewer.rows();
        assert!(rows >= 10, "{run}: {rows} bindings");
        let mut seen = BTreeSet::new();
        viewer.key("j");
        viewer.key("Home");
        for at in 0..rows {
            viewer.key("Enter");
            viewer.wait("document.querySelector('.detail .value') && !document.querySelector('.detail .waiting')");
            viewer.wait(&format!(
                "document.querySelector('[data-list]').getAttribute('aria-activedescendant') === 'binding-rows-{at}'"
            ));
            let detail = viewer.eval(
                "[document.querySelector('.detail h2').innerText, document.querySelector('.detail .value').innerText,
                  document.querySelector('.detail').contains(document.activeElement)]",
            );
            assert_eq!(
                detail[2], true,
                "{run}, row {at}: the focus goes into what was opened"
            );
            assert!(detail[1].as_str().unwrap().len() > 5, "{run}: {detail}");
            seen.insert(viewer.eval("location.hash").to_string());
            viewer.key("Escape");
            viewer.wait("!document.querySelector('.detail')");
            assert_eq!(
                viewer.eval("document.activeElement.hasAttribute('data-list')"),
                true
            );
            viewer.key("j");
        }
        assert_eq!(
            seen.len() as u64,
            rows,
            "{run}: every value has an address of its own"
        );
        viewer.assert_quiet();
    }
}

#[test]
fn the_trace_folds_unfolds_and_walks_failures() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(FAILED)]);
    // The run opens at its first failure, which would undo an earlier key.
    viewer.wait("document.querySelector('.detail h2')");
    viewer.key("3");
    viewer.wait_page("Values");
    // From any page, the key `n` leads to the failure.
    viewer.key("n");
    viewer.wait_page("Trace");
    viewer.wait("document.querySelector('.trace-rows .row.selected.current .cause')");
    viewer.wait("/\\/[0-9]+$/.test(location.hash)");
    // The row has a label for screen readers.
    assert_eq!(
        viewer.eval("document.querySelector('.trace-rows .row.selected').ariaLabel"),
        "failed, draft = session: translator, first cause, 24 minutes"
    );
    viewer.key("j");
    viewer.key("Home");
    viewer.wait(
        "document.querySelector('.trace-rows .row.current').getAttribute('aria-rowindex') === '2'",
    );
    let all = viewer.rows();
    // The keys move down to the first row that can be folded. Each row must be drawn before the next key.
    let foldable = "[...document.querySelectorAll('.trace-rows .row')].find(row => row.ariaExpanded === 'true')";
    viewer.wait(foldable);
    let foldable = viewer.eval(&format!("+{foldable}.ariaRowIndex"));
    let foldable = foldable.as_u64().expect("an open row has a number");
    for at in 2..foldable {
        viewer.key("ArrowDown");
        viewer.wait(&format!(
            "+document.querySelector('.trace-rows .row.current').ariaRowIndex === {}",
            at + 1
        ));
    }
    viewer.key("ArrowLeft");
    viewer.wait(&format!(
        "+document.querySelector('[data-list]').ariaRowCount - 1 < {all}"
    ));
    viewer.wait("document.querySelector('.trace-rows .row.current').ariaExpanded === 'false'");
    viewer.key("ArrowRight");
    viewer.wait(&format!(
        "+document.querySelector('[data-list]').ariaRowCount - 1 === {all}"
    ));
    viewer.key("Enter");
    viewer.wait("document.querySelector('.detail')");
    viewer.key("Escape");
    viewer.wait("!document.querySelector('.detail')");
    viewer.assert_quiet();
}

#[test]
fn help_lists_the_keys_and_closes() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.wait_text("Drop a file or folder anywhere");
    viewer.key("?");
    viewer.wait("document.querySelector('[role=dialog], dialog[open]').innerText.includes('Next and previous row')");
    viewer.key("Escape");
    viewer.wait("!document.querySelector('[role=dialog], dialog[open]')");
    viewer.assert_quiet();
}

/// A run without agents, gates and imports has no tabs for them, and the keys count the tabs that are there.
#[test]
fn keys_count_the_tabs_that_are_there() {
    let (Some(_), Some(mut viewer)) = (needs::sqlite3(), Viewer::from_disk()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("state.db");
    fs::copy(example(FAILED).join("state.db"), &database).unwrap();
    build::sql(
        &database,
        "DELETE FROM agent_segments; DELETE FROM agents; DELETE FROM imports;",
    );
    viewer.drop_run(&[&database]);
    viewer.wait("document.querySelectorAll('nav.pages a').length === 7");
    let keys = viewer.eval(
        "[...document.querySelectorAll('nav.pages a')].map(a => a.title.match(/\\((.)\\)$/)[1]).join('')",
    );
    assert_eq!(keys, serde_json::json!("12345q6"));
    viewer.key("6");
    viewer.wait_page("Issues");
    viewer.key("4");
    viewer.wait_page("Data");
    viewer.assert_quiet();
}

/// The finder has the same commands as the keys, and only those that can be used.
#[test]
fn commands_are_found_by_their_names() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(FAILED)]);
    let mut find = |text: &str| {
        viewer.key("Ctrl+k");
        viewer.wait("document.querySelector('dialog.finder input:focus')");
        viewer.eval("document.querySelector('dialog.finder input').select()");
        viewer.type_text(text);
        viewer.wait("document.querySelectorAll('dialog.finder [role=option]').length === 1");
        viewer.key("Enter");
        viewer.wait("!document.querySelector('dialog.finder[open]')");
    };
    find("theme light");
    find("about this run");
    viewer.wait("document.documentElement.dataset.theme === 'light'");
    viewer.wait("document.querySelector('dialog.sheet').innerText.includes('About this run')");
    viewer.key("Escape");
    viewer.wait("!document.querySelector('dialog.sheet')");
    viewer.key("Ctrl+k");
    viewer.wait("document.querySelector('dialog.finder input:focus')");
    viewer.type_text("decide the gate");
    viewer.wait("!document.querySelector('dialog.finder [role=option]')");
    viewer.assert_quiet();
}
