//! Tests that the shells, which are the crates around the core, contain no SQL: the core makes every query of a
//! database. Only stores that write have SQL of their own, with which they apply the core's changes.

use std::fs;
use std::path::Path;

use prosescope_tests::needs;
use prosescope_tests::sql_scan::{in_rust, in_text};

/// The sources of the shells. The reading parts of the store follow the same rule: the core decides which rows the
/// store reads.
const SHELLS: &[&str] = &[
    "cli/src",
    "desk/src",
    "serve/src",
    "store/src",
    "web",
    "pkg",
];

/// The sources that turn the core's changes into rows. They may contain SQL.
const WRITERS: &[&str] = &["store/src/record/sqlite", "store/src/upkeep"];

#[test]
fn shells_hold_no_sql() {
    let mut found = Vec::new();
    let mut files = 0;
    for shell in SHELLS {
        let folder = needs::root().join(shell);
        if folder.is_dir() {
            scan(&folder, &mut found, &mut files);
        }
    }
    assert!(
        files >= 3,
        "only {files} files were read: did the shells move?"
    );
    assert_eq!(
        found,
        [] as [String; 0],
        "SQL belongs to the core (core/src/read/sqlite, core/src/model/schema)"
    );
}

fn scan(folder: &Path, found: &mut Vec<String>, files: &mut usize) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if WRITERS.iter().any(|writer| path.ends_with(writer)) {
            continue;
        }
        if path.is_dir() {
            if name != "node_modules" && name != "dist" && name != "target" {
                scan(&path, found, files);
            }
            continue;
        }
        let read = || fs::read_to_string(&path).unwrap();
        let hits = match path.extension().and_then(|e| e.to_str()) {
            Some("rs") => in_rust(&read()).unwrap_or_else(|e| panic!("{}: {e}", path.display())),
            Some("js" | "mjs" | "ts" | "html") => in_text(&read()),
            Some("sql") => panic!("{}: SQL belongs to the core", path.display()),
            _ => continue,
        };
        *files += 1;
        found.extend(
            hits.iter()
                .map(|f| format!("{}:{}: {}", path.display(), f.line, f.text)),
        );
    }
}
