use super::*;
use crate::program::scan;

const PROGRAM: &str = r#"# A program
agent captain:
  model: opus
agent writer:

input topic: "What to write on"

let research = session: writer
  prompt: "Research AI safety"

parallel ("first"):
  a = session "Analyze risk A"
  b = session "Analyze risk B of {topic}"

loop until **the draft is good** (max: 3):
  draft = session: writer
    prompt: "Write"
  draft = session: writer
    prompt: "Improve"
  resume: captain
    prompt: "Review the draft"

block process(data, depth):
  session "Process chunk"
  let rest = do process(half, depth - 1)
  do process_all(data)

do process(topic, 3)
try:
  session "Risky operation"
catch as err:
  session "Analyze the failure of {topic} in depth"

approve production_deploy:
  prompt: "Go?"

session "Report"
session "Report"
"#;

/// Returns the line of the tied statement, negative for a guess; 0 without a tie.
fn line(listing: &Listing, tie: Option<Tie>) -> i64 {
    tie.map_or(0, |tie| {
        let line = i64::from(listing.statements[tie.statement as usize].line);
        if tie.guessed { -line } else { line }
    })
}

#[test]
fn texts_of_rows_find_their_statement() {
    let listing = scan(PROGRAM);
    for (text, index, expected) in [
        // Texts that equal the statement except for blanks, case, quotes, comments and the colon.
        ("session \"Process chunk\"", None, 24),
        (
            "  session   \"process  chunk\"  # --> bindings/x.md",
            None,
            24,
        ),
        ("session \"\"\"Process chunk\"\"\"", None, 24),
        ("approve production_deploy:", Some(99), 34),
        ("approve production_deploy", None, 34),
        ("try:", None, 29),
        // Texts with and without the name that the statement binds.
        ("session \"Analyze risk A\"", None, 12),
        ("let a = session \"Analyze risk A\"", None, 12),
        ("do process(half, depth - 1)", None, 25),
        // Shortened texts.
        ("let research = session", None, 8),
        ("research", None, -8),
        (
            "let research = session: writer\n  prompt: \"Research AI safety\"",
            None,
            8,
        ),
        ("session \"Analyze risk", None, -12),
        ("session \"Analyze risk...\"", None, -12),
        ("session \"Risky", None, -30),
        ("session \"Proc...", None, -24),
        ("session \"Proc…\"", None, -24),
        ("session \"Proc", None, -24),
        ("loop", None, -15),
        ("loop until", None, -15),
        ("parallel:", None, -11),
        ("approve", None, -34),
        ("do process_all", None, -26),
        // Texts of branches.
        ("parallel:a", None, 12),
        ("parallel: b", None, 13),
        ("branch a", None, 12),
        ("parallel:z", None, 0),
        // Texts that refer to the same target (agent, block, program) as the statement.
        ("do process(topic, 3)", None, 28),
        ("process(topic, 3)", None, -28),
        ("resume captain", None, -20),
        ("do process", Some(25), -25),
        ("do process", Some(28), -28),
        ("do process(half)", Some(25), -25),
        // Texts in which the names in braces are filled in.
        ("session \"Analyze risk B of whales\"", None, -13),
        (
            "session \"Analyze the failure of whales in depth\"",
            None,
            -32,
        ),
        // A reworded text: sharing a few common words with a statement is not evidence.
        ("session: captain reviews the draft", None, 0),
        ("loop until the draft is good enough", None, 0),
        ("Research of AI safety", None, 0),
        ("Risky operation", None, 0),
        // A text that resembles no statement gets a line only if the row has an index, such as `Some(28)`.
        ("buy milk", None, 0),
        ("buy milk", Some(28), -28),
        ("", None, 0),
        ("", Some(11), -11),
        ("parallel:", Some(4), -11),
        ("throw \"x\"", Some(11), 0),
    ] {
        let tie = listing.tie(text, index);
        assert_eq!(line(&listing, tie), expected, "{text:?} {index:?}");
    }
}

#[test]
fn the_index_decides_between_equals_only() {
    let listing = scan(PROGRAM);
    for (text, index, expected) in [
        // The index of a single row is not certain.
        ("draft = session: writer", Some(16), -16),
        ("draft = session: writer", Some(18), -18),
        ("draft = session: writer\n  prompt: \"Improve\"", None, 18),
        ("draft = session: writer", None, -16),
        ("session \"Report\"", Some(37), -37),
        ("session \"Report\"", Some(38), -38),
        // An index that counts statements from 0.
        ("session \"Report\"", Some(21), -37),
        // Indices that contradict the text or are outside the program.
        ("session \"Report\"", Some(22), -37),
        ("session \"Report\"", Some(777), -37),
        ("session \"Report\"", Some(-1), -37),
        ("session \"Report\"", Some(i64::MIN), -37),
        ("session \"Report\"", Some(i64::MAX), -37),
        // The text takes precedence.
        ("session \"Risky operation\"", Some(8), 30),
    ] {
        let tie = listing.tie(text, index);
        assert_eq!(line(&listing, tie), expected, "{text:?} {index:?}");
    }
}

/// A tie is a guess if the text may be the beginning of a longer text, unless the run's own counting confirms the tie.
#[test]
fn a_text_that_another_begins_with_is_a_guess() {
    let listing = scan(
        "do process\ndo process_all(x)\nagent cap:\nagent captain:\nparallel:\nparallel (\"first\"):\nsession \"a\"\nlet b = session \"a\" -> session \"b\"\nlet a = session \"c\" -> do d\na = session \"e\"\nif **x**: throw \"y\"\nsession \"Wait...\"\nsession \"Wait for it\"\nlet x = session \"one\"\nsession \"one\"\n",
    );
    for (text, expected) in [
        ("do process", -1),
        ("do process_all(x)", 2),
        ("agent cap", -3),
        ("agent cap:", 3),
        ("agent capt", -4),
        ("parallel", -5),
        ("parallel:", 5),
        ("session \"a\"", -7),
        ("let a = session \"c\"", 9),
        ("let a = session", 9),
        ("a = session", 10),
        ("a = session \"reworded\"", -10),
        ("throw \"y\"", 11),
        ("session \"Wait...\"", -12),
        // Texts with and without the name that the statement binds.
        ("session \"one\"", -15),
        ("let x = session \"one\"", 14),
    ] {
        assert_eq!(line(&listing, listing.tie(text, None)), expected, "{text}");
    }
    let mut ties = listing.ties();
    ties.learn([
        ("if **x**: throw \"y\"", Some(11)),
        ("agent captain:", Some(4)),
        ("a = session \"e\"", Some(10)),
    ]);
    for (text, index, expected) in [
        ("do process", 1, 1),
        ("session \"one\"", 15, 15),
        ("session \"one\"", 14, 14),
        // The text belongs to another statement than the index, so the tie is a guess.
        ("session \"one\"", 13, -14),
        ("do process", 3, -1),
        // No statement has this text, so the statement at the index is a guess.
        ("parallel branches first", 6, -6),
    ] {
        let tie = ties.tie(text, Some(index));
        assert_eq!(line(&listing, tie), expected, "{text} {index}");
    }
}

/// A prompt of several lines is found, although the row contains it on one line.
#[test]
fn a_prompt_of_several_lines_is_found_by_its_beginning() {
    let listing = scan(
        "session \"\"\"\n  Create a plan\n  for {x}.\n\"\"\"\nsession \"\"\"\n  Review it\n\"\"\"\nsession: a\n  prompt: \"\"\"\n    Improve it\n    again\n  \"\"\"\n",
    );
    for (text, expected) in [
        ("session \"Create a plan for...\"", -1),
        ("session \"\"\"Create a plan for {x}.\"\"\"", -1),
        ("session \"\"\"\n  Create a plan\n  for {x}.\n\"\"\"", 1),
        ("session \"Review it\"", -5),
        ("session \"Improve it aga…", -8),
        ("session: a - Improve it again", -8),
        ("session \"...\"", -1),
    ] {
        assert_eq!(line(&listing, listing.tie(text, None)), expected, "{text}");
    }
}

/// If rows disagree about how they count, an index is not evidence.
#[test]
fn indices_that_are_not_steady_make_nothing_certain() {
    let listing = scan(PROGRAM);
    let mut ties = listing.ties();
    ties.learn([
        ("let research = session: writer", Some(8)),
        ("try:", Some(29)),
        ("approve production_deploy:", Some(33)),
    ]);
    let tie = ties.tie("session \"Report\"", Some(38));
    assert_eq!(line(&listing, tie), -38);
}

#[test]
fn texts_that_come_as_often_as_statements_are_in_their_order() {
    let listing = scan(PROGRAM);
    let mut ties = listing.ties();
    let text = "session \"Report\"";
    for (nth, often, after, expected) in [
        (0, 2, None, 37),
        (1, 2, None, 38),
        (0, 1, None, -37),
        (0, 1, Some(21), -38),
        (0, 3, None, -37),
    ] {
        let tie = ties.tie_nth(text, (nth, often), after);
        assert_eq!(line(&listing, tie), expected, "{nth} of {often}");
    }
}

/// OpenProse counts statements from 0 or 1, all or only those that run, or lines: rows with certain ties show which.
#[test]
fn many_rows_teach_how_they_count() {
    let listing = scan(PROGRAM);
    let sure = [
        "let research = session: writer",
        "try:",
        "approve production_deploy:",
    ];
    for (indices, report) in [
        ([8, 29, 34], [37, 38]), // lines
        ([4, 17, 21], [22, 23]), // statements from 1
        ([3, 16, 20], [21, 22]), // statements from 0
        ([2, 14, 18], [19, 20]), // without declarations, from 1
        ([1, 13, 17], [18, 19]), // the same, from 0
        ([2, 6, 8], [9, 10]),    // outer ones without declarations, from 1
        ([4, 9, 11], [12, 13]),  // outer ones, from 1
        ([3, 8, 10], [11, 12]),  // the same, from 0
    ] {
        let mut ties = listing.ties();
        ties.learn(sure.iter().copied().zip(indices.map(Some)));
        for (index, expected) in report.into_iter().zip([37, 38]) {
            let tie = ties.tie("session \"Report\"", Some(index));
            assert_eq!(line(&listing, tie), expected, "{indices:?} {index}");
        }
    }
}

#[test]
fn texts_in_the_order_of_the_program_go_on_from_the_last() {
    let listing = scan(PROGRAM);
    let mut ties = listing.ties();
    let mut after = None;
    let mut lines = Vec::new();
    for text in [
        "draft = session: writer",
        "draft = session: writer",
        "try:",
        "session \"Report\"",
        "session \"Report\"",
        "try:",
    ] {
        let tie = ties.tie_after(text, after);
        after = tie.map(|tie| tie.statement);
        lines.push(line(&listing, tie));
    }
    assert_eq!(lines, [-16, -18, 29, -37, -38, 29]);
}

#[test]
fn a_shortened_text_ends_with_a_word_if_it_can() {
    let listing = scan("note the jobs\nnote the job 1\nnote the job 2\n");
    assert_eq!(line(&listing, listing.tie("note the job", None)), -2);
    assert_eq!(line(&listing, listing.tie("note the job…", None)), -1);
}

#[test]
fn nothing_ties_to_an_empty_program() {
    for text in ["session \"x\"", "loop", "", "parallel:a"] {
        assert_eq!(scan("").tie(text, Some(1)), None);
    }
}

/// Ties 100,000 rows, all different or all equal, to 2,000 statements; this must not take quadratic time.
#[test]
fn many_rows_tie_in_no_time() {
    let source: String = (0..500)
            .map(|n| format!("session \"Work {n} on {{x}}\"\nlet v{n} = do f({n})\nresume: captain\nif **ok**:\n  throw\n"))
            .collect();
    let listing = scan(&source);
    let mut ties = listing.ties();
    for n in 0_i64..100_000 {
        let text = format!("session \"Work {} on {n}\"", n % 500);
        let tie = ties.tie(&text, Some(n)).unwrap();
        assert_eq!(i64::from(tie.statement), n % 500 * 5, "{text}");
        if n % 100 == 0 {
            assert!(ties.tie("resume: captain", Some(n)).is_some());
            assert!(
                listing
                    .tie("session \"Something else entirely\"", None)
                    .is_none()
            );
        }
    }
}

/// The text `break` alone may be a name. If the row's index agrees, the text means the statement.
#[test]
fn a_word_alone_is_sure_where_its_line_agrees() {
    let listing = scan("session \"one\"\nloop:\n  session \"two\"\n  break\n");
    let mut ties = listing.ties();
    ties.learn([
        ("session \"one\"", Some(1)),
        ("loop:", Some(2)),
        ("session \"two\"", Some(3)),
    ]);
    for (index, expected) in [(Some(4), 4), (None, -4)] {
        assert_eq!(line(&listing, ties.tie("break", index)), expected);
    }
}

/// No text belongs to only one statement, but once the second row is known, the rows allow only one way of counting.
#[test]
fn rows_that_all_have_equals_tell_how_they_count() {
    let listing = scan("parallel:\n  session \"x\"\n  session \"x\"\nparallel:\n  session \"x\"\n");
    let tied = |rows: &[(&str, Option<i64>)], text, index| {
        let mut ties = listing.ties();
        ties.learn(rows.iter().copied());
        line(&listing, ties.tie(text, Some(index)))
    };
    let lines = [("parallel:", Some(1)), ("parallel:", Some(4))];
    assert_eq!(tied(&lines[..1], "parallel:", 1), -1);
    assert_eq!(tied(&lines, "parallel:", 1), 1);
    assert_eq!(tied(&lines, "parallel:", 4), 4);
    assert_eq!(tied(&lines, "session \"x\"", 3), 3);
    // Rows that count from 0, and rows without a consistent way of counting.
    let from_0 = [("parallel:", Some(0)), ("parallel:", Some(3))];
    assert_eq!(tied(&from_0, "session \"x\"", 2), 3);
    let odd = [("parallel:", Some(2)), ("parallel:", Some(3))];
    assert!(tied(&odd, "session \"x\"", 2) <= 0);
}
