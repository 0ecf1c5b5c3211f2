//! What happened in a run: nodes with the nodes that they read, and the wakes of the nodes in order.

use std::collections::BTreeMap;

/// The delegate that nodes ask.
const HELPER: &str = "reviewer";

/// A run, from which every folder is written.
#[derive(Debug, Clone)]
pub(crate) struct Story {
    pub(crate) nodes: Vec<Node>,
    /// Whether a connector brings data in, which is not a node of the topology.
    pub(crate) is_fed: bool,
    /// The caller's inputs: names and values.
    pub(crate) inputs: Vec<(&'static str, &'static str)>,
    pub(crate) wakes: Vec<Wake>,
    /// The node whose wake has not ended, because its delegate has not answered.
    pub(crate) open: Option<usize>,
    pub(crate) end: End,
    /// Whether the receipts contain their hashes; receipts that a model writes may lack them.
    pub(crate) has_hashes: bool,
    /// Whether the log groups independent wakes as parallel.
    pub(crate) has_groups: bool,
    /// Whether the log, which only tells of the receipts, leaves out failures.
    pub(crate) omits_failures: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) name: &'static str,
    /// The nodes that it reads, which stand before it.
    pub(crate) reads: Vec<usize>,
    /// A facet of its truth besides the whole; empty without one.
    pub(crate) facet: &'static str,
}

#[derive(Debug, Clone)]
pub(crate) struct Wake {
    pub(crate) node: usize,
    pub(crate) source: &'static str,
    pub(crate) outcome: Outcome,
    pub(crate) fresh: u64,
    pub(crate) reused: u64,
    pub(crate) model: &'static str,
    /// Whether the node asked a delegate, which answered.
    pub(crate) asked: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// The node's truth is now this text.
    Rendered(String),
    Skipped,
    /// The reason, and whether the receipt contains it; the file of errors always does.
    Failed(&'static str, bool),
}

/// How the log ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum End {
    Ended,
    Error,
    Open,
    NoLog,
}

/// What a reader knows of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Told {
    /// `completed`, `failed`, or `neither`.
    pub(crate) status: String,
    /// The status of each node.
    pub(crate) nodes: BTreeMap<String, String>,
    /// The reason of each node whose last receipt is a failure.
    pub(crate) reasons: BTreeMap<String, String>,
    /// The kind and text of each value, and whether it is from before a failure.
    pub(crate) values: BTreeMap<String, (String, String, bool)>,
    /// The fresh and the reused tokens of each node that used a model.
    pub(crate) tokens: BTreeMap<String, (u64, u64)>,
    /// The same of each model.
    pub(crate) models: BTreeMap<String, (u64, u64)>,
    /// The rules of issues.
    pub(crate) issues: Vec<String>,
}

impl Story {
    /// Returns the last wake of a node.
    pub(crate) fn last(&self, node: usize) -> Option<&Wake> {
        self.wakes.iter().rev().find(|wake| wake.node == node)
    }

    /// Returns the truth that a node published last.
    pub(crate) fn truth(&self, node: usize) -> Option<&str> {
        let own = self.wakes.iter().rev().filter(|wake| wake.node == node);
        own.into_iter().find_map(|wake| match &wake.outcome {
            Outcome::Rendered(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns the delegate that nodes ask.
    pub(crate) fn helper(&self) -> &'static str {
        HELPER
    }

    /// Returns the name of a node's value, without the node.
    pub(crate) fn value_of(&self, node: usize) -> String {
        match self.nodes[node].facet {
            "" => "digest".to_owned(),
            facet => format!("{facet}/digest"),
        }
    }

    pub(crate) fn has_failed(&self, node: usize) -> bool {
        let last = self.last(node).map(|wake| &wake.outcome);
        matches!(last, Some(Outcome::Failed(..)))
    }

    /// Returns the reasons of each node's failures. Without a reason in the receipt, only that of the last failure is
    /// known, from the file that each failure replaces.
    pub(crate) fn failures(&self) -> BTreeMap<String, Vec<Option<String>>> {
        let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for wake in self.wakes.iter().rev() {
            let Outcome::Failed(why, is_in_receipt) = wake.outcome else {
                continue;
            };
            let name = self.nodes[wake.node].name.to_owned();
            let of_node = all.entry(name).or_default();
            let is_known = is_in_receipt || of_node.is_empty();
            of_node.insert(0, is_known.then(|| why.to_owned()));
        }
        all
    }

    /// Returns what a reader of contract 2 must know. A reader of contract 1 knows less.
    pub(crate) fn told(&self) -> Told {
        let all = 0..self.nodes.len();
        let mut told = Told {
            status: match self.end {
                _ if all.clone().any(|at| self.has_failed(at)) => "failed",
                End::Ended if all.clone().all(|at| self.last(at).is_some()) => "completed",
                End::Error => "failed",
                _ => "neither",
            }
            .to_owned(),
            ..Told::default()
        };
        for at in all {
            let name = self.nodes[at].name.to_owned();
            let word = match self.last(at).map(|wake| &wake.outcome) {
                None => "not reached",
                Some(Outcome::Rendered(_)) => "completed",
                Some(Outcome::Skipped) => "unchanged",
                Some(Outcome::Failed(why, _)) => {
                    told.reasons.insert(name.clone(), (*why).to_owned());
                    "failed"
                }
            };
            told.nodes.insert(name.clone(), word.to_owned());
            if let Some(text) = self.truth(at) {
                let value = ("output".to_owned(), text.to_owned(), self.has_failed(at));
                told.values
                    .insert(format!("{name}/{}", self.value_of(at)), value);
            }
        }
        for (name, text) in &self.inputs {
            let value = ("input".to_owned(), (*text).to_owned(), false);
            told.values.insert((*name).to_owned(), value);
        }
        for wake in &self.wakes {
            if wake.fresh + wake.reused > 0 {
                let name = self.nodes[wake.node].name.to_owned();
                let of_node = told.tokens.entry(name).or_default();
                let of_model = told.models.entry(wake.model.to_owned()).or_default();
                for sum in [of_node, of_model] {
                    sum.0 += wake.fresh;
                    sum.1 += wake.reused;
                }
            }
        }
        told
    }
}
