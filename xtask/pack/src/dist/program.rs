//! Builds the optimised `prosescope` for a target: statically linked for Linux, and without paths of this machine.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::tools;
use xtask::cargo::{
    self, VIEWER_HTML, calling_cargo, cargo, renamed, target as built, without_paths,
};
use xtask::setup;
use xtask::step::{run, step};

/// The environment variable with the path of the licenses that the build script embeds; see cli/build.rs.
pub(crate) const LICENSES: &str = "PROSE_LICENSES";

/// The files embedded in the program.
pub(crate) struct EmbeddedFiles {
    /// The viewer.
    pub(crate) viewer: PathBuf,
    /// The compressed licenses of the libraries.
    pub(crate) licenses: PathBuf,
}

/// Builds the program and returns its path.
///
/// # Errors
/// If a tool is missing and cannot be installed, the build fails, or the program contains a path of this machine.
pub(crate) fn build(root: &Path, target: &str, embedded: &EmbeddedFiles) -> Result<PathBuf> {
    let musl = target.ends_with("-linux-musl");
    let mut build = if musl {
        let tools = tools::zigbuild(root, target)?;
        let mut build = calling_cargo(root, tools.join("cargo-zigbuild").as_os_str());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(tools).chain(std::env::split_paths(&path));
        build.env("PATH", std::env::join_paths(folders)?);
        build
    } else {
        setup::rust_target(target)?;
        cargo(root)
    };
    // The flags are passed as a TOML list. Rust's syntax for strings is also valid there.
    let flags = without_paths(root);
    build
        .arg("rustc")
        .args(["--config", &format!("target.{target}.rustflags={flags:?}")])
        .args(["--locked", "--release", "--target", target])
        .args(["--package", "prosescope", "--bin", "prosescope"])
        .env(VIEWER_HTML, &embedded.viewer)
        .env(LICENSES, &embedded.licenses);
    if musl {
        // With this flag, the program is loaded at a random address, which makes attacks harder. cargo-zigbuild does
        // not set it.
        build.args(["--", "-C", "link-arg=-pie"]);
    }
    if !target.contains("windows") {
        let renamed = renamed(root).into_iter();
        let flags =
            renamed.map(|(path, name)| format!("-ffile-prefix-map={}={name}", path.display()));
        build.env(
            format!("CFLAGS_{}", target.replace('-', "_")),
            flags.collect::<Vec<_>>().join(" "),
        );
    }
    step(
        &format!("Building prosescope for {target} (5 to 10 minutes the first time)"),
        || run(&mut build),
    )?;
    let program = built(root)
        .join(target)
        .join("release")
        .join(file_name(target));
    ensure!(program.is_file(), "cargo built no {}", program.display());
    names_no_folder(root, &program)?;
    Ok(program)
}

/// Returns the program's file name on a target.
pub(crate) fn file_name(target: &str) -> &'static str {
    if target.contains("windows") {
        "prosescope.exe"
    } else {
        "prosescope"
    }
}

/// Checks that a file contains no path of this machine.
///
/// # Errors
/// If the file contains such a path, or cannot be read.
pub(crate) fn names_no_folder(root: &Path, file: &Path) -> Result<()> {
    let content = fs::read(file).with_context(|| format!("reading {}", file.display()))?;
    let folders = [
        Some(root.to_owned()),
        Some(built(root)),
        cargo::home(),
        std::env::home_dir(),
    ];
    for folder in folders.into_iter().flatten() {
        let name = folder.to_string_lossy();
        // A home folder of `/` would match every path, so it is skipped.
        if name.len() > 1 {
            let found = named(&content, &name);
            ensure!(
                found.is_none(),
                "{} contains a path of this machine: {}. Next: rename the folder for the compiler in {}",
                file.display(),
                found.unwrap_or_default(),
                file!()
            );
        }
    }
    Ok(())
}

/// Returns the first path below a folder that occurs in the bytes, with the text that follows it.
fn named(content: &[u8], folder: &str) -> Option<String> {
    let start = format!("{folder}/");
    let at = content
        .windows(start.len())
        .position(|part| part == start.as_bytes())?;
    let shown = content.get(at..).unwrap_or_default();
    let end = shown
        .iter()
        .take(120)
        .take_while(|byte| byte.is_ascii_graphic())
        .count();
    Some(String::from_utf8_lossy(shown.get(..end)?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_below_a_folder_is_found_with_what_follows_it() {
        let content = b"\0rooted /root /root/.cargo/x.rs\0more";
        assert_eq!(named(content, "/root").unwrap(), "/root/.cargo/x.rs");
        assert_eq!(named(content, "/home/me"), None);
    }
}
