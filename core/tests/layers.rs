//! Tests that the core's rooms and the modules in them have a fixed order, and that each uses only earlier ones, so
//! that there is no cycle.

use std::fs;
use std::path::{Path, PathBuf};

/// The core's rooms and their modules, from the lowest layer to the highest; a room by itself stands for the files that
/// are in no module of this list. docs/contribute/architecture.md describes each.
const LAYERS: &[&str] = &[
    "model/text",
    "model/shell",
    "model/host",
    "model/time",
    "model/issue",
    "model/timeout",
    "model/run_id",
    "model",
    "model/database",
    "model/source",
    "model/schema",
    "model/change",
    "program",
    "read/gate",
    "read/decode",
    "read/sqlite",
    "read/transcript",
    "read",
    "trace",
    "trace/judgement",
    "trace/scope",
    "record/render",
    "record",
    "pages/view",
    "pages/resume",
    "pages/check",
    "pages/session",
    "pages/repair",
    "pages/upkeep",
    "pages/query",
    "pages",
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
        if relative == Path::new("lib.rs") {
            continue;
        }
        let path = relative.with_extension("");
        let mut names = path.iter().map(|name| name.to_string_lossy());
        let room = names.next().unwrap_or_default();
        let module = names.next().unwrap_or_default();
        let layer = place(&room, &module)
            .unwrap_or_else(|| panic!("{} has no place in LAYERS", path.display()));
        let text = fs::read_to_string(&file).expect("a source file");
        // Leaves out the tests at the end of a file, which may use all modules.
        let code = text.split("#[cfg(test)]\nmod tests {").next();
        // `ts(as = …)` contains a type for a tool that no release contains, so this type does not count.
        let code: Vec<&str> = code.unwrap_or_default().lines().collect();
        let code = code.iter().map(|line| {
            let line = line.split("//").next().unwrap_or_default();
            line.split("ts(as = ").next().unwrap_or_default()
        });
        let code = code.collect::<Vec<_>>().join("\n");
        for (room, module) in used(&code) {
            if place(room, module).is_some_and(|used| used > layer) {
                upward.push(format!("{}: {room}::{module}", relative.display()));
            }
        }
    }
    assert!(upward.is_empty(), "upward uses:\n{}", upward.join("\n"));
}

fn place(room: &str, module: &str) -> Option<usize> {
    let find = |name: &str| LAYERS.iter().position(|layer| *layer == name);
    find(&format!("{room}/{module}")).or_else(|| find(room))
}

/// Returns the room and the name in it after each `crate::`; one for each name in braces.
fn used(code: &str) -> Vec<(&str, &str)> {
    let mut all = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let (room, rest) = name(rest);
        let rest = rest.strip_prefix("::").unwrap_or_default();
        let list = rest.strip_prefix('{');
        let list = list.map(|list| list.split('}').next().unwrap_or_default());
        let names = list.map_or(vec![rest], |list| list.split(',').collect());
        all.extend(
            names
                .into_iter()
                .map(|used| (room, name(used.trim_start()).0)),
        );
    }
    all
}

/// Splits the identifier off the beginning of a text.
fn name(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    text.split_at(end.unwrap_or(text.len()))
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
