//! Records a run for an interpreter: runs each command as a process of the real binary, and logs the command's effect.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use prosescope_test_support::run::fed;

use crate::log::Log;

/// The form in which a run is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    Sqlite,
    Folder,
    Postgres,
}

impl Form {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Form::Sqlite => "sqlite",
            Form::Folder => "filesystem",
            Form::Postgres => "postgres",
        }
    }
}

/// An error that stops an interpreter, or a difference between a run and the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stop {
    /// The command or the comparison that failed.
    pub(crate) tried: String,
    pub(crate) error: String,
}

impl Stop {
    pub(crate) fn new(tried: impl Into<String>, error: impl Into<String>) -> Stop {
        Stop {
            tried: tried.into(),
            error: error.into(),
        }
    }
}

/// Maximum number of commands for one run. A run with more commands would probably never end.
const MOST: usize = 1_500;

/// A folder with a program, and the run of the program that is being recorded.
pub(crate) struct Vm {
    dir: tempfile::TempDir,
    prose: PathBuf,
    server: Option<String>,
    pub(crate) run: String,
    pub(crate) log: Log,
    pub(crate) commands: usize,
}

impl Vm {
    /// Begins a run of a program.
    pub(crate) fn begin(
        prose: &Path,
        program: &str,
        form: Form,
        server: Option<&str>,
    ) -> Result<Vm, Stop> {
        let dir = tempfile::tempdir().map_err(|e| Stop::new("mkdir", e.to_string()))?;
        std::fs::write(dir.path().join("p.prose"), program)
            .and_then(|()| std::fs::create_dir(dir.path().join(".prose")))
            .map_err(|e| Stop::new("write the program", e.to_string()))?;
        let mut vm = Vm {
            dir,
            prose: prose.to_owned(),
            server: server.map(str::to_owned),
            run: String::new(),
            log: Log::default(),
            commands: 0,
        };
        let run = vm.go(&format!("init p.prose --state {}", form.word()), "")?;
        vm.run = run.trim().to_owned();
        if form == Form::Postgres && !vm.run.contains(':') {
            vm.run = format!("postgres:{}", vm.run);
        }
        Ok(vm)
    }

    /// Runs a command line, logs the command, and returns its output. A word with blanks is in quotes.
    pub(crate) fn go(&mut self, line: &str, input: &str) -> Result<String, Stop> {
        let args = words(line);
        let out = self.ask(&args, input)?;
        self.log.note(&args, &out);
        Ok(out)
    }

    /// Runs a command that must end with exit code 0. The command is not logged.
    pub(crate) fn ask(&mut self, args: &[String], input: &str) -> Result<String, Stop> {
        self.commands += 1;
        let shown = args.join(" ");
        if self.commands > MOST {
            return Err(Stop::new(
                "(endless)",
                format!("{MOST} commands, at last {shown}"),
            ));
        }
        let mut command = Command::new(&self.prose);
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("HOME", self.dir.path().join("home"))
            .env_remove("DATABASE_URL")
            .env_remove("OPENPROSE_POSTGRES_URL")
            .env_remove("PROSE_RUN")
            .stdin(Stdio::null());
        if !self.run.is_empty() {
            command.env("PROSE_RUN", &self.run);
        }
        if let Some(server) = &self.server {
            command.env("OPENPROSE_POSTGRES_URL", server);
        }
        let out = if input.is_empty() {
            command
                .output()
                .map_err(|e| Stop::new(&shown, e.to_string()))?
        } else {
            fed(&mut command, input.as_bytes())
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match out.status.code() {
            Some(0) => Ok(text(&out.stdout)),
            code => Err(Stop::new(
                shown,
                format!("{}: {}", code.unwrap_or(-1), text(&out.stderr).trim()),
            )),
        }
    }

    /// Returns the JSON output of a command.
    pub(crate) fn json(&mut self, line: &str) -> Result<serde_json::Value, Stop> {
        let mut args = words(line);
        args.push("--json".to_owned());
        let out = self.ask(&args, "")?;
        serde_json::from_str(&out).map_err(|e| Stop::new(line, e.to_string()))
    }

    /// Keeps the folder of the run after the test. Returns a text with the folder's path and the run's id.
    pub(crate) fn keep(mut self) -> String {
        self.dir.disable_cleanup(true);
        format!("{} (run {})", self.dir.path().display(), self.run)
    }

    /// Decides a gate as a person would: looks up who may decide, and approves or rejects under the first of these names.
    pub(crate) fn decide(&mut self, gate: &str, approve: bool) -> Result<(), Stop> {
        let run = self.run.clone();
        let shown = self.json(&format!("gate show {run} {gate}"))?;
        let allowed = shown["allow"].as_array().into_iter().flatten();
        let by = allowed
            .filter_map(|one| one.as_str())
            .next()
            .unwrap_or("user")
            .to_owned();
        let mut args = ["approve", &run, gate, "--as", &by]
            .map(str::to_owned)
            .to_vec();
        if !approve {
            args[0] = "reject".to_owned();
            args.extend(["--reason", "no"].map(str::to_owned));
        }
        let out = self.ask(&args, "")?;
        self.log.note(&args, &out);
        Ok(())
    }
}

/// Splits a command line into words; quotes keep blanks together.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
