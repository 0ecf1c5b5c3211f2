//! Runs the commands of a block of the docs in a temporary folder, and returns or checks their output.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use prosescope_test_support::clock;
use prosescope_test_support::needs;
use prosescope_test_support::work::PATIENCE;

const BINARY: &str = env!("CARGO_BIN_EXE_prosescope");

/// The temporary folder of a block.
pub(crate) struct Folder {
    dir: tempfile::TempDir,
    server: Option<Child>,
    /// Environment variables that the commands of the block get.
    set: Vec<(&'static str, String)>,
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            let _ = std::fs::copy(&path, &to).expect("copied");
        }
    }
}

impl Folder {
    /// Creates the folder, as a copy of `examples/` or empty.
    pub(crate) fn new(examples: bool) -> Folder {
        let dir = tempfile::tempdir().expect("a folder");
        if examples {
            copy(&needs::root().join("examples"), &dir.path().join("work"));
        } else {
            std::fs::create_dir(dir.path().join("work")).expect("a folder");
        }
        Folder {
            dir,
            server: None,
            set: Vec::new(),
        }
    }

    fn command(&self, program: &str) -> Command {
        let own = Path::new(BINARY).parent().expect("a folder").display();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(program);
        command
            .current_dir(self.dir.path().join("work"))
            .env("PATH", format!("{own}:{path}"))
            // The home directory is the parent of the working directory, so that the search for `.prose` ends there.
            .env("HOME", self.dir.path())
            .env("COLUMNS", "80")
            .stdin(Stdio::null());
        for name in [
            "PROSE_RUN",
            "PROSE_NOW",
            "PROSE_WORKFLOWS",
            "PROSE_SERVE_TOKEN",
            "OPENPROSE_POSTGRES_URL",
            "DATABASE_URL",
        ] {
            command.env_remove(name);
        }
        command.envs(self.set.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Creates a workflow, and starts `prosescope workflow serve`. Returns the address and port of the server.
    pub(crate) fn serve(&mut self) -> String {
        let begun = self
            .command(BINARY)
            .args(["workflow", "start", "--input", "x", "--json"])
            .output()
            .expect("it runs");
        let begun: serde_json::Value = serde_json::from_slice(&begun.stdout).expect("JSON");
        let workflow = begun["workflow_id"].as_str().expect("an id").to_owned();
        let noted = self
            .command(BINARY)
            .args(["workflow", "events", "append", &workflow, "--text", "first"])
            .output();
        assert!(noted.expect("it runs").status.success());
        let token = "0123456789abcdef".to_owned();
        let mut server = self
            .command(BINARY)
            .args(["workflow", "serve", "--listen", "127.0.0.1:0"])
            .env("PROSE_SERVE_TOKEN", &token)
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut said = String::new();
        let mut lines = BufReader::new(server.stderr.take().expect("a pipe"));
        lines.read_line(&mut said).expect("a line");
        thread::spawn(move || lines.read_to_string(&mut String::new()));
        self.server = Some(server);
        self.set.extend([("TOKEN", token), ("WORKFLOW", workflow)]);
        let address = said.trim_end().rsplit_once("http://");
        address.expect("an address").1.to_owned()
    }

    /// Runs the commands of a session in one shell, after earlier commands. Returns the session with its current output.
    pub(crate) fn session(&self, earlier: &[String], session: &str) -> String {
        let mut script = "exec 2>&1\n".to_owned();
        for command in earlier {
            script.push_str(&format!("{{ {command}\n}} > /dev/null 2>&1\n"));
        }
        for command in session.lines().filter_map(|line| line.strip_prefix("$ ")) {
            let shown = command.replace('\'', "'\\''");
            script.push_str(&format!("printf '%s\\n' '$ {shown}'\n{command}\n"));
        }
        let mut shell = self.command("sh");
        shell
            .args(["-c", &script])
            .envs(clock::at("2026-03-01T10:00:00Z"));
        let out = shell.output();
        let out = String::from_utf8(out.expect("a shell").stdout).expect("UTF-8");
        out.trim_end().to_owned()
    }

    /// Runs all commands. Returns an error for the first one that fails.
    pub(crate) fn succeed(&self, text: &str) -> Result<(), String> {
        let script = format!("set -eux\n{text}\n");
        let out = self.command("sh").args(["-c", &script]).output();
        let out = out.expect("a shell");
        let said = String::from_utf8_lossy(&out.stdout) + String::from_utf8_lossy(&out.stderr);
        let answers = !["no match for", "no run ", "times were not recorded\n+"]
            .iter()
            .any(|nothing| said.contains(nothing));
        if out.status.success() && answers {
            Ok(())
        } else {
            Err(format!("{}: {said}", out.status))
        }
    }

    /// Runs commands until they print a word, then sends them the signal of Ctrl-C.
    pub(crate) fn until(&self, text: &str, word: &str) -> Result<(), String> {
        let script = format!("exec 2>&1\nset -e\n{text}\n");
        let mut shell = self.command("sh");
        shell.args(["-c", &script]).stdout(Stdio::piped());
        let mut child = shell.process_group(0).spawn().expect("a shell");
        let mut out = child.stdout.take().expect("a pipe");
        let (told, wanted) = (mpsc::channel(), word.to_owned());
        let reader = thread::spawn(move || {
            let (mut said, mut some) = (Vec::new(), [0; 4096]);
            while let Ok(n @ 1..) = out.read(&mut some) {
                said.extend_from_slice(&some[..n]);
                if String::from_utf8_lossy(&said).contains(&wanted) {
                    let _ = told.0.send(true);
                }
            }
            let _ = told.0.send(false);
            String::from_utf8_lossy(&said).into_owned()
        });
        let found = told.1.recv_timeout(PATIENCE).unwrap_or_default();
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args(["-TERM", "--", &group]).output();
        let _ = child.wait();
        let said = reader.join().expect("what it said");
        if found {
            Ok(())
        } else {
            Err(format!("it never says `{word}`: {said}"))
        }
    }
}

/// Checks that the commands and options in a block with placeholders exist.
pub(crate) fn exists(text: &str) -> Result<(), String> {
    if !text.contains('<') {
        return Err("it has no placeholder".to_owned());
    }
    let mut known = 0;
    for line in text.lines() {
        let Some(at) = line.find("prosescope ") else {
            continue;
        };
        let words: Vec<&str> = line[at..]
            .split(" #")
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .skip(1)
            .collect();
        let is_name = |word: &&&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        let names: Vec<&str> = words
            .iter()
            .take_while(is_name)
            .filter(|word| !word.starts_with('-'))
            .copied()
            .collect();
        // A command has one or two words; the second word may already be an argument.
        let help = (1..=names.len().min(2)).rev().find_map(|n| {
            let mut help = Command::new(BINARY);
            let out = help.args(&names[..n]).arg("--help").output().ok()?;
            let said = String::from_utf8_lossy(&out.stdout).into_owned();
            let usage = format!("prosescope {}", names[..n].join(" "));
            (out.status.success() && said.contains(&usage)).then_some(said)
        });
        let Some(help) = help else {
            return Err(format!("there is no such command: {line}"));
        };
        for option in words.iter().filter(|word| word.starts_with("--")) {
            if !help.contains(option.split('=').next().unwrap_or(option)) {
                return Err(format!("there is no {option}: {line}"));
            }
        }
        known += 1;
    }
    match known {
        0 => Err("it has no command of ours".to_owned()),
        _ => Ok(()),
    }
}

/// Checks that the commands that a text calls with `cargo xtask` exist.
pub(crate) fn is_of_xtask(text: &str) -> Result<(), String> {
    let main = std::fs::read_to_string(needs::root().join("xtask/src/main.rs"));
    let main = main.expect("xtask").to_lowercase();
    for line in text.lines() {
        let name = line.strip_prefix("cargo xtask ");
        let name = name.and_then(|rest| rest.split_whitespace().next());
        let name = name.ok_or_else(|| format!("it is no command of xtask: {line}"))?;
        let is_there = [",", "(", " {"]
            .iter()
            .any(|end| main.contains(&format!("    {name}{end}")));
        if !is_there {
            return Err(format!("there is no cargo xtask {name}"));
        }
    }
    Ok(())
}
