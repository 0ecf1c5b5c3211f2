//! Tests that trace, program page, resume, state and show agree about a run: its status, its positions, its statements
//! that finished, failed, are open or come next, and the counts.
//!
//! The runs come from the golden files of this repository and of the project, the examples, runs in the style of real
//! runs, random runs, and the project's corpus. Files of the project are used if they are present.
#![allow(clippy::disallowed_methods)] // a test makes the databases that it reads

#[path = "../dump/forms.rs"]
#[expect(dead_code, reason = "no run is compared with what happened in it")]
mod forms;
mod known;
#[path = "../trace/make.rs"]
#[expect(dead_code, reason = "no run here is only rows that run")]
mod make;
mod pages;
mod runs;
#[path = "../dump/simulate.rs"]
mod simulate;
#[path = "../dump/story.rs"]
mod story;
mod views;

/// Replaces the module `text` of the dump tests, whose generators return a `Dumped`. In this test program, a `Dumped`
/// is an opened run, whose pages are compared.
mod text {
    pub(crate) use crate::runs::Opened as Dumped;
}

use std::fmt::Write as _;

use prosescope_test_support::needs;

use runs::Opened;

/// Reports all runs whose pages disagree, in one failure.
#[track_caller]
fn check(at_least: usize, runs: &[Opened]) {
    assert!(runs.len() >= at_least, "{} runs", runs.len());
    let mut wrong = String::new();
    for run in runs {
        views::assert_each_key_once(&run.session);
        let told = known::without(&run.name, pages::disagreements(&run.session));
        for told in told {
            let _ = writeln!(wrong, "{}: {told}", run.name);
        }
    }
    assert!(wrong.is_empty(), "pages that disagree:\n{wrong}");
}

#[test]
fn pages_agree_about_golden_rows() {
    let ours = [
        include_str!("../fixtures/trace.json"),
        include_str!("../fixtures/trace-more.json"),
    ];
    let runs: Vec<Opened> = ours.iter().flat_map(|text| runs::of_rows(text)).collect();
    check(88, &runs);
}

#[test]
fn pages_agree_about_habits_of_real_runs() {
    let ours = [
        include_str!("../fixtures/real.json"),
        include_str!("../fixtures/real-more.json"),
    ];
    let runs: Vec<Opened> = ours.iter().flat_map(|text| runs::of_files(text)).collect();
    check(34, &runs);
}

#[test]
fn pages_agree_about_golden_files_of_the_project() {
    let Some(dir) = needs::shared("golden") else {
        return;
    };
    let text = |name: &str| std::fs::read_to_string(dir.join(name)).expect("a golden file");
    let rows = runs::of_rows(&text("trace.json"));
    check(26, &[rows, runs::of_files(&text("real.json"))].concat());
}

#[test]
fn pages_agree_about_examples_and_fixtures() {
    let examples = runs::below(&needs::root().join("examples"));
    let fixtures = runs::below(&needs::fixtures("runs"));
    check(17, &[examples, fixtures].concat());
}

#[test]
fn pages_agree_about_runs_of_every_form_that_the_damage_generator_begins_with() {
    check(10, &runs::of_cases(prosescope_damage::healthy()));
}

#[test]
fn pages_agree_about_runs_that_are_told_by_chance() {
    check(120, &forms::rows());
    check(100, &forms::logs());
    check(60, &forms::states());
}

#[test]
fn pages_agree_about_the_corpus() {
    let Some(dir) = needs::shared("corpus/runs") else {
        return;
    };
    check(10, &runs::below(&dir));
}
