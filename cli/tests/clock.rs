//! Tests that environment variables do not change the clock of recording commands: records and deadlines use the
//! system's time only.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use prosescope_test_support::run::fed;

const FORMS: [&str; 2] = ["filesystem", "sqlite"];

/// A time before the gate's deadline, which is one second after the test creates the gate.
const EARLIER: &str = "2020-01-25T16:00:00Z";

struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    /// Creates a run `r1` that waits at a gate, which has a deadline of one second.
    fn new(form: &str) -> Project {
        let dir = tempfile::tempdir().expect("a folder");
        let program = "parallel:\n  session \"A\"\nloop:\n  session \"B\"\napprove g:\n  prompt: \"Go?\"\nuse \"@a/x\"\n";
        fs::write(dir.path().join("p.prose"), program).expect("written");
        let project = Project { dir };
        project.said(0, &[], &["init", "p.prose", "--id", "r1", "--state", form]);
        let create = [
            "gate",
            "create",
            "g",
            "--run",
            "r1",
            "--timeout",
            "1s",
            "--force",
        ];
        project.said(0, &[], &create);
        project
    }

    /// Runs a command with these environment variables, and expects this exit code. Returns all output.
    #[track_caller]
    fn said(&self, code: i32, set: &[(&str, &str)], args: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("HOME", self.dir.path().join("home"))
            .env_remove("PROSE_NOW")
            .env_remove("PROSE_RUN")
            .envs(set.iter().copied());
        let out = fed(&mut command, b"a value");
        let said = [&out.stdout[..], &out.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert_eq!(out.status.code(), Some(code), "{set:?} {args:?}: {said}");
        said
    }

    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        files(self.dir.path(), &mut found);
        found
    }
}

fn files(dir: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(dir).expect("listed").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => files(&path, found),
            false if entry.file_name() == ".lock" => {}
            false => drop(found.insert(path.clone(), fs::read(&path).expect("read"))),
        }
    }
}

#[test]
fn commands_that_record_refuse_a_time_of_the_environment() {
    let commands: &[&[&str]] = &[
        &["init", "p.prose"],
        &["put", "x", "--run", "r1"],
        &["begin", "1", "--run", "r1"],
        &["begin", "2", "--run", "r1"],
        &["begin", "3", "--run", "r1"],
        &["begin", "7", "--run", "r1"],
        &["gate", "create", "h", "--run", "r1", "--prompt", "Go?"],
        &["approve", "r1", "g", "--as", "me"],
        &["approve", "r1", "g", "--as", "me", "--record-timeout"],
        &["reject", "r1", "g", "--as", "me", "--reason", "no"],
        &["gates", "expire"],
        &["gates", "expire", "r1"],
        &["agent", "memory", "set", "a", "--run", "r1"],
        &[
            "agent", "segment", "add", "a", "--prompt", "p", "--run", "r1",
        ],
        &["resume", "r1", "--begin"],
        &["finish", "failed", "--run", "r1"],
        &["clean", "r1", "--force", "--yes"],
        &["check", "r1", "--fix"],
        &["workflow", "start", "--input", "Hello"],
    ];
    for form in FORMS {
        let project = Project::new(form);
        // The deadline of the gate is one second after its creation, so it has passed.
        let before = project.files();
        for (time, code) in [(EARLIER, 4), ("2099-01-01T00:00:00Z", 4), ("no time", 2)] {
            for args in commands {
                let said = project.said(code, &[("PROSE_NOW", time)], args);
                assert!(said.contains("PROSE_NOW"), "{args:?}: {said}");
            }
        }
        let said = project.said(2, &[("PROSE_NOW", "yesterday")], &["gates", "r1"]);
        assert!(
            said.contains("PROSE_NOW is not a time: yesterday"),
            "{said}"
        );
        // With `PROSE_NOW`, `gate show` still shows the gate, but does not record the view.
        let said = project.said(0, &[("PROSE_NOW", EARLIER)], &["gate", "show", "r1", "g"]);
        assert!(said.contains("nothing was recorded"), "{said}");
        assert!(project.files() == before, "{form}");
        // Commands that only read do use the time in `PROSE_NOW`.
        let late = project.said(
            0,
            &[("PROSE_NOW", "2099-01-01T00:00:00Z")],
            &["gates", "r1"],
        );
        let early = project.said(0, &[("PROSE_NOW", EARLIER)], &["gates", "r1"]);
        assert!(
            late.contains("overdue") && !early.contains("overdue"),
            "{late}{early}"
        );
    }
}

/// Other environment variables, from the docs or from other programs, do not change the recorded time either.
#[test]
fn what_is_recorded_bears_the_systems_time() {
    let project = Project::new("sqlite");
    let plain = project.said(0, &[], &["init", "p.prose"]);
    let today = plain.split('-').next().expect("a date");
    let names = [
        "SOURCE_DATE_EPOCH",
        "NOW",
        "FAKETIME",
        "FAKE_NOW",
        "PROSE_TIME",
        "PROSE_CLOCK",
        "PROSESCOPE_NOW",
        "OPENPROSE_NOW",
        "TODAY",
        "DATE",
        "PGTZ",
    ];
    for (name, value) in names
        .iter()
        .flat_map(|name| [(*name, EARLIER), (*name, "1")])
    {
        let id = project.said(0, &[(name, value)], &["init", "p.prose"]);
        // Midnight may have passed since `today` was read, so both dates are accepted.
        let now = project.said(0, &[], &["init", "p.prose"]);
        let fits = [today, now.split('-').next().expect("a date")];
        assert!(
            fits.iter().any(|day| id.starts_with(day)),
            "{name}={value}: {id}"
        );
    }
    // Recorded times are in UTC, whatever time zone `TZ` sets.
    let far = project.said(0, &[("TZ", "Pacific/Kiritimati")], &["init", "p.prose"]);
    let now = project.said(0, &[("TZ", "UTC")], &["init", "p.prose"]);
    let hours = |id: &str| id.get(..11).map(str::to_owned);
    assert!(
        far.starts_with(today) || hours(&far) == hours(&now),
        "{far} {now}"
    );
}
