//! Records the commands that `next` prints.

use prosescope_core::model::RunStatus;
use prosescope_core::record::{
    Begin, CreateGate, Decision, End, ExpireGates, Fail, Finish, Insist, Put, ResolveGate, Retry,
    Round, StatementRef, WriteError,
};

use crate::playing::Playing;

/// The words and options of a command such as `prosescope begin 4 --item a`.
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

    /// Returns the command's name.
    pub(crate) fn verb(&self) -> &'a str {
        self.word(0)
    }

    pub(crate) fn word(&self, nth: usize) -> &'a str {
        self.words.get(nth).copied().unwrap_or_default()
    }

    /// Returns the value of an option.
    pub(crate) fn option(&self, name: &str) -> Option<&'a str> {
        let at = self.words.iter().position(|word| *word == name)?;
        self.words.get(at + 1).copied()
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.option(name)?.parse().ok()
    }

    /// Returns the line that begins with the command.
    pub(crate) fn line(&self) -> Option<u32> {
        match self.verb() {
            "begin" => self.word(1).parse().ok(),
            _ => self.option("--line")?.parse().ok(),
        }
    }

    /// Returns the execution that the command ends or continues.
    pub(crate) fn id(&self) -> Option<i64> {
        match self.verb() {
            "begin" => None,
            _ => self.number("--into").or_else(|| self.word(1).parse().ok()),
        }
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
        "begin" => {
            let begin = Begin {
                statement,
                parent,
                item,
                insist,
                ..Begin::default()
            };
            memory.record(&begin).map(|done| done.notes().to_vec())
        }
        "round" => memory.record(&Round { id, insist }).map(|_| none),
        "end" => {
            let end = End {
                id,
                insist,
                ..End::default()
            };
            memory.record(&end).map(|_| none)
        }
        "gate" => {
            let gate = CreateGate {
                line: command.line(),
                prompt: Some("Proceed?".to_owned()),
                parent,
                item,
                insist,
                ..CreateGate::default()
            };
            memory.record(&gate).map(|done| done.notes)
        }
        "gates" => memory.record(&ExpireGates::default()).map(|_| none),
        "put" => {
            let name = command.word(1);
            let put = Put {
                name: (name != "--anon").then(|| name.to_owned()),
                execution: command.number("--into"),
                value: value.as_bytes().to_vec().into(),
                ..Put::default()
            };
            memory.record(&put).map(|_| none)
        }
        "fail" => {
            let fail = Fail {
                id,
                error: "boom".to_owned(),
                insist,
            };
            memory.record(&fail).map(|_| none)
        }
        "retry" => {
            let retry = Retry {
                id: id.unwrap_or_default(),
                insist,
                ..Retry::default()
            };
            memory.record(&retry).map(|_| none)
        }
        "finish" => {
            let status = match command.word(1) {
                "" => RunStatus::Completed,
                status => RunStatus::parse(status),
            };
            let finish = Finish {
                status: Some(status),
                insist,
                ..Finish::default()
            };
            memory.record(&finish).map(|_| none)
        }
        other => panic!("next prints a command that this test does not know: {other}"),
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
