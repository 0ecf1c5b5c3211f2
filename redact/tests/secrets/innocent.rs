//! Tests that texts without secrets stay unchanged.

use std::fs;
use std::path::{Path, PathBuf};

use prosescope_redact::{RuleKind, Rules, SecretNames, surroundings};
use prosescope_test_support::needs;

/// Returns every text file below a folder, except build output.
fn texts(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir()
                && !["target", ".git", ".venv", "node_modules", "dist"]
                    .iter()
                    .any(|built| name == *built)
            {
                open.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

/// Checks that the rules find at most one false hit per megabyte of these texts; prints each hit.
fn check(what: &str, texts: &[(PathBuf, String)], kind: Option<RuleKind>) {
    let mut rules = Rules::new();
    if kind == Some(RuleKind::Secret) {
        rules = rules.without(RuleKind::Personal);
    }
    let size: usize = texts.iter().map(|(_, text)| text.len()).sum();
    let mut shown = Vec::new();
    for (path, text) in texts {
        let hits = rules.scan(text, &mut SecretNames::new());
        for (index, hit) in hits.iter().enumerate() {
            // Tests of database connections contain passwords, so the hits of these rules are not false.
            let of_databases = ["url-password", "pgpass-password"];
            if what == "sources" && of_databases.contains(&&*hit.rule) {
                continue;
            }
            let (before, behind) = surroundings(text, &hits, index, 40);
            shown.push(format!(
                "{}:{} {before}[{}]{behind}",
                path.display(),
                1 + text[..hit.range.start].matches('\n').count(),
                hit.name
            ));
            if std::env::var_os("SHOW_HITS").is_some() {
                shown.push(format!("      {:?}", &text[hit.range.clone()]));
            }
        }
    }
    eprintln!(
        "{what}: {} hits in {size} bytes\n{}",
        shown.len(),
        shown.join("\n")
    );
    assert!(
        shown.len() <= size.div_ceil(1_000_000),
        "{what}: {} hits in {size} bytes\n{}",
        shown.len(),
        shown.join("\n")
    );
}

#[test]
fn the_documents_of_this_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all = texts(&root.join("docs"));
    all.extend(texts(&root.join("examples")));
    check("docs", &all, None);
    // Fixtures are runs of people, so their home directories are true hits.
    check(
        "fixtures",
        &texts(&root.join("tests/fixtures")),
        Some(RuleKind::Secret),
    );
}

#[test]
fn the_sources_of_this_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let all: Vec<_> = texts(&root)
        .into_iter()
        .filter(|(path, _)| !path.starts_with(root.join("redact")))
        .collect();
    check("sources", &all, Some(RuleKind::Secret));
}

#[test]
fn real_programs_and_runs() {
    let Some(corpus) = needs::shared("corpus") else {
        return;
    };
    check("corpus", &texts(&corpus), Some(RuleKind::Secret));
}
