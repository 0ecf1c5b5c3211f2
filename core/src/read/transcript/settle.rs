//! Counts each answer once, whatever number of lines and files repeats it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Answer, Conversation};
use crate::model::TokenUse;

/// Combines the lines of each answer, in all conversations of all files. The answer stays in the conversation that asked
/// for it, with the largest output that any line records.
///
/// Forks, clones and subagents repeat answers of other conversations: an answer that a session and a subagent contain is
/// the session's, and an answer that two sessions contain is the older one's. Conversations that only repeat answers are
/// removed, unless they record a price.
pub fn settle(conversations: &mut Vec<Conversation>) {
    leave_out_replays(conversations);
    conversations.sort_by_cached_key(|of| {
        let began = (of.first.is_none(), of.first);
        (of.agent.is_some(), began, of.file.clone())
    });
    let mut answers: Vec<(usize, Answer)> = Vec::new();
    // The place of each answer, by its id and request, and by its id, session and input. A sidechain may repeat an answer
    // under another request. A gateway may give all answers the same id and no request, so that only the input tells
    // them apart.
    let mut known: BTreeMap<(bool, String, String, TokenUse), usize> = BTreeMap::new();
    for (owner, of) in conversations.iter_mut().enumerate() {
        for answer in std::mem::take(&mut of.answers) {
            let (id, request) = (answer.id.clone(), answer.request.clone());
            let input = TokenUse {
                output: 0,
                ..answer.tokens
            };
            let keys = [
                (!request.is_empty()).then(|| (true, id.clone(), request, TokenUse::default())),
                (!id.is_empty()).then(|| (false, id, of.session.clone(), input)),
            ];
            let mut places = keys.iter().flatten().filter_map(|key| known.get(key));
            let place = places.next().copied().unwrap_or(answers.len());
            known.extend(keys.into_iter().flatten().map(|key| (key, place)));
            match answers.get_mut(place) {
                None => answers.push((owner, answer)),
                Some((_, of)) if answer.tokens.output < of.tokens.output => {}
                Some((_, of)) => of.tokens = answer.tokens,
            }
        }
    }
    for (owner, answer) in answers {
        if let Some(owner) = conversations.get_mut(owner) {
            owner.answers.push(answer);
        }
    }
    conversations.retain(|of| !of.has_counts || !of.answers.is_empty() || of.usd.is_some());
}

/// Removes the answers with which a rollout of Codex repeats its parent.
fn leave_out_replays(conversations: &mut [Conversation]) {
    let ids = conversations.iter().flat_map(|of| {
        let ids = of.answers.iter().map(|answer| answer.id.clone());
        ids.map(|id| (of.session.clone(), id))
    });
    let all: BTreeSet<(String, String)> = ids.collect();
    for of in conversations.iter_mut().filter(|of| of.parent.is_some()) {
        let (parent, replay) = (of.parent.clone().unwrap_or_default(), of.replay);
        of.answers.retain(|answer| {
            let replayed = answer.at.is_some() && answer.at <= replay;
            !replayed && !all.contains(&(parent.clone(), answer.id.clone()))
        });
    }
}
