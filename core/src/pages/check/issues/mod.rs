//! Finds the issues of `prosescope check` that follow from the decoded run and its trace alone.
//! [`crate::pages::session`] finds the issues that need the run's files or its database.

mod against;
mod gates;
mod insisted;
mod judgement;
mod program;
mod run;

use crate::model::Run;
use crate::model::issue::Issue;
pub use crate::model::issue::Issues as Findings;
use crate::program::Listing;
use crate::trace::Trace;

pub(crate) use run::missing_outputs;

/// The run to check, with its trace and its program.
#[derive(Debug, Clone, Copy)]
pub struct RunUnderCheck<'a> {
    /// The decoded run.
    pub run: &'a Run,
    /// The trace: what happened in the run.
    pub trace: &'a Trace,
    /// The run's program; `None` if its source is missing.
    pub listing: Option<&'a Listing>,
    /// The current time, in milliseconds since 1970 UTC.
    pub now: Option<i64>,
}

/// Returns the contradictions between the parts of a run, which reading alone does not report.
pub fn find_issues(at: RunUnderCheck<'_>) -> Vec<Issue> {
    let mut findings = Findings::default();
    run::check_run(at, &mut findings);
    program::check_program(at, &mut findings);
    gates::check_gates(at, &mut findings);
    against::check_against_program(at, &mut findings);
    insisted::check_insisted(at, &mut findings);
    judgement::check_judgement(at, &mut findings);
    judgement::check_gone(at, &mut findings);
    judgement::check_order(at, &mut findings);
    judgement::check_bodies(at, &mut findings);
    findings.finish()
}

/// Places an issue at a line of the program: in the program's file, or in the database column that contains the
/// program.
pub fn in_program(run: &Run, issue: Issue, line: u32) -> Issue {
    match run.program.source_from.as_deref() {
        Some("run.program_source") => issue.at_table("run").at_column("program_source"),
        Some(file) => issue.at_file(file),
        None => issue,
    }
    .at_line(line)
}
