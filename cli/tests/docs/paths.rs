//! Checks that the paths in code spans of the docs exist in the checkout.

use std::collections::BTreeSet;

use prosescope_test_support::needs;

use crate::blocks;

/// The folders of the checkout that a path on a page may begin with.
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
    "redact/",
    "serve/",
    "share/",
    "store/",
    "tests/",
    "vfs/",
    "web/",
    "workflow/",
    "xtask/",
    ".ci/",
    ".github/",
    "packaging/",
    ".cargo/",
];

/// Paths that only a build creates, so that they need not exist in a fresh clone.
const MADE: &[&str] = &["pkg/dist", "cli/embedded"];

/// Returns the code spans that are paths in the checkout.
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
    found
}

/// Expands `a/{b,c}.rs` to its paths.
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
        let text = std::fs::read_to_string(needs::root().join(&page)).expect("a page");
        for path in named(&text) {
            let plain = path.split(':').next().unwrap_or_default();
            let made = MADE.iter().any(|made| plain.starts_with(made));
            if !made && !needs::root().join(plain).exists() {
                missing.push(format!("{page}: {path}"));
            }
        }
    }
    assert_eq!(missing, [] as [String; 0]);
}

/// Checks that each promise of SECURITY.md contains the path of an existing file, or the name of an existing test.
#[test]
fn every_promise_of_security_names_what_shows_it() {
    let page = std::fs::read_to_string(needs::root().join("SECURITY.md")).expect("the page");
    let promises = page.split("## What is promised").nth(1).expect("a table");
    let promises = promises.split("\n## ").next().unwrap_or_default();
    let rows = promises.lines().filter(|line| line.starts_with("| "));
    // The first row is the heading of the table.
    let rows: Vec<&str> = rows.skip(1).collect();
    assert!(rows.len() > 8, "{rows:?}");
    for row in rows {
        let shown = row
            .trim_end_matches(" |")
            .rsplit(" | ")
            .next()
            .unwrap_or_default();
        assert!(!named(shown).is_empty(), "{row}: {shown}");
    }
}
