//! Compares a state file's statements with the rows of the same run.

use std::collections::{BTreeMap, BTreeSet};

use super::Evidence;
use crate::model::Run;
use crate::model::issue::Issue;
use crate::program::{Listing, scan};
use crate::trace::rows::Ledger;
use crate::trace::{Node, NodeKind, NodeStatus, Trace};

/// Maximum number of statements that the message lists.
const NAMED: usize = 3;

/// Compares the markers of the state file with the rows. Returns an issue about statements that are running according
/// to one of the two, and over according to the other. A missing record is not a contradiction, because append-only
/// rows may record only ends, and a state file only an excerpt.
pub(in crate::trace) fn compare(
    run: &Run,
    program: Option<&Listing>,
    trace: &Trace,
) -> Option<Issue> {
    run.state_file
        .as_ref()
        .filter(|file| !file.trace.is_empty())?;
    let told = scan(&crate::trace::source_of_trace(run));
    let listing = program.unwrap_or(&told);
    let mut unsaid = Ledger::default();
    let facts = Evidence::of(run, listing, &told, program.is_none(), &mut unsaid).facts;
    // If a statement ran in several rounds, its last row is compared.
    let mut by_line: BTreeMap<u32, &Node> = BTreeMap::new();
    let mut by_text: BTreeMap<&str, &Node> = BTreeMap::new();
    let mut twice: BTreeSet<&str> = BTreeSet::new();
    let plain = |n: &&Node| {
        let round = matches!(n.kind, NodeKind::Round { .. });
        !round && n.first_row.is_some() && !trace.borrows_line(n)
    };
    for node in trace.nodes.iter().filter(plain) {
        match node.line.filter(|_| program.is_some()) {
            Some(line) if !node.line_guessed => {
                by_line.insert(line, node);
            }
            Some(_) => {}
            None if by_text.insert(node.text.trim(), node).is_some() => {
                twice.insert(node.text.trim());
            }
            None => {}
        }
    }
    let mut found: Vec<String> = Vec::new();
    for (statement, fact) in listing.statements.iter().zip(&facts.of) {
        // Marks inside blocks are not compared, because it is not certain to which frame such a mark refers.
        let Some(status) = fact
            .status
            .as_ref()
            .filter(|_| fact.block.is_none() && !fact.guessed)
        else {
            continue;
        };
        let text = statement.text.as_str();
        let node = match program {
            Some(_) => by_line.get(&statement.line),
            None => by_text.get(text).filter(|_| !twice.contains(text)),
        };
        let Some(node) = node else { continue };
        let unknown = |status: &NodeStatus| {
            matches!(
                status,
                NodeStatus::Other(_) | NodeStatus::Abandoned | NodeStatus::CutOff
            )
        };
        if status.is_open() == node.status.is_open() || unknown(status) || unknown(&node.status) {
            continue;
        }
        found.push(format!(
            "`{text}` is {}, but {} in the database",
            status.word(),
            node.status.word()
        ));
    }
    let more = found.len().saturating_sub(NAMED);
    found.truncate(NAMED);
    let mut message = format!("in state.md, {}", found.join("; "));
    if more > 0 {
        message.push_str(&format!("; and {more} more"));
    }
    (!found.is_empty()).then(|| {
        Issue::warning("state-file-contradicts-rows", message)
            .at_file("state.md")
            .hint("The database is used. Check which of the two was written later: usually that one is right.")
    })
}

#[cfg(test)]
mod tests {
    use crate::model::Run;
    use crate::program::scan;
    use crate::read::decode::{gates_json, state_md};
    use crate::trace::fold;

    const PROGRAM: &str = "let a = session \"A\"\nparallel:\n  b = session \"B\"\n  c = session \"C\"\nlet d = session \"D\"\n";

    /// Returns the contradictions between a state file's trace and rows.
    fn contradictions(trace: &str, rows: &[(&str, &str)], with_program: bool) -> Vec<String> {
        let rows = (1..).zip(rows).map(|(id, (text, status))| {
            format!(
                "{}\n",
                serde_json::json!({"id": id, "statement_text": text, "status": status})
            )
        });
        let (executions, _) = gates_json::events(&rows.collect::<String>());
        let text = format!("# Execution State\n\n## Execution Trace\n\n```prose\n{trace}\n```\n");
        let run = Run {
            executions,
            state_file: Some(state_md::parse(&text).0),
            ..Run::default()
        };
        let listing = with_program.then(|| scan(PROGRAM));
        let trace = fold(&run, listing.as_ref(), None);
        let rule = "state-file-contradicts-rows";
        let issues = trace.issues.into_iter().filter(|i| i.rule == rule);
        issues.map(|i| i.message).collect()
    }

    #[test]
    fn markers_that_rows_contradict_are_told_and_silence_is_none() {
        let a = "let a = session \"A\"";
        let d = "let d = session \"D\"";
        for with_program in [true, false] {
            let check = |trace: &str, rows: &[(&str, &str)], expected: &[&str]| {
                assert_eq!(
                    contradictions(trace, rows, with_program),
                    expected,
                    "{trace}"
                );
            };
            let executing = format!("{a}   # <-- EXECUTING");
            check(&executing, &[(a, "executing")], &[]);
            check(&executing, &[(d, "executing")], &[]);
            check(
                &executing,
                &[(a, "completed"), (d, "executing")],
                &[
                    "in state.md, `let a = session \"A\"` is executing, but completed in the database",
                ],
            );
            let both = format!("{a}   # --> bindings/a.md\n{d}   # (failed: no)");
            check(&both, &[(a, "completed"), (d, "failed")], &[]);
            check(
                &both,
                &[(a, "executing"), (d, "executing")],
                &[
                    "in state.md, `let a = session \"A\"` is completed, but executing in the database; `let d = session \"D\"` is failed, but executing in the database",
                ],
            );
            // A statement that is only marked as next does not contradict its row.
            check(&format!("{a}   # [...next...]"), &[(a, "completed")], &[]);
        }
    }
}
