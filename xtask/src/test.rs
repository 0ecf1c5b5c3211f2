//! `cargo xtask test`: installs and builds what the tests require, then runs the quick half or all of them.

use std::ffi::OsString;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::view;
use xtask::cargo::{NATIVE, QUICK_WASM, VIEWER_HTML, WASM_PROFILE, cargo, target, viewer_file};
use xtask::step::{beside, run, step};
use xtask::wasm::{self, PACKAGE as MODULE, VIEWER};
use xtask::{pack, setup};

/// The environment variable that forbids tests to skip, because this command has installed everything that they
/// require.
const REQUIRE_ALL: &str = "PROSE_TESTS_REQUIRE_ALL";

/// The environment variable with the path of the core's wasm, for the purity test.
const PURITY_WASM: &str = "PROSE_PURITY_WASM";

/// The environment variable with the path of the JavaScript package, for the tests.
const PACKAGE: &str = "PROSE_JS_PACKAGE";

/// The environment variable with the path of the `prosescope` to test.
pub(crate) const PROSE: &str = "PROSE_BIN";

/// The environment variable with the number of parallel tests, for libtest.
const THREADS: &str = "RUST_TEST_THREADS";

/// The number of parallel tests beyond one for each core. Many tests wait for a server, a lock or a browser, and
/// would leave a core idle.
const WAITING: usize = 2;

/// The environment variable that makes the tests of the documentation rewrite its pages instead of comparing them.
const WRITE_DOCS: &str = "PROSE_WRITE_DOCS";

/// The test programs of the quick half, beside the unit tests of all crates: case files, the conformance of stores, and
/// what the documents promise.
const QUICK: &[&str] = &[
    "agree",
    "audit_chain",
    "checks",
    "cli_reference",
    "conformance",
    "docs",
    "environment",
    "errors",
    "histories",
    "layers",
    "programs",
    "query",
    "real",
    "recording",
    "resume",
    "server",
    "sqlite",
    "stores",
    "trace",
];

/// The end-to-end tests of the quick half: the documents' own SQL, a walk through each shell, and rules about sources
/// and generated pages.
const WALKS: &[(&str, &[&str])] = &[
    ("record", &["documents::"]),
    (
        "e2e",
        &[
            "cli::",
            "examples::",
            "json::",
            "pkg::node::",
            "pkg::types::",
            "purity::",
            "rules::",
            "shells::",
            "viewer::tasks::",
        ],
    ),
];

#[derive(clap::Args, Default)]
pub(crate) struct TestArgs {
    /// Run everything: every end-to-end test, damaged and hostile input, kills, races, documentation tests
    #[arg(long)]
    all: bool,
    /// Arguments for `cargo test`, such as a test's name, `-p PACKAGE`, `-- --nocapture`; with these, only what they
    /// select runs
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "CARGO TEST ARGUMENT"
    )]
    cargo: Vec<OsString>,
}

impl TestArgs {
    /// Returns the arguments of `cargo xtask test --all`.
    pub(crate) fn all() -> TestArgs {
        TestArgs {
            all: true,
            ..TestArgs::default()
        }
    }
}

/// Installs and builds what the tests require, and runs the quick half of the tests, all of them, or those that the
/// arguments select. No test is skipped.
///
/// # Errors
/// If something is missing and cannot be installed, does not build, or a test fails.
pub(crate) fn run_tests(root: &Path, args: &TestArgs) -> Result<()> {
    let everything = args.all || !args.cargo.is_empty();
    let ready = prepared(root, if everything { WASM_PROFILE } else { QUICK_WASM })?;
    let mut quick = ready.command(root, NATIVE);
    quick.args(["--lib", "--bins"]);
    for name in QUICK {
        quick.args(["--test", name]);
    }
    if args.all {
        // All tests contain the quick half, so it is only built here: a name in it that is no test program is an error.
        step("Building the quick half of the tests", || {
            run(quick.arg("--no-run"))
        })?;
    }
    if everything {
        let mut test = ready.command(root, NATIVE);
        return step("Running the tests", || run(test.args(&args.cargo)));
    }
    step("Running the quick half of the tests", || run(&mut quick))?;
    for (program, names) in WALKS {
        let mut walk = ready.command(root, NATIVE);
        walk.args(["--test", program, "--"]).args(*names);
        step("Running one walk through each shell", || run(&mut walk))?;
    }
    eprintln!("\nThe quick half passed. `cargo xtask test --all` runs everything.");
    Ok(())
}

/// What the tests use, built.
struct Ready {
    viewer: PathBuf,
    package: PathBuf,
    purity: PathBuf,
    prose: PathBuf,
}

impl Ready {
    /// Returns a `cargo test` command for these packages.
    fn command(&self, root: &Path, packages: &[&str]) -> Command {
        let mut test = cargo(root);
        test.args(["test", "--no-fail-fast"])
            .args(packages)
            .env(REQUIRE_ALL, "1")
            .env(VIEWER_HTML, &self.viewer)
            .env(PURITY_WASM, &self.purity)
            .env(PACKAGE, &self.package)
            .env(PROSE, &self.prose);
        if std::env::var_os(THREADS).is_none() {
            let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
            test.env(THREADS, (cores + WAITING).to_string());
        }
        test
    }
}

/// Installs and builds everything that the tests use. The viewer and the package have a cargo profile for wasm.
fn prepared(root: &Path, profile: &str) -> Result<Ready> {
    setup::tests(root)?;
    // Compiles the libraries meanwhile, because they need neither the viewer nor the package.
    let libraries = || {
        pack::build(root)?;
        run(cargo(root)
            .args(["test", "--no-run", "--quiet", "--lib"])
            .args(NATIVE))
    };
    let purity = step(
        "Building the viewer, the package and the core alone as WebAssembly",
        || {
            beside(libraries, || {
                let name = wasm::profile(profile);
                for module in [VIEWER, MODULE] {
                    wasm::compile(root, module, &name)?;
                }
                wasm::compile(root, PURITY, profile)
            })
        },
    )?;
    let package = pack::package(root, profile)?;
    let viewer = viewer_file(root);
    let prose = view::prose(root, &viewer)?;
    Ok(Ready {
        viewer,
        package,
        purity,
        prose,
    })
}

/// The core without the viewer, for the purity test. In a common build, cargo would unify the features of the core and
/// the viewer.
const PURITY: wasm::Module = ("prosescope-purity", "prosescope_purity.wasm");

/// Rewrites generated documentation: pages of docs/reference, pkg/js/views.d.ts, and the output shown in other pages.
/// The tests of these files run in a mode that writes instead of comparing.
///
/// # Errors
/// If the tests do not build or fail.
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
/// As for [`run_tests`].
pub(crate) fn soak(root: &Path) -> Result<()> {
    setup::tests(root)?;
    let mut test = cargo(root);
    test.args([
        "test",
        "--release",
        "-p",
        "prosescope",
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
    // The tests run one at a time. Otherwise the many writers would wait longer than any timeout.
    .args(["--", "--show-output", "--test-threads=1"])
    .env(REQUIRE_ALL, "1")
    .env("PROSE_SOAK", "1");
    step("Recording, killing, racing", || run(&mut test))
}

/// Records every available program with both naive interpreters, in each form, with and without failures. Then runs
/// the tests in [`SWEPT`] completely: every function of SQLite, unexpected things in place of files, failing and
/// hostile servers, and growing numbers of rows.
///
/// # Errors
/// As for [`run_tests`]; also if more than one recording in a hundred fails.
pub(crate) fn sweep(root: &Path) -> Result<()> {
    setup::tests(root)?;
    // The sweep runs some hundred thousand commands. An unoptimised program takes several times as long to start.
    step("Building prosescope, optimised", || {
        run(cargo(root).args(["build", "--release", "-p", "prosescope"]))
    })?;
    let prose = target(root)
        .join("release")
        .join("prosescope")
        .with_extension(std::env::consts::EXE_EXTENSION);
    let mut test = cargo(root);
    test.args(["test", "-p", "prosescope-tests", "--test", "sweep"])
        .env(PROSE, prose)
        // The tests run one at a time, because each uses two threads of its own.
        .args(["--", "--nocapture", "--test-threads=1"])
        .env(REQUIRE_ALL, "1")
        .env("PROSE_SWEEP", "1");
    step("Recording every program", || run(&mut test))?;
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

/// Tests that run a sample in CI, and everything with `PROSE_SWEEP`: description, package, test file, and filters.
const SWEPT: &[(&str, &str, &str, &[&str])] = &[
    (
        "Testing runs with every unexpected file",
        "prosescope-tests",
        "record",
        &["places::"],
    ),
    (
        "Testing PostgreSQL servers that fail at each question, and hostile ones",
        "prosescope",
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
        "Testing the growth of costs with the size of runs",
        "prosescope-damage",
        "borne",
        &["growth::"],
    ),
];

/// Takes screenshots of every page in target/screenshots, and docs/screenshot.png for the README.
///
/// # Errors
/// As for [`run_tests`].
pub(crate) fn screenshots(root: &Path) -> Result<()> {
    let mut test = prepared(root, WASM_PROFILE)?.command(root, NATIVE);
    test.args(["--test", "e2e", "screenshots"])
        .env(WRITE_DOCS, "1");
    step("Taking screenshots", || run(&mut test))
}
