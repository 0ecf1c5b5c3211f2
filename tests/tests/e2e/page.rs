//! The viewer as people open it: one HTML file from disk.

use prosescope_tests::browser::Page;
use prosescope_tests::needs;

/// The viewer, opened from disk; `None` where it or the browser is missing (which was said).
fn viewer() -> Option<Page> {
    Some(Page::open_file(&needs::chromium()?, &needs::viewer()?))
}

#[test]
fn opens_from_disk_quietly() {
    let Some(mut page) = viewer() else { return };
    page.assert_quiet();
}
