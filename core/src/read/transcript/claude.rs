//! Reads lines of Claude Code.
//!
//! One answer has several lines, one for each part of its content, and each repeats the usage. The first ones may
//! contain a partial count of output tokens. [`super::settle`] combines them.
//!
//! Subagents have files of their own. Old versions wrote them into the session's file, as lines with `isSidechain`; each
//! such line names the line before it, which leads to the subagent's first line.

use serde_json::Value;

use super::{Answer, TaskCall, TranscriptReader, UNKNOWN, number, owned, text, time};
use crate::model::TokenUse;

/// The name in place of a model, for messages that Claude Code made itself, such as errors.
const NO_MODEL: &str = "<synthetic>";

/// Reads a line. Returns the place of its conversation; `None` if the line belongs to none.
pub(super) fn line(reader: &mut TranscriptReader, line: &Value) -> Option<usize> {
    // `stream-json` writes the names of fields in snake case.
    let session = text(line, "/sessionId").or_else(|| text(line, "/session_id"))?;
    let agent = agent(reader, line);
    let place = reader.place(session, agent);
    let conversation = reader.file.conversations.get_mut(place)?;
    if let Some(call) = text(line, "/parent_tool_use_id") {
        conversation.tool_use = Some(call.to_owned());
    }
    let content = line.pointer("/message/content").unwrap_or(&Value::Null);
    let parts = content.as_array().map_or(&[][..], Vec::as_slice);
    match text(line, "/type") {
        Some("assistant") if text(line, "/message/model") != Some(NO_MODEL) => {
            conversation.answered = true;
            for task in parts.iter().filter_map(task) {
                if conversation.tasks.iter().all(|known| known.id != task.id) {
                    conversation.tasks.push(task);
                }
            }
            let usage = line.pointer("/message/usage");
            if let Some(usage) = usage.filter(|usage| usage.is_object()) {
                conversation.has_counts = true;
                conversation.answers.push(answer(line, usage));
            }
        }
        Some("user") => {
            if conversation.prompt.is_empty() {
                let first = parts.iter().find_map(|part| text(part, "/text"));
                let said = text(content, "").or(first);
                conversation.prompt = said.unwrap_or_default().to_owned();
            }
            if let Some(started) = text(line, "/toolUseResult/agentId") {
                let call = parts.iter().find_map(|part| text(part, "/tool_use_id"));
                conversation.started(call, Some(started));
            }
        }
        // A later result includes an earlier one.
        Some("result") => conversation.usd = line.get("total_cost_usd").and_then(Value::as_f64),
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
    let own = owned(line, "/uuid");
    let before = text(line, "/parentUuid").and_then(|before| reader.sidechains.get(before));
    let agent = before.unwrap_or(&own).clone();
    reader.sidechains.insert(own, agent.clone());
    Some(agent)
}

/// Returns the tool call of a part of an answer, if the call has a prompt: `Task`, `Agent`.
fn task(part: &Value) -> Option<TaskCall> {
    Some(TaskCall {
        id: text(part, "/id")?.to_owned(),
        prompt: text(part, "/input/prompt")?.to_owned(),
        description: owned(part, "/input/description"),
        started: None,
    })
}

fn answer(line: &Value, usage: &Value) -> Answer {
    let written_5m = number(usage, "/cache_creation/ephemeral_5m_input_tokens");
    let written_1h = number(usage, "/cache_creation/ephemeral_1h_input_tokens");
    // Old versions record only the sum.
    let sum = number(usage, "/cache_creation_input_tokens");
    Answer {
        at: time(line),
        model: text(line, "/message/model").unwrap_or(UNKNOWN).to_owned(),
        tokens: TokenUse {
            messages: 1,
            input: number(usage, "/input_tokens"),
            cached: number(usage, "/cache_read_input_tokens"),
            written_5m,
            written_1h,
            written: sum.saturating_sub(written_5m.saturating_add(written_1h)),
            output: number(usage, "/output_tokens"),
        },
        id: owned(line, "/message/id"),
        request: owned(line, "/requestId"),
    }
}
