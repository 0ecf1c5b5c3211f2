//! Builds the software bill of materials (SBOM) of a release, in the format CycloneDX 1.6 as JSON.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::libraries::{self, Library, Product};

/// Returns the SBOM with the libraries in these products. Its text does not depend on the time or place of the build.
///
/// # Errors
/// If cargo cannot read the workspace, or the version of an SQLite cannot be read.
pub(crate) fn list(root: &Path, products: &[Product<'_>]) -> Result<String> {
    let libraries = libraries::inside(root, products)?;
    let version = env!("CARGO_PKG_VERSION");
    let us = format!("pkg:generic/prosescope@{version}");
    let (mut components, mut uses) = (Vec::new(), Vec::new());
    let first: Vec<String> = libraries
        .values()
        .filter(|library| library.is_ours())
        .map(reference)
        .collect();
    uses.push(json!({ "ref": us, "dependsOn": first }));
    for library in libraries.values() {
        components.push(component(library));
        let mut below: Vec<String> = library
            .uses
            .iter()
            .filter_map(|id| libraries.get(id))
            .map(reference)
            .collect();
        if let Some(sqlite) = sqlite(&library.folder())? {
            let purl = format!("pkg:generic/sqlite@{sqlite}");
            let known = components
                .iter()
                .any(|known| known["bom-ref"] == json!(purl));
            if !known {
                components.push(json!({
                    "type": "library", "bom-ref": purl, "name": "sqlite", "version": sqlite, "purl": purl,
                    "licenses": [{ "expression": "blessing" }],
                }));
            }
            below.push(purl);
        }
        uses.push(json!({ "ref": reference(library), "dependsOn": below }));
    }
    let list = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": {
            "type": "application", "bom-ref": us, "name": "prosescope", "version": version,
            "licenses": [{ "expression": "MIT OR Apache-2.0" }],
        } },
        "components": components,
        "dependencies": uses,
    });
    Ok(serde_json::to_string_pretty(&list)? + "\n")
}

fn component(library: &Library) -> Value {
    let package = &library.package;
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(library),
        "name": *package.name,
        "version": package.version.to_string(),
        "licenses": [{ "expression": library.license() }],
        "properties": library.products.iter()
            .map(|product| json!({ "name": "prosescope:inside", "value": product }))
            .collect::<Vec<_>>(),
    });
    if !library.is_ours() {
        component["purl"] = json!(reference(library));
    }
    component
}

/// Returns the package URL (purl) of a package. The packages of this workspace are in no registry, so their URLs are
/// only ids within the list.
fn reference(library: &Library) -> String {
    format!(
        "pkg:cargo/{}@{}",
        *library.package.name, library.package.version
    )
}

/// Returns the version of the SQLite in a package, if it contains one.
fn sqlite(folder: &Path) -> Result<Option<String>> {
    let Ok(header) = fs::read_to_string(folder.join("sqlite3/sqlite3.h")) else {
        return Ok(None);
    };
    let line = header
        .lines()
        .find(|line| line.starts_with("#define SQLITE_VERSION "));
    let version = line.and_then(|line| line.split('"').nth(1));
    let version = version.with_context(|| format!("{} names no version", folder.display()))?;
    Ok(Some(version.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_used_is_listed_and_sqlite_is_among_it() {
        let text = list(&xtask::root(), &[libraries::VIEWER]).unwrap();
        let list: Value = serde_json::from_str(&text).unwrap();
        let known: Vec<&Value> = list["components"]
            .as_array()
            .unwrap()
            .iter()
            .map(|component| &component["bom-ref"])
            .collect();
        assert!(
            known
                .iter()
                .any(|name| name.as_str().unwrap().contains("sqlite@3."))
        );
        for used in list["dependencies"].as_array().unwrap() {
            for used in used["dependsOn"].as_array().unwrap() {
                assert!(known.contains(&used), "{used}");
            }
        }
    }
}
