//! Tests the verification of the audit log with logs that were changed after their rows were sealed.

use super::*;
use crate::model::issue::Severity;
use crate::model::{AuditKind, Text};

/// Builds a row like a database does, with its metadata as text.
fn row(id: i64, what: &str, metadata: Option<&str>) -> serde_json::Value {
    serde_json::json!({
        "id": id, "gate_id": "deploy", "run_id": "r1", "event_type": what,
        "principal": "ünder \"lee\"", "comment": null,
        "timestamp": "2026-01-25 12:00:00", "metadata": metadata,
    })
}

fn event(row: &serde_json::Value) -> AuditEvent {
    let text = |key: &str| row[key].as_str().map(Text::from);
    AuditEvent {
        id: row["id"].as_i64().unwrap(),
        gate_id: text("gate_id").unwrap(),
        run_id: text("run_id").unwrap(),
        kind: AuditKind::parse(row["event_type"].as_str().unwrap()),
        principal: text("principal"),
        comment: text("comment"),
        timestamp: None,
        metadata: text("metadata"),
        row_json: Some(row.to_string().into()),
    }
}

/// Builds a sealed log with the given number of rows.
fn log(rows: usize) -> Vec<serde_json::Value> {
    let mut last = None;
    let mut log = Vec::new();
    for id in 1..=rows as i64 {
        let metadata =
            (id % 2 == 0).then_some(r#"{"z": [1.0, {"b": null, "a": "\u00fc"}], "client": "cli"}"#);
        let mut row = row(id, "viewed", metadata);
        let chain = seal(last.as_ref(), &row.to_string()).unwrap();
        row["metadata"] = with_chain(metadata, &chain).unwrap().into();
        last = Some(chain);
        log.push(row);
    }
    log
}

fn report(log: &[serde_json::Value], head: Option<(u64, &str)>) -> ChainReport {
    verify(&log.iter().map(event).collect::<Vec<_>>(), head)
}

fn chain_of(row: &serde_json::Value) -> Chain {
    let metadata: serde_json::Value =
        serde_json::from_str(row["metadata"].as_str().unwrap()).unwrap();
    serde_json::from_value(metadata["chain"].clone()).unwrap()
}

/// The expected hashes follow the format's description and were computed by another program: `printf … | sha256sum`.
#[test]
fn the_hash_is_the_one_that_is_described() {
    let row = r#"{"run_id":"r1","id":7,"metadata":"{ \"z\":1, \"a\":{\"y\":[],\"x\":true}}","comment":null,"blob":{"blob":"00ff"},"n":1.5}"#;
    let parsed = SealedContent::parse(row).unwrap().canonical(None);
    assert_eq!(
        parsed,
        r#"{"blob":{"blob":"00ff"},"id":7,"metadata":{"a":{"x":true,"y":[]},"z":1},"n":1.5,"run_id":"r1"}"#
    );
    let chain = seal(None, row).unwrap();
    assert_eq!((chain.seq, chain.prev.as_str()), (1, FIRST));
    assert_eq!(
        chain.hash,
        "0d635ea843b5653e25ee726277d2dd97b6f28fe0b8a70c2788d276a5181782b2"
    );
    let next = seal(Some(&chain), r#"{"id":8,"metadata":{"chain":3}}"#).unwrap();
    assert_eq!((next.seq, &next.prev), (2, &chain.hash));
    assert_eq!(
        next.hash,
        "0c68ac11a5b0ad33aa3a496e39e8aab76ba4ca499e1f8675ef386bf5bbff39f9"
    );
}

#[test]
fn an_untouched_log_is_consistent() {
    for rows in [1, 2, 30] {
        let log = log(rows);
        let report = report(&log, None);
        assert_eq!(report.state, ChainState::Consistent);
        assert_eq!((report.sealed, report.unsealed), (rows, 0));
        assert_eq!(report.findings, []);
        let last = chain_of(log.last().unwrap());
        let head = report.head().unwrap();
        assert_eq!((head.count, &head.hash), (rows as u64, &last.hash));
        let noted = self::report(&log, Some((last.seq, &last.hash.to_uppercase())));
        assert_eq!(noted.state, ChainState::Consistent);
    }
    assert_eq!(report(&[], None).state, ChainState::Empty);
}

#[track_caller]
fn broken(log: &[serde_json::Value], head: Option<(u64, &str)>, expected: &[&str]) {
    let report = report(log, head);
    let messages: Vec<_> = report.findings.iter().map(|f| f.message.as_str()).collect();
    assert_eq!(messages, expected);
    assert_eq!(report.state, ChainState::Broken);
    assert!(!report.sentence().contains("proof"));
}

/// SQLite does not prevent UPDATE and DELETE on the log, so the verification must find their effects (errata G7).
#[test]
fn edits_gaps_and_moves_are_found_g7() {
    let mut edited = log(5);
    edited[2]["principal"] = "raymond".into();
    broken(&edited, None, &["row 3 was changed after it was sealed"]);

    let mut metadata = log(5);
    let text = metadata[3]["metadata"].as_str().unwrap();
    metadata[3]["metadata"] = text.replace("cli", "web").into();
    broken(&metadata, None, &["row 4 was changed after it was sealed"]);

    let mut added = log(3);
    added[0]["x_note"] = "later".into();
    broken(&added, None, &["row 1 was changed after it was sealed"]);

    let mut gap = log(6);
    gap.drain(2..4);
    broken(
        &gap,
        None,
        &["row 5 has place 5 of the chain, and places 3 to 4 are missing before it"],
    );
    let mut first = log(3);
    first.remove(0);
    broken(
        &first,
        None,
        &["row 2 has place 2 of the chain, and place 1 is missing before it"],
    );

    let mut swapped = log(4);
    swapped[1]["id"] = 3.into();
    swapped[2]["id"] = 2.into();
    broken(
        &swapped,
        None,
        &[
            "row 2 was changed after it was sealed",
            "row 2 has place 3 of the chain, and place 2 is missing before it",
            "row 3 was changed after it was sealed",
            "row 3 has place 2 of the chain, but comes after place 3",
        ],
    );

    let mut copied = log(3);
    let mut copy = copied[1].clone();
    copy["id"] = 9.into();
    copied.push(copy);
    broken(
        &copied,
        None,
        &[
            "row 9 was changed after it was sealed",
            "row 9 has place 2 of the chain, like an earlier row",
        ],
    );

    // Row 2 is rewritten with a valid hash of its own, so row 3 no longer continues it.
    let mut replaced = log(3);
    let forged = row(2, "approved", None);
    let chain = seal(Some(&chain_of(&replaced[0])), &forged.to_string()).unwrap();
    replaced[1] = forged;
    replaced[1]["metadata"] = with_chain(None, &chain).unwrap().into();
    broken(
        &replaced,
        None,
        &["row 3 does not continue the row before it, which was replaced"],
    );

    // Row 2 lost its chain, so its position is missing.
    let mut stripped = log(3);
    stripped[1] = row(2, "approved", None);
    broken(
        &stripped,
        None,
        &[
            "row 3 has place 3 of the chain, and place 2 is missing before it",
            "row 2 is not sealed, but other rows are",
        ],
    );
}

#[test]
fn chains_that_cannot_be_read_are_found() {
    for (metadata, message) in [
        (
            r#"{"chain": 3}"#,
            "row 2: the value `chain` cannot be read (invalid type: integer `3`, expected struct Chain at line 1 column 1)",
        ),
        (
            r#"{"chain": {"seq": 0, "prev": "", "hash": ""}}"#,
            "row 2: the value `chain` needs a place above 0 and hashes of 64 hex digits",
        ),
        (
            r#"{"chain": {}, "chain": {}}"#,
            "row 2: `metadata` must be a JSON object to carry a chain: the key \"chain\" occurs twice at line 1 column 26",
        ),
        (
            r#"{"chain": {}"#,
            "row 2: `metadata` must be a JSON object to carry a chain: EOF while parsing an object at line 1 column 12",
        ),
    ] {
        let mut log = log(1);
        log.push(row(2, "approved", Some(metadata)));
        broken(&log, None, &[message]);
    }
}

/// A cut-off end of the log is only found with a head that was noted earlier (errata G7).
#[test]
fn a_cut_tail_is_found_with_the_head_g7() {
    let whole = log(5);
    let head = chain_of(&whole[4]);
    let noted = Some((head.seq, head.hash.as_str()));
    let cut = &whole[..3];
    assert_eq!(report(cut, None).state, ChainState::Consistent);
    broken(
        cut,
        noted,
        &["the chain ends at place 3, but the noted head is at place 5"],
    );
    broken(
        &[],
        noted,
        &["the chain ends at place 0, but the noted head is at place 5"],
    );
    // The log may have grown since the head was noted.
    let earlier = chain_of(&whole[2]);
    assert_eq!(
        report(&whole, Some((3, &earlier.hash))).state,
        ChainState::Consistent
    );
    broken(
        &whole,
        Some((3, FIRST)),
        &["place 3 of the chain has another hash than the noted head"],
    );
}

/// Rows that other tools wrote have no chain and are reported as "unsealed" (errata G7).
#[test]
fn rows_of_other_tools_are_unsealed_g7() {
    let plain = [
        row(1, "created", Some(r#"{"prompt_hash": "sha256:abc"}"#)),
        row(2, "approved", Some("not json")),
        row(3, "viewed", None),
    ];
    let alone = report(&plain, None);
    assert_eq!(alone.state, ChainState::Unsealed);
    assert_eq!((alone.unsealed, alone.findings.len()), (3, 0));
    assert_eq!(
        alone.sentence(),
        "The log is not sealed (3 rows): nobody could tell if it was changed."
    );
    assert_eq!(alone.head(), None);

    let mut mixed = log(2);
    mixed.push(row(3, "approved", None));
    let mixed = report(&mixed, None);
    assert_eq!(mixed.state, ChainState::Partly);
    assert_eq!(
        mixed.findings[0].message,
        "row 3 is not sealed, but other rows are"
    );
    assert_eq!(mixed.findings[0].issue().severity, Severity::Note);
    assert_eq!(
        mixed.sentence(),
        "2 of 3 rows agree with the chain of hashes; 1 is not sealed."
    );
}

#[test]
fn every_run_has_its_own_chain() {
    let mut both = log(2);
    let mut other = row(3, "viewed", None);
    other["run_id"] = "r2".into();
    let chain = seal(None, &other.to_string()).unwrap();
    other["metadata"] = with_chain(None, &chain).unwrap().into();
    both.push(other);
    let report = report(&both, None);
    assert_eq!(report.state, ChainState::Consistent);
    assert_eq!(report.head(), None, "there are two");
    let heads: Vec<_> = report.heads.iter().map(|h| (&*h.run, h.count)).collect();
    assert_eq!(heads, [("r1", 2), ("r2", 1)]);
    // A row that is moved to the other run breaks both chains.
    both[1]["run_id"] = "r2".into();
    assert_eq!(self::report(&both, None).state, ChainState::Broken);
}

#[test]
fn what_changes_nothing_breaks_nothing() {
    let mut log = log(3);
    for row in &mut log {
        // The row gets a new column that is NULL, and metadata with other white space.
        row["x_added"] = serde_json::Value::Null;
        let text = row["metadata"].as_str().unwrap().replace(":", " :\n");
        row["metadata"] = text.into();
    }
    assert_eq!(report(&log, None).state, ChainState::Consistent);
    // A folder's log may have the metadata as JSON, not as text.
    let metadata = log[1]["metadata"].as_str().unwrap();
    log[1]["metadata"] = serde_json::from_str(metadata).unwrap();
    assert_eq!(report(&log, None).state, ChainState::Consistent);
    // The row was moved to a store that assigned another id; the chain keeps the first id.
    let mut chain = chain_of(&log[2]);
    chain.id = Some(3);
    log[2]["id"] = 77.into();
    log[2]["metadata"] = with_chain(None, &chain).unwrap().into();
    assert_eq!(report(&log, None).state, ChainState::Consistent);
}

/// Rows are checked in order of id, whatever their order in the log or their times (errata G8).
#[test]
fn rows_are_taken_by_id_g8() {
    let mut log = log(4);
    log.reverse();
    assert_eq!(report(&log, None).state, ChainState::Consistent);
}

#[test]
fn rows_that_were_not_read_whole_are_said_to_be_unchecked() {
    let mut events: Vec<_> = log(2).iter().map(event).collect();
    events[1].row_json = None;
    let report = verify(&events, None);
    assert_eq!(report.state, ChainState::Partly);
    assert_eq!(
        report.sentence(),
        "1 of 2 rows agree with the chain of hashes; 1 was too long to check."
    );
    assert_eq!(
        report.findings[0].message,
        "row 2 is sealed, but was not read completely"
    );
    assert_eq!(report.findings[0].issue().severity, Severity::Warning);
}

#[test]
fn many_findings_are_cut_short() {
    let mut log = log(300);
    for row in &mut log {
        row["comment"] = "x".into();
    }
    let report = report(&log, None);
    assert_eq!(report.findings.len(), MOST_FINDINGS + 1);
    let last = report.findings.last().unwrap();
    assert_eq!(last.message, "300 findings in all; the first 100 are shown");
    assert_eq!(report.state, ChainState::Broken);
}

#[test]
fn a_row_needs_a_place_for_its_chain() {
    for (row, message) in [
        (
            "[]",
            "an audit row must be a JSON object of its columns: it is not an object",
        ),
        (
            r#"{"metadata": "[]"}"#,
            "`metadata` must be a JSON object to carry a chain: it is not an object",
        ),
        (
            r#"{"a": 1, "a": 2}"#,
            "an audit row must be a JSON object of its columns: the key \"a\" occurs twice at line 1 column 16",
        ),
    ] {
        assert_eq!(seal(None, row).unwrap_err().to_string(), message);
    }
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(seal(None, &deep).is_err(), "no stack recursion over input");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        failure_persistence: None,
        ..Default::default()
    })]

    /// Every change of a single value is found, and every missing row except the last (errata G7).
    #[test]
    fn any_one_change_is_found_g7(
        at in 0..6_usize,
        column in proptest::sample::select(vec![
            "id", "gate_id", "event_type", "principal", "comment", "timestamp",
        ]),
        value in "\\PC{0,6}",
        number in 100..900_i64,
        remove in proptest::bool::ANY,
    ) {
        let mut log = log(6);
        if remove && at < 5 {
            log.remove(at);
        } else if column == "id" {
            log[at]["id"] = number.into();
        } else {
            proptest::prop_assume!(log[at][column] != value.as_str());
            log[at][column] = value.into();
        }
        let report = report(&log, None);
        proptest::prop_assert_eq!(report.state, ChainState::Broken);
    }
}
