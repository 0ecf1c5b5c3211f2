//! Compares dumps of runs with the dumps stored in the repository.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::text::{Dumped, joined};

/// Compares dumps with the stored dumps; if they differ, writes both to files.
#[track_caller]
pub(crate) fn check(name: &str, runs: &[Dumped]) {
    let text = joined(runs);
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/dump/{name}.txt"));
    if env::var_os("PROSE_WRITE_DOCS").is_some() {
        fs::write(&path, &text).expect("the dump can be written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    if kept == text {
        return;
    }
    let now = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.now.txt"));
    fs::write(&now, &text).expect("the dump can be written");
    let differs = kept.lines().zip(text.lines()).position(|(a, b)| a != b);
    let at = differs.unwrap_or_else(|| kept.lines().count().min(text.lines().count()));
    panic!(
        "{name} differs from line {} on: was {:?}, is {:?}\ncompare: diff -u {} {}",
        at + 1,
        kept.lines().nth(at).unwrap_or("(its end)"),
        text.lines().nth(at).unwrap_or("(its end)"),
        path.display(),
        now.display()
    );
}
