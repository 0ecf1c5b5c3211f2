//! Makes system calls of a command fail. `strace` lets the N-th call of a kind return an error: only this call, or also
//! all later calls.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use crate::project::given;

/// The calls on files and folders that may fail. strace prints the path of each descriptor.
const CALLS: &str = "openat,openat2,read,pread64,readv,write,pwrite64,writev,copy_file_range,sendfile,fsync,fdatasync,\
    ftruncate,fallocate,rename,renameat,renameat2,unlink,unlinkat,rmdir,link,linkat,mkdir,mkdirat,stat,lstat,fstat,\
    newfstatat,statx,access,faccessat,faccessat2,readlink,readlinkat,getdents64,lseek,fcntl,flock,fchmod,fchown";

/// A failing system call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The name of the call, such as `openat`.
    pub(crate) call: String,
    /// The number of the call among the calls of that name, counted from 1.
    nth: u32,
    /// The name of the error, such as `EIO`.
    error: &'static str,
    /// How often the call fails, in strace's syntax: empty for once, `+` for this call and all later ones.
    times: &'static str,
    /// The call as strace printed it.
    seen: String,
}

impl Fault {
    /// Describes the fault for messages.
    pub(crate) fn shown(&self) -> String {
        let Fault {
            call,
            nth,
            error,
            times,
            seen,
        } = self;
        format!("{call} {nth}{times} {error} ({seen})")
    }

    /// Runs the command with the failing call.
    pub(crate) fn run(&self, command: &Command, input: &[u8]) -> Output {
        let Fault {
            call,
            nth,
            error,
            times,
            ..
        } = self;
        let how = [
            "-f",
            "-o",
            "/dev/null",
            "-e",
            &format!("trace={call}"),
            "-e",
            &format!("inject={call}:error={error}:when={nth}{times}"),
        ];
        given(&mut strace(command, &how), input)
    }
}

/// Runs a command without a fault. Returns its output, and the faults to try: in one fault, a call on a path below
/// `folder` fails once; in another fault, it fails permanently.
pub(crate) fn faults(
    command: &Command,
    input: &[u8],
    folder: &Path,
    log: &Path,
) -> (Output, Vec<Fault>) {
    let to = log.to_string_lossy();
    let how = ["-f", "-y", "-o", &to, "-e", &format!("trace={CALLS}")];
    let out = given(&mut strace(command, &how), input);
    let lines = std::fs::read(log).expect("strace wrote what it saw");
    let mut seen: BTreeMap<(String, String), u32> = BTreeMap::new();
    let mut faults = Vec::new();
    for line in String::from_utf8_lossy(&lines).lines() {
        let Some((process, rest)) = line.split_once(' ') else {
            continue;
        };
        let Some((call, with)) = rest.trim_start().split_once('(') else {
            continue;
        };
        if call.contains([' ', '<', '+', '-']) {
            continue;
        }
        let nth = seen
            .entry((process.to_owned(), call.to_owned()))
            .or_default();
        *nth += 1;
        if !is_below(with, folder) {
            continue;
        }
        let short: String = with
            .replace(&*folder.to_string_lossy(), "")
            .chars()
            .take(90)
            .collect();
        for error in errors(call) {
            // If every write failed, the command could not print an error either.
            let times: &[&str] = match call {
                "write" => &[""],
                _ => &["", "+"],
            };
            for times in times {
                faults.push(Fault {
                    call: call.to_owned(),
                    nth: *nth,
                    error,
                    times,
                    seen: short.clone(),
                });
            }
        }
    }
    (out, faults)
}

/// Runs a command and returns the number of its system calls of each kind.
pub(crate) fn calls(command: &Command, input: &[u8], log: &Path) -> BTreeMap<String, usize> {
    let mut command = strace(command, &["-f", "-o", &log.to_string_lossy()]);
    // Each command looks for what killed ones left in the temporary folder, and there other tests have theirs.
    if let Some(dir) = log.parent() {
        command.env("TMPDIR", dir);
    }
    let out = given(&mut command, input);
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let lines = std::fs::read(log).expect("strace wrote what it saw");
    let mut calls = BTreeMap::new();
    for line in String::from_utf8_lossy(&lines).lines() {
        let call = line
            .split_once(' ')
            .and_then(|(_, rest)| rest.split_once('('));
        if let Some((call, _)) = call {
            *calls.entry(call.trim().to_owned()).or_default() += 1;
        }
    }
    calls
}

/// Returns the possible errors of a call.
fn errors(call: &str) -> &'static [&'static str] {
    match call {
        "write" | "pwrite64" | "writev" | "mkdirat" | "linkat" => &["EIO", "ENOSPC"],
        "openat" | "openat2" => &["EIO", "EACCES"],
        _ => &["EIO"],
    }
}

/// Returns whether a call is on a path or a descriptor below a folder, which is also the working directory.
fn is_below(with: &str, folder: &Path) -> bool {
    let folder = &*folder.to_string_lossy();
    let from_here = with.strip_prefix("AT_FDCWD").map(|rest| match rest {
        rest if rest.starts_with('<') => rest.split_once('>').map_or("", |(_, rest)| rest),
        rest => rest,
    });
    match from_here {
        Some(rest) => {
            rest.contains(folder) || rest.contains("/proc/self/fd/") || !rest.starts_with(", \"/")
        }
        None => with.contains(folder) || with.contains("/proc/self/fd/"),
    }
}

fn strace(command: &Command, how: &[&str]) -> Command {
    let mut strace = Command::new("strace");
    strace
        .args(["-qq", "--seccomp-bpf"])
        .args(how)
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => strace.env(name, value),
            None => strace.env_remove(name),
        };
    }
    if let Some(dir) = command.get_current_dir() {
        strace.current_dir(dir);
    }
    strace
}
