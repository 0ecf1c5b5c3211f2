//! Lists the questions to people at which a run waits.

use super::index::short;
use super::trace::node_ref;
use crate::model::RunStatus;
use crate::pages::session::Opened;
use crate::pages::view::QuestionView;
use crate::program::StatementKind;
use crate::trace::NodeStatus;

/// The largest number of questions, and of characters of each.
const LISTED: usize = 50;
const QUESTION: usize = 4_000;

/// Returns the mid-program inputs that wait for an answer, in order of the trace.
pub fn questions(opened: &Opened) -> Vec<QuestionView> {
    let listing = opened.listing();
    let is_over = |word: &str| RunStatus::parse(word).is_finished();
    if is_over(opened.trace.verdict.word()) {
        return Vec::new();
    }
    let positions = opened.trace.positions.iter();
    let waiting = positions.filter_map(|at| {
        let node = opened.node(*at)?;
        let statement = node.sure_index(listing)?;
        let own = listing?.get(statement)?;
        let asks = own.kind == StatementKind::Input && node.status == NodeStatus::Waiting;
        asks.then(|| QuestionView {
            run: opened.run.id.to_string(),
            input: own.name.clone().unwrap_or_default(),
            question: listing
                .and_then(|listing| listing.question(statement))
                .map(|question| short(&question, QUESTION)),
            node: node_ref(opened, *at),
        })
    });
    waiting.take(LISTED).collect()
}
