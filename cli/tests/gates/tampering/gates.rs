//! Lists edits of rows and files of gates, each with the issue that it must cause.

use serde_json::{Value, json};

use super::Found::{Alone, Never};
use super::Tampering;
use super::state::{Row, State, metadata};

fn set(state: &mut State, gate: &str, columns: &[(&str, &str)]) {
    for (column, value) in columns {
        state
            .gate(gate)
            .insert((*column).to_owned(), (*value).into());
    }
}

fn unset(state: &mut State, gate: &str, columns: &[&str]) {
    state
        .gate(gate)
        .retain(|key, _| !columns.contains(&key.as_str()));
}

const CHANGED: super::Found = Alone("gate-changed");
const UNSEALED: super::Found = Alone("gate-decision-unsealed");
const RESOLVED: &[&str] = &[
    "resolved_at",
    "resolved_by",
    "resolution_comment",
    "metadata",
];

/// The edits, made without a record in the audit log. Gate `a` is approved, `b` rejected, `c` pending, and `d` timed
/// out.
pub(super) const TABLE: &[Tampering] = &[
    ("id", |s| set(s, "a", &[("id", "x")]), Alone("gate-removed")),
    ("run_id", |s| set(s, "a", &[("run_id", "r9")]), CHANGED),
    (
        "execution_id",
        |s| drop(s.gate("a").insert("execution_id".into(), 99.into())),
        CHANGED,
    ),
    (
        "no execution_id",
        |s| unset(s, "c", &["execution_id"]),
        CHANGED,
    ),
    ("prompt", |s| set(s, "a", &[("prompt", "Stay?")]), CHANGED),
    ("no prompt", |s| unset(s, "c", &["prompt"]), CHANGED),
    (
        "allow",
        |s| set(s, "c", &[("allow", r#"["raymond","lee","mallory"]"#)]),
        CHANGED,
    ),
    ("no allow", |s| unset(s, "c", &["allow"]), CHANGED),
    ("timeout", |s| set(s, "a", &[("timeout", "5h")]), CHANGED),
    (
        "timeout_at",
        |s| set(s, "c", &[("timeout_at", "2030-01-01T00:00:00Z")]),
        CHANGED,
    ),
    (
        "no timeout_at",
        |s| unset(s, "c", &["timeout", "timeout_at"]),
        CHANGED,
    ),
    (
        "on_reject",
        |s| set(s, "c", &[("on_reject", "continue")]),
        CHANGED,
    ),
    (
        "on_reject of a rejected gate",
        |s| unset(s, "b", &["on_reject"]),
        CHANGED,
    ),
    (
        "created_at",
        |s| set(s, "a", &[("created_at", "2026-01-25T11:59:59Z")]),
        CHANGED,
    ),
    (
        "status: approved to rejected",
        |s| set(s, "a", &[("status", "rejected")]),
        CHANGED,
    ),
    (
        "status: rejected to approved",
        |s| set(s, "b", &[("status", "approved")]),
        CHANGED,
    ),
    (
        "status: timed out to approved",
        |s| set(s, "d", &[("status", "approved"), ("resolved_by", "lee")]),
        CHANGED,
    ),
    (
        "status: another word",
        |s| set(s, "c", &[("status", "paused")]),
        CHANGED,
    ),
    (
        "a decision set back",
        |s| {
            unset(s, "a", RESOLVED);
            set(s, "a", &[("status", "pending")]);
        },
        CHANGED,
    ),
    (
        "approved without a row",
        |s| set(s, "c", &[("status", "approved")]),
        UNSEALED,
    ),
    (
        "rejected without a row, as a whole",
        |s| {
            let at = "2026-01-25T12:20:00Z";
            set(
                s,
                "c",
                &[
                    ("status", "rejected"),
                    ("resolved_by", "lee"),
                    ("resolved_at", at),
                ],
            );
        },
        UNSEALED,
    ),
    (
        "approved with a row that nobody sealed",
        |s| {
            set(s, "c", &[("status", "approved"), ("resolved_by", "lee")]);
            s.log.push(super::log::unsealed(s, 9, "c", "approved"));
        },
        UNSEALED,
    ),
    (
        "set back, approved with a row that nobody sealed",
        |s| {
            set(s, "b", &[("status", "approved")]);
            s.log.push(super::log::unsealed(s, 9, "b", "approved"));
        },
        CHANGED,
    ),
    (
        "resolved_at",
        |s| set(s, "a", &[("resolved_at", "2026-01-25T12:10:01Z")]),
        CHANGED,
    ),
    (
        "no resolved_at",
        |s| unset(s, "a", &["resolved_at"]),
        CHANGED,
    ),
    (
        "resolved_at is no time",
        |s| set(s, "a", &[("resolved_at", "then")]),
        CHANGED,
    ),
    (
        "resolved_by",
        |s| set(s, "a", &[("resolved_by", "lee")]),
        CHANGED,
    ),
    (
        "resolved_by of a time-out",
        |s| set(s, "d", &[("resolved_by", "lee")]),
        CHANGED,
    ),
    (
        "resolved_by of a pending gate",
        |s| set(s, "c", &[("resolved_by", "lee")]),
        CHANGED,
    ),
    (
        "resolution_comment",
        |s| set(s, "a", &[("resolution_comment", "Never")]),
        CHANGED,
    ),
    (
        "no resolution_comment",
        |s| unset(s, "b", &["resolution_comment"]),
        CHANGED,
    ),
    (
        "a resolution_comment more",
        |s| set(s, "d", &[("resolution_comment", "late")]),
        CHANGED,
    ),
    (
        "metadata: on whose behalf",
        |s| on_behalf(s.gate("a"), "raymond".into()),
        CHANGED,
    ),
    (
        "metadata: on somebody's behalf",
        |s| on_behalf(s.gate("b"), "raymond".into()),
        CHANGED,
    ),
    (
        "metadata: a key more",
        |s| metadata(s.gate("c"), |m| drop(m.insert("x".into(), 1.into()))),
        CHANGED,
    ),
    ("no metadata", |s| unset(s, "a", &["metadata"]), CHANGED),
    (
        "a gate less",
        |s| s.gates.retain(|gate| gate["id"] != "a"),
        Alone("gate-removed"),
    ),
    (
        "a pending gate less",
        |s| s.gates.retain(|gate| gate["id"] != "c"),
        Alone("gate-removed"),
    ),
    ("no gate", |s| s.gates.clear(), Alone("gate-removed")),
    (
        "two gates in each other's place",
        |s| {
            set(s, "a", &[("id", "x")]);
            set(s, "b", &[("id", "a")]);
            set(s, "x", &[("id", "b")]);
        },
        CHANGED,
    ),
    (
        "the decision of another gate",
        |s| {
            let mut other = s.gate("b").clone();
            other["id"] = "a".into();
            *s.gate("a") = other;
        },
        CHANGED,
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
        |s| set(s, "a", &[("x_note", "as agreed")]),
        Never("other-columns"),
    ),
    (
        "a time in another form",
        |s| set(s, "a", &[("created_at", "2026-01-25T13:00:00+01:00")]),
        Never("spelling"),
    ),
    (
        "a status in capitals",
        |s| set(s, "a", &[("status", "Approved")]),
        Never("spelling"),
    ),
    (
        "empty metadata",
        |s| set(s, "c", &[("metadata", "{}")]),
        Never("spelling"),
    ),
    (
        "metadata with blanks",
        |s| {
            let text = s.gate("a")["metadata"]
                .as_str()
                .expect("a text")
                .replace(':', " : ");
            set(s, "a", &[("metadata", &text)]);
        },
        Never("spelling"),
    ),
];

fn on_behalf(gate: &mut Row, name: Value) {
    metadata(gate, |m| {
        drop(m.insert("on_behalf_of".to_owned(), json!(name)));
    });
}
