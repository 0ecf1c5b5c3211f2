//! Packs the crates that `cargo install prosescope` needs, in the form of a registry.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use cargo_metadata::{MetadataCommand, Package};

use crate::bundle::emptied;
use xtask::cargo::{cargo, target};
use xtask::step::run;

/// The folder of the files that the program's crate contains besides its sources; see cli/build.rs.
const EMBEDDED: &str = "cli/embedded";

/// Returns the packages of the workspace that are published.
///
/// # Errors
/// When cargo cannot read the workspace.
pub(crate) fn published(root: &Path) -> Result<Vec<Package>> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()?;
    let packages = metadata.packages.into_iter();
    Ok(packages
        .filter(|package| package.publish.is_none())
        .collect())
}

/// Returns the file name of a packed crate.
pub(crate) fn file_name(package: &Package) -> String {
    format!("{}-{}.crate", package.name, package.version)
}

/// Packs the published crates into a folder. The crate of the program also contains the viewer and the licenses. Only
/// `dist --check` checks whether the crates compile outside of the workspace, because that compiles all of them.
///
/// # Errors
/// When a file cannot be copied, or cargo packs no crate.
pub(crate) fn pack(root: &Path, viewer: &Path, licenses: &Path, into: &Path) -> Result<()> {
    let embedded = root.join(EMBEDDED);
    emptied(&embedded)?;
    for (file, name) in [(viewer, "viewer.html"), (licenses, "licenses.txt.gz")] {
        fs::copy(file, embedded.join(name))
            .with_context(|| format!("copying {}", file.display()))?;
    }
    let packages = published(root)?;
    let mut pack = cargo(root);
    // The viewer is not in git, so cargo would refuse to pack it without `--allow-dirty`.
    pack.args(["package", "--no-verify", "--allow-dirty", "--locked"]);
    for package in &packages {
        pack.args(["--package", &package.name]);
    }
    run(&mut pack)?;
    for name in packages.iter().map(file_name) {
        let packed = target(root).join("package").join(&name);
        fs::copy(&packed, into.join(&name))
            .with_context(|| format!("copying {}", packed.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Component, PathBuf};

    use super::*;
    use cargo_metadata::DependencyKind;

    #[test]
    fn a_published_crate_says_what_a_registry_asks_for() {
        let packages = published(&xtask::root()).unwrap();
        let names: BTreeSet<&str> = packages.iter().map(|p| p.name.as_str()).collect();
        assert!(names.contains("prosescope") && names.contains("prosescope-core"));
        for package in &packages {
            let name = &package.name;
            let words = package.description.as_deref().unwrap_or_default();
            assert!(words.len() > 10, "{name}: no description");
            assert!(package.readme.is_some(), "{name}: no readme");
            assert!((1..=5).contains(&package.keywords.len()), "{name}");
            assert!(!package.categories.is_empty(), "{name}: no categories");
            assert!(package.license.is_some(), "{name}: no license");
            assert!(package.repository.is_some(), "{name}: no repository");
            for used in package.dependencies.iter().filter(|d| d.path.is_some()) {
                let is_published = names.contains(used.name.as_str());
                // Cargo removes dependencies of tests that have no version, so these may be unpublished.
                let is_left_out = used.kind == DependencyKind::Development;
                let has_version = used.req.to_string() == format!("^{}", package.version);
                assert!(
                    has_version && is_published || is_left_out && used.req.to_string() == "*",
                    "{name} uses {} {}",
                    used.name,
                    used.req
                );
            }
        }
    }

    #[test]
    fn a_published_crate_contains_every_file_and_crate_that_its_sources_name() {
        let root = xtask::root();
        let mut included = 0;
        for package in published(&root).unwrap() {
            let listed = cargo(&root)
                .args(["package", "--list", "--offline", "--allow-dirty"])
                .args(["--package", &package.name])
                .output()
                .unwrap();
            let listed = String::from_utf8(listed.stdout).unwrap();
            let listed: BTreeSet<PathBuf> = listed.lines().map(PathBuf::from).collect();
            for file in ["Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
                assert!(listed.contains(Path::new(file)), "{}: {file}", package.name);
            }
            let folder = package.manifest_path.parent().unwrap().as_std_path();
            let left_out: Vec<String> = package
                .dependencies
                .iter()
                .filter(|used| used.path.is_some() && used.req.to_string() == "*")
                .map(|used| format!("{}::", used.name.replace('-', "_")))
                .collect();
            let is_source = |file: &&PathBuf| file.extension().is_some_and(|e| e == "rs");
            for source in listed.iter().filter(is_source) {
                let text = fs::read_to_string(folder.join(source)).unwrap();
                let needs = left_out.iter().find(|name| text.contains(*name));
                assert_eq!(needs, None, "{}: {}", package.name, source.display());
                for name in included_files(&text) {
                    let file = plain(&source.parent().unwrap().join(name));
                    let known = file.is_some_and(|file| listed.contains(&file));
                    assert!(
                        known,
                        "{}: {} includes {name}",
                        package.name,
                        source.display()
                    );
                    included += 1;
                }
            }
        }
        assert!(included > 5, "only {included} files are included");
    }

    /// Returns the files in `include_str!` and similar macros of a source, except files that a build script wrote.
    fn included_files(text: &str) -> impl Iterator<Item = &str> {
        [
            "include_str!(\"",
            "include_bytes!(\"",
            "include!(\"",
            "#[path = \"",
        ]
        .into_iter()
        .flat_map(|start| text.split(start).skip(1))
        .filter_map(|rest| Some(rest.split_once('"')?.0))
    }

    /// Returns a path without `..`; `None` if the path leaves its folder.
    fn plain(path: &Path) -> Option<PathBuf> {
        let mut out = PathBuf::new();
        for part in path.components() {
            match part {
                Component::ParentDir => out.pop().then_some(())?,
                part => out.push(part),
            }
        }
        Some(out)
    }

    #[test]
    fn a_file_outside_of_a_crate_is_found() {
        let names = included_files("x(include_str!(\"../a.md\")); include_bytes!(concat!(\"b\"))");
        assert_eq!(names.collect::<Vec<_>>(), ["../a.md"]);
        assert_eq!(plain(Path::new("src/../a.md")), Some("a.md".into()));
        assert_eq!(plain(Path::new("src/../../a.md")), None);
    }
}
