//! Reads lines of Codex.
//!
//! Codex records running totals, not the tokens of one answer. An event may repeat the totals, and the totals may start
//! again at zero. The rollout of a subagent or of a fork begins with the events of its parent, at their old times or at
//! the time of the start.

use serde_json::Value;

use super::{Answer, TaskCall, TranscriptReader, UNKNOWN, number, owned, text, time};
use crate::model::TokenUse;
use crate::model::time::Stamp;

/// The time in milliseconds after its start in which a subagent or a fork repeats events of its parent. No model answers
/// within this time.
const REPLAY_MS: i64 = 1_000;

/// What the lines so far say about later lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The place of the rollout's own conversation.
    place: Option<usize>,
    model: Option<String>,
    /// The last totals.
    before: Option<Counts>,
}

/// All input tokens with those of the cache, those of the cache, and all output tokens with those of reasoning.
type Counts = [u64; 3];

fn counts(of: &Value) -> Counts {
    ["/input_tokens", "/cached_input_tokens", "/output_tokens"].map(|field| number(of, field))
}

/// Returns the tokens since earlier totals; `None` if the totals started again.
fn since([a, b, c]: Counts, [x, y, z]: Counts) -> Option<Counts> {
    Some([a.checked_sub(x)?, b.checked_sub(y)?, c.checked_sub(z)?])
}

/// Reads a line. Returns the place of its conversation; `None` if the line belongs to none.
pub(super) fn line(reader: &mut TranscriptReader, line: &Value, payload: &Value) -> Option<usize> {
    let kind = text(line, "/type")?;
    if kind == "session_meta" && reader.codex.place.is_none() {
        // `session_id` is the same for all subagents of newer versions; `id` is the conversation's own.
        let session = text(payload, "/id").or_else(|| text(payload, "/session_id"))?;
        let place = reader.place(session, None);
        let spawned = text(payload, "/source/subagent/thread_spawn/parent_thread_id");
        let parent = spawned
            .or_else(|| text(payload, "/parent_thread_id"))
            .or_else(|| text(payload, "/forked_from_id"));
        let began = text(payload, "/timestamp").and_then(|at| Stamp::parse(at).millis());
        let began = began.or_else(|| time(line)).filter(|_| parent.is_some());
        reader.codex.place = Some(place);
        let conversation = reader.file.conversations.get_mut(place)?;
        conversation.replay = began.map(|began| began.saturating_add(REPLAY_MS));
        conversation.agent = spawned.map(|_| session.to_owned());
        conversation.parent = parent.map(str::to_owned);
    }
    let lines = &mut reader.codex;
    let place = lines.place?;
    let conversation = reader.file.conversations.get_mut(place)?;
    let at = time(line);
    let replayed = at.is_some() && at <= conversation.replay;
    conversation.answered |= ["turn_context", "response_item"].contains(&kind) && !replayed;
    match (kind, text(payload, "/type")) {
        ("turn_context", _) => lines.model = text(payload, "/model").map(str::to_owned),
        ("event_msg", Some("token_count")) => {
            let info = payload.get("info")?;
            let all = info.get("total_token_usage").filter(|of| of.is_object());
            let (all, last) = (counts(all?), info.get("last_token_usage").map(counts));
            conversation.answered |= !replayed;
            conversation.has_counts = true;
            // The first totals may contain the history of another conversation.
            let own = lines.before.and_then(|before| since(all, before));
            let [input, cached, output] = own.or(last).unwrap_or(all);
            lines.before = Some(all);
            if [input, cached, output] != [0; 3] {
                conversation.answers.push(Answer {
                    at,
                    model: lines.model.clone().unwrap_or(UNKNOWN.to_owned()),
                    tokens: TokenUse {
                        messages: 1,
                        input: input.saturating_sub(cached),
                        cached,
                        output,
                        ..TokenUse::default()
                    },
                    id: format!("{all:?} {last:?}"),
                    request: String::new(),
                });
            }
        }
        ("event_msg", Some("user_message")) if conversation.prompt.is_empty() && !replayed => {
            conversation.prompt = owned(payload, "/message");
        }
        ("response_item", Some("function_call"))
            if !replayed && text(payload, "/name") == Some("spawn_agent") =>
        {
            conversation.tasks.push(TaskCall {
                id: owned(payload, "/call_id"),
                prompt: owned(payload, "/arguments"),
                ..TaskCall::default()
            });
        }
        ("response_item", Some("function_call_output")) => {
            let output = text(payload, "/output").unwrap_or_default();
            let output: Value = serde_json::from_str(output).unwrap_or_default();
            conversation.started(text(payload, "/call_id"), text(&output, "/agent_id"));
        }
        _ => {}
    }
    // The time of a repeated event is not a time of this conversation.
    (!replayed || kind == "session_meta").then_some(place)
}
