//! Builds the viewer: one HTML file that opens from `file://` and from a server.
//!
//! ```text
//! cargo build --profile wasm ──► wasm-bindgen (as a library) ──► gzip, as text ──► target/viewer/viewer.html
//! ```
//!
//! The page contains the style, the JavaScript glue and the compiled app, and its content security policy allows
//! nothing else: scripts and style by hash, and no connections. A server that serves the page together with runs
//! (`prosescope view`) changes two places, see [`SERVED`].

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use libdeflater::{CompressionLvl, Compressor};
use sha2::{Digest as _, Sha256};

use crate::dense;
use crate::wasm::bind;
use xtask::cargo::viewer_file;
use xtask::setup;
use xtask::step::step;
use xtask::wasm::{self, VIEWER};

/// The texts that a server replaces in the page, each with its replacement. Each text occurs exactly once. After the
/// replacement, the page may connect to its own origin, and asks this server for runs (`desk/{name}` and `changes`).
pub(crate) const SERVED: [(&str, &str); 2] = [
    ("connect-src 'none'", "connect-src 'self'"),
    (
        r#"<meta name="prosescope-served" content="no">"#,
        r#"<meta name="prosescope-served" content="yes">"#,
    ),
];

/// The texts that `prosescope share` replaces by a title, a summary and a run. Each occurs exactly once, in this
/// order (share/src/page.rs).
const SHARED: [&str; 3] = [
    "<title>Prosescope</title>",
    r#"<div id="prosescope-summary"></div>"#,
    r#"<script type="text/plain" id="prosescope-run" data-bytes="0"></script>"#,
];

/// The style in the last element of the page. It hides the line at the top that calls the page incomplete, also without
/// scripts: a page that was cut lacks this element.
const END: &str = "#prosescope-cut{display:none}";

/// The style sheets, in order; `index.html` lists the same files for Trunk.
const STYLES: [&str; 9] = [
    "tokens", "base", "shell", "band", "rows", "pages", "sql", "share", "print",
];

/// Builds the viewer with a cargo profile as a named step, and returns its path.
///
/// # Errors
/// As for [`build`], or if a tool is missing and cannot be installed.
pub(crate) fn viewer(root: &Path, profile: &str) -> Result<PathBuf> {
    setup::wasm()?;
    step(
        "Building the viewer (WebAssembly; 2 to 3 minutes the first time)",
        || build(root, profile),
    )
}

/// Builds the viewer of the workspace at `root` with a cargo profile, and returns its path,
/// `target/viewer/viewer.html`.
///
/// # Errors
/// If cargo fails, or a part of the page contains a text that would break the page, such as `</script`.
fn build(root: &Path, profile: &str) -> Result<PathBuf> {
    let profile = &*wasm::profile(profile);
    let wasm = wasm::compile(root, VIEWER, profile)?;
    let path = viewer_file(root);
    let (glue, wasm) = bound(&wasm, path.parent().unwrap_or(root))?;
    let html = page(root, &glue, &packed(&wasm)?)?;
    write_if_new(&path, html.as_bytes())?;
    eprintln!(
        "    {} KB of wasm, {} KB as one page",
        wasm.len() / 1024,
        html.len() / 1024
    );
    Ok(path)
}

/// Creates an empty folder, or empties an existing one.
///
/// # Errors
/// If the folder cannot be emptied or created.
pub(crate) fn emptied(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("emptying {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))
}

/// Writes a file unless it already has this content: a newly written file makes cargo rebuild everything that embeds
/// it.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn write_if_new(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|before| before == content) {
        return Ok(());
    }
    fs::write(path, content).with_context(|| format!("writing {}", path.display()))
}

/// Runs wasm-bindgen, and returns the JavaScript glue and the wasm.
fn bound(wasm: &Path, out: &Path) -> Result<(String, Vec<u8>)> {
    let bound = bind(wasm, out, "viewer", |bindgen| {
        bindgen.no_modules(true)?.typescript(false);
        Ok(())
    })?;
    let glue = fs::read_to_string(out.join("viewer.js")).context("reading the glue")?;
    Ok((glue, bound))
}

fn page(root: &Path, glue: &str, packed: &[u8]) -> Result<String> {
    let part = |name: &str| {
        let path = root.join("web/page").join(name);
        fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
    };
    let (template, boot, icon) = (part("template.html")?, part("boot.js")?, part("icon.svg")?);
    let mut style = String::new();
    for name in STYLES {
        style.push_str(&part(&format!("css/{name}.css"))?);
    }
    for (name, script) in [("the glue", glue), ("boot.js", &boot)] {
        ensure!(
            !script.contains("</script"),
            "{name} contains `</script`, which would end the script element in the page"
        );
    }
    ensure!(
        !style.contains("</style"),
        "a style sheet contains `</style`, which would end the style element in the page"
    );

    let html = fill(
        &template,
        &[
            ("@CSP@", &policy(&[&style, END], &[glue, &boot])),
            (
                "@ICON@",
                &format!("data:image/svg+xml;base64,{}", BASE64.encode(icon)),
            ),
            ("@STYLE@", &style),
            ("@BYTES@", &packed.len().to_string()),
            ("@WASM@", &dense::encode(packed)),
            ("@GLUE@", glue),
            ("@BOOT@", &boot),
            ("@END@", END),
        ],
    )?;
    for slot in SERVED.iter().map(|(from, _)| from).chain(&SHARED) {
        ensure!(
            html.matches(slot).count() == 1,
            "the page must contain `{slot}` exactly once"
        );
    }
    ensure!(
        html.matches(r#"id="prosescope-run" data-bytes=""#).count() == 1,
        "`id=\"prosescope-run\" data-bytes` must occur once: readers find the run by this text"
    );
    ensure!(
        SHARED.map(|slot| html.find(slot)).is_sorted(),
        "the page must hold the slots for a shared run in this order: title, summary, run"
    );
    Ok(html)
}

/// Compresses with gzip, 4 % smaller than zlib's best level, and in a second. Browsers decompress the output themselves.
///
/// # Errors
/// None that can occur: the output has room for the largest result.
pub(crate) fn packed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut compressor = Compressor::new(CompressionLvl::best());
    let mut packed = vec![0; compressor.gzip_compress_bound(bytes.len())];
    let len = compressor.gzip_compress(bytes, &mut packed)?;
    packed.truncate(len);
    Ok(packed)
}

/// Replaces each name in the template, such as `@WASM@`, by its part. The names must occur once, and in the order of
/// `parts`. Names inside of a part are not replaced.
fn fill(template: &str, parts: &[(&str, &str)]) -> Result<String> {
    let mut html = String::new();
    let mut rest = template;
    for (name, part) in parts {
        let (before, after) = rest.split_once(name).with_context(|| {
            format!("template.html lacks {name}, or contains {name} in the wrong order")
        })?;
        html.push_str(before);
        html.push_str(part);
        rest = after;
    }
    html.push_str(rest);
    Ok(html)
}

fn policy(styles: &[&str], scripts: &[&str]) -> String {
    let hash = |text: &&str| format!("'sha256-{}'", BASE64.encode(Sha256::digest(text)));
    let hashes = |texts: &[&str]| texts.iter().map(hash).collect::<Vec<_>>().join(" ");
    format!(
        "default-src 'none'; script-src {} 'wasm-unsafe-eval'; worker-src blob:; style-src {}; img-src data:; \
         connect-src 'none'; base-uri 'none'; form-action 'none'",
        hashes(scripts),
        hashes(styles)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_put_in_order_and_never_looked_at_again() {
        let html = fill("<a>@A@</a><b>@B@</b>", &[("@A@", "@B@"), ("@B@", "x")]);
        assert_eq!(html.unwrap(), "<a>@B@</a><b>x</b>");
        let error = fill("<a></a>", &[("@A@", "")]).unwrap_err().to_string();
        assert_eq!(
            error,
            "template.html lacks @A@, or contains @A@ in the wrong order"
        );
    }

    #[test]
    fn the_policy_lets_in_the_page_s_own_parts_only() {
        let policy = policy(&["b{}"], &["let a"]);
        assert_eq!(
            policy,
            "default-src 'none'; script-src 'sha256-IfEXP/8HLuXoAiy0hZVrCAcjcLsZqYFpLOHDGj8enqE=' 'wasm-unsafe-eval'; \
             worker-src blob:; style-src 'sha256-7yqHVAesot11p6HczDsgKRipvI5UPgs97z80zNXlans='; img-src data:; connect-src 'none'; base-uri 'none'; \
             form-action 'none'"
        );
    }
}
