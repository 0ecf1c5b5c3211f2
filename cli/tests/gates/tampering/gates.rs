//! Lists edits of rows and files of gates, each with the issue that it must cause. `core/src/read/gate/sealed/tests.rs`
//! edits each column; here are one or two edits for each rule, and every edit that no check notices.

use super::Found::{Alone, Never};
use super::Tampering;
use super::state::State;

/// Sets a column of a gate.
pub(super) fn set(state: &mut State, gate: &str, column: &str, value: &str) {
    state.gate(gate).insert(column.to_owned(), value.into());
}

/// The edits, made without a record in the audit log. Gate `a` is approved, `b` rejected, `c` pending, and `d` timed
/// out.
pub(super) const TABLE: &[Tampering] = &[
    (
        "allow",
        |s| set(s, "c", "allow", r#"["raymond","lee","mallory"]"#),
        Alone("gate-changed"),
    ),
    (
        "a decision set back",
        |s| {
            let gate = s.gate("a");
            gate["status"] = "pending".into();
            gate.retain(|key, _| key != "metadata" && !key.starts_with("resol"));
        },
        Alone("gate-changed"),
    ),
    (
        "approved without a row",
        |s| set(s, "c", "status", "approved"),
        Alone("gate-decision-unsealed"),
    ),
    (
        "a gate less",
        |s| s.gates.retain(|gate| gate["id"] != "a"),
        Alone("gate-removed"),
    ),
    (
        "a gate that prosescope did not create",
        |s| {
            let mut more = s.gate("a").clone();
            more["id"] = "e".into();
            s.gates.push(more);
        },
        Never("gates-of-other-tools"),
    ),
    (
        "a column of another tool",
        |s| set(s, "a", "x_note", "as agreed"),
        Never("other-columns"),
    ),
    (
        "a time in another form",
        |s| set(s, "a", "created_at", "2026-01-25T13:00:00+01:00"),
        Never("spelling"),
    ),
    (
        "a status in capitals",
        |s| set(s, "a", "status", "Approved"),
        Never("spelling"),
    ),
    (
        "empty metadata",
        |s| set(s, "c", "metadata", "{}"),
        Never("spelling"),
    ),
    (
        "metadata with blanks",
        |s| {
            let text = s.gate("a")["metadata"]
                .as_str()
                .expect("a text")
                .replace(':', " : ");
            set(s, "a", "metadata", &text);
        },
        Never("spelling"),
    ),
];
