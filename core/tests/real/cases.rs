//! Reads the cases of `real.json` and `real-more.json`, and compares the facts of each run with the expected facts.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::facts::{Facts, facts};

/// The keys of a case about printed output, which `cli/tests/real.rs` checks instead.
const PRINTED: &[&str] = &[
    "text",
    "text_absent",
    "show_text",
    "trace_text",
    "for_model",
    "gates_text",
    "any_text",
    "issue",
    "issues_min",
    "get",
    "get_not",
    "next_line",
    "or_refused",
];

/// A case of the files `real*.json`.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) files: BTreeMap<String, String>,
    /// The statements that fill the run's `state.db`; empty for a run without one.
    pub(crate) sql: Vec<String>,
    pub(crate) expect: BTreeMap<String, Value>,
}

pub(crate) fn cases() -> Vec<Case> {
    let files = [
        include_str!("../fixtures/real.json"),
        include_str!("../fixtures/real-more.json"),
        include_str!("../fixtures/real-4.json"),
    ];
    let files = files.map(|text| serde_json::from_str(text).expect("the fixture is JSON"));
    let cases = files
        .iter()
        .flat_map(|file: &Value| file["cases"].as_array().expect("it lists cases"));
    let case = |case: &Value| Case {
        name: case["name"].as_str().expect("a name").to_owned(),
        files: serde_json::from_value(case["files"].clone()).expect("paths and texts"),
        sql: serde_json::from_value(case["sql"].clone()).unwrap_or_default(),
        expect: serde_json::from_value(case["expect"].clone()).expect("keys and facts"),
    };
    cases.map(case).collect()
}

#[test]
fn what_a_person_reads_from_real_habits_comes_out() {
    let mut problems = Vec::new();
    let cases = cases();
    assert!(cases.len() >= 79, "{} cases", cases.len());
    for case in &cases {
        for (key, why) in check(case) {
            problems.push(format!("{}: {key}: {why}", case.name));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Returns the keys of `expect` whose facts are wrong, with the actual facts.
pub(crate) fn check(case: &Case) -> Vec<(String, String)> {
    let Some(facts) = facts(case) else {
        // The command line tests say that the refusal names the form.
        let allowed = case.expect.contains_key("or_refused");
        let why = ("files".to_owned(), "the run was refused".to_owned());
        return (!allowed).then_some(why).into_iter().collect();
    };
    case.expect
        .iter()
        .filter(|(key, _)| !PRINTED.contains(&&***key))
        .filter_map(|(key, want)| Some((key.clone(), differs(key, want, &facts)?)))
        .collect()
}

fn differs(key: &str, want: &Value, facts: &Facts) -> Option<String> {
    let got = match key {
        "status" => Value::from(&*facts.status),
        "lines" => return by_line(want, &facts.lines),
        "gates" => return by_line(want, &facts.gates),
        "on_reject" => return by_line(want, &facts.on_reject),
        "first_cause" => facts.first_cause.map_or(Value::Null, Value::from),
        "count" => Value::from(facts.count),
        "started" => facts.started.clone().map_or(Value::Null, Value::from),
        "duration_seconds" => facts.duration_seconds.map_or(Value::Null, Value::from),
        "loops" => facts
            .loops
            .iter()
            .map(|(rounds, max)| serde_json::json!({ "rounds": rounds, "max": max }))
            .collect(),
        "positions" => facts
            .positions
            .iter()
            .map(|at| Value::from(&**at))
            .collect(),
        "not_status" => return (*want == *facts.status).then(|| format!("is {want}")),
        "status_in" => {
            let is_one = texts(want).any(|word| word == facts.status);
            return (!is_one).then(|| format!("wanted {want}, got {}", facts.status));
        }
        "not_lines" => {
            let lines = want.as_object().expect("words by line").iter();
            let mut wrong = lines.filter(|(line, words)| {
                let got = line
                    .parse()
                    .ok()
                    .and_then(|line: u32| facts.lines.get(&line));
                let got = got.map_or(NOT_RUN, |word| word);
                words
                    .as_str()
                    .into_iter()
                    .chain(
                        words
                            .as_array()
                            .into_iter()
                            .flatten()
                            .filter_map(Value::as_str),
                    )
                    .any(|word| word == got)
            });
            return wrong
                .next()
                .map(|(line, words)| format!("line {line} is one of {words}"));
        }
        "left_not" => {
            let is_left = texts(want).any(|word| word == facts.left);
            return is_left.then(|| format!("left is {:?}", facts.left));
        }
        "place" => {
            let lines: Vec<u32> = serde_json::from_value(want.clone()).expect("lines");
            let is_there =
                !facts.places.is_empty() && facts.places.iter().all(|at| lines.contains(at));
            return (!is_there).then(|| format!("wanted {want}, got {:?}", facts.places));
        }
        "place_not" => {
            let lines: Vec<u32> = serde_json::from_value(want.clone()).expect("lines");
            let is_there = facts.places.iter().any(|at| lines.contains(at));
            return is_there.then(|| format!("goes on at {:?}", facts.places));
        }
        "program_lines" => facts
            .program_lines
            .iter()
            .copied()
            .map(Value::from)
            .collect(),
        "statements_left" => facts.statements_left.map_or(Value::Null, Value::from),
        "completed" | "failed" => {
            let named = facts.nodes.iter().filter(|node| node.status == key);
            return lacks(want, &named.map(|node| &*node.text).collect::<Vec<_>>());
        }
        "notes" => {
            let noted = |note: &str| facts.notes.iter().any(|of| of.contains(note));
            let missing = texts(want).find(|note| !noted(note))?;
            return Some(format!("{missing:?} is not in {:?}", facts.notes));
        }
        "kinds" => {
            let kinds = facts.nodes.iter().map(|node| &*node.kind);
            return lacks(want, &kinds.collect::<Vec<_>>());
        }
        "kinds_absent" => {
            return has(want, facts.nodes.iter().map(|node| &*node.kind));
        }
        "statuses_absent" => {
            return has(want, facts.nodes.iter().map(|node| &*node.status));
        }
        "issues_absent" => return has(want, facts.rules.iter().map(|rule| &**rule)),
        _ => panic!("no check for {key}"),
    };
    let want = match want {
        // In a case, a position is either a line number or a text.
        Value::Array(list) if key == "positions" => list
            .iter()
            .map(|at| Value::from(at.as_str().map_or_else(|| at.to_string(), str::to_owned)))
            .collect(),
        _ => want.clone(),
    };
    (want != got).then(|| format!("wanted {want}, got {got}"))
}

/// The word of a case for a line that did not run.
const NOT_RUN: &str = "not run";

/// Our other words for a line that did not run; the cases have one word for all of them.
const NOT_RUN_EITHER: [&str; 4] = ["not reached", "not recorded", "pending", "announced"];

fn by_line(want: &Value, got: &BTreeMap<u32, String>) -> Option<String> {
    let want: BTreeMap<u32, String> = serde_json::from_value(want.clone()).expect("texts by line");
    let wrong = want.iter().any(|(line, text)| match got.get(line) {
        Some(got) => got != text && !(text == NOT_RUN && NOT_RUN_EITHER.contains(&&**got)),
        None => text != NOT_RUN,
    });
    wrong.then(|| format!("wanted {want:?}, got {got:?}"))
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    let list = list.as_array().expect("a list");
    list.iter().map(|text| text.as_str().expect("a text"))
}

fn lacks(want: &Value, got: &[&str]) -> Option<String> {
    let missing = texts(want).find(|text| !got.contains(text))?;
    Some(format!("{missing:?} is not in {got:?}"))
}

fn has<'f>(unwanted: &Value, mut got: impl Iterator<Item = &'f str>) -> Option<String> {
    let found = got.find(|word| texts(unwanted).any(|text| text == *word))?;
    Some(format!("there is {found:?}"))
}
