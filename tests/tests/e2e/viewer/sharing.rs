//! Tests sharing in the viewer: the dialog lists the replacements, the pages mark them, and the saved page opens its
//! run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use prosescope_test_support::files::copy;
use prosescope_tests::needs;

use super::opening::Served;
use super::screenshots::shoot;
use super::{FAILED, FOLDER, Viewer, example, examples};

/// Returns a token in the published format of GitHub tokens. The token was never issued.
fn token() -> String {
    format!("{}_{}", "ghp", "R7q2Lm0ZxV4tYb8NcK1sWd5HfJ3gPa6TuEo9")
}

/// Copies a folder run that has a secret in a value, a secret in an `.env`, and a word that the user may want to
/// replace.
fn planted(dir: &Path) -> PathBuf {
    let run = dir.join("runs").join(FOLDER);
    copy(&example(FOLDER), &run);
    let value = run.join("bindings/archive.md");
    let text = fs::read_to_string(&value).unwrap();
    let planted = format!(
        "{text}\nlog in with {} as Zebrafink\nsecond-secret-of-env\n",
        token()
    );
    fs::write(value, planted).unwrap();
    fs::write(run.join(".env"), "DEPLOY_KEY=second-secret-of-env\n").unwrap();
    run
}

/// Waits until the dialog has finished searching for secrets.
fn wait_scanned(viewer: &mut Viewer) {
    viewer.wait("document.querySelector('.share .primary:not([disabled])')");
}

fn sheet(viewer: &mut Viewer) -> String {
    let text = viewer.eval("document.querySelector('.share').innerText");
    text.as_str().unwrap_or_default().to_owned()
}

/// Adds a text that the share has to replace.
fn add_text(viewer: &mut Viewer, text: &str) {
    viewer.eval(&format!(
        "(() => {{ const input = document.querySelector('#share-also'); input.value = '{text}';
         input.dispatchEvent(new Event('input', {{bubbles: true}})); input.form.requestSubmit() }})()"
    ));
}

/// Returns the output of a `prosescope` command about a file.
fn output_about(args: &[&str], file: &Path) -> String {
    let mut command = Command::new(needs::prose().unwrap());
    let out = command.args(args).arg(file).output().unwrap();
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn a_run_is_shared_as_a_page_that_holds_no_secret() {
    let dir = tempfile::tempdir().unwrap();
    let run = planted(dir.path());
    let (Some(mut viewer), Some(_)) = (Viewer::from_disk(), needs::prose()) else {
        return;
    };
    viewer.drop_run(&[&run]);
    viewer.click_text(".bar button", "Share…");
    wait_scanned(&mut viewer);
    let text = sheet(&mut viewer);
    assert!(
        text.contains("github-token #1") && text.contains("DEPLOY_KEY #1"),
        "{text}"
    );
    assert!(
        !text.contains(&token()) && !text.contains("second-secret"),
        "{text}"
    );
    shoot(&mut viewer, "share");
    // The pages mark the replaced texts and remain usable.
    viewer.key("3");
    viewer.wait_page("Values");
    viewer.click_text("main .row:not(.head)", "archive");
    viewer.wait("CSS.highlights.get('leaving')?.size > 0");
    shoot(&mut viewer, "share-marks");

    // The user keeps a found secret, has it replaced again, and adds a text to replace.
    viewer.eval("document.querySelector('[aria-label=\"Keep github-token #1\"]').click()");
    viewer.wait("document.querySelector('[aria-label=\"Replace github-token #1\"]')");
    wait_scanned(&mut viewer);
    viewer.eval("document.querySelector('[aria-label=\"Replace github-token #1\"]').click()");
    viewer.wait("document.querySelector('[aria-label=\"Keep github-token #1\"]')");
    add_text(&mut viewer, "Zebrafink");
    viewer.wait("document.querySelector('.share-hits').innerText.includes('asked #1')");
    wait_scanned(&mut viewer);
    viewer.click_text(".share button", "Save the file");
    let saved = viewer.downloaded(&format!("{FOLDER}.html"));
    viewer.wait_text("was saved");
    viewer.assert_quiet();

    // The saved page is the built viewer, plus a run.
    let page = fs::read_to_string(&saved).unwrap();
    let built = fs::read_to_string(needs::viewer().unwrap()).unwrap();
    for part in built.split("<title>Prosescope</title>") {
        for part in part.split("<div id=\"prosescope-summary\"></div>") {
            for part in part.split(
                "<script type=\"text/plain\" id=\"prosescope-run\" data-bytes=\"0\"></script>",
            ) {
                assert!(page.contains(part), "a part of the viewer is another");
            }
        }
    }
    for gone in [token().as_str(), "Zebrafink", "second-secret-of-env"] {
        assert!(!page.contains(gone));
    }
    let checked = output_about(&["check"], &saved);
    assert!(checked.contains("shared-copy"), "{checked}");
    let report = output_about(&["share", "--report", "--redact", "Zebrafink"], &saved);
    assert!(
        report.contains("Nothing that looks like a secret was found"),
        "{report}"
    );
    let chromium = needs::chromium().unwrap();
    let page = prosescope_tests::browser::Page::open_file(&chromium, &saved);
    let mut fresh = Viewer::begun(page);
    fresh.wait_page("Trace");
    fresh.wait_main("as shared on");
    fresh.wait_main("unchanged");
    // The run is shared again, from a page that already contains it.
    fresh.click_text(".bar button", "Share…");
    wait_scanned(&mut fresh);
    fresh.click_text(".share label", "Zip");
    fresh.click_text(".share button", "Save the file");
    let zip = fresh.downloaded(&format!("{FOLDER}.zip"));
    assert!(output_about(&["check"], &zip).contains("shared-copy"));
    fresh.assert_quiet();
}

#[test]
fn what_leaves_is_switched_and_what_cannot_be_shared_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_files(&[&examples()]);
    viewer.wait_text("4 runs");
    viewer.click_text(".bar button", "Share…");
    wait_scanned(&mut viewer);
    assert!(sheet(&mut viewer).starts_with("Share 4 runs"));
    // Several runs cannot be shared as one database.
    viewer.click_text(".share label", "Database");
    viewer.click_text(".share button", "Save the file");
    viewer.wait(
        "document.querySelector('.share [role=alert]').innerText.includes('not a single database')",
    );
    shoot(&mut viewer, "share-several");
    viewer.eval("document.querySelector('.share [aria-label=Close]').click()");
    viewer.wait("!document.querySelector('.share')");
    viewer.drop_run(&[&example(FAILED)]);
    viewer.click_text(".bar button", "Share…");
    wait_scanned(&mut viewer);
    viewer.click_text(".share label", "Program");
    viewer.wait("document.querySelector('.share-switches').innerText.includes('left out')");
    wait_scanned(&mut viewer);
    viewer.click_text(".share label", "Database");
    viewer.click_text(".share button", "Save the file");
    let saved = viewer.downloaded("20260118-201530-z4t9wa.db");
    let program = output_about(&["show", "--program"], &saved);
    let file = dir.path().join("x.db");
    fs::copy(&saved, &file).unwrap();
    assert!(!program.contains("session \""), "{program}");
    // An invalid pattern is reported, and the dialog stays open.
    add_text(&mut viewer, "/(/");
    viewer.wait(
        "document.querySelector('.share [role=alert]').innerText.includes('cannot be searched for')",
    );
    shoot(&mut viewer, "share-refused");
    viewer.assert_quiet();
}

#[test]
fn a_shared_page_opens_on_the_row_that_was_open() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.drop_run(&[&example(FAILED)]);
    viewer.wait_text("round 2");
    viewer.click_text(".trace-rows .row", "let glossary");
    viewer.wait("/\\/[0-9]+$/.test(location.hash)");
    let row = viewer.eval("location.hash");
    viewer.click_text(".bar button", "Share…");
    wait_scanned(&mut viewer);
    viewer.click_text(".share button", "Save the file");
    let dir = tempfile::tempdir().unwrap();
    let saved = viewer.downloaded("20260118-201530-z4t9wa.html");
    let kept = dir.path().join("kept.html");
    fs::rename(&saved, &kept).unwrap();
    let chromium = needs::chromium().unwrap();
    let page = prosescope_tests::browser::Page::open_file(&chromium, &kept);
    let mut fresh = Viewer::begun(page);
    fresh.wait_page("Trace");
    fresh.wait(&format!("location.hash === {row}"));
    fresh
        .wait("document.querySelector('.trace-rows .row.selected').innerText.includes('glossary')");
    fresh.assert_quiet();
    // The user can switch off that the page opens on the row.
    viewer.click_text(".share .check", "Open the shared page");
    viewer.click_text(".share button", "Save the file");
    let again = viewer.downloaded("20260118-201530-z4t9wa.html");
    let page = prosescope_tests::browser::Page::open_file(&chromium, &again);
    let mut fresh = Viewer::begun(page);
    fresh.wait_page("Trace");
    fresh.wait("document.querySelector('.trace-rows .row.selected .cause')");
    fresh.assert_quiet();
}

#[test]
fn a_served_run_is_shared_by_its_server() {
    let dir = tempfile::tempdir().unwrap();
    let run = planted(dir.path());
    let Some(prose) = needs::prose() else { return };
    if needs::viewer().is_none() {
        return;
    }
    let served = Served::start(&prose, &[&run]);
    let Some(mut viewer) = Viewer::served(&served.address) else {
        return;
    };
    viewer.wait_page("Trace");
    viewer.click_text(".bar button", "Share…");
    wait_scanned(&mut viewer);
    let text = sheet(&mut viewer);
    assert!(
        text.contains("github-token #1") && text.contains("DEPLOY_KEY #1"),
        "{text}"
    );
    viewer.click_text(".share button", "Save the file");
    let saved = viewer.downloaded(&format!("{FOLDER}.html"));
    let page = fs::read_to_string(&saved).unwrap();
    assert!(page.contains("<meta name=\"prosescope-served\" content=\"no\">"));
    assert!(output_about(&["check"], &saved).contains("shared-copy"));
}
