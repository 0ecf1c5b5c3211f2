//! Tests that the viewer's texts about a run are true, and that a key without effect shows a message.

use std::fs;

use prosescope_tests::needs;
use serde_json::json;

use super::honest::{damage, database};
use super::screenshots::shoot;
use super::{FINISHED, FOLDER, Viewer, WAITING, example};

/// A table in Markdown, and a sentence in Hebrew whose full stop must be at its left end.
const TABLE: &str = "# Depths\n\n| Place | Metres |\n|---|---|\n| Rift | 410 |\n";
const HEBREW: &str = "הים עמוק מאוד.";

/// Builds a run that is completed although a statement failed, with more than a thousand statements and values of all
/// kinds.
fn unnoticed(folder: &std::path::Path) -> std::path::PathBuf {
    let program =
        "let depths = session \"Measure\"\nlet report = session \"Report\"\n  context: depths\n";
    let rows = format!(
        "UPDATE run SET program_source = '{program}';
         INSERT INTO execution (id, statement_index, statement_text, status) VALUES
           (1, 1, 'let depths = session \"Measure\"', 'completed'),
           (2, 2, 'let report = session \"Report\"', 'failed');
         UPDATE execution SET error_message = 'The ship came back early.' WHERE id = 2;
         WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
           INSERT INTO execution (id, statement_text, status) SELECT i, 'session \"Count ' || i || '\"', 'completed' FROM n;
         INSERT INTO bindings (name, kind, value) VALUES ('depths', 'let', '{TABLE}'), ('sea', 'let', '{HEBREW}');
         CREATE TABLE x_notes (\"two\nlines\" TEXT, b TEXT); INSERT INTO x_notes VALUES ('first', 'second');"
    );
    database(folder, "unnoticed", "completed", &rows)
}

#[test]
fn a_completed_run_tells_of_its_failure_and_shows_values_as_they_are() {
    let (Some(_), Some(mut viewer)) = (needs::sqlite3(), Viewer::from_disk()) else {
        return;
    };
    viewer.look(1280, 900, false);
    let folder = tempfile::tempdir().unwrap();
    viewer.drop_run(&[&unnoticed(folder.path())]);

    // The headline counts the unrecovered failure, with separators in large numbers.
    viewer.wait_main(
        "1\u{202f}499 of 1\u{202f}500 statements finished; 1 failed and was not recovered.",
    );
    viewer.wait_main("first cause");
    viewer.wait_main("The ship came back early.");
    let acts = viewer.eval("document.querySelector('.acts').innerText");
    assert_eq!(acts, "", "nothing is to be gone on with");
    shoot(&mut viewer, "told-completed");

    // An input is shown in the same way as on the page of its value. Source code has a monospaced font.
    viewer.key("n");
    viewer.wait_page("Trace");
    viewer.wait("document.querySelector('.trace-rows .row.selected .cause')");
    viewer.wait("/\\/[0-9]+$/.test(location.hash)");
    viewer.wait("document.querySelector('.detail .given .prose table td')");
    shoot(&mut viewer, "told-given");

    // Before the first key no row is the current one. The first key makes the first row current.
    viewer.key("3");
    viewer.wait_page("Values");
    let current = "document.querySelector('.binding-rows .row.current')";
    assert_eq!(viewer.eval(&format!("!{current}")), true);
    viewer.key("j");
    viewer.wait(&format!("{current}.ariaRowIndex === '2'"));
    viewer.key("j");
    viewer.wait(&format!("{current}.ariaRowIndex === '3'"));

    // The direction of a value follows from its own letters.
    let preview = "[...document.querySelectorAll('.binding-rows .preview')].find(e => e.innerText.includes('הים'))";
    assert_eq!(
        viewer.eval(&format!("getComputedStyle({preview}).direction")),
        "rtl"
    );
    viewer.key("Enter");
    viewer.wait("document.querySelector('.detail pre.raw')");
    let fonts = viewer.eval(
        "[getComputedStyle(document.querySelector('.detail pre.raw')), getComputedStyle(document.documentElement)].map((style, i) => i ? style.getPropertyValue('--mono').trim() : style.fontFamily)",
    );
    assert_eq!(fonts[0], fonts[1], "the font of source");
    let bidi =
        viewer.eval("getComputedStyle(document.querySelector('.detail pre.raw')).unicodeBidi");
    assert_eq!(bidi, "plaintext");
    shoot(&mut viewer, "told-direction");

    // A name with a line break is shown on one line.
    viewer.eval("location.hash = location.hash.replace(/bindings.*/, 'files/table%3Ax_notes')");
    viewer.wait("document.querySelectorAll('.table-rows .row:not(.head)').length === 1");
    let head = viewer.eval(
        "(() => { const head = document.querySelector('.table-rows .head'), cell = head.firstElementChild;
          return [cell.innerText, cell.scrollHeight <= head.clientHeight + 1] })()",
    );
    assert_eq!(head, json!(["two↵lines", true]));
    shoot(&mut viewer, "told-header");
    viewer.assert_quiet();
}

#[test]
fn a_key_that_finds_no_failure_says_so_and_goes_to_where_the_run_stands() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let said = "document.querySelector('.moment').innerText === 'No statement failed'";
    viewer.drop_run(&[&example(FINISHED)]);
    // A key without effect on a completed run changes neither the page nor the address.
    let hash = viewer.eval("location.hash");
    viewer.key("n");
    viewer.wait(said);
    assert_eq!(viewer.eval("location.hash"), hash);
    viewer.wait("document.querySelector('.moment').innerText === ''");
    viewer.key("1");
    viewer.wait_page("Trace");
    for key in ["n", "p"] {
        viewer.key(key);
        viewer.wait(said);
        shoot(&mut viewer, "told-no-failure");
        viewer.wait("document.querySelector('.moment').innerText === ''");
    }
    // A link to a failure that does not exist leads to the trace.
    viewer.eval("location.hash += '/first-failure'");
    viewer.wait(said);
    viewer.wait("location.hash.endsWith('/trace')");
    assert_eq!(viewer.eval("!document.querySelector('.detail')"), true);

    // No statement of an interrupted run is shown as running. The statement that was running is marked.
    viewer.drop_run(&[&example(FOLDER)]);
    viewer.wait_main("interrupted");
    viewer.wait_main("was executing");
    for (key, title) in [("1", "Trace"), ("2", "Program")] {
        viewer.key(key);
        viewer.wait_page(title);
        viewer.wait(
            "document.querySelector('main').innerText.includes('was executing') ||
             document.querySelector('.glyph[title=\"was executing\"]')",
        );
        let live = viewer.eval(
            "document.querySelectorAll('main :is(.pill.run, .sign.run, .said.run, .glyph.run)').length",
        );
        assert_eq!(live, 0, "{title}");
        shoot(&mut viewer, &format!("told-at-rest-{key}"));
    }
    viewer.key("1");
    viewer.wait_page("Trace");
    viewer.key("n");
    viewer.wait(said);
    viewer.wait_page("Trace");
    viewer.wait("document.querySelector('.trace-rows .row.selected .here')");

    // The dialog at a gate shows how to continue.
    viewer.drop_run(&[&example(WAITING)]);
    viewer.key("a");
    viewer.wait("document.querySelector('dialog.sheet .command')");
    let says = viewer.eval("document.querySelector('dialog.sheet').innerText");
    let says = says.as_str().unwrap().to_owned();
    assert!(says.contains("prosescope gates expire"), "{says}");
    viewer.key("Escape");
    viewer.wait("!document.querySelector('dialog.sheet')");
    shoot(&mut viewer, "told-gate");
    viewer.assert_quiet();
}

/// Checks that the content of a table about agents is shown as unknown, not as "none", if the table cannot be read.
#[test]
fn what_cannot_be_read_of_an_agent_is_not_called_none() {
    let (Some(_), Some(mut viewer)) = (needs::sqlite3(), Viewer::from_disk()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let rows = "INSERT INTO agents (name, scope, memory) VALUES ('captain', 'execution', 'in the memory');
        INSERT INTO agent_segments (agent_name, segment_number, prompt, summary) VALUES ('captain', 1, 'Steer', 'Steered');
        INSERT INTO execution (statement_index, statement_text, status, started_at) VALUES (1, 'in the statement', 'completed', '2026-01-20 08:00:01');";
    let database = database(folder.path(), "r", "completed", rows);
    damage(&database, "in the memory");
    damage(&database, "in the statement");
    viewer.drop_run(&[&database]);
    viewer.wait_main("times of statements could not be read");
    viewer.open_page("Agents");
    viewer.wait_main("1 invocation · memory not readable");
    viewer.wait_main("it is unknown whether the agent has a memory");
    let said = viewer.main_text().to_lowercase();
    for none in ["no memory", "not recorded\nlast written"] {
        assert!(!said.contains(none), "{none}: {said}");
    }
    let times =
        viewer.eval("[...document.querySelectorAll('.detail dd .none')].map(e => e.innerText)");
    assert_eq!(times, json!(["not readable", "not readable"]));
    shoot(&mut viewer, "told-agents");
    viewer.key("1");
    viewer.wait_page("Trace");
    assert!(!viewer.main_text().contains("Times were not recorded"));
    viewer.assert_quiet();
}

/// Drops a wrong file while the viewer reads a list of runs. Checks that the list still appears, and that the window's
/// title shows the number of runs.
#[test]
fn a_wrong_file_dropped_while_a_list_is_read_leaves_the_list_to_come() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    const RUNS: usize = 150;
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join(".prose/runs");
    for n in 0..RUNS {
        let run = runs.join(format!("20260120-08{:02}{:02}-run{n:03}", n / 60, n % 60));
        fs::create_dir_all(&run).unwrap();
        fs::copy(example(FINISHED).join("state.db"), run.join("state.db")).unwrap();
    }
    let picture = folder.path().join("photo.png");
    fs::write(&picture, b"\x89PNG\r\n\x1a\nand so on").unwrap();
    let prose = folder.path().join(".prose");
    // A wrong file is dropped right after the folder, and twice more once the notice about it is shown.
    viewer.drop_files(&[&prose]);
    viewer.page.drop_files(&[&picture]);
    let notice = "document.querySelector('.notice')?.innerText.includes('photo.png')";
    viewer.wait(notice);
    viewer.page.drop_files(&[&picture]);
    viewer.page.drop_files(&[&picture]);
    viewer.wait(notice);
    let title = format!("{RUNS} runs — Prosescope");
    viewer.wait(&format!(
        "document.querySelector('h1')?.textContent === '{RUNS} runs'"
    ));
    viewer.wait("!document.querySelector('.reading')");
    viewer.wait(&format!("document.title === {}", json!(title)));
    assert_eq!(viewer.rows() as usize, RUNS);
    viewer.key("j");
    viewer.key("Enter");
    viewer.wait_page("Trace");
    viewer.wait("document.title.endsWith('— Trace')");
    viewer.eval("history.back()");
    viewer.wait(&format!("document.title === {}", json!(title)));
    viewer.key("j");
    viewer.key("Enter");
    viewer.wait_page("Trace");
    viewer.key("g");
    viewer.wait(&format!("document.title === {}", json!(title)));
    viewer.assert_quiet();
}
