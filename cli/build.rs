//! Embeds the viewer: the file that `PROSE_VIEWER_HTML` names, else an empty one, so that plain `cargo build` and
//! `cargo test` work on a fresh clone. xtask sets the variable for every cargo call.

use std::{env, fs, path::Path};

fn main() {
    println!("cargo::rerun-if-env-changed=PROSE_VIEWER_HTML");
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("viewer.html");
    let page = match env::var("PROSE_VIEWER_HTML") {
        Ok(path) if !path.is_empty() => {
            println!("cargo::rerun-if-changed={path}");
            fs::read(&path).unwrap_or_else(|e| panic!("PROSE_VIEWER_HTML names {path}: {e}"))
        }
        _ => Vec::new(),
    };
    fs::write(out, page).expect("writing into OUT_DIR");
}
