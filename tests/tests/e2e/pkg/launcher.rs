//! Tests `npx prosescope`: the npm package starts the program, which another package contains. Each system has such a
//! package. In the tests, a shell script replaces the program.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use prosescope_tests::needs;
use tempfile::TempDir;

/// The shell script in place of the program. It prints its arguments and input, or waits for a signal.
const STUB: &str = r#"#!/bin/sh
case $1 in
  wait) trap 'echo stopped; exit 5' TERM; echo ready; while :; do sleep 0.05; done ;;
  exec) echo ready; exec sleep 1000 ;;
  *) for arg; do echo "[$arg]"; done; cat; echo "on stderr" >&2; exit 4 ;;
esac
"#;

/// The version of the package.
const VERSION: &str = "1.2.3";

/// A folder with the package, installed as npm would install it.
struct Installed {
    folder: TempDir,
    node: PathBuf,
}

impl Installed {
    /// Installs the package. Returns `None`, after printing why, if Node is missing.
    fn new() -> Option<Installed> {
        let node = needs::node()?;
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("node_modules/prosescope");
        fs::create_dir_all(&package).unwrap();
        let root = needs::root();
        for file in ["bin/cli.js", "js/program.js"] {
            let name = file.split('/').next_back().unwrap();
            fs::copy(root.join("pkg").join(file), package.join(name)).unwrap();
        }
        let manifest = fs::read_to_string(root.join("pkg/js/package.json")).unwrap();
        let manifest = manifest.replace("@VERSION@", VERSION);
        fs::write(package.join("package.json"), manifest).unwrap();
        Some(Installed { folder, node })
    }

    /// Returns the name of the package that contains the program for this system.
    fn system(&self) -> String {
        let system = Command::new(&self.node)
            .args([
                "-p",
                "`@prosescope/cli-${process.platform}-${process.arch}`",
            ])
            .output();
        String::from_utf8(system.unwrap().stdout)
            .unwrap()
            .trim()
            .to_owned()
    }

    /// Adds the package for this system, in the launcher's version, with the shell script as its program.
    fn with_program(self) -> Installed {
        self.with_version(VERSION)
    }

    fn with_version(self, version: &str) -> Installed {
        let package = self.folder.path().join("node_modules").join(self.system());
        fs::create_dir_all(package.join("bin")).unwrap();
        let manifest = format!(r#"{{"version": "{version}"}}"#);
        fs::write(package.join("package.json"), manifest).unwrap();
        let program = package.join("bin/prosescope");
        fs::write(&program, STUB).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.node);
        command
            .arg(self.folder.path().join("node_modules/prosescope/cli.js"))
            .args(args)
            .current_dir(self.folder.path());
        command
    }
}

#[test]
fn arguments_input_output_and_exit_code_are_the_program_s() {
    let Some(installed) = Installed::new().map(Installed::with_program) else {
        return;
    };
    fs::write(installed.folder.path().join("input"), "from stdin\n").unwrap();
    let input = fs::File::open(installed.folder.path().join("input")).unwrap();
    let out = installed
        .command(&["show", "two words", "--json", ""])
        .stdin(input)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    assert_eq!(said, "[show]\n[two words]\n[--json]\n[]\nfrom stdin\n");
    assert_eq!(String::from_utf8_lossy(&out.stderr), "on stderr\n");
    assert_eq!(out.status.code(), Some(4));
}

#[test]
fn a_signal_reaches_the_program_and_its_end_is_ours() {
    let Some(installed) = Installed::new().map(Installed::with_program) else {
        return;
    };
    for (what, code, signal, said) in [
        ("wait", Some(5), None, "stopped"),
        ("exec", None, Some(15), ""),
    ] {
        let mut child = installed
            .command(&[what])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "ready");
        let kill = Command::new("kill")
            .args(["-TERM", &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        let status = child.wait().unwrap();
        assert_eq!((status.code(), status.signal()), (code, signal), "{what}");
        assert_eq!(lines.map(Result::unwrap).collect::<String>(), said);
    }
}

#[test]
fn a_missing_program_is_named_with_what_to_do() {
    let other = |installed: Installed| installed.with_version("1.2.2");
    for installed in [Installed::new(), Installed::new().map(other)] {
        let Some(installed) = installed else {
            return;
        };
        says_what_is_missing(&installed);
    }
}

fn says_what_is_missing(installed: &Installed) {
    let out = installed.command(&["show"]).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    let name = installed.system();
    assert!(
        said.contains(&format!("the package {name} is missing")),
        "{said}"
    );
    assert!(
        said.contains(&format!("npm install {name}@1.2.3")),
        "{said}"
    );
    assert_eq!(out.status.code(), Some(127));
    assert!(out.stdout.is_empty());

    // The test pretends that Node runs on a system for which no package exists.
    let other = "Object.defineProperty(process, 'platform', { value: 'plan9' })";
    fs::write(installed.folder.path().join("other.cjs"), other).unwrap();
    let out = installed
        .command(&["show"])
        .env("NODE_OPTIONS", "--require ./other.cjs")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(
        said.starts_with("error: there is no program for plan9-"),
        "{said}"
    );
    assert!(
        said.contains("linux-x64") && said.contains("cargo install prosescope"),
        "{said}"
    );
    assert_eq!(out.status.code(), Some(127));
}
