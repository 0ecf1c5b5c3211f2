//! Tests that the reader tells the story from which a folder was written.

use proptest::prelude::*;
use prosescope_core::pages::session::pages;
use prosescope_test_support::chance::cases;

use crate::hashes::FEED;
use crate::stories::stories;
use crate::story::{End, Outcome, Story, Told};
use crate::told::{failures, opened, told};
use crate::{contract1, contract2, database, reactor};

proptest! {
    #![proptest_config(cases(150, 43))]

    #[test]
    fn a_run_of_contract_2_is_told_as_it_happened(story in stories()) {
        let session = opened(&contract2::folder(&story));
        let mut read = told(&session);
        let fed = read.nodes.remove(FEED);
        prop_assert_eq!(fed.as_deref(), story.is_fed.then_some("completed"));
        let mut told = story.told();
        told.issues.extend(waits(&story));
        prop_assert_eq!(&read, &told);
        prop_assert_eq!(failures(&session), story.failures());
        let view = pages::overview(&session, None);
        for (node, word) in &read.nodes {
            let is_left = matches!(&**word, "failed" | "not reached");
            prop_assert!(!is_left || view.left.contains(node.as_str()), "{node}: {}", view.left);
        }
        if let (true, Some(failure)) = (!read.reasons.is_empty(), view.failure) {
            prop_assert_eq!(failure.error.as_ref(), read.reasons.get(&failure.cause.text));
        }
    }

    #[test]
    fn a_database_of_contract_2_is_told_as_it_happened(story in stories()) {
        let session = opened(&database::folder(&story));
        let mut read = told(&session);
        let fed = read.nodes.remove(FEED);
        prop_assert_eq!(fed.as_deref(), story.is_fed.then_some("completed"));
        let mut told = story.told();
        told.issues.extend(waits(&story));
        // The table of values does not say which value is from before a failure.
        let values = std::mem::take(&mut told.values).into_iter();
        let named = values.map(|(name, (kind, text, _))| (database::name(&name), (kind, text, false)));
        told.values = named.collect();
        prop_assert_eq!(&read, &told);
    }

    #[test]
    fn a_reactor_is_told_as_it_happened(mut story in stories()) {
        for wake in &mut story.wakes {
            if let Outcome::Failed(_, is_in_receipt) = &mut wake.outcome {
                *is_in_receipt = true;
            }
        }
        let session = opened(&reactor::folder(&story));
        let mut read = told(&session);
        let fed = read.nodes.remove(FEED);
        prop_assert_eq!(fed.as_deref(), story.is_fed.then_some("completed"));
        let mut told = story.told();
        // A reactor has no end, and no inputs of a caller.
        told.status = "neither".to_owned();
        told.values.retain(|_, (kind, ..)| kind != "input");
        prop_assert_eq!(&read, &told);
        let order = session.run().executions.iter().filter(|row| row.status.word() != "retry");
        let order: Vec<&str> = order.map(|row| &*row.text).collect();
        let fed = story.is_fed.then_some(FEED).into_iter();
        let wakes = story.wakes.iter().map(|wake| story.nodes[wake.node].name);
        prop_assert_eq!(order, fed.chain(wakes).collect::<Vec<_>>());
        let failed = read.nodes.values().filter(|word| *word == "failed").count();
        let headline = pages::overview(&session, None).headline;
        prop_assert_eq!(headline.contains("failure") && !headline.contains("no node's"), failed > 0, "{}", headline);
    }

    #[test]
    fn a_run_of_contract_1_is_told_as_far_as_it_records(mut story in stories()) {
        // Only receipts show that a word of the log's notation is the name of a node.
        for node in &mut story.nodes {
            node.name = match node.name {
                "gate" => "gatherer",
                "loop" => "looper",
                name => name,
            };
        }
        let session = opened(&contract1::folder(&story));
        let read = told(&session);
        let told = of_contract1(&story);
        prop_assert_eq!(&read, &told);
    }
}

/// Returns the issue about a request that nobody answered.
fn waits(story: &Story) -> Option<String> {
    let node = story.nodes[story.open?].name;
    let asked = story
        .wakes
        .iter()
        .filter(|wake| Some(wake.node) == story.open && wake.asked);
    let (helper, ask) = (story.helper(), asked.count() + 1);
    Some(format!(
        "delegation-open: {node} waits for an answer of {helper} (d{ask})"
    ))
}

/// Returns what a run of contract 1 records of a story: neither tokens nor skips. Its log is its truth.
fn of_contract1(story: &Story) -> Told {
    let mut told = story.told();
    told.status = match story.end {
        End::Ended => "completed",
        End::Error => "failed",
        _ => "neither",
    }
    .to_owned();
    for word in told.nodes.values_mut() {
        *word = word.replace("unchanged", "completed");
    }
    // Whether a log without an end goes on is not known.
    if let Some(open) = story.open {
        let name = story.nodes[open].name;
        told.nodes.insert(name.to_owned(), "unknown".to_owned());
        told.reasons.remove(name);
    }
    let values = std::mem::take(&mut told.values).into_iter();
    let named = values.map(|(name, (kind, text, _))| match &*kind {
        "input" => (format!("caller/{name}"), (kind, text, false)),
        _ => (name, (kind, text, false)),
    });
    told.values = named.collect();
    // The log also has lines of inputs and of the delegate.
    let inputs = story.inputs.iter().map(|(name, _)| *name);
    let asked = story.wakes.iter().any(|wake| wake.asked);
    for name in inputs.chain(asked.then_some(story.helper())) {
        let known = told.nodes.entry(name.to_owned());
        known.or_insert_with(|| "completed".to_owned());
    }
    let names = story.nodes.iter().map(|node| node.name);
    let ahead = names.filter(|name| {
        told.nodes
            .get(*name)
            .is_some_and(|word| word == "not reached")
    });
    let ahead: Vec<&str> = ahead.collect();
    let is_left = told.status == "completed" && !ahead.is_empty();
    told.issues = is_left
        .then(|| {
            let ahead = ahead.join(", ");
            format!("node-not-recorded: the log says that the run ended, but nothing records the nodes {ahead}")
        })
        .into_iter()
        .collect();
    told.tokens.clear();
    told.models.clear();
    told
}
