//! Tests that time passes on the page: ages, deadlines and the bars of running rows do not stand still.

use std::time::Duration;

use prosescope_tests::needs;

use super::Viewer;
use super::live::Project;
use super::opening::Served;

const HOUR: Duration = Duration::from_secs(3_600);

/// Serves the runs of a project.
fn serve(project: &Project) -> Option<(Served, Viewer)> {
    let served = Served::start(&needs::prose()?, &[&project.runs()]);
    let viewer = Viewer::served(&served.address)?;
    Some((served, viewer))
}

/// Opens a project with two runs, so that the page begins with the list. The second run waits at these gates, each with
/// the time until its deadline.
fn gates(gates: &[(&str, &str)]) -> Option<(Project, Viewer)> {
    let project = Project::new(&needs::prose()?);
    let mut viewer = Viewer::from_disk()?;
    project.init();
    project.init();
    for (gate, timeout) in gates {
        project.prose(
            &format!("gate create {gate} --prompt Ship-it? --allow raymond --timeout {timeout} --on-reject stop --override"),
            "",
        );
    }
    viewer.drop_files(&[&project.runs()]);
    viewer.wait_text(&format!("Gate {} waits for raymond until", gates[0].0));
    Some((project, viewer))
}

#[test]
fn a_deadline_that_passes_changes_the_band_the_sheet_and_the_list() {
    let Some((_project, mut viewer)) = gates(&[("deploy", "1h")]) else {
        return;
    };
    viewer.click_text(".run-rows .row", "deploy");
    viewer.wait_text("expires in");
    viewer.key("a");
    viewer.wait_text("This page records nothing.");
    viewer.pass(HOUR);
    viewer.wait("document.querySelector('dialog.sheet .late')");
    let says = viewer.eval("document.querySelector('dialog.sheet').innerText");
    let says = says.as_str().unwrap().to_owned();
    assert!(says.contains("It is too late to decide."), "{says}");
    assert!(says.contains("This command records the time-out"), "{says}");
    viewer.key("Escape");
    viewer.wait("document.querySelector('.band h1').innerText.includes('The deadline of gate deploy passed')");
    viewer.wait_text("Record the time-out…");
    viewer.eval("location.hash = '#/'");
    viewer.wait_text("The deadline of gate deploy passed on");
    viewer.assert_no_errors();
}

/// The list and the page of gates are open while deadlines pass, one after the other.
#[test]
fn what_is_open_changes_with_each_deadline() {
    let gates = gates(&[("deploy", "1h"), ("release", "2h"), ("announce", "3h")]);
    let Some((_project, mut viewer)) = gates else {
        return;
    };
    viewer.pass(HOUR);
    viewer.wait_text("The deadline of gate deploy passed on");
    viewer.click_text(".run-rows .row", "deploy");
    viewer.open_page("Gates");
    let late = "[...document.querySelectorAll('.gate-rows .row')].filter(row => row.innerText.includes('overdue')).length";
    for passed in 1..=3 {
        viewer.wait(&format!("{late} === {passed}"));
        viewer.pass(HOUR);
    }
    viewer.assert_no_errors();
}

#[test]
fn a_running_row_is_open_and_its_time_grows() {
    let (Some(prose), Some(_)) = (needs::prose(), needs::viewer()) else {
        return;
    };
    let project = Project::new(&prose);
    project.init();
    project.prose("begin 1", "");
    let Some((_served, mut viewer)) = serve(&project) else {
        return;
    };
    viewer.wait_page("Trace");
    viewer
        .wait("document.querySelector('.trace-rows .row.selected').innerText.includes('Find it')");
    viewer.wait_text("What to do if it hangs…");
    assert!(!viewer.text().contains("Go on from"), "{}", viewer.text());
    let took = "parseInt(document.querySelector('.trace-rows .row.selected .took').innerText)";
    viewer.wait(&format!("{took} >= 1"));
    let before = viewer.eval(took).as_i64().unwrap();
    viewer.wait(&format!("{took} > {before}"));
    let width = viewer
        .eval("document.querySelector('.row.selected .stretch').getBoundingClientRect().width");
    assert!(
        width.as_f64().unwrap() > 50.0,
        "the bar has a width: {width}"
    );
    viewer.wait_text("last sign of life 5s ago");
    viewer.assert_no_errors();
}
