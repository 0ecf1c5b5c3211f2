//! A disk that is full, a folder that is read-only, writes that fail (reliability.md, "What must hold" 5): a clear error, and
//! the old state is as it was.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::project::{FORMS, Project, assert_whole, text};

/// A small file system of our own; unmounted when dropped.
struct Mount(PathBuf);

impl Mount {
    /// `None`, which is said, where this user may not mount.
    fn tmpfs(at: &Path, size: &str) -> Option<Mount> {
        let out = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(at)
            .output();
        match out {
            Ok(out) if out.status.success() => Some(Mount(at.to_owned())),
            _ => {
                eprintln!("skipped: a small file system cannot be mounted by this user");
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
        // With room again it goes on where it was.
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
            text(&out.stderr).contains("check that you may write"),
            "{form}: {}",
            text(&out.stderr)
        );
        assert_eq!(project.get(run, "a"), b"kept", "{form}");
        project.expect(6, &["exec", "begin", "--line", "1", "--run", run], b"");
        project.expect(6, &["init", "p.prose", "--state", form], b"");
    }
}

/// The system refuses to let a file grow: every write beyond it fails, as it would on a broken disk.
#[test]
fn a_write_that_fails_leaves_the_old_value() {
    let Some(project) = Project::new("session \"Work\"\n") else {
        return;
    };
    for form in FORMS {
        let run = project.init(form);
        project.put(&run, "a", b"kept");
        let before = project.line(&["trace", &run]);
        let prose = project.command(&[]).get_program().to_owned();
        // In blocks of 512 bytes; the signal that comes with it is ignored, so that the write fails instead.
        let limited = |blocks: u32, args: &str| {
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
        };
        let value = project.path().join("value");
        std::fs::write(&value, "x".repeat(80_000)).expect("a value");
        let out = limited(100, &format!("put a --run {run} --file value"));
        assert_eq!(out.status.code(), Some(6), "{form}: {}", text(&out.stderr));
        assert_eq!(project.get(&run, "a"), b"kept", "{form}");
        let out = limited(0, &format!("exec begin --line 1 --run {run}"));
        assert_eq!(out.status.code(), Some(6), "{form}: {}", text(&out.stderr));
        assert_eq!(project.line(&["trace", &run]), before, "{form}");
        if form == "sqlite" {
            assert_whole(&project, &run);
        }
        project.put(&run, "a", b"later");
        assert_eq!(project.get(&run, "a"), b"later", "{form}");
        project.line(&["exec", "begin", "--line", "1", "--run", &run]);
    }
}
