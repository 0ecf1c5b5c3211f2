//! The programs of a sweep: fixtures, the corpus, and generated ones.

use std::path::{Path, PathBuf};

use crate::generate;

/// A program, and the name by which a single test can run it again.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Returns the programs generated from these seeds.
pub(crate) fn made(seed: u64, count: u64) -> Vec<Program> {
    let seeds = seed..seed.saturating_add(count);
    seeds
        .map(|seed| Program {
            name: format!("generated, seed {seed}"),
            text: generate::program(seed),
        })
        .collect()
}

/// Returns the programs below a folder, each text once.
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
