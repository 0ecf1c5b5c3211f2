//! Reads lines of Claude Code.
//!
//! One answer has several lines, one for each part of its content, and each repeats the usage. The first ones may
//! contain a partial count of output tokens. [`super::settle`] combines them.
//!
//! Subagents have files of their own. Old versions wrote them into the session's file, as lines with `isSidechain`; each
//! such line names the line before it, which leads to the subagent's first line.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Answer, TaskCall, TranscriptReader, number, prompt, text, time};
use crate::model::TokenUse;

/// The name in place of a model, for messages that Claude Code made itself, such as errors.
const NO_MODEL: &str = "<synthetic>";

/// What the lines so far say about later lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The subagent of each line with `isSidechain` and without `agentId`, by the id of the line.
    agents: BTreeMap<String, String>,
    /// The content of `agent-{id}.meta.json`.
    pub(super) meta: Value,
}

/// Reads a line. Returns the place of its conversation; `None` if the line belongs to none.
pub(super) fn line(reader: &mut TranscriptReader, line: &Value) -> Option<usize> {
    // `stream-json` writes the names of fields in snake case.
    let session = text(line, "/sessionId")
        .or_else(|| text(line, "/session_id"))?
        .to_owned();
    let agent = agent(reader, line);
    let place = reader.place("Claude Code", &session, agent.as_deref());
    if text(line, "/type") == Some("result") {
        let usd = line.get("total_cost_usd").and_then(Value::as_f64);
        reader.file.usd.extend(usd);
    }
    let conversation = reader.file.conversations.get_mut(place)?;
    conversation.inside_main = agent.is_some() && text(line, "/agentId").is_none();
    if let Some(call) = text(line, "/parent_tool_use_id") {
        conversation.tool_use = Some(call.to_owned());
    }
    let content = line.pointer("/message/content");
    let parts = content
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    match text(line, "/type") {
        Some("assistant") if text(line, "/message/model") != Some(NO_MODEL) => {
            conversation.answered = true;
            for task in parts.iter().filter_map(task) {
                if conversation.tasks.iter().all(|known| known.id != task.id) {
                    conversation.tasks.push(task);
                }
            }
            if let Some(usage) = line
                .pointer("/message/usage")
                .filter(|usage| usage.is_object())
            {
                conversation.has_counts = true;
                conversation.answers.push(answer(line, usage));
            }
        }
        Some("user") => {
            if conversation.prompt.is_empty() {
                let first = || parts.iter().find_map(|part| text(part, "/text"));
                let said = text(line, "/message/content").or_else(first);
                conversation.prompt = said.map(prompt).unwrap_or_default();
            }
            let call = parts.iter().find_map(|part| text(part, "/tool_use_id"));
            let task = conversation
                .tasks
                .iter_mut()
                .find(|task| Some(&*task.id) == call);
            if let (Some(task), Some(started)) = (task, text(line, "/toolUseResult/agentId")) {
                task.started = Some(started.to_owned());
            }
        }
        _ => {}
    }
    Some(place)
}

/// Returns the subagent to which a line belongs; `None` if the line belongs to the session itself.
fn agent(reader: &mut TranscriptReader, line: &Value) -> Option<String> {
    if let Some(agent) = text(line, "/agentId").or_else(|| text(line, "/parent_tool_use_id")) {
        return Some(agent.to_owned());
    }
    if line.get("isSidechain") != Some(&Value::Bool(true)) {
        return None;
    }
    let agents = &mut reader.claude.agents;
    let own = text(line, "/uuid").unwrap_or_default();
    let before = text(line, "/parentUuid").and_then(|before| agents.get(before));
    let agent = before.cloned().unwrap_or_else(|| own.to_owned());
    agents.insert(own.to_owned(), agent.clone());
    Some(agent)
}

/// Returns the tool call of a part of an answer, if the call has a prompt: `Task`, `Agent`.
fn task(part: &Value) -> Option<TaskCall> {
    Some(TaskCall {
        id: text(part, "/id")?.to_owned(),
        prompt: prompt(text(part, "/input/prompt")?),
        description: text(part, "/input/description")
            .map(prompt)
            .unwrap_or_default(),
        started: None,
    })
}

fn answer(line: &Value, usage: &Value) -> Answer {
    let written_5m = number(usage, "/cache_creation/ephemeral_5m_input_tokens");
    let written_1h = number(usage, "/cache_creation/ephemeral_1h_input_tokens");
    // Old versions record only the sum.
    let sum = number(usage, "/cache_creation_input_tokens");
    let owned = |pointer| text(line, pointer).map(str::to_owned);
    Answer {
        at: time(line),
        model: owned("/message/model").unwrap_or_default(),
        tokens: TokenUse {
            messages: 1,
            input: number(usage, "/input_tokens"),
            cached: number(usage, "/cache_read_input_tokens"),
            written_5m,
            written_1h,
            written: sum.saturating_sub(written_5m.saturating_add(written_1h)),
            output: number(usage, "/output_tokens"),
        },
        usd: line.get("costUSD").and_then(Value::as_f64),
        id: owned("/message/id").unwrap_or_default(),
        request: owned("/requestId"),
    }
}

/// Adds what the file `agent-{id}.meta.json` records to the subagents of the file.
pub(super) fn finish(reader: &mut TranscriptReader) {
    let Some(call) = text(&reader.claude.meta, "/toolUseId") else {
        return;
    };
    for conversation in &mut reader.file.conversations {
        if conversation.agent.is_some() {
            conversation.tool_use = Some(call.to_owned());
        }
    }
}
