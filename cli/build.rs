//! Embeds the viewer and the licenses of the libraries into the program. `cargo xtask` builds these files, and passes
//! their paths in the variables of [`EMBEDDED`]. If a variable is not set, a published crate embeds the file in its
//! folder `embedded`, which `cargo xtask dist` wrote. A checkout then embeds an empty file, even after a release was
//! made in this checkout. So plain `cargo build` and `cargo test` also work on a fresh clone.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The environment variables, each with the name under which the program includes its file from `OUT_DIR`.
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

/// Returns the path of an embedded file, if this is a published crate that contains the file.
fn packed(name: &str) -> Option<PathBuf> {
    // Cargo adds `Cargo.toml.orig` to a packed crate. A checkout does not contain this file.
    let crate_is_packed = Path::new("Cargo.toml.orig").is_file();
    let file = Path::new("embedded").join(name);
    (crate_is_packed && file.is_file()).then_some(file)
}
