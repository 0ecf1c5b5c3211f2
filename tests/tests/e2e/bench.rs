//! Tests that every part of `cargo xtask bench` runs. The measured figures are not tested.

use std::process::Command;

use prosescope_tests::needs;

#[test]
fn everything_native_is_measured_in_small() {
    let (Some(prose), Some(_)) = (needs::prose(), needs::sqlite3()) else {
        return;
    };
    let out = Command::new(env!("CARGO_BIN_EXE_bench"))
        .args(["--quick", "get", "fold", "scope", "runs"])
        .env("PROSE_BIN", prose)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}{error}");
    for figure in [
        "prosescope get",
        "render the whole program",
        "recursive query",
        "for ten times the work",
    ] {
        assert!(said.contains(figure), "{figure} in {said}");
    }
}
