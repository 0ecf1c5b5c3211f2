//! Tests shared runs in the viewer: a page written by `prosescope share` opens its run, and pages and zips open like a
//! folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use prosescope_test_support::zip::{Entry, zip};
use prosescope_tests::hostile::{Fill, database, web};
use prosescope_tests::needs;
use serde_json::json;

use super::screenshots::shoot;
use super::{FAILED, FOLDER, Viewer, WAITING, example};

/// Shares runs into a file of this name.
fn share(dir: &Path, name: &str, runs: &[&Path], options: &[&str]) -> Option<PathBuf> {
    let (prose, _) = (needs::prose()?, needs::viewer()?);
    let file = dir.join(name);
    let mut command = Command::new(prose);
    command.current_dir(dir).env("HOME", dir).arg("share");
    let out = command
        .args(runs)
        .arg("-o")
        .arg(&file)
        .args(options)
        .output();
    let out = out.unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{name}: {said}");
    Some(file)
}

/// Opens a page from disk, and waits for its run.
fn opened(page: &Path) -> Option<Viewer> {
    let chromium = needs::chromium()?;
    let page = prosescope_tests::browser::Page::open_file(&chromium, page);
    Some(Viewer::begun(page))
}

#[test]
fn a_shared_page_opens_by_itself_and_gives_its_run_back() {
    let dir = tempfile::tempdir().unwrap();
    let Some(file) = share(dir.path(), "run.html", &[&example(FAILED)], &[]) else {
        return;
    };
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("<meta name=\"robots\" content=\"noindex\">"));
    let mut check = Command::new(needs::prose().unwrap());
    let checked = check.arg("check").arg(&file).output().unwrap();
    let checked = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.contains("shared-copy"), "{checked}");
    let Some(mut viewer) = opened(&file) else {
        return;
    };
    viewer.wait_page("Trace");
    viewer.wait_main("as shared on");
    viewer.wait_main("unchanged");
    assert_eq!(
        viewer.eval("!!document.querySelector('#prosescope-summary')"),
        false
    );
    shoot(&mut viewer, "shared-run");
    for (title, key) in viewer.tabs() {
        viewer.key(&key);
        viewer.wait_page(&title);
    }
    viewer.wait_main("shared-copy");
    viewer.key("1");
    viewer.wait_page("Trace");
    viewer.click_text(".band button", "Save the run");
    // A database and its program are saved as a zip.
    let zip = viewer.downloaded("run.zip");
    viewer.assert_quiet();
    // The saved file equals the shared file.
    viewer.eval("location.hash = '#/'");
    viewer.drop_run(&[&zip]);
    viewer.wait_main("unchanged");
    viewer.open_page("Issues");
    viewer.wait_main("shared-copy");
    viewer.assert_quiet();
}

#[test]
fn shared_files_are_dropped_as_folders_are() {
    let dir = tempfile::tempdir().unwrap();
    let both = [example(WAITING), example(FAILED)];
    let both = both.each_ref().map(PathBuf::as_path);
    let Some(page) = share(dir.path(), "two.html", &both, &[]) else {
        return;
    };
    let packed = share(dir.path(), "one.zip", &[&example(FOLDER)], &["--raw"]).unwrap();
    // The viewer recognises the type of a file by its content, not by its name.
    let named = dir.path().join("a letter.txt");
    fs::rename(packed, &named).unwrap();
    let Some(mut viewer) = opened(&page) else {
        return;
    };
    // A file with several runs opens as a list.
    viewer.wait_text("As shared on");
    assert_eq!(viewer.rows(), 2);
    shoot(&mut viewer, "shared-runs");
    viewer.drop_files(&[&named]);
    viewer.wait_page("Trace");
    viewer.wait("document.querySelector('.bar .id').innerText.includes('h5n2ye')");
    // Several shared files can be dropped at once, together with other files.
    viewer.eval("location.hash = '#/'");
    viewer.drop_files(&[&named, &page, &example(FAILED).join("state.db")]);
    viewer.wait("document.querySelector('main .rows')");
    assert_eq!(viewer.rows(), 4);
    viewer.wait_main("two.html: as shared on");
    // A message contains the name of a damaged file, and the other files are opened anyway.
    let cut = dir.path().join("cut.zip");
    fs::write(&cut, &fs::read(&named).unwrap()[..900]).unwrap();
    viewer.eval("location.hash = '#/'");
    viewer.drop_files(&[&named, &cut, &page]);
    viewer.wait("document.querySelector('main .rows')");
    assert_eq!(viewer.rows(), 3);
    viewer.wait_main("not every file was opened");
    viewer.wait_main("cut.zip: not a readable zip");
    viewer.wait_main("two.html: as shared on");
    viewer.assert_quiet();
}

#[test]
fn what_was_altered_or_does_harm_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let Some(page) = share(dir.path(), "run.html", &[&example(FAILED)], &[]) else {
        return;
    };
    let text = fs::read_to_string(&page).unwrap();
    let at = text.find("id=\"prosescope-run\"").unwrap() + 4000;
    let mut bytes = text.clone().into_bytes();
    // In the page, a letter is encoded as itself, so replacing a letter keeps the length.
    let letter = (at..).find(|at| bytes[*at].is_ascii_lowercase()).unwrap();
    bytes[letter] = if bytes[letter] == b'a' { b'b' } else { b'a' };
    let altered = dir.path().join("altered.html");
    fs::write(&altered, bytes).unwrap();
    let Some(mut viewer) = opened(&altered) else {
        return;
    };
    viewer.wait("document.querySelector('.trouble')");
    viewer.wait_text("altered.html cannot be shown");
    viewer.wait_text("is damaged");
    shoot(&mut viewer, "shared-altered");
    let cut = dir.path().join("cut.html");
    fs::write(&cut, &text[..text.ceil_char_boundary(at)]).unwrap();
    let mut viewer = Viewer::from_disk().unwrap();
    let viewer_itself = needs::viewer().unwrap();
    let manifest = "{\"format\":\"prosescope-share-1\",\"made_by\":\"\",\"made_at\":\"\",\"raw\":false,\"runs\":[],\"parts\":[{\"path\":\"state.md\",\"bytes\":1,\"sha256\":\"\"}],\"redactions\":[],\"left_out\":[],\"sealed_anew\":[]}";
    let state = "# Execution State\n\nrun: y\n";
    let zips = [
        (
            "up.zip",
            zip(&[Entry::stored("../state.md", state.as_bytes())]),
            "not a plain path",
        ),
        (
            "twice.zip",
            zip(&[Entry::stored("a", b""), Entry::stored("a", b"")]),
            "occurs twice",
        ),
        (
            "bomb.zip",
            zip(&[Entry {
                len: 500 << 20,
                ..Entry::stored("a", b"b")
            }]),
            "that ratio is not plausible for a run",
        ),
        (
            "large.zip",
            zip(&[Entry {
                len: 600 << 20,
                ..Entry::stored("a", b"b")
            }]),
            "at most 536870912 are unpacked",
        ),
    ];
    let made = zips.map(|(name, bytes, why)| {
        let file = dir.path().join(name);
        fs::write(&file, bytes).unwrap();
        (name.to_owned(), file, why)
    });
    let pages = [
        ("cut.html".to_owned(), cut, "the run's end is missing"),
        ("viewer.html".to_owned(), viewer_itself, "without a run"),
    ];
    for (name, file, why) in made.into_iter().chain(pages) {
        viewer.drop_files(&[&file]);
        viewer.wait_text(&format!("{name} cannot be shown"));
        viewer.wait_text(why);
    }
    // A changed part is found by its hash in the manifest, even if the zip itself is valid.
    let changed = dir.path().join("changed.zip");
    let parts = [
        Entry::stored("state.md", state.as_bytes()),
        Entry::stored("prosescope-share.json", manifest.as_bytes()),
    ];
    fs::write(&changed, zip(&parts)).unwrap();
    viewer.drop_run(&[&changed]);
    viewer.wait_main("do not rely on this copy");
    viewer.wait_main("state.md was changed");
    shoot(&mut viewer, "shared-changed");
    viewer.open_page("Issues");
    viewer.wait_main("share-changed");
    viewer.assert_quiet();
}

#[test]
fn nothing_of_a_hostile_run_acts_in_its_page() {
    let dir = tempfile::tempdir().unwrap();
    if needs::sqlite3().is_none() {
        return;
    }
    let run = dir
        .path()
        .join("20260116-143052-<img src=x onerror=alert(1)>");
    let mut texts = web::texts();
    let marker = "id=\"prosescope-run\" data-bytes=\"9\">";
    for end in ["</script>", "</template>", "]]>", "<!--", marker] {
        texts.push(end.into());
    }
    database::run(&run, &mut Fill::new(texts, 50));
    let Some(file) = share(dir.path(), "run.html", &[&run], &["--raw"]) else {
        return;
    };
    let Some(mut viewer) = opened(&file) else {
        return;
    };
    viewer.wait_page("Trace");
    for (title, key) in viewer.tabs() {
        viewer.key(&key);
        viewer.wait_page(&title);
    }
    viewer.assert_quiet();
    let own = json!(["run.html"]);
    let scripts = "performance.getEntriesByType('resource').map(e => e.name).concat(['run.html'])";
    assert_eq!(viewer.eval(scripts), own, "nothing was asked for");
}

/// Checks that the page shows its summary if JavaScript is off, or if the viewer cannot start.
#[test]
fn a_page_that_cannot_start_still_says_what_happened() {
    let dir = tempfile::tempdir().unwrap();
    let Some(page) = share(dir.path(), "run.html", &[&example(FAILED)], &[]) else {
        return;
    };
    let text = fs::read_to_string(&page).unwrap();
    let broken = text.replacen(
        "id=\"prosescope-wasm\" data-bytes=\"",
        "id=\"prosescope-wasm\" data-bytes=\"9",
        1,
    );
    let file = dir.path().join("broken.html");
    fs::write(&file, broken).unwrap();
    let Some(chromium) = needs::chromium() else {
        return;
    };
    let mut page = prosescope_tests::browser::Page::open_file(&chromium, &file);
    page.wait_text("The viewer could not start");
    page.wait_text("a part of the page is missing, or was changed");
    page.wait_text("Failed at line 38");
    assert!(
        page.eval("document.title")
            .as_str()
            .unwrap()
            .contains(FAILED)
    );
    // The page's summary equals the output of `prosescope show`. Screenshots show the page in both schemes and on a
    // narrow screen.
    let folder = prosescope_tests::build::target().join("screenshots");
    page.screenshot(
        &folder.join("shared-summary-400-light.png"),
        400,
        820,
        false,
    );
    page.screenshot(
        &folder.join("shared-summary-1280-dark.png"),
        1280,
        860,
        true,
    );
}

/// Returns the browser and the text of a shared page; `None`, after printing why, if one of them is missing.
fn page_to_change(dir: &Path) -> Option<(PathBuf, String)> {
    let page = share(dir, "run.html", &[&example(FAILED)], &[])?;
    Some((needs::chromium()?, fs::read_to_string(page).unwrap()))
}

/// A download that breaks, or a mail that is cut, leaves the beginning of a page. The line at its top says so, whether
/// scripts run or not: the cuts before the last script leave no script that could run.
#[test]
fn a_page_that_was_cut_says_so_with_and_without_scripts() {
    let dir = tempfile::tempdir().unwrap();
    let Some((chromium, text)) = page_to_change(dir.path()) else {
        return;
    };
    let opened = |name: &str, text: &str| {
        let file = dir.path().join(name);
        fs::write(&file, text).unwrap();
        prosescope_tests::browser::Page::open_file(&chromium, &file)
    };
    let after = |mark: &str, more: usize| text.find(mark).unwrap() + more;
    let cuts = [
        ("summary", after("<div id=\"prosescope-summary\">", 60), ""),
        (
            "wasm",
            after("id=\"prosescope-wasm\"", 10_000),
            "Failed at line 38",
        ),
        (
            "run",
            after("id=\"prosescope-run\" data-bytes", 500),
            "Failed at line 38",
        ),
        (
            "glue",
            after("id=\"prosescope-glue\"", 500),
            "Failed at line 38",
        ),
        (
            "boot",
            after("// Starts the app of the one-file page", 500),
            "Failed at line 38",
        ),
        (
            "end",
            after("<style id=\"prosescope-end\">", 0),
            "Failed at line 38",
        ),
        (
            "before",
            text.find("\n<style id=\"prosescope-end\">").unwrap(),
            "the end of this page is missing",
        ),
    ];
    for (name, at, words) in cuts {
        let cut = &text[..text.ceil_char_boundary(at)];
        let mut page = opened(&format!("{name}.html"), cut);
        page.wait_text("This page is incomplete");
        page.wait_text(words);
    }
    // A complete page hides the line, also if no script runs.
    let hash = text.find("script-src 'sha256-").unwrap() + "script-src 'sha256-".len();
    let blocked = [&text[..hash], "x", &text[hash + 1..]]
        .concat()
        .replace("' 'wasm-unsafe-eval'", "x' 'wasm-unsafe-eval'");
    for (name, text, words) in [
        ("whole.html", &text, "As shared on"),
        ("blocked.html", &blocked, "Failed at line 38"),
    ] {
        let mut page = opened(name, text);
        page.wait_text(words);
        std::thread::sleep(std::time::Duration::from_secs(4));
        let line = "getComputedStyle(document.getElementById('prosescope-cut')).display";
        assert_eq!(page.eval(line), json!("none"), "{name}");
    }
}

/// The page's own opener refuses what the command line refuses (share/src/page.rs): a second element with the run's id.
#[test]
fn a_page_with_two_runs_does_not_open_either_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let Some((chromium, text)) = page_to_change(dir.path()) else {
        return;
    };
    let at = text
        .find("<script type=\"text/plain\" id=\"prosescope-run\"")
        .unwrap();
    let end = at + text[at..].find("</script>").unwrap() + "</script>".len();
    let run = &text[at..end];
    for (name, other) in [
        ("twice", run.to_owned()),
        ("quoted", "<p id='prosescope-run'></p>".to_owned()),
        ("comment", format!("<!--{}-->", &run[..90])),
        ("template", format!("<template>{run}</template>")),
    ] {
        for (place, at) in [("before", at), ("after", text.rfind("</body>").unwrap())] {
            let file = dir.path().join(format!("{name}-{place}.html"));
            fs::write(&file, [&text[..at], &other, &text[at..]].concat()).unwrap();
            let mut page = prosescope_tests::browser::Page::open_file(&chromium, &file);
            page.wait_text("two elements of this page claim to be its run");
            let out = Command::new(needs::prose().unwrap())
                .arg("show")
                .arg(&file)
                .output();
            let out = out.unwrap();
            let said = String::from_utf8_lossy(&out.stderr);
            assert!(
                said.contains("two elements claim to be it"),
                "{name}: {said}"
            );
        }
    }
}
