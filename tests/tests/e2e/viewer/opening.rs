//! Tests dropping and picking, over `file://` and over http, with every kind of file that a person may receive.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use prosescope_tests::{build, needs};
use serde_json::json;

use super::{FAILED, FINISHED, FOLDER, Viewer, WAITING, example, examples};

#[test]
fn the_empty_page_says_what_to_drop_and_asks_for_nothing() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.wait_text("Drop a file or folder anywhere");
    viewer.wait_text("Nothing leaves this machine");
    viewer.assert_quiet();
}

#[test]
fn the_built_in_examples_open() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.click_text("button", "example");
    for status in ["completed", "failed", "waiting"] {
        viewer.wait_main(status);
    }
    viewer.assert_quiet();
}

#[test]
fn a_dropped_database_says_where_it_stopped_and_why() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(FAILED).join("state.db")]);
    viewer.wait_main("failed");
    viewer.wait_main("Output was cut off in the middle of table 4.2-14");
    assert!(
        viewer
            .eval("document.title")
            .as_str()
            .unwrap()
            .starts_with("translate-manual")
    );
    viewer.assert_quiet();
}

/// The page opens and draws the example while it waits for a file, so that the browser compiles its code. Nobody sees it.
#[test]
fn a_waiting_page_draws_the_example_and_changes_nothing_that_is_seen() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let watch = "globalThis.drawn = [], globalThis.changes = [];
        for (const [of, name] of [[Document, 'createElement'], [Node, 'cloneNode']]) {
            const make = of.prototype[name];
            of.prototype[name] = function (...all) {
                const made = make.apply(this, all);
                if (made.localName === 'nav') drawn.push(made);
                return made;
            };
        }
        for (const name of ['pushState', 'replaceState']) {
            const change = history[name];
            history[name] = (...all) => (changes.push(all), change.apply(history, all));
        }
        const end = Worker.prototype.terminate;
        Worker.prototype.terminate = function () { globalThis.ended = true; end.call(this) };";
    viewer.call(
        "Page.addScriptToEvaluateOnNewDocument",
        json!({"source": watch}),
    );
    viewer.reload();
    viewer.wait("globalThis.ended");
    let seen = "[drawn.length > 2, drawn.filter(nav => nav.isConnected).length, changes.length, document.title, location.hash,
        document.activeElement.localName, document.querySelectorAll('.app').length]";
    assert_eq!(
        viewer.eval(seen),
        json!([true, 0, 0, "Prosescope", "", "body", 0])
    );
    viewer.assert_quiet();
}

/// The first screen comes in one answer. `prosescope show` says the same of the run.
#[test]
fn a_dropped_run_is_asked_for_once_and_its_first_screen_is_what_show_says() {
    let (Some(prose), Some(mut viewer)) = (needs::prose(), Viewer::from_disk()) else {
        return;
    };
    viewer.eval(
        "globalThis.sent = []; const post = Worker.prototype.postMessage;
         Worker.prototype.postMessage = function (message, ...rest) {
             if (message.body) sent.push(Object.keys(JSON.parse(message.body))[0]);
             return post.call(this, message, ...rest);
         };
         // What the page has asked of the example before is not of this run.
         addEventListener('drop', () => sent.length = 0, true)",
    );
    let database = example(FAILED).join("state.db");
    viewer.drop_run(&[&database]);
    viewer.wait_main("failed");
    viewer.wait("document.querySelector('.detail .statement')");
    assert_eq!(viewer.eval("sent"), json!(["open_files"]));
    let show = Command::new(prose)
        .arg("show")
        .arg(&database)
        .arg("--json")
        .output();
    let show: serde_json::Value = serde_json::from_slice(&show.unwrap().stdout).unwrap();
    let shown = viewer.eval("document.querySelector('.detail .statement').textContent");
    let show = &show["overview"];
    assert_eq!(shown, show["failure"]["cause"]["text"]);
    let rows =
        viewer.eval("+document.querySelector('[data-list]').getAttribute('aria-rowcount') - 1");
    assert!(
        rows.as_u64() <= show["trace_nodes"].as_u64(),
        "{rows} of {show}"
    );
}

/// Builds a database in WAL mode whose newest rows are only in the `-wal` file.
fn written_to(folder: &Path) -> std::path::PathBuf {
    let database = folder.join("state.db");
    let run = "INSERT INTO run (id, program_path, status) VALUES ('20260120-080000-wal123', 'wal.prose', 'running');
        INSERT INTO execution (statement_index, statement_text, status) VALUES (1, 'session \"Old\"', 'completed');";
    build::wal(
        &database,
        &format!("{}{run}", build::state_schema()),
        "INSERT INTO execution (statement_index, statement_text, status) VALUES (2, 'session \"Newest\"', 'failed');
         UPDATE run SET status = 'failed';",
    );
    database
}

#[test]
fn a_database_with_its_wal_shows_the_newest_rows_and_without_it_says_so() {
    if needs::sqlite3().is_none() {
        return;
    }
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let database = written_to(folder.path());
    let wal = folder.path().join("state.db-wal");
    viewer.drop_run(&[&database, &wal]);
    viewer.wait_main("session \"Newest\"");
    viewer.drop_files(&[&database]);
    viewer.wait_main("Running");
    assert!(!viewer.main_text().contains("Newest"));
    viewer.open_page("Issues");
    viewer.wait_main("-wal");
    viewer.wait("document.querySelector('.unread[role=alert]').innerText.includes('state.db-wal')");
    viewer.assert_quiet();
}

#[test]
fn a_dropped_run_folder_opens_with_its_files() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(FOLDER)]);
    viewer.wait_main("interrupted");
    viewer.open_page("Imports");
    viewer.wait_main("survey");
    viewer.assert_quiet();
}

#[test]
fn a_picked_folder_opens_as_a_dropped_one() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.set_files("#pick-folder", &[&example(FOLDER)]);
    viewer.wait_page("Trace");
    viewer.wait_main("interrupted");
    viewer.assert_quiet();
}

#[test]
fn a_prose_folder_opens_as_the_list_of_its_runs() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_files(&[&examples()]);
    viewer.wait_text("4 runs");
    for status in ["completed", "interrupted", "failed", "waiting"] {
        viewer.wait_main(status);
    }
    let ids =
        viewer.eval("[...document.querySelectorAll('.run-rows .row .mono')].map(e => e.innerText)");
    assert_eq!(ids, json!([WAITING, FAILED, FOLDER, FINISHED]));
    viewer.assert_quiet();
}

#[test]
fn agents_and_a_lone_state_file_open() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_files(&[&examples().join("agents.db")]);
    viewer.wait_page("Agents");
    viewer.wait_main("reviewer");
    viewer.drop_files(&[&example(FOLDER).join("state.md")]);
    viewer.wait_text("heat-the-school");
    viewer.assert_quiet();
}

#[test]
fn a_state_file_is_pasted_as_text() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let text = fs::read_to_string(example(FOLDER).join("state.md")).unwrap();
    let paste = |viewer: &mut Viewer, text: &str, into: &str| {
        let text = json!(text);
        viewer.eval(&format!(
            "(() => {{ const data = new DataTransfer(); data.setData('text/plain', {text});
               {into}.dispatchEvent(new ClipboardEvent('paste', {{clipboardData: data, bubbles: true, cancelable: true}})) }})()"
        ));
    };
    paste(&mut viewer, &text, "document.body");
    viewer.wait_page("Trace");
    viewer.wait_text("heat-the-school");
    // Text pasted into a field stays there, and a single word opens nothing.
    paste(
        &mut viewer,
        &text,
        "document.querySelector('input[type=search]')",
    );
    paste(&mut viewer, "a word", "document.body");
    viewer.wait_page("Trace");
    paste(&mut viewer, "no run,\nbut two lines", "document.body");
    viewer.wait("document.querySelector('.moment').innerText.includes('not a state.md')");
    viewer.wait_text("heat-the-school");
    viewer.assert_quiet();
}

/// Checks the files that the viewer refuses, each with the required parts of the message: the file, what was found, and
/// a next step.
#[test]
fn what_is_no_run_is_refused_with_its_name_and_what_was_found() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&str, &[u8], &str); 5] = [
        ("report.pdf", b"%PDF-1.7 and so on", "a PDF document"),
        ("empty.db", b"", "0 "),
        ("cut.db", b"SQLite format 3\0", "cut off"),
        ("secret.db", &[0x9d; 4096], "4"),
        (
            "notes.md",
            "# Shopping\n\nMilk, überhaupt.\n".as_bytes(),
            "# Shopping",
        ),
    ];
    for (name, bytes, found) in cases {
        let file = folder.path().join(name);
        fs::write(&file, bytes).unwrap();
        viewer.drop_files(&[&file]);
        viewer.wait(&format!(
            "document.querySelector('.trouble').innerText.includes('{name}')"
        ));
        let trouble = viewer.eval("document.querySelector('.trouble').innerText");
        let trouble = trouble.as_str().unwrap();
        assert!(trouble.contains(found), "{name}: {trouble}");
        assert!(
            trouble.lines().count() >= 3,
            "{name}: what, why, and what next: {trouble}"
        );
    }
    let empty = folder.path().join("nothing");
    fs::create_dir(&empty).unwrap();
    viewer.drop_files(&[&empty]);
    viewer.wait("document.querySelector('.trouble').innerText.includes('no file')");
    viewer.assert_quiet();
}

#[test]
fn a_database_that_changes_while_it_is_open_is_said() {
    if needs::sqlite3().is_none() {
        return;
    }
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("state.db");
    let script = "INSERT INTO run (id, program_path, status) VALUES ('20260120-080000-change', 'c.prose', 'completed');
        INSERT INTO bindings (name, kind, value) VALUES ('long', 'let', printf('%.*c', 20000000, 'x'));";
    build::sql(&database, &format!("{}{script}", build::state_schema()));
    viewer.drop_run(&[&database]);
    viewer.key("3");
    viewer.wait_page("Values");
    build::sql(
        &database,
        "UPDATE bindings SET value = printf('%.*c', 2000000, 'y');",
    );
    // The value was not read before, so its pages are requested only now. A smaller file would already be in memory.
    viewer.key("j");
    viewer.key("Enter");
    viewer.wait("/changed/.test(document.querySelector('.detail').innerText)");
}

#[test]
fn a_link_to_a_page_survives_a_reload_by_asking_for_the_file_again() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let database = example(FAILED).join("state.db");
    viewer.drop_run(&[&database]);
    viewer.key("1");
    viewer.wait_page("Trace");
    viewer.reload();
    viewer.wait_text("This link shows Trace");
    viewer.drop_files(&[&database]);
    viewer.wait_page("Trace");
    viewer.assert_no_errors();
}

/// A running `prosescope view`. It is ended when the test drops this value.
pub(super) struct Served {
    process: Child,
    pub(super) address: String,
}

impl Served {
    pub(super) fn start(prose: &Path, paths: &[&Path]) -> Served {
        let mut process = Command::new(prose)
            .arg("view")
            .args(paths)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.trim().to_owned();
        assert!(address.starts_with("http://127.0.0.1:"), "{line}");
        Served { process, address }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn prose_view_shows_the_run_and_asks_its_own_server_only() {
    let Some(prose) = needs::prose() else { return };
    if needs::viewer().is_none() {
        return;
    }
    let served = Served::start(&prose, &[&example(FAILED)]);
    let Some(mut viewer) = Viewer::served(&served.address) else {
        return;
    };
    viewer.wait_page("Trace");
    viewer.wait_main("Output was cut off in the middle of table 4.2-14");
    viewer.key("3");
    viewer.wait_page("Values");
    viewer.key("Enter");
    viewer.wait_main("docs/turbine-service-manual-de.md");
    let requests = viewer.requests();
    assert!(!requests.is_empty());
    for url in requests {
        assert!(url.starts_with(&served.address), "{url}");
    }
    viewer.assert_no_errors();
}

#[test]
fn prose_view_of_a_prose_folder_lists_its_runs_and_takes_drops_too() {
    let Some(prose) = needs::prose() else { return };
    if needs::viewer().is_none() {
        return;
    }
    let served = Served::start(&prose, &[&examples()]);
    let Some(mut viewer) = Viewer::served(&served.address) else {
        return;
    };
    viewer.wait_text("4 runs");
    viewer.drop_run(&[&example(WAITING).join("state.db")]);
    viewer.wait_main("production_deploy");
    viewer.assert_no_errors();
}

/// Checks that a value is shown at the statement that wrote it. The failed statement began after the previous statement
/// wrote the value, so it is not shown as the writer.
#[test]
fn a_value_is_shown_at_the_statement_that_wrote_it() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.look(1400, 2000, false);
    viewer.drop_run(&[&example(FAILED).join("state.db")]);
    viewer.key("1");
    viewer.wait_page("Trace");
    viewer.key("e");
    let drafts = "[...document.querySelectorAll('.trace-rows .row')].filter(row => row.innerText.trim().startsWith('let draft') || row.querySelector('.text b')?.innerText === 'draft')";
    viewer.wait(&format!("{drafts}.length > 2"));
    let mut said = Vec::new();
    // The last of these statements failed and wrote nothing.
    for nth in [-3, -2] {
        viewer.eval(&format!("{drafts}.at({nth}).click()"));
        viewer.wait(&format!(
            "{drafts}.at({nth}).classList.contains('selected')"
        ));
        viewer.wait("document.querySelector('.detail .work') && !document.querySelector('.detail .waiting')");
        said.push(
            viewer
                .eval("document.querySelector('.detail').innerText.includes('overwritten later')"),
        );
    }
    assert_eq!(said, [json!(true), json!(false)]);
    viewer.key("3");
    viewer.wait_page("Values");
    let drafts =
        "[...document.querySelectorAll('main .row')].filter(row => /^draft/.test(row.innerText))";
    viewer.wait(&format!("{drafts}.length > 1"));
    viewer.eval(&format!("{drafts}.pop().click()"));
    viewer.wait("/Written by/i.test(document.querySelector('.detail').innerText)");
    viewer.assert_quiet();
}
