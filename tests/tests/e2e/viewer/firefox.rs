//! The first questions of a person, in Firefox: why it failed, what was asked, and where a text is.

use prosescope_tests::browser::{Firefox, file_url};
use prosescope_tests::needs;

use super::{FAILED, example};

#[test]
fn a_failed_run_is_understood_in_firefox() {
    let (Some(firefox), Some(html)) = (needs::firefox(), needs::viewer()) else {
        return;
    };
    let mut page = Firefox::open(&firefox, &file_url(&html));
    page.wait("document.querySelector('main')");
    let run = example(FAILED).join("state.db");
    page.set_files("input[type=file]:not([webkitdirectory])", &[&run]);
    // Why it failed, and what was asked: the run opens at what failed first.
    page.wait("document.querySelector('.band h1').innerText.includes('Failed at line 38')");
    page.wait(
        "document.querySelector('.detail .error').innerText.startsWith('Output was cut off')",
    );
    page.wait("document.querySelector('.detail .says').innerText.includes('Mend these terms')");
    page.wait("document.querySelector('.detail .given table')");
    // Where a text is.
    page.keys("/");
    // No window has the focus here, and `:focus` asks for both.
    page.wait("document.activeElement.matches('dialog.finder input')");
    page.keys("footnote");
    page.wait("document.querySelector('#found .entry mark')");
    page.keys("\n");
    page.wait("!document.querySelector('dialog.finder[open]')");
    page.wait("/trace\\/./.test(location.hash)");
    page.assert_no_errors();
}
