//! What `prose check` looks for and reading does not need: from the decoded run and its trace alone. What needs the
//! run's files or its database is looked for in [`crate::session`].

mod against;
mod gates;
mod insisted;
mod program;
mod run;

use std::collections::BTreeMap;

use crate::issue::{Issue, Severity};
use crate::model::Run;
use crate::program::Listing;
use crate::trace::Trace;

pub(crate) use run::missing_outputs;

/// What is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Looked<'a> {
    /// The run.
    pub run: &'a Run,
    /// What happened in it.
    pub trace: &'a Trace,
    /// Its program, where its source is there.
    pub listing: Option<&'a Listing>,
    /// Milliseconds since 1970 UTC.
    pub now: Option<i64>,
}

/// Looks for what is odd beyond reading.
pub fn look(at: Looked<'_>) -> Vec<Issue> {
    let mut findings = Findings::default();
    run::look(at, &mut findings);
    program::look(at, &mut findings);
    gates::look(at, &mut findings);
    against::look(at, &mut findings);
    insisted::look(at, &mut findings);
    findings.finish()
}

/// Places an issue at a line of the program: of its file, or of the column that holds it.
pub fn in_program(run: &Run, issue: Issue, line: u32) -> Issue {
    match run.program.source_from.as_deref() {
        Some("run.program_source") => issue.at_table("run").at_column("program_source"),
        Some(file) => issue.at_file(file),
        None => issue,
    }
    .at_line(line)
}

/// Issues as they are found; of one rule not more than a person reads.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Issue>,
    counts: BTreeMap<String, (Severity, u32)>,
}

impl Findings {
    /// How many of one rule are listed one by one.
    const LISTED: u32 = 20;

    /// Adds an issue.
    pub fn add(&mut self, issue: Issue) {
        let (_, count) = self
            .counts
            .entry(issue.rule.clone())
            .or_insert((issue.severity, 0));
        *count = count.saturating_add(1);
        if *count <= Findings::LISTED {
            self.list.push(issue);
        }
    }

    /// All of them, with a line for each rule that had more.
    pub fn finish(mut self) -> Vec<Issue> {
        for (rule, (severity, count)) in self.counts {
            if let Some(more @ 1..) = count.checked_sub(Findings::LISTED) {
                let message = format!("… and {more} more of the same kind");
                self.list.push(Issue::new(severity, &rule, message));
            }
        }
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fault_in_many_places_is_counted_not_repeated() {
        let mut findings = Findings::default();
        for n in 0..1_000 {
            findings.add(Issue::info("guessed-tie", format!("execution {n}")));
        }
        findings.add(Issue::error("attachment-missing", "gone"));
        let found = findings.finish();
        assert_eq!(found.len(), 22);
        assert_eq!(found[21].message, "… and 980 more of the same kind");
    }
}
