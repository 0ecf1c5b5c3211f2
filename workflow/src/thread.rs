//! Arranges the messages, runs and questions of a conversation as one thread. Finds out which message began a run,
//! between which messages a run belongs, and which message answers a question.
//!
//! Messages that Prosescope's commands wrote record their run and the question that they answer. For messages of other
//! programs, text and time decide. If neither decides, the position is marked as unknown ([`Part::Run::is_placed`],
//! [`Part::Message::is_loose`]).

use serde::{Deserialize, Serialize};

use super::page::{Message, Shown};
use super::rules::is_id;
use super::{Turn, TurnStatus};
use prosescope_core::time::Stamp;

/// The most milliseconds by which two recorded times of the same moment may differ.
const SLACK: i64 = 1000;

/// Limit for a title, in characters.
const TITLE: usize = 90;

/// A part of a thread: a message, a run or a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// A message of the conversation.
    Message {
        /// The index of the message in the list of messages.
        at: usize,
        /// Whether the purpose of this message is unknown: a person wrote it after the first run began, but it began no
        /// run and answers no recorded question.
        is_loose: bool,
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
        text: Shown,
        /// The time at which the question was asked.
        at: Option<Stamp>,
        /// Whether the next message answers the question.
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
pub(super) fn thread(messages: &[Message], runs: &[Turn]) -> Vec<Part> {
    let named = named(messages, runs);
    let begins = begins(messages, runs, &named);
    let said = messages.iter().map(|message| millis(message.at.as_ref()));
    let said: Option<Vec<i64>> = said.collect();
    let places: Vec<(usize, bool)> = (0..runs.len())
        .map(|run| place(said.as_deref(), runs, &named, &begins, run))
        .collect();
    let mut before: Vec<Vec<Part>> = vec![Vec::new(); messages.len() + 1];
    let mut put = |at: usize, part: Part| {
        if let Some(parts) = before.get_mut(at) {
            parts.push(part);
        }
    };
    for (at, (anchor, is_placed)) in places.iter().copied().enumerate() {
        put(anchor, Part::Run { at, is_placed });
    }
    let mut asked = vec![false; messages.len()];
    let mut begun: Vec<usize> = begins.iter().flatten().copied().collect();
    begun.sort_unstable();
    for (run, turn) in runs.iter().enumerate() {
        // A question that still waits is skipped, because the page shows such questions at the end of the thread.
        let waits = turn.known_status() == Some(TurnStatus::WaitingForInput);
        let Some(question) = turn.question().filter(|_| !waits) else {
            continue;
        };
        let from = places.get(run).map_or(0, |(anchor, _)| *anchor);
        let later = begun.partition_point(|at| *at < from);
        let end = begun.get(later).copied().unwrap_or(messages.len());
        let answer = answer(messages, turn, &named, run, from..end);
        if let Some(slot) = answer.and_then(|at| asked.get_mut(at)) {
            *slot = true;
        }
        let part = Part::Question {
            run: Some(run),
            text: super::page::plain(&question),
            at: turn.asked_at(),
            is_answered: answer.is_some(),
        };
        put(answer.unwrap_or(end), part);
    }
    let all_begun = !runs.is_empty() && begins.iter().all(Option::is_some);
    let mut parts = Vec::with_capacity(messages.len() + runs.len());
    for (at, message) in messages.iter().enumerate() {
        parts.extend(before.get_mut(at).map(std::mem::take).unwrap_or_default());
        if let Some(text) = &message.question {
            parts.push(Part::Question {
                run: named.get(at).copied().flatten(),
                text: text.clone(),
                at: None,
                is_answered: true,
            });
        }
        let is_known = message.question.is_some()
            || begun.binary_search(&at).is_ok()
            || asked.get(at).copied().unwrap_or_default();
        let is_later = begun.first().is_some_and(|begin| *begin < at);
        parts.push(Part::Message {
            at,
            is_loose: is_user(message) && all_begun && is_later && !is_known,
        });
    }
    parts.extend(before.pop().unwrap_or_default());
    parts
}

fn is_user(message: &Message) -> bool {
    let role = message.role.as_deref();
    role.is_some_and(|role| matches!(role, "user" | "human"))
}

fn is_same(said: &Message, text: &str) -> bool {
    said.content.as_ref().is_some_and(|content| {
        let len = content.cut_from.unwrap_or(content.text.len() as u64);
        len == text.len() as u64 && text.starts_with(&content.text)
    })
}

fn millis(stamp: Option<&Stamp>) -> Option<i64> {
    stamp.and_then(Stamp::millis)
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

/// Returns the index of the message that began each run: a person's message whose text equals the run's input. The
/// search begins with the newest run, because a context drops its oldest messages.
fn begins(messages: &[Message], runs: &[Turn], named: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut begins = vec![None; runs.len()];
    let mut limit = messages.len();
    for (run, turn) in runs.iter().enumerate().rev() {
        let input = turn.user_input.as_deref().unwrap_or_default();
        let fits = |at: &usize| {
            let of = named.get(*at).copied().flatten();
            messages.get(*at).is_some_and(|message| {
                let is_own = of.is_none_or(|of| of == run) && message.question.is_none();
                is_own && is_user(message) && !input.is_empty() && is_same(message, input)
            })
        };
        let own = |at: &usize| named.get(*at).copied().flatten() == Some(run);
        let mut found = (0..messages.len()).find(|at| own(at) && fits(at));
        if found.is_none() {
            let created = millis(turn.created_at.as_ref());
            for at in (0..limit).rev().filter(fits) {
                found = Some(at);
                let said = millis(messages.get(at).and_then(|message| message.at.as_ref()));
                // A message with the same text at a later time was an answer, so it did not begin the run.
                let is_later = said.zip(created);
                if is_later.is_none_or(|(said, created)| said <= created.saturating_add(SLACK)) {
                    break;
                }
            }
        }
        if let (Some(at), Some(begin)) = (found, begins.get_mut(run)) {
            *begin = Some(at);
            limit = limit.min(at);
        }
    }
    begins
}

/// Returns the index of the message before which a run is placed, and whether this position is known. `said` contains
/// the times of the messages, if every message has one.
fn place(
    said: Option<&[i64]>,
    runs: &[Turn],
    named: &[Option<usize>],
    begins: &[Option<usize>],
    run: usize,
) -> (usize, bool) {
    let begun = |run: usize| begins.get(run).copied().flatten();
    if let Some(begin) = begun(run) {
        return (begin + 1, true);
    }
    if let Some(first) = named.iter().position(|of| *of == Some(run)) {
        return (first, true);
    }
    let created = runs.get(run).and_then(|run| run.created_at.as_ref());
    if let (Some(created), Some(said)) = (millis(created), said) {
        let later = said.iter().position(|at| *at > created);
        return (later.unwrap_or(said.len()), true);
    }
    // The run is placed before the message that began a later run, so that runs keep their order.
    let next = (run + 1..runs.len()).find_map(begun);
    (next.unwrap_or(named.len()), named.is_empty())
}

/// Returns the index of the message that answers a recorded question of a run that no longer waits. If the time of the
/// question is known, the answer is the person's first message after this time. Otherwise, the answer is the person's
/// last message in `within`, if the run continued after the question.
fn answer(
    messages: &[Message],
    turn: &Turn,
    named: &[Option<usize>],
    run: usize,
    within: std::ops::Range<usize>,
) -> Option<usize> {
    let mut may_be = within.filter(|at| {
        let is_own = named.get(*at).copied().flatten().is_none_or(|of| of == run);
        let said = messages.get(*at);
        is_own && said.is_some_and(|said| is_user(said) && said.question.is_none())
    });
    let said = |at: usize| millis(messages.get(at).and_then(|said| said.at.as_ref()));
    if let Some(asked) = millis(turn.asked_at().as_ref()) {
        return may_be.find(|at| said(*at).is_some_and(|said| said.saturating_add(SLACK) >= asked));
    }
    let went_on = matches!(
        turn.known_status(),
        Some(TurnStatus::Running | TurnStatus::Completed)
    );
    may_be.next_back().filter(|_| went_on)
}

#[cfg(test)]
mod tests;
