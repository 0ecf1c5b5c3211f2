//! Tests that the core's modules have a fixed order and that each module uses only earlier modules, so that there is no
//! cycle.

use std::fs;
use std::path::{Path, PathBuf};

/// The core's modules, from the lowest layer to the highest; docs/contribute/architecture.md describes each.
const LAYERS: [&str; 28] = [
    "text",
    "shell",
    "host",
    "time",
    "issue",
    "timeout",
    "run_id",
    "model",
    "database",
    "source",
    "gate",
    "schema",
    "change",
    "program",
    "decode",
    "trace",
    "judgement",
    "scope",
    "render",
    "write",
    "view",
    "resume",
    "check",
    "session",
    "repair",
    "upkeep",
    "sqlite",
    "query",
];

#[test]
fn a_module_uses_only_those_below_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    assert!(files.len() > 200, "{} files", files.len());
    let mut upward = Vec::new();
    for file in files {
        let relative = file.strip_prefix(&src).expect("a path below src");
        let own = relative.iter().next().expect("a name");
        let own = Path::new(own).file_stem().expect("a name");
        let own = own.to_string_lossy();
        if own == "lib" {
            continue;
        }
        let layer = place(&own).unwrap_or_else(|| panic!("{own} has no place in LAYERS"));
        let text = fs::read_to_string(&file).expect("a source file");
        // Leaves out the tests at the end of a file, which may use all modules.
        let code = text.split("#[cfg(test)]\nmod tests {").next();
        for (number, line) in (1..).zip(code.unwrap_or_default().lines()) {
            // `ts(as = …)` contains a type for a tool that no release contains, so this type does not count.
            let line = line.split("//").next().unwrap_or_default();
            let line = line.split("ts(as = ").next().unwrap_or_default();
            for used in used(line) {
                if place(used).is_some_and(|used| used > layer) {
                    upward.push(format!("{}:{number}: {used}", relative.display()));
                }
            }
        }
    }
    assert!(upward.is_empty(), "upward uses:\n{}", upward.join("\n"));
}

fn place(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| *layer == module)
}

/// Returns the modules after each `crate::` in a line.
fn used(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::").skip(1).flat_map(|rest| {
        let list = rest.strip_prefix('{');
        let parts = list.map_or(rest, |list| list.split('}').next().unwrap_or_default());
        let parts = parts.split(',').take(if list.is_some() { 99 } else { 1 });
        parts.filter_map(|part| {
            let part = part.trim_start();
            let end = part.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            part.get(..end.unwrap_or(part.len()))
        })
    })
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && name != "tests" {
            sources(&path, files);
        } else if name.ends_with(".rs") && name != "tests.rs" && !name.ends_with("_tests.rs") {
            files.push(path);
        }
    }
}
