//! Describes in one line what the VM does itself, without a subagent, after a statement has begun.

use super::super::source::{LineLookup, ProgramSource};
use super::ends::StatementEnd;
use crate::model::shell;
use crate::program::{Listing, StatementKind as Kind};
use crate::record::render::brief::NextStep;

/// Returns the next step of the execution `id`; `None` for a session, because its brief contains the next step.
pub(in crate::record) fn next_step(
    source: &ProgramSource<'_>,
    found: &LineLookup,
    id: i64,
) -> Option<NextStep> {
    let (listing, at) = source.listed(found);
    let listing = listing.as_ref();
    let own = listing.get(at);
    let kind = own.map_or(Kind::Other, |s| s.kind);
    let target = own.and_then(|s| s.target.as_deref());
    let output = own.and_then(|s| s.output()).map(|(name, _)| name);
    let block = target.filter(|_| kind == Kind::Do);
    // A call of a block ends without a value, unless the program gives the value a name.
    let of = Some(kind).filter(|kind| *kind != Kind::Do);
    let ending = StatementEnd::of(of, output);
    let do_it = match kind {
        Kind::Session | Kind::Resume => return None,
        Kind::Parallel if found.statement.is_some() => {
            return Some(NextStep {
                say: "Run the parallel's branches, then join them".to_owned(),
                command: format!("prosescope end {id}"),
            });
        }
        kind if kind.is_loop() => {
            let inside = statements(listing, at, "inside");
            return Some(NextStep {
                say: format!(
                    "Run {inside}; `prosescope round {id}` ends a round before another, and the following command ends the loop"
                ),
                command: format!("prosescope end {id}"),
            });
        }
        Kind::Throw => {
            let message = own.and_then(|s| s.property("message")).unwrap_or_default();
            let message = message.lines().next().unwrap_or_default().trim();
            let command = ending.command(id);
            return Some(NextStep {
                say: "Record the error that the statement throws".to_owned(),
                command: match message {
                    "" => command,
                    // Such a text would look like an option.
                    message if message.starts_with('-') => command,
                    message => command.replace("TEXT", &shell::word(message)),
                },
            });
        }
        Kind::Arrow => {
            "Run the sessions in turn, each with the output of the previous session".to_owned()
        }
        Kind::Pipe => format!(
            "Run {} for each item, with `--item NAME`",
            statements(listing, at, "inside")
        ),
        Kind::Return => {
            "Write the returned value as the value of the call, once the call ends".to_owned()
        }
        Kind::Do if block.is_some() => {
            let block = block.unwrap_or_default();
            match listing.block_named(block) {
                Some(at) => {
                    format!(
                        "Run {}",
                        statements(listing, at, &format!("of block {block}"))
                    )
                }
                None => format!("Run block {block}"),
            }
        }
        Kind::Call => format!("Run the program {}", target.unwrap_or_default()),
        Kind::Choice => "Choose an option, and run that option".to_owned(),
        Kind::If | Kind::Elif => {
            format!(
                "If the condition holds, run {}",
                statements(listing, at, "inside")
            )
        }
        Kind::Exec => "Run the statement's command".to_owned(),
        Kind::Gate => "Check that it holds".to_owned(),
        kind if kind.has_body() => format!("Run {}", statements(listing, at, "inside")),
        Kind::Assign | Kind::Output => "Compute the value".to_owned(),
        // The statements of a branch with a body begin one by one.
        _ if found.statement.is_none() && found.line.is_some() => {
            let first = found.line.filter(|line| {
                let at = source.at_line(*line);
                !at.zip(source.listing)
                    .is_some_and(|(at, listing)| listing.has_items(at))
            });
            let first = first.map_or(String::new(), |line| format!(" (line {line} first)"));
            format!("Run the statements inside{first}")
        }
        _ => "Carry out the statement".to_owned(),
    };
    let then = match ending {
        StatementEnd::Writes(_) => "then write the value (on standard input)",
        _ => "then end the execution",
    };
    Some(NextStep {
        say: format!("{do_it}, {then}"),
        command: ending.command(id),
    })
}

/// Returns the phrase for the statements in a construct, with the line of the first one.
fn statements(listing: &Listing, at: u32, of: &str) -> String {
    let first = listing.children(at).next().and_then(|at| listing.get(at));
    let first = first.map_or(String::new(), |first| {
        format!(" (line {} first)", first.line)
    });
    format!("the statements {of}{first}")
}
