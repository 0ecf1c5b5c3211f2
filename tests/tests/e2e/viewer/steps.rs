//! Tests the number of mouse steps for common tasks, with a dropped file and with `prosescope view`. A step is a
//! click, a choice in a menu, or typing a text.

use std::path::Path;

use prosescope_tests::needs;

use super::opening::Served;
use super::workflows::made;
use super::{FAILED, Viewer, compare, decide, example, examples};

/// A viewer, and the number of steps taken in it.
struct Steps<'v> {
    viewer: &'v mut Viewer,
    taken: u32,
}

impl Steps<'_> {
    fn click(&mut self, selector: &str) {
        self.taken += 1;
        self.viewer.click(selector);
    }

    fn click_text(&mut self, selector: &str, text: &str) {
        self.taken += 1;
        self.viewer.click_text(selector, text);
    }

    fn type_text(&mut self, text: &str) {
        self.taken += 1;
        self.viewer.type_text(text);
    }

    fn wait(&mut self, js: &str) {
        self.viewer.wait(js);
    }
}

/// Performs a task twice: with a dropped file, and with the same file served. Neither may take more than `most`
/// steps.
fn within(most: u32, given: &Path, task: impl Fn(&mut Steps<'_>)) {
    let mut all = Vec::new();
    let mut count = |viewer: &mut Viewer| {
        let mut steps = Steps { viewer, taken: 0 };
        task(&mut steps);
        all.push(steps.taken);
        steps.viewer.assert_no_errors();
    };
    if let Some(mut viewer) = Viewer::from_disk() {
        viewer.drop_files(&[given]);
        count(&mut viewer);
    }
    if let (Some(prose), Some(_)) = (needs::prose(), needs::viewer()) {
        let served = Served::start(&prose, &[given]);
        if let Some(mut viewer) = Viewer::served(&served.address) {
            count(&mut viewer);
        }
    }
    assert!(all.iter().all(|taken| *taken <= most), "{all:?}");
}

#[test]
fn why_it_failed_what_was_asked_and_what_took_longest() {
    // Tasks a and b (why did it fail, where is it): no step is needed, because the run opens at its first failure.
    within(0, &example(FAILED), |steps| {
        steps.wait("document.querySelector('.band h1').innerText.includes('Failed at line 38')");
        steps.wait(
            "document.querySelector('.detail .error').innerText.startsWith('Output was cut off')",
        );
        steps
            .wait("document.querySelector('.detail .says').innerText.includes('Mend these terms')");
        steps.wait("document.querySelector('.detail .given table')");
    });
    // Task h: which statement took longest.
    within(1, &example(FAILED), |steps| {
        steps.click_text(".segments button", "Longest");
        steps.wait("document.querySelector('.trace-rows .row[aria-rowindex=\"2\"] .took').innerText === '24m 56s'");
    });
}

#[test]
fn which_runs_failed_and_where_a_text_is() {
    // Task d: which runs failed, and why.
    within(4, &examples(), |steps| {
        steps.wait("document.querySelector('.causes').innerText.includes('Output was cut off')");
        steps.click_text(".segments button", "Failed");
        steps.wait("document.querySelector('h1').innerText === '1 of 4 runs'");
    });
    // Task f: where a text is.
    within(3, &examples(), |steps| {
        steps.wait("document.querySelectorAll('.run-rows .row').length > 3");
        steps.click(".bar button.seek");
        steps.type_text("footnote");
        steps.wait("document.querySelector('#found .entry mark')");
        steps.click("#found .entry");
        steps.wait("location.hash.startsWith('#/run/20260118-201530-z4t9wa/')");
    });
}

#[test]
fn a_gate_is_approved_and_two_runs_are_compared() {
    if let Some((project, run)) = decide::waiting() {
        // Task c: find the command that approves a waiting gate.
        within(1, &project.runs().join("runs").join(&run), |steps| {
            steps.click_text(".acts button", "Approve…");
            steps.wait("document.querySelector('dialog.sheet .command').innerText.includes('prosescope approve')");
        });
    }
    if needs::sqlite3().is_some() {
        let folder = tempfile::tempdir().unwrap();
        // Task e: compare two runs.
        within(4, &compare::two(folder.path()), |steps| {
            steps.wait("document.querySelector('.run-rows .row[aria-rowindex=\"3\"] .mark-run')");
            steps.click(".run-rows .row[aria-rowindex='2'] .mark-run");
            steps.click(".run-rows .row[aria-rowindex='3'] .mark-run");
            steps.click_text(".pairing button", "Compare");
            steps.wait("document.querySelector('.compare-rows .row .sign.wait')");
        });
    }
}

#[test]
fn a_run_is_shared_asked_handed_on_and_a_workflow_followed() {
    // Task g: share a run.
    within(4, &example(FAILED), |steps| {
        steps.click_text(".bar button", "Share…");
        steps.wait("document.querySelector('.share .primary:not([disabled])')");
        steps.click_text(".share button", "Save the file");
        steps.viewer.downloaded("20260118-201530-z4t9wa.html");
    });
    // Task i: query a run by SQL and save the answer.
    within(3, &example(FAILED), |steps| {
        // The page goes to the first cause by itself; a click before that would be undone.
        steps.wait("document.querySelector('.detail h2')");
        steps.click_text("nav.pages a", "SQL");
        steps.wait("document.querySelectorAll('select[aria-label=\"Stored questions\"] option').length > 5");
        steps.taken += 1;
        steps.viewer.eval(
            "(menu => { menu.value = 'longest'; menu.dispatchEvent(new Event('change')); })
             (document.querySelector('select[aria-label=\"Stored questions\"]'))",
        );
        steps.wait("document.querySelectorAll('.sql-rows .row').length > 3");
        steps.click_text(".sql-bar button", "Save CSV");
        steps.viewer.downloaded("answer.csv");
    });
    // Task j: copy a run for a model.
    within(2, &example(FAILED), |steps| {
        steps.click_text(".acts button", "Copy for a model");
        steps.wait("document.querySelector('dialog.sheet pre.raw').innerText.length > 1000");
        steps.click_text("dialog.sheet .line-up button", "Copy");
        steps.viewer.wait_text("Copied");
    });
    // Task k: follow the conversation of a workflow.
    let folder = tempfile::tempdir().unwrap();
    within(2, &made::ours(folder.path()), |steps| {
        steps.viewer.wait_main("3 workflows");
        steps.click(".workflow-rows .row[aria-rowindex='2']");
        steps.wait("document.querySelectorAll('.thread > li').length > 3");
    });
}
