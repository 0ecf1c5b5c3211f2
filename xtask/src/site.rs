//! `cargo xtask site`: builds the docs as a site with search, and the example runs as one shared page in it.
//!
//! MkDocs builds the pages, and refuses a link or an anchor without a target. It wants the pages in a folder of their
//! own, so they are copied at their places in the checkout, where their links are right.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::view;
use xtask::cargo::{WASM_PROFILE, target};
use xtask::step::{run, step};
use xtask::{pack, setup};

/// The files and folders of the checkout that the site contains: its pages, and what they link to.
const CONTENT: &[&str] = &[
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "docs",
    "examples",
    "pkg/README.md",
    "redact/rules.toml",
    "cli/src/serve/decide.rs",
];

/// The page with the example runs, which `prosescope share` makes.
const EXAMPLES: &str = "examples.html";

/// The address of the project in pages, a placeholder until there is one.
const PROJECT: &str = "https://PROJECT-ADDRESS/";

/// Builds the site in target/site/html, and returns that folder.
///
/// # Errors
/// If a tool is missing and cannot be installed, something does not build, or a link leads nowhere.
pub(crate) fn build(root: &Path) -> Result<PathBuf> {
    setup::ensure(&[&setup::PYTHON])?;
    pack::beside_modules(root, &[xtask::wasm::VIEWER], WASM_PROFILE)?;
    let viewer = pack::viewer(root, WASM_PROFILE)?;
    let prose = view::prose(root, &viewer)?;
    let site = target(root).join("site");
    let settings = root.join("packaging/site");
    setup::python_packages(&settings, &site.join("python"))?;
    step("Building the site (MkDocs)", || {
        let pages = site.join("pages");
        if pages.exists() {
            fs::remove_dir_all(&pages)?;
        }
        for path in CONTENT {
            copy(&root.join(path), &pages.join(path))?;
        }
        run(Command::new(&prose)
            .arg("share")
            .args(runs(&root.join("examples/.prose/runs"))?)
            .args(["--yes", "--out"])
            .arg(pages.join(EXAMPLES))
            .current_dir(root.join("examples")))?;
        fs::copy(settings.join("mkdocs.yml"), site.join("mkdocs.yml"))?;
        run(Command::new(site.join("python/bin/mkdocs"))
            .args(["--quiet", "build", "--strict"])
            // The authors of the theme print an advertisement unless this is set.
            .env("NO_MKDOCS_2_WARNING", "1")
            .current_dir(&site))
    })?;
    Ok(site.join("html"))
}

/// Returns the ids of the runs in a folder, in their order.
fn runs(folder: &Path) -> Result<Vec<OsString>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name()));
    let mut ids = entries.collect::<Result<Vec<_>>>()?;
    ids.sort();
    Ok(ids)
}

/// Copies a file, or the visible files of a folder. Pages become pages of the site.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if from.is_dir() {
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            if !name.to_string_lossy().starts_with('.') {
                copy(&from.join(&name), &to.join(&name))?;
            }
        }
        return Ok(());
    }
    fs::create_dir_all(to.parent().context("a folder")?)?;
    if from.extension().is_some_and(|end| end == "md") {
        let text = fs::read_to_string(from).with_context(|| format!("{}", from.display()))?;
        fs::write(to, page(&text))?;
    } else {
        fs::copy(from, to).with_context(|| format!("{}", from.display()))?;
    }
    Ok(())
}

/// Returns a page for the site. The text after the language of a block, which says where its commands run, becomes the
/// block's title: Markdown elsewhere does not show it. A link to the page with the examples stays inside of the site.
fn page(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let fence = line.starts_with("```").then(|| line.split_once(' '));
        match fence.flatten() {
            Some((language, title)) => format!("{language} title=\"{title}\"\n"),
            None => format!("{line}\n"),
        }
    });
    let text: String = lines.collect();
    text.replace(&format!("{PROJECT}{EXAMPLES}"), EXAMPLES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_the_site_shows_where_commands_run() {
        assert_eq!(
            page("# A\n```console in examples\n$ ls\n```\n````sh\n````\n"),
            "# A\n```console title=\"in examples\"\n$ ls\n```\n````sh\n````\n"
        );
    }

    #[test]
    fn a_page_of_the_site_links_to_the_examples_beside_it() {
        assert_eq!(
            page("[runs](https://PROJECT-ADDRESS/examples.html)"),
            "[runs](examples.html)\n"
        );
    }
}
