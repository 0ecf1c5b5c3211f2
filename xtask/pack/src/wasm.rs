//! Runs wasm-bindgen, as a library, on a compiled module.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use wasm_bindgen_cli_support::Bindgen;
use xtask::step::run;

use crate::order::ordered;

/// The environment variable with the path of the `wasm-opt` of npm's binaryen. It makes the wasm a fifth smaller on
/// disk, but not when compressed (docs/contribute/performance.md). Other builds of `wasm-opt` are not safe: an old
/// one silently breaks the app.
const WASM_OPT: &str = "PROSESCOPE_WASM_OPT";

/// Runs wasm-bindgen, `wasm-opt` if [`WASM_OPT`] is set, and [`ordered`]. Writes the glue as `{name}.js` into `out`,
/// and returns the module.
///
/// # Errors
/// If one of them fails.
pub(crate) fn bind(
    wasm: &Path,
    out: &Path,
    name: &str,
    options: impl FnOnce(&mut Bindgen) -> Result<()>,
) -> Result<Vec<u8>> {
    fs::create_dir_all(out).with_context(|| format!("making {}", out.display()))?;
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(wasm)
        .out_name(name)
        .remove_name_section(true)
        .remove_producers_section(true);
    options(&mut bindgen)?;
    bindgen.generate(out).context("wasm-bindgen")?;
    let bound = out.join(format!("{name}_bg.wasm"));
    let wasm = match std::env::var_os(WASM_OPT) {
        Some(tool) => shrink(Path::new(&tool), &bound)?,
        None => fs::read(&bound).context("reading the bound wasm")?,
    };
    let wasm = ordered(&wasm)?;
    fs::write(&bound, &wasm)?;
    Ok(wasm)
}

fn shrink(tool: &Path, wasm: &Path) -> Result<Vec<u8>> {
    let to = wasm.with_extension("opt.wasm");
    run(Command::new(tool).args(["-Oz", "--all-features"]).args([
        wasm.as_os_str(),
        "-o".as_ref(),
        to.as_os_str(),
    ]))
    .with_context(|| format!("set by {WASM_OPT}"))?;
    let small = fs::read(&to)?;
    eprintln!(
        "wasm-opt: {} KB to {} KB",
        fs::metadata(wasm)?.len() / 1024,
        small.len() / 1024
    );
    Ok(small)
}
