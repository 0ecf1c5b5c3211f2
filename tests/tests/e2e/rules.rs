//! Tests that the pages about rules (core/src/pages/check/rules) describe exactly the rules that the sources use.

use std::fs;
use std::path::Path;

use prosescope_core::pages::check::{rule, rules};
use prosescope_tests::needs;
use prosescope_tests::rule_scan::rules_in;

#[test]
fn every_rule_of_the_sources_is_registered_and_every_registered_rule_is_used() {
    let root = needs::root();
    let mut files = Vec::new();
    for crate_ in ["core", "store", "postgres", "share", "cli", "web", "pkg"] {
        let folder = root.join(crate_).join("src");
        if folder.is_dir() {
            sources(root, &folder, &mut files);
        }
    }
    assert!(files.len() > 100, "did the sources move?");
    let used = rules_in(&files).unwrap();
    let unknown: Vec<String> = used
        .iter()
        .filter(|(name, _)| rule(name).is_none())
        .map(|(name, place)| format!("{name}, used in {place}"))
        .collect();
    assert!(
        unknown.is_empty(),
        "these rules are not registered:\n  {}\nAdd an entry for each to a page of core/src/pages/check/rules.",
        unknown.join("\n  ")
    );
    let unused: Vec<&str> = rules()
        .iter()
        .map(|rule| &*rule.name)
        .filter(|name| !used.contains_key(*name))
        .collect();
    assert!(
        unused.is_empty(),
        "no source uses these rules any more: {}.\nRemove them from core/src/pages/check/rules.",
        unused.join(", ")
    );
}

fn sources(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        let relative = path.strip_prefix(root).unwrap().display().to_string();
        if path.is_dir() {
            sources(root, &path, files);
        } else if relative.ends_with(".rs") && !relative.ends_with("tests.rs") {
            files.push((relative, fs::read_to_string(&path).unwrap()));
        }
    }
}
