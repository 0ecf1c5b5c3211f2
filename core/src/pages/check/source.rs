//! Checks a program before it runs: what makes it invalid, and what it refers to without defining it.

use std::collections::BTreeSet;

use crate::model::issue::Issue;
use crate::program::{Listing, Property, Statement, StatementKind as Kind, ValueType};

/// The properties that count something, each with the least number that makes sense.
const COUNTS: &[(&str, f64)] = &[
    ("count", 1.0),
    ("max", 1.0),
    ("max-iterations", 1.0),
    ("max_depth", 1.0),
    ("retry", 0.0),
];

/// Returns what is wrong with a program, in the order of its lines.
pub fn source(program: &Listing) -> Vec<Issue> {
    let code = |own: &&Statement| own.kind != Kind::Other;
    if program.statements.iter().find(code).is_none() {
        let issue = Issue::warning("program-empty", "the program has no statement");
        return Vec::from([issue.hint("Check whether this is the right file.")]);
    }
    // Agents and gates are no values, but each name may stand where a value is expected.
    let names = program.statements.iter();
    let names: BTreeSet<&str> = names.filter_map(|own| own.name.as_deref()).collect();
    let mut issues = Vec::new();
    for (at, own) in (0..).zip(&program.statements) {
        let mut add = |issue: Issue, line: u32| issues.push(issue.at_line(line));
        if program.has_open_quote(at) {
            add(
                Issue::error("quote-open", "a quotation mark is not closed").hint(
                    "Close the quotation mark. What follows it may have been read as its text.",
                ),
                own.line,
            );
        }
        let times = own.text.strip_prefix("repeat ").map(str::trim_start);
        if times.is_some_and(|times| times.starts_with('-')) {
            let message = "a loop cannot repeat a negative number of times";
            let issue = Issue::error("number-invalid", message);
            add(issue.hint("Write a number that can be counted."), own.line);
        }
        for (of, least) in COUNTS
            .iter()
            .filter_map(|(name, least)| Some((own.find(name)?, *least)))
        {
            if is_below(of, least) {
                let (name, value) = (&of.name, &of.text);
                let message = format!("{name} is {value}, but must be at least {least}");
                let issue = Issue::error("number-invalid", message);
                add(issue.hint("Write a number that can be counted."), of.line);
            }
        }
        if let Some(issue) = refers_to_nothing(program, own) {
            let hint = "Declare the name in the program, or correct its spelling.";
            add(issue.hint(hint), own.line);
        }
        let given = program.given(at);
        for used in program.uses(at).into_iter().filter(|used| used.sure) {
            let whole = used.name.split('.').next().unwrap_or_default();
            if !names.contains(whole) && !given.contains_key(whole) {
                let message = format!("no statement gives {whole} a value");
                let issue = Issue::warning("name-unknown", message);
                add(
                    issue.hint("Define the name before this line, as an input or with `let`."),
                    used.line,
                );
            }
        }
    }
    issues
}

/// Returns an issue if a statement refers to an agent or a block that the program does not have.
fn refers_to_nothing(program: &Listing, own: &Statement) -> Option<Issue> {
    let target = own.target.as_deref()?;
    let lacks = |kind: Kind| program.named(kind, target).is_empty();
    match own.kind {
        Kind::Session | Kind::Resume if lacks(Kind::Agent) => {
            let message = format!("the program declares no agent {target}");
            Some(Issue::warning("agent-unknown", message))
        }
        Kind::Do if lacks(Kind::Block) && lacks(Kind::Use) => {
            let message = format!("the program has no block {target}");
            Some(Issue::warning("block-unknown", message))
        }
        _ => None,
    }
}

/// Returns whether a property that counts something is below the least number, or is no whole number.
fn is_below(of: &Property, least: f64) -> bool {
    matches!(of.value, ValueType::Number(number) if number < least || number.fract() != 0.0)
}

#[cfg(test)]
mod tests {
    use super::source;
    use crate::program::scan;

    #[test]
    fn what_makes_a_program_invalid_is_found_at_its_line() {
        for (program, rule, line) in [
            ("# nothing\n", "program-empty", None),
            ("", "program-empty", None),
            (
                "let a = session \"A\nlet b = session \"B\"\n",
                "quote-open",
                Some(1),
            ),
            ("repeat -5:\n  session \"A\"\n", "number-invalid", Some(1)),
            (
                "loop (max: 0):\n  session \"A\"\n",
                "number-invalid",
                Some(1),
            ),
            (
                "session: writer\n  prompt: \"A\"\n",
                "agent-unknown",
                Some(1),
            ),
            ("session \"A\"\ndo work()\n", "block-unknown", Some(2)),
            ("session \"A\"\n  context: plan\n", "name-unknown", Some(2)),
        ] {
            let all = source(&scan(program));
            let found = all.iter().find(|issue| issue.rule == rule);
            let found = found.unwrap_or_else(|| panic!("{program}: {all:?}"));
            assert_eq!(found.location.line, line, "{program}");
        }
    }

    #[test]
    fn a_valid_program_has_no_issues() {
        let program = "use \"@a/b\" as b\ninput topic: \"What\"\nagent writer:\n  model: opus\nblock work(part):\n  session \"On {part}\"\n    context: part\nlet items = [\"a\"]\nfor one, i in items:\n  do work(one)\nlet all = items | map:\n  session \"{item}\"\ntry:\n  let x = session: writer\n    context: { topic, items }\ncatch as err:\n  session \"Mend\"\n    context: err\noutput done = b(topic: topic)\n";
        assert_eq!(source(&scan(program)), []);
    }
}
