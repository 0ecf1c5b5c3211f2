//! Verifies the audit log against its hash chain (errata G7).
//!
//! # What the verification finds
//! It finds changed, missing and moved rows. It cannot find rows that were cut off at the end, unless the caller passes
//! a head (count and hash) that was noted earlier. It cannot find a log that was sealed anew from its first row,
//! because computing the hash needs no secret. So the best result is "consistent": the log agrees with itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::canonical::parse;
use super::chain::{SealedContent, hash, is_hash};
use crate::model::AuditEvent;

pub use super::chain::{Chain, FIRST, SealError, seal, with_chain};
pub use super::report::{AuditHead, ChainReport, ChainState, Finding};

/// The largest number of findings that a report lists.
const MOST_FINDINGS: usize = 100;

/// Returns whether a row has a chain in its metadata, well-formed or not.
pub fn is_sealed(event: &AuditEvent) -> bool {
    let metadata = event.metadata.as_deref().map(parse);
    matches!(metadata, Some(Ok(Value::Object(object))) if object.contains_key("chain"))
}

/// Checks a log against its chains, one for each run. Rows are checked in order of id (errata G8).
///
/// `expect_head` is a head that was noted earlier, as count and hash. With this head, the check also finds rows that
/// were cut off at the end. Rows added since are valid. If the log has several runs, one run must contain the head.
pub fn verify(events: &[AuditEvent], expect_head: Option<(u64, &str)>) -> ChainReport {
    let mut order: Vec<&AuditEvent> = events.iter().collect();
    order.sort_by_key(|event| event.id);
    let mut runs: BTreeMap<&str, Links> = BTreeMap::new();
    let mut report = ChainReport {
        state: ChainState::Empty,
        sealed: 0,
        unsealed: 0,
        unchecked: 0,
        heads: Vec::new(),
        findings: Vec::new(),
        gates: Vec::new(),
        notes: Vec::new(),
    };
    let mut unsealed = None;
    for event in order {
        let links = runs.entry(&event.run_id).or_default();
        match read_link(event) {
            Ok(None) => {
                report.unsealed += 1;
                unsealed.get_or_insert(event.id);
            }
            Ok(Some((chain, row))) => {
                report.sealed += 1;
                report.unchecked += usize::from(row.is_none());
                links.add(event, chain, row, &mut report.findings);
            }
            Err(finding) => {
                report.sealed += 1;
                report.findings.push(finding);
            }
        }
    }
    if let (Some(first), true) = (unsealed, report.sealed > 0) {
        let message = match report.unsealed {
            1 => format!("row {first} is not sealed, but other rows are"),
            n => format!(
                "{n} rows are not sealed, but other rows are; row {first} is the first without a seal"
            ),
        };
        let finding = Finding::of_rule(Some(first), "audit-row-unsealed", message);
        report.findings.push(finding);
    }
    if let Some((count, hash)) = expect_head {
        report.findings.extend(missed_head(&runs, count, hash));
    }
    for (run, links) in runs {
        if let Some(head) = links.head {
            report.heads.push(AuditHead {
                run: run.into(),
                count: head.0,
                hash: head.1,
            });
        }
    }
    let errors = report.findings.iter().filter(|f| f.is_error()).count();
    if report.findings.len() > MOST_FINDINGS {
        report.findings.truncate(MOST_FINDINGS);
        let message = format!("{errors} findings in all; the first {MOST_FINDINGS} are shown");
        let finding = Finding::of_rule(None, "audit-more-findings", message);
        report.findings.push(finding);
    }
    report.state = if errors > 0 {
        ChainState::Broken
    } else {
        match (report.sealed, report.unsealed, report.unchecked) {
            (0, 0, _) => ChainState::Empty,
            (0, _, _) => ChainState::Unsealed,
            (_, 0, 0) => ChainState::Consistent,
            _ => ChainState::Partly,
        }
    };
    report
}

/// The part of a run's chain that was read so far.
#[derive(Debug, Default)]
struct Links {
    last: Option<(u64, String)>,
    /// The position and hash of the link with the highest position.
    head: Option<(u64, String)>,
    /// The hashes of the rows read so far, by their position in the chain.
    seen: BTreeMap<u64, BTreeSet<String>>,
}

impl Links {
    fn add(
        &mut self,
        event: &AuditEvent,
        chain: Chain,
        row: Option<SealedContent>,
        findings: &mut Vec<Finding>,
    ) {
        let mut found = |rule, message: String| {
            findings.push(Finding::of_rule(Some(event.id), rule, message));
        };
        let (seq, id) = (chain.seq, event.id);
        match row {
            None => found(
                "audit-row-unchecked",
                format!("row {id} is sealed, but was not read completely"),
            ),
            Some(row) => {
                if hash(seq, &chain.prev, &row.canonical(chain.id)) != chain.hash {
                    found(
                        "audit-row-edited",
                        format!("row {id} was changed after it was sealed"),
                    );
                }
            }
        }
        let (last_seq, last_hash) = match &self.last {
            Some((seq, hash)) => (*seq, hash.as_str()),
            None => (0, FIRST),
        };
        let next = last_seq.saturating_add(1);
        if self.seen.contains_key(&seq) {
            found(
                "audit-row-repeated",
                format!("row {id} has place {seq} of the chain, like an earlier row"),
            );
        } else if seq < next {
            found(
                "audit-row-moved",
                format!("row {id} has place {seq} of the chain, but comes after place {last_seq}"),
            );
        } else if seq > next {
            let missing = match seq - next {
                1 => format!("place {next} is"),
                _ => format!("places {next} to {} are", seq - 1),
            };
            found(
                "audit-row-missing",
                format!("row {id} has place {seq} of the chain, and {missing} missing before it"),
            );
        } else if chain.prev != last_hash {
            found(
                "audit-row-replaced",
                format!("row {id} does not continue the row before it, which was replaced"),
            );
        }
        if self.head.as_ref().is_none_or(|(head, _)| *head <= seq) {
            self.head = Some((seq, chain.hash.clone()));
        }
        self.seen.entry(seq).or_default().insert(chain.hash.clone());
        if seq >= next {
            self.last = Some((seq, chain.hash));
        }
    }
}

/// Returns a finding if none of the runs has the expected head.
fn missed_head(runs: &BTreeMap<&str, Links>, count: u64, hash: &str) -> Option<Finding> {
    let hash = hash.trim().to_ascii_lowercase();
    let at = |links: &Links| links.seen.get(&count).is_some_and(|at| at.contains(&hash));
    if count == 0 || runs.values().any(at) {
        return None;
    }
    let longest = runs
        .values()
        .filter_map(|links| Some(links.head.as_ref()?.0));
    let longest = longest.max().unwrap_or(0);
    Some(if longest < count {
        let message =
            format!("the chain ends at place {longest}, but the noted head is at place {count}");
        Finding::of_rule(None, "audit-tail-cut", message)
    } else {
        let message = format!("place {count} of the chain has another hash than the noted head");
        Finding::of_rule(None, "audit-head-differs", message)
    })
}

/// A check of a log that reads one row after the other, in order of id, and keeps no rows. The check does not find rows
/// missing at the end.
#[derive(Debug, Default)]
pub(crate) struct AuditWalk(Links);

impl AuditWalk {
    /// Returns a message if the next row was changed or is at a wrong position.
    pub(crate) fn step(&mut self, event: &AuditEvent) -> Option<String> {
        let mut findings = Vec::new();
        match read_link(event) {
            Ok(None) => {}
            Ok(Some((chain, row))) => self.0.add(event, chain, row, &mut findings),
            Err(finding) => findings.push(finding),
        }
        // Forgets the hashes of earlier rows, to save memory. Without these hashes, `add` reports a row whose position
        // occurs twice as out of order, not as repeated. Both are errors.
        self.0.seen.clear();
        let mut errors = findings.into_iter().filter(Finding::is_error);
        errors.next().map(|finding| finding.message)
    }
}

/// Returns a message about the first row that was changed after it was sealed, among rows that were read completely.
pub(crate) fn edited(events: &[AuditEvent]) -> Option<String> {
    events.iter().find_map(|event| match read_link(event) {
        Ok(Some((chain, Some(row)))) => {
            let own = hash(chain.seq, &chain.prev, &row.canonical(chain.id));
            (own != chain.hash).then(|| format!("row {} was changed after it was sealed", event.id))
        }
        Ok(_) => None,
        Err(finding) => Some(finding.message),
    })
}

/// Returns a row's link in the chain, with the row's hashed content. Returns `None` for a row without a link. The
/// content is `None` if the row was not read completely.
pub(super) fn read_link(
    event: &AuditEvent,
) -> Result<Option<(Chain, Option<SealedContent>)>, Finding> {
    let malformed = |message: String| {
        let message = format!("row {}: {message}", event.id);
        Finding::of_rule(Some(event.id), "audit-chain-malformed", message)
    };
    let row = match event.row_json.as_deref().map(SealedContent::parse) {
        Some(Ok(row)) => Some(row),
        None => None,
        // Metadata that is not a JSON object cannot contain a chain. If its text contains `"chain"`, the row counts as
        // malformed, otherwise as unsealed.
        Some(Err(error)) => {
            let named = event
                .metadata
                .as_deref()
                .is_some_and(|text| text.contains("\"chain\""));
            return if named {
                Err(malformed(error.to_string()))
            } else {
                Ok(None)
            };
        }
    };
    let link = match &row {
        Some(row) => row.chain.clone(),
        None => match event.metadata.as_deref().map(parse) {
            Some(Ok(Value::Object(mut object))) => object.remove("chain"),
            _ => None,
        },
    };
    let Some(link) = link else { return Ok(None) };
    let chain: Chain = serde_json::from_str(&link.to_string())
        .map_err(|error| malformed(format!("the value `chain` cannot be read ({error})")))?;
    if chain.seq == 0 || !is_hash(&chain.prev) || !is_hash(&chain.hash) {
        return Err(malformed(
            "the value `chain` needs a place above 0 and hashes of 64 hex digits".to_owned(),
        ));
    }
    Ok(Some((chain, row)))
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
