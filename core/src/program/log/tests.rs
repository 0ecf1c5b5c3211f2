use super::*;
use crate::program::scan;

/// As real logs count: the inputs, the agent and the block have no number.
const PROGRAM: &str = r#"input insight: "x"
agent planner:
  model: sonnet
agent captain:
  persist: true
block implement(task):
  let impl = session "Implement {task}"
  session "Test {task}"
let plan = session: planner
let code = session "Apply code changes"
parallel:
  system_prompt = session "Update SYSTEM_PROMPT.md"
  agents_md = session "Update AGENTS.md"
  session "Anonymous"
session "Say what is next"
loop until **done** (max: 5):
  do implement(plan)
  synthesis = session "Synthesize"
if **it is not needed**:
  session "Skip"
else:
  throw
let verify = exec "make test-fast 2>&1 | tail -15"
gate **all tests pass**:
  evidence: verify
gate fast_tests:
  prompt: "Go?"
resume: captain
  prompt: "Land"
exec "bump .version"
output summary = session "Summarize"
"#;

fn mark<'a>(number: u32, label: &'a str) -> LogMark<'a> {
    LogMark {
        number: Some(number),
        label,
        ..LogMark::default()
    }
}

fn kind<'a>(number: u32, kind: Kind, label: &'a str) -> LogMark<'a> {
    LogMark {
        kind: Some(kind),
        ..mark(number, label)
    }
}

fn within<'a>(number: u32, block: &'a str, label: &'a str) -> LogMark<'a> {
    LogMark {
        block: Some(block),
        ..mark(number, label)
    }
}

fn branch<'a>(number: u32, branch: &'a str, label: &'a str) -> LogMark<'a> {
    LogMark {
        branch: Some(branch),
        ..mark(number, label)
    }
}

/// Each mark with the line that it must be tied to: negative for a guess, 0 for none.
#[track_caller]
fn check(source: &str, cases: &[(LogMark<'_>, i64)]) {
    let listing = scan(source);
    let marks: Vec<_> = cases.iter().map(|(mark, _)| *mark).collect();
    let mut ties = listing.log_ties(&marks);
    for (mark, line) in cases {
        let tie = ties.tie(mark).map_or(0, |tie| {
            let line = i64::from(listing.statements[tie.statement as usize].line);
            if tie.guessed { -line } else { line }
        });
        assert_eq!(tie, *line, "{mark:?}");
    }
}

#[test]
fn a_whole_log_finds_its_lines() {
    check(
        PROGRAM,
        &[
            (mark(1, "plan"), 9),
            (mark(2, "code"), 10),
            (kind(3, Kind::Parallel, ""), 11),
            (branch(3, "a", "system_prompt"), 12),
            (branch(3, "b", "agents_md"), 13),
            (branch(3, "c", ""), -14),
            (kind(3, Kind::Parallel, ""), 11),
            (mark(4, ""), 15),
            (kind(5, Kind::Loop, ""), 16),
            (kind(5, Kind::Do, "implement"), 17),
            (within(5, "implement", "impl"), 7),
            // Only who knows the lines of that frame knows what comes next in its block.
            (within(5, "implement", ""), 0),
            (mark(5, "synthesis"), 18),
            (kind(6, Kind::If, ""), 19),
            (mark(7, "verify"), 23),
            (kind(8, Kind::Gate, ""), 24),
            (kind(9, Kind::Gate, "fast_tests"), 26),
            (mark(10, "captain"), 28),
            (kind(11, Kind::Exec, ".version"), -30),
            (mark(12, "summary"), 31),
            (mark(13, "jj new"), -31),
        ],
    );
}

/// Numbers that skip, repeat, or count inputs: names say what they mean.
#[test]
fn names_teach_what_the_numbers_mean() {
    // All is one too high between `plan` and `verify`, so nothing there is sure.
    check(
        PROGRAM,
        &[
            (mark(1, "plan"), 9),
            (mark(5, ""), -16),
            (mark(8, "verify"), 23),
            (mark(9, ""), 24),
            (mark(13, "summary"), 31),
        ],
    );
    // Inputs are counted.
    check(
        PROGRAM,
        &[
            (kind(1, Kind::Input, "insight"), 1),
            (mark(2, "plan"), 9),
            (mark(3, "code"), 10),
            (mark(5, ""), 15),
            (mark(8, "verify"), 23),
        ],
    );
    check(
        PROGRAM,
        &[
            (mark(1, "insight"), 1),
            (mark(2, ""), -9),
            (mark(3, "code"), 10),
        ],
    );
    // The log of a folder whose beginning is encrypted.
    check(
        PROGRAM,
        &[(mark(11, "encrypt"), -30), (mark(12, "publish"), -31)],
    );
    // A name elsewhere than the number says.
    check(
        PROGRAM,
        &[
            (mark(1, "plan"), 9),
            (mark(1, "verify"), 23),
            (mark(2, "code"), 10),
        ],
    );
}

#[test]
fn equal_names_are_told_apart_by_their_numbers() {
    let source = "let a = session \"1\"\nb = session \"x\"\nlet c = session \"2\"\nb = session \"y\"\nlet d = session \"3\"\n";
    check(
        source,
        &[
            (mark(1, "a"), 1),
            (mark(2, "b"), 2),
            (mark(3, "c"), 3),
            (mark(4, "b"), 4),
            (mark(5, "d"), 5),
            (mark(9, "b"), -4),
        ],
    );
}

#[test]
fn any_mark_is_borne() {
    let odd = LogMark {
        number: Some(u32::MAX),
        branch: Some("äz"),
        block: Some("no"),
        kind: Some(Kind::Use),
        label: "\u{0}∥",
    };
    for source in ["", "# x", PROGRAM] {
        let listing = scan(source);
        let marks = [odd, LogMark::default(), mark(0, ""), branch(3, "z", "")];
        let mut ties = listing.log_ties(&marks);
        for mark in &marks {
            if let Some(tie) = ties.tie(mark) {
                assert!(
                    listing.get(tie.statement).is_some() && tie.guessed,
                    "{mark:?}"
                );
            }
        }
    }
}

/// Many lines of one name, many statements of one name.
#[test]
fn a_long_log_of_a_long_program() {
    let source = "draft = session \"x\"\nresume: captain\n".repeat(20_000);
    let listing = scan(&source);
    let marks: Vec<_> = (1..=40_000)
        .map(|n| mark(n, if n % 2 == 1 { "draft" } else { "captain" }))
        .collect();
    let mut ties = listing.log_ties(&marks);
    for mark in &marks {
        let tie = ties.tie(mark).unwrap();
        assert_eq!(Some(tie.statement + 1), mark.number);
    }
}
