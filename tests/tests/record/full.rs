//! Tests a full disk, a read-only folder, and failing writes (errata H5): each gives a clear error and leaves the old
//! state unchanged.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use prosescope_tests::needs;

use crate::project::{FORMS, Project, assert_whole, many, text};

/// A small file system. Dropping this value unmounts it.
struct Mount(PathBuf);

impl Mount {
    /// Mounts a file system of this size. Returns `None`, after printing why, if this user may not mount.
    fn tmpfs(at: &Path, size: &str) -> Option<Mount> {
        let out = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(at)
            .output();
        match out {
            Ok(out) if out.status.success() => Some(Mount(at.to_owned())),
            _ => {
                needs::skip("mounts a small file system, and this user may not");
                None
            }
        }
    }

    fn read_only(&self) {
        let out = Command::new("mount")
            .args(["-o", "remount,ro"])
            .arg(&self.0)
            .output()
            .expect("mount runs");
        assert!(out.status.success(), "{}", text(&out.stderr));
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

/// Checks that a disk which has room for more bytes, but not for another file, is reported as full.
#[test]
fn a_disk_that_takes_no_further_file_is_said_to_be_full() {
    let Some(project) = Project::new("session \"Work\"\n") else {
        return;
    };
    let prose = project.path().join(".prose");
    let Some(_mount) = Mount::tmpfs(&prose, "8m,nr_inodes=64") else {
        return;
    };
    for form in FORMS {
        let run = project.init(form);
        let mut filled = Vec::new();
        for n in 0.. {
            let path = prose.join(format!("filled{n}"));
            if std::fs::write(&path, "").is_err() {
                break;
            }
            filled.push(path);
        }
        let out = project.give(&["put", "v", "--run", &run], b"value");
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(6), "{form}: {said}");
        assert!(said.contains("make room"), "{form}: {said}");
        for path in filled {
            std::fs::remove_file(path).expect("removed");
        }
        let out = project.give(&["put", "v", "--run", &run], b"value");
        assert!(out.status.success(), "{form}: {}", text(&out.stderr));
    }
}

#[test]
fn a_full_disk_is_said_and_loses_nothing() {
    let Some(project) = Project::new("session \"Work\"\n") else {
        return;
    };
    let Some(_mount) = Mount::tmpfs(&project.path().join(".prose"), "1m") else {
        return;
    };
    for form in FORMS {
        let run = project.init(form);
        let mut kept = Vec::new();
        let mut refused = None;
        for n in 0..40 {
            let name = format!("v{n}");
            let value = vec![b'a' + (n % 26) as u8; 90_000];
            let out = project.give(&["put", &name, "--run", &run], &value);
            if out.status.success() {
                kept.push((name, value));
                continue;
            }
            refused = Some(out);
            break;
        }
        let out = refused.expect("1 MB is full after 40 values of 90 KB");
        assert_eq!(out.status.code(), Some(6), "{form}: {}", text(&out.stderr));
        let said = text(&out.stderr);
        assert!(said.contains("make room"), "{form}: {said}");
        assert!(kept.len() > 1, "{form}: {said}");
        for (name, value) in &kept {
            assert!(project.get(&run, name) == *value, "{form}: {name}");
        }
        if form == "sqlite" {
            assert_whole(&project, &run);
        }
        // After the disk has room again, recording continues.
        std::fs::remove_dir_all(project.run_dir(&run)).expect("room");
    }
}

#[test]
fn a_read_only_file_system_is_said() {
    let Some(project) = Project::new("session \"Work\"\n") else {
        return;
    };
    let Some(mount) = Mount::tmpfs(&project.path().join(".prose"), "4m") else {
        return;
    };
    let runs = FORMS.map(|form| (form, project.init(form)));
    for (_, run) in &runs {
        project.put(run, "a", b"kept");
    }
    mount.read_only();
    for (form, run) in &runs {
        let out = project.give(&["put", "a", "--run", run], b"new");
        assert_eq!(out.status.code(), Some(6), "{form}: {}", text(&out.stderr));
        assert!(
            text(&out.stderr).contains("check that you have permission to write"),
            "{form}: {}",
            text(&out.stderr)
        );
        assert_eq!(project.get(run, "a"), b"kept", "{form}");
        project.expect(6, &["begin", "1", "--run", run], b"");
        project.expect(6, &["init", "p.prose", "--state", form], b"");
    }
}

/// Checks that the old state survives each failing write. A limit on file sizes makes every write beyond the limit
/// fail, as on a broken disk. Each attempt raises the limit a little, so that each write of a command is once the first
/// to fail.
#[test]
fn whichever_write_fails_the_old_state_is_there() {
    let Some(project) = Project::new("session \"Work\"\n\napprove go:\n  prompt: \"Go?\"\n") else {
        return;
    };
    let value = project.path().join("value");
    std::fs::write(&value, "x".repeat(80_000)).expect("a value");
    for form in FORMS {
        let run = project.init(form);
        project.put(&run, "a", b"kept");
        project.line(&["gate", "create", "go", "--run", &run, "--prompt", "Go?"]);
        let mut failures = 0;
        for words in [
            "put a --file value --run RUN",
            "approve RUN go",
            "begin 1 --run RUN",
            "gate create again --prompt Go? --run RUN",
            "finish interrupted --run RUN",
        ] {
            let command = words.replace("RUN", &run);
            let before = content_of(&project, &run);
            let mut blocks = 0;
            loop {
                let out = limited(&project, blocks, &command);
                if out.status.success() {
                    break;
                }
                let said = text(&out.stderr);
                assert_eq!(
                    out.status.code(),
                    Some(6),
                    "{form}, {blocks}, {words}: {said}"
                );
                assert_eq!(
                    content_of(&project, &run),
                    before,
                    "{form}, {blocks}, {words}"
                );
                if form == "sqlite" {
                    assert_whole(&project, &run);
                }
                failures += 1;
                blocks += many(24, 1);
                assert!(blocks < 4_000, "{form}, {words}: {said}");
            }
            assert_ne!(content_of(&project, &run), before, "{form}, {words}");
        }
        println!("{form}: {failures} writes failed");
        assert!(failures > 5, "{form}: {failures}");
        let issues = project.json(&["check", &run, "--severity", "error"]);
        assert_eq!(issues["runs"][0]["issues"], serde_json::json!([]), "{form}");
    }
}

/// Returns the statements, values, gates and status of a run, as they are at one fixed time.
fn content_of(project: &Project, run: &str) -> Vec<String> {
    let parts = ["trace", "bindings", "audit", "gates", "show"];
    let told = parts.map(|what| {
        let mut command = project.command(&[what, run, "--json"]);
        command.env("PROSE_NOW", "2040-01-01 00:00:00");
        let out = command.output().expect("prosescope runs");
        let view: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        // The remains of a failed write are an issue of the run until the next write removes them. So only the status
        // of the overview is compared.
        let part = if what == "show" {
            &view["overview"]["status"]
        } else {
            &view
        };
        part.to_string()
    });
    told.into()
}

/// Runs `prosescope` with a limit on file sizes, in blocks of 512 bytes.
fn limited(project: &Project, blocks: usize, args: &str) -> Output {
    let prose = project.command(&[]).get_program().to_owned();
    // The shell ignores the signal for this limit, so that the write returns an error instead.
    Command::new("sh")
        .arg("-c")
        .arg(format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" {args}"
        ))
        .arg(&prose)
        .current_dir(project.path())
        .env("HOME", project.path().join("home"))
        .output()
        .expect("sh runs")
}

#[test]
fn a_run_is_converted_whole_or_not_at_all_however_full_the_disk_is() {
    let Some(project) = Project::new("session \"Work\"\n") else {
        return;
    };
    let Some(mount) = Mount::tmpfs(&project.path().join(".prose"), "1m") else {
        return;
    };
    for (form, other) in [("sqlite", "filesystem"), ("filesystem", "sqlite")] {
        let run = project.init(form);
        for n in 0..7 {
            project.put(&run, &format!("v{n}"), &vec![b'a' + n; 90_000]);
        }
        let before = project.json(&["bindings", &run]);
        let said = project.expect(6, &["convert", &run, "--to", other], b"");
        assert!(
            said.contains("make room, and convert the run again"),
            "{said}"
        );
        assert!(said.contains(&format!("{run}-{other}")), "{said}");
        assert!(!said.contains(".trash-"), "{said}");
        assert_eq!(project.json(&["bindings", &run]), before);
        let runs = std::fs::read_dir(project.path().join(".prose/runs")).expect("runs");
        assert_eq!(runs.flatten().count(), 1, "{form}: nothing else is there");
        // A copy to a disk with room succeeds.
        let out = project.path().join(format!("elsewhere-{other}"));
        project.expect(
            0,
            &[
                "convert",
                &run,
                "--to",
                other,
                "--out",
                &out.to_string_lossy(),
            ],
            b"",
        );
        std::fs::remove_dir_all(project.run_dir(&run)).expect("room");
    }
    let run = project.init("sqlite");
    mount.read_only();
    let said = project.expect(6, &["convert", &run, "--to", "filesystem"], b"");
    assert!(said.contains("permission to write"), "{said}");
}
