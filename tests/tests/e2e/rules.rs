//! The page of rules (docs/reference/checks.md) holds every rule that the sources use and no other, and nothing of it is passed over when
//! the program reads it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use prosescope_core::check::{rule, rules};
use prosescope_core::view::RuleView;
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
        "these rules are not registered:\n  {}\nAdd an entry for each to docs/reference/checks.md.",
        unknown.join("\n  ")
    );
    let unused: Vec<&str> = rules()
        .iter()
        .map(|rule| &*rule.name)
        .filter(|name| !used.contains_key(*name))
        .collect();
    assert!(
        unused.is_empty(),
        "no source uses these rules any more: {}.\nRemove them from docs/reference/checks.md.",
        unused.join(", ")
    );
}

#[test]
fn the_page_of_rules_is_read_whole() {
    let page = fs::read_to_string(needs::root().join("docs/reference/checks.md")).unwrap();
    let is_read = |line: &&str| !line.starts_with("<!-- shown by ");
    let lines = page.split_inclusive('\n').filter(is_read);
    let page: String = lines.map(without_targets).collect();
    let mut area = "";
    let mut rest = &*page;
    for rule in rules() {
        if rule.area != area {
            area = &rule.area;
            let link = format!("- [{area}](#{})\n", area.to_lowercase().replace(' ', "-"));
            assert!(page.contains(&link), "no {link}");
            rest = rest.split_once(&format!("\n## {area}\n")).unwrap().1;
        }
        let entry = entry(rule);
        let at = rest.find(&entry);
        let at = at.unwrap_or_else(|| panic!("the page has it otherwise: {entry}"));
        // Only what an area is about stands between two entries.
        let between = rest[..at].trim();
        assert!(
            !between.contains('\n') && !between.contains("###"),
            "{between}"
        );
        rest = &rest[at + entry.len()..];
    }
    assert!(rest.trim().is_empty(), "{rest}");
}

/// A line in which the links of a rule's source are their words, as they are read.
fn without_targets(line: &str) -> String {
    if !line.contains(" · ") {
        return line.to_owned();
    }
    let parts = line.split("](").enumerate();
    let words = parts.map(|(n, part)| match part.split_once(')') {
        Some((_, after)) if n > 0 => after,
        _ => part,
    });
    words.collect::<String>().replace('[', "")
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

fn entry(rule: &RuleView) -> String {
    let severities: Vec<&str> = rule.severities.iter().map(|s| s.word()).collect();
    let mut out = format!(
        "\n### {}\n\n{} · {}\n\n{}\n\nWhat to do: {}\n\n",
        rule.name,
        severities.join(" or "),
        rule.source,
        rule.meaning,
        rule.fix
    );
    for part in &rule.example {
        if part.language.is_empty() {
            let _ = write!(out, "Example: {}\n\n", part.text);
            continue;
        }
        let title = match part.title.starts_with("SQL") {
            true => part.title.clone(),
            false => format!("`{}`", part.title),
        };
        let ticks = "`".repeat(if part.text.contains("```") { 4 } else { 3 });
        let _ = write!(
            out,
            "{title}\n\n{ticks}{}\n{}\n{ticks}\n\n",
            part.language, part.text
        );
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}
