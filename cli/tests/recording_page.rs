//! docs/recording.md begins with a recording of a shipped program: the commands and what they print, as they are.

use std::path::Path;
use std::process::Command;

use prosescope_test_support::{clock, needs};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/recording.md");
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
const FENCE: &str = "````console\n";
const END: &str = "\n````\n";

/// Runs each command of a session in one shell; gives the session as it is now.
fn replayed(session: &str) -> String {
    let dir = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(EXAMPLES).expect("the examples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|end| end == "prose") {
            std::fs::copy(&path, dir.path().join(path.file_name().expect("a name")))
                .expect("copied");
        }
    }
    let mut script = String::new();
    for command in session.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let shown = command.replace('\'', "'\\''");
        script.push_str(&format!("printf '%s\\n' '$ {shown}'\n{command}\n"));
    }
    let binary = Path::new(env!("CARGO_BIN_EXE_prosescope"));
    let own = binary.parent().expect("a folder").display();
    let path = std::env::var("PATH").unwrap_or_default();
    let out = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{script}")])
        .current_dir(dir.path())
        .env("PATH", format!("{own}:{path}"))
        .env("HOME", dir.path())
        .env("COLUMNS", "80")
        .envs(clock::at("2026-03-01T10:00:00Z"))
        .env_remove("PROSE_RUN")
        .output()
        .expect("a shell");
    String::from_utf8(out.stdout).expect("UTF-8")
}

#[test]
fn the_page_on_recording_begins_with_what_really_happens() {
    if needs::faketime().is_none() {
        return;
    }
    let page = std::fs::read_to_string(PAGE).expect("the page");
    let (before, rest) = page.split_once(FENCE).expect("a session");
    let (session, after) = rest.split_once(END).expect("its end");
    let now = replayed(session);
    if std::env::var_os("PROSE_WRITE_DOCS").is_some() {
        std::fs::write(
            PAGE,
            format!("{before}{FENCE}{}{END}{after}", now.trim_end()),
        )
        .expect("written");
        return;
    }
    assert_eq!(
        session,
        now.trim_end(),
        "PROSE_WRITE_DOCS=1 writes the page anew"
    );
    assert!(now.contains("finish --status completed") && now.contains(" completed\n"));
}
