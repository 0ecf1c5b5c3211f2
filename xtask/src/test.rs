//! `cargo xtask test`: everything the tests need, then all of them.

use std::ffi::OsString;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::cargo::{NATIVE, WASM, cargo, cargo_wasm};
use crate::pkg;
use crate::setup;
use crate::step::{beside, run, step};
use crate::view::{self, VIEWER_HTML, WASM_PROFILE};

/// Tells the tests that nothing may be skipped: this command has set up all that they need.
const REQUIRE_ALL: &str = "PROSE_TESTS_REQUIRE_ALL";

/// Tells the purity test where the core's wasm lies.
const PURITY_WASM: &str = "PROSE_PURITY_WASM";

/// Tells the tests where the JavaScript package lies.
const PACKAGE: &str = "PROSE_JS_PACKAGE";

/// Tells the tests which `prosescope` to run.
pub(crate) const PROSE: &str = "PROSE_BIN";

/// Tells libtest how many tests to run at a time.
const THREADS: &str = "RUST_TEST_THREADS";

/// Tests that run beside one for each core: many wait for a server, a lock or a browser, and a core that waits with them is
/// lost.
const WAITING: usize = 2;

/// Tells the tests of what docs/ shows to write it instead of comparing.
const WRITE_DOCS: &str = "PROSE_WRITE_DOCS";

#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Passed on to `cargo test`: a test's name, `-p PACKAGE`, `-- --nocapture`.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "CARGO TEST ARGUMENT"
    )]
    cargo: Vec<OsString>,
}

/// Sets up, builds, and runs all tests; none is skipped.
///
/// # Errors
/// When something is missing and cannot be installed, does not build, or a test fails.
pub(crate) fn run_tests(root: &Path, args: &Args) -> Result<()> {
    let mut test = prepared(root)?;
    step("Running the tests", || run(test.args(&args.cargo)))
}

/// `cargo test` on a machine that lacks nothing, with everything built that the tests look at.
fn prepared(root: &Path) -> Result<Command> {
    setup::tests(root)?;
    // All that compiles before the viewer is there.
    let libraries = || {
        run(cargo(root)
            .args(["test", "--no-run", "--quiet", "--lib"])
            .args(NATIVE))
    };
    let (viewer, package, purity) = beside(libraries, || {
        Ok((view::bundle(root)?, pkg::build(root)?, purity(root)?))
    })?;
    let prose = view::prose(root, &viewer)?;
    let mut test = cargo(root);
    test.args(["test", "--no-fail-fast"])
        .args(NATIVE)
        .env(REQUIRE_ALL, "1")
        .env(VIEWER_HTML, viewer)
        .env(PURITY_WASM, purity)
        .env(PACKAGE, package)
        .env(PROSE, prose);
    if std::env::var_os(THREADS).is_none() {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        test.env(THREADS, (cores + WAITING).to_string());
    }
    Ok(test)
}

/// Builds a wasm of the core alone. Alone, because cargo would unify features with the viewer's.
fn purity(root: &Path) -> Result<PathBuf> {
    step("Building the core alone as WebAssembly", || {
        run(cargo_wasm(root)?.args([
            "build",
            "--package",
            "prosescope-purity",
            "--target",
            WASM,
            "--profile",
            WASM_PROFILE,
        ]))
    })?;
    Ok(view::target(root)
        .join(WASM)
        .join(WASM_PROFILE)
        .join("prosescope_purity.wasm"))
}

/// Writes the generated pages of docs/reference, pkg/js/views.d.ts and what the pages' sessions print anew: their own tests do it
/// when asked to.
///
/// # Errors
/// When the test does not build or fails.
pub(crate) fn write_docs(root: &Path) -> Result<()> {
    step(
        "Writing the generated pages of docs/reference and pkg/js/views.d.ts",
        || {
            run(cargo(root)
                .arg("test")
                .args(NATIVE)
                .args(["--test", "cli_reference", "--test", "docs", "--test", "e2e"])
                .args(["--test", "checks"])
                .args(["--", "reference", "json::", "pkg::types::"])
                .arg("the_commands_of_every_page")
                .env(WRITE_DOCS, "1"))
        },
    )
}

/// Runs the tests of recording with large numbers: hundreds of processes, a thousand kills.
///
/// # Errors
/// As [`run_tests`].
pub(crate) fn soak(root: &Path) -> Result<()> {
    setup::tests(root)?;
    let mut test = cargo(root);
    test.args([
        "test",
        "--release",
        "-p",
        "prosescope-cli",
        "-p",
        "prosescope-store",
        "-p",
        "prosescope-tests",
    ])
    .args([
        "--test",
        "record",
        "--test",
        "conformance",
        "--test",
        "gates",
        "--test",
        "postgres",
    ])
    // One after the other: many writers against a crowd of other tests wait longer than any timeout.
    .args(["--", "--show-output", "--test-threads=1"])
    .env(REQUIRE_ALL, "1")
    .env("PROSE_SOAK", "1");
    step("Recording, killing, racing", || run(&mut test))
}

/// Carries out every program at hand by both naive interpreters, in each form, with failures and without; then attacks runs by
/// every function of SQLite and by whatever may stand in a file's place, has servers fail and do harm in each way, and runs grow.
///
/// # Errors
/// As [`run_tests`]; and when more than one recording of a hundred is left.
pub(crate) fn sweep(root: &Path) -> Result<()> {
    setup::tests(root)?;
    // Some hundred thousand commands are given: one that is not optimised takes several times as long to start.
    step("Building prosescope, optimised", || {
        run(cargo(root).args(["build", "--release", "-p", "prosescope-cli"]))
    })?;
    let prose = view::target(root)
        .join("release")
        .join("prosescope")
        .with_extension(std::env::consts::EXE_EXTENSION);
    let mut test = cargo(root);
    test.args(["test", "-p", "prosescope-tests", "--test", "sweep"])
        .env(PROSE, prose)
        // Each test runs two threads of its own.
        .args(["--", "--nocapture", "--test-threads=1"])
        .env(REQUIRE_ALL, "1")
        .env("PROSE_SWEEP", "1");
    step("Carrying out every program", || run(&mut test))?;
    for (about, package, test, names) in SWEPT {
        let mut all = cargo(root);
        all.args(["test", "-p", package, "--test", test, "--"])
            .args(*names)
            .env(REQUIRE_ALL, "1")
            .env("PROSE_SWEEP", "1");
        step(about, || run(&mut all))?;
    }
    Ok(())
}

/// Tests that take a sample in CI and all with `PROSE_SWEEP`: what they do, their package, the test, and names in it.
const SWEPT: &[(&str, &str, &str, &[&str])] = &[
    (
        "Attacking runs by every function and every odd file",
        "prosescope-tests",
        "record",
        &["functions::", "places::"],
    ),
    (
        "Having a server of PostgreSQL fail at each question, and others do harm",
        "prosescope-cli",
        "postgres",
        &["faults::", "foreign::", "hostile::", "theirs::"],
    ),
    (
        "Planting each kind of secret in each place of a shared run",
        "prosescope-tests",
        "sharing",
        &["secrets::"],
    ),
    (
        "Having runs grow",
        "prosescope-damage",
        "borne",
        &["growth::"],
    ),
];

/// Takes the screenshots: of every page in target/screenshots, and docs/screenshot.png for the README.
///
/// # Errors
/// As [`run_tests`].
pub(crate) fn screenshots(root: &Path) -> Result<()> {
    let mut test = prepared(root)?;
    test.args(["--test", "e2e", "screenshots"])
        .env(WRITE_DOCS, "1");
    step("Taking screenshots", || run(&mut test))
}
