//! Tests that the texts of rows and annotations are matched with the right statements of a program.

use std::collections::BTreeMap;

use proptest::prelude::*;
use prosescope_core::program::{Listing, Statement, Tie, classify, scan};

use crate::piece;
use crate::sources::{Program, ours, real};

/// A shortened text with at least this many characters is always matched.
const LONG_ENOUGH: usize = 24;

/// Returns a text in the form used for comparison: without its colon, and with single blanks.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ").to_lowercase();
    text.trim_end_matches([':', ' ']).to_owned()
}

/// Checks that a match reported as certain is the statement itself, or a statement with the same text.
fn honest(listing: &Listing, of: usize, text: &str, tie: Option<Tie>) -> Result<(), TestCaseError> {
    let Some(tie) = tie.filter(|tie| !tie.guessed) else {
        return Ok(());
    };
    let own = &listing.statements[of];
    let found = &listing.statements[tie.statement as usize];
    let right = tie.statement as usize == of || plain(&found.text) == plain(&own.text);
    prop_assert!(
        right,
        "{text:?} of line {} is surely line {} ({:?}: {:?})",
        own.line,
        found.line,
        tie.by,
        found.text
    );
    Ok(())
}

/// Checks that every statement is matched correctly by its own text and by all usual rewordings.
fn all_are_honest(listing: &Listing) -> Result<(), TestCaseError> {
    for (of, statement) in listing.statements.iter().enumerate() {
        let text = &statement.text;
        let tie = listing.tie(text, None);
        honest(listing, of, text, tie)?;
        let found = tie.map(|tie| &listing.statements[tie.statement as usize].text);
        prop_assert_eq!(
            found.map(|found| plain(found)),
            Some(plain(text)),
            "line {}",
            statement.line
        );
        for row in reworded(statement) {
            honest(listing, of, &row, listing.tie(&row, None))?;
        }
        let signs: Vec<char> = text.chars().collect();
        let step = (signs.len() / 8).max(1);
        for length in (1..signs.len()).step_by(step) {
            let cut: String = signs[..length].iter().collect();
            for end in ["", "…", "...\""] {
                let row = format!("{cut}{end}");
                let tie = listing.tie(&row, None);
                honest(listing, of, &row, tie)?;
                if length >= LONG_ENOUGH {
                    let hit = tie.is_some_and(|t| t.guessed || t.statement as usize == of);
                    prop_assert!(hit, "{row:?} of line {}: {tie:?}", statement.line);
                }
            }
        }
    }
    Ok(())
}

/// Returns the usual rewordings of a statement's text in rows, without shortened ones.
fn reworded(statement: &Statement) -> Vec<String> {
    let text = &statement.text;
    let mut rows = vec![
        format!("  {}  # --> bindings/x.md", text.replace(' ', "  ")),
        text.trim_end_matches(':').to_owned(),
        format!("{text}\n  prompt: \"Something else\""),
    ];
    if let Some((left, right)) = text.split_once(" = ") {
        rows.push(right.to_owned());
        rows.push(left.to_owned());
        let word = right.split([' ', ':', '(']).next().unwrap_or_default();
        rows.push(format!("{left} = {word}"));
    }
    rows.extend(statement.name.clone());
    rows.extend(statement.target.clone());
    rows
}

#[test]
fn no_certain_tie_to_a_program_is_wrong() {
    are_honest(&ours());
}

#[test]
fn no_certain_tie_to_a_real_program_is_wrong() {
    if let Some(programs) = real() {
        are_honest(&programs);
    }
}

fn are_honest(programs: &[Program]) {
    for (file, text) in programs {
        let listing = scan(text);
        all_are_honest(&listing).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    }
}

/// Most matches with programs must be certain, because a matcher that only guesses would be useless.
#[test]
fn most_ties_to_programs_are_certain() {
    mostly_certain(&ours());
}

#[test]
fn most_ties_to_real_programs_are_certain() {
    if let Some(programs) = real() {
        mostly_certain(&programs);
    }
}

fn mostly_certain(programs: &[Program]) {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut count = |what, tie: Option<Tie>, right: u32| {
        let counted: &mut (usize, usize) = counts.entry(what).or_default();
        counted.0 += usize::from(tie.is_some_and(|t| !t.guessed && t.statement == right));
        counted.1 += 1;
    };
    for (_, text) in programs {
        let listing = scan(text);
        let mut ties = listing.ties();
        let rows = (0_i64..).zip(&listing.statements);
        ties.learn(rows.map(|(at, s)| (s.text.as_str(), Some(at))));
        for (at, statement) in (0_u32..).zip(&listing.statements) {
            let own = listing.own_text(at);
            count("the text alone", listing.tie(&statement.text, None), at);
            count("text and properties", listing.tie(&own, None), at);
            let indexed = ties.tie(&statement.text, Some(i64::from(at)));
            count("text and index", indexed, at);
        }
    }
    for (what, (sure, all)) in &counts {
        println!("{sure} of {all} by {what}");
    }
    let share = |what: &str| counts.get(what).map(|(sure, all)| sure * 100 / all);
    assert!(share("the text alone") >= Some(60));
    assert!(share("text and properties") >= Some(90));
    assert!(share("text and index") >= Some(99));
}

/// Checks that every statement of every program is found by its own text and its line.
#[test]
fn statements_of_programs_are_found_by_their_text() {
    found_by_text(&ours());
}

#[test]
fn statements_of_real_programs_are_found_by_their_text() {
    if let Some(programs) = real() {
        found_by_text(&programs);
    }
}

fn found_by_text(programs: &[Program]) {
    for (file, text) in programs {
        let listing = scan(text);
        let mut ties = listing.ties();
        for statement in &listing.statements {
            let place = format!("{}:{}", file.display(), statement.line);
            let tie = ties.tie(&statement.text, Some(i64::from(statement.line)));
            let tie = tie.unwrap_or_else(|| panic!("{place}: {}", statement.text));
            let found = &listing.statements[tie.statement as usize];
            assert_eq!(plain(&found.text), plain(&statement.text), "{place}");
        }
    }
}

/// Checks that most trace lines of state files are matched with statements of their program, in the program's order.
#[test]
fn state_files_tie_to_their_program() {
    state_files_tie(&ours());
}

#[test]
fn real_state_files_tie_to_their_program() {
    if let Some(programs) = real() {
        state_files_tie(&programs);
    }
}

fn state_files_tie(programs: &[Program]) {
    let (mut tied, mut all) = (0, 0);
    for (file, text) in programs {
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

/// Generates similar lines: one name or text is the beginning of another, the same text occurs with and without a name,
/// in another case, or at another level.
fn alike() -> impl Strategy<Value = String> {
    let name = || {
        prop::sample::select(vec![
            "a", "ab", "abc", "session", "a-b", "writer", "writer_2",
        ])
    };
    let text = || {
        prop::sample::select(vec![
            "x", "xy", "x y", "X y", "x y z", "x...", "x {a}", "x {a} z", "", "# x", "do it",
            "x\\\"y",
        ])
    };
    let condition = || prop::sample::select(vec!["it is", "it is good", "it is...", "x"]);
    let session = (name(), text(), 0..6).prop_map(|(name, text, form)| match form {
        0 => format!("session \"{text}\""),
        1 => format!("session: {name}"),
        2 => format!("resume: {name}"),
        3 => format!("do {name}({text:?})"),
        4 => format!("do {name}"),
        _ => format!("exec \"{text}\""),
    });
    let action = prop_oneof![
        4 => session.clone(),
        1 => (session.clone(), session.clone()).prop_map(|(a, b)| format!("{a} -> {b}")),
        1 => (session, 1..4).prop_map(|(a, n)| format!("{a} (retry: {n})")),
    ];
    let bind = prop::sample::select(vec!["let ", "", "output ", "const "]);
    let head = prop_oneof![
        (name(), prop::bool::ANY).prop_map(|(name, block)| if block {
            format!("block {name}(x):")
        } else {
            format!("agent {name}:")
        }),
        (condition(), 0..5).prop_map(|(condition, form)| match form {
            0 => format!("if **{condition}**:"),
            1 => format!("loop until **{condition}**:"),
            2 => format!("loop until **{condition}** (max: 3):"),
            3 => format!("gate **{condition}**:"),
            _ => format!("elif **{condition}**:"),
        }),
        prop::sample::select(vec![
            "parallel:",
            "parallel (\"first\"):",
            "try:",
            "catch:",
            "loop:",
            "else:"
        ])
        .prop_map(str::to_owned),
    ];
    let line = prop_oneof![
        3 => action.clone(),
        3 => (bind, name(), action).prop_map(|(bind, name, action)| format!("{bind}{name} = {action}")),
        1 => name().prop_map(|name| format!("let {name} = []")),
        1 => (name(), text()).prop_map(|(name, text)| format!("input {name}: \"{text}\"")),
        1 => (text()).prop_map(|text| format!("  prompt: \"{text}\"")),
        3 => head,
        1 => prop::sample::select(vec!["# a comment", "", "throw", "break"]).prop_map(str::to_owned),
    ];
    (0..3_usize, line).prop_map(|(depth, line)| format!("{}{line}\n", "  ".repeat(depth)))
}

/// Returns the numbers that a run may give to statements: by lines, by statements, by executed statements, or by outer
/// statements.
fn counted(listing: &Listing, how: usize, from: i64) -> Vec<Option<i64>> {
    let mut next = from;
    let number = |s: &Statement| {
        let counts = match how {
            0 => return Some(i64::from(s.line) - 1 + from),
            1 => true,
            2 => !s.kind.is_declaration(),
            3 => s.depth == 0,
            _ => s.depth == 0 && !s.kind.is_declaration(),
        };
        counts.then(|| {
            next += 1;
            next - 1
        })
    };
    listing.statements.iter().map(number).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_certain_tie_to_a_program_of_likenesses_is_wrong(lines in prop::collection::vec(alike(), 1..25)) {
        all_are_honest(&scan(&lines.concat()))?;
    }

    /// Whatever numbering a run uses, a match reported as certain is never wrong: not for the full text, a part of it,
    /// or the text without the bound name.
    #[test]
    fn no_index_makes_a_certain_tie_wrong(
        lines in prop::collection::vec(alike(), 1..25),
        how in 0..5_usize,
        from in prop::sample::select(vec![0_i64, 1]),
        part in 3..40_usize,
    ) {
        let listing = scan(&lines.concat());
        let from = if how == 0 { 1 } else { from };
        let indices = counted(&listing, how, from);
        let rows: Vec<(&str, Option<i64>)> = listing
            .statements
            .iter()
            .zip(&indices)
            .map(|(s, index)| (s.text.as_str(), *index))
            .collect();
        let mut ties = listing.ties();
        ties.learn(rows.iter().copied());
        for (of, (text, index)) in rows.iter().enumerate() {
            // A statement without a number is skipped, because its row has the number of the enclosing construct.
            let Some(index) = *index else { continue };
            honest(&listing, of, text, ties.tie(text, Some(index)))?;
            let cut: String = text.chars().take(part).collect();
            for row in [cut.clone(), format!("{cut}…"), format!("{cut}...\"")] {
                honest(&listing, of, &row, ties.tie(&row, Some(index)))?;
            }
            let right = text.split_once(" = ").map_or(*text, |(_, right)| right);
            honest(&listing, of, right, ties.tie(right, Some(index)))?;
        }
    }
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
