//! Running programs.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs a program with this on standard input; it may end before it has read everything.
pub fn fed(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("it ends")
}

/// What a program said that ended with this exit code: standard output, then standard error.
#[track_caller]
pub fn said(code: i32, command: &mut Command) -> String {
    let out = command.output().expect("it runs");
    let said = [&out.stdout[..], &out.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert_eq!(out.status.code(), Some(code), "{command:?}: {said}");
    said
}
