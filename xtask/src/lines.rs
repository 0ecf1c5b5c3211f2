//! `cargo xtask lines`: counts the lines of code per crate, and per module of the larger crates.
//!
//! A line counts if it contains code that is not part of a test. So the counts measure what a reader has to
//! understand to change the program. Tests are modules under `#[cfg(test)]`, inline or in their own files. There is
//! no limit on the counts.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The number of lines from which a crate is listed by module.
const LARGE: usize = 8_000;

/// The counted crates. Crates that only test, build or measure the program are left out.
const CRATES: [&str; 14] = [
    "authorizer",
    "cli",
    "core",
    "desk",
    "pkg",
    "postgres",
    "redact",
    "serve",
    "share",
    "store",
    "vfs",
    "web",
    "workflow",
    "xtask",
];

/// Prints the counts.
///
/// # Errors
/// If a source cannot be read.
pub(crate) fn print(root: &Path) -> Result<()> {
    let mut all = Vec::new();
    for name in CRATES {
        let folder = root.join(name).join("src");
        if folder.is_dir() {
            let modules = modules(&folder)?;
            all.push((name, modules.values().sum::<usize>(), modules));
        }
    }
    all.sort_by_key(|(_, lines, _)| std::cmp::Reverse(*lines));
    println!(
        "{:>7}  lines of code, without comments and tests",
        all.iter().map(|(_, lines, _)| lines).sum::<usize>()
    );
    for (name, lines, modules) in all {
        println!("{lines:>7}  {name}");
        let mut modules: Vec<_> = modules.into_iter().collect();
        modules.sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
        for (module, lines) in modules.iter().filter(|_| lines >= LARGE) {
            println!("{lines:>7}      {module}");
        }
    }
    Ok(())
}

/// Returns the number of lines of each module of a crate. A module is a folder or a file directly in `folder`.
fn modules(folder: &Path) -> Result<BTreeMap<String, usize>> {
    let mut files = Vec::new();
    sources(folder, &mut files)?;
    let texts: Vec<(PathBuf, String)> = files
        .into_iter()
        .map(|file| {
            let text =
                fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
            Ok((file, text))
        })
        .collect::<Result<_>>()?;
    let tests: HashSet<PathBuf> = texts
        .iter()
        .flat_map(|(file, text)| tests_of(file, text))
        .collect();
    let mut modules = BTreeMap::new();
    for (file, text) in &texts {
        // Test modules are left out, with the files in their folders.
        let is_test = tests
            .iter()
            .any(|test| file == test || file.starts_with(test.with_extension("")));
        if is_test {
            continue;
        }
        let inside = file.strip_prefix(folder).unwrap_or(file);
        let top = inside.components().next().map_or_else(String::new, |top| {
            top.as_os_str()
                .to_string_lossy()
                .trim_end_matches(".rs")
                .to_owned()
        });
        *modules.entry(top).or_default() += code(text);
    }
    Ok(modules)
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        match path.is_dir() {
            true => sources(&path, found)?,
            false if path.extension().is_some_and(|end| end == "rs") => found.push(path),
            false => {}
        }
    }
    Ok(())
}

/// Returns the files of a file's test modules: `#[cfg(test)]`, possibly `#[path = "…"]`, then `mod name;`.
fn tests_of(file: &Path, text: &str) -> Vec<PathBuf> {
    let folder = file.parent().unwrap_or(file);
    let stem = file.file_stem().unwrap_or_default();
    // Modules of `mod.rs`, `lib.rs` and `main.rs` are in the same folder; modules of `x.rs` are in the folder `x`.
    let inside = match stem.to_str() {
        Some("mod" | "lib" | "main") => folder.to_path_buf(),
        _ => folder.join(stem),
    };
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line != "#[cfg(test)]" {
            continue;
        }
        let mut next = lines.next().unwrap_or_default();
        let path = next
            .strip_prefix("#[path = \"")
            .and_then(|rest| rest.strip_suffix("\"]"));
        if path.is_some() {
            next = lines.next().unwrap_or_default();
        }
        let name = next
            .split_once("mod ")
            .and_then(|(_, name)| name.strip_suffix(';'));
        match (path, name) {
            (Some(path), Some(_)) => found.push(folder.join(path)),
            (None, Some(name)) => found.extend([
                inside.join(format!("{name}.rs")),
                inside.join(name).join("mod.rs"),
            ]),
            _ => {}
        }
    }
    found
}

/// Counts the lines of code in a text formatted by rustfmt.
fn code(text: &str) -> usize {
    let mut count = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == "#[cfg(test)]" {
            // Skips the item under `#[cfg(test)]`, which ends at an unindented `}` or at a line with `;`.
            let end = |line: &&str| line.ends_with(';') || *line == "}";
            let _ = lines
                .by_ref()
                .skip_while(|line| line.starts_with('#'))
                .find(|line| !line.starts_with(' ') && end(line));
            continue;
        }
        let line = line.trim_start();
        count += usize::from(!line.is_empty() && !line.starts_with("//"));
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blank_lines_and_tests_do_not_count() {
        let text = "//! About.\n\nuse a::b;\n\n/// What it does.\nfn f() {\n    // Why.\n    g(); // how\n}\n\n#[cfg(test)]\nmod tests {\n    fn x() {\n    }\n}\n\nfn last() {}\n";
        assert_eq!(code(text), 5);
    }

    #[test]
    fn a_test_in_a_file_of_its_own_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("lib.rs", "mod a;\nmod b;\n#[cfg(test)]\nmod tests;\n");
        write(
            "a.rs",
            "fn a() {}\n#[cfg(test)]\n#[path = \"a_tests.rs\"]\nmod tests;\nfn b() {}\n",
        );
        write("a_tests.rs", "fn not() {}\n");
        write("b/mod.rs", "fn c() {}\n");
        write("b/deep.rs", "fn d() {}\n");
        write("tests/mod.rs", "mod more;\n");
        write("tests/more.rs", "fn not() {}\n");
        let counted = modules(folder.path()).unwrap();
        assert_eq!(
            counted.into_iter().collect::<Vec<_>>(),
            [
                ("a".to_owned(), 2),
                ("b".to_owned(), 2),
                ("lib".to_owned(), 2)
            ]
        );
    }
}
