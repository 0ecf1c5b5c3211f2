use std::collections::BTreeMap;

use super::run::one_line;
use super::{Findings, RunUnderCheck};
use crate::model::issue::Issue;
use crate::model::{Form, Run};
use crate::program::{Listing, StatementKind, TiedBy};
use crate::trace::{Node, NodeKind};

/// Reports a missing program. Also reports rows, log lines and other records whose line in the program is a guess or is
/// not found.
pub(super) fn check_program(at: RunUnderCheck<'_>, findings: &mut Findings) {
    // A contract has no statements, and receipts record nodes.
    let file = at.run.program.source_from.as_deref();
    if at.run.form.has_nodes() || file.is_some_and(|file| file.ends_with(".prose.md")) {
        return;
    }
    let Some(listing) = at.listing.filter(|listing| listing.has_statements()) else {
        let missing = at.run.program.missing();
        if at.run.form != Form::Agents {
            findings.add(
                Issue::noted("no-program", missing)
                    .hint("Add the program to the run. Without it, rows have no line numbers, and the next statement is not known."),
            );
        }
        return;
    };
    let mut kinds: BTreeMap<StatementKind, u32> = BTreeMap::new();
    for statement in &listing.statements {
        *kinds.entry(statement.kind).or_default() += 1;
    }
    let alone = |kind| kinds.get(&kind) == Some(&1);
    let mut untied: Vec<&Node> = Vec::new();
    for node in &at.trace.nodes {
        match (node.line, node.line_guessed) {
            (Some(line), true) if !fits(node, line, listing, alone) => {
                findings.add(guessed(at.run, node, line, listing));
            }
            (None, _) if node.kind == NodeKind::Statement && node.first_row.is_some() => {
                untied.push(node);
            }
            _ => {}
        }
    }
    if let Some(first) = untied.first() {
        let text = one_line(&first.text);
        let message = match untied.len() {
            1 => format!("`{text}` matches no line of the program"),
            n => format!("{n} rows match no line of the program; the first is `{text}`"),
        };
        let issue = Issue::noted("untied-row", message)
            .hint("Check whether the program was changed after the run, or the text of the row is not from the program.");
        findings.add(issue.at_execution(first.id));
    }
}

/// Returns whether a guessed line needs no report, because the words of the log or the state file fit the line and its
/// kind. A row of a database contains the whole text of its statement, so a guess for a row is always reported. `alone`
/// returns whether the program has only one statement of a kind.
fn fits(node: &Node, line: u32, listing: &Listing, alone: impl Fn(StatementKind) -> bool) -> bool {
    let own = listing.statement_at(line).and_then(|at| listing.get(at));
    let Some(own) = own.filter(|_| node.first_row.is_none()) else {
        return false;
    };
    let same = match node.kind {
        NodeKind::Gate { .. } => own.kind == StatementKind::Gate,
        NodeKind::Parallel => own.kind == StatementKind::Parallel,
        NodeKind::Loop => own.kind.is_loop(),
        _ => false,
    };
    match node.line_by {
        Some(TiedBy::Name | TiedBy::Target) => true,
        Some(TiedBy::Number) => same,
        Some(TiedBy::Kind) => same && alone(own.kind),
        _ => false,
    }
}

/// Returns the record of a node as written: the line of a log or a state file, or else the text of a row.
fn said<'r>(run: &'r Run, node: &'r Node) -> &'r str {
    let line = node.state_line.map(|line| line as usize);
    let log = run.log.as_ref().filter(|_| run.state_file.is_none());
    let of_log = || Some(&*log?.lines.get(line?)?.raw);
    let of_file = || Some(&*run.state_file.as_ref()?.trace.get(line?)?.text);
    of_log().or_else(of_file).unwrap_or(&node.text)
}

fn guessed(run: &Run, node: &Node, line: u32, listing: &Listing) -> Issue {
    let source = (line as usize)
        .checked_sub(1)
        .and_then(|at| listing.lines.get(at))
        .map_or("", |l| l.text.as_str());
    let said = one_line(said(run, node));
    let message = format!(
        "`{said}` is matched to line {line} by a guess: `{}`",
        one_line(source)
    );
    let why = match node.line_by {
        Some(by) => format!("The line is a guess: {}.", by.why_guessed()),
        None => "The line is a guess: the recorded text was shortened or reworded, or occurs more than once in the program."
            .to_owned(),
    };
    let issue = Issue::noted("guessed-tie", message).hint(why);
    issue.at_execution(node.id)
}
