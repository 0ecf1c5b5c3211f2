//! Tests the JavaScript package, as built into pkg/dist: in Node, bundled in Chromium, compared with npm's sql.js, as
//! published on npm, and its types.
//!
//! The scripts are in tests/js. They run in a folder where the package is installed as npm would install it.

#[cfg(unix)]
mod launcher;
mod node;
mod published;
mod rows;
mod server;
mod types;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use prosescope_tests::needs;
use tempfile::TempDir;

/// The npm packages that the tests of the package need.
const TOOLS: [&str; 10] = [
    "@arethetypeswrong",
    "esbuild",
    "publint",
    "sql.js",
    "typescript",
    "typescript7",
    "vite6",
    "vite7",
    "vite8",
    "webpack",
];

/// A folder with the scripts of tests/js, and with the package and the test tools in `node_modules`.
struct Project {
    folder: TempDir,
    node: PathBuf,
}

impl Project {
    /// Creates the project. Returns `None`, after printing why, if something is missing.
    fn new() -> Option<Project> {
        let (node, package) = (needs::node()?, needs::package()?);
        let folder = tempfile::tempdir().unwrap();
        let scripts = needs::root().join("tests/js");
        for file in [files(&scripts), files(&scripts.join("consumers"))].concat() {
            fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
        }
        let modules = folder.path().join("node_modules");
        let ours = modules.join("prosescope");
        fs::create_dir_all(&ours).unwrap();
        for file in files(&package) {
            fs::copy(&file, ours.join(file.file_name().unwrap())).unwrap();
        }
        for name in TOOLS {
            let installed = scripts.join("node_modules").join(name);
            #[cfg(unix)]
            std::os::unix::fs::symlink(installed, modules.join(name)).unwrap();
            #[cfg(windows)]
            std::os::windows::fs::symlink_dir(installed, modules.join(name)).unwrap();
        }
        Some(Project { folder, node })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns whether Node is new enough for a tool; prints a remark if not, because Debian's version may be older.
    fn has_node(&self, least: [u32; 2], tool: &str) -> bool {
        let version = self.must(&["--version"]);
        let numbers = version.trim().trim_start_matches('v').split('.');
        let numbers: Vec<u32> = numbers.filter_map(|part| part.parse().ok()).collect();
        let is_new = numbers >= least.to_vec();
        if !is_new {
            let [major, minor] = least;
            needs::skip(&format!("needs Node {major}.{minor} for {tool}"));
        }
        is_new
    }

    /// Runs a script to its end.
    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Returns the command that runs a script.
    fn command(&self, args: &[&str]) -> Command {
        let root = needs::root();
        let mut node = Command::new(&self.node);
        node.args(args)
            .current_dir(self.path())
            .env("EXAMPLES", root.join("examples"))
            .env("SCHEMA", root.join("core/src/model/schema/state.sql"));
        if let Some(prose) = needs::prose() {
            node.env("PROSE_BIN", prose);
        }
        node
    }

    /// Runs a script that must succeed. Returns its output.
    fn must(&self, args: &[&str]) -> String {
        let out = self.run(args);
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        let errors = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{args:?}: {said}\n{errors}");
        said
    }
}

/// Returns the code block in this language below a heading of the README.
fn readme(heading: &str, language: &str) -> String {
    let text = fs::read_to_string(needs::root().join("pkg/README.md")).unwrap();
    let (_, section) = text.split_once(&format!("\n## {heading}\n")).unwrap();
    let (_, block) = section.split_once(&format!("\n```{language}\n")).unwrap();
    block.split_once("```\n").unwrap().0.to_owned()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_file()).collect()
}
