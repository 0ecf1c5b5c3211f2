//! Tests the most important questions in Firefox: why the run failed, what the prompt was, and where a text is.

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
    // The run opens at its first failure, which shows why it failed and what the prompt was.
    page.wait("document.querySelector('.band h1').innerText.includes('Failed at line 38')");
    page.wait(
        "document.querySelector('.detail .error').innerText.startsWith('Output was cut off')",
    );
    page.wait("document.querySelector('.detail .says').innerText.includes('Mend these terms')");
    page.wait("document.querySelector('.detail .given table')");
    // The finder shows where a text is.
    page.keys("/");
    // `:focus` is not used, because it also requires that the window has the focus, which a headless window has not.
    page.wait("document.activeElement.matches('dialog.finder input')");
    page.keys("footnote");
    page.wait("document.querySelector('#found .entry mark')");
    page.keys("\n");
    page.wait("!document.querySelector('dialog.finder[open]')");
    page.wait("/trace\\/./.test(location.hash)");
    page.assert_no_errors();
}
