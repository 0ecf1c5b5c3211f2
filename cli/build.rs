//! Embeds files built by xtask: the viewer and the licenses of the libraries. Each variable below names a file. Without it, a published
//! crate embeds the file that `cargo xtask dist` put into its folder `embedded`. A checkout embeds an empty file, so that plain
//! `cargo build` and `cargo test` work on a fresh clone, and work the same after a release was made there.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The variables, and the names by which the program includes their files.
const EMBEDDED: [(&str, &str); 2] = [
    ("PROSE_VIEWER_HTML", "viewer.html"),
    ("PROSE_LICENSES", "licenses.txt.gz"),
];

fn main() {
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    for (variable, name) in EMBEDDED {
        println!("cargo::rerun-if-env-changed={variable}");
        let file = match env::var(variable) {
            Ok(path) if !path.is_empty() => Some(PathBuf::from(path)),
            _ => packed(name),
        };
        let content = file.map_or_else(Vec::new, |file| {
            println!("cargo::rerun-if-changed={}", file.display());
            fs::read(&file).unwrap_or_else(|e| panic!("{variable}: {}: {e}", file.display()))
        });
        fs::write(Path::new(&out).join(name), content).expect("writing into OUT_DIR");
    }
}

/// A file that the published crate contains.
fn packed(name: &str) -> Option<PathBuf> {
    // Cargo adds this file when it packs a crate; a checkout does not have it.
    let crate_is_packed = Path::new("Cargo.toml.orig").is_file();
    let file = Path::new("embedded").join(name);
    (crate_is_packed && file.is_file()).then_some(file)
}
