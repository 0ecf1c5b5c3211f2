//! Arranges the messages, runs and questions of a conversation as one thread.
//!
//! Messages that Prosescope's commands wrote record their run and the question that they answer. A run without such a
//! message is placed by its time. If times are missing too, its position is marked as unknown
//! ([`ThreadItem::Run::is_placed`]).

use serde::{Deserialize, Serialize};

use super::page::{Message, RecordedText};
use super::rules::is_id;
use super::{Turn, TurnStatus};
use prosescope_core::model::time::Stamp;

/// Limit for a title, in characters.
const TITLE: usize = 90;

/// A part of a thread: a message, a run or a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThreadItem {
    /// A message of the conversation.
    Message {
        /// The index of the message in the list of messages.
        at: usize,
    },
    /// A run of the workflow.
    Run {
        /// The index of the run in the list of runs.
        at: usize,
        /// Whether the position of the run between the messages is known.
        is_placed: bool,
    },
    /// A question that was asked and no longer waits for an answer.
    Question {
        /// The index of the run that asked the question; `None` if no such run is known.
        run: Option<usize>,
        /// The text of the question.
        text: RecordedText,
        /// The time at which the question was asked.
        at: Option<Stamp>,
        /// Whether the next message answers the question. False if no message records this.
        is_answered: bool,
    },
}

/// Returns the title of a conversation as one short line: the first run's input, else the person's first message.
pub(super) fn title(messages: &[Message], runs: &[Turn]) -> Option<String> {
    let of_runs = runs.iter().filter_map(|run| run.user_input.as_deref());
    let said = messages.iter().filter(|message| is_user(message));
    let said = said.filter_map(|message| Some(message.content.as_ref()?.text.as_str()));
    let first = of_runs.chain(said).find(|text| !text.trim().is_empty())?;
    let words: Vec<&str> = first.split_whitespace().take(TITLE).collect();
    let line = words.join(" ");
    let Some((end, _)) = line.char_indices().nth(TITLE) else {
        return Some(line);
    };
    let head = line.get(..end).unwrap_or_default();
    // The title ends between two words, unless that would drop half of the line.
    let end = head.rfind(' ').filter(|at| *at > end / 2).unwrap_or(end);
    Some(format!("{}…", head.get(..end).unwrap_or_default()))
}

/// Returns the messages, runs and questions of a conversation as one thread.
pub(super) fn thread(messages: &[Message], runs: &[Turn]) -> Vec<ThreadItem> {
    let named = named(messages, runs);
    let mut before: Vec<Vec<ThreadItem>> = vec![Vec::new(); messages.len() + 1];
    for (at, turn) in runs.iter().enumerate() {
        let (anchor, is_placed) = place(messages, &named, turn, at);
        let Some(parts) = before.get_mut(anchor) else {
            continue;
        };
        parts.push(ThreadItem::Run { at, is_placed });
        // A question that still waits is skipped, because the page shows such questions at the end of the thread.
        let waits = turn.known_status() == Some(TurnStatus::WaitingForInput);
        parts.extend(
            turn.question()
                .filter(|_| !waits)
                .map(|question| ThreadItem::Question {
                    run: Some(at),
                    text: super::page::plain(&question),
                    at: turn.asked_at(),
                    is_answered: false,
                }),
        );
    }
    let mut parts = Vec::with_capacity(messages.len() + runs.len());
    for (at, message) in messages.iter().enumerate() {
        parts.extend(before.get_mut(at).map(std::mem::take).unwrap_or_default());
        if let Some(text) = &message.question {
            parts.push(ThreadItem::Question {
                run: named.get(at).copied().flatten(),
                text: text.clone(),
                at: None,
                is_answered: true,
            });
        }
        parts.push(ThreadItem::Message { at });
    }
    parts.extend(before.pop().unwrap_or_default());
    parts
}

fn is_user(message: &Message) -> bool {
    let role = message.role.as_deref();
    role.is_some_and(|role| matches!(role, "user" | "human"))
}

fn millis(stamp: &Option<Stamp>) -> Option<i64> {
    stamp.as_ref().and_then(Stamp::millis)
}

/// Returns, for each message, the index of the run whose id the message records; `None` without such a run.
fn named(messages: &[Message], runs: &[Turn]) -> Vec<Option<usize>> {
    let mut last = None;
    let run = |message: &Message| {
        let id = message.run.as_deref()?;
        let is_it = |at: &usize| runs.get(*at).is_some_and(|run| is_id(&run.id, id));
        // The messages of one run are mostly adjacent, so the run of the previous message is tried first.
        last = last
            .filter(is_it)
            .or_else(|| runs.iter().position(|run| is_id(&run.id, id)));
        last
    };
    messages.iter().map(run).collect()
}

/// Returns the index of the message before which a run is placed, and whether this position is known.
fn place(messages: &[Message], named: &[Option<usize>], turn: &Turn, run: usize) -> (usize, bool) {
    if let Some(first) = named.iter().position(|of| *of == Some(run)) {
        let said = messages.get(first);
        let begins = said.is_some_and(|said| is_user(said) && said.question.is_none());
        return (first + usize::from(begins), true);
    }
    let times: Option<Vec<i64>> = messages.iter().map(|said| millis(&said.at)).collect();
    match millis(&turn.created_at).zip(times) {
        Some((created, times)) => {
            let later = times.iter().position(|at| *at > created);
            (later.unwrap_or(times.len()), true)
        }
        None => (messages.len(), messages.is_empty()),
    }
}

#[cfg(test)]
mod tests;
