//! Gathers facts for `prosescope doctor`: installed programs, files that git ignores, files beside a database.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use prosescope_core::pages::upkeep::doctor::{DatabaseFacts, Git, Tool};
use prosescope_core::read::sqlite::{HEAD, Header};

/// Runs a program with `--version`, and returns the first line of its output.
pub fn tool(program: &str) -> Tool {
    let out = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    match out {
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Tool::Missing,
        Err(cause) => Tool::Fails(cause.to_string()),
        Ok(out) if !out.status.success() => Tool::Fails(out.status.to_string()),
        Ok(out) => {
            let says = String::from_utf8_lossy(&out.stdout);
            Tool::Says(says.lines().next().unwrap_or_default().trim().to_owned())
        }
    }
}

/// Returns the version of the built-in SQLite.
pub fn sqlite_library() -> &'static str {
    rusqlite::version()
}

/// Returns the facts of a database's header and of the files beside it; `None` if it is not a database.
pub fn database_facts(path: &Path) -> Option<DatabaseFacts> {
    let mut head = Vec::new();
    let file = File::open(path).ok()?;
    let len = file.metadata().ok()?.len();
    file.take(HEAD as u64).read_to_end(&mut head).ok()?;
    let header = Header::read(&head, len).ok()?;
    let beside = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        let meta = fs::symlink_metadata(PathBuf::from(name)).ok()?;
        meta.is_file().then_some(meta.len())
    };
    Some(DatabaseFacts {
        wal_mode: header.wal,
        wal: beside("-wal"),
        shm: beside("-shm").is_some(),
        journal: beside("-journal"),
    })
}

/// Returns whether git ignores `.env` and `runs` in a `.prose` folder; `None` outside a git repository.
pub fn git_facts(prose: &Path) -> Option<Git> {
    let prose = prose.canonicalize().ok()?;
    let root = prose
        .ancestors()
        .skip(1)
        .find(|dir| dir.join(".git").exists())?;
    let env = prose.join(".env");
    Some(Git {
        env_exists: env.exists(),
        env_ignored: ignored(root, &env, false),
        runs_ignored: ignored(root, &prose.join("runs"), true),
    })
}

/// Returns whether git ignores a path, by the rules of `git check-ignore`: an ignored folder includes its contents, and
/// the nearest ignore file with a matching line decides.
fn ignored(root: &Path, path: &Path, is_dir: bool) -> bool {
    // The user's and the repository's own settings have the lowest priority.
    let mut said = vec![global(), exclude(root)];
    let mut at = root.to_owned();
    let Ok(below) = path.strip_prefix(root) else {
        return false;
    };
    let mut parts = below.components().peekable();
    while let Some(part) = parts.next() {
        said.push(file(&at, &at.join(".gitignore")));
        at.push(part);
        let dir = is_dir || parts.peek().is_some();
        let verdict = said
            .iter()
            .rev()
            .map(|file| file.matched(&at, dir))
            .find(|verdict| !verdict.is_none());
        if matches!(verdict, Some(Match::Ignore(_))) {
            return true;
        }
    }
    false
}

fn file(root: &Path, path: &Path) -> Gitignore {
    let mut builder = GitignoreBuilder::new(root);
    if path.is_file() {
        // An invalid pattern is skipped, as in git.
        let _ = builder.add(path);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

fn exclude(root: &Path) -> Gitignore {
    file(root, &root.join(".git/info/exclude"))
}

fn global() -> Gitignore {
    Gitignore::global().0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// If git is installed, each case is compared with git itself.
    #[test]
    fn what_git_ignores_is_known_without_git() {
        for (files, env, runs) in [
            (&[(".gitignore", "/target\n")][..], false, false),
            // A pattern with a slash inside applies only to its own folder.
            (
                &[(".gitignore", ".prose/.env\n.prose/runs\n")],
                false,
                false,
            ),
            (
                &[(".gitignore", "app/.prose/.env\n/app/.prose/runs\n")],
                true,
                true,
            ),
            (&[(".gitignore", ".prose/\n")], true, true),
            (
                &[("app/.gitignore", ".prose/*\n!.prose/.env\n")],
                false,
                true,
            ),
            // A path in an ignored folder cannot be included again.
            (&[(".gitignore", ".prose\n!.prose/.env\n")], true, true),
            (&[(".gitignore", ".env\n")], true, false),
            (&[(".gitignore", "*.env\nruns/\n")], true, true),
            (&[(".gitignore", "/.env\n")], false, false),
            (&[("app/.gitignore", ".prose/runs/\n")], false, true),
            (&[("app/.prose/.gitignore", "*\n")], true, true),
            (
                &[
                    (".gitignore", ".env\n"),
                    ("app/.prose/.gitignore", "!.env\n"),
                ],
                false,
                false,
            ),
            (&[(".git/info/exclude", "runs\n")], false, true),
            (&[(".gitignore", "# .prose\n\\.prose/[\n")], false, false),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().canonicalize().unwrap();
            let git = Command::new("git")
                .args(["init", "-q"])
                .current_dir(&root)
                .status();
            let git = git.is_ok_and(|status| status.success());
            fs::create_dir_all(root.join(".git")).unwrap();
            let prose = root.join("app/.prose");
            write(&prose.join(".env"), "KEY=1\n");
            write(&prose.join("runs/r1/state.md"), "x");
            for (path, text) in files {
                write(&root.join(path), text);
            }
            let facts = git_facts(&prose).unwrap();
            assert_eq!(
                (facts.env_ignored, facts.runs_ignored),
                (env, runs),
                "{files:?}"
            );
            assert!(facts.env_exists);
            if !git {
                continue;
            }
            for (path, expected) in [("app/.prose/.env", env), ("app/.prose/runs/", runs)] {
                let says = Command::new("git")
                    .args(["check-ignore", "-q", path])
                    .current_dir(&root)
                    .status()
                    .unwrap();
                assert_eq!(says.success(), expected, "git on {path}, {files:?}");
            }
        }
    }

    #[test]
    fn a_database_is_told_by_its_header_and_its_neighbours() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.db");
        let conn = rusqlite::Connection::open(&path).unwrap();
        conn.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (a);")
            .unwrap();
        let facts = database_facts(&path).unwrap();
        assert!(facts.wal_mode && facts.shm && facts.journal.is_none());
        assert!(facts.wal.is_some_and(|len| len > 32));
        drop(conn);
        assert_eq!(database_facts(&path).unwrap().wal, None);
        write(&dir.path().join("state.md"), "# Execution State");
        assert_eq!(database_facts(&dir.path().join("state.md")), None);
    }

    #[test]
    fn a_tool_that_is_not_there_is_missing() {
        assert_eq!(tool("no-such-program-of-this-name"), Tool::Missing);
    }
}
