//! Gates: who may decide, how they stand, and whether their audit log holds together.
//!
//! | Question | Answer |
//! |---|---|
//! | Who may decide? | [`allow::Allow`] |
//! | How does it stand at a time? | [`lifecycle::Lifecycle`] |
//! | What contradicts what? | [`issues`] |
//! | Was the audit log changed? | [`audit::verify`], [`chain`] |
//! | Is the audit log gone? | `lost` |
//! | Are the gates what its sealed rows record? | [`verify`] |
//! | What does a decision that was made on a copy carry? | [`decision::DecisionFile`] |
//!
//! Nothing here decides a gate: reading never does. Who decided is a claim of the row that says so (errata G4).

pub mod allow;
pub mod audit;
pub(crate) mod canonical;
pub mod chain;
pub(crate) mod columns;
pub mod decision;
mod issues;
pub mod lifecycle;
pub(crate) mod lost;
mod report;
#[cfg(test)]
mod samples;
mod sealed;

pub use issues::issues;
pub(crate) use sealed::{contradictions, seals_creations, uncreated};

use crate::model::{AuditEvent, Gate};
use crate::text::hex;
use sha2::{Digest, Sha256};

/// Checks a log against its chains, as [`audit::verify`] does, and the gates against its sealed rows.
pub fn verify(
    gates: &[Gate],
    log: &[AuditEvent],
    expect_head: Option<(u64, &str)>,
) -> audit::ChainReport {
    let mut report = audit::verify(log, expect_head);
    report.add(sealed::contradictions(gates, log).iter());
    report.notes = sealed::uncreated(gates, log)
        .iter()
        .map(sealed::Uncreated::issue)
        .collect();
    report
}

/// A gate's id without the visit, and the visit: a gate that is met again has the id `id#2` (errata G1).
///
/// ```
/// use prosescope_core::gate::visit;
/// assert_eq!(visit("deploy#2"), ("deploy", 2));
/// assert_eq!(visit("deploy"), ("deploy", 1));
/// for none in ["issue#x", "issue#", "#2"] {
///     assert_eq!(visit(none), (none, 1));
/// }
/// ```
pub fn visit(id: &str) -> (&str, u32) {
    let split = id.rsplit_once('#').and_then(|(base, visit)| {
        let digits = visit.bytes().all(|b| b.is_ascii_digit());
        let visit = visit.parse().ok().filter(|visit| digits && *visit > 1)?;
        (!base.is_empty()).then_some((base, visit))
    });
    split.unwrap_or((id, 1))
}

/// What the log records of a long text, such as a gate's prompt: its SHA-256, as the document writes it.
pub fn prompt_hash(prompt: &str) -> String {
    format!("sha256:{}", hex(&Sha256::digest(prompt)))
}

/// Whether a gate that is turned down changes nothing for what follows.
pub(crate) fn is_continue(action: &str) -> bool {
    matches!(
        first_word(action.trim()),
        "continue" | "proceed" | "ignore" | "skip"
    )
}

/// The first word of what the program does on a rejection.
pub(crate) fn first_word(action: &str) -> &str {
    action
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default()
}
