//! Tests that damage is reported, costs little, and never completes a run.

use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::Index;
use prosescope_core::pages::session::pages;
use prosescope_test_support::chance::cases;
use prosescope_test_support::work::{exceeds, spent};

use crate::contract2::Files;
use crate::damage::{Damage, damage, damages, start_of_last_line};
use crate::stories::stories;
use crate::story::{End, Story};
use crate::told::{issues, reopened, told};
use crate::{contract1, contract2, reactor};

/// The most processor time that one folder takes, 25 times as much as was measured.
const TIME: Duration = Duration::from_millis(200);
/// The most bytes of memory for each byte of a folder, twice as much as was measured, and the most besides.
const MEMORY: (u64, u64) = (10, 1 << 16);
/// How often each byte of a folder may be read, and how many more bytes. Each is read once.
const READ: (u64, u64) = (2, 1 << 10);

/// Returns whether the run is completed for sure: not `Probably completed`.
fn is_surely_completed(files: &Files) -> bool {
    reopened(files).0.is_some_and(|session| {
        let view = pages::overview(&session, None);
        view.status == "completed" && !view.headline.starts_with("Probably")
    })
}

fn path_of(files: &Files, file: Index) -> String {
    let paths: Vec<&String> = files.keys().collect();
    file.get(&paths).to_string()
}

/// Reads all facts and the page of what is left; returns the number of bytes that were read.
fn read_all(files: &Files) -> u64 {
    let (session, read) = reopened(files);
    if let Some(session) = &session {
        told(session);
        pages::resume(session, None);
    }
    read.get()
}

/// Returns the rules and messages of the issues about a file.
fn said_of(files: &Files, path: &str) -> Vec<(String, String)> {
    let session = reopened(files).0.expect("the folder opens");
    let about = issues(&session).into_iter().filter(|issue| {
        let file = issue.location.file.as_deref();
        file.is_some_and(|file| file.ends_with(path))
    });
    about.map(|issue| (issue.rule, issue.message)).collect()
}

proptest! {
    #![proptest_config(cases(150, 44))]

    #[test]
    fn no_damage_completes_a_run_or_costs_much(
        story in stories(),
        form in 0..3,
        file in any::<Index>(),
        change in damages(),
    ) {
        let mut files = match form {
            0 => contract1::folder(&story),
            1 => reactor::folder(&story),
            _ => contract2::folder(&story),
        };
        let was_completed = is_surely_completed(&files);
        let path = path_of(&files, file);
        damage(&mut files, &path, &change);
        prop_assert!(was_completed || !is_surely_completed(&files), "{path}");
        read_all(&files);
        // A panic would abort the measurement, so the folder was read before.
        let size: u64 = files.values().map(|bytes| bytes.len() as u64).sum();
        let mut read = 0;
        let (memory, took) =
            spent(|| allocation_counter::measure(|| read = read_all(&files)).bytes_max);
        prop_assert!(!exceeds(took, TIME), "{took:?}");
        prop_assert!(memory < MEMORY.0 * size + MEMORY.1, "{memory} bytes of memory for {size}");
        prop_assert!(read < READ.0 * size + READ.1, "{read} bytes read of {size}");
    }

    #[test]
    fn no_damage_of_the_evidence_completes_a_run(
        mut story in stories(),
        file in any::<Index>(),
        change in damages(),
    ) {
        story.end = End::Ended;
        story.open = None;
        if story.told().status == "completed" {
            return Ok(());
        }
        let mut files = contract2::folder(&story);
        let mut evidence = files.clone();
        evidence.retain(|path, _| !path.contains('/') || path.starts_with("receipts/"));
        let path = path_of(&evidence, file);
        damage(&mut files, &path, &change);
        prop_assert!(!is_surely_completed(&files), "{path}");
    }

    #[test]
    fn a_damaged_failure_that_the_log_omits_completes_nothing(
        mut story in stories(),
        file in any::<Index>(),
        at in any::<Index>(),
    ) {
        story.end = End::Ended;
        story.open = None;
        story.has_hashes = true;
        story.omits_failures = true;
        let failed: Vec<&str> = failed(&story).collect();
        if failed.is_empty() {
            return Ok(());
        }
        let mut files = contract2::folder(&story);
        damage(&mut files, &format!("receipts/{}.jsonl", file.get(&failed)), &Damage::Flip(at));
        prop_assert!(!is_surely_completed(&files));
    }

    #[test]
    fn an_altered_receipt_is_reported(mut story in stories(), file in any::<Index>(), at in any::<Index>(), form in 0..2) {
        story.has_hashes = true;
        let mut files = match form {
            0 => reactor::folder(&story),
            _ => contract2::folder(&story),
        };
        let mut ledgers = files.clone();
        ledgers.retain(|path, _| path.starts_with("receipts"));
        if ledgers.is_empty() {
            return Ok(());
        }
        let path = path_of(&ledgers, file);
        // The ends of lines are not part of a receipt.
        let is_end = *at.get(&files[&path]) == b'\n';
        if is_end {
            return Ok(());
        }
        damage(&mut files, &path, &Damage::Flip(at));
        let said = said_of(&files, &path);
        let rules = ["receipt-altered", "receipt-chain", "malformed-json"];
        prop_assert!(said.iter().any(|(rule, _)| rules.contains(&&**rule)), "{}", String::from_utf8_lossy(&files[&path]));
    }

    #[test]
    fn a_torn_last_receipt_is_torn_and_not_altered(story in stories(), file in any::<Index>(), at in any::<Index>()) {
        let mut files = contract2::folder(&story);
        let mut ledgers = files.clone();
        ledgers.retain(|path, _| path.starts_with("receipts"));
        if ledgers.is_empty() {
            return Ok(());
        }
        let path = path_of(&ledgers, file);
        let bytes = files.get_mut(&path).expect("the file");
        let start = start_of_last_line(bytes);
        // At least the first byte is left, and at least the last bracket and the line's end are gone.
        let torn = start + 1 + at.index(bytes.len() - start - 2);
        bytes.truncate(torn);
        let said = said_of(&files, &path);
        let torn = |message: &str| message.starts_with("the last line is cut off");
        prop_assert!(said.iter().any(|(_, message)| torn(message)), "{said:?}");
        prop_assert!(!said.iter().any(|(rule, _)| rule.starts_with("receipt")), "{said:?}");
    }

    #[test]
    fn a_failure_that_is_taken_away_completes_nothing(story in stories(), is_whole in any::<bool>()) {
        for node in failed(&story) {
            let mut files = contract2::folder(&story);
            let path = format!("receipts/{node}.jsonl");
            let change = if is_whole { Damage::Remove } else { Damage::WithoutLastLine };
            damage(&mut files, &path, &change);
            prop_assert!(!is_surely_completed(&files), "{node}");
            let session = reopened(&files).0.expect("the folder opens");
            prop_assert!(!is_whole || told(&session).status != "completed", "{node}");
        }
    }
}

fn failed(story: &Story) -> impl Iterator<Item = &str> {
    let all = story.nodes.iter().enumerate();
    all.filter(|(at, _)| story.has_failed(*at))
        .map(|(_, node)| node.name)
}
