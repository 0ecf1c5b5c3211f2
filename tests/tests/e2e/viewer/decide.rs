//! Tests decisions on a gate that waits: in the run itself if the page's server allows decisions, or as a file to
//! import.

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

#[test]
fn where_the_server_lets_it_the_page_decides_in_the_run() {
    let Some((project, run)) = waiting() else {
        return;
    };
    let prose = needs::prose().unwrap();
    let (folder, named) = (
        project.runs().join("runs").join(&run),
        ["--allow-decisions", "--as", "raymond"],
    );
    let mut arguments = vec![folder.as_path()];
    arguments.extend(named.iter().map(Path::new));
    let served = Served::start(&prose, &arguments);
    let Some(mut viewer) = Viewer::served(&served.address) else {
        return;
    };
    viewer.wait_page("Trace");
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
    viewer.click_text("dialog.sheet button", "Approve now");
    viewer.wait_text("Approved and recorded as decided by raymond.");
    let gates = project.prose("gates --all --json", "");
    assert!(
        gates.contains(r#""status": "approved""#) || gates.contains(r#""status":"approved""#),
        "{gates}"
    );
    viewer.assert_no_errors();
}

#[test]
fn elsewhere_a_decision_is_a_file_that_is_imported() {
    let (Some((project, run)), Some(mut viewer)) = (waiting(), Viewer::from_disk()) else {
        return;
    };
    let folder = project.runs().join("runs").join(&run);
    viewer.drop_run(&[&folder]);
    // With a mouse: Reject…, the name, the reason, the button, and the file.
    viewer.click_text(".acts button", "Reject…");
    viewer.wait("document.querySelector('dialog.sheet .fields input')");
    viewer.click(".fields label:nth-child(1) input");
    viewer.type_text("raymond");
    viewer.click(".fields label:nth-child(2) input");
    viewer.type_text("too early");
    viewer.click_text("dialog.sheet button", "Reject:");
    viewer.wait_text("Not recorded yet.");
    let commands = viewer.eval("document.querySelector('.made').innerText");
    let commands = commands.as_str().unwrap().to_owned();
    assert!(
        commands.contains("prosescope reject") && commands.contains("prosescope gate import"),
        "{commands}"
    );
    viewer.click_text(".made button", "Save");
    let file = viewer.downloaded("deploy.decision.json");
    let pending = project.prose("gates --json", "");
    assert!(
        pending.contains("pending"),
        "nothing is recorded before: {pending}"
    );
    project.prose(&format!("gate import {} {run}", file.display()), "");
    let gates = project.prose("gates --json --all", "");
    assert!(
        gates.contains("rejected") && gates.contains("too early"),
        "{gates}"
    );
    viewer.assert_quiet();
}
