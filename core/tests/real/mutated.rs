//! Repeats the cases of `cases.rs` with other names, other line numbers, and blank lines in their logs. A case represents
//! a style in which models write runs, so its facts must not depend on names and numbers.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::cases::{Case, cases, check};
use crate::facts::facts;
use crate::mutate::{self, SHIFT, names_of_log, names_of_program, renamed, renamed_json};

const PROGRAM: &str = "program.prose";
const LOGS: [&str; 2] = ["state.md", "vm.log.md"];

#[test]
fn facts_do_not_depend_on_names() {
    check_mutated(|case| {
        let mut names = BTreeSet::new();
        for (path, text) in &case.files {
            let of_binding = path
                .strip_prefix("bindings/")
                .and_then(|path| path.strip_suffix(".md"))
                .filter(|name| !name.contains(['/', '_']));
            names.extend(of_binding.map(str::to_owned));
            if path.ends_with(PROGRAM) {
                names.extend(names_of_program(text));
            }
            names.extend(names_of_log(text));
        }
        let names = mutate::other_names(names);
        let files = case.files.iter();
        Case {
            name: case.name.clone(),
            sql: case.sql.iter().map(|sql| renamed(sql, &names)).collect(),
            files: files
                .map(|(path, text)| (renamed(path, &names), renamed(text, &names)))
                .collect(),
            expect: case
                .expect
                .iter()
                .map(|(key, fact)| (key.clone(), renamed_json(fact, &names)))
                .collect(),
        }
    });
}

#[test]
fn facts_do_not_depend_on_the_lines_before_a_program() {
    check_mutated(|case| {
        let mut case = case.clone();
        if let Some(program) = case.files.get_mut(PROGRAM) {
            *program = mutate::shifted(program);
            for (key, fact) in &mut case.expect {
                shift(key, fact);
            }
        }
        case
    });
}

#[test]
fn facts_do_not_depend_on_blank_lines_in_a_log() {
    check_mutated(|case| {
        let mut case = case.clone();
        for (path, text) in &mut case.files {
            if LOGS.contains(&&**path) {
                *text = mutate::spaced(text);
            }
        }
        case
    });
}

/// Fails if a change that should not matter alters the facts of a case.
#[track_caller]
fn check_mutated(change: impl Fn(&Case) -> Case) {
    let mut changes = 0;
    let mut wrong = Vec::new();
    for case in &cases() {
        let changed = change(case);
        changes += usize::from(changed.files != case.files);
        for (key, why) in check(&changed) {
            let files = &changed.files;
            wrong.push(format!("{}: {key}: {why}\n{files:#?}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(changes >= 9, "only {changes} cases were changed");
}

/// Adjusts the line numbers in a fact.
fn shift(key: &str, fact: &mut Value) {
    let moved = |line: u64| line + u64::from(SHIFT);
    match key {
        "lines" | "not_lines" | "gates" | "on_reject" => {
            let by_line = fact.as_object().expect("facts by line").iter();
            *fact = by_line
                .map(|(line, of)| {
                    let line: u64 = line.parse().expect("a line");
                    (moved(line).to_string(), of.clone())
                })
                .collect::<serde_json::Map<String, Value>>()
                .into();
        }
        "first_cause" => *fact = fact.as_u64().map_or(Value::Null, |at| moved(at).into()),
        "positions" | "place" | "place_not" | "program_lines" => {
            for at in fact.as_array_mut().expect("a list") {
                if let Some(line) = at.as_u64() {
                    *at = moved(line).into();
                }
            }
        }
        _ => {}
    }
}

/// What is cut away, left out or said in other words never makes a completion of a run that is none, unless it is called
/// probable.
#[test]
fn no_loss_and_no_other_word_makes_a_completion() {
    let mut wrong = Vec::new();
    let mut tried = 0;
    for case in cases() {
        let Some(base) = facts(&case) else { continue };
        if base.status == "completed" || !case.sql.is_empty() {
            continue;
        }
        for (path, text) in &case.files {
            // A value that is gone says nothing of how the run ended.
            let lost = path.starts_with("bindings/").then(String::new);
            let told = LOGS.contains(&&**path);
            let others = if told {
                mutate::poorer(text)
            } else {
                Vec::new()
            };
            for other in others.into_iter().chain(lost) {
                let mut case = case.clone();
                if other.is_empty() {
                    case.files.remove(path);
                } else {
                    case.files.insert(path.clone(), other.clone());
                }
                tried += 1;
                let Some(now) = facts(&case) else { continue };
                let is_sure = !now.headline.starts_with("Probably");
                if now.status == "completed" && is_sure {
                    wrong.push(format!("{}: {path}\n{other}", case.name));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {tried}\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(tried > 300, "only {tried} changes");
}
