//! Counts each answer once, whatever number of lines and files repeats it.

use std::collections::BTreeMap;

use super::{Answer, Conversation, codex};
use crate::model::TokenUse;

/// Combines the lines of each answer, in all conversations of all files. The answer stays in the conversation that asked
/// for it, with the largest output that any line records.
///
/// Forks, clones and subagents repeat answers of other conversations: an answer that a session and a subagent contain is
/// the session's, and an answer that two sessions contain is the older one's. Conversations that only repeat answers are
/// removed, and their number is returned.
pub fn settle(conversations: &mut Vec<Conversation>) -> usize {
    settle_codex(conversations);
    let mut order: Vec<usize> = (0..conversations.len()).collect();
    order.sort_by_key(|at| {
        conversations.get(*at).map(|of| {
            let began = (of.first.is_none(), of.first);
            (of.agent.is_some(), of.inside_main, began, of.file.clone())
        })
    });
    let mut known = Known::default();
    for at in order {
        let Some(conversation) = conversations.get_mut(at).filter(|of| of.tool != "Codex") else {
            continue;
        };
        for answer in std::mem::take(&mut conversation.answers) {
            known.add(at, &conversation.session, answer);
        }
    }
    for (owner, answer) in known.answers {
        if let Some(owner) = conversations.get_mut(owner) {
            owner.answers.push(answer);
        }
    }
    for conversation in &mut *conversations {
        conversation.answers.sort_by_key(|answer| answer.at);
    }
    let all = conversations.len();
    conversations.retain(|of| !(of.has_counts && of.answers.is_empty()));
    all - conversations.len()
}

/// The answers so far.
#[derive(Default)]
struct Known {
    /// Each answer, and the conversation that asked for it.
    answers: Vec<(usize, Answer)>,
    /// The place of each answer, by its id and request.
    by_request: BTreeMap<(String, String), usize>,
    /// The place of each answer, by its id, session and input. A sidechain may repeat an answer under another request. A
    /// gateway may give all answers the same id and no request, so that only the input tells them apart.
    by_input: BTreeMap<(String, String, TokenUse), usize>,
}

impl Known {
    /// Adds a line of an answer that `owner` contains, unless an earlier conversation contains the answer.
    fn add(&mut self, owner: usize, session: &str, answer: Answer) {
        let request = answer
            .request
            .clone()
            .map(|request| (answer.id.clone(), request));
        let input = (
            answer.id.clone(),
            session.to_owned(),
            answer.tokens.input_only(),
        );
        let input = Some(input).filter(|(id, ..)| !id.is_empty());
        let place = request.as_ref().and_then(|key| self.by_request.get(key));
        let place = place
            .or_else(|| self.by_input.get(input.as_ref()?))
            .copied();
        let place = place.unwrap_or(self.answers.len());
        self.by_request.extend(request.map(|key| (key, place)));
        self.by_input.extend(input.map(|key| (key, place)));
        match self.answers.get_mut(place) {
            Some((_, of)) if answer.tokens.output >= of.tokens.output => {
                of.tokens = answer.tokens;
                of.usd = answer.usd.or(of.usd);
            }
            Some(_) => {}
            None => self.answers.push((owner, answer)),
        }
    }
}

/// Makes the answers of Codex from its running totals.
fn settle_codex(conversations: &mut [Conversation]) {
    let parents: BTreeMap<&str, _> = conversations
        .iter()
        .filter(|of| !of.totals.is_empty())
        .map(|of| (&*of.session, of.totals.clone()))
        .collect();
    let parents: Vec<Option<Vec<_>>> = conversations
        .iter()
        .map(|of| parents.get(of.parent.as_deref()?).cloned())
        .collect();
    for (conversation, parent) in conversations.iter_mut().zip(parents) {
        codex::settle(conversation, parent.as_deref());
    }
}
