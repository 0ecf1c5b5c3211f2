//! Makes random stories.

use proptest::prelude::*;

use crate::story::{End, Node, Outcome, Story, Wake};

/// Names of nodes. Some are alike, some are words of the log's notation, one is not ASCII.
const NAMES: [&str; 7] = [
    "draft-2", "draft-3", "gate", "größe", "loop", "session", "draft",
];
/// Facets. The order of the last two differs between UTF-8 and UTF-16.
const FACETS: [&str; 4] = ["", "headlines", "\u{fb00}", "\u{1f600}"];
const MODELS: [&str; 2] = ["large-1", "small-1"];
const SOURCES: [&str; 3] = ["input", "self", "external"];
const TEXTS: [&str; 5] = [
    "Tides.",
    "# A heading\n\n- one ✓\n---\ntwo\n",
    "status: failed",
    "größer als 3",
    "{\"rows\": [1, 2]}",
];
const REASONS: [&str; 4] = [
    "rate limit",
    "out of budget: 3 of 3 attempts",
    "not completed",
    "größer als \"erlaubt\"",
];
const INPUTS: [&str; 3] = ["topic", "draft", "depth"];

type Raw = (usize, usize, u8, (u64, u64), usize, bool);

/// Stories of up to five nodes and eight wakes.
pub(crate) fn stories() -> impl Strategy<Value = Story> {
    let nodes = prop::collection::vec((0_u32..16, 0..FACETS.len()), 1..=5);
    let wake = (
        0_usize..8,
        0..TEXTS.len(),
        0_u8..8,
        (0_u64..900, 0_u64..900),
        0_usize..12,
        prop::bool::weighted(0.2),
    );
    let inputs = prop::collection::vec(0..TEXTS.len(), 0..=INPUTS.len());
    let end = prop::sample::select(
        &[
            End::Ended,
            End::Ended,
            End::Ended,
            End::Error,
            End::Open,
            End::NoLog,
        ][..],
    );
    let flags = (
        any::<bool>(),
        prop::bool::weighted(0.8),
        any::<bool>(),
        prop::option::weighted(0.3, 0_usize..8),
        0..NAMES.len(),
    );
    (
        nodes,
        prop::collection::vec(wake, 0..=8),
        inputs,
        end,
        flags,
    )
        .prop_map(
            |(nodes, wakes, inputs, end, (is_fed, has_hashes, has_groups, open, first))| {
                let nodes: Vec<Node> = (0..)
                    .zip(nodes)
                    .map(|(at, (reads, facet))| Node {
                        name: NAMES[(at + first) % NAMES.len()],
                        reads: (0..at).filter(|of| reads >> of & 1 == 1).collect(),
                        facet: FACETS[facet],
                    })
                    .collect();
                let is_open = matches!(end, End::Open | End::NoLog);
                Story {
                    wakes: plausible(&nodes, wakes),
                    open: open.filter(|_| is_open).map(|at| at % nodes.len()),
                    inputs: INPUTS
                        .into_iter()
                        .zip(inputs.into_iter().map(|at| TEXTS[at]))
                        .collect(),
                    nodes,
                    is_fed,
                    end,
                    has_hashes,
                    omits_failures: false,
                    has_groups,
                }
            },
        )
}

/// Turns raw numbers into wakes that may happen. The first wakes go through the nodes in order, so that many runs reach
/// all nodes. A node that never rendered, or that failed, has nothing to keep, so it is not skipped.
fn plausible(nodes: &[Node], raw: Vec<Raw>) -> Vec<Wake> {
    let mut can_skip = vec![false; nodes.len()];
    let mut wakes = Vec::new();
    for (at, (node, text, kind, tokens, other, asked)) in raw.into_iter().enumerate() {
        let node = if at < nodes.len() {
            at
        } else {
            node % nodes.len()
        };
        let outcome = match kind {
            0 | 1 => Outcome::Failed(REASONS[other % REASONS.len()], other % 2 == 0),
            2 | 3 if can_skip[node] => Outcome::Skipped,
            _ => Outcome::Rendered(format!("{} {other}", TEXTS[text])),
        };
        can_skip[node] = !matches!(outcome, Outcome::Failed(..));
        let is_skip = outcome == Outcome::Skipped;
        wakes.push(Wake {
            node,
            source: SOURCES[other % SOURCES.len()],
            fresh: if is_skip { 0 } else { tokens.0 },
            reused: if is_skip { 0 } else { tokens.1 },
            model: MODELS[other % MODELS.len()],
            asked: asked && !is_skip,
            outcome,
        });
    }
    wakes
}
