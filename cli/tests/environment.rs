//! Checks that docs/reference/environment.md lists exactly the variables that the sources read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders whose sources are scanned.
const SOURCES: [&str; 14] = [
    "authorizer",
    "cli",
    "core",
    "desk",
    "fuzz",
    "pkg",
    "postgres",
    "serve",
    "store",
    "tests",
    "vfs",
    "web",
    "xtask",
    "examples",
];

/// Environment variables that are read by libraries only, so that their names do not occur in the sources.
const LIBRARIES: [&str; 4] = ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM"];

/// Environment variables that cargo sets during a build.
const OF_CARGO: [&str; 4] = [
    "CARGO_MANIFEST_DIR",
    "CARGO_TARGET_TMPDIR",
    "CARGO_PKG_VERSION",
    "OUT_DIR",
];

/// Texts in a source that read an environment variable. A literal after such a text is the name of the variable.
const READ: [&str; 8] = [
    "env::var(",
    "env::var_os(",
    " var(",
    "env(",
    "given(",
    "environment(",
    "named_by(",
    "env = ",
];

/// Prefixes of Prosescope's environment variables, and of those of PostgreSQL and the desktop (XDG).
const OURS: [&str; 5] = ["PROSE_", "PROSESCOPE_", "OPENPROSE_P", "PG", "XDG_"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the checkout")
}

fn sources(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let skipped = ["target", "node_modules", "dist"].contains(&&*name) || name.starts_with('.');
        match path.is_dir() {
            true if skipped => {}
            true => sources(&path, files),
            false if name.ends_with(".rs") || name.ends_with(".mjs") => files.push(path),
            false => {}
        }
    }
}

fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.len() > 2 && text.starts_with(|c: char| c.is_ascii_uppercase()) && text.chars().all(plain)
}

/// Adds the environment variables that a source reads, and all literals with one of the prefixes in [`OURS`], to
/// `found`.
fn read(source: &str, found: &mut BTreeSet<String>) {
    let mut parts = source.split('"');
    let mut before = parts.next().unwrap_or_default();
    // A source may read a list of names in a loop, so a literal counts by its prefix, too.
    for text in parts {
        let ours = OURS.iter().any(|start| text.starts_with(start));
        let reads = READ.iter().any(|end| before.ends_with(end)) && !before.ends_with(".env(");
        if is_name(text) && !text.ends_with('_') && (ours || reads) {
            found.insert(text.to_owned());
        }
        before = text;
    }
}

#[test]
fn the_page_lists_what_the_sources_read() {
    let page = fs::read_to_string(root().join("docs/reference/environment.md")).expect("the page");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let mut listed: BTreeSet<String> = names.map(str::to_owned).collect();
    for name in LIBRARIES {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
    let mut files = Vec::new();
    for folder in SOURCES {
        sources(&root().join(folder), &mut files);
    }
    assert!(files.len() > 500, "{} files", files.len());
    let mut found = BTreeSet::new();
    // Skips this file, and a test that sets environment variables which no source reads.
    let apart = ["environment.rs", "cli/tests/clock.rs"];
    for file in files
        .iter()
        .filter(|file| !apart.iter().any(|name| file.ends_with(name)))
    {
        read(&fs::read_to_string(file).expect("a source"), &mut found);
    }
    // PGDMP is the magic number of a dump, not a variable. PGSERVICEFILE is set by a test, and only `psql` reads it.
    for other in ["PGDMP", "PGSERVICEFILE"]
        .into_iter()
        .chain(OF_CARGO)
        .chain(LIBRARIES)
    {
        found.remove(other);
    }
    // The sources read these variables from lists, and the names lack our prefixes. So the scan does not find them.
    for name in ["USER", "LOGNAME", "USERNAME", "DATABASE_URL"] {
        assert!(listed.remove(name), "{name} is not on the page");
        found.remove(name);
    }
    let missing: Vec<_> = found.difference(&listed).collect();
    let more: Vec<_> = listed.difference(&found).collect();
    assert!(
        missing.is_empty(),
        "docs/reference/environment.md lacks {missing:?}"
    );
    assert!(
        more.is_empty(),
        "docs/reference/environment.md lists {more:?}, which nothing reads"
    );
}
