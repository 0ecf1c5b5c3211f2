//! Runs programs for tests, and returns their output or their peak memory.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs a program with this standard input. The program may end before it has read all of it.
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

/// Runs a program to its end; returns its peak memory in bytes, without the pages of its executable.
///
/// # Panics
/// If the program fails.
#[cfg(target_os = "linux")]
pub fn most_memory(command: &mut Command) -> u64 {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    loop {
        let said = std::fs::read_to_string(&status).unwrap_or_default();
        let now = said.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kilobytes = now.and_then(|now| now.trim().trim_end_matches(" kB").parse().ok());
        most = most.max(kilobytes.map_or(0, |n: u64| n * 1024));
        match child.try_wait().expect("it is waited for") {
            Some(done) => break assert!(done.success(), "{command:?}"),
            None => std::thread::sleep(std::time::Duration::from_millis(2)),
        }
    }
    most
}

/// Returns the output of a program that must end with this exit code: standard output, then standard error.
#[track_caller]
pub fn said(code: i32, command: &mut Command) -> String {
    let out = command.output().expect("it runs");
    let said = [&out.stdout[..], &out.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert_eq!(out.status.code(), Some(code), "{command:?}: {said}");
    said
}
