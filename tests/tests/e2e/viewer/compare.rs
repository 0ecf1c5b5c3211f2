//! Tests the comparison of two runs, and the text of a run for a model.

use std::fs;
use std::path::PathBuf;

use prosescope_tests::{build, needs};

use super::screenshots::shoot;
use super::{FAILED, Viewer, example};

/// Builds two runs of one program. The second run succeeds after row 20, and its values differ from the first run's in
/// one word.
pub(super) fn two(folder: &std::path::Path) -> std::path::PathBuf {
    let prose = folder.join(".prose");
    for (id, change) in [
        ("20260118-201530-aaaaaa", ""),
        (
            "20260119-201530-bbbbbb",
            "UPDATE execution SET status = 'completed', error_message = NULL WHERE id >= 20;
             UPDATE bindings SET value = replace(value, 'pitch', 'yaw');",
        ),
    ] {
        let run = prose.join("runs").join(id);
        fs::create_dir_all(&run).unwrap();
        fs::copy(example(FAILED).join("state.db"), run.join("state.db")).unwrap();
        let change = format!("UPDATE run SET id = '{id}'; {change}");
        build::sql(&run.join("state.db"), &change);
    }
    prose
}

#[test]
fn two_runs_are_compared_by_mouse_and_by_keys() {
    let (Some(_), Some(mut viewer)) = (needs::sqlite3(), Viewer::from_disk()) else {
        return;
    };
    viewer.look(1280, 860, false);
    let folder = tempfile::tempdir().unwrap();
    viewer.drop_files(&[&two(folder.path())]);
    viewer.wait_text("2 runs");
    let differs = "document.querySelector('.compare-rows .row .sign.wait')";
    // A mouse needs four steps: two marks, the button, a row.
    let top = "document.querySelector('.run-rows').getBoundingClientRect().top";
    let before = viewer.eval(top);
    viewer.click(".run-rows .row[aria-rowindex='2'] .mark-run");
    viewer.wait("document.querySelector('.pairing')");
    assert_eq!(viewer.eval(top), before, "the table stays where it is");
    viewer.click(".run-rows .row[aria-rowindex='3'] .mark-run");
    shoot(&mut viewer, "marked");
    viewer.look(1280, 860, false);
    viewer.click_text(".pairing button", "Compare");
    viewer.wait(differs);
    // The earlier run is called A, in whichever order the runs were marked.
    viewer.wait("location.hash === '#/compare/20260118-201530-aaaaaa/20260119-201530-bbbbbb'");
    viewer.wait_main("5 rows differ");
    // Nothing else differs, so the first row is open from the start.
    viewer.wait("document.querySelector('.detail h2').innerText.includes('glossary')");
    viewer.click_text(".compare-rows .more", "values");
    viewer.wait("document.querySelector('.detail .changes .add').innerText.includes('yaw')");
    shoot(&mut viewer, "compare");
    viewer.look(1280, 860, false);
    viewer.click_text(".compare-rows .text", "draft = session: translator");
    viewer.wait("document.querySelector('.detail .standing')");
    viewer.wait("/\\/\\d+$/.test(location.hash)");
    viewer.click_text(".detail a", "open the row");
    viewer.wait_page("Trace");
    viewer.eval("history.back()");
    viewer.wait(differs);

    // The next steps use the keyboard.
    viewer.key("g");
    viewer.wait_text("2 runs");
    viewer.click_text(".pairing button", "Clear");
    for key in ["j", "Home", "x", "j", "x", "c"] {
        viewer.key(key);
    }
    viewer.wait(differs);
    // A move opens the row. Rows that only enclose others are listed only with all rows.
    viewer.key("j");
    viewer.wait("/\\/\\d+$/.test(location.hash)");
    let blocks = "[...document.querySelectorAll('.compare-rows .text')].filter(e => e.innerText.startsWith('do ')).length";
    assert_eq!(viewer.eval(blocks), serde_json::json!(0));
    viewer.click_text(".tools label", "Also show equal rows");
    viewer.wait(&format!("{blocks} > 0"));
    viewer.assert_quiet();
}

/// Opens the first of two files that came by mail, with the same name. Returns the path of the second, too.
fn first_of_two() -> Option<(tempfile::TempDir, PathBuf, Viewer)> {
    needs::sqlite3()?;
    let mut viewer = Viewer::from_disk()?;
    let folder = tempfile::tempdir().unwrap();
    let runs = two(folder.path()).join("runs");
    let file = |run: &str| runs.join(run).join("state.db");
    viewer.drop_run(&[&file("20260118-201530-aaaaaa")]);
    Some((folder, file("20260119-201530-bbbbbb"), viewer))
}

/// The second file is opened beside the first, by the finder.
#[test]
fn another_file_is_compared_with_the_open_run() {
    let Some((_folder, second, mut viewer)) = first_of_two() else {
        return;
    };
    viewer.key("Ctrl+k");
    viewer.wait("document.querySelector('dialog.finder input:focus')");
    viewer.type_text("compare with another");
    viewer.wait("document.querySelectorAll('dialog.finder [role=option]').length === 1");
    viewer.set_files("#pick-beside", &[&second]);
    viewer.wait_main("5 rows differ");
    viewer.assert_no_errors();
}

/// The same file again replaces what is open.
#[test]
fn a_second_drop_adds_its_runs() {
    let Some((_folder, second, mut viewer)) = first_of_two() else {
        return;
    };
    viewer.page.drop_files(&[&second]);
    viewer.wait_text("2 runs open");
    viewer.wait("document.querySelectorAll('.run-rows .row:not(.head)').length === 2");
    viewer.click_text(".run-rows .row", "aaaaaa");
    viewer.wait_page("Trace");
    viewer.page.drop_files(&[&second]);
    viewer.wait("document.querySelector('.bar').innerText.includes('bbbbbb')");
    viewer.wait_page("Trace");
    viewer.assert_no_errors();
}

#[test]
fn a_run_and_a_row_are_handed_to_a_model() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(FAILED)]);
    let text = "document.querySelector('dialog.sheet pre.raw').innerText";
    // A mouse needs two steps: the button, and copying.
    viewer.click_text(".acts button", "Copy for a model");
    viewer.wait(&format!(
        "{text}.includes('Output was cut off in the middle of table 4.2-14')"
    ));
    viewer.wait(
        "/about [\\d\\u202f]+ tokens/.test(document.querySelector('dialog.sheet').innerText)",
    );
    viewer.click_text("dialog.sheet button", "8 KB");
    viewer.wait(&format!("{text}.length <= 8000"));
    viewer.click_text("dialog.sheet .line-up button", "Copy");
    viewer.wait_text("Copied");
    viewer.key("Escape");
    viewer.wait("!document.querySelector('dialog.sheet')");
    // A key copies the open row for a model.
    viewer.key("n");
    viewer.wait("document.querySelector('.detail .foot')");
    viewer.key("y");
    viewer.wait(&format!(
        "{text}.includes('Mend these terms and nothing else')"
    ));
    viewer.key("Escape");
    viewer.wait("!document.querySelector('dialog.sheet')");
    viewer.assert_quiet();
}
