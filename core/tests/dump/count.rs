//! Counts for a set of runs how many statuses are known, and from which evidence.

use std::collections::BTreeMap;
use std::fmt::Write;

use prosescope_core::pages::session::{Session, pages};

/// Counts runs by status, and nodes by the evidence for their status.
pub(crate) fn of(sessions: &[Session]) -> String {
    let mut runs: BTreeMap<String, usize> = BTreeMap::new();
    for session in sessions {
        *runs
            .entry(pages::overview(session, None).status)
            .or_default() += 1;
    }
    let nodes = || sessions.iter().flat_map(|session| &session.trace().nodes);
    let kinds = [
        (
            "tied to a line",
            nodes().filter(|n| n.line.is_some()).count(),
        ),
        (
            "tied by a guess",
            nodes().filter(|n| n.line_guessed).count(),
        ),
        (
            "placed by inference",
            nodes().filter(|n| n.inferred).count(),
        ),
        ("derived", nodes().filter(|n| n.derived).count()),
    ];
    let mut text = format!("{} runs", sessions.len());
    for (status, count) in runs {
        let _ = write!(text, ", {count} {status}");
    }
    let _ = write!(text, "\n{} nodes", nodes().count());
    for (what, count) in kinds {
        let _ = write!(text, ", {count} {what}");
    }
    text
}
