//! Embeds files built by xtask: the viewer and the licenses of the libraries. Each variable below names a file;
//! without it an empty file is embedded, so that plain `cargo build` and `cargo test` work on a fresh clone.

use std::{env, fs, path::Path};

/// The variables, and the names by which the program includes their files.
const EMBEDDED: [(&str, &str); 2] = [
    ("PROSE_VIEWER_HTML", "viewer.html"),
    ("PROSE_LICENSES", "licenses.txt.gz"),
];

fn main() {
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    for (variable, name) in EMBEDDED {
        println!("cargo::rerun-if-env-changed={variable}");
        let content = match env::var(variable) {
            Ok(path) if !path.is_empty() => {
                println!("cargo::rerun-if-changed={path}");
                fs::read(&path).unwrap_or_else(|e| panic!("{variable} names {path}: {e}"))
            }
            _ => Vec::new(),
        };
        fs::write(Path::new(&out).join(name), content).expect("writing into OUT_DIR");
    }
}
