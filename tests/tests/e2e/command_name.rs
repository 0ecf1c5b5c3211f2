//! Tests that every text calls the command `prosescope`. A command called `prose` may be another program, which passes
//! its arguments to a paid model.

use std::fs;
use std::path::Path;

use prosescope_tests::needs;

/// Folders with texts for people and models: messages, briefs, help, documents, comments.
const FOLDERS: &[&str] = &[
    "cli", "core", "desk", "docs", "examples", "pkg", "postgres", "redact", "serve", "share",
    "store", "tests", "vfs", "web", "xtask",
];
const DOCUMENTS: &[&str] = &[
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
];

/// Files that quote OpenProse, or that contain programs of other authors.
const THEIRS: &[&str] = &["cli/tests/second_name.rs", "xtask/pack/src/install.rs"];
const SKIPPED: &[&str] = &["fixtures", "node_modules", "dist", "target", ".venv"];

#[test]
fn no_text_calls_the_command_by_its_second_name() {
    let pages = fs::read_dir(needs::root().join("docs/reference/commands")).unwrap();
    let names: Vec<String> = pages
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    let names = names.iter().filter_map(|name| name.strip_suffix(".md"));
    let commands: Vec<&str> = names.filter(|name| *name != "README").collect();
    assert!(commands.len() > 25, "{commands:?}");
    assert_eq!(calls("Call `prose gates` or a\\nprose put x", &commands), 2);
    assert_eq!(
        calls("openprose gates .prose get prose runner", &commands),
        0
    );
    let mut found = Vec::new();
    for place in FOLDERS.iter().chain(DOCUMENTS) {
        scan(&needs::root().join(place), &commands, &mut found);
    }
    assert_eq!(found, [] as [String; 0], "the command is called prosescope");
}

fn scan(path: &Path, commands: &[&str], found: &mut Vec<String>) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if SKIPPED.contains(&&*name) || THEIRS.iter().any(|theirs| path.ends_with(theirs)) {
        return;
    }
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            scan(&entry.unwrap().path(), commands, found);
        }
        return;
    }
    // This test contains the words that it searches for, so its own file is skipped.
    let Some(text) = fs::read_to_string(path)
        .ok()
        .filter(|_| !path.ends_with(file!()))
    else {
        return;
    };
    for (at, line) in text.lines().enumerate() {
        if calls(line, commands) > 0 {
            found.push(format!("{}:{}: {}", path.display(), at + 1, line.trim()));
        }
    }
}

/// Counts how often a line contains `prose` followed by a command or by an argument to fill in.
fn calls(line: &str, commands: &[&str]) -> usize {
    let is_call = |(at, _): (usize, &str)| {
        let before = &line[..at];
        let of_a_word = |c: char| c.is_alphanumeric() || "._-/".contains(c);
        if before.ends_with(of_a_word) && !before.ends_with("\\n") {
            return false;
        }
        let after = &line[at + "prose ".len()..];
        let word = after.split(|c: char| !c.is_ascii_lowercase()).next();
        word.is_some_and(|word| commands.contains(&word))
            || before.ends_with('"') && after.starts_with('{')
    };
    line.match_indices("prose ")
        .filter(|hit| is_call(*hit))
        .count()
}
