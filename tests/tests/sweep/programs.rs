//! Collects the programs of a sweep: programs in folders (fixtures, the corpus) and generated programs.

use std::path::{Path, PathBuf};

use prosescope_test_support::programs;

/// A program, and the name with which `PROSE_SWEEP_ONLY` can run only this program.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Returns `count` programs, generated from consecutive seeds.
pub(crate) fn made(seed: u64, count: u64) -> Vec<Program> {
    let seeds = seed..seed.saturating_add(count);
    seeds
        .map(|seed| Program {
            name: format!("generated, seed {seed}"),
            text: programs::program(seed),
        })
        .collect()
}

/// Returns the programs below a folder. Of several files with the same text, returns one.
pub(crate) fn below(folder: &Path) -> Vec<Program> {
    let mut paths = Vec::new();
    collect(folder, &mut paths);
    paths.sort();
    let mut all: Vec<Program> = Vec::new();
    for path in paths {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        if !all.iter().any(|known| known.text == text) {
            let name = path.strip_prefix(folder).unwrap_or(&path);
            all.push(Program {
                name: name.display().to_string(),
                text,
            });
        }
    }
    all
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|ext| ext == "prose") {
            paths.push(path);
        }
    }
}
