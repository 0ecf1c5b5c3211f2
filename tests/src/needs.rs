//! What a test needs of this machine. `cargo xtask test` sets all of it up and says so by an environment
//! variable: then nothing may be missing. Under plain `cargo test` a test that lacks something is skipped, and
//! says so.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Set by `cargo xtask test`, which has installed and built all that the tests need.
const REQUIRE_ALL: &str = "PROSE_TESTS_REQUIRE_ALL";

/// The checkout's top folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ lies in the checkout")
}

/// Chromium, to drive the viewer.
pub fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    have("Chromium", names.iter().find_map(|name| on_path(name)))
}

/// The `sqlite3` program, to make databases with the documents' own SQL.
pub fn sqlite3() -> Option<PathBuf> {
    have("sqlite3", on_path("sqlite3"))
}

/// The `script` program, which gives a command a terminal of its own.
pub fn script() -> Option<PathBuf> {
    have("script", on_path("script"))
}

/// The viewer as one HTML file.
pub fn viewer() -> Option<PathBuf> {
    have("the built viewer", named_by("PROSE_VIEWER_HTML"))
}

/// A WebAssembly module of the core alone.
pub fn purity_wasm() -> Option<PathBuf> {
    have(
        "the core built alone as WebAssembly",
        named_by("PROSE_PURITY_WASM"),
    )
}

/// The JavaScript package, built.
pub fn package() -> Option<PathBuf> {
    let folder = env::var_os("PROSE_JS_PACKAGE").map(PathBuf::from);
    let built = folder.filter(|folder| folder.join("package.json").is_file());
    have("the built JavaScript package", built)
}

/// Node, and the npm packages of tests/js.
pub fn node() -> Option<PathBuf> {
    let installed = root().join("tests/js/node_modules/sql.js").is_dir();
    have(
        "Node and the npm packages of tests/js",
        on_path("node").filter(|_| installed),
    )
}

/// The `prose` binary: the one that xtask built, else the one that cargo put beside this test.
pub fn prose() -> Option<PathBuf> {
    let beside = || {
        let test = env::current_exe().ok()?;
        let folder = test.parent()?.parent()?;
        let prose = folder
            .join("prose")
            .with_extension(env::consts::EXE_EXTENSION);
        prose.is_file().then_some(prose)
    };
    have("prose", named_by("PROSE_BIN").or_else(beside))
}

/// Held by a test in a browser; [`Alone`] waits for all of them.
static BROWSERS: RwLock<()> = RwLock::new(());

/// Other tests in browsers may run beside the holder.
pub struct Beside(#[expect(dead_code, reason = "held, not read")] RwLockReadGuard<'static, ()>);

/// No other test in a browser runs beside the holder, which measures time.
pub struct Alone(#[expect(dead_code, reason = "held, not read")] RwLockWriteGuard<'static, ()>);

impl Beside {
    /// Waits while another test wants to be alone.
    pub fn wait() -> Beside {
        Beside(BROWSERS.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Alone {
    /// Waits for the others.
    pub fn wait() -> Alone {
        Alone(BROWSERS.write().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Skips with a line that capturing does not swallow; fails where nothing may be missing.
fn have(what: &str, found: Option<PathBuf>) -> Option<PathBuf> {
    if found.is_none() {
        assert!(
            env::var_os(REQUIRE_ALL).is_none(),
            "{what} is missing, although `cargo xtask test` sets it up"
        );
        let test = std::thread::current().name().unwrap_or("a test").to_owned();
        let _ = writeln!(
            std::io::stderr(),
            "skipped: {test} needs {what}; `cargo xtask test` sets it up"
        );
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
