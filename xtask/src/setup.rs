//! Installs the tools that a step of xtask needs: Debian packages as root, and Rust targets by rustup.
//!
//! A tool is searched for first, so no network is needed for an installed one. On a terminal, a person is asked before
//! apt installs anything. Without apt or root, the error lists the tools to install, on one line.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, IsTerminal, stderr, stdin};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::cargo::WASM;
use crate::step::{run, step};

/// The version of cargo-deny to install. The version is fixed, because the checks of cargo-deny change between
/// versions.
const CARGO_DENY: &str = "0.20.2";

/// A program that a step requires.
pub struct Tool {
    /// The program's name and its purpose, for messages.
    pub name: &'static str,
    /// The possible file names of the program, the preferred one first.
    pub programs: &'static [&'static str],
    /// Returns whether the program at a path is suitable, such as new enough.
    pub fits: fn(&Path) -> bool,
    /// The Debian packages that contain the program, the preferred one first. The first available package is
    /// installed.
    pub packages: &'static [&'static str],
}

/// The compiler of SQLite's C to WebAssembly. CI uses version 19; version 14 is the oldest that was tested.
const CLANG: Tool = Tool {
    name: "clang (compiles SQLite to WebAssembly)",
    programs: &[
        "clang-19", "clang-20", "clang-21", "clang-18", "clang-17", "clang-16", "clang-15",
        "clang-14", "clang",
    ],
    fits: targets_wasm,
    packages: &["clang-19", "clang-16", "clang-15", "clang-14", "clang"],
};

/// The browser in which the tests run the viewer.
const CHROMIUM: Tool = Tool {
    name: "Chromium (the viewer's tests)",
    programs: &["chromium", "chromium-browser", "google-chrome"],
    fits: |_| true,
    packages: &["chromium"],
};

/// The second browser in which the tests run the viewer.
const FIREFOX: Tool = Tool {
    name: "Firefox (the viewer's tests)",
    programs: &["firefox-esr", "firefox"],
    fits: |_| true,
    packages: &["firefox-esr"],
};

/// The program that creates the tests' databases with OpenProse's own SQL.
const SQLITE: Tool = Tool {
    name: "sqlite3 (makes the tests' databases)",
    programs: &["sqlite3"],
    fits: |_| true,
    packages: &["sqlite3"],
};

/// The temporary server of the tests. Debian's package does not put `initdb` on PATH, so its `pg_ctlcluster`, which
/// is on PATH, is searched for, too.
const POSTGRES: Tool = Tool {
    name: "PostgreSQL 15 or newer (a throwaway server of the tests)",
    programs: &["initdb", "pg_ctlcluster"],
    fits: |_| true,
    packages: &["postgresql"],
};

/// The program that makes system calls fail in the tests.
const STRACE: Tool = Tool {
    name: "strace (lets system calls fail in the tests)",
    programs: &["strace"],
    fits: |_| true,
    packages: &["strace"],
};

/// The program that changes the clock of recording commands in the tests.
const FAKETIME: Tool = Tool {
    name: "faketime (moves the clock of commands in the tests)",
    programs: &["faketime"],
    fits: |_| true,
    packages: &["faketime"],
};

/// The program that runs the JavaScript package in the tests.
pub const NODE: Tool = Tool {
    name: "Node 18 or newer (the JavaScript package's tests)",
    programs: &["node"],
    fits: is_new_node,
    packages: &["nodejs"],
};

/// The program that installs the test tools of the JavaScript package.
pub const NPM: Tool = Tool {
    name: "npm (the JavaScript package's tests)",
    programs: &["npm"],
    fits: |_| true,
    packages: &["npm"],
};

/// The program that runs third-party PostgreSQL clients, and a third-party checker of the description of `serve`, in
/// the tests.
pub const PYTHON: Tool = Tool {
    name: "Python 3.10 or newer with venv (programs of others in tests and releases)",
    programs: &["python3"],
    fits: has_venv,
    packages: &["python3-venv"],
};

/// Makes sure that wasm can be built, and returns the name of the C compiler for it. The name is on PATH and has the
/// form of `.cargo/config.toml`, so that plain cargo calls and xtask share their builds.
pub fn wasm() -> Result<&'static str> {
    wasm_target()?;
    clang()
}

/// Returns the name of a C compiler that can compile to WebAssembly, and count coverage for a fuzzer. Installs a
/// compiler if none is found.
pub fn clang() -> Result<&'static str> {
    ensure(&[&CLANG])?;
    CLANG
        .find()
        .context("clang was installed, but is not on PATH")
}

/// Makes sure that all tests can run, including those in a browser.
pub fn tests(root: &Path) -> Result<()> {
    wasm_target()?;
    ensure(&[
        &CLANG, &CHROMIUM, &FIREFOX, &SQLITE, &POSTGRES, &STRACE, &FAKETIME, &NODE, &NPM, &PYTHON,
    ])?;
    npm_packages(&root.join("tests/js"))?;
    let python = root.join("tests/python");
    python_packages(&python, &python.join(".venv"))
}

/// Installs the Python packages in `folder`/requirements.txt into a separate environment, unless this list is already
/// installed.
pub fn python_packages(folder: &Path, environment: &Path) -> Result<()> {
    let list = fs::read(folder.join("requirements.txt")).context("reading requirements.txt")?;
    let installed = environment.join(".installed");
    if fs::read(&installed).is_ok_and(|before| before == list) {
        return Ok(());
    }
    let python = PYTHON.find().context("python3 is not on PATH")?;
    step("Installing Python packages (pip)", || {
        run(Command::new(python)
            .args(["-m", "venv", "--clear"])
            .arg(environment))?;
        run(Command::new(environment.join("bin/pip"))
            .args([
                "install",
                "--quiet",
                "--only-binary",
                ":all:",
                "-r",
                "requirements.txt",
            ])
            .current_dir(folder))
        .context("the Python package index must be reachable once")
    })?;
    fs::write(installed, list).context("noting what was installed")
}

fn has_venv(python: &Path) -> bool {
    Command::new(python)
        .args([
            "-c",
            "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))",
        ])
        .status()
        .is_ok_and(|status| status.success())
}

/// Installs the npm packages in a folder's package-lock.json, unless this list is already installed.
fn npm_packages(folder: &Path) -> Result<()> {
    let lock = fs::read(folder.join("package-lock.json")).context("reading package-lock.json")?;
    let installed = folder.join("node_modules/.installed");
    if fs::read(&installed).is_ok_and(|before| before == lock) {
        return Ok(());
    }
    let npm = on_path(&[OsStr::new("npm")]).context("npm is not on PATH")?;
    step(
        "Installing the test tools of the JavaScript package (npm)",
        || {
            run(Command::new(npm)
                // Install scripts of packages are not run. The script of esbuild is not needed: it only makes esbuild
                // start faster.
                .args(["ci", "--ignore-scripts", "--loglevel", "error"])
                .current_dir(folder)
                .stdout(Stdio::null()))
            .context("the npm registry must be reachable once")
        },
    )?;
    fs::write(installed, lock).context("noting what was installed")
}

/// Makes sure that `cargo deny` can run.
pub fn cargo_deny(root: &Path) -> Result<()> {
    if on_path(&[OsStr::new("cargo-deny")]).is_some() {
        return Ok(());
    }
    step("Installing cargo-deny (about 3 minutes, once)", || {
        run(crate::cargo::cargo(root).args([
            "install",
            "cargo-deny",
            "--version",
            CARGO_DENY,
            "--locked",
        ]))
    })
}

/// Adds the wasm target to the toolchain if its standard library is missing.
fn wasm_target() -> Result<()> {
    rust_target(WASM)
}

/// Adds a target to the toolchain if its standard library is missing.
pub fn rust_target(target: &str) -> Result<()> {
    if has_target(target) {
        return Ok(());
    }
    if on_path(&[OsStr::new("rustup")]).is_none() {
        bail!(
            "Missing: Rust's standard library for {target}, and rustup to install it. \
             Install rustup, or your distribution's package of the library, then repeat the command."
        );
    }
    step(&format!("Installing the Rust target {target}"), || {
        run(Command::new("rustup").args(["target", "add", target]))
    })
}

fn has_target(target: &str) -> bool {
    Command::new("rustc")
        .args(["--print", "target-libdir", "--target", target])
        .stderr(Stdio::null())
        .output()
        .is_ok_and(|out| {
            out.status.success() && Path::new(String::from_utf8_lossy(&out.stdout).trim()).is_dir()
        })
}

/// Installs those of the tools that are missing.
pub fn ensure(tools: &[&Tool]) -> Result<()> {
    let missing: Vec<&Tool> = tools
        .iter()
        .copied()
        .filter(|t| t.find().is_none())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    if !can_install() {
        bail!(what_to_install(&missing));
    }
    let names: Vec<&str> = missing.iter().map(|t| t.name).collect();
    let names = names.join(", ");
    let is_asked = stdin().is_terminal() && stderr().is_terminal();
    if is_asked
        && !agreed(
            &format!("Install {names} with apt? [Y/n] "),
            &mut stdin().lock(),
        )?
    {
        bail!(what_to_install(&missing));
    }
    step(&format!("Installing {names}"), || install(&missing))?;
    match tools.iter().find(|t| t.find().is_none()) {
        None => Ok(()),
        Some(tool) => bail!("{} was installed, but is not on PATH", tool.name),
    }
}

/// Asks a question on standard error. An empty answer means yes, the end of the input means no.
fn agreed(question: &str, answers: &mut dyn BufRead) -> Result<bool> {
    eprint!("{question}");
    let mut line = String::new();
    let read = answers.read_line(&mut line)?;
    let line = line.trim().to_lowercase();
    Ok(read > 0 && matches!(&*line, "" | "y" | "yes"))
}

fn install(missing: &[&Tool]) -> Result<()> {
    if missing.iter().any(|t| t.package().is_none()) {
        run(apt(&["update"]).stdout(Stdio::null()))?;
    }
    let mut packages = Vec::new();
    for tool in missing {
        packages.push(tool.package().with_context(|| {
            format!(
                "apt knows no package for {}: {}",
                tool.name,
                tool.packages.join(", ")
            )
        })?);
    }
    let args = ["install", "--yes", "--no-install-recommends"];
    let try_it = || run(apt(&args).args(&packages).stdout(Stdio::null()));
    // An outdated package list may contain files that the mirror has replaced.
    try_it().or_else(|_| {
        run(apt(&["update"]).stdout(Stdio::null()))?;
        try_it()
    })
}

fn apt(args: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command
        .args(["-o", "DPkg::Lock::Timeout=300", "--quiet"])
        .args(args)
        .env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// Returns one line about missing tools, for machines on which xtask cannot install them.
fn what_to_install(missing: &[&Tool]) -> String {
    let names: Vec<&str> = missing.iter().map(|t| t.name).collect();
    let packages: Vec<&str> = missing
        .iter()
        .filter_map(|t| t.packages.first().copied())
        .collect();
    format!(
        "Missing: {}. Install what is missing (on Debian, as root: \
         `apt-get install --no-install-recommends {}`), then repeat the command.",
        names.join(", "),
        packages.join(" ")
    )
}

/// Returns whether xtask can install packages: it runs as root, and `apt-get` is on PATH.
fn can_install() -> bool {
    let root = Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|o| o.stdout.trim_ascii() == b"0");
    root && on_path(&[OsStr::new("apt-get")]).is_some()
}

impl Tool {
    /// Returns the first of the tool's names under which a suitable program is on PATH.
    pub fn find(&self) -> Option<&'static str> {
        let fits =
            |name: &&str| on_path(&[OsStr::new(name)]).is_some_and(|path| (self.fits)(&path));
        self.programs.iter().copied().find(fits)
    }

    /// Returns the first of the tool's packages that apt can install.
    fn package(&self) -> Option<&'static str> {
        self.packages.iter().copied().find(|package| {
            Command::new("apt-cache")
                .args(["show", "--no-all-versions", package])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|s| s.success())
        })
    }
}

/// Returns the path of the first of these programs that is on PATH.
pub fn on_path(programs: &[&OsStr]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    programs.iter().find_map(|program| {
        folders
            .iter()
            .map(|folder| {
                folder
                    .join(program)
                    .with_extension(env::consts::EXE_EXTENSION)
            })
            .find(|file| file.is_file())
    })
}

fn is_new_node(node: &Path) -> bool {
    let version = Command::new(node).arg("--version").output();
    let text = version.map_or_else(
        |_| String::new(),
        |out| String::from_utf8_lossy(&out.stdout).into_owned(),
    );
    let major = text
        .trim()
        .strip_prefix('v')
        .and_then(|v| v.split('.').next());
    major
        .and_then(|n| n.parse().ok())
        .is_some_and(|n: u32| n >= 18)
}

fn targets_wasm(clang: &Path) -> bool {
    Command::new(clang)
        .arg("--print-targets")
        .output()
        .is_ok_and(|o| String::from_utf8_lossy(&o.stdout).contains("wasm32"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_says_what_to_install() {
        let line = what_to_install(&[&CLANG, &CHROMIUM]);
        assert_eq!(
            line,
            "Missing: clang (compiles SQLite to WebAssembly), Chromium (the viewer's tests). Install what \
             is missing (on Debian, as root: `apt-get install --no-install-recommends clang-19 chromium`), then repeat \
             the command."
        );
        assert_eq!(line.lines().count(), 1);
    }

    #[test]
    fn only_a_person_who_agrees_gets_packages() {
        for (answer, expected) in [
            ("\n", true),
            ("y\n", true),
            ("Yes\n", true),
            ("n\n", false),
            ("what?\n", false),
            ("", false),
        ] {
            let said = agreed("", &mut answer.as_bytes()).unwrap();
            assert_eq!(said, expected, "{answer:?}");
        }
    }

    #[test]
    fn programs_are_looked_for_in_the_order_given() {
        let found = on_path(&[OsStr::new("no-such-program"), OsStr::new("sh")]).unwrap();
        assert_eq!(found.file_stem().unwrap(), "sh");
        assert_eq!(on_path(&[OsStr::new("no-such-program")]), None);
    }
}
