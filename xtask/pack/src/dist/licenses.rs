//! Collects the licenses of libraries in one text: MIT, BSD, ISC and Apache-2.0 require their notices to accompany
//! the code.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::libraries::{self, Library, Product};
use crate::bundle::{packed, write_if_new};
use xtask::cargo::target;

/// The file name of the collected licenses in archives and packages.
pub(crate) const FILE: &str = "THIRD-PARTY-LICENSES.txt";

/// The beginnings of the names of license files, in lower case.
const NAMES: [&str; 5] = ["license", "licence", "copying", "copyright", "notice"];

/// License texts of libraries that are not cargo packages: the path in the repository, and the library.
const OTHERS: [(&str, &str); 2] = [
    (
        "packaging/licenses/musl.txt",
        "musl, the C library (Linux programs)",
    ),
    ("packaging/licenses/rust.txt", "Rust's standard library"),
];

/// Collects the licenses of everything built for these targets, and compresses them for the programs to embed.
/// Returns the text, and the path of the compressed file.
///
/// # Errors
/// If a library's license cannot be found or read, or the compressed file cannot be written.
pub(crate) fn of_programs(root: &Path, targets: &[&str]) -> Result<(String, PathBuf)> {
    let mut products = vec![libraries::VIEWER, libraries::NPM];
    products.extend(targets.iter().map(|target| Product::program(target)));
    let text = text(root, &products)?;
    let packed = target(root).join("licenses.txt.gz");
    pack(&text, &packed)?;
    Ok((text, packed))
}

/// Returns the licenses of all libraries in these products: each text once, with the libraries that it covers.
///
/// # Errors
/// If a library's license cannot be found or read.
pub(crate) fn text(root: &Path, products: &[Product<'_>]) -> Result<String> {
    let libraries = libraries::inside(root, products)?;
    let mut covered: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    let mut add = |text: String, about: String| {
        let key = text.split_whitespace().collect::<Vec<_>>().join(" ");
        covered
            .entry(key)
            .or_insert_with(|| (text, Vec::new()))
            .1
            .push(about);
    };
    for (file, about) in OTHERS {
        add(read(&root.join(file))?, about.to_owned());
    }
    for library in libraries.values().filter(|library| !library.is_ours()) {
        let package = &library.package;
        let mut about = format!(
            "{} {}, {}",
            package.name,
            package.version,
            library.license()
        );
        if let Some(address) = &package.repository {
            let _ = write!(about, ", {address}");
        }
        for text in texts(root, library)? {
            add(text, about.clone());
        }
    }
    Ok(page(covered.into_values().collect()))
}

fn page(mut covered: Vec<(String, Vec<String>)>) -> String {
    for (_, about) in &mut covered {
        about.sort_unstable();
        about.dedup();
    }
    covered.sort_by(|one, other| one.1.cmp(&other.1));
    let mut page = String::from(
        "Licenses of the libraries in Prosescope\n\n\
         Prosescope itself is licensed under MIT or Apache-2.0, as you choose (LICENSE-MIT, LICENSE-APACHE).\n\
         It contains SQLite, which is in the public domain, and the libraries below. Each text covers the\n\
         libraries that are listed above it.\n",
    );
    for (text, about) in covered {
        let _ = write!(page, "\n{}\n", "=".repeat(80));
        for about in about {
            let _ = writeln!(page, "- {about}");
        }
        let _ = write!(page, "\n{}\n", text.trim());
    }
    page
}

/// Returns the license texts in a library's sources, or a standard text if the sources contain none.
fn texts(root: &Path, library: &Library) -> Result<Vec<String>> {
    let mut files: Vec<PathBuf> = fs::read_dir(library.folder())
        .with_context(|| format!("listing {}", library.folder().display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && is_license(path))
        .collect();
    files.sort();
    if files.is_empty() {
        return Ok(vec![standard(root, library)?]);
    }
    files.iter().map(|file| read(file)).collect()
}

fn is_license(path: &Path) -> bool {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    NAMES.iter().any(|start| name.starts_with(start)) || name == "unlicense"
}

/// Returns the standard text of a library's license. For MIT, the text begins with the copyright holders of the
/// library.
fn standard(root: &Path, library: &Library) -> Result<String> {
    let license = library.license();
    let offers = |name: &str| license.split(" OR ").any(|offered| offered == name);
    if offers("MIT") {
        let package = &library.package;
        let holders = match package.authors.as_slice() {
            [] => format!("the authors of {}", package.name),
            authors => authors.join(", "),
        };
        let ours = read(&root.join("LICENSE-MIT"))?;
        let (_, terms) = ours
            .split_once('\n')
            .context("LICENSE-MIT has only one line, so the terms of the license are missing")?;
        return Ok(format!("Copyright (c) {holders}\n{terms}"));
    }
    if offers("Apache-2.0") {
        return read(&root.join("LICENSE-APACHE"));
    }
    bail!(
        "{} {} ({license}) brings no license text. Next: copy the text from {} into a list in {}",
        library.package.name,
        library.package.version,
        library
            .package
            .repository
            .as_deref()
            .unwrap_or("its repository"),
        file!()
    )
}

fn read(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn pack(text: &str, into: &Path) -> Result<()> {
    let packed = packed(text.as_bytes())?;
    if let Some(folder) = into.parent() {
        fs::create_dir_all(folder)?;
    }
    write_if_new(into, &packed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_covers_several_libraries_stands_once_below_all_of_them() {
        let text = page(vec![
            ("Zlib".into(), vec!["z 1, Zlib".into()]),
            (
                "MIT".into(),
                vec!["b 2, MIT".into(), "a 1, MIT".into(), "a 1, MIT".into()],
            ),
        ]);
        let (_, texts) = text.split_once("====\n").unwrap();
        assert!(
            texts.starts_with("- a 1, MIT\n- b 2, MIT\n\nMIT\n"),
            "{texts}"
        );
        assert!(texts.ends_with("- z 1, Zlib\n\nZlib\n"), "{texts}");
    }

    #[test]
    fn every_library_of_the_wasm_products_has_a_license() {
        let text = text(&xtask::root(), &[libraries::VIEWER, libraries::NPM]).unwrap();
        for library in [
            "- leptos ",
            "- wasm-bindgen ",
            "- musl",
            "- sqlite-wasm-rs ",
        ] {
            assert!(text.contains(library), "{library}");
        }
    }
}
