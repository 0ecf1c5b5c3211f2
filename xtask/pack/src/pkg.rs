//! `cargo xtask pkg`: builds the JavaScript package as published on npm.
//!
//! ```text
//! cargo build --profile wasm ──► wasm-bindgen (as a library) ──► glue.js, prosescope.wasm ─┐
//! pkg/js/*, pkg/bin/*, pkg/README.md, viewer.html, the licenses ───────────────────────────┴──► pkg/dist
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::bundle::emptied;
use crate::dist::{libraries, licenses};
use crate::wasm::bind;
use xtask::cargo::target;
use xtask::setup;
use xtask::step::step;
use xtask::wasm::{self, PACKAGE};

/// The placeholders in pkg/js/package.json for values of the workspace's Cargo.toml.
const FILLED: [(&str, &str); 3] = [
    ("@VERSION@", env!("CARGO_PKG_VERSION")),
    ("@REPOSITORY@", env!("CARGO_PKG_REPOSITORY")),
    ("@AUTHORS@", env!("CARGO_PKG_AUTHORS")),
];

/// Builds the package with a cargo profile and this viewer into pkg/dist, and returns that folder. The package contains
/// the viewer because a page is shared only with the viewer of the same version. The page has about 3 MB, a quarter of
/// the program that npm installs beside the package, and no bundle contains it unless it is imported.
///
/// # Errors
/// If a tool is missing and cannot be installed, or the build fails.
pub(crate) fn build(root: &Path, profile: &str, viewer: &Path) -> Result<PathBuf> {
    setup::wasm()?;
    step(
        "Building the JavaScript package (about a minute the first time)",
        || build_into(root, &root.join("pkg/dist"), profile, viewer),
    )?;
    Ok(root.join("pkg/dist"))
}

fn build_into(root: &Path, dist: &Path, profile: &str, viewer: &Path) -> Result<()> {
    let wasm = wasm::compile(root, PACKAGE, &wasm::profile(profile))?;
    let out = target(root).join("pkg");
    let wasm = bind(&wasm, &out, "glue", |bindgen| {
        bindgen
            .web(true)?
            .typescript(false)
            .omit_default_module_path(true)
            .reset_state_function(true);
        Ok(())
    })?;
    emptied(dist)?;
    for folder in ["pkg/js", "pkg/bin"] {
        for entry in fs::read_dir(root.join(folder))? {
            copy(&entry?.path(), dist)?;
        }
    }
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&root.join(file), dist)?;
    }
    fs::copy(viewer, dist.join("viewer.html"))?;
    let readme = fs::read_to_string(root.join("pkg/README.md"))?;
    fs::write(dist.join("README.md"), with_addresses(&readme))?;
    let licenses = licenses::text(root, &[libraries::NPM, libraries::VIEWER])?;
    fs::write(dist.join(licenses::FILE), licenses)?;
    copy(&out.join("glue.js"), dist)?;
    fs::write(dist.join("prosescope.wasm"), &wasm)?;
    let manifest = dist.join("package.json");
    let text = fs::read_to_string(&manifest)?;
    fs::write(&manifest, filled(&text)?)?;
    eprintln!("    {} KB of wasm", wasm.len() / 1024);
    Ok(())
}

/// Returns the README with an address in place of each path above pkg/, because the published package has no such files.
fn with_addresses(readme: &str) -> String {
    let (repository, version) = (env!("CARGO_PKG_REPOSITORY"), env!("CARGO_PKG_VERSION"));
    readme.replace("](../", &format!("]({repository}/blob/v{version}/"))
}

fn filled(manifest: &str) -> Result<String> {
    let mut text = manifest.to_owned();
    for (name, value) in FILLED {
        ensure!(
            text.contains(name),
            "pkg/js/package.json must contain {name}"
        );
        text = text.replace(name, value);
    }
    Ok(text)
}

fn copy(file: &Path, folder: &Path) -> Result<()> {
    let name = file.file_name().context("a file has a name")?;
    fs::copy(file, folder.join(name)).with_context(|| format!("copying {}", file.display()))?;
    Ok(())
}
