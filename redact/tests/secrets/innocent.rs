//! Tests that texts without secrets stay unchanged.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use prosescope_redact::{RuleKind, Rules, SecretNames, replace, surroundings};
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
                && !["target", ".git", "node_modules", "dist"]
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
            let of_tests = ["url-password", "pgpass-password", "sql-password"];
            if what == "sources" && of_tests.contains(&&*hit.rule) {
                continue;
            }
            let (before, behind) = surroundings(text, &hits, index, 40);
            shown.push(format!(
                "{}:{} {before}[{}]{behind}",
                path.display(),
                hit.line(text),
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

/// Checks texts that look like secrets and hold none. Whoever wrote them did not see the rules.
#[test]
fn texts_written_without_the_rules_stay_as_they_are() {
    #[derive(serde::Deserialize)]
    struct InnocentFile {
        innocent: Vec<(String, String)>,
    }
    let file: InnocentFile = toml::from_str(include_str!("innocent.toml")).expect("rows of two");
    let rules = Rules::new().without(RuleKind::Personal);
    let mut changed = Vec::new();
    for (kind, text) in &file.innocent {
        let redacted = replace(text, &rules.scan(text, &mut SecretNames::new()));
        if redacted != *text {
            changed.push(format!("{kind}: {redacted}"));
        }
    }
    let all = file.innocent.len();
    assert!(
        changed.is_empty(),
        "{} of {all}: {changed:#?}",
        changed.len()
    );
}

/// Prints the hits of secrets in 20 MB of other people's text, to judge over-reach:
/// `OVER_REACH=~/.cargo/registry/src/… cargo test --release -p prosescope-redact --test secrets -- --ignored --nocapture`.
///
/// Sources of crates contain some true secrets (test keys, passwords of test databases), which count, too.
#[test]
#[ignore = "needs a folder of texts in OVER_REACH"]
fn sources_of_other_people() {
    let root = std::env::var_os("OVER_REACH").expect("a folder in OVER_REACH");
    let mut folders: Vec<_> = fs::read_dir(root).expect("a folder").flatten().collect();
    folders.sort_by_key(|folder| folder.file_name());
    let (mut all, mut size) = (Vec::new(), 0);
    for folder in folders {
        for (path, text) in texts(&folder.path()) {
            if size < 20_000_000 {
                size += text.len();
                all.push((path, text));
            }
        }
    }
    let rules = Rules::new().without(RuleKind::Personal);
    let (mut count, mut counts) = (0, BTreeMap::<String, usize>::new());
    for (path, text) in &all {
        let hits = rules.scan(text, &mut SecretNames::new());
        for (index, hit) in hits.iter().enumerate() {
            let (before, behind) = surroundings(text, &hits, index, 60);
            let at = path.display();
            println!(
                "{at}:{} {before}⟦{}⟧{behind}",
                hit.line(text),
                &text[hit.range.clone()]
            );
            *counts.entry(hit.rule.clone()).or_default() += 1;
            count += 1;
        }
    }
    println!("{count} hits in {size} bytes: {counts:?}");
    assert!(count * 10_000_000 <= size * 16, "more than 1.6 hits a MB");
}
