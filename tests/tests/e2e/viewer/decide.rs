//! Tests decisions on a gate that waits: on the page if its server allows decisions, else by the command that the page
//! shows.

use std::path::Path;

use prosescope_tests::needs;

use super::Viewer;
use super::live::Project;
use super::opening::Served;

/// Builds a project with a run that waits at a gate. Only raymond may decide that gate.
pub(super) fn waiting() -> Option<(Project, String)> {
    let prose = needs::prose()?;
    needs::viewer()?;
    let project = Project::new(&prose);
    let run = project.init();
    project.prose(
        "gate create deploy --prompt Ship-it? --allow raymond --timeout 4h --on-reject stop --override",
        "",
    );
    Some((project, run))
}

/// Serves a waiting run to a page that may decide as raymond.
fn deciding() -> Option<(Project, String, Served, Viewer)> {
    let (project, run) = waiting()?;
    let (folder, named) = (
        project.runs().join("runs").join(&run),
        ["--allow-decisions", "--as", "raymond"],
    );
    let mut arguments = vec![folder.as_path()];
    arguments.extend(named.iter().map(Path::new));
    let served = Served::start(&needs::prose()?, &arguments);
    let mut viewer = Viewer::served(&served.address)?;
    viewer.wait_page("Trace");
    Some((project, run, served, viewer))
}

/// Somebody else has decided while the page did not follow the run. The page says that nothing was recorded.
#[test]
fn a_decision_that_is_refused_says_so() {
    let Some((project, run, _served, mut viewer)) = deciding() else {
        return;
    };
    viewer.wait_main("Ship-it?");
    viewer.key("w");
    viewer.wait_text("Paused");
    viewer.key("a");
    viewer.wait("document.querySelector('dialog.sheet .fields')");
    project.prose(
        &format!("reject {run} deploy --reason early --as raymond"),
        "",
    );
    viewer.click_text("dialog.sheet button", "Approve now");
    viewer.wait_text("Nothing was recorded");
    let says = viewer.text();
    assert!(!says.contains("This cannot be shown"), "{says}");
    viewer.key("Escape");
    // The page's own keys count only when the sheet is gone.
    viewer.wait("!document.querySelector('dialog.sheet')");
    viewer.key("w");
    viewer.wait("!document.querySelector('.band .question')");
}

#[test]
fn where_the_server_lets_it_the_page_decides_in_the_run() {
    let Some((project, _, _served, mut viewer)) = deciding() else {
        return;
    };
    viewer.wait_main("Ship-it?");
    viewer.key("a");
    viewer.wait("document.querySelector('dialog.sheet .fields')");
    // The name that decides was fixed when the server started, so its field is disabled.
    let name = viewer
        .eval("(e => [e.value, e.disabled])(document.querySelector('dialog.sheet .fields input'))");
    assert_eq!(name, serde_json::json!(["raymond", true]));
    let says = viewer.eval("document.querySelector('dialog.sheet').innerText");
    let says = says.as_str().unwrap().to_owned();
    assert!(
        says.contains("Ship-it?") && says.contains("raymond"),
        "{says}"
    );
    // The focus is where a comment is typed, and Enter approves.
    viewer.wait("document.activeElement.matches('dialog.sheet .fields input:enabled')");
    viewer.type_text("fine");
    viewer.key("Enter");
    viewer.wait_text("Approved and recorded as decided by raymond.");
    // The page has read the run again, and still says what was recorded.
    viewer.wait("!document.querySelector('.band .question')");
    let says = viewer.eval("document.querySelector('dialog.sheet').innerText");
    let says = says.as_str().unwrap();
    assert!(
        says.contains("Approved and recorded as decided by raymond."),
        "{says}"
    );
    assert!(!says.contains("no longer waits"), "{says}");
    let gates = project.prose("gates --all --json", "");
    assert!(
        gates.contains("approved") && gates.contains("fine"),
        "{gates}"
    );
    viewer.assert_no_errors();
}

#[test]
fn elsewhere_the_page_shows_the_command_that_decides() {
    let (Some((project, run)), Some(mut viewer)) = (waiting(), Viewer::from_disk()) else {
        return;
    };
    let folder = project.runs().join("runs").join(&run);
    viewer.drop_run(&[&folder]);
    viewer.click_text(".acts button", "Reject…");
    viewer.wait_text("This page records nothing.");
    viewer.wait("document.activeElement.innerText.includes('Copy command')");
    assert!(
        viewer.eval("document.querySelector('dialog.sheet .fields') === null")
            == serde_json::json!(true)
    );
    let command = viewer.eval("document.querySelector('dialog.sheet .command code').innerText");
    let command = command.as_str().unwrap().to_owned();
    assert_eq!(
        command,
        format!("prosescope reject {run} deploy --reason TEXT --as NAME")
    );
    let pending = project.prose("gates --json", "");
    assert!(
        pending.contains("pending"),
        "nothing is recorded before: {pending}"
    );
    let command = command.replace("TEXT", "early").replace("NAME", "raymond");
    project.prose(command.trim_start_matches("prosescope "), "");
    let gates = project.prose("gates --json --all", "");
    assert!(
        gates.contains("rejected") && gates.contains("early"),
        "{gates}"
    );
    viewer.assert_quiet();
}
