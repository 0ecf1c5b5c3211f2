//! Checks the gates of a run: who may decide them, their state at a time, and whether their audit log is intact.
//!
//! | Question | Answer |
//! |---|---|
//! | Who may decide? | [`allow::Allow`] |
//! | What is a gate's state at a time? | [`lifecycle::Lifecycle`] |
//! | Which records contradict each other? | [`issues`] |
//! | Was the audit log changed? | [`audit::verify`], [`chain`] |
//! | Was the audit log deleted? | `lost` |
//! | Are times or numbers of the log out of order? | `order` |
//! | Do the gates agree with the log's sealed rows? | [`verify`] |
//! | What did a person see of a gate before deciding it? | [`seen::SeenGate`] |
//!
//! This module only reads; [`crate::record`] records decisions. The principal of a decision is a claim (errata G4).

pub mod allow;
pub mod audit;
pub(crate) mod canonical;
pub mod chain;
pub(crate) mod columns;
mod issues;
pub mod lifecycle;
pub(crate) mod lost;
mod order;
mod report;
#[cfg(test)]
mod samples;
mod sealed;
pub mod seen;

pub use issues::issues;
pub(crate) use order::out_of_order;
pub(crate) use sealed::{contradictions, seals_creations, uncreated};

use crate::model::shell;
use crate::model::text::hex;
use crate::model::{AuditEvent, Gate};
use sha2::{Digest, Sha256};

/// Checks a log against its chains, as [`audit::verify`] does, and the gates against the log's sealed rows.
pub fn verify(
    gates: &[Gate],
    log: &[AuditEvent],
    expect_head: Option<(u64, &str)>,
) -> audit::ChainReport {
    let mut report = audit::verify(log, expect_head);
    report.add(sealed::contradictions(gates, log).iter());
    report.notes = sealed::uncreated(gates, log)
        .iter()
        .map(sealed::UnsealedCreation::issue)
        .collect();
    report
}

/// Returns the commands that approve and reject a gate of the run with the name `run`; words in capitals are
/// placeholders.
pub(crate) fn decide_commands(run: &str, gate: &str) -> [String; 2] {
    [
        ("approve", "--as NAME"),
        ("reject", "--reason TEXT --as NAME"),
    ]
    .map(|(verb, options)| shell::command(verb, &[run, gate], options))
}

/// Returns the command that records the time-outs of the run with the name `run`.
pub(crate) fn expire_command(run: &str) -> String {
    shell::command("gates expire", &[run], "")
}

/// Returns the SHA-256 of a long text such as a gate's prompt, as OpenProse logs it: `sha256:` and 64 hex digits.
pub fn prompt_hash(prompt: &str) -> String {
    format!("sha256:{}", hex(&Sha256::digest(prompt)))
}

/// Returns whether an `on_reject` action continues the program after a rejection, as if the gate had been approved.
pub(crate) fn is_continue(action: &str) -> bool {
    matches!(
        first_word(action.trim()),
        "continue" | "proceed" | "ignore" | "skip"
    )
}

/// Returns whether an `on_reject` action ends the run after a rejection.
pub(crate) fn is_end(action: &str) -> bool {
    matches!(
        first_word(action.trim()),
        "stop" | "exit" | "abort" | "end" | "fail"
    )
}

/// Returns the first word of an `on_reject` action, such as `continue`.
pub(crate) fn first_word(action: &str) -> &str {
    action
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default()
}
