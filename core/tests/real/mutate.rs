//! Changes a case without changing its facts: renames, shifts the program's lines, adds blank lines to logs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Replacements for the names of a case; none of them has a meaning in a program, a log or a state file.
const OTHERS: [&str; 16] = [
    "zephyr", "lantern", "quill", "meadow", "copper", "thistle", "walnut", "amber", "gravel",
    "pewter", "saffron", "juniper", "cobalt", "marble", "tundra", "velvet",
];

/// Words after a log's arrow and in rows that are keywords, so they must not be renamed.
const KEYWORDS: [&str; 10] = [
    "block", "commit", "done", "else", "exec", "gate", "if", "loop", "retry", "session",
];

/// Lines that [`shifted`] inserts before a program.
const BEFORE: &str = "# written by a stranger\n\n# who left lines blank\n\n";

/// The number of lines that [`shifted`] inserts.
pub(crate) const SHIFT: u32 = 4;

/// The replacement of each name.
pub(crate) type Names = BTreeMap<String, &'static str>;

/// Returns a replacement for each name.
pub(crate) fn other_names(mut names: BTreeSet<String>) -> Names {
    names.retain(|name| !name.is_empty() && !KEYWORDS.contains(&&**name));
    assert!(names.len() <= OTHERS.len(), "{names:?} are too many");
    names.into_iter().zip(OTHERS).collect()
}

/// Returns the names that a program binds and declares.
pub(crate) fn names_of_program(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in text.lines() {
        let line: Vec<&str> = line.split_whitespace().collect();
        let name = match line.as_slice() {
            [
                "let" | "const" | "output" | "input" | "agent" | "block",
                name,
                ..,
            ] => *name,
            [name, "=", ..] => *name,
            _ => continue,
        };
        let end = name.find(|c: char| !is_in_name(c)).unwrap_or(name.len());
        names.insert(name[..end].to_owned());
    }
    names
}

/// Returns the names in a log's marked lines: `impl` in `5→ #1 [input] impl ✓`, `work` in `5→ block:work#1`.
pub(crate) fn names_of_log(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in text.lines() {
        let Some((_, rest)) = line.split_once('→') else {
            continue;
        };
        let mut words = rest
            .split_whitespace()
            .skip_while(|word| word.starts_with(['#', '[']));
        let first = words.next().unwrap_or_default();
        if let Some(block) = first.strip_prefix("block:") {
            names.extend(block.split('#').next().map(str::to_owned));
        }
        let is_marked = words
            .next()
            .is_some_and(|word| word.starts_with(['✓', '✗', '⊘']));
        let is_name = first.chars().all(is_in_name) && !KEYWORDS.contains(&first);
        if is_marked && is_name {
            names.insert(first.to_owned());
        }
    }
    names
}

/// Replaces names where they are whole words, also before a suffix such as `_round2`.
pub(crate) fn renamed(text: &str, names: &Names) -> String {
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.find(|c| !is_in_name(c)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(word);
        let (stem, tail) = name
            .find("_round")
            .map_or((name, ""), |at| name.split_at(at));
        match names.get(name).map(|other| (*other, "")) {
            Some((other, tail)) => out.extend([other, tail]),
            None => out.extend([names.get(stem).copied().unwrap_or(stem), tail]),
        }
        let gap = after.find(is_in_name).unwrap_or(after.len());
        out.push_str(&after[..gap]);
        rest = &after[gap..];
    }
    out
}

/// Replaces names in every text inside a JSON value.
pub(crate) fn renamed_json(value: &Value, names: &Names) -> Value {
    match value {
        Value::String(text) => Value::from(renamed(text, names)),
        Value::Array(list) => list.iter().map(|of| renamed_json(of, names)).collect(),
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, of)| (key.clone(), renamed_json(of, names)))
                .collect(),
        ),
        _ => value.clone(),
    }
}

/// Inserts comments and blank lines before a program.
pub(crate) fn shifted(program: &str) -> String {
    format!("{BEFORE}{program}")
}

/// Inserts a blank line after each numbered line of a log.
pub(crate) fn spaced(log: &str) -> String {
    let mut out = String::new();
    for line in log.lines() {
        out.extend([line, "\n"]);
        if line.contains('→') && line.starts_with(|c: char| c.is_ascii_digit()) {
            out.push('\n');
        }
    }
    out
}

fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the texts that say less than a log or a state file: each without one of its lines, each cut in the middle of
/// a line, and each with one mark of a completion in words that nobody knows. The head stays, and the end of the log.
pub(crate) fn poorer(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let is_head = |line: &str| {
        line.starts_with(['#', '-']) || line.starts_with("status:") || line.starts_with("```")
    };
    let mut texts = Vec::new();
    for (at, line) in lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !line.is_empty() && !is_head(line))
    {
        let with = |other: Option<&str>| {
            let before = lines.iter().take(at).copied();
            let after = lines.iter().skip(at + 1).copied();
            let all: Vec<&str> = before.chain(other).chain(after).collect();
            all.join("\n") + "\n"
        };
        texts.push(with(None));
        let half = line.floor_char_boundary(line.len() / 2);
        let cut = lines.iter().take(at).copied().chain([&line[..half]]);
        texts.push(cut.collect::<Vec<_>>().join("\n"));
        for mark in ["✓", "(complete)"] {
            if line.contains(mark) {
                texts.push(with(Some(&line.replace(mark, "half way"))));
            }
        }
    }
    texts
}
