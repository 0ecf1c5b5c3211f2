//! Parses and executes the commands of the test scripts: `begin LINE [in ID]`,
//! `put NAME [in ID] [kind=K] [from=SOURCE]: VALUE`, `gate ID [in ID] [allow=A,B] [timeout=T] [on_reject=WORD]:
//! PROMPT`, `approve ID by=NAME [for=NAME]: COMMENT`, and so on.

use std::fmt::Debug;

use prosescope_core::model::{AgentScope, RunStatus};
use prosescope_core::record::{
    AddImport, AddSegment, At, Begin, CreateGate, Decision, End, ExpireGates, Fail, Finish, Insist,
    LARGE, Put, Record, Remember, Reopen, ResolveGate, Retry, Round, RunStore, Skip, StatementRef,
    ValueBytes, ViewGate, WriteError, record,
};

/// Executes one command; returns its result, or the rule of the refusal.
pub(crate) fn run(store: &mut dyn RunStore, line: &str, at: &At) -> Result<String, String> {
    run_by(store, line, at, &|id| id)
}

/// Executes one command like [`run`], with its ids translated by `ids` to the store's own.
pub(crate) fn run_by(
    store: &mut dyn RunStore,
    line: &str,
    at: &At,
    ids: &dyn Fn(i64) -> i64,
) -> Result<String, String> {
    let (words, value) = match line.split_once(':') {
        Some((words, value)) => (words, value.strip_prefix(' ').unwrap_or(value)),
        None => (line, ""),
    };
    let value = value.replace("\\n", "\n");
    let words: Vec<&str> = words.split_whitespace().collect();
    let number = |n: usize| ids(words[n].parse().unwrap());
    let after = |word: &str| -> Option<&str> {
        let at = words.iter().position(|w| *w == word)?;
        words.get(at + 1).copied()
    };
    let key = |key: &str| -> Option<&str> {
        words
            .iter()
            .find_map(|w| w.strip_prefix(key)?.strip_prefix('='))
    };
    let parent = after("in").map(|id| ids(id.parse().unwrap()));
    let statement = || StatementRef {
        text: None,
        line: Some(words[1].parse().unwrap()),
    };
    let insist = Insist {
        force: words.contains(&"force"),
        overrides: words.contains(&"override"),
    };
    let rest = || line.splitn(3, ' ').nth(2).unwrap_or_default().to_owned();
    match words[0] {
        "begin" => done(
            store,
            at,
            &Begin {
                statement: statement(),
                parent,
                item: key("item").map(str::to_owned),
                insist,
                ..Begin::default()
            },
        ),
        "end" => {
            let end = End {
                id: Some(number(1)),
                because: words.get(2).map(|why| (*why).to_owned()),
                insist,
            };
            done(store, at, &end)
        }
        "fail" => {
            let fail = Fail {
                id: Some(number(1)),
                error: rest(),
                insist,
            };
            done(store, at, &fail)
        }
        "skip" => {
            let skip = Skip {
                statement: statement(),
                parent,
                insist,
                ..Skip::default()
            };
            done(store, at, &skip)
        }
        "retry" => {
            let max = key("max").map(|max| max.parse().unwrap());
            done(
                store,
                at,
                &Retry {
                    id: number(1),
                    max,
                    error: None,
                    insist,
                },
            )
        }
        "round" => done(
            store,
            at,
            &Round {
                id: Some(number(1)),
                insist,
            },
        ),
        "put" | "anon" => {
            let put = Put {
                name: (words[0] == "put").then(|| words[1].to_owned()),
                execution: parent,
                kind: key("kind").map(str::to_owned),
                source: key("from").map(str::to_owned),
                summary: None,
                value: ValueBytes::from(match words.get(2) {
                    Some(&"large") => format!("long\n{}", "x".repeat(LARGE)).into_bytes(),
                    Some(&"bytes") => vec![0, 159, 146, 150],
                    _ => value.into_bytes(),
                }),
                not_done: !words.contains(&"done"),
                ..Put::default()
            };
            done(store, at, &put)
        }
        "memory" => {
            let remember = Remember {
                agent: words[1].to_owned(),
                scope: AgentScope::Execution,
                memory: value,
            };
            done(store, at, &remember)
        }
        "segment" => {
            let add = AddSegment {
                agent: words[1].to_owned(),
                scope: AgentScope::Execution,
                prompt: "Say \"it\"".to_owned(),
                summary: value,
            };
            done(store, at, &add)
        }
        "gate" => {
            let names = |list: &str| list.split(',').map(str::to_owned).collect();
            let create = CreateGate {
                id: Some(words[1].to_owned()),
                prompt: Some(value),
                allow: key("allow").map(names),
                timeout: key("timeout").map(str::to_owned),
                on_reject: key("on_reject").map(str::to_owned),
                parent,
                item: None,
                line: None,
                insist,
            };
            done(store, at, &create)
        }
        "view" => {
            let view = ViewGate {
                gate: words[1].to_owned(),
                by: key("by").unwrap_or("user").to_owned(),
            };
            done(store, at, &view)
        }
        "approve" | "reject" => {
            let resolve = ResolveGate {
                gate: words[1].to_owned(),
                decision: match words[0] {
                    "approve" => Decision::Approve {
                        comment: (!value.is_empty()).then_some(value),
                    },
                    _ => Decision::Reject { reason: value },
                },
                by: key("by").unwrap_or("user").to_owned(),
                on_behalf_of: key("for").map(str::to_owned),
                record_timeout: words.contains(&"record-timeout"),
                overrides: false,
            };
            done(store, at, &resolve)
        }
        "expire" => done(store, at, &ExpireGates::default()),
        "import" => {
            let import = AddImport {
                name: Some("i.prose".to_owned()),
                alias: words[1].to_owned(),
                source_url: (!value.is_empty()).then_some(value),
                program: None,
                inputs_schema: None,
                outputs_schema: None,
            };
            done(store, at, &import)
        }
        "finish" => done(
            store,
            at,
            &Finish {
                status: Some(RunStatus::parse(words[1])),
                insist,
                ..Finish::default()
            },
        ),
        "reopen" => done(store, at, &Reopen),
        other => panic!("{other}"),
    }
}

fn done<R: Record<Done: Debug>>(
    store: &mut dyn RunStore,
    at: &At,
    command: &R,
) -> Result<String, String> {
    match record(store, command, at) {
        Ok(done) => Ok(without_hashes(&format!("{done:?}"))),
        Err(WriteError::Refused { rule, .. }) => Err(rule.to_owned()),
        Err(WriteError::NotFound { .. }) => Err("not-found".to_owned()),
        Err(WriteError::Wrong { .. }) => Err("wrong".to_owned()),
        Err(WriteError::Fault(fault)) => Err(format!("fault: {fault}")),
    }
}

/// Removes the hashes of audit rows, because the hashes cover times, whose format differs between the forms.
fn without_hashes(text: &str) -> String {
    let parts = text.split('"');
    let hash = |part: &&str| part.len() == 64 && part.bytes().all(|b| b.is_ascii_hexdigit());
    let parts: Vec<&str> = parts
        .map(|part| if hash(&part) { "…" } else { part })
        .collect();
    parts.join("\"")
}
