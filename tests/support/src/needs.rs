//! Finds the programs and files that a test requires. `cargo xtask test` installs all of them and sets an environment
//! variable, with which a test fails if one is missing. With plain `cargo test`, a test that lacks something is skipped
//! and prints a line on standard error that begins with `skipped:`.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The environment variable that `cargo xtask test` sets, after it has installed and built everything that the tests
/// require.
const REQUIRE_ALL: &str = "PROSE_TESTS_REQUIRE_ALL";

/// Returns the top folder of the checkout.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("tests/support/ lies in the checkout")
}

/// Returns a folder of fixtures used by several crates: programs and typical runs.
pub fn fixtures(folder: &str) -> PathBuf {
    root().join("tests/fixtures").join(folder)
}

/// Returns Chromium, in which tests open the viewer.
pub fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    have("Chromium", names.iter().find_map(|name| on_path(name)))
}

/// Returns Firefox, in which the viewer must work too.
pub fn firefox() -> Option<PathBuf> {
    let names = ["firefox-esr", "firefox"];
    have("Firefox", names.iter().find_map(|name| on_path(name)))
}

/// Returns the `sqlite3` program, which builds databases with OpenProse's own SQL.
pub fn sqlite3() -> Option<PathBuf> {
    have("sqlite3", on_path("sqlite3"))
}

/// Returns the folder of PostgreSQL's programs: the folder of the `initdb` on the path, or else the newest folder of
/// Debian's packages, such as `/usr/lib/postgresql/17/bin`.
pub fn postgres() -> Option<PathBuf> {
    // The `initdb` on the path may be a link; the other programs are beside its target.
    let beside = |initdb: PathBuf| initdb.canonicalize().ok()?.parent().map(Path::to_owned);
    let debian = || {
        let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
        let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
        let bin =
            |version: PathBuf| Some(version.join("bin")).filter(|bin| bin.join("initdb").is_file());
        versions
            .map(|entry| entry.path())
            .max_by_key(number)
            .and_then(bin)
    };
    have(
        "PostgreSQL (initdb)",
        on_path("initdb").and_then(beside).or_else(debian),
    )
}

/// Returns the `strace` program, which makes system calls fail.
pub fn strace() -> Option<PathBuf> {
    have("strace", on_path("strace"))
}

/// Returns Debian's `faketime`, which changes the clock of a command ([`crate::clock`]).
pub fn faketime() -> Option<PathBuf> {
    have("faketime", crate::clock::library())
}

/// Returns the `script` program, which gives a command its own terminal.
pub fn script() -> Option<PathBuf> {
    have("script", on_path("script"))
}

/// Returns the path of the built viewer, which is one HTML file.
pub fn viewer() -> Option<PathBuf> {
    have("the built viewer", named_by("PROSE_VIEWER_HTML"))
}

/// Returns the path of the core built alone as a WebAssembly module.
pub fn purity_wasm() -> Option<PathBuf> {
    have(
        "the core built alone as WebAssembly",
        named_by("PROSE_PURITY_WASM"),
    )
}

/// Returns the folder of the built JavaScript package.
pub fn package() -> Option<PathBuf> {
    let folder = env::var_os("PROSE_JS_PACKAGE").map(PathBuf::from);
    let built = folder.filter(|folder| folder.join("package.json").is_file());
    have("the built JavaScript package", built)
}

/// Returns Node, if the npm packages of tests/js are installed.
pub fn node() -> Option<PathBuf> {
    let installed = root().join("tests/js/node_modules/vite8").is_dir();
    have(
        "Node and the npm packages of tests/js",
        on_path("node").filter(|_| installed),
    )
}

/// Returns Python with the packages of tests/python.
pub fn python() -> Option<PathBuf> {
    let python = root().join("tests/python/.venv/bin/python");
    have(
        "Python and the packages of tests/python",
        python.is_file().then_some(python),
    )
}

/// Returns a program that a Python package of tests/python installs.
pub fn python_tool(name: &str) -> Option<PathBuf> {
    let tool = root().join("tests/python/.venv/bin").join(name);
    let what = format!("{name}, of the packages of tests/python");
    have(&what, tool.is_file().then_some(tool))
}

/// Returns the `prosescope` binary: the binary that xtask built, or else the binary that cargo put beside this test.
pub fn prose() -> Option<PathBuf> {
    let beside = || {
        let test = env::current_exe().ok()?;
        let folder = test.parent()?.parent()?;
        let prose = folder
            .join("prosescope")
            .with_extension(env::consts::EXE_EXTENSION);
        prose.is_file().then_some(prose)
    };
    have("prosescope", named_by("PROSE_BIN").or_else(beside))
}

/// Returns a folder or file (`corpus/runs`) of the project's shared material: real programs, real runs, OpenProse's
/// documents. The material is not part of the repository: it is in the folder `PROSESCOPE_SHARED`, or beside the
/// checkout. If it is missing, tests that read it are skipped, even by `cargo xtask test`. So another test must cover
/// the same behaviour.
pub fn shared(path: &str) -> Option<PathBuf> {
    let named = env::var_os("PROSESCOPE_SHARED").map(PathBuf::from);
    let beside = ["../shared", "../../shared"].map(|at| root().join(at));
    let found = named
        .into_iter()
        .chain(beside)
        .map(|shared| shared.join(path))
        .find(|at| at.exists());
    if found.is_none() {
        skip(&format!(
            "needs {path} of the project's shared folder; PROSESCOPE_SHARED names where it lies"
        ));
    }
    found
}

/// Prints that the current test is skipped or tests less. `why` follows the name of the test. The line bypasses the
/// test runner's capture of output, because otherwise the test would look passed.
pub fn skip(why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "skipped: {test} {why}");
}

/// Returns `found`. If it is `None`, prints that the test is skipped, or fails if [`REQUIRE_ALL`] is set.
fn have(what: &str, found: Option<PathBuf>) -> Option<PathBuf> {
    if found.is_none() {
        assert!(
            env::var_os(REQUIRE_ALL).is_none(),
            "{what} is missing, although `cargo xtask test` sets it up"
        );
        skip(&format!("needs {what}; `cargo xtask test` sets it up"));
    }
    found
}

fn named_by(variable: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_file())
}

fn on_path(program: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| {
            folder
                .join(program)
                .with_extension(env::consts::EXE_EXTENSION)
        })
        .find(|file| file.is_file())
}
