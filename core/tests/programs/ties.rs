//! Texts of rows and annotations, tied to programs.

use proptest::prelude::*;
use prosescope_core::program::{classify, scan};

use crate::corpus::corpus;
use crate::piece;

/// Every statement of every program is found by its own text, and by half of it or the statement is one of
/// those that begin so.
#[test]
fn statements_of_real_programs_are_found_by_their_text() {
    let Some(corpus) = corpus() else { return };
    for (file, text) in &corpus {
        let listing = scan(text);
        let mut ties = listing.ties();
        for (at, statement) in listing.statements.iter().enumerate() {
            let place = format!("{}:{}", file.display(), statement.line);
            let tie = ties.tie(&statement.text, Some(i64::from(statement.line)));
            let tie = tie.unwrap_or_else(|| panic!("{place}: {}", statement.text));
            let found = &listing.statements[tie.statement as usize];
            let same = |a: &str, b: &str| {
                a.split_whitespace().eq(b.split_whitespace()) || a.trim_end_matches(':') == b
            };
            assert!(
                tie.statement as usize == at
                    || same(&found.text, &statement.text)
                    || found.text.to_lowercase() == statement.text.to_lowercase(),
                "{place}: {} tied to {}",
                statement.text,
                found.text
            );
        }
    }
}

/// The trace lines of real state files lie in their program, in its order.
#[test]
fn real_state_files_tie_to_their_program() {
    let Some(corpus) = corpus() else { return };
    let (mut tied, mut all) = (0, 0);
    for (file, text) in &corpus {
        let Ok(state) = std::fs::read_to_string(file.with_file_name("state.md")) else {
            continue;
        };
        let Some((_, trace)) = state.split_once("```prose\n") else {
            continue;
        };
        let trace = scan(trace.split("```").next().unwrap());
        let listing = scan(text);
        let mut ties = listing.ties();
        let mut after = None;
        for statement in &trace.statements {
            let tie = ties.tie_after(&statement.text, after);
            all += 1;
            match tie {
                Some(tie) => {
                    tied += 1;
                    let found = &listing.statements[tie.statement as usize];
                    assert_eq!(found.kind, statement.kind, "{}", statement.text);
                    assert_eq!(found.name, statement.name, "{}", statement.text);
                    after = Some(tie.statement);
                }
                None => println!("{}: {}", file.display(), statement.text),
            }
        }
    }
    println!("{tied} of {all} lines");
    assert!(all > 20 && tied * 10 >= all * 9, "{tied} of {all}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_row_ties_within_the_program(
        program in prop::collection::vec(piece(), 0..40),
        rows in prop::collection::vec((prop::collection::vec(piece(), 0..6), any::<Option<i16>>()), 0..6),
    ) {
        let listing = scan(&program.concat());
        let rows: Vec<_> = rows
            .into_iter()
            .map(|(text, index)| (text.concat(), index.map(i64::from)))
            .collect();
        let mut ties = listing.ties();
        ties.learn(rows.iter().map(|(text, index)| (text.as_str(), *index)));
        for (text, index) in &rows {
            classify(text);
            for tie in [
                listing.tie(text, *index),
                ties.tie(text, *index),
                ties.tie_after(text, Some(0)),
            ] {
                prop_assert!(tie.is_none_or(|tie| listing.get(tie.statement).is_some()));
            }
        }
    }
}
