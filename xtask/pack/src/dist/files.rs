//! Writes the files of a release other than archives: installers, a formula, a container file, checksums. The files get
//! the project's address from the workspace's Cargo.toml.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use sha2::{Digest as _, Sha256};

use super::archive;

/// The address of the repository, from the workspace's Cargo.toml.
pub(crate) const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The version of the release, from the workspace's Cargo.toml.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The name of the file with the checksums.
pub(crate) const SUMS: &str = "SHA256SUMS";

/// The files of packaging/ that become part of a release, with their placeholders filled in.
const FILLED: [&str; 3] = ["install.sh", "install.ps1", "Containerfile"];

/// Returns whether [`REPOSITORY`] is a real address: `.invalid` marks a placeholder.
pub(crate) fn has_address() -> bool {
    !REPOSITORY.contains(".invalid/")
}

/// Writes the installers and the container file.
///
/// # Errors
/// If a file cannot be read or written, or has an unknown placeholder.
pub(crate) fn fill_all(root: &Path, into: &Path) -> Result<()> {
    for name in FILLED {
        let from = root.join("packaging").join(name);
        let text =
            fs::read_to_string(&from).with_context(|| format!("reading {}", from.display()))?;
        let text = fill(&text).with_context(|| format!("filling in {}", from.display()))?;
        fs::write(into.join(name), text)?;
    }
    Ok(())
}

fn fill(text: &str) -> Result<String> {
    let text = text
        .replace("@VERSION@", VERSION)
        .replace("@REPOSITORY@", REPOSITORY);
    let left =
        text.split('@').skip(1).step_by(2).find(|name| {
            name.len() > 3 && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
        });
    ensure!(
        left.is_none(),
        "@{}@ has no meaning",
        left.unwrap_or_default()
    );
    Ok(text)
}

/// Writes the formula for Homebrew, with the checksums of the archives in the folder.
///
/// # Errors
/// If an archive cannot be read, or the formula cannot be written.
pub(crate) fn formula(folder: &Path) -> Result<()> {
    let mut archives = Vec::new();
    for name in names(folder)? {
        if let Some(target) = archive::target(&name) {
            archives.push((target.to_owned(), sum(&folder.join(&name))?));
        }
    }
    fs::write(folder.join("prosescope.rb"), formula_of(&archives))?;
    Ok(())
}

fn formula_of(archives: &[(String, String)]) -> String {
    let mut systems = String::new();
    for (system, word) in [("macos", "apple-darwin"), ("linux", "linux-musl")] {
        let mut block = String::new();
        for (processor, start) in [("arm", "aarch64"), ("intel", "x86_64")] {
            let found = archives
                .iter()
                .find(|(target, _)| target.ends_with(word) && target.starts_with(start));
            if let Some((target, sum)) = found {
                let _ = write!(
                    block,
                    "    on_{processor} do\n      url \"{REPOSITORY}/releases/download/v{VERSION}/{}\"\n      sha256 \"{sum}\"\n    end\n",
                    archive::name(target)
                );
            }
        }
        if !block.is_empty() {
            let _ = write!(systems, "  on_{system} do\n{block}  end\n\n");
        }
    }
    format!(
        "class Prosescope < Formula\n  \
           desc \"Inspect and record runs of OpenProse programs\"\n  \
           homepage \"{REPOSITORY}\"\n  \
           version \"{VERSION}\"\n  \
           license any_of: [\"MIT\", \"Apache-2.0\"]\n\n\
         {systems}  \
           def install\n    \
             bin.install \"prosescope\"\n    \
             man1.install Dir[\"man/*.1\"]\n    \
             bash_completion.install \"completions/prosescope.bash\" => \"prosescope\"\n    \
             zsh_completion.install \"completions/_prosescope\"\n    \
             fish_completion.install \"completions/prosescope.fish\"\n  \
           end\n\n  \
           test do\n    \
             assert_match version.to_s, shell_output(\"#{{bin}}/prosescope --version\")\n  \
           end\n\
         end\n"
    )
}

/// Writes the checksums of all files in a folder, in the format of `sha256sum --check`.
///
/// # Errors
/// If a file cannot be read, or the list cannot be written.
pub(crate) fn sums(folder: &Path) -> Result<()> {
    let mut list = String::new();
    for name in names(folder)? {
        let _ = writeln!(list, "{}  {name}", sum(&folder.join(&name))?);
    }
    fs::write(folder.join(SUMS), list)?;
    Ok(())
}

/// Returns the names of a folder's files, sorted.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}

fn sum(file: &Path) -> Result<String> {
    let content = fs::read(file).with_context(|| format!("reading {}", file.display()))?;
    Ok(format!("{:x}", Sha256::digest(content)))
}

#[cfg(test)]
mod tests {
    use yaml_rust2::{Yaml, YamlLoader};

    use super::*;

    #[test]
    fn the_formula_names_the_archives_that_there_are_and_no_others() {
        let sum = "0".repeat(64);
        let formula = formula_of(&[
            ("x86_64-unknown-linux-musl".into(), sum.clone()),
            ("x86_64-pc-windows-msvc".into(), sum),
        ]);
        assert!(
            formula.contains("on_linux do\n    on_intel do\n      url "),
            "{formula}"
        );
        assert!(
            !formula.contains("on_macos") && !formula.contains("windows"),
            "{formula}"
        );
        let ends = formula.lines().filter(|line| line.trim() == "end").count();
        let begins = formula.lines().filter(|line| line.ends_with(" do")).count();
        assert_eq!(ends, begins + 2, "{formula}");
    }

    #[test]
    fn every_place_of_the_filled_files_has_a_meaning() {
        let into = tempfile::tempdir().unwrap();
        fill_all(&xtask::root(), into.path()).unwrap();
        let installer = fs::read_to_string(into.path().join("install.sh")).unwrap();
        assert!(installer.contains(REPOSITORY) && installer.contains(VERSION));
        assert!(fill("@NOBODY@").is_err());
    }

    #[test]
    fn the_workflow_is_yaml_whose_jobs_run_the_repository_s_own_commands() {
        let text = fs::read_to_string(xtask::root().join(".github/workflows/release.yml")).unwrap();
        let workflow = YamlLoader::load_from_str(&text).unwrap().remove(0);
        let jobs = workflow["jobs"].as_hash().unwrap();
        let mut commands = Vec::new();
        for job in jobs.values() {
            assert!(job["runs-on"].as_str().is_some(), "{job:?}");
            let steps = job["steps"].as_vec().unwrap();
            let runs = steps.iter().filter_map(|step| step["run"].as_str());
            commands.extend(runs.map(str::to_owned));
            for needed in job["needs"].as_vec().map_or(&[][..], Vec::as_slice) {
                assert!(jobs.contains_key(needed), "no job {needed:?}");
            }
        }
        assert!(matches!(workflow["on"], Yaml::Hash(_)));
        assert!(
            commands
                .iter()
                .any(|command| command.contains("bash .ci/run")),
            "{commands:?}"
        );
        assert!(
            commands
                .iter()
                .any(|command| command.contains("cargo xtask dist")),
            "{commands:?}"
        );
    }
}
