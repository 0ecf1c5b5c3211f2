//! Tests SQL queries in the viewer: on a database, on a folder, an invalid query, a slow query, and saving an answer.

use std::fs;

use serde_json::json;

use super::screenshots::shoot;
use super::{FAILED, FOLDER, Viewer, example};

/// JavaScript that returns the texts of the visible cells, row by row.
const CELLS: &str = "[...document.querySelectorAll('.sql-rows .row:not(.head)')].map(row =>
    [...row.children].map(cell => cell.innerText).join('|')).join('\\n')";

fn opened(run: &str) -> Option<Viewer> {
    let mut viewer = Viewer::from_disk()?;
    viewer.drop_run(&[&example(run)]);
    viewer.key("q");
    viewer.wait_page("SQL");
    Some(viewer)
}

/// Types a query into the field and runs it by keyboard.
fn ask(viewer: &mut Viewer, sql: &str) {
    viewer.key("q");
    viewer.wait("document.activeElement.id === 'sql'");
    viewer.eval("document.activeElement.select()");
    viewer.type_text(sql);
    viewer.key("Ctrl+Enter");
    viewer.wait("!document.querySelector('.sql-answer').innerText.includes('Running')");
}

/// Waits until the description of the answer contains this text.
fn wait_said(viewer: &mut Viewer, text: &str) {
    let text = json!(text);
    viewer.wait(&format!(
        "document.querySelector('.sql-answer [role=status]')?.innerText === {text}"
    ));
}

#[test]
fn a_run_is_asked_and_the_answer_is_read_chosen_and_saved() {
    let Some(mut viewer) = opened(FAILED) else {
        return;
    };
    // A query can also read the run's own tables, not only prosescope's tables of statements and values.
    ask(
        &mut viewer,
        "SELECT e.id, t.status, NULL, 'a,b' AS c FROM execution e JOIN trace t ON t.id = e.id ORDER BY 1 LIMIT 2",
    );
    wait_said(&mut viewer, "2 rows");
    assert_eq!(
        viewer.eval(CELLS),
        "1|completed|NULL|a,b\n2|failed|NULL|a,b"
    );
    viewer.click_text(".sql-bar button", "Save CSV");
    let saved = viewer.downloaded("answer.csv");
    assert_eq!(
        fs::read_to_string(saved).unwrap(),
        "id,status,NULL,c\r\n1,completed,,\"a,b\"\r\n2,failed,,\"a,b\"\r\n"
    );
    viewer.click_text(".sql-bar button", "Save JSON");
    let saved = viewer.downloaded("answer.json");
    let saved: serde_json::Value = serde_json::from_slice(&fs::read(saved).unwrap()).unwrap();
    assert_eq!(saved["rows"][1][3]["text"], "a,b");

    // The keyboard selects a cell, which is then shown completely.
    viewer.eval("document.querySelector('.sql-rows').focus()");
    viewer.key("Enter");
    viewer.key("ArrowRight");
    viewer.key("ArrowDown");
    viewer.wait("document.querySelector('.sql-cell .sql-bar').innerText.includes('row 2')");
    let chosen = viewer.eval("document.querySelector('.sql-cell pre').innerText");
    assert_eq!(chosen, "failed");

    // A stored query runs when it is chosen.
    viewer.eval(
        "(menu => { menu.value = 'failures'; menu.dispatchEvent(new Event('change')); })
         (document.querySelector('select[aria-label=\"Stored questions\"]'))",
    );
    viewer.wait("document.querySelector('#sql').value.includes('first_cause')");
    viewer.wait("document.querySelector('.sql-rows')?.innerText.includes('failed')");
    shoot(&mut viewer, "sql");
    viewer.assert_quiet();
}

#[test]
fn what_is_wrong_is_said_at_the_field_and_more_rows_than_a_thousand_too() {
    let Some(mut viewer) = opened(FOLDER) else {
        return;
    };
    ask(&mut viewer, "SELECT stauts FROM trace");
    viewer.wait("document.querySelector('#sql[aria-invalid=true]')");
    let said = viewer.eval("document.querySelector('.sql-trouble[role=alert]').innerText");
    let said = said.as_str().unwrap();
    assert!(said.contains("no such column: stauts"), "{said}");
    assert!(said.contains("Did you mean status?"), "{said}");
    shoot(&mut viewer, "sql-wrong");
    ask(&mut viewer, "DELETE FROM trace");
    viewer.wait("document.querySelector('.sql-trouble')?.innerText.startsWith('refused')");

    // A folder has no tables of its own, so queries read prosescope's tables of statements and values.
    ask(&mut viewer, "SELECT count(*) > 3 FROM trace");
    wait_said(&mut viewer, "1 row");
    assert_eq!(viewer.eval(CELLS), "1");
    ask(
        &mut viewer,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
    );
    wait_said(
        &mut viewer,
        "First 1\u{202f}000 rows; the query returns more",
    );
    viewer.assert_quiet();
}

#[test]
fn names_are_put_into_the_field_and_its_text_is_kept() {
    let Some(mut viewer) = opened(FAILED) else {
        return;
    };
    viewer.key("q");
    viewer.wait("document.activeElement.id === 'sql'");
    viewer.type_text("SELECT ");
    viewer.click_text(".sql-tables button.plain", "duration_ms");
    viewer.type_text(" FROM ");
    viewer.click_text(".sql-tables button.plain", "gap_list");
    viewer.wait("document.querySelector('#sql').value === 'SELECT duration_ms FROM gap_list'");
    // The field keeps its text while another page is visited.
    viewer.click_text("nav.pages a", "Trace");
    viewer.wait_page("Trace");
    viewer.key("q");
    viewer.wait_page("SQL");
    viewer.wait("document.querySelector('#sql').value === 'SELECT duration_ms FROM gap_list'");
    viewer.assert_quiet();
}

/// Checks that any query can be cancelled. This query calls a function during which SQLite never checks for
/// interruption, so only ending its worker stops the query. Meanwhile the rest of the viewer works, and the next query
/// is answered.
#[test]
fn a_question_is_cancelled_whatever_it_computes() {
    let Some(mut viewer) = opened(FAILED) else {
        return;
    };
    viewer.key("q");
    viewer.type_text(
        "SELECT rtrim(hex(zeroblob(1000000)), replace(hex(zeroblob(1000000)), '0', 'b') || '0')",
    );
    viewer.key("Ctrl+Enter");
    viewer.wait("document.querySelector('.sql-answer').innerText.includes('Running')");
    // Another worker answers the other pages.
    let read = viewer.stats();
    assert!(read["memory"].as_u64() > Some(0), "{read}");
    viewer.click_text(".sql-bar button", "Cancel");
    wait_said(&mut viewer, "Stopped.");
    ask(&mut viewer, "SELECT count(*) FROM run");
    wait_said(&mut viewer, "1 row");
    viewer.assert_quiet();
}
