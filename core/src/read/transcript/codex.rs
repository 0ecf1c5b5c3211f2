//! Reads lines of Codex.
//!
//! Codex records running totals, not the tokens of one answer. An event may repeat the totals, and the totals may start
//! again at zero. The rollout of a subagent or of a fork begins with the events of its parent, at their old times or at
//! the time of the start.

use serde_json::Value;

use super::{Answer, Conversation, TaskCall, TranscriptReader, number, prompt, text, time};
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
    /// When the conversation began, in milliseconds since 1970 UTC.
    began: Option<i64>,
    model: String,
}

/// The totals of one event.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Total {
    at: Option<i64>,
    model: String,
    all: Counts,
    /// The tokens of the last answer.
    last: Option<Counts>,
    /// Whether the time of the event shows that it repeats an event of the parent.
    replayed: bool,
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
        let place = reader.place("Codex", session, None);
        let began = text(payload, "/timestamp").and_then(|at| Stamp::parse(at).millis());
        reader.codex.place = Some(place);
        reader.codex.began = began.or_else(|| time(line));
        let spawned = text(payload, "/source/subagent/thread_spawn/parent_thread_id");
        let conversation = reader.file.conversations.get_mut(place)?;
        conversation.agent = spawned.map(|_| session.to_owned());
        conversation.parent = spawned
            .or_else(|| text(payload, "/parent_thread_id"))
            .or_else(|| text(payload, "/forked_from_id"))
            .map(str::to_owned);
    }
    let place = reader.codex.place?;
    let conversation = reader.file.conversations.get_mut(place)?;
    let (at, began) = (time(line), reader.codex.began);
    let limit = began.map(|began| began.saturating_add(REPLAY_MS));
    let replayed = conversation.parent.is_some() && at.is_some_and(|at| Some(at) <= limit);
    conversation.answered |= ["turn_context", "response_item"].contains(&kind) && !replayed;
    match (kind, text(payload, "/type")) {
        ("turn_context", _) => {
            let model = text(payload, "/model");
            reader.codex.model = model.unwrap_or_default().to_owned();
        }
        ("event_msg", Some("token_count")) => {
            let info = payload.get("info")?;
            if let Some(all) = info.get("total_token_usage").filter(|of| of.is_object()) {
                conversation.has_counts |= !replayed;
                conversation.answered |= !replayed;
                conversation.totals.push(Total {
                    at,
                    model: reader.codex.model.clone(),
                    all: counts(all),
                    last: info.get("last_token_usage").map(counts),
                    replayed,
                });
            }
        }
        ("event_msg", Some("user_message")) if conversation.prompt.is_empty() && !replayed => {
            conversation.prompt = text(payload, "/message").map(prompt).unwrap_or_default();
        }
        ("response_item", Some("function_call")) => {
            let call = text(payload, "/call_id").filter(|_| !replayed);
            if let (Some("spawn_agent"), Some(id)) = (text(payload, "/name"), call) {
                conversation.tasks.push(TaskCall {
                    id: id.to_owned(),
                    prompt: text(payload, "/arguments").map(prompt).unwrap_or_default(),
                    ..TaskCall::default()
                });
            }
        }
        ("response_item", Some("function_call_output")) => {
            let call = text(payload, "/call_id");
            let task = conversation
                .tasks
                .iter_mut()
                .find(|task| Some(&*task.id) == call);
            if let Some(task) = task {
                let output: Option<Value> =
                    text(payload, "/output").and_then(|output| serde_json::from_str(output).ok());
                task.started = text(&output?, "/agent_id").map(str::to_owned);
            }
        }
        _ => {}
    }
    // The time of a repeated event is not a time of this conversation.
    (!replayed || kind == "session_meta").then_some(place)
}

/// Makes the answers from the running totals. `parent` is the conversation that this one repeats, if it was read.
pub(super) fn settle(conversation: &mut Conversation, parent: Option<&[Total]>) {
    let totals = std::mem::take(&mut conversation.totals);
    let mut theirs = parent.unwrap_or_default().iter();
    let mut is_replay = conversation.parent.is_some();
    let mut before: Option<Counts> = None;
    for total in &totals {
        let is_same = |other: &Total| (other.all, other.last) == (total.all, total.last);
        let is_theirs = theirs.next().is_some_and(is_same);
        is_replay = is_replay && (total.replayed || is_theirs);
        // The first totals may contain the history of another conversation.
        let own = before.and_then(|before| since(total.all, before));
        let [input, cached, output] = own.or(total.last).unwrap_or(total.all);
        before = Some(total.all);
        if is_replay || (input, cached, output) == (0, 0, 0) {
            continue;
        }
        conversation.answers.push(Answer {
            at: total.at,
            model: total.model.clone(),
            tokens: TokenUse {
                messages: 1,
                input: input.saturating_sub(cached),
                cached,
                output,
                ..TokenUse::default()
            },
            ..Answer::default()
        });
    }
}
