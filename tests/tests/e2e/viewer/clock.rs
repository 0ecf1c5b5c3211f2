//! Tests that time passes on the page: ages, deadlines and the bars of running rows do not stand still.

use std::time::Duration;

use prosescope_tests::needs;
use rusqlite::Connection;

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

/// Opens a project with two runs, so that the page begins with the list. The second run waits at gate `deploy`, which
/// has a deadline in an hour, and at these gates, each with a deadline an hour later than the one before.
fn waiting(more: &[&str]) -> Option<(Project, Viewer)> {
    let project = Project::new(&needs::prose()?);
    let mut viewer = Viewer::from_disk()?;
    project.init();
    let run = project.init();
    project.prose(
        "gate create deploy --prompt Ship-it? --allow raymond --timeout 1h --on-reject stop --override",
        "",
    );
    // `prosescope` records one gate at a time outside of parallel branches; models that write SQL record several.
    let db = Connection::open(project.runs().join(format!("runs/{run}/state.db"))).unwrap();
    for (gate, hours) in more.iter().zip(1..) {
        db.execute(
            "INSERT INTO gates (id, run_id, prompt, allow, timeout_at)
             SELECT ?1, run_id, prompt, allow, datetime(timeout_at, ?2) FROM gates WHERE id = 'deploy'",
            (gate, format!("+{hours} hours")),
        )
        .unwrap();
    }
    drop(db);
    viewer.drop_files(&[&project.runs()]);
    viewer.wait_text("Gate deploy waits for raymond until");
    Some((project, viewer))
}

#[test]
fn a_deadline_that_passes_changes_the_band_the_sheet_and_the_list() {
    let Some((_project, mut viewer)) = waiting(&[]) else {
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
    let Some((_project, mut viewer)) = waiting(&["release", "announce"]) else {
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
