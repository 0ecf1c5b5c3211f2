//! Tests dropped folders with unusual file names, and reading that takes too long.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use prosescope_tests::needs;
use serde_json::Value;

use super::Viewer;
use super::opening::Served;

/// The viewer's message after reading took too long.
const STOPPED: &str = "reading was stopped because it took too long";

/// Names that are safe on every system, and names that some systems do not allow.
const PLAIN: [&str; 4] = ["plain.md", ".hidden", "v%w.md", "it's.md"];
const UNUSUAL: [&str; 14] = [
    "a<b.md",
    "c:d.md",
    "e\"f.md",
    "g|h.md",
    "i?j.md",
    "k*l.md",
    "m\\n.md",
    "o>p.md",
    "q.",
    "r ",
    "con.md",
    "u.url",
    "y\nz.md",
    "\u{202e}x.md",
];

/// Builds a run folder with files of all these names.
fn folder(dir: &Path) -> PathBuf {
    let run = dir.join("20260115-083214-h5n2ye");
    fs::create_dir_all(run.join("bindings")).unwrap();
    fs::create_dir_all(run.join("sub<folder")).unwrap();
    let state = "# Execution State\n\nrun: x\n\n## Index\n\n### Bindings\n\n| Name | Kind | Path |\n|---|---|---|\n| a | let | bindings/a<b.md |\n";
    fs::write(run.join("state.md"), state).unwrap();
    for name in PLAIN.iter().chain(&UNUSUAL) {
        fs::write(run.join("bindings").join(name), "text").unwrap();
    }
    fs::write(run.join("sub<folder/in.md"), "text").unwrap();
    run
}

/// Returns the names of the files that the viewer lists.
fn listed(viewer: &mut Viewer) -> BTreeSet<String> {
    viewer.look(1400, 2000, false);
    viewer.open_page("Data");
    viewer.wait(
        "document.querySelectorAll('main .rows .row:not(.head)').length >=
           document.querySelector('main .rows').getAttribute('aria-rowcount') - 1",
    );
    let paths =
        viewer.eval("[...document.querySelectorAll('.file-rows .row .mono')].map(e => e.title)");
    let paths = paths.as_array().expect("files").iter();
    let name = |path: &str| {
        path.split_once('/')
            .map_or(path.to_owned(), |(_, name)| name.to_owned())
    };
    paths.filter_map(Value::as_str).map(name).collect()
}

#[test]
fn from_disk_a_folder_is_shown_with_what_the_browser_gives_and_that_is_said() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let run = folder(dir.path());
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::ffi::OsStrExt as _;
        let name = std::ffi::OsStr::from_bytes(b"no text \xff.md");
        fs::write(run.join("bindings").join(name), "text").unwrap();
    }
    viewer.drop_run(&[&run]);
    let files = listed(&mut viewer);
    for name in PLAIN {
        assert!(files.contains(name), "{name} is not in {files:?}");
    }
    viewer.open_page("Issues");
    viewer.wait_main("names-hidden");
    viewer.wait_main("does not receive dropped files");
    if cfg!(target_os = "linux") {
        viewer.wait_main("file-not-given");
    }
    // A run without missing files has no issue about hidden names.
    let whole = dir.path().join("whole");
    fs::create_dir(&whole).unwrap();
    fs::write(whole.join("state.md"), "# Execution State\n\nrun: y\n").unwrap();
    viewer.drop_files(&[&whole]);
    viewer.wait("document.querySelector('.bar .id')?.innerText === 'y'");
    viewer.open_page("Issues");
    assert!(
        !viewer.main_text().contains("names-hidden"),
        "{}",
        viewer.main_text()
    );
    viewer.assert_quiet();
    // A picked folder contains all files, but Chromium takes a backslash in a name for a separator.
    viewer.eval("location.hash = '#/'");
    viewer.reload();
    viewer.wait("document.querySelector('#pick-folder')");
    viewer.set_files("#pick-folder", &[&folder(&dir.path().join("picked"))]);
    viewer.wait_page("Trace");
    let files = listed(&mut viewer);
    for name in PLAIN.iter().chain(&UNUSUAL) {
        let name = name.replace('\\', "/");
        assert!(files.contains(&name), "{name:?} is not in {files:?}");
    }
}

#[test]
fn over_http_a_dropped_folder_is_shown_with_all_its_files() {
    let Some(prose) = needs::prose() else { return };
    if needs::viewer().is_none() {
        return;
    }
    let served = Served::start(&prose, &[&super::examples()]);
    let Some(mut viewer) = Viewer::served(&served.address) else {
        return;
    };
    viewer.wait_text("4 runs");
    let dir = tempfile::tempdir().unwrap();
    viewer.drop_run(&[&folder(dir.path())]);
    let files = listed(&mut viewer);
    for name in PLAIN.iter().chain(&UNUSUAL) {
        assert!(files.contains(*name), "{name:?} is not in {files:?}");
    }
    viewer.open_page("Issues");
    assert!(!viewer.main_text().contains("names-hidden"));
    viewer.assert_no_errors();
}

#[test]
fn reading_that_does_not_end_is_ended_and_the_viewer_goes_on() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join("state.db");
    let case =
        prosescope_damage::by_hand().find(|case| case.name == "a circle of ten thousand parents");
    let case = case.expect("the case");
    let prosescope_damage::What::File(bytes) = &case.entries[0].what else {
        panic!("a file");
    };
    fs::write(&database, bytes).unwrap();
    // The worker is started and its clock changed: each reading of the clock is ten seconds after the previous one.
    viewer.stats();
    let hurry = "{ const now = Date.now, begun = now(); let looks = 0; Date.now = () => begun + 10000 * looks++; Date.now.before = now }";
    viewer.try_eval_in_worker(hurry).unwrap();
    viewer.drop_run(&[&database]);
    // The part of the run that was read before the time-out is shown.
    viewer.open_page("Issues");
    viewer.wait_main(STOPPED);
    viewer
        .try_eval_in_worker("{ Date.now = Date.now.before }")
        .unwrap();
    viewer.eval("location.hash = '#/'");
    viewer.drop_run(&[&database]);
    viewer.open_page("Issues");
    viewer.wait_main("parent-cycle");
    assert!(!viewer.main_text().contains(STOPPED));
    viewer.assert_quiet();
}
