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

/// Each number with the line that it means, negative where the named lines around it do not make it sure.
#[track_caller]
fn check(source: &str, marks: &[LogMark<'_>], expected: &[(u32, i64)]) {
    let listing = scan(source);
    let ties = listing.log_ties(marks);
    for (number, line) in expected {
        let found = ties.numbered(*number).map_or(0, |(at, sure)| {
            let line = i64::from(listing.statements[at as usize].line);
            if sure { line } else { -line }
        });
        assert_eq!(found, *line, "{number}");
    }
}

/// Numbers that skip, repeat, or count inputs: names say what they mean.
#[test]
fn names_teach_what_the_numbers_mean() {
    // All is one too high between `plan` and `verify`, so nothing there is sure.
    let high = [mark(1, "plan"), mark(8, "verify"), mark(13, "summary")];
    check(
        PROGRAM,
        &high,
        &[(1, 9), (5, -16), (8, 23), (9, 24), (13, 31)],
    );
    // Inputs are counted.
    let inputs = [
        kind(1, Kind::Input, "insight"),
        mark(2, "plan"),
        mark(8, "verify"),
    ];
    check(PROGRAM, &inputs, &[(2, 9), (3, 10), (5, 15)]);
    let inputs = [mark(1, "insight"), mark(3, "code")];
    check(PROGRAM, &inputs, &[(2, 9), (9, -24)]);
    // A name elsewhere than the number says.
    let twice = [mark(1, "plan"), mark(1, "verify"), mark(2, "code")];
    check(PROGRAM, &twice, &[(1, -9), (2, 10)]);
    check(PROGRAM, &[], &[(0, -9), (3, -11), (u32::MAX, -31)]);
    check("# x", &[], &[(1, 0)]);
}

#[test]
fn a_name_is_bound_or_referred_to() {
    let listing = scan(PROGRAM);
    let ties = listing.log_ties(&[]);
    for (label, kind, binds, lines) in [
        (" Plan ", None, true, &[9][..]),
        ("captain", None, false, &[28]),
        ("implement", Some(Kind::Do), false, &[17]),
        ("", None, false, &[]),
        ("\u{0}∥", Some(Kind::Use), false, &[]),
    ] {
        let named = ties.named(label, kind).iter();
        let found: Vec<u32> = named
            .map(|at| listing.statements[*at as usize].line)
            .collect();
        assert_eq!(found, lines, "{label}");
        assert_eq!(ties.binds(label, kind), binds, "{label}");
    }
}

#[test]
fn words_find_the_statement_that_has_them() {
    let listing = scan(PROGRAM);
    let mut ties = listing.log_ties(&[]);
    let version = kind(11, Kind::Exec, ".version");
    let found = ties.by_words(&version, None).map(|tie| tie.statement);
    assert_eq!(
        found.and_then(|at| listing.get(at)).map(|s| s.line),
        Some(30)
    );
    assert_eq!(ties.by_words(&mark(13, "jj new"), None), None);
}
