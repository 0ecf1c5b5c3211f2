use std::collections::BTreeSet;

use super::{Findings, RunUnderCheck, in_program};
use crate::model::issue::Issue;
use crate::model::text::cut;
use crate::model::time::{Stamp, human_duration};
use crate::model::{BindingKind, Run, RunStatus, ValueAt};
use crate::program::{Listing, StatementKind};

/// Reports contradictions between the run's status and its rows and files.
pub(super) fn check_run(at: RunUnderCheck<'_>, findings: &mut Findings) {
    let verdict = &at.trace.verdict;
    if verdict.stale {
        let last = verdict.last_sign.as_ref().map(Stamp::spoken);
        let (by, last) = (&verdict.source, last.unwrap_or_default());
        let from = verdict.last_sign_from.as_deref().unwrap_or("unknown");
        let message = format!(
            "the run is running according to the {by}, but its last sign of life was on {last} ({from})"
        );
        let issue = Issue::warning("no-sign-of-life", message);
        findings.add(
            issue.hint(
                "The run was probably interrupted. See how to continue: `prosescope resume`.",
            ),
        );
    }
    backwards(at, findings);
    empty(at.run, findings);
    // A rejected gate needs no error message, so this check skips gates.
    let cause = at.trace.first_cause.and_then(|n| at.trace.nodes.get(n));
    if let Some(cause) = cause.filter(|node| !node.kind.is_gate())
        && cause.error(at.run).is_none_or(|e| e.trim().is_empty())
    {
        let text = one_line(&cause.text);
        let message = format!("`{text}` failed first, but no error message is recorded");
        let issue = Issue::noted("failure-without-message", message)
            .hint("Look for the reason in the binding of the statement, or in the last segment of its agent.");
        findings.add(issue.at_execution(cause.id));
    }
    if verdict.status == RunStatus::Completed.word() {
        outputs(at, findings);
    }
}

/// Reports binding files without a value, because their statements are shown as completed nevertheless.
fn empty(run: &Run, findings: &mut Findings) {
    for binding in run.bindings.iter().filter(|b| !b.superseded) {
        let ValueAt::File { path, len: 0, .. } = &binding.value else {
            continue;
        };
        let message = format!("the file of the binding {} contains no value", binding.name);
        let issue = Issue::noted("empty-value", message)
            .hint("The statement counts as completed. Check whether its value should be empty, or its writer was cut off.");
        findings.add(issue.at_file(path.strip_prefix(&*run.root).unwrap_or(path)));
    }
}

/// Reports a run whose recorded end is earlier than its start.
fn backwards(at: RunUnderCheck<'_>, findings: &mut Findings) {
    let run = at.run;
    let what = if RunStatus::parse(&at.trace.verdict.status).is_finished() {
        "end"
    } else {
        "last update"
    };
    let by_id = run.started_by_id().filter(|_| run.started.is_none());
    let from = by_id.as_ref().map_or("", |_| ", from the run's id");
    let (Some(start), Some(end)) = (run.started.as_ref().or(by_id.as_ref()), &run.updated) else {
        return;
    };
    let both = start.millis().zip(end.millis());
    let before = both.map(|(start, end)| start - end);
    if let Some(before) = before.filter(|ms| *ms > 0) {
        let before = human_duration(before);
        let message =
            format!("the {what} of the run, {end}, is {before} before its start, {start}{from}");
        findings.add(Issue::warning("end-before-start", message).hint(
            "Check whether a local time was recorded as UTC. The duration of the run is not shown.",
        ));
    }
}

/// Reports outputs of the program that a completed run did not write.
fn outputs(at: RunUnderCheck<'_>, findings: &mut Findings) {
    let Some(listing) = at.listing else { return };
    for (line, name) in missing_outputs(at.run, listing) {
        let message = format!("the run is completed, but its output `{name}` is missing");
        let issue = Issue::warning("output-missing", message)
            .hint("The statement of the output did not run, or its session wrote no binding.");
        findings.add(in_program(at.run, issue, line));
    }
}

/// Returns the outputs at the top level of a program for which no binding exists, with their lines.
pub(crate) fn missing_outputs<'a>(
    run: &'a Run,
    listing: &'a Listing,
) -> impl Iterator<Item = (u32, &'a str)> {
    let bindings = BindingNames::of(run);
    listing.statements.iter().filter_map(move |statement| {
        let name = statement.name.as_deref()?;
        let gives_back = statement.binds.as_deref() == Some("output") && statement.parent.is_none();
        let declared = statement.kind == StatementKind::Output && !statement.text.contains('=');
        // `output r = s` returns the value of `s`, so the value's only binding may have either name.
        let value = statement
            .text
            .split_once('=')
            .map(|(_, value)| value.trim());
        let there = || {
            bindings.all.contains(name)
                || bindings.has_output_ending_in(name)
                || value.is_some_and(|value| bindings.written.contains(value))
        };
        (gives_back && !declared && !there()).then_some((statement.line, name))
    })
}

/// The names of a run's bindings, prepared for looking up each output of its program.
struct BindingNames<'a> {
    all: BTreeSet<&'a str>,
    written: BTreeSet<&'a str>,
    /// The reversed names of outputs, for lookups by the end of a name.
    outputs: BTreeSet<Vec<u8>>,
}

impl<'a> BindingNames<'a> {
    fn of(run: &'a Run) -> BindingNames<'a> {
        let bindings = || run.bindings.iter();
        let written = bindings().filter(|b| b.is_written());
        let outputs = bindings().filter(|b| b.kind == BindingKind::Output);
        BindingNames {
            all: bindings().map(|b| &*b.name).collect(),
            written: written.map(|b| &*b.name).collect(),
            outputs: outputs.map(|b| b.name.bytes().rev().collect()).collect(),
        }
    }

    fn has_output_ending_in(&self, name: &str) -> bool {
        let end: Vec<u8> = name.bytes().rev().collect();
        let mut from = self.outputs.range(end.clone()..);
        from.next().is_some_and(|output| output.starts_with(&end))
    }
}

/// Returns the first line of a statement, cut at 60 characters, for quoting in a message.
pub(super) fn one_line(text: &str) -> String {
    cut(text.trim().lines().next().unwrap_or_default(), 60)
}
