//! Dumps the interpretation of every available run as compact text. The dumps are stored in `fixtures/dump`, so that a
//! change of the interpretation shows as a difference there. They contain ids, kinds, statuses, matched lines,
//! positions and rules, but no sentences, which change for other reasons.
//!
//! One line is one node: its level as indentation, the id of its first row or `-` with its text, its kind, its status,
//! its line in the program (`?` marks a guess) with the evidence for the line, attempts or rounds with their limit, and
//! marks: `stands`, `cause`, `because`, `recovered`, `inferred`, `derived`.
//!
//! `PROSE_WRITE_DOCS=1` writes the files anew; read the difference before you commit it. Dumps of the project's corpus
//! are not in the repository; they are written below `target/`, where two versions can be compared.

mod count;
mod forms;
mod kept;
#[path = "../trace/make.rs"]
#[expect(dead_code, reason = "no run here is only rows that run")]
mod make;
mod runs;
mod simulate;
mod story;
mod text;
mod truth;

use std::fs;
use std::path::PathBuf;

use prosescope_test_support::needs;

#[test]
fn rows_of_golden_cases() {
    kept::check("rows", &runs::golden_rows());
}

#[test]
fn habits_of_real_runs() {
    kept::check("real", &runs::habits());
}

#[test]
fn examples_and_fixtures() {
    let examples = runs::below(&needs::root().join("examples"), "examples");
    let fixtures = runs::below(&needs::fixtures("runs"), "fixtures");
    kept::check("examples", &[examples, fixtures].concat());
}

#[test]
fn seeds_of_the_fuzzer() {
    kept::check("fuzz", &runs::fuzz_seeds());
}

#[test]
fn runs_that_are_damaged() {
    kept::check("healthy", &runs::of_cases(prosescope_damage::healthy()));
    kept::check("by_hand", &runs::of_cases(prosescope_damage::by_hand()));
    kept::check("damaged", &runs::of_cases(prosescope_damage::folders()));
}

#[test]
fn runs_that_are_told_by_chance() {
    kept::check("told_rows", &forms::rows());
    kept::check("told_logs", &forms::logs());
    kept::check("told_states", &forms::states());
}

#[test]
fn the_corpus() {
    let Some(dir) = needs::shared("corpus/runs") else {
        return;
    };
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("corpus.dump.txt");
    let text = text::joined(&runs::below(&dir, "corpus"));
    fs::write(&path, text).expect("the dump can be written");
    println!("the corpus as it is understood: {}", path.display());
}

/// Prints how much of the corpus is known: `cargo test -p prosescope-core --test dump -- --ignored --nocapture`.
#[test]
#[ignore = "prints a count for a person"]
fn how_much_of_the_corpus_is_known() {
    let Some(dir) = needs::shared("corpus/runs") else {
        return;
    };
    println!("{}", count::of(&runs::sessions_below(&dir)));
}
