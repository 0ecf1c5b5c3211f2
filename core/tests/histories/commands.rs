//! Records the commands that `next` prints.

use prosescope_core::model::RunStatus;
use prosescope_core::write::{
    AddImport, Begin, BeginLoop, BeginParallel, Branch, Close, CreateGate, Decision, ExitLoop,
    ExpireGates, Finish, How, Insist, Iterate, Join, Put, ResolveGate, Retry, Run, RunParallel,
    StatementRef, WriteError,
};

use crate::playing::Playing;

/// The words and options of a command such as `prosescope exec run --line 4 --item a`.
pub(crate) struct Command<'a> {
    words: Vec<&'a str>,
}

impl<'a> Command<'a> {
    pub(crate) fn of(text: &'a str) -> Command<'a> {
        let words = text.split(' ').skip(1).take_while(|word| *word != "<");
        Command {
            words: words.collect(),
        }
    }

    /// Returns the command's name: `exec run`, `put`.
    pub(crate) fn verb(&self) -> (&'a str, &'a str) {
        (self.word(0), self.word(1))
    }

    pub(crate) fn word(&self, nth: usize) -> &'a str {
        self.words.get(nth).copied().unwrap_or_default()
    }

    /// Returns the value of an option.
    pub(crate) fn option(&self, name: &str) -> Option<&'a str> {
        let at = self.words.iter().position(|word| *word == name)?;
        self.words.get(at + 1).copied()
    }

    fn has(&self, name: &str) -> bool {
        self.words.contains(&name)
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.option(name)?.parse().ok()
    }

    pub(crate) fn line(&self) -> Option<u32> {
        self.option("--line")?.parse().ok()
    }

    /// Returns the execution that the command ends or continues.
    pub(crate) fn id(&self) -> Option<i64> {
        self.number("--execution")
            .or_else(|| self.word(2).parse().ok())
    }
}

/// Records a command, with `value` for its standard input, and `item` for a name that the caller chooses. Returns the
/// notes for the caller.
pub(crate) fn run(
    memory: &mut Playing,
    command: &Command<'_>,
    (value, item): (&str, &str),
    force: bool,
) -> Result<Vec<String>, WriteError> {
    let insist = Insist {
        overrides: false,
        force,
    };
    let id = command.id();
    let parent = command.number("--parent");
    let statement = command.line().map(StatementRef::line).unwrap_or_default();
    let item = command.option("--item").map(|name| match name {
        "NAME" => item.to_owned(),
        name => name.to_owned(),
    });
    let none = Vec::new();
    match command.verb() {
        ("exec", "run") => {
            let begin = Begin {
                statement,
                parent,
                item,
                insist,
                ..Begin::default()
            };
            let run = Run {
                begin,
                ..Run::default()
            };
            memory.record(&run).map(|done| done.notes)
        }
        ("loop", "begin") => {
            let begin = BeginLoop {
                statement,
                parent,
                item,
                insist,
                ..BeginLoop::default()
            };
            memory.record(&begin).map(|done| done.notes)
        }
        ("parallel", "begin" | "run") => {
            let begin = BeginParallel {
                statement,
                parent,
                item,
                insist,
                ..BeginParallel::default()
            };
            match command.word(1) {
                "run" => memory.record(&RunParallel { begin }).map(|_| none),
                _ => memory.record(&begin).map(|done| done.notes),
            }
        }
        ("parallel", "branch") => {
            let branch = Branch {
                parallel: id,
                name: command.word(3).to_owned(),
                statement: None,
                insist,
            };
            memory.record(&branch).map(|done| done.notes)
        }
        ("parallel", "join") => {
            let parallel = id;
            memory.record(&Join { parallel, insist }).map(|_| none)
        }
        ("loop", "iterate") => memory.record(&Iterate { id, insist }).map(|_| none),
        ("loop", "exit") => {
            let exit = ExitLoop {
                id,
                round: command.has("--round"),
                insist,
                ..ExitLoop::default()
            };
            memory.record(&exit).map(|_| none)
        }
        ("gate", "create") => {
            let prompt = command.has("--prompt").then(|| "Proceed?".to_owned());
            let gate = CreateGate {
                line: command.line(),
                prompt,
                parent,
                item,
                insist,
                ..CreateGate::default()
            };
            memory.record(&gate).map(|done| done.notes)
        }
        ("gates", "expire") => memory.record(&ExpireGates::default()).map(|_| none),
        ("put", name) => {
            let put = Put {
                name: (name != "--anon").then(|| name.to_owned()),
                execution: command.number("--execution"),
                done: command.has("--done"),
                value: value.as_bytes().to_vec().into(),
                ..Put::default()
            };
            memory.record(&put).map(|_| none)
        }
        ("import", "add") => {
            let import = AddImport {
                alias: command.word(2).to_owned(),
                ..AddImport::default()
            };
            memory.record(&import).map(|_| none)
        }
        ("exec", "complete" | "fail") => {
            let how = match command.word(1) {
                "fail" => How::Failed {
                    error: "boom".to_owned(),
                },
                _ => How::Completed { binding: None },
            };
            memory.record(&Close { id, how, insist }).map(|_| none)
        }
        ("exec", "retry") => {
            let retry = Retry {
                id: id.unwrap_or_default(),
                max: None,
                error: None,
                insist,
            };
            memory.record(&retry).map(|_| none)
        }
        ("finish", _) => {
            let finish = Finish {
                status: command.option("--status").map(RunStatus::parse),
                again: false,
                insist,
            };
            memory.record(&finish).map(|_| none)
        }
        other => panic!("next prints a command that this test does not know: {other:?}"),
    }
}

/// Decides a gate as a person does.
pub(crate) fn decide(memory: &mut Playing, gate: &str, approve: bool) -> Result<(), WriteError> {
    let row = memory.run.gates.iter().rev().find(|row| *row.id == *gate);
    let allowed = row.and_then(|gate| serde_json::from_str(gate.allow.as_deref()?).ok());
    let allowed: Vec<String> = allowed.unwrap_or_default();
    let resolve = ResolveGate {
        gate: gate.to_owned(),
        decision: match approve {
            true => Decision::Approve { comment: None },
            false => Decision::Reject {
                reason: "no".to_owned(),
            },
        },
        by: allowed
            .into_iter()
            .next()
            .unwrap_or_else(|| "user".to_owned()),
        on_behalf_of: None,
        record_timeout: false,
        overrides: false,
    };
    memory.record(&resolve).map(drop)
}
