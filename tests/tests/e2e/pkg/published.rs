//! Tests the package as npm would publish it, with the tools publint and attw.

use std::process::Command;

use prosescope_tests::needs;

use super::Project;

/// The findings of attw that are accepted, each with the reason.
const KNOWN: [(&str, &str); 1] = [(
    "attw: CJSResolvesToESM ",
    "the package has ES modules only: Node requires them from 20.19 on, and TypeScript in its mode nodenext knows that",
)];

#[test]
fn publint_and_attw_find_nothing_but_what_is_known() {
    let Some(project) = Project::new().filter(|project| project.has_node([20, 0], "attw")) else {
        return;
    };
    let Some(package) = needs::package() else {
        return;
    };
    let packed = Command::new("npm")
        .args([
            "pack",
            "--silent",
            "--offline",
            "--ignore-scripts",
            "--pack-destination",
        ])
        .arg(project.path())
        .current_dir(&package)
        .output()
        .unwrap();
    assert!(packed.status.success(), "{packed:?}");
    let tarball = String::from_utf8(packed.stdout).unwrap();
    let found = project.must(&["published.mjs", tarball.trim()]);
    assert!(found.contains("types: included\n"), "{found}");
    for line in found.lines().filter(|line| *line != "types: included") {
        assert!(
            KNOWN.iter().any(|(known, _)| line.starts_with(known)),
            "{line}"
        );
    }
    for (known, why) in KNOWN {
        assert!(found.contains(known), "no longer found: {known} ({why})");
    }
}
