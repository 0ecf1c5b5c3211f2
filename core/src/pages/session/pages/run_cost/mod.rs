//! Tells what each statement of a run cost: as transcripts of the models record it, and as the run reports it.
//!
//! | file | answers |
//! |---|---|
//! | `statements.rs` | which statements may have asked a model, when they ran, and by which names a prompt may call them |
//! | `join.rs` | to which statement does a conversation belong, and why |

mod join;
mod statements;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use self::join::{is_named, join};
use self::statements::{Ran, statements};
use super::cost;
use crate::model::TokenUse;
use crate::pages::session::Session;
use crate::pages::view::{RunCost, TranscriptCost, TranscriptsRead};
use crate::read::transcript::{Answer, Conversation, settle};

const REPORTED: &str =
    "Reported: the run's receipts claim these tokens. A model may have written the receipts.";

const TO_MEASURE: &str = " To count them, give the folder of the transcripts: --transcripts ~/.claude/projects or ~/.codex/sessions.";

/// Tells what a run cost. Money is what records contain; no price table is used (contract 2, section 13).
///
/// `read` tells from where the conversations are; `None` if no transcripts were given.
pub fn run_cost(
    session: &Session,
    read: Option<TranscriptsRead>,
    conversations: Vec<Conversation>,
) -> RunCost {
    let run = session.run();
    let price = run.facts.iter().find(|(key, _)| &**key == "price_cents");
    let mut view = RunCost {
        run: run.id.to_string(),
        program: run.program.path.as_ref().map(ToString::to_string),
        reported: cost::cost(run),
        price_cents: price.and_then(|(_, value)| value.trim().parse().ok()),
        transcripts: read,
        ..RunCost::default()
    };
    let mut ran = statements(session);
    measure(session, &mut ran, conversations, &mut view);
    view.statements = ran.statements.into_iter().map(|of| of.cost).collect();
    let is_measured = view.statements.iter().any(|of| !of.tokens.is_empty());
    let (source, note) = match &view.reported {
        _ if is_measured => (
            "measured",
            "Measured: counted from transcripts, each answer once.",
        ),
        Some(_) => ("reported", REPORTED),
        None => ("unknown", "Unknown: the run records no tokens."),
    };
    let next = match &view.transcripts {
        _ if is_measured => "",
        Some(_) => " No transcript with tokens in the folder belongs to a statement.",
        None => TO_MEASURE,
    };
    (view.source, view.note) = (source.to_owned(), note.to_owned() + next);
    view
}

/// Joins the conversations with the statements, and adds up their tokens.
fn measure(session: &Session, ran: &mut Ran, mut all: Vec<Conversation>, view: &mut RunCost) {
    settle(&mut all);
    all.retain(|of| ran.is_of_time(of));
    let naming = all.iter().filter(|of| of.names_run);
    let naming: BTreeSet<String> = naming.map(|of| of.session.clone()).collect();
    all.sort_by_cached_key(|of| (!is_named(of, &naming), of.file.clone(), of.agent.clone()));
    for (of, joined) in all.iter().zip(join(session, ran, &all, &naming)) {
        let is_own = |of: &&Answer| joined.is_ok() || ran.has(of.at);
        let own = of.answers.iter().filter(is_own);
        let mut tokens = BTreeMap::new();
        add(&mut tokens, own.map(|of| (&of.model, &of.tokens)));
        if joined.is_ok() || is_named(of, &naming) {
            add(&mut view.by_model, &tokens);
            let prices = view.total_cost_usd.into_iter().chain(of.usd);
            view.total_cost_usd = prices.reduce(|a, b| a + b);
        }
        // All answers are those of another time, or of other conversations.
        if of.has_counts && tokens.is_empty() {
            continue;
        }
        let mut own = TranscriptCost {
            file: of.file.clone(),
            agent: of.agent.clone(),
            tokens,
            ..TranscriptCost::default()
        };
        let statement = joined.and_then(|(at, by, named)| {
            (own.by, own.why) = (Some(by.to_owned()), named);
            ran.statements.get_mut(at).ok_or_else(String::new)
        });
        match statement {
            Ok(of) => {
                add(&mut of.cost.tokens, &own.tokens);
                of.cost.transcripts.push(own);
            }
            Err(why) => view.not_joined.push(TranscriptCost { why, ..own }),
        }
    }
}

/// Adds the tokens of models to others.
fn add<'t>(
    to: &mut BTreeMap<String, TokenUse>,
    of: impl IntoIterator<Item = (&'t String, &'t TokenUse)>,
) {
    for (model, tokens) in of {
        to.entry(model.clone()).or_default().add(tokens);
    }
}
