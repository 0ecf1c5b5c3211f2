//! Takes screenshots of every page, in light and dark, wide and narrow, for people to look at (target/screenshots).
//! Also takes the screenshots of the README.

use std::path::PathBuf;

use prosescope_tests::{build, needs};

use super::{FAILED, FINISHED, FOLDER, Viewer, WAITING, example, examples};

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
        for (title, key) in viewer.tabs() {
            viewer.key(&key);
            viewer.wait_page(&title);
            let page = title.to_lowercase().replace([' ', '.'], "-");
            shoot(&mut viewer, &format!("{name}-{key}-{page}"));
            if viewer.eval("!!document.querySelector('[data-list]')") == true {
                viewer.key("j");
                viewer.key("Enter");
                viewer.eval("new Promise(r => setTimeout(r, 200))");
                viewer.wait_page(&title);
                if viewer.eval("!!document.querySelector('.detail')") == true {
                    shoot(&mut viewer, &format!("{name}-{key}-{page}-open"));
                }
            }
        }
    }
    viewer.assert_quiet();
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
