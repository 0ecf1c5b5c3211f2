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

/// Maximum bytes kept of a prompt. Only names are looked for in it.
const PROMPT: usize = 64 << 10;

/// Minimum bytes of a run's id that is looked for in the lines. A shorter id may be a part of any word.
const ID: usize = 8;

/// A conversation with a model: a session, or a subagent of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// The path of the file, as the caller gave it.
    pub file: String,
    /// The program that wrote the file: `Claude Code` or `Codex`.
    pub tool: &'static str,
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
    /// The answers, in the order of their first lines.
    pub answers: Vec<Answer>,
    /// The tool calls that started subagents.
    pub tasks: Vec<TaskCall>,
    /// Whether a line contains the id of the run that the reader was given.
    pub names_run: bool,
    /// Whether the conversation is a subagent that is recorded in the file of its session.
    inside_main: bool,
    /// The running totals of Codex, from which [`settle`] makes the answers.
    totals: Vec<codex::Total>,
}

impl Conversation {
    fn saw(&mut self, at: Option<i64>) {
        self.first = self.first.into_iter().chain(at).min();
        self.last = self.last.into_iter().chain(at).max();
    }
}

/// The answer of a model to one request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// When the answer was recorded, in milliseconds since 1970 UTC.
    pub at: Option<i64>,
    /// The model, as recorded; empty if it is not recorded.
    pub model: String,
    /// The tokens of the answer.
    pub tokens: TokenUse,
    /// The recorded price in US dollars. Only old versions of Claude Code record it.
    pub usd: Option<f64>,
    /// The id of the message; empty if none is recorded.
    id: String,
    /// The id of the request.
    request: Option<String>,
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
    /// The prices that the file records for a whole session, in US dollars (`total_cost_usd`).
    pub usd: Vec<f64>,
}

/// Reads the lines of one file.
#[derive(Debug)]
pub struct TranscriptReader {
    path: String,
    run: String,
    file: TranscriptFile,
    /// The place of each conversation in the file, by session and subagent.
    places: BTreeMap<(String, Option<String>), usize>,
    claude: claude::Lines,
    codex: codex::Lines,
}

impl TranscriptReader {
    /// Returns a reader for the file at `path`. `run` is the id of the run that the conversations may name.
    pub fn new(path: &str, run: &str) -> TranscriptReader {
        TranscriptReader {
            path: path.to_owned(),
            run: run.to_owned(),
            file: TranscriptFile::default(),
            places: BTreeMap::new(),
            claude: claude::Lines::default(),
            codex: codex::Lines::default(),
        }
    }

    /// Reads one line, with or without its line break.
    pub fn line(&mut self, bytes: &[u8]) {
        let bytes = bytes.trim_ascii();
        if bytes.is_empty() {
            return;
        }
        let line = match serde_json::from_slice(bytes) {
            Ok(line @ Value::Object(_)) => line,
            _ => return self.skip_line(),
        };
        let place = match line.get("payload") {
            Some(payload) => codex::line(self, &line, payload),
            None => claude::line(self, &line),
        };
        let Some(conversation) = place.and_then(|at| self.file.conversations.get_mut(at)) else {
            return;
        };
        conversation.saw(time(&line));
        // The id of a run consists of characters that JSON never escapes.
        if !conversation.names_run && self.run.len() >= ID {
            let run = self.run.as_bytes();
            conversation.names_run = bytes.windows(run.len()).any(|part| part == run);
        }
    }

    /// Counts a line that the caller could not read, for example because it is too long.
    pub fn skip_line(&mut self) {
        self.file.unreadable += 1;
    }

    /// Reads the file `agent-{id}.meta.json` beside a transcript of a Claude Code subagent.
    pub fn meta(&mut self, bytes: &[u8]) {
        self.claude.meta = serde_json::from_slice(bytes).unwrap_or_default();
    }

    /// Returns the content of the file.
    pub fn finish(mut self) -> TranscriptFile {
        claude::finish(&mut self);
        self.file.conversations.retain(|of| of.answered);
        self.file
    }

    /// Returns the place of a conversation, which is added if it is new.
    fn place(&mut self, tool: &'static str, session: &str, agent: Option<&str>) -> usize {
        let key = (session.to_owned(), agent.map(str::to_owned));
        let next = self.file.conversations.len();
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.file.conversations.push(Conversation {
                file: self.path.clone(),
                tool,
                session: session.to_owned(),
                agent: agent.map(str::to_owned),
                ..Conversation::default()
            });
        }
        place
    }
}

/// Returns the text at a JSON pointer; `None` if there is no text or an empty one.
fn text<'v>(of: &'v Value, pointer: &str) -> Option<&'v str> {
    let text = of.pointer(pointer)?.as_str()?;
    (!text.is_empty()).then_some(text)
}

/// Returns the number at a JSON pointer; 0 if there is none.
fn number(of: &Value, pointer: &str) -> u64 {
    of.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

fn time(line: &Value) -> Option<i64> {
    Stamp::parse(text(line, "/timestamp")?).millis()
}

fn prompt(text: &str) -> String {
    clip(text, PROMPT).to_owned()
}
