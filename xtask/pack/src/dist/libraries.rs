//! Lists the libraries inside the released products, for licenses and the SBOM. Libraries that are only used to build
//! a product are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, MetadataCommand, Package, PackageId};

use xtask::cargo::WASM;

/// A released product: a package of this workspace, compiled for a target.
#[derive(Clone, Copy)]
pub(crate) struct Product<'a> {
    /// The product's name for users.
    pub(crate) name: &'static str,
    package: &'static str,
    target: &'a str,
}

impl<'a> Product<'a> {
    /// Returns the product for the command-line program on a target.
    pub(crate) fn program(target: &'a str) -> Product<'a> {
        Product {
            name: "prosescope",
            package: "prosescope",
            target,
        }
    }
}

/// The viewer, which the program also contains.
pub(crate) const VIEWER: Product<'static> = Product {
    name: "viewer.html",
    package: "prosescope-web",
    target: WASM,
};

/// The JavaScript package, as published on npm.
pub(crate) const NPM: Product<'static> = Product {
    name: "npm package",
    package: "prosescope-pkg",
    target: WASM,
};

/// A package inside a product.
pub(crate) struct Library {
    pub(crate) package: Package,
    /// The names of the products that contain the package.
    pub(crate) products: BTreeSet<&'static str>,
    /// The packages that the package depends on.
    pub(crate) uses: BTreeSet<PackageId>,
}

impl Library {
    /// Returns whether the package belongs to this workspace.
    pub(crate) fn is_ours(&self) -> bool {
        self.package.source.is_none()
    }

    /// Returns the license as an SPDX expression. Older packages write `MIT/Apache-2.0`, which becomes `MIT OR
    /// Apache-2.0`.
    pub(crate) fn license(&self) -> String {
        let license = self.package.license.as_deref().unwrap_or("NOASSERTION");
        license.replace('/', " OR ").replace("  ", " ")
    }

    /// Returns the folder of the package's sources.
    pub(crate) fn folder(&self) -> PathBuf {
        let manifest = self.package.manifest_path.as_std_path();
        manifest.parent().unwrap_or(manifest).to_owned()
    }
}

/// Returns the packages inside these products. Features are those of the whole workspace, so the list may contain too
/// many packages, but lacks none.
///
/// # Errors
/// If cargo cannot read the workspace.
pub(crate) fn inside(
    root: &Path,
    products: &[Product<'_>],
) -> Result<BTreeMap<PackageId, Library>> {
    let mut all = BTreeMap::new();
    for product in products {
        add(root, product, &mut all).with_context(|| {
            format!(
                "listing the libraries of {} for {}",
                product.name, product.target
            )
        })?;
    }
    Ok(all)
}

fn add(root: &Path, product: &Product<'_>, all: &mut BTreeMap<PackageId, Library>) -> Result<()> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .other_options([
            "--locked".into(),
            "--filter-platform".into(),
            product.target.to_owned(),
        ])
        .exec()?;
    let resolved = metadata.resolve.context("cargo resolved nothing")?;
    let nodes: BTreeMap<_, _> = resolved.nodes.iter().map(|node| (&node.id, node)).collect();
    let packages: BTreeMap<_, _> = metadata.packages.iter().map(|p| (&p.id, p)).collect();
    let first = metadata
        .packages
        .iter()
        .find(|p| *p.name == product.package);
    let first = first.with_context(|| format!("there is no package {}", product.package))?;
    let mut open = vec![&first.id];
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        let package = packages.get(id).context("cargo names an unknown package")?;
        let node = nodes.get(id).context("cargo resolved no such package")?;
        let linked = |id: &PackageId| packages.get(id).is_some_and(|p| !is_macro(p));
        let uses: Vec<&PackageId> = node
            .deps
            .iter()
            .filter(|dep| {
                dep.dep_kinds
                    .iter()
                    .any(|kind| kind.kind == DependencyKind::Normal)
            })
            .map(|dep| &dep.pkg)
            .filter(|id| linked(id))
            .collect();
        let library = all.entry(id.clone()).or_insert_with(|| Library {
            package: (*package).clone(),
            products: BTreeSet::new(),
            uses: BTreeSet::new(),
        });
        library.products.insert(product.name);
        library.uses.extend(uses.iter().copied().cloned());
        open.extend(uses);
    }
    Ok(())
}

/// Returns whether a package is a procedural macro. A macro runs inside the compiler, so no product contains it.
fn is_macro(package: &Package) -> bool {
    package
        .targets
        .iter()
        .any(cargo_metadata::Target::is_proc_macro)
}
