//! Takes screenshots of every page, in light and dark, wide and narrow, for people to look at (target/screenshots).
//! Also takes the screenshots of the README.

use std::path::PathBuf;

use prosescope_tests::{build, needs};

use super::opening::Served;
use super::{FAILED, FINISHED, FOLDER, PAGES, Viewer, WAITING, example, examples};

/// The sizes of the window, as width and height in pixels: a laptop, and a phone.
const SIZES: [(u32, u32); 2] = [(1280, 860), (400, 820)];

fn folder() -> PathBuf {
    build::target().join("screenshots")
}

/// Takes screenshots of the page in every size and colour scheme.
pub(super) fn shoot(viewer: &mut Viewer, name: &str) {
    for (width, height) in SIZES {
        for dark in [false, true] {
            let scheme = if dark { "dark" } else { "light" };
            let file = folder().join(format!("{name}-{width}-{scheme}.png"));
            viewer.screenshot(&file, width, height, dark);
            let wider = viewer.eval("document.documentElement.scrollWidth > innerWidth");
            assert_eq!(wider, false, "{name} is wider than {width} pixels");
        }
    }
    let (width, height) = SIZES[0];
    viewer.look(width, height, false);
}

#[test]
fn screenshots_of_every_page() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.wait_text("Drop a file or folder anywhere");
    shoot(&mut viewer, "empty");
    let file = needs::root().join("LICENSE-MIT");
    viewer.drop_files(&[&file]);
    viewer.wait("document.querySelector('.trouble')");
    shoot(&mut viewer, "refused");
    viewer.drop_files(&[&examples()]);
    viewer.wait_text("4 runs");
    shoot(&mut viewer, "runs");
    for (name, id) in [
        ("finished", FINISHED),
        ("folder", FOLDER),
        ("failed", FAILED),
        ("waiting", WAITING),
    ] {
        viewer.drop_run(&[&example(id)]);
        for (title, key) in PAGES {
            viewer.key(key);
            viewer.wait_page(title);
            let page = title.to_lowercase().replace([' ', '.'], "-");
            shoot(&mut viewer, &format!("{name}-{key}-{page}"));
            if viewer.eval("!!document.querySelector('[data-list]')") == true {
                viewer.key("j");
                viewer.key("Enter");
                viewer.eval("new Promise(r => setTimeout(r, 200))");
                viewer.wait_page(title);
                if viewer.eval("!!document.querySelector('.detail')") == true {
                    shoot(&mut viewer, &format!("{name}-{key}-{page}-open"));
                }
            }
        }
    }
    viewer.assert_quiet();
}

/// Takes screenshots of unreadable parts, a wrong file beside an open run, a table with multi-line cells, and a silent
/// run.
#[test]
fn screenshots_of_what_is_wrong() {
    let (Some(_), Some(mut viewer)) = (needs::sqlite3(), Viewer::from_disk()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let rows = "INSERT INTO execution (statement_index, statement_text, status) VALUES (1, 'session \"Write\"', 'executing');
        INSERT INTO bindings (name, kind, value, created_at, updated_at) VALUES ('a', 'let', 'in the binding', '2026-01-20 08:00:01', '2026-01-20 08:00:01');
        CREATE TABLE x_notes (n INTEGER, short TEXT, long TEXT);
        INSERT INTO x_notes VALUES (1, 'a', 'first' || char(10) || 'second, and so on'), (2, 'b', 'x');";
    let database = super::honest::database(folder.path(), "silent", "running", rows);
    viewer.drop_run(&[&database]);
    shoot(&mut viewer, "wrong-silent");
    viewer.key("1");
    viewer.wait_page("Trace");
    shoot(&mut viewer, "wrong-silent-trace");
    viewer.eval("location.hash = location.hash.replace(/trace.*/, 'files/table%3Ax_notes')");
    viewer.wait("document.querySelectorAll('.table-rows .row:not(.head)').length === 2");
    shoot(&mut viewer, "wrong-table");
    viewer.drop_files(&[&needs::root().join("docs/screenshot.png")]);
    viewer.wait("document.querySelector('.notice')");
    viewer.key("1");
    viewer.wait_page("Trace");
    shoot(&mut viewer, "wrong-notice");
    super::honest::damage(&database, "in the binding");
    viewer.drop_run(&[&database]);
    shoot(&mut viewer, "wrong-unread");
    viewer.key("3");
    viewer.wait_page("Values");
    shoot(&mut viewer, "wrong-unread-bindings");
    viewer.assert_quiet();
}

/// Takes screenshots of a run that is followed, of the paused state, and of a dropped file that changed.
#[test]
fn screenshots_of_following() {
    let Some(prose) = needs::prose() else { return };
    if needs::viewer().is_none() || needs::sqlite3().is_none() {
        return;
    }
    let run = tempfile::tempdir().unwrap();
    let database = run.path().join("state.db");
    std::fs::copy(example(WAITING).join("state.db"), &database).unwrap();
    let served = Served::start(&prose, &[run.path()]);
    let Some(mut viewer) = Viewer::served(&served.address) else {
        return;
    };
    viewer.wait_page("Trace");
    viewer.key("1");
    viewer.wait_page("Trace");
    let row = "INSERT INTO execution (statement_index, statement_text, status) VALUES (99, 'session \"Newest\"', 'executing');";
    build::sql(&database, row);
    viewer.wait("document.querySelector('.row.fresh')");
    viewer.screenshot(
        &folder().join("follow-new-1280-light.png"),
        1280,
        860,
        false,
    );
    shoot(&mut viewer, "follow");
    viewer.key("w");
    viewer.wait("document.querySelector('.follow.off')");
    shoot(&mut viewer, "follow-paused");
    // The address still contains the previously open page.
    viewer.drop_files(&[&database]);
    viewer.wait_page("Trace");
    viewer.wait("!document.querySelector('.follow')");
    build::sql(&database, row);
    viewer.wait("document.querySelector('.follow.wait')");
    shoot(&mut viewer, "follow-outdated");
}

/// Takes the picture of the README, which shows the failed example.
#[test]
fn screenshots_for_the_readme() {
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    viewer.look(1280, 800, false);
    viewer.drop_run(&[&example(FAILED)]);
    let taken = folder().join("readme.png");
    viewer.screenshot(&taken, 1280, 800, false);
    if std::env::var_os("PROSE_WRITE_DOCS").is_some() {
        std::fs::copy(&taken, needs::root().join("docs/screenshot.png")).unwrap();
    }
    let kept = needs::root().join("docs/screenshot.png");
    assert!(kept.is_file(), "take it with `cargo xtask screenshots`");
}
