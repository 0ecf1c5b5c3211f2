//! Tests of the example runs: interrupted, waiting, failed in a loop in a recursive block, completed.

use prosescope_core::pages::session::pages;
use std::path::Path;

use prosescope_core::pages::resume::steps;
use prosescope_core::pages::view::ResumeView;

use crate::make::{NOW, files, folder, told};

fn example(id: &str) -> ResumeView {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/.prose/runs");
    let mut found = Vec::new();
    let dir = std::fs::read_dir(&runs)
        .unwrap()
        .flatten()
        .find(|e| e.file_name().to_string_lossy().starts_with(id))
        .unwrap();
    folder(&dir.path(), "", &mut found);
    pages::resume(&files(found), Some(NOW))
}

#[track_caller]
fn says(view: &ResumeView, lines: &[&str]) {
    let told = told(view);
    for line in lines {
        assert!(told.lines().any(|l| l == *line), "{line}\n---\n{told}");
    }
}

#[test]
fn a_completed_run_needs_nothing() {
    let view = example("20260112");
    assert_eq!(told(&view), "Completed: nothing to resume\n");
    assert!(!view.resumable && view.steps.is_empty());
}

#[test]
fn the_failed_loop_in_a_recursive_block_begins_again_in_its_own_frame() {
    let view = example("20260118");
    says(
        &view,
        &[
            "Failed; the run can begin again at line 38",
            "failed 38 in #19 next 38",
            // The frame sees its own draft and findings, the outermost frame's list of pieces, and the root's glossary.
            "there draft #19 @40",
            "there findings #19 @40",
            "there pieces #2 @28",
            "there glossary root @33",
            "memory terminologist execution there @35",
        ],
    );
    assert_eq!(
        view.positions[0].frame_path,
        "do translate(manual) #2 › do translate(piece) #12 › do translate(piece) #19"
    );
    // The middle frame runs its last piece, so its loop has no further rounds.
    assert!(
        !view
            .ahead
            .iter()
            .any(|a| a.line == 29 && a.frame == Some(12))
    );
    assert!(
        view.ahead
            .iter()
            .any(|a| a.line == 29 && a.frame == Some(2))
    );
    // In called blocks, the constant of the chapter hides the constant of the run.
    assert!(
        view.needs
            .iter()
            .any(|n| n.name == "style" && n.from == Some(2))
    );
    assert_eq!(
        view.needs[0].command,
        "prosescope get draft --run 20260118-201530-z4t9wa --from 19"
    );
    let last = view.steps.last().unwrap();
    assert!(last.text.starts_with("Begin again at line 38 in frame 19"));
}

#[test]
fn the_waiting_gate_says_what_each_outcome_means() {
    let view = example("20260125");
    says(
        &view,
        &[
            "Waits for a decision on gate production_deploy",
            "gate 44 in root next 44",
            "ahead 44! 50 53",
            "there staging root @45,51",
            "  + goes on at line 50, `session \"Deploy to production, ten per cent of the carts at …`",
            "  - the run ends with “Deployment cancelled”",
            "  t counts as a rejection by `system`: the run ends with “Deployment cancelled”",
        ],
    );
    assert_eq!(view.steps[0].commands.len(), 2);
    assert!(view.cautions.is_empty(), "a gate may be asked for again");
}

#[test]
fn the_interrupted_folder_stands_in_its_innermost_frame() {
    let view = example("20260115");
    says(
        &view,
        &[
            "Stands at line 32",
            "open 32 in #3 next 32",
            // Frame 1 called frame 3 in a loop; the round is unknown, so another may follow.
            "ahead 32! 35 36? 39? 40? 39* 40* 51 53 54 56 60 32^ 35^ 36^ 39^ 40^ 32^ 35^ 36^ 39^ 40^ 32^ 35^ 36^ 39^ 40^",
            "there option #3 @34",
            "there variants #1 @39",
            "there facts root @34",
            "memory adviser execution there @54,60",
        ],
    );
    let value = view
        .needs
        .iter()
        .find(|n| n.name == "load_profile")
        .unwrap();
    // The reported length is that of the attachment, not that of its summary.
    assert!(value.len.unwrap() > 30_000);
    assert!(value.preview.chars().count() <= 81);
    assert_eq!(steps(&view), view.steps);
}
