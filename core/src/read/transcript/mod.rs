//! Reads transcripts: the files in which Claude Code and Codex record their conversations with a model.
//!
//! ```text
//! lines of a file ──► TranscriptReader ──► TranscriptFile: conversations, each with its answers and tokens
//! all files       ──► settle           ──► each answer is counted once, in the conversation that asked for it
//! ```
//!
//! | file | reads |
//! |---|---|
//! | `claude.rs` | `{session}.jsonl`, `{session}/subagents/agent-{id}.jsonl`, `agent-{id}.meta.json`, output of `stream-json` |
//! | `codex.rs` | `rollout-*.jsonl` |
//! | `settle.rs` | what one answer is, in all files |
//!
//! The lines decide what a file is, not its name. The tools publish no specification of these files, and change them
//! often. A field of an unexpected type therefore counts as absent, and a line that is not JSON is counted.

mod claude;
mod codex;
mod settle;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::TokenUse;
use crate::model::text::clip;
use crate::model::time::Stamp;

pub use settle::settle;

/// Maximum bytes kept of a text. Only names are looked for in a prompt.
const TEXT: usize = 64 << 10;

/// Minimum bytes of a run's id that is looked for in the lines. A shorter id may be a part of any word.
const ID: usize = 8;

/// The name of a model that is not recorded.
const UNKNOWN: &str = "unknown";

/// A conversation with a model: a session, or a subagent of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// The path of the file, as the caller gave it.
    pub file: String,
    /// The id of the session. All subagents of a Claude Code session have the session's id; a subagent of Codex has an
    /// id of its own.
    pub session: String,
    /// The id of the subagent, which is unique only inside of its session; `None` for the session itself.
    pub agent: Option<String>,
    /// The session from which this session was forked, or that started it as a subagent (Codex).
    pub parent: Option<String>,
    /// The id of the tool call that started the subagent, if recorded.
    pub tool_use: Option<String>,
    /// The first message of the user, cut at 64 KB.
    pub prompt: String,
    /// The time of the first line, in milliseconds since 1970 UTC.
    pub first: Option<i64>,
    /// The time of the last line, in milliseconds since 1970 UTC.
    pub last: Option<i64>,
    /// Whether a model answered. A file may contain only titles or commands.
    pub answered: bool,
    /// Whether any answer records its tokens. Some versions record none.
    pub has_counts: bool,
    /// The answers.
    pub answers: Vec<Answer>,
    /// The tool calls that started subagents.
    pub tasks: Vec<TaskCall>,
    /// The price that is recorded for the session, in US dollars (`total_cost_usd`).
    pub usd: Option<f64>,
    /// Whether a line contains the id of the run that the reader was given.
    pub names_run: bool,
    /// Until when the lines repeat those of the parent, in milliseconds since 1970 UTC (Codex).
    replay: Option<i64>,
}

impl Conversation {
    /// Notes which subagent a tool call started.
    fn started(&mut self, call: Option<&str>, agent: Option<&str>) {
        let mut tasks = self.tasks.iter_mut();
        if let Some(task) = tasks.find(|task| Some(&*task.id) == call) {
            task.started = agent.map(str::to_owned);
        }
    }
}

/// The answer of a model to one request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// When the answer was recorded, in milliseconds since 1970 UTC.
    pub at: Option<i64>,
    /// The model, as recorded, or `unknown`.
    pub model: String,
    /// The tokens of the answer.
    pub tokens: TokenUse,
    /// The id of the message; empty if none is recorded. For Codex: the running totals and the tokens of the answer.
    id: String,
    /// The id of the request; empty if none is recorded.
    request: String,
}

/// A tool call that starts a subagent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskCall {
    /// The id of the tool call.
    pub id: String,
    /// The short description of the task; empty for Codex.
    pub description: String,
    /// The task's prompt, cut at 64 KB. For Codex: the arguments of the call.
    pub prompt: String,
    /// The id of the subagent, as the call's result records it.
    pub started: Option<String>,
}

/// The content of one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TranscriptFile {
    /// The conversations of the file. Empty if the file is not a transcript.
    pub conversations: Vec<Conversation>,
    /// How many lines are not readable: cut off, not JSON, or too long.
    pub unreadable: u64,
}

/// Reads the lines of one file.
#[derive(Debug, Default)]
pub struct TranscriptReader {
    file: TranscriptFile,
    path: String,
    run: String,
    /// The id of the tool call that started the subagent, as `agent-{id}.meta.json` records it.
    tool_use: Option<String>,
    /// The place of each conversation in the file, by session and subagent.
    places: BTreeMap<(String, Option<String>), usize>,
    /// The subagent of each line of old versions of Claude Code, by the id of the line.
    sidechains: BTreeMap<String, String>,
    codex: codex::Lines,
}

impl TranscriptReader {
    /// Returns a reader for the file at `path`. `run` is the id of the run that the conversations may name, and `meta` the
    /// content of the file `agent-{id}.meta.json` beside the transcript of a Claude Code subagent, else empty.
    pub fn new(path: &str, run: &str, meta: &[u8]) -> TranscriptReader {
        let meta: Value = serde_json::from_slice(meta).unwrap_or_default();
        TranscriptReader {
            path: path.to_owned(),
            run: run.to_owned(),
            tool_use: text(&meta, "/toolUseId").map(str::to_owned),
            ..TranscriptReader::default()
        }
    }

    /// Reads one line, with or without its line break.
    pub fn line(&mut self, bytes: &[u8]) {
        let bytes = bytes.trim_ascii();
        if bytes.is_empty() {
            return;
        }
        let Ok(line @ Value::Object(_)) = serde_json::from_slice(bytes) else {
            self.file.unreadable += 1;
            return;
        };
        let place = match line.get("payload") {
            Some(payload) => codex::line(self, &line, payload),
            None => claude::line(self, &line),
        };
        let Some(conversation) = place.and_then(|at| self.file.conversations.get_mut(at)) else {
            return;
        };
        let at = time(&line);
        conversation.first = conversation.first.into_iter().chain(at).min();
        conversation.last = conversation.last.max(at);
        // The id of a run consists of characters that JSON never escapes.
        if !conversation.names_run && self.run.len() >= ID {
            let run = self.run.as_bytes();
            conversation.names_run = bytes.windows(run.len()).any(|part| part == run);
        }
    }

    /// Returns the content of the file.
    pub fn finish(mut self) -> TranscriptFile {
        self.file.conversations.retain(|of| of.answered);
        self.file
    }

    /// Returns the place of a conversation, which is added if it is new.
    fn place(&mut self, session: &str, agent: Option<String>) -> usize {
        let next = self.file.conversations.len();
        let key = (session.to_owned(), agent.clone());
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.file.conversations.push(Conversation {
                file: self.path.clone(),
                session: session.to_owned(),
                tool_use: self.tool_use.clone().filter(|_| agent.is_some()),
                agent,
                ..Conversation::default()
            });
        }
        place
    }
}

/// Returns the text at a JSON pointer, cut at 64 KB; `None` if there is no text or an empty one.
fn text<'v>(of: &'v Value, pointer: &str) -> Option<&'v str> {
    let text = of.pointer(pointer)?.as_str()?;
    (!text.is_empty()).then(|| clip(text, TEXT))
}

/// Returns the text at a JSON pointer; empty if there is none.
fn owned(of: &Value, pointer: &str) -> String {
    text(of, pointer).unwrap_or_default().to_owned()
}

/// Returns the number at a JSON pointer; 0 if there is none.
fn number(of: &Value, pointer: &str) -> u64 {
    of.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

fn time(line: &Value) -> Option<i64> {
    Stamp::parse(text(line, "/timestamp")?).millis()
}
