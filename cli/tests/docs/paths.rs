//! Paths that the pages name exist.

use std::collections::BTreeSet;

use prosescope_test_support::needs;

use crate::blocks;

/// Folders of the checkout that pages name files in.
const TOPS: &[&str] = &[
    "authorizer/",
    "cli/",
    "core/",
    "desk/",
    "docs/",
    "examples/",
    "fuzz/",
    "pkg/",
    "postgres/",
    "serve/",
    "store/",
    "tests/",
    "vfs/",
    "web/",
    "xtask/",
    ".ci/",
    ".cargo/",
];

/// What is made, or installed, and so is not there in a fresh clone.
const MADE: &[&str] = &["pkg/dist"];

/// Links to places in the checkout, and code spans that are paths in it.
fn named(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (n, span) in text.split('`').enumerate() {
        let is_path = n % 2 == 1
            && TOPS.iter().any(|top| span.starts_with(top))
            && !span.contains([' ', '…', '<', '*', '|']);
        if is_path {
            found.extend(braces(span));
        }
    }
    for link in text.split("](").skip(1) {
        let target = link.split([')', '#']).next().unwrap_or_default();
        if !target.is_empty() && !target.contains("://") && !target.contains([' ', '`']) {
            found.insert(format!("]{target}"));
        }
    }
    found
}

/// `a/{b,c}.rs` as its paths.
fn braces(span: &str) -> Vec<String> {
    let Some((before, rest)) = span.split_once('{') else {
        return vec![span.to_owned()];
    };
    let Some((inside, after)) = rest.split_once('}') else {
        return vec![span.to_owned()];
    };
    inside
        .split(',')
        .map(|part| format!("{before}{}{after}", part.trim()))
        .collect()
}

#[test]
fn every_path_that_a_page_names_exists() {
    let mut missing = Vec::new();
    for page in blocks::pages() {
        let at = needs::root().join(&page);
        let text = std::fs::read_to_string(&at).expect("a page");
        for path in named(&text) {
            let there = match path.strip_prefix(']') {
                Some(link) => at.parent().expect("a folder").join(link).exists(),
                None => {
                    let path = path.split(':').next().unwrap_or_default();
                    MADE.iter().any(|made| path.starts_with(made))
                        || needs::root().join(path).exists()
                }
            };
            if !there {
                missing.push(format!("{page}: {}", path.trim_start_matches(']')));
            }
        }
    }
    assert_eq!(missing, [] as [String; 0]);
}

/// What SECURITY.md promises is shown by a file, and a test is named as it is called.
#[test]
fn every_promise_of_security_names_what_shows_it() {
    let page = std::fs::read_to_string(needs::root().join("SECURITY.md")).expect("the page");
    let promises = page.split("## What is promised").nth(1).expect("a table");
    let promises = promises.split("\n## ").next().unwrap_or_default();
    let rows = promises.lines().filter(|line| line.starts_with("| "));
    // The heading of the table.
    let rows: Vec<&str> = rows.skip(1).collect();
    assert!(rows.len() > 8, "{rows:?}");
    for row in rows {
        let shown = row
            .trim_end_matches(" |")
            .rsplit(" | ")
            .next()
            .unwrap_or_default();
        assert!(
            named(shown).iter().any(|path| !path.starts_with(']')),
            "{row}: {shown}"
        );
    }
}
