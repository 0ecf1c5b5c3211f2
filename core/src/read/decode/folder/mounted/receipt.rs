//! Reads receipts, verifies their hashes and chains, and puts them into the order of their causes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{MOST, REACTOR};
use crate::model::issue::{Issue, Issues};
use crate::model::{FolderForm, ReportedCost, Status, Text, words};
use crate::read::decode::folder::tree::RunTree;
use crate::read::decode::jsonl::{text, with_text};
use crate::read::decode::receipts::{broken_chain, without_its_hash};

/// Maximum number of receipts that are read.
const MOST_RECEIPTS: usize = 200_000;

/// A receipt of one wake of a node.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Receipt {
    pub(super) node: Text,
    pub(super) status: Status,
    /// Why the node woke: `input`, `self` or `external`.
    pub(super) wake: Option<Text>,
    /// Why the node failed.
    pub(super) reason: Option<Text>,
    /// The facets whose fingerprint is another than in the node's receipt before.
    pub(super) moved: Vec<Text>,
    /// The tokens that the receipt reports; `None` if none, or if no model ran.
    pub(super) cost: Option<ReportedCost>,
    hash: Option<Text>,
    /// The hashes of the receipts that caused this one.
    refs: Vec<Text>,
    fingerprints: BTreeMap<String, Text>,
}

/// Reads all receipts of a folder, in order of cause, and whether none of them is damaged.
pub(super) fn of_folder(tree: &mut RunTree<'_>, form: FolderForm) -> (Vec<Receipt>, bool) {
    let mut ledger = Ledger::default();
    let mut is_sound = true;
    for path in ledgers(tree).filter(|_| form != FolderForm::Reactor) {
        let Some(text) = tree.get(path).and_then(|file| tree.text(file, MOST)) else {
            continue;
        };
        let read = with_text(&text, |number, line, object| {
            ledger.add(number, line, &object).map_err(str::to_owned)
        });
        let mut issues = read.issues;
        issues.extend(std::mem::take(&mut ledger.issues).finish());
        is_sound &= issues.is_empty();
        tree.issues_of(path, issues);
    }
    if ledger.receipts.is_empty()
        && let Some(text) = tree.get(REACTOR).and_then(|file| tree.text(file, MOST))
    {
        ledger.list(&text);
        let issues = std::mem::take(&mut ledger.issues).finish();
        is_sound &= issues.is_empty() || form == FolderForm::Reactor;
        tree.issues_of(REACTOR, issues);
        // The list is in the order of writing.
        if form == FolderForm::Reactor {
            return (ledger.receipts, is_sound);
        }
    }
    // Each failure of a node replaces the file, so only the last one is known.
    let mut reasons = reasons(tree);
    let failed = ledger.receipts.iter_mut().rev();
    for receipt in failed.filter(|receipt| receipt.status == Status::Failed) {
        let written = reasons.remove(&receipt.node);
        receipt.reason = receipt.reason.take().or(written);
    }
    (in_order_of_cause(ledger.receipts), is_sound)
}

/// Returns the paths of a run's files with a receipt in each line: `receipts/{node}.jsonl`, or, since the place is left to
/// the program that runs it, `state/…/receipts.jsonl`.
pub(super) fn ledgers<'a>(tree: &RunTree<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let files = tree.under("receipts/").chain(tree.under("state/"));
    let paths = files.filter_map(|place| Some(tree.relative(tree.at(place)?)));
    let paths = paths.filter(|path| match path.starts_with("state/") {
        true => path.ends_with("/receipts.jsonl"),
        false => path.ends_with(".jsonl"),
    });
    paths.collect::<Vec<_>>().into_iter()
}

/// Reads the rows of a table of receipts, in the order of writing, with the issues found.
pub(super) fn of_rows(
    rows: impl Iterator<Item = Map<String, Value>>,
) -> (Vec<Receipt>, Vec<Issue>) {
    let mut ledger = Ledger::default();
    for (number, object) in (1..).zip(rows) {
        if let Err(why) = ledger.add(number, "", &object) {
            let issue = Issue::warning("malformed-json", format!("row {number}: {why}"));
            ledger
                .issues
                .add(issue.hint("The other receipts are read."));
        }
    }
    let issues = ledger.issues.finish();
    (ledger.receipts, issues)
}

/// The receipts read so far.
#[derive(Default)]
struct Ledger {
    receipts: Vec<Receipt>,
    issues: Issues,
    /// The place of each node's last receipt.
    last: BTreeMap<Text, usize>,
}

impl Ledger {
    /// Reads a JSON list of receipts.
    fn list(&mut self, text: &str) {
        let list: Vec<&serde_json::value::RawValue> = match serde_json::from_str(text) {
            Ok(list) => list,
            Err(error) => {
                let message = format!("the receipts are not readable: {error}");
                let issue = Issue::error("malformed-json", message);
                self.issues
                    .add(issue.hint("Without the receipts, only the published values are shown."));
                return;
            }
        };
        for (number, line) in (1..).zip(list) {
            let added = match serde_json::from_str(line.get()) {
                Ok(object) => self.add(number, line.get(), &object),
                Err(_) => Err("a receipt is not an object"),
            };
            if let Err(why) = added {
                let issue = Issue::warning("malformed-json", format!("entry {number}: {why}"));
                self.issues.add(issue.hint("The other receipts are read."));
            }
        }
    }

    fn add(
        &mut self,
        number: i64,
        line: &str,
        object: &Map<String, Value>,
    ) -> Result<(), &'static str> {
        if self.receipts.len() >= MOST_RECEIPTS {
            return Err("the folder has too many receipts; this one is not read");
        }
        let get = |key: &str| object.get(key).and_then(text);
        let node = get("node")
            .filter(|node| !node.is_empty())
            .ok_or("the receipt names no node")?;
        let word = get("status").ok_or("the receipt has no status")?;
        let hash = get("content_hash");
        let which = format!("a receipt of {node}");
        if let Some(issue) = without_its_hash(number, &which, line, object) {
            self.issues.add(issue);
        }
        let before = self.last.get(&node).and_then(|at| self.receipts.get(*at));
        let expected = before.map(|before| before.hash.as_deref());
        let prev = get("prev");
        let fits = match expected {
            // A receipt that a model wrote may lack its hash, so the next one proves nothing.
            Some(None) => true,
            Some(hash) => prev.as_deref() == hash,
            None => prev.is_none(),
        };
        if !fits {
            self.issues.add(broken_chain(
                number,
                &which,
                prev.as_deref(),
                expected.flatten(),
            ));
        }
        let fingerprints: BTreeMap<String, Text> = object
            .get("fingerprints")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .filter_map(|(facet, value)| Some((facet.clone(), text(value)?)))
            .collect();
        let old = before.map(|before| &before.fingerprints);
        let moved = fingerprints
            .iter()
            .filter(|(facet, value)| old.is_none_or(|old| old.get(*facet) != Some(value)));
        let moved = moved.map(|(facet, _)| facet.as_str().into()).collect();
        let inside = |outer: &str, key: &str| object.get(outer)?.get(key).and_then(text);
        let refs = object
            .get("wake")
            .and_then(|wake| wake.get("refs"))
            .and_then(Value::as_array);
        let receipt = Receipt {
            status: match &*word {
                "skipped" => Status::Unchanged,
                word => words::status(word).unwrap_or_else(|| Status::Other(word.into())),
            },
            wake: inside("wake", "source"),
            reason: inside("semantic_diff", "failure_reason"),
            moved,
            cost: object.get("cost").and_then(cost),
            hash,
            refs: refs.into_iter().flatten().filter_map(text).collect(),
            fingerprints,
            node: node.clone(),
        };
        self.last.insert(node, self.receipts.len());
        self.receipts.push(receipt);
        Ok(())
    }
}

/// Returns the tokens of a receipt; `None` if no model ran.
fn cost(of: &Value) -> Option<ReportedCost> {
    let word = |key: &str| of.get(key).and_then(text).unwrap_or_default();
    let tokens = |key: &str| of.get("tokens")?.get(key)?.as_u64();
    let (fresh, reused) = (tokens("fresh")?, tokens("reused").unwrap_or(0));
    (fresh > 0 || reused > 0).then(|| ReportedCost {
        execution: 0,
        provider: word("provider"),
        model: word("model"),
        fresh,
        reused,
    })
}

/// Returns the reasons in the files `workspace/{node}/__error.md`, by node.
pub(super) fn reasons(tree: &mut RunTree<'_>) -> BTreeMap<Text, Text> {
    const MOST_REASON: usize = 16 << 10;
    const MOST_REASONS: usize = 1_000;
    let mut reasons = BTreeMap::new();
    for place in tree.under("workspace/") {
        let Some(file) = tree.at(place) else { continue };
        let path = tree.relative(file);
        let node = path
            .strip_prefix("workspace/")
            .and_then(|path| path.strip_suffix("/__error.md"));
        let Some(node) = node.filter(|_| reasons.len() < MOST_REASONS) else {
            continue;
        };
        let Some(said) = tree.text(file, MOST_REASON) else {
            continue;
        };
        let lines = said
            .lines()
            .filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        let said: Vec<&str> = lines.collect();
        reasons.insert(Text::from(node), Text::from(said.join("\n").as_str()));
    }
    reasons
}

/// Puts receipts into an order in which each comes after its causes and after its node's earlier receipts. Of several
/// that may come next, the first in the order of the files comes first.
fn in_order_of_cause(receipts: Vec<Receipt>) -> Vec<Receipt> {
    let by_hash: BTreeMap<&str, usize> = receipts
        .iter()
        .enumerate()
        .filter_map(|(at, receipt)| Some((receipt.hash.as_deref()?, at)))
        .collect();
    let mut follows: Vec<Vec<usize>> = vec![Vec::new(); receipts.len()];
    let mut waits = vec![0_usize; receipts.len()];
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, receipt) in receipts.iter().enumerate() {
        let own = last.insert(&receipt.node, at);
        let causes = receipt
            .refs
            .iter()
            .filter_map(|hash| by_hash.get(&**hash).copied());
        let before: BTreeSet<usize> = causes.chain(own).filter(|cause| *cause != at).collect();
        for cause in before {
            if let (Some(list), Some(count)) = (follows.get_mut(cause), waits.get_mut(at)) {
                list.push(at);
                *count += 1;
            }
        }
    }
    let mut ready: BTreeSet<usize> = (0..receipts.len())
        .filter(|at| waits.get(*at) == Some(&0))
        .collect();
    let mut order = Vec::with_capacity(receipts.len());
    while let Some(at) = ready.pop_first() {
        order.push(at);
        for next in follows.get(at).into_iter().flatten() {
            if let Some(count) = waits.get_mut(*next) {
                *count -= 1;
                if *count == 0 {
                    ready.insert(*next);
                }
            }
        }
    }
    // Receipts that cause each other in a circle keep the order of their files.
    let placed: BTreeSet<usize> = order.iter().copied().collect();
    order.extend((0..receipts.len()).filter(|at| !placed.contains(at)));
    let mut receipts: Vec<Option<Receipt>> = receipts.into_iter().map(Some).collect();
    order
        .into_iter()
        .filter_map(|at| receipts.get_mut(at)?.take())
        .collect()
}
