use super::run::one_line;
use super::{Findings, Looked};
use crate::issue::Issue;
use crate::model::Form;
use crate::program::{Listing, Statement, StatementKind};
use crate::trace::{Node, NodeKind};

/// How what ran is tied to the program.
pub(super) fn look(at: Looked<'_>, findings: &mut Findings) {
    let is_code = |statement: &Statement| statement.kind != StatementKind::Other;
    let listing = at
        .listing
        .filter(|listing| listing.statements.iter().any(is_code));
    let Some(listing) = listing else {
        let program = &at.run.program;
        let missing = match (at.listing, &program.source_from) {
            (Some(_), Some(file)) => format!("the program, {file}, has no statements"),
            _ => program.missing(),
        };
        if at.run.form != Form::Agents {
            findings.add(
                Issue::info("no-program", missing)
                    .hint("Nothing is tied to lines, and what would run next is not known."),
            );
        }
        return;
    };
    let mut untied: Vec<&Node> = Vec::new();
    for node in &at.trace.nodes {
        match (node.line, node.line_guessed) {
            (Some(line), true) => findings.add(guessed(node, line, listing)),
            (None, _) if node.kind == NodeKind::Statement && node.first_row.is_some() => {
                untied.push(node);
            }
            _ => {}
        }
    }
    if let Some(first) = untied.first() {
        let issue = Issue::info(
            "untied-row",
            match untied.len() {
                1 => format!("`{}` fits no line of the program", one_line(&first.text)),
                n => format!(
                    "{n} rows fit no line of the program, `{}` first",
                    one_line(&first.text)
                ),
            },
        )
        .hint("The program may have been changed since, or the row says something of its own.");
        findings.add(match first.id {
            Some(id) => issue.at_row("execution", id),
            None => issue,
        });
    }
}

fn guessed(node: &Node, line: u32, listing: &Listing) -> Issue {
    let source = (line as usize)
        .checked_sub(1)
        .and_then(|at| listing.lines.get(at))
        .map_or("", |l| l.text.as_str());
    let issue = Issue::info(
        "guessed-tie",
        format!(
            "`{}` is taken for line {line}, `{}`",
            one_line(&node.text),
            one_line(source)
        ),
    )
    .hint(match node.line_by {
        Some(by) => format!("It is a guess: {}.", by.why_guessed()),
        None => "Its text was shortened or reworded, or stands more than once in the program."
            .to_owned(),
    });
    match node.id {
        Some(id) => issue.at_row("execution", id),
        None => issue,
    }
}
