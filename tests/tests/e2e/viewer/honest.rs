//! Tests that the viewer makes no false statements. Examples: "none" for unreadable data, "waiting" for a finished run,
//! one run in place of two.

use std::fs;
use std::path::{Path, PathBuf};

use prosescope_tests::{build, needs};
use serde_json::json;

use super::screenshots::shoot;
use super::{FAILED, FINISHED, Viewer, WAITING, example, examples};

/// Builds a database with a run, and with the rows that these SQL statements add.
pub(super) fn database(folder: &Path, id: &str, status: &str, sql: &str) -> PathBuf {
    let database = folder.join("state.db");
    let run = format!(
        "INSERT INTO run (id, program_path, status, started_at, updated_at)
         VALUES ('{id}', 'p-{id}.prose', '{status}', '2026-01-20 08:00:00', '2026-01-20 08:00:02');"
    );
    build::sql(&database, &format!("{}{run}{sql}", build::state_schema()));
    database
}

/// Overwrites the page of a database that contains this text, so that the page is damaged.
pub(super) fn damage(database: &Path, text: &str) {
    let mut bytes = fs::read(database).unwrap();
    let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let at = bytes
        .windows(text.len())
        .rposition(|part| part == text.as_bytes());
    let at = at.expect("the row") / page * page;
    bytes[at..at + page].fill(0xa5);
    fs::write(database, bytes).unwrap();
}

#[test]
fn what_could_not_be_read_is_said_on_every_page_and_never_called_empty() {
    let (Some(_), Some(mut viewer)) = (needs::sqlite3(), Viewer::from_disk()) else {
        return;
    };
    for (text, rows, table, title, none) in [
        (
            "in the statement",
            "INSERT INTO execution (statement_index, statement_text, status) VALUES (1, 'in the statement', 'completed');",
            "execution",
            "Trace",
            "no statement is recorded",
        ),
        (
            "in the binding",
            "INSERT INTO bindings (name, kind, value) VALUES ('a', 'let', 'in the binding');",
            "bindings",
            "Values",
            "no values",
        ),
        (
            "in the gate",
            "INSERT INTO gates (id, run_id, prompt, status) VALUES ('g', 'damaged', 'in the gate', 'approved');",
            "gates",
            "Gates",
            "no gates",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let database = database(folder.path(), "damaged", "completed", rows);
        damage(&database, text);
        viewer.drop_run(&[&database]);
        for page in ["Trace", title, "Issues"] {
            viewer.open_page(page);
            viewer.wait(&format!(
                "document.querySelector('.band .unread').innerText.includes('table {table}')"
            ));
        }
        viewer.open_page(title);
        viewer.wait_main("this could not be read");
        let said = viewer.main_text().to_lowercase();
        assert!(!said.contains(none), "{table}: {said}");
        shoot(&mut viewer, &format!("honest-unread-{table}"));
        viewer.key("1");
        viewer.wait_page("Trace");
        let said = viewer.main_text().to_lowercase();
        let none = match table {
            "execution" => &["no statement", "0 of 0"][..],
            "bindings" => &["no values are recorded"],
            _ => &[],
        };
        for none in none {
            assert!(!said.contains(none), "{table}: {said}");
        }
        viewer.eval("location.hash = '#/'");
    }
    viewer.assert_quiet();
}

#[test]
fn several_databases_dropped_together_are_several_runs() {
    let (Some(_), Some(mut viewer)) = (needs::sqlite3(), Viewer::from_disk()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let make = |id: &str| {
        let folder = folder.path().join(id);
        fs::create_dir(&folder).unwrap();
        database(&folder, id, "completed", "")
    };
    let (first, second) = (make("first"), make("second"));
    viewer.drop_files(&[&first, &second]);
    viewer.wait_text("2 runs");
    for name in ["p-first", "p-second"] {
        viewer.wait_main(name);
    }
    viewer.key("j");
    viewer.key("Enter");
    viewer.wait_page("Trace");
    // Two runs in folders of the same name are shown as two runs.
    viewer.key("g");
    let run = |of: &Path| of.parent().unwrap().join("run");
    for of in [&first, &second] {
        fs::create_dir(run(of)).unwrap();
        fs::copy(of, run(of).join("state.db")).unwrap();
    }
    viewer.drop_files(&[&run(&first), &run(&second)]);
    viewer.wait_text("2 runs");
    viewer.assert_quiet();
}

#[test]
fn a_wrong_file_leaves_the_open_run_open_and_is_named() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    viewer.drop_run(&[&example(FAILED).join("state.db")]);
    viewer.key("1");
    viewer.wait_page("Trace");
    // The files contain compressed data, whose bytes look random.
    let noise: Vec<u8> = (0..4096_u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    for (name, magic, kind) in [
        ("report.pdf", &b"%PDF-1.7\n"[..], "PDF document"),
        ("picture.png", b"\x89PNG\r\n\x1a\n", "PNG picture"),
    ] {
        let file = folder.path().join(name);
        fs::write(&file, [magic, &noise].concat()).unwrap();
        viewer.page.drop_files(&[&file]);
        viewer.wait(&format!(
            "document.querySelector('.notice')?.innerText.includes('{name}')"
        ));
        let notice = viewer.eval("document.querySelector('.notice').innerText");
        let notice = notice.as_str().unwrap().to_owned();
        assert!(
            notice.contains(kind) && !notice.contains("encrypted"),
            "{notice}"
        );
        viewer.wait_page("Trace");
        viewer.wait("document.querySelector('.trace-rows .row:not(.head)')");
    }
    shoot(&mut viewer, "honest-notice");
    viewer.key("Escape");
    viewer.wait("!document.querySelector('.notice')");
    viewer.key("1");
    viewer.wait_page("Trace");
    viewer.wait_main("Output was cut off in the middle of table 4.2-14");
    viewer.assert_quiet();
}

#[test]
fn a_gate_past_its_deadline_is_not_offered_for_approval() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(WAITING)]);
    viewer.wait_main("it is too late to approve");
    let buttons =
        viewer.eval("[...document.querySelectorAll('.acts button')].map(b => b.innerText.trim())");
    assert_eq!(buttons, json!(["Copy for a model", "Record the time-out…"]));
    viewer.open_page("Gates");
    viewer.wait_main("which counts as a rejection");
    viewer.wait_main("prosescope gates expire");
    assert!(
        !viewer.main_text().contains("prosescope approve"),
        "{}",
        viewer.main_text()
    );
    viewer.assert_quiet();
}

#[test]
fn the_number_beside_gates_counts_those_that_wait() {
    let (Some(_), Some(mut viewer)) = (needs::sqlite3(), Viewer::from_disk()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let rows = "INSERT INTO gates (id, run_id, prompt, status) VALUES
        ('a', 'r', 'A?', 'approved'), ('b', 'r', 'B?', 'rejected'), ('c', 'r', 'C?', 'pending');";
    viewer.drop_run(&[&database(folder.path(), "r", "waiting", rows)]);
    let number = "document.querySelector('nav.pages a[title^=Gates] .n')";
    assert_eq!(
        viewer.eval(&format!("[{number}.innerText, {number}.className]")),
        json!(["1", "n wait-words"])
    );
    build::sql(
        &folder.path().join("state.db"),
        "UPDATE gates SET status = 'approved'",
    );
    viewer.drop_run(&[&folder.path().join("state.db")]);
    viewer.wait(&format!(
        "{number}.innerText === '3' && {number}.className === 'n'"
    ));
    viewer.assert_quiet();
}

/// Checks that no part of a silent run is shown as running, although its rows record a running statement. The last
/// write was in January.
#[test]
fn a_run_that_went_silent_is_not_shown_as_under_way() {
    let (Some(_), Some(mut viewer)) = (needs::sqlite3(), Viewer::from_disk()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let rows = "INSERT INTO execution (statement_index, statement_text, status, started_at)
        VALUES (1, 'session \"Never ended\"', 'executing', '2026-01-20 08:00:01');";
    viewer.drop_run(&[&database(folder.path(), "r", "running", rows)]);
    viewer.wait("document.querySelector('.band h1').innerText.includes('silent')");
    viewer.wait("document.querySelector('.trace-rows .glyph.quiet').title === 'was executing'");
    viewer.wait_main("was executing");
    let live = viewer.eval("!document.querySelector('.pill.run, .glyph.run, .standing.run')");
    assert_eq!(live, true);
    shoot(&mut viewer, "honest-silent");
    viewer.assert_quiet();
}

#[test]
fn a_cell_is_one_line_and_columns_are_as_wide_as_their_content() {
    let (Some(_), Some(mut viewer)) = (needs::sqlite3(), Viewer::from_disk()) else {
        return;
    };
    viewer.look(1280, 900, false);
    let folder = tempfile::tempdir().unwrap();
    let rows = "CREATE TABLE x_notes (n INTEGER, short TEXT, long TEXT);
        INSERT INTO x_notes VALUES (1, 'a', 'first' || char(10) || 'second' || char(13, 10) || 'third, and so on and on and on'), (2, 'b', 'x');";
    viewer.drop_run(&[&database(folder.path(), "r", "completed", rows)]);
    viewer.eval("location.hash = location.hash.replace('trace', 'files/table%3Ax_notes')");
    viewer.wait("document.querySelectorAll('.table-rows .row:not(.head)').length === 2");
    viewer.wait_main("first↵second↵third");
    let shape = viewer.eval(
        "(() => {
            const rows = [...document.querySelectorAll('.table-rows .row')].map(row =>
                [...row.children].map(cell => cell.getBoundingClientRect()));
            const [head, first, second] = rows;
            return {
                aligned: head.every((cell, i) => Math.abs(cell.x - first[i].x) < 1 && Math.abs(cell.x - second[i].x) < 1),
                apart: first.every(cell => cell.bottom <= second[0].top + 1),
                widths: first.map(cell => Math.round(cell.width)),
                full: first.at(-1).right - document.querySelector('.table-rows').getBoundingClientRect().right,
            };
        })()",
    );
    assert_eq!(
        (&shape["aligned"], &shape["apart"]),
        (&json!(true), &json!(true)),
        "{shape}"
    );
    let width = |i: usize| shape["widths"][i].as_f64().unwrap();
    assert!(width(0) < 100.0 && width(2) > 2.0 * width(1), "{shape}");
    assert!(
        shape["full"].as_f64().unwrap() > -20.0,
        "the table takes the whole width: {shape}"
    );
    shoot(&mut viewer, "honest-table");
    viewer.assert_quiet();
}

#[test]
fn a_failure_is_found_again_after_all_around_it_was_folded() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(FAILED)]);
    viewer.key("n");
    viewer.wait_page("Trace");
    let cause = "[...document.querySelectorAll('.trace-rows .row.selected')].some(row => row.querySelector('.cause'))";
    viewer.wait(cause);
    // The link contains the number of the row's execution, not its position.
    viewer.wait("/\\/[0-9]+$/.test(location.hash)");
    let shown = viewer.rows();
    let count = "+document.querySelector('[data-list]').ariaRowCount - 1";
    viewer.click(".trace-rows button.twisty:not(.folded)");
    viewer.wait(&format!("{count} < {shown}"));
    viewer.wait("!document.querySelector('.trace-rows .cause')");
    viewer.key("n");
    viewer.wait(cause);
    viewer.wait("document.querySelector('.trace-rows .row.current .cause')");
    assert_eq!(viewer.rows(), shown);
    // Unfolding and folding successful nodes keeps the current row.
    for more in [true, false] {
        viewer.key("e");
        let is = if more { ">" } else { "===" };
        viewer.wait(&format!("{count} {is} {shown}"));
        viewer.wait("document.querySelector('.trace-rows .row.current .cause')");
    }
    viewer.assert_quiet();
}

#[test]
fn the_choice_among_runs_and_the_viewer_itself_survive_back() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_files(&[&examples()]);
    let chosen = |count: &str| format!("document.querySelector('h1')?.textContent === '{count}'");
    viewer.wait(&chosen("4 runs"));
    viewer.key("/");
    viewer.type_text("flaky");
    viewer.wait(&chosen("1 of 4 runs"));
    viewer.key("Enter");
    viewer.key("Enter");
    viewer.wait_page("Trace");
    viewer.eval("history.back()");
    viewer.wait(&chosen("1 of 4 runs"));
    assert_eq!(
        viewer.eval("document.querySelector('input[type=search]').value"),
        "flaky"
    );
    viewer.key("/");
    viewer.key("Escape");
    viewer.wait(&chosen("4 runs"));
    viewer.wait("document.querySelector('input[type=search]').value === ''");
    assert_eq!(
        viewer.eval("document.activeElement.hasAttribute('data-list')"),
        true
    );
    // A run that opens automatically has a way back to the list.
    viewer.eval("location.hash = '#/'");
    viewer.reload();
    viewer.wait_text("Drop a file or folder anywhere");
    viewer.drop_run(&[&example(FINISHED)]);
    viewer.eval("history.back()");
    viewer.wait("document.querySelector('.run-rows .row:not(.head) .glyph[title=completed]')");
    viewer.eval("history.forward()");
    viewer.wait_page("Trace");
    viewer.assert_quiet();
}

#[test]
fn what_was_not_given_is_not_called_missing() {
    let (Some(_), Some(mut viewer)) = (needs::sqlite3(), Viewer::from_disk()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    fs::create_dir(&run).unwrap();
    let rows = "INSERT INTO bindings (name, kind, value, attachment_path) VALUES ('big', 'let', 'A summary.', 'attachments/big.md');";
    let database = database(&run, "r", "completed", rows);
    for (files, said, not) in [
        (&database, "not given", "missing"),
        (&run, "missing", "not given"),
    ] {
        viewer.drop_files(&[files]);
        viewer.wait("document.querySelector('nav.pages')");
        viewer.key("3");
        viewer.wait_page("Values");
        viewer.wait_main(&format!("attachment {said}"));
        assert!(!viewer.main_text().contains(&format!("attachment {not}")));
    }
    viewer.drop_files(&[&examples().join("agents.db")]);
    viewer.wait("document.querySelector('.bar .name')?.innerText.includes('agents.db')");
    viewer.wait_main("a store of");
    assert!(!viewer.main_text().to_lowercase().contains("status unknown"));
    viewer.assert_quiet();
}

#[test]
fn a_saved_value_never_has_the_ending_of_a_program() {
    let (Some(_), Some(mut viewer)) = (needs::sqlite3(), Viewer::from_disk()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let rows =
        "INSERT INTO bindings (name, kind, value) VALUES ('invoice.exe', 'let', 'plain words');";
    viewer.drop_run(&[&database(folder.path(), "r", "completed", rows)]);
    viewer.key("3");
    viewer.wait_page("Values");
    viewer.key("j");
    viewer.key("Enter");
    viewer.click_text(".detail button", "Download");
    let saved = viewer.downloaded("invoice.exe.txt");
    assert_eq!(fs::read_to_string(saved).unwrap(), "plain words");
    viewer.assert_quiet();
}

/// Checks that a file's date is never shown as the start of a run or as a sign of life, because copying a run changes
/// the dates of its files.
#[test]
fn a_start_says_what_it_is_from_and_a_files_date_is_no_sign_of_life() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let run = |id: &str| {
        let run = folder.path().join(".prose/runs").join(id);
        fs::create_dir_all(&run).unwrap();
        let log = format!("# run:{id} p.prose\n\n1→ a ✓\n");
        fs::write(run.join("state.md"), log).unwrap();
        let program = "let a = session \"A\"\nif **it is due**:\n  session \"B\"\nsession \"C\"\n";
        fs::write(run.join("program.prose"), program).unwrap();
        run
    };
    let (dated, nameless) = (run("20260104-101500-log001"), run("mine"));
    viewer.drop_files(&[&folder.path().join(".prose")]);
    viewer.wait_text("2 runs");
    for says in ["by the run's id", "a file of the run changed on"] {
        let says = json!(says);
        viewer.wait(&format!(
            "[...document.querySelectorAll('.run-rows [title]')].some(e => e.title.includes({says}))"
        ));
    }
    shoot(&mut viewer, "honest-runs");
    for (run, started) in [(&dated, "by the run's id"), (&nameless, "not recorded")] {
        viewer.drop_run(&[run]);
        let ago = viewer.eval("document.querySelector('.band').textContent.includes(' ago')");
        viewer.click_text(".band button", "About this run");
        viewer.wait_text(started);
        viewer.key("Escape");
        viewer.wait("!document.querySelector('dialog.sheet')");
        viewer.click_text(".acts button", "…");
        viewer.wait_text("Not done: up to 2 statements, from line 2 on.");
        viewer.key("Escape");
        viewer.wait("!document.querySelector('dialog.sheet')");
        assert_eq!(ago, false, "nothing is said to be a sign of life");
    }
    shoot(&mut viewer, "honest-overview");
    viewer.key("2");
    viewer.wait_page("Program");
    viewer.wait_text("not reached");
    shoot(&mut viewer, "honest-program");
    viewer.assert_quiet();
}

/// Checks that sections unknown to OpenProse, and bindings without a trace, are reported above the tree, so that
/// readers know that the tree is incomplete.
#[test]
fn what_a_runs_files_remark_stands_above_its_trace() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("20260104-101500-remark");
    std::fs::create_dir_all(run.join("bindings")).unwrap();
    let state = "# Execution State\n\nrun: 20260104-101500-remark\nstatus: running\n\n## Progress\n- Round 1: under way\n";
    std::fs::write(run.join("state.md"), state).unwrap();
    let binding = "# spec\n\nkind: let\n\nsource:\n```prose\nlet spec = session \"Spec\"\n```\n\n---\n\nvalue\n";
    std::fs::write(run.join("bindings/spec.md"), binding).unwrap();
    viewer.drop_run(&[&run]);
    viewer.key("1");
    viewer.wait_page("Trace");
    viewer.wait("document.querySelector('.remarks')");
    let said = viewer.eval("document.querySelector('main').textContent");
    let said = said.as_str().unwrap();
    assert!(said.contains("Only bindings show what ran"), "{said}");
    assert!(said.contains("2 remarks in the run's files"), "{said}");
    viewer.eval("document.querySelector('.remarks summary').click()");
    let lines = viewer.eval("document.querySelector('.remarks pre').textContent");
    assert_eq!(lines, "## Progress\n- Round 1: under way");
    shoot(&mut viewer, "remarks-trace");
    viewer.assert_quiet();
}
