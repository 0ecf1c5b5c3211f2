//! Tests that each reading command prints hostile texts harmlessly on a real terminal.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use prosescope_tests::hostile::{Fill, database, folder, terminal};
use prosescope_tests::needs;
use serde_json::Value;

/// The text that the shell prints before the output of each command.
const MARK: &str = "@@@@ ";

struct Terminal {
    dir: tempfile::TempDir,
    prose: PathBuf,
    /// A shell script with all commands. They share one terminal, because starting a terminal takes longer than most
    /// commands.
    script: Vec<u8>,
    commands: Vec<String>,
}

impl Terminal {
    fn new() -> Option<Terminal> {
        let (prose, _, _) = (needs::prose()?, needs::sqlite3()?, needs::script()?);
        let dir = tempfile::tempdir().expect("a temporary folder");
        Some(Terminal {
            dir,
            prose,
            // The terminal is wide, so that few texts are truncated.
            script: b"stty cols 1000\n".to_vec(),
            commands: Vec::new(),
        })
    }

    /// Adds a command to the script.
    fn prose(&mut self, args: &[&[u8]]) {
        self.note(args);
        self.script.push(b'\n');
    }

    /// Adds a command that serves, and kills it after it has printed its address. A build without a viewer prints an
    /// error instead, and ends by itself.
    fn served(&mut self, args: &[&[u8]]) {
        self.note(args);
        // `script` writes the output of all commands to one file. The output of this command begins after its mark.
        let said = format!(
            "sed -n '/{MARK}{}/,$p' printed | grep -aq 'http://127'",
            self.commands.len() - 1
        );
        // The wait ends after two minutes, which only a command that hangs reaches.
        let wait = format!(
            "n=0\nuntil {said} || ! kill -0 $! || [ $((n += 1)) -gt 1200 ]; do sleep 0.1; done 2>/dev/null"
        );
        self.script
            .extend(format!(" &\n{wait}\nkill $! 2>/dev/null\nwait\n").bytes());
    }

    /// Adds a line to the script that prints the mark of a command, and begins the line of the command itself.
    fn note(&mut self, args: &[&[u8]]) {
        let (n, prose) = (self.commands.len(), self.prose.display());
        let line = format!("printf '\\n{MARK}%s\\n' {n}\n'{prose}'");
        self.script.extend_from_slice(line.as_bytes());
        for arg in args {
            let arg: Vec<u8> = arg.iter().copied().filter(|b| *b != 0).collect();
            let quoted = arg
                .split(|b| *b == b'\'')
                .collect::<Vec<_>>()
                .join(b"'\\''".as_slice());
            self.script
                .extend([b" '".as_slice(), &quoted, b"'"].concat());
        }
        self.commands.push(
            args.iter()
                .map(|arg| String::from_utf8_lossy(arg).escape_debug().to_string())
                .collect::<Vec<_>>()
                .join(" "),
        );
    }

    /// Returns the names of a run's bindings.
    fn binding_names(&self, run: &[u8]) -> Vec<String> {
        let out = Command::new(&self.prose)
            .args(["bindings", "--json"])
            .arg(OsString::from_vec(run.to_vec()))
            .current_dir(self.dir.path())
            .output()
            .expect("prosescope runs");
        let view: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        let rows = view["rows"].as_array().expect("rows").iter();
        rows.filter_map(|row| row["name"].as_str())
            .map(str::to_owned)
            .collect()
    }

    /// Runs all commands in one terminal. Returns each command with its output.
    fn run(&mut self) -> Vec<(String, Vec<u8>)> {
        let file = self.dir.path().join("commands.sh");
        fs::write(&file, &self.script).expect("a script");
        let out = Command::new("script")
            .args(["-qefc", &format!("sh '{}'", file.display()), "printed"])
            .current_dir(self.dir.path())
            .env("HOME", self.dir.path().join("home"))
            .env("TERM", "xterm-256color")
            // Colours are switched on. Without them, `prosescope` removes everything that looks like a style, so that
            // the test would not notice an unescaped style.
            .env_remove("NO_COLOR")
            .env("CLICOLOR_FORCE", "1")
            .stdin(Stdio::null())
            .output()
            .expect("script runs");
        // The terminal writes a line break as two characters.
        let mark = format!("\r\n{MARK}");
        let mut parts = Vec::new();
        let mut rest = out.stdout.as_slice();
        while let Some(at) = find(rest, mark.as_bytes()) {
            parts.push(&rest[..at]);
            rest = &rest[at + mark.len()..];
        }
        parts.push(rest);
        assert_eq!(
            parts.len(),
            self.commands.len() + 1,
            "the shell ran all commands"
        );
        let printed = parts.into_iter().skip(1).map(|part| {
            let head = find(part, b"\n").expect("the line of the mark");
            part[head + 1..].to_vec()
        });
        self.commands.drain(..).zip(printed).collect()
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// Builds the runs in one project. Returns their paths as arguments of commands.
fn runs(project: &Path) -> Vec<Vec<u8>> {
    let prose = project.join(".prose");
    let fill = || Fill::new(terminal::texts(), 8);
    let evil = "20260116-143052-\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}x";
    database::run(&prose.join("runs").join(evil), &mut fill());
    folder::execution_state(&prose.join("runs/20260115-083214-\u{9b}2Ja"), &mut fill());
    folder::compact_log(&prose.join("runs/20260213-113205-b\r\u{8}"), &mut fill());
    folder::events(&prose.join("runs/20260214-113205-\u{7f}c"), &mut fill());
    database::odd(
        &prose.join("runs/20260215-113205-\u{1b}[7md/state.db"),
        &mut fill(),
    );
    database::agents_db(&prose.join("agents.db"), &mut fill());
    // The first path is not a run. The name of the second is not valid UTF-8.
    let none = prose.join("runs/20260216-113205-\u{1b}[5me/state.db");
    fs::create_dir_all(none.parent().expect("a folder")).expect("a folder");
    fs::write(none, b"SQLite format 3\0\x1b[2J").expect("a file");
    let raw = OsString::from_vec(b"20260217-113205-\x9b5m\xff".to_vec());
    folder::compact_log(
        &prose.join("runs").join(raw),
        &mut Fill::new(terminal::texts(), 40),
    );
    let mut runs: Vec<Vec<u8>> = fs::read_dir(prose.join("runs"))
        .expect("a folder")
        .map(|run| {
            [
                b".prose/runs/".as_slice(),
                &run.expect("a run").file_name().into_vec(),
            ]
            .concat()
        })
        .collect();
    runs.sort();
    runs
}

#[test]
fn nothing_that_a_terminal_acts_on_is_printed_to_one() {
    let Some(mut terminal) = Terminal::new() else {
        return;
    };
    let runs = runs(terminal.dir.path());
    let all: Vec<u8> = terminal::texts().join(b" ".as_slice());
    for run in &runs {
        for args in [
            &["show"][..],
            &["trace"],
            &["trace", "--limit", "5"],
            &["state"],
            &["state", "--all"],
            &["state", "--diff"],
            &["bindings"],
            &["agents"],
            &["gates", "--all"],
            &["gates", "--pending"],
            &["audit"],
            &["check"],
            &["resume"],
            &["resume", "--prompt"],
            &["check", "--sarif"],
        ] {
            let mut args: Vec<&[u8]> = args.iter().map(|arg| arg.as_bytes()).collect();
            args.push(run);
            terminal.prose(&args);
            if !args
                .iter()
                .any(|arg| matches!(*arg, b"--prompt" | b"--sarif"))
            {
                args.push(b"--json");
                terminal.prose(&args);
            }
        }
    }
    for args in [
        &["runs"][..],
        &["gates"],
        &["check", "--all"],
        &["show"],
        &["gates", "--all"],
    ] {
        let mut args: Vec<&[u8]> = args.iter().map(|arg| arg.as_bytes()).collect();
        terminal.prose(&args);
        args.push(b"--json");
        terminal.prose(&args);
    }
    // Values are printed by name. In the database, the names of bindings are hostile texts, too.
    let database = runs
        .iter()
        .find(|run| run.starts_with(b".prose/runs/20260116"))
        .expect("the database");
    for (n, name) in terminal.binding_names(database).iter().enumerate() {
        let get = [b"get", name.as_bytes(), b"--run", database];
        terminal.prose(&get);
        if n % 8 == 0 {
            terminal.prose(&[&get[..], &[b"--explain"]].concat());
            terminal.prose(&[&get[..], &[b"--json"]].concat());
            terminal.prose(&[&get[..], &[b"--from", b"2"]].concat());
        }
    }
    // These arguments cause errors, which quote the hostile places, names and words.
    let place = [b"./", all.as_slice()].concat();
    for wrong in [all.as_slice(), &place] {
        for args in [
            &["show"][..],
            &["trace"],
            &["state"],
            &["bindings"],
            &["get"],
            &["agents"],
            &["gates"],
            &["audit"],
            &["check"],
            &["check", "--all"],
            &["resume"],
            &["runs"],
            &["view"],
            &["get", "a", "--run"],
            &["audit", "--gate"],
            &["runs", "--since"],
            &["runs", "--status"],
            &["runs", "--program"],
            &["runs", "--sort"],
            &["runs", "--limit"],
            &["check", "--rule"],
            &["check", "--explain"],
            &["check", "--severity"],
            &["trace", "--limit"],
            &["completions"],
            &["view", "--port"],
            &["show", "a"],
            &[],
        ] {
            let mut args: Vec<&[u8]> = args.iter().map(|arg| arg.as_bytes()).collect();
            args.push(wrong);
            terminal.prose(&args);
        }
        let flag = [b"--", wrong].concat();
        terminal.prose(&[b"show", &flag]);
        terminal.prose(&[b"show", &[&flag, b"=a".as_slice()].concat()]);
    }
    terminal.served(&[b"view", database]);
    let (mut escaped, mut texts) = (0, 0);
    for (command, printed) in terminal.run() {
        let found = terminal::acted_on(&printed);
        assert_eq!(
            found,
            None,
            "prosescope {command}: {:?}",
            String::from_utf8_lossy(&printed)
        );
        assert!(
            !printed.trim_ascii().is_empty(),
            "prosescope {command} printed nothing"
        );
        let text = String::from_utf8_lossy(&printed);
        assert!(!text.contains("panicked"), "prosescope {command}: {text}");
        let json = command.ends_with("--json") && !text.contains("error:");
        if json {
            // Notes about skipped input come before the JSON, because they are on standard error.
            let document = text
                .find("\n{")
                .or_else(|| text.find("\n["))
                .map_or(&*text, |at| &text[at..]);
            let document = if text.starts_with(['{', '[']) {
                &*text
            } else {
                document
            };
            serde_json::from_str::<Value>(document)
                .unwrap_or_else(|e| panic!("prosescope {command}: {e}\n{text}"));
        }
        escaped += usize::from(text.contains(if json { "\\u001b" } else { "\\u{1b}" }));
        texts += 1;
    }
    // More than half of the outputs contained an escaped sequence, so the hostile texts were in fact printed.
    assert!(escaped * 2 > texts, "{escaped} of {texts} had one");
}
