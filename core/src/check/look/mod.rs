//! What `prosescope check` looks for and reading does not need: from the decoded run and its trace alone. What needs the
//! run's files or its database is looked for in [`crate::session`].

mod against;
mod gates;
mod insisted;
mod program;
mod run;

use crate::issue::Issue;
pub use crate::issue::Issues as Findings;
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
    /// The run's program; `None` if its source is missing.
    pub listing: Option<&'a Listing>,
    /// Milliseconds since 1970 UTC.
    pub now: Option<i64>,
}

/// Returns contradictions between the parts of a run that reading alone does not report.
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
