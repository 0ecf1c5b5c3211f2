//! Tests a run with hostile texts in every field, on every page: no text runs or fetches anything, and the page
//! contains only the viewer's own elements and attributes.

use std::collections::BTreeSet;

use prosescope_tests::hostile::{Fill, database, folder, web, write};
use prosescope_tests::needs;
use serde_json::{Value, json};

use super::opening::Served;
use super::{FAILED, FOREIGN, Viewer, example};

const WALK: &str = include_str!("walk.js");

/// How many texts one field contains. Over all rows, every field contains every text.
const MANY: usize = 50;

/// The pages that contain a list.
const LISTS: [&str; 10] = [
    "program",
    "trace",
    "bindings",
    "agents",
    "gates",
    "gates show=audit",
    "imports",
    "state",
    "files",
    "issues",
];

fn fill() -> Fill {
    Fill::new(web::texts(), MANY)
}

/// Visits all pages of the open run, opens up to `most` rows of each list, and returns the numbers of the texts that
/// were shown. Each list of `lists` must have rows.
fn walk(viewer: &mut Viewer, most: usize, lists: &[&str]) -> BTreeSet<u64> {
    viewer.look(1400, 2000, false);
    let (mut seen, mut rows) = (BTreeSet::new(), serde_json::Map::new());
    // The pages are visited one at a time, because one answer for all would take long on a busy machine.
    for nth in 0.. {
        let walked = viewer.eval(&format!("({WALK})({FOREIGN}, {most}, {nth})"));
        assert_eq!(walked["found"], json!([]), "what is not the viewer's own");
        seen.extend(
            walked["seen"]
                .as_array()
                .expect("numbers")
                .iter()
                .filter_map(Value::as_u64),
        );
        rows.extend(walked["rows"].as_object().expect("lists").clone());
        if walked["pages"].as_u64() <= Some(nth + 1) {
            break;
        }
    }
    for list in lists {
        let count = rows.get(*list).and_then(Value::as_u64);
        assert!(count > Some(0), "no rows of {list}: {rows:?}");
    }
    seen
}

/// Asserts that every text was shown, so that the search covered all of them.
fn assert_all_seen(seen: &BTreeSet<u64>) {
    let all = 0..web::texts().len() as u64;
    let missing: Vec<u64> = all.filter(|n| !seen.contains(n)).collect();
    assert!(missing.is_empty(), "never shown: {missing:?}");
}

#[test]
fn nothing_of_a_database_runs_or_is_asked_for() {
    if needs::sqlite3().is_none() {
        return;
    }
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let run = dir
        .path()
        .join("20260116-143052-<img src=x onerror=alert(1)>");
    database::run(&run, &mut fill());
    viewer.drop_run(&[&run]);
    let seen = walk(&mut viewer, 6, &LISTS);
    assert_all_seen(&seen);
    viewer.assert_quiet();
}

#[test]
fn nothing_of_a_folder_runs_or_is_asked_for() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("20260115-143052-<svg onload=alert(1)>");
    folder::execution_state(&run, &mut fill());
    viewer.set_files("#pick-folder", &[&run]);
    viewer.wait_page("Trace");
    let seen = walk(&mut viewer, 5, &LISTS);
    assert_all_seen(&seen);
    viewer.assert_quiet();
}

#[test]
fn nothing_of_what_prose_view_serves_runs_or_is_asked_for() {
    let (Some(prose), Some(_), Some(_)) = (needs::prose(), needs::sqlite3(), needs::viewer())
    else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join(".prose");
    let run = |n: usize| {
        project
            .join("runs")
            .join(format!("2026011{n}-143052-\"><svg onload=alert({n})>"))
    };
    folder::execution_state(&run(1), &mut fill());
    folder::compact_log(&run(2), &mut fill());
    folder::events(&run(3), &mut fill());
    database::odd(&run(4).join("state.db"), &mut fill());
    write(
        &run(5).join("state.db"),
        b"SQLite format 3\0<img src=x onerror=alert(1)>",
    );
    database::agents_db(&project.join("agents.db"), &mut fill());
    let served = Served::start(&prose, &[&project]);
    let Some(mut viewer) = Viewer::served(&served.address) else {
        return;
    };
    viewer.wait_text("runs");
    let mut seen = BTreeSet::new();
    let runs = viewer.rows();
    for n in 0..runs {
        viewer.eval("location.hash = '#/'");
        let row = format!(
            "document.querySelector('.run-rows .row[aria-rowindex=\"{}\"]')",
            n + 2
        );
        viewer.wait(&row);
        viewer.assert_no_errors();
        viewer.eval(&format!("{row}.click()"));
        viewer.wait("document.querySelector('nav.pages a, .trouble')");
        if viewer.eval("!document.querySelector('.trouble')") == json!(true) {
            viewer.wait_page("Trace");
            seen.extend(walk(&mut viewer, 2, &[]));
        }
    }
    assert!(runs >= 5, "{runs} runs");
    assert_all_seen(&seen);
    for url in viewer.requests() {
        assert!(url.starts_with(&served.address), "{url}");
    }
    viewer.assert_no_errors();
}

#[test]
fn nothing_of_a_file_s_name_or_of_a_link_runs_or_is_asked_for() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let mut fill = Fill::new(web::texts(), 1);
    for row in (0..fill.rows()).step_by(40) {
        fill.begin(row);
        let name = fill.file_name();
        for (ending, content) in [
            ("db", fill.text()),
            ("md", b"SQLite format 3\0cut".to_vec()),
        ] {
            let file = dir.path().join(format!("{name}.{ending}"));
            write(&file, &content);
            viewer.eval("document.querySelector('.trouble')?.remove()");
            viewer.drop_files(&[&file]);
            viewer.wait("document.querySelector('.trouble').innerText.length > 20");
            viewer.assert_own();
        }
        // A link from someone else may contain the id of a run or an item that does not exist.
        let text = json!(String::from_utf8_lossy(&fill.text()));
        viewer.eval(&format!(
            "location.hash = `#/run/${{encodeURIComponent({text})}}/files/${{encodeURIComponent({text})}}?from=${{encodeURIComponent({text})}}`"
        ));
        viewer.eval(&format!(
            "location.hash = `#/run/${{{text}}}/trace/${{{text}}}`"
        ));
        viewer.assert_own();
    }
    viewer.reload();
    viewer.wait_text("This link shows");
    viewer.assert_quiet();
}

#[test]
fn what_a_text_could_do_as_markup_would_be_seen() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(FAILED).join("state.db")]);
    viewer.assert_quiet();
    let texts: Vec<String> = web::texts()
        .into_iter()
        .map(|text| String::from_utf8_lossy(&text).into_owned())
        .collect();
    // Each text is used alone as markup of the page. The script counts how many texts create elements or attributes at
    // all, and how many of these the search for foreign parts finds.
    let seen = viewer.eval(&format!(
        "(() => {{ const foreign = {FOREIGN}; const main = document.querySelector('main'); let markup = 0, missed = [];
          for (const text of {}) {{
            const box = document.createElement('div'); main.append(box); box.innerHTML = text;
            const elements = [...box.querySelectorAll('*')];
            const plain = elements.every(e => /^(p|div|b|br|main|a|label|span|option|select|input|details|table|tbody|tr|td|title|dialog)$/.test(e.localName)
              && [...e.attributes].every(a => /^(open|value|for|class|lang|autofocus|id|name|target|download|contenteditable|tabindex)$/.test(a.name)));
            if (elements.length && !plain) {{ markup++; if (!foreign(elements).length) missed.push(box.innerHTML) }}
            box.remove();
          }}
          return [markup, missed] }})()",
        json!(texts)
    ));
    assert_eq!(seen[1], json!([]), "not found");
    assert!(
        seen[0].as_u64() > Some(200),
        "{} texts with markup",
        seen[0]
    );
    // The content security policy of the page refuses what the texts try, and the browser reports that as errors.
    assert!(!viewer.errors().is_empty());
    assert_eq!(viewer.dialogs(), [] as [String; 0]);
    assert_eq!(viewer.eval("globalThis.pwned"), Value::Null);
}
