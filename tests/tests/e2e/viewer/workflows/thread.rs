//! Tests the thread of a workflow: the order of its parts, links into it, its keys, and a narrow window.

use serde_json::json;

use super::{Viewer, made};

/// JavaScript that returns the text of each part of the thread.
const PARTS: &str = "[...document.querySelectorAll('.thread > li')].map(e => e.innerText.replace(/\\s+/g, ' ').trim())";

/// Opens the viewer with a workflow whose question was answered. Dropping the returned folder removes it.
fn asked_and_answered() -> Option<(Viewer, tempfile::TempDir)> {
    let mut viewer = Viewer::from_disk()?;
    let folder = tempfile::tempdir().unwrap();
    let path = made::ours(folder.path());
    made::answer(&path, "OPS-2207 of course");
    viewer.drop_files(&[&path]);
    viewer.wait_main("3 workflows");
    Some((viewer, folder))
}

fn open(viewer: &mut Viewer, rest: &str) {
    let hash = format!("#/workflow/workflows.db/{}/{rest}", made::WAITING);
    viewer.eval(&format!("location.hash = {}", json!(hash)));
    viewer.wait_page("Thread");
}

#[test]
fn messages_runs_questions_and_answers_are_one_thread() {
    let Some((mut viewer, _folder)) = asked_and_answered() else {
        return;
    };
    open(&mut viewer, "thread");
    viewer.wait_main("2 events");
    let parts = viewer.eval(PARTS);
    let parts: Vec<&str> = parts
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|p| p.as_str())
        .collect();
    let begins = [
        "15 Jan 2026 UTC",
        "User #1 14:",
        "Run 1 ✓ completed 2m 3s 2 events Acme is cheapest",
        "Assistant #2 14:",
        "User #3 14:",
        "Run 2 ● running 1 event",
        "Asked by run 2 Which cost centre pays: IT-4410 or OPS-2207?",
        "User #4 17:",
    ];
    assert_eq!(parts.len(), begins.len(), "{parts:?}");
    for (part, begin) in parts.iter().zip(begins) {
        assert!(part.starts_with(begin), "{part} / {begin}");
    }
    // An unfolded run shows all its details and its own events.
    viewer.key("j");
    viewer.key("Enter");
    viewer.wait_main("engine-7@build-host-3 (as claimed)");
    viewer.wait_main("quotes/initech.pdf has no delivery date");
    let main = viewer.main_text();
    assert!(
        !main.contains("Drafting the purchase order"),
        "of the other run"
    );
    viewer.eval("document.querySelector('li.turn .event-rows').focus()");
    viewer.key("ArrowDown");
    viewer.key("Enter");
    viewer.wait("document.querySelector('.event-open').innerText.includes('\"pages\": 14')");
    viewer.key("ArrowDown");
    viewer.wait("document.querySelector('.event-open').innerText.includes('no delivery date')");
    viewer.key("Escape");
    viewer.wait("!document.querySelector('.event-open')");
    viewer.key("j");
    viewer.wait("document.activeElement.innerText.startsWith('Run')");
    viewer.assert_quiet();
}

#[test]
fn links_lead_to_their_place_in_the_thread() {
    let Some((mut viewer, _folder)) = asked_and_answered() else {
        return;
    };
    let run = |n: u32| format!("{}{n}", &made::WAITING[..made::WAITING.len() - 1]);
    open(&mut viewer, &format!("thread/run%3A{}", run(3)));
    viewer.wait("document.querySelector('li.turn.selected details').open");
    viewer.wait(
        "document.querySelector('li.turn.selected').innerText.includes('Drafting the purchase')",
    );
    let event = "+document.querySelector('li.turn.selected .event-rows') || 1";
    assert_eq!(viewer.eval(event), 1);
    // The third event of the database is a warning of this workflow's first run.
    open(&mut viewer, "thread/event%3A3");
    viewer.wait(&format!(
        "document.getElementById('run-{}').querySelector('.event-open').innerText.includes('no delivery date')",
        run(2)
    ));
    open(&mut viewer, "thread/events");
    viewer.wait("document.querySelector('#all-events details').open");
    viewer.wait(
        "document.querySelector('#all-events').innerText.includes('Reading quotes/acme.pdf')",
    );
    open(&mut viewer, "thread/event%3A999");
    viewer.wait(
        "document.querySelector('#all-events .event-open').innerText.includes('Nothing there')",
    );
    open(&mut viewer, "no-such-page");
    viewer.assert_quiet();
}

#[test]
fn a_narrow_window_has_the_whole_thread() {
    let Some((mut viewer, _folder)) = asked_and_answered() else {
        return;
    };
    viewer.look(400, 800, false);
    open(&mut viewer, "thread");
    viewer.wait_main("2 events");
    viewer.click("li.turn summary");
    viewer.wait("document.querySelector('li.turn .row:not(.head)')");
    viewer.click("li.turn .event-rows .row:not(.head)");
    viewer.wait("document.querySelector('.event-open dl')");
    let wide = "document.documentElement.scrollWidth > 400 || document.getElementById('main').scrollWidth > 400";
    assert_eq!(viewer.eval(wide), false);
    viewer.assert_quiet();
}
