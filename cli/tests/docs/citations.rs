//! Checks citations in comments and messages: cited errata exist in docs/contribute/errata.md, and cited pages in the repository.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use prosescope_test_support::needs;

/// Pages of this project that are not in the repository, so that no comment may cite them. The five pages of
/// OpenProse (`sqlite.md` and others) are public, and may be cited.
const ELSEWHERE: &[&str] = &[
    "trace.md",
    "one-fold.md",
    "evidence.md",
    "dialects.md",
    "reliability.md",
    "state-md.md",
    "viewer.md",
    "build.md",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() {
            let is_made =
                name.starts_with('.') || matches!(&*name, "target" | "node_modules" | "dist");
            if !is_made {
                sources(&path, found);
            }
        } else if [".rs", ".mjs", ".js", ".sql", ".md"]
            .iter()
            .any(|end| name.ends_with(end))
        {
            found.push(path);
        }
    }
}

/// Returns the numbers after each "errata ": `errata G1, G7`, `errata M1 to M4`.
fn cited(text: &str) -> impl Iterator<Item = &str> {
    text.split("errata ").skip(1).flat_map(|rest| {
        let words = rest.split([' ', ',', ')', '(', ';', ':', '.', '`', '"', '\n', '*']);
        let words = words.filter(|word| !matches!(*word, "" | "and" | "to" | "//" | "///" | "//!"));
        words.take_while(|word| is_number(word))
    })
}

fn is_number(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|c| c.is_ascii_uppercase())
        && word.len() > 1
        && chars.all(|c| c.is_ascii_digit())
}

#[test]
fn each_decision_that_is_cited_is_written_down() {
    let root = needs::root();
    let errata = std::fs::read_to_string(root.join("docs/contribute/errata.md"))
        .expect("docs/contribute/errata.md");
    let rows = errata
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let known: BTreeSet<&str> = rows.flat_map(|row| row.split(", ")).collect();
    let mut files = Vec::new();
    sources(root, &mut files);
    let (mut wrong, mut seen) = (Vec::new(), BTreeSet::new());
    for file in files {
        let is_own =
            file.ends_with("docs/contribute/errata.md") || file.ends_with("docs/citations.rs");
        let Some(text) = std::fs::read_to_string(&file).ok().filter(|_| !is_own) else {
            continue;
        };
        for number in cited(&text) {
            seen.insert(number.to_owned());
            if !known.contains(number) {
                wrong.push(format!("{}: errata {number}", file.display()));
            }
        }
        for page in ELSEWHERE {
            let whole = |at: usize| {
                let before = text.get(..at).unwrap_or_default();
                // Skips a link such as `](checks/trace.md)`, because another test checks links.
                let is_link = before.ends_with("](");
                !is_link
                    && !before.chars().next_back().is_some_and(|c| {
                        c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.')
                    })
            };
            if text.match_indices(page).any(|(at, _)| whole(at)) {
                wrong.push(format!("{}: {page}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen.len() > 60, "only {} decisions are cited", seen.len());
}
