//! Lists edits of the audit log, each with the issue that it must cause. `core/src/read/gate/audit_tests.rs` edits each
//! column and each place; here are one or two edits for each rule, and every edit that only a noted head reveals, or
//! nothing.

use serde_json::{Value, json};

use super::Found::{Alone, Never, WithHead};
use super::Tampering;
use super::state::{Row, State, chain, link, metadata, reseal, reseal_all, unseal};

/// Returns a row as another tool writes it: without a seal.
pub(super) fn unsealed(state: &State, id: i64, gate: &str, event: &str) -> Row {
    let mut row = state.log[4].clone();
    row.insert("id".to_owned(), id.into());
    row.insert("gate_id".to_owned(), gate.into());
    row.insert("event_type".to_owned(), event.into());
    unseal(&mut row);
    row
}

fn set(state: &mut State, row: usize, column: &str, value: impl Into<Value>) {
    state.log[row].insert(column.to_owned(), value.into());
}

/// Adds a row with a valid seal.
pub(super) fn forge(state: &mut State, gate: &str, event: &str) {
    let mut row = unsealed(state, 9, gate, event);
    let last = state.log.last().and_then(chain);
    reseal(&mut row, last.as_ref());
    state.log.push(row);
}

const EDITED: super::Found = Alone("audit-row-edited");

/// The edits. Rows 1 to 4 of the log create `a`, `b`, `c` and `d`; row 5 approves `a`, 6 rejects `b`, 7 times `d` out,
/// and 8 records a view of `a`.
pub(super) const TABLE: &[Tampering] = &[
    ("principal", |s| set(s, 4, "principal", "mallory"), EDITED),
    (
        "a column of another tool",
        |s| set(s, 0, "x_note", "as agreed"),
        EDITED,
    ),
    (
        "run_id of the last row",
        |s| set(s, 7, "run_id", "r9"),
        Alone("audit-row-missing"),
    ),
    (
        "a chain that cannot be read",
        |s| metadata(&mut s.log[4], |m| m["chain"] = "sealed".into()),
        Alone("audit-chain-malformed"),
    ),
    (
        "a row less",
        |s| drop(s.log.remove(1)),
        Alone("audit-row-missing"),
    ),
    (
        "two rows in each other's place",
        |s| {
            set(s, 4, "id", 6);
            set(s, 5, "id", 5);
            s.log.swap(4, 5);
        },
        Alone("audit-row-moved"),
    ),
    (
        "the last row once more",
        |s| {
            let mut again = s.log[7].clone();
            again["id"] = 9.into();
            s.log.push(again);
        },
        Alone("audit-row-repeated"),
    ),
    (
        "a row edited and sealed anew, but not what follows",
        |s| {
            set(s, 4, "principal", "mallory");
            let before = chain(&s.log[3]);
            reseal(&mut s.log[4], before.as_ref());
        },
        Alone("audit-row-replaced"),
    ),
    (
        "a decision that nobody sealed, before the others",
        |s| s.log.insert(0, unsealed(s, 0, "c", "rejected")),
        Alone("gate-decision-unsealed"),
    ),
    // Only a comparison with a head that was noted earlier detects a missing last row.
    (
        "the last row less",
        |s| drop(s.log.pop()),
        WithHead("audit-tail-cut", "cut-tail"),
    ),
    (
        "the seal of the last row less",
        |s| unseal(&mut s.log[7]),
        WithHead("audit-tail-cut", "cut-tail"),
    ),
    (
        "the tail less, and its gate set back",
        |s| {
            s.log.truncate(6);
            let gate = s.gate("d");
            gate["status"] = "pending".into();
            gate.retain(|key, _| !key.starts_with("resol"));
        },
        WithHead("audit-tail-cut", "cut-tail"),
    ),
    (
        "no seal",
        |s| s.log.iter_mut().for_each(unseal),
        WithHead("audit-tail-cut", "no-seals"),
    ),
    (
        "the whole log and its gate sealed anew",
        |s| {
            set(s, 4, "principal", "lee");
            s.gate("a")["resolved_by"] = "lee".into();
            reseal_all(&mut s.log);
        },
        WithHead("audit-head-differs", "rewritten"),
    ),
    (
        "the last row edited and sealed anew",
        |s| {
            set(s, 7, "principal", "mallory");
            let before = chain(&s.log[6]);
            reseal(&mut s.log[7], before.as_ref());
        },
        WithHead("audit-head-differs", "rewritten"),
    ),
    // No check can detect this edit, because the added row has a valid seal.
    (
        "a decision that somebody sealed as another",
        |s| {
            forge(s, "c", "approved");
            let row = s.log[8].clone();
            let gate = s.gate("c");
            gate["status"] = "approved".into();
            for (column, of_row) in [
                ("resolved_at", "timestamp"),
                ("resolved_by", "principal"),
                ("resolution_comment", "comment"),
            ] {
                gate.insert(column.to_owned(), row[of_row].clone());
            }
            let behalf = json!({ "on_behalf_of": "lee" }).to_string();
            gate.insert("metadata".to_owned(), behalf.into());
        },
        Never("claims"),
    ),
    (
        "a row of another tool",
        |s| s.log.push(unsealed(s, 9, "c", "viewed")),
        Never("unsealed-rows"),
    ),
    (
        "a creation by another tool",
        |s| s.log.push(unsealed(s, 9, "e", "created")),
        Never("unsealed-rows"),
    ),
    (
        "all ids, the first ones kept in the chain",
        |s| {
            for at in 0..8 {
                link(&mut s.log[at], "id", (at as i64 + 1).into());
                set(s, at, "id", at as i64 + 100);
            }
        },
        Never("renumbered"),
    ),
    (
        "metadata with blanks",
        |s| {
            let text = s.log[4]["metadata"]
                .as_str()
                .expect("a text")
                .replace(':', " : ");
            set(s, 4, "metadata", text);
        },
        Never("spelling"),
    ),
];

/// Edits of a log without sealed rows, as other tools write it.
pub(super) const UNSEALED_LOG: &[Tampering] = &[
    (
        "comment",
        |s| set(s, 4, "comment", "Never"),
        Never("no-seals"),
    ),
    (
        "principal",
        |s| set(s, 4, "principal", "mallory"),
        Never("no-seals"),
    ),
    ("a row less", |s| drop(s.log.remove(1)), Never("no-seals")),
    (
        "another decision",
        |s| s.gate("b")["status"] = "approved".into(),
        Never("no-seals"),
    ),
    (
        "another prompt",
        |s| s.gate("c")["prompt"] = "Stay?".into(),
        Never("no-seals"),
    ),
    (
        "a gate less",
        |s| s.gates.retain(|gate| gate["id"] != "a"),
        Never("no-seals"),
    ),
];
