//! Repeats the golden cases of the trace with other names and with extra lines before the program.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::cases::check;
use crate::mutate::{SHIFT, names_of_program, other_names, renamed_json, shifted};

#[test]
fn a_tree_does_not_depend_on_names() {
    check_mutated(|case| {
        let mut names = names_of_program(case["program"].as_str().unwrap_or_default());
        for row in case["rows"].as_array().expect("rows") {
            let meta = &row[5];
            let of_row = ["branch", "block", "gate_id", "loop_id", "parallel_id"];
            let of_row = of_row.iter().map(|key| &meta[*key]);
            let all = of_row.chain(meta["branches"].as_array().into_iter().flatten());
            names.extend(all.filter_map(Value::as_str).map(str::to_owned));
        }
        // An id with a suffix, such as a gate's `g#2`, is not a name of its own. Only its word is renamed.
        let names: BTreeSet<String> = names
            .into_iter()
            .filter(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'))
            .collect();
        *case = renamed_json(case, &other_names(names));
    });
}

#[test]
fn a_tree_does_not_depend_on_the_lines_before_a_program() {
    check_mutated(|case| {
        if let Some(program) = case["program"].as_str() {
            case["program"] = shifted(program).into();
            move_lines(&mut case["tree"]);
        }
    });
}

fn cases() -> Vec<Value> {
    let texts = [
        include_str!("../fixtures/trace.json"),
        include_str!("../fixtures/trace-more.json"),
    ];
    let of_file = |text: &str| -> Vec<Value> {
        let mut file: Value = serde_json::from_str(text).expect("the fixture is JSON");
        serde_json::from_value(file["cases"].take()).expect("it lists cases")
    };
    texts.iter().flat_map(|text| of_file(text)).collect()
}

/// Fails if a case gives another result after the same change of its rows, its program and its tree.
#[track_caller]
fn check_mutated(change: impl Fn(&mut Value)) {
    let (mut changes, mut wrong) = (0, Vec::new());
    for case in cases() {
        let mut changed = case.clone();
        change(&mut changed);
        changes += usize::from(changed != case);
        for problem in check(&changed) {
            wrong.push(format!("{}: {problem}", case["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(changes >= 7, "only {changes} cases were changed");
}

/// Shifts the line numbers in a tree.
fn move_lines(tree: &mut Value) {
    for node in tree.as_array_mut().into_iter().flatten() {
        if let Some(line) = node["line"].as_u64() {
            node["line"] = (line + u64::from(SHIFT)).into();
        }
        move_lines(&mut node["children"]);
    }
}
