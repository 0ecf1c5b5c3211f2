//! `cargo xtask lines`: counts the lines of code per crate, and per module of the larger crates, and compares them with
//! docs/contribute/size.md.
//!
//! A line counts if it contains code. Lines that are part of a test are counted apart, so the other counts measure what
//! a reader has to understand to change the program. Tests are modules under `#[cfg(test)]`, inline or in their own
//! files, and the folders `tests`. There is no limit on the counts; a commit that raises one says what the lines buy.
//!
//! Also counts the definitions of types, and those that share their name with another.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The number of lines from which a crate is listed by module.
const LARGE: usize = 8_000;

/// The crates of the program and of its tools.
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

/// The page with the counts of the last commit that wrote them.
const PAGE: &str = "docs/contribute/size.md";

/// The page's text before its table.
const HEAD: &str = "# Size

Lines of Rust without comments and blank lines; tests are counted apart. After them, the definitions of types outside of tests, and
those that share their name with another. `cargo xtask lines` counts again and prints what changed, CI too; `cargo xtask lines --write`
rewrites this page. Lines may be added: the commit then says in its body what they buy.

| place | lines |
|---|---:|
";

#[derive(clap::Args, Default)]
pub(crate) struct LinesArgs {
    /// Write the counts to docs/contribute/size.md
    #[arg(long)]
    write: bool,
}

/// Prints the counts, with their changes since the page was written.
///
/// # Errors
/// If a source cannot be read, or the page cannot be written.
pub(crate) fn print(root: &Path, args: &LinesArgs) -> Result<()> {
    let counts = counts(root)?;
    let page = root.join(PAGE);
    let before = recorded(&fs::read_to_string(&page).unwrap_or_default());
    for (place, lines) in &counts {
        let change = match before.iter().find(|(known, _)| known == place) {
            Some((_, old)) if old == lines => String::new(),
            Some((_, old)) => format!("  {:+}", lines.cast_signed() - old.cast_signed()),
            None => "  new".to_owned(),
        };
        println!("{lines:>7}  {place}{change}");
    }
    for (place, old) in &before {
        if !counts.iter().any(|(known, _)| known == place) {
            println!("      0  {place}  -{old}");
        }
    }
    if args.write {
        let rows = counts
            .iter()
            .map(|(place, lines)| format!("| {place} | {lines} |\n"));
        let text = format!("{HEAD}{}", rows.collect::<String>());
        fs::write(&page, text).with_context(|| format!("writing {}", page.display()))?;
    }
    Ok(())
}

/// Returns each counted place with its lines: all crates, all tests, each crate, and each module of a large crate.
fn counts(root: &Path) -> Result<Vec<(String, usize)>> {
    let mut crates = Vec::new();
    let mut everything = 0;
    let mut types = Vec::new();
    for name in CRATES {
        let mut folders = vec![root.join(name).join("src")];
        if name == "xtask" {
            folders.push(root.join("xtask/pack/src"));
        }
        let mut modules = BTreeMap::new();
        for folder in folders {
            for (module, code) in self::modules(&folder)? {
                *modules.entry(module).or_default() += code.len();
                types.extend(
                    code.iter()
                        .filter_map(|line| defined(line))
                        .map(str::to_owned),
                );
            }
        }
        crates.push((name, modules.values().sum::<usize>(), modules));
    }
    for folder in CRATES.iter().chain(&["tests", "fuzz"]) {
        let mut files = Vec::new();
        sources(&root.join(folder), &mut files)?;
        for file in files {
            everything += with_tests(&read(&file)?);
        }
    }
    crates.sort_by_key(|(_, lines, _)| std::cmp::Reverse(*lines));
    let all = crates.iter().map(|(_, lines, _)| lines).sum::<usize>();
    let mut counts = vec![
        ("all without tests".to_owned(), all),
        ("tests".to_owned(), everything - all),
        ("types".to_owned(), types.len()),
        ("types that share a name".to_owned(), sharing(&types)),
    ];
    for (name, lines, modules) in crates {
        counts.push((name.to_owned(), lines));
        let mut modules: Vec<_> = modules.into_iter().collect();
        modules.sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
        let listed = modules.into_iter().filter(|_| lines >= LARGE);
        counts.extend(listed.map(|(module, lines)| (format!("{name}/{module}"), lines)));
    }
    Ok(counts)
}

/// Returns the counts on the page.
fn recorded(page: &str) -> Vec<(String, usize)> {
    let row = |line: &str| {
        let (place, lines) = line
            .strip_prefix("| ")?
            .strip_suffix(" |")?
            .split_once(" | ")?;
        Some((place.to_owned(), lines.parse().ok()?))
    };
    page.lines().filter_map(row).collect()
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))
}

/// Returns the lines of code of each module of a crate. A module is a folder or a file directly in `folder`.
fn modules(folder: &Path) -> Result<BTreeMap<String, Vec<String>>> {
    let mut files = Vec::new();
    sources(folder, &mut files)?;
    let texts: Vec<(PathBuf, String)> = files
        .into_iter()
        .map(|file| {
            let text = read(&file)?;
            Ok((file, text))
        })
        .collect::<Result<_>>()?;
    let tests: HashSet<PathBuf> = texts
        .iter()
        .flat_map(|(file, text)| tests_of(file, text))
        .collect();
    let mut modules = BTreeMap::<String, Vec<String>>::new();
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
        let code = code(text).into_iter().map(str::to_owned);
        modules.entry(top).or_default().extend(code);
    }
    Ok(modules)
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        match path.is_dir() {
            // Packages of npm and Python that the tests installed.
            true if path.ends_with("node_modules") || path.ends_with(".venv") => {}
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

/// Returns the lines of code in a text formatted by rustfmt.
fn code(text: &str) -> Vec<&str> {
    let mut code = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == "#[cfg(test)]" {
            // Skips the item under `#[cfg(test)]`, which ends at an unindented `}` or at a line with `;`.
            let end = |line: &&str| line.ends_with(';') || *line == "}";
            let _ = lines
                .by_ref()
                .skip_while(|line| line.starts_with('#'))
                .find(|line| !line.starts_with(' ') && end(line));
        } else if is_code(line) {
            code.push(line);
        }
    }
    code
}

/// Returns the name of the type that a line begins to define, outside of a function or an `impl`.
fn defined(line: &str) -> Option<&str> {
    let item = match line.strip_prefix("pub(") {
        Some(rest) => rest.split_once(") ")?.1,
        None => line.strip_prefix("pub ").unwrap_or(line),
    };
    let (word, rest) = item.split_once(' ')?;
    let is_type = matches!(word, "struct" | "enum" | "trait" | "type" | "union");
    is_type.then(|| {
        rest.split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .next()
    })?
}

/// Returns how many names are given to more than one type, counted once for each type.
fn sharing(types: &[String]) -> usize {
    let mut names = BTreeMap::<&str, usize>::new();
    for name in types {
        *names.entry(name).or_default() += 1;
    }
    names.into_values().filter(|count| *count > 1).sum()
}

/// Counts the lines of code in a text, with those of tests.
fn with_tests(text: &str) -> usize {
    text.lines().filter(|line| is_code(line)).count()
}

fn is_code(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with("//")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blank_lines_and_tests_do_not_count() {
        let text = "//! About.\n\nuse a::b;\n\n/// What it does.\nfn f() {\n    // Why.\n    g(); // how\n}\n\n#[cfg(test)]\nmod tests {\n    fn x() {\n    }\n}\n\nfn last() {}\n";
        assert_eq!(code(text).len(), 5);
    }

    #[test]
    fn types_with_the_name_of_another_are_counted() {
        let text = "struct A;\npub(in crate::a) enum B {\n    C,\n}\npub trait A<T> {\n    type B;\n}\ntype D = u8;\n";
        let types: Vec<String> = text
            .lines()
            .filter_map(defined)
            .map(str::to_owned)
            .collect();
        assert_eq!(types, ["A", "B", "A", "D"]);
        assert_eq!(sharing(&types), 2);
    }

    #[test]
    fn what_a_page_records_is_read_again() {
        let page = format!("{HEAD}| core | 12 |\n| core/trace | 7 |\n");
        assert_eq!(
            recorded(&page),
            [("core".to_owned(), 12), ("core/trace".to_owned(), 7)]
        );
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
        let counted = modules(folder.path()).unwrap().into_iter();
        assert_eq!(
            counted
                .map(|(module, code)| (module, code.len()))
                .collect::<Vec<_>>(),
            [
                ("a".to_owned(), 2),
                ("b".to_owned(), 2),
                ("lib".to_owned(), 2)
            ]
        );
    }
}
