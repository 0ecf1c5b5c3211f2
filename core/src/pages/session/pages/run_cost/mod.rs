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

use self::join::{Joined, is_named, join};
use self::statements::{Ran, statements};
use super::cost;
use crate::model::TokenUse;
use crate::pages::session::Session;
use crate::pages::view::{
    JoinedTranscript, ModelCost, RecordedPrice, RunCost, TranscriptCost, TranscriptsRead,
};
use crate::read::transcript::{Answer, Conversation, TranscriptFile, settle};

/// The content of a folder of transcripts.
#[derive(Debug, Clone, Default)]
pub struct Transcripts {
    /// What was read. [`run_cost`] sets the counts of conversations.
    pub read: TranscriptsRead,
    conversations: Vec<Conversation>,
    prices: Vec<RecordedPrice>,
}

impl Transcripts {
    /// Adds the content of a file.
    pub fn add(&mut self, path: &str, file: TranscriptFile) {
        self.read.files += 1;
        self.read.foreign += u32::from(file.conversations.is_empty());
        self.read.unreadable_lines += file.unreadable;
        self.conversations.extend(file.conversations);
        self.prices.extend(file.usd.iter().map(|usd| RecordedPrice {
            from: path.to_owned(),
            field: "total_cost_usd".to_owned(),
            amount: *usd,
        }));
    }
}

/// Tells what a run cost. Money is what records contain; no price table is used (contract 2, section 13).
pub fn run_cost(session: &Session, transcripts: Option<Transcripts>) -> RunCost {
    let run = session.run();
    let reported = cost::cost(run);
    let price = run.facts.iter().find(|(key, _)| &**key == "price_cents");
    let price = price.and_then(|(_, value)| value.trim().parse().ok());
    let mut view = RunCost {
        run: run.id.to_string(),
        program: run.program.path.as_ref().map(ToString::to_string),
        source: if reported.is_some() {
            "reported"
        } else {
            "unknown"
        }
        .to_owned(),
        reported,
        money: price
            .map(|amount| RecordedPrice {
                from: "the run".to_owned(),
                field: "price_cents".to_owned(),
                amount,
            })
            .into_iter()
            .collect(),
        ..RunCost::default()
    };
    let mut ran = statements(session);
    if let Some(transcripts) = transcripts {
        measure(session, &mut ran, transcripts, &mut view);
    }
    view.statements = ran.statements.into_iter().map(|of| of.cost).collect();
    let is_measured = view.statements.iter().any(|of| of.tokens.is_some());
    if is_measured {
        view.source = "measured".to_owned();
    }
    view.note = note(&view);
    view
}

/// Returns the sentence that says where the numbers are from.
fn note(view: &RunCost) -> String {
    let folder = view.transcripts.as_ref().map(|read| &read.folder);
    match (&*view.source, folder) {
        ("measured", _) => "Measured: counted from transcripts, each answer once.".to_owned(),
        ("reported", Some(folder)) => {
            format!("Reported: the run's receipts claim these tokens. No transcript in {folder} belongs to a statement.")
        }
        ("reported", None) => {
            "Reported: the run's receipts claim these tokens. A model may have written the receipts. To measure, give --transcripts.".to_owned()
        }
        (_, Some(folder)) => {
            format!("Unknown: the run records no tokens, and no transcript with tokens in {folder} belongs to a statement.")
        }
        (_, None) => {
            "Unknown: the run records no tokens. To count them, give the folder of the transcripts: --transcripts ~/.claude/projects or ~/.codex/sessions.".to_owned()
        }
    }
}

/// Joins the conversations with the statements, and adds up their tokens.
fn measure(session: &Session, ran: &mut Ran, transcripts: Transcripts, view: &mut RunCost) {
    let Transcripts {
        mut read,
        mut conversations,
        prices,
    } = transcripts;
    read.copies = settle(&mut conversations) as u32;
    let before = conversations.len();
    conversations.retain(|of| ran.is_of_time(of));
    read.other_time = (before - conversations.len()) as u32;
    conversations.sort_by(|a, b| (&a.file, &a.agent).cmp(&(&b.file, &b.agent)));
    let naming = conversations.iter().filter(|of| of.names_run);
    let naming: BTreeSet<String> = naming.map(|of| of.session.clone()).collect();
    let joined = join(session, ran, &conversations, &naming);
    let mut models: BTreeMap<(bool, String), TokenUse> = BTreeMap::new();
    let mut files = BTreeSet::new();
    for (of, joined) in conversations.iter().zip(joined) {
        let is_joined = matches!(joined, Joined::To { .. });
        let is_own = |answer: &&Answer| is_joined || ran.has(answer.at);
        let own: Vec<&Answer> = of.answers.iter().filter(is_own).collect();
        let is_of_run = is_joined || is_named(of, &naming);
        let mut tokens = TokenUse::default();
        for answer in &own {
            tokens.add(&answer.tokens);
            if is_of_run {
                let key = (!is_joined, answer.model.clone());
                models.entry(key).or_default().add(&answer.tokens);
            }
        }
        files.extend(is_of_run.then_some(&*of.file));
        let names: BTreeSet<String> = own.iter().map(|answer| answer.model.clone()).collect();
        let usd: Vec<f64> = own.iter().filter_map(|answer| answer.usd).collect();
        if is_of_run && !usd.is_empty() {
            view.money.push(RecordedPrice {
                from: of.file.clone(),
                field: "costUSD".to_owned(),
                amount: usd.iter().sum(),
            });
        }
        match joined {
            Joined::To {
                statement,
                by,
                named,
            } => {
                let Some(statement) = ran.statements.get_mut(statement) else {
                    continue;
                };
                let cost = &mut statement.cost;
                if of.has_counts {
                    cost.tokens.get_or_insert_default().add(&tokens);
                } else {
                    cost.without_tokens += 1;
                }
                let all = cost.models.drain(..).chain(names).collect::<BTreeSet<_>>();
                cost.models = all.into_iter().collect();
                cost.transcripts.push(JoinedTranscript {
                    file: of.file.clone(),
                    agent: of.agent.clone(),
                    by: by.to_owned(),
                    named,
                });
            }
            Joined::Not { why } => view.not_joined.push(TranscriptCost {
                file: of.file.clone(),
                agent: of.agent.clone(),
                why,
                names_run: is_named(of, &naming),
                models: names.into_iter().collect(),
                tokens: of.has_counts.then_some(tokens),
                outside: (of.answers.len() - own.len()) as u32,
            }),
        }
    }
    let prices = prices.into_iter();
    view.money
        .extend(prices.filter(|price| files.contains(&*price.from)));
    view.by_model = models
        .into_iter()
        .map(|((not_joined, model), tokens)| ModelCost {
            model,
            joined: !not_joined,
            tokens,
        })
        .collect();
    view.not_joined.sort_by_key(|of| !of.names_run);
    view.transcripts = Some(read);
}
