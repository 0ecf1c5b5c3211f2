//! Creates projects with a run, keys and shared files, for the tests of signatures.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use prosescope_share::archive::Archive;
use prosescope_test_support::needs;
use prosescope_test_support::run::{fed, said};
use prosescope_test_support::zip::{Entry, zip};
use ssh_key::PrivateKey;

/// A project with a run `r`.
pub(crate) struct Project {
    dir: tempfile::TempDir,
}

pub(crate) type Parts = Vec<(String, Vec<u8>)>;

impl Project {
    /// Creates a project. Returns `None` if `ssh-keygen` is missing.
    pub(crate) fn new() -> Option<Project> {
        needs::ssh_keygen()?;
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("home")).expect("made");
        fs::write(dir.path().join("p.prose"), "session \"Report\"\n").expect("written");
        let project = Project { dir };
        project.done("init p.prose --id r --state filesystem");
        Some(project)
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn command(&self, program: &str, args: &str) -> Command {
        let mut command = Command::new(program);
        command
            .args(args.split_whitespace())
            .current_dir(self.dir.path())
            .env("HOME", self.at("home"))
            .env("TZ", "UTC")
            .env("COLUMNS", "500");
        command
    }

    /// Runs `prosescope` without a terminal, and expects this exit code. Returns its output.
    #[track_caller]
    pub(crate) fn ended(&self, code: i32, args: &str) -> String {
        let out = fed(
            &mut self.command(env!("CARGO_BIN_EXE_prosescope"), args),
            b"",
        );
        let said = String::from_utf8_lossy(&[&out.stdout[..], &out.stderr].concat()).into_owned();
        assert_eq!(out.status.code(), Some(code), "{args}: {said}");
        said
    }

    #[track_caller]
    pub(crate) fn done(&self, args: &str) -> String {
        self.ended(0, args)
    }

    /// Creates a key. Returns the line of its public key.
    #[track_caller]
    pub(crate) fn key(&self, name: &str, kind: &str) -> String {
        self.key_that_is(true, name, kind)
    }

    /// Creates keys until `prosescope` can read one. If `read` is false, creates keys until `prosescope` cannot read
    /// one. Unreadable are ECDSA keys whose secret number begins with a zero byte.
    #[track_caller]
    pub(crate) fn key_that_is(&self, read: bool, name: &str, kind: &str) -> String {
        let args = format!("-q -t {kind} -C {name}@example.com -f {name} -N");
        loop {
            said(0, self.command("ssh-keygen", &args).arg(""));
            let private = fs::read_to_string(self.at(name)).expect("a key");
            let public = fs::read_to_string(self.at(&format!("{name}.pub"))).expect("a key");
            if PrivateKey::from_openssh(private).is_ok() == read {
                return public;
            }
            for file in [name.to_owned(), format!("{name}.pub")] {
                fs::remove_file(self.at(&file)).expect("removed");
            }
        }
    }

    /// Returns the fingerprint of a key, as OpenSSH prints it.
    #[track_caller]
    pub(crate) fn fingerprint(&self, key: &str) -> String {
        let printed = said(
            0,
            &mut self.command("ssh-keygen", &format!("-lf {key}.pub")),
        );
        printed.split(' ').nth(1).expect("a fingerprint").to_owned()
    }

    /// Writes a file of allowed signers.
    pub(crate) fn signers(&self, lines: &str) {
        fs::write(self.at("signers"), lines).expect("written");
    }

    pub(crate) fn parts(&self, zip: &str) -> Parts {
        let bytes = fs::read(self.at(zip)).expect("read");
        let len = bytes.len() as u64;
        let zip = Archive::open(bytes, len, 1 << 30).expect("a zip");
        let paths = zip.entries().iter().map(|entry| entry.path.clone());
        let whole = |path: &str| zip.whole(path).expect("read").expect("there");
        paths.map(|path| (path.clone(), whole(&path))).collect()
    }

    pub(crate) fn write(&self, to: &str, parts: &Parts) {
        let entries = parts.iter().map(|(path, bytes)| Entry::stored(path, bytes));
        let entries: Vec<Entry> = entries.collect();
        fs::write(self.at(to), zip(&entries)).expect("written");
    }

    /// Copies a zip with one part changed.
    pub(crate) fn altered(
        &self,
        from: &str,
        to: &str,
        path: &str,
        alter: impl FnOnce(&mut Vec<u8>),
    ) {
        let mut parts = self.parts(from);
        let part = parts.iter_mut().find(|part| part.0 == path);
        alter(&mut part.expect("the part").1);
        self.write(to, &parts);
    }

    /// Runs `check`. Returns severity, rule and message of each issue about signatures.
    #[track_caller]
    pub(crate) fn checked(&self, code: i32, args: &str) -> Vec<String> {
        let printed = self.ended(code, &format!("check {args} --json"));
        let report: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
        let issues = report["runs"][0]["issues"].as_array().expect("a list");
        let of_share = issues.iter().filter(|issue| {
            let rule = issue["rule"].as_str().expect("a rule");
            rule.starts_with("share-")
        });
        let word = |issue: &serde_json::Value, key: &str| issue[key].as_str().unwrap().to_owned();
        of_share
            .map(|issue| {
                let [severity, rule, message] =
                    ["severity", "rule", "message"].map(|key| word(issue, key));
                format!("{severity} {rule}: {message}")
            })
            .collect()
    }

    /// Runs `check`, and expects one issue that begins with `begin` and contains `part`.
    #[track_caller]
    pub(crate) fn says(&self, code: i32, args: &str, begin: &str, part: &str) {
        let said = self.checked(code, args);
        let [issue] = said.as_slice() else {
            panic!("{args}: {said:?}");
        };
        assert!(
            issue.starts_with(begin) && issue.contains(part),
            "{args}: {issue}"
        );
    }
}

pub(crate) fn part(parts: &Parts, path: &str) -> Vec<u8> {
    let found = parts.iter().find(|part| part.0 == path);
    found
        .unwrap_or_else(|| panic!("there is no {path}"))
        .1
        .clone()
}

/// Runs `ssh-keygen` in the project.
pub(crate) fn said_of(project: &Project, args: &str) -> String {
    said(0, &mut project.command("ssh-keygen", args))
}
