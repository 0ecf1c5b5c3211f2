//! Tests databases of workflows in the viewer: dropped alone, dropped beside runs, made by other programs, hostile, and
//! large.

pub(super) mod made;
mod thread;

use prosescope_tests::needs;
use serde_json::json;

use super::opening::Served;
use super::screenshots::shoot;
use super::{Viewer, examples};

/// A text that does harm if a page uses it as markup instead of text.
const HOSTILE: &str =
    "<img src=x onerror=\"globalThis.pwned=1\"><script>globalThis.pwned=2</script>";

/// Goes to a page of a workflow and waits until it is drawn.
fn tab(viewer: &mut Viewer, key: &str, title: &str) {
    viewer.key(key);
    viewer.wait_page(title);
}

#[test]
fn a_dropped_database_lists_its_workflows_and_shows_one() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = made::ours(folder.path());
    viewer.drop_files(&[&path]);
    viewer.wait_main("3 workflows");
    assert_eq!(viewer.rows(), 3);
    viewer.wait_main("asks: Which cost centre pays: IT-4410 or OPS-2207?");
    viewer.wait_main("waiting for input");
    let hash = viewer.eval("location.hash");
    assert_eq!(hash, "#/workflows/workflows.db");

    // The keyboard opens the workflow that changed last.
    viewer.key("j");
    viewer.key("k");
    viewer.key("Enter");
    viewer.wait_page("Thread");
    viewer.wait_main("Which cost centre pays");
    viewer.wait_main(&format!(
        "prosescope workflow input {} --text …",
        made::WAITING
    ));
    viewer.wait_main("Order the racks then");
    viewer.wait("document.querySelector('.message .prose li')");
    assert_eq!(
        viewer.eval("document.title"),
        "Compare the three quotes for the new data centre racks and recommend one — Thread"
    );

    tab(&mut viewer, "2", "Data");
    viewer.wait_main("currency");
    viewer.wait_main("Quotes compared over five years");
    let levels =
        "[...document.querySelectorAll('main :is(h1, h2, h3)')].map(h => h.localName).join(' ')";
    assert_eq!(viewer.eval(levels), "h1 h2 h2 h2");
    // The link stays valid when the same file is opened again, and Back leads to the list.
    viewer.page.drop_files(&[&path]);
    viewer.wait_page("Data");
    viewer.click(".bar .up");
    viewer.wait_main("3 workflows");
    viewer.eval("(() => { const e = document.querySelector('select'); e.value = 'error'; e.dispatchEvent(new Event('change', {bubbles: true})) })()");
    viewer.wait_main("1 workflow matches");
    viewer.wait_main("Re-index the product catalogue");
    viewer.key("j");
    viewer.key("Enter");
    viewer.wait_main("the engine's license expired");
    viewer.assert_quiet();
}

#[test]
fn a_database_of_another_program_is_shown_with_its_columns() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app data.sqlite");
    made::foreign(&path);
    viewer.drop_files(&[&path]);
    viewer.wait_main("asks: Their question?");
    viewer.key("j");
    viewer.key("Enter");
    viewer.wait_page("Thread");
    viewer.wait_main("Their question?");
    viewer.wait_main("soon");
    viewer.wait_main("not recorded");
    viewer.click(".turn summary");
    viewer.wait_main("cost_cents");
    viewer.click(".turn .folded summary");
    viewer.wait(
        "document.querySelector('.folded pre').innerText.includes('12345678901234567890123')",
    );
    tab(&mut viewer, "2", "Data");
    viewer.wait_main("no json {");
    viewer.wait_main("tenant-of-theirs");
    // An event that belongs to no run is in the list of all events.
    viewer.eval("location.hash = location.hash.replace('/data', '/thread/event:5')");
    viewer.wait(
        "document.querySelector('#all-events .event-open').innerText.includes('odd payload')",
    );
    viewer.wait("document.querySelector('.event-open').innerText.includes('shard')");
    viewer.assert_quiet();
}

#[test]
fn a_folder_with_runs_and_workflows_shows_both() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = made::ours(folder.path());
    viewer.drop_files(&[&examples(), &path]);
    viewer.wait_main("4 runs");
    assert!(!viewer.main_text().contains("unreadable"));
    viewer.click_text("nav.lists a", "Workflows");
    viewer.wait_main("3 workflows");
    viewer.click_text("nav.lists a", "Runs");
    viewer.wait_main("4 runs");
    viewer.assert_quiet();
}

#[test]
fn hostile_texts_are_texts_on_every_page() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workflows.db");
    let text = HOSTILE.replace('\'', "''");
    let json = json!({"summary": HOSTILE, "tail": [{"role": HOSTILE, "content": HOSTILE, "seq": HOSTILE, "at": HOSTILE, HOSTILE: HOSTILE}], HOSTILE: [HOSTILE]});
    let json = json.to_string().replace('\'', "''");
    let steps = json!([{"text": HOSTILE, "at": HOSTILE, "run_id": HOSTILE}]);
    let state = json!({"pending_input": HOSTILE});
    made::with_rows(
        &path,
        &format!(
            "ALTER TABLE workflows ADD COLUMN \"{}\" TEXT DEFAULT '{text}';
             INSERT INTO workflows (id, context, preferences, important_steps, most_recent_run_id, error, created_at, updated_at)
               VALUES ('{text}', '{json}', '{json}', '{steps}', 'r{text}', '{text}', '{text}', '{text}');
             INSERT INTO workflow_runs (id, workflow_id, status, user_input, state, final_output, error, x_owner, x_heartbeat)
               VALUES ('r{text}', '{text}', 'waiting_for_input', '{text}', '{state}', '{json}', '{text}', '{text}', '{text}');
             INSERT INTO workflow_events (workflow_id, run_id, text, payload) VALUES ('{text}', 'r{text}', '{text}', '{json}');",
            HOSTILE.replace('"', "\"\""),
        ),
    );
    viewer.drop_files(&[&path]);
    viewer.wait_main("asks: <img src=x onerror");
    viewer.assert_quiet();
    viewer.key("j");
    viewer.key("Enter");
    viewer.wait_page("Thread");
    viewer.wait_main("<img src=x onerror");
    // The printed command is safe to paste, because the hostile id is quoted as a single word.
    viewer.wait_main("prosescope workflow input '<img src=x");
    viewer.assert_quiet();
    for (key, title) in [("1", "Thread"), ("2", "Data")] {
        tab(&mut viewer, key, title);
        viewer.wait_main("<img src=x onerror");
        viewer.eval("document.querySelectorAll('details').forEach(e => e.open = true)");
        if title == "Thread" {
            viewer.click("li.turn .event-rows .row:not(.head)");
            viewer.wait("document.querySelector('.event-open dl')");
            viewer.eval("document.querySelectorAll('details').forEach(e => e.open = true)");
        }
        viewer.assert_quiet();
    }
    assert_eq!(viewer.eval("globalThis.pwned === undefined"), true);
}

#[test]
fn long_lists_draw_only_what_is_seen() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workflows.db");
    made::with_rows(
        &path,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
         INSERT INTO workflows (id, updated_at, most_recent_run_id) SELECT printf('w%05d', i), printf('2026-01-01 00:00:00.%06d', i), printf('r%05d', i) FROM n;
         INSERT INTO workflow_runs (id, workflow_id, user_input) SELECT 'r' || substr(id, 2), id, 'message of ' || id FROM workflows;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
         INSERT INTO workflow_events (workflow_id, run_id, text) SELECT 'w05000', iif(i = 7, NULL, 'r05000'), 'event number ' || i FROM n;",
    );
    viewer.drop_files(&[&path]);
    viewer.wait_main("message of w05000");
    assert_eq!(viewer.rows(), 5000);
    viewer.key("j");
    viewer.key("End");
    viewer.wait_main("message of w00001");
    let drawn = viewer.eval("document.querySelectorAll('.workflow-rows .row').length");
    assert!(drawn.as_u64() < Some(100), "{drawn} rows are drawn");
    viewer.key("Home");
    viewer.wait_main("message of w05000");
    viewer.key("Enter");
    viewer.wait_page("Thread");
    // The page shows the number of events of the run, and of the whole workflow.
    viewer.wait("/49\\D999 events/.test(document.querySelector('li.turn').innerText)");
    viewer.wait("/50\\D000/.test(document.querySelector('#all-events').innerText)");
    viewer.key("j");
    viewer.key("Enter");
    viewer.wait("document.querySelector('li.turn .row:not(.head)')");
    viewer.eval("document.querySelector('li.turn .event-rows').focus()");
    viewer.key("End");
    viewer.wait_main("event number 50000");
    viewer.key("Enter");
    viewer.wait("document.querySelector('.event-open').innerText.includes('event number 50000')");
    let drawn = viewer.eval("document.querySelectorAll('.event-rows .row').length");
    assert!(drawn.as_u64() < Some(60), "{drawn} rows are drawn");
    viewer.assert_quiet();
}

#[test]
fn what_only_looks_like_workflows_is_refused_and_empty_tables_say_so() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.db");
    made::with_rows(&empty, "");
    viewer.drop_files(&[&empty]);
    viewer.wait_main("No workflows");
    let views = folder.path().join("views.db");
    made::sql(
        &views,
        "CREATE TABLE t (id, status, workflow_id, kind, text);
         CREATE VIEW workflows AS SELECT * FROM t; CREATE VIEW workflow_runs AS SELECT * FROM t; CREATE VIEW workflow_events AS SELECT * FROM t;",
    );
    viewer.page.drop_files(&[&views]);
    viewer.wait("document.querySelector('.notice')");
    let half = folder.path().join("half.db");
    made::sql(
        &half,
        "CREATE TABLE workflows (id, status); CREATE TABLE workflow_runs (id, workflow_id, status);",
    );
    viewer.page.drop_files(&[&half]);
    viewer.wait(
        "document.querySelector('.notice')?.innerText.includes('no table `workflow_events`')",
    );
    // A refused database does not replace the source that is open.
    viewer.wait_main("No workflows");
    viewer.assert_quiet();
}

#[test]
fn a_served_database_is_followed() {
    let Some(prose) = needs::prose() else { return };
    if needs::viewer().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = made::ours(folder.path());
    let served = Served::start(&prose, &[&path]);
    let Some(mut viewer) = Viewer::served(&served.address) else {
        return;
    };
    viewer.wait_main("3 workflows");
    viewer.wait_main("Which cost centre pays");
    viewer.key("j");
    viewer.key("k");
    viewer.key("Enter");
    viewer.wait_page("Thread");
    made::answer(&path, "OPS-2207 of course");
    viewer.wait_main("OPS-2207 of course");
    viewer.wait("!document.querySelector('.asking')");
    // A question comes before its answer.
    viewer.wait("document.querySelector('.asks + .message').innerText.includes('OPS-2207')");
    viewer.wait("document.querySelector('.asks').innerText.includes('Which cost centre pays')");

    // Parts that the user unfolded stay unfolded when the page is redrawn.
    made::finish(&path, "{\"order\": \"PO-77\", \"sum\": 182000}");
    viewer.wait_main("completed");
    viewer.wait("document.querySelectorAll('li.turn').length === 2");
    viewer.click("li.turn ~ li.turn summary");
    viewer.wait("document.querySelector('.turn .folded')");
    viewer.eval("document.querySelector('.turn .folded summary').click()");
    viewer.wait("document.querySelector('.turn .folded pre').innerText.includes('PO-77')");
    made::begin(&path, "And the cables");
    viewer.wait_main("And the cables");
    viewer.wait("document.querySelector('.turn .folded').open");
    viewer.wait("document.querySelector('.turn .folded pre').innerText.includes('PO-77')");
    viewer.assert_no_errors();
}

#[test]
fn screenshots_of_workflows() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = made::ours(folder.path());
    viewer.drop_files(&[&examples(), &path]);
    viewer.wait_main("4 runs");
    viewer.click_text("nav.lists a", "Workflows");
    viewer.wait_main("3 workflows");
    shoot(&mut viewer, "workflows-list");
    viewer.key("j");
    viewer.key("k");
    viewer.key("Enter");
    for (key, title) in [("1", "Thread"), ("2", "Data")] {
        tab(&mut viewer, key, title);
        shoot(
            &mut viewer,
            &format!("workflows-{key}-{}", title.to_lowercase()),
        );
    }
    tab(&mut viewer, "1", "Thread");
    viewer.key("j");
    viewer.key("Enter");
    viewer.wait("document.querySelector('li.turn .row:not(.head)')");
    viewer.click("li.turn .event-rows .row:not(.head)");
    viewer.wait("document.querySelector('.event-open dl')");
    shoot(&mut viewer, "workflows-1-thread-open");

    let ugly = folder.path().join("ugly.db");
    let long = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
        .repeat(4);
    let content = json!({"summary": format!("# Heading\n\n{long} and {}", "words that go on ".repeat(60)), "tail": [
        {"role": "user", "seq": 1, "content": long}, {"role": "tool", "content": [{"type": "text", "text": long}], "seq": 2, "name": "search"}, "loose text"],
        "meta": {"next_seq": 3}, long.clone(): {"a": [1, 2, {"b": long}]}});
    let content = content.to_string();
    made::with_rows(
        &ugly,
        &format!(
            "ALTER TABLE workflows ADD COLUMN {} TEXT DEFAULT '{long}'; ALTER TABLE workflow_runs ADD COLUMN cost REAL DEFAULT 1.5;
             PRAGMA ignore_check_constraints = 1;
             INSERT INTO workflows (id, status, context, preferences, important_steps, error, most_recent_run_id) VALUES ('{long}', 'error', '{content}', '{content}', 'no json', '{{\"message\": \"{long}\"}}', 'r1');
             INSERT INTO workflows (id, status, updated_at) VALUES ('x', 'archived_by_somebody_else', 'not a time at all, but a sentence');
             INSERT INTO workflow_runs (id, workflow_id, status, user_input, state, final_output, error) VALUES
               ('r1', '{long}', 'waiting_for_input', '{long}', '{{\"pending_input\": \"{long}?\"}}', '{content}', '{long}'),
               ('r2', '{long}', 'waiting_for_input', '', '{{}}', NULL, NULL), ('r3', '{long}', 'failed', 'again', 'odd', '\"\"', '{{\"code\": 7}}');
             INSERT INTO workflow_events (workflow_id, kind, text, payload) VALUES ('{long}', 'final', '{long}', '{content}'), ('{long}', 'their_own_kind_of_event', '', NULL);",
            &long[..40].replace('ä', "a"),
        ),
    );
    viewer.drop_files(&[&ugly]);
    viewer.wait_main("2 workflows");
    shoot(&mut viewer, "workflows-ugly-list");
    viewer.eval("document.querySelectorAll('.workflow-rows .row:not(.head)').forEach(e => e.innerText.includes('asks') && e.click())");
    for (key, title) in [("1", "Thread"), ("2", "Data")] {
        tab(&mut viewer, key, title);
        shoot(
            &mut viewer,
            &format!("workflows-ugly-{key}-{}", title.to_lowercase()),
        );
    }
    viewer.assert_quiet();
}
