//! Extracts the facts of each page, and compares two pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use prosescope_core::model::{Form, RunStatus};
use prosescope_core::pages::session::{Session, pages};
use prosescope_core::pages::view::{How, Overview, ProgramView, ResumeView, Stop, TreeRow};
use prosescope_core::read::decode::state_md;

use crate::runs::NOW;

/// Status words for program lines without a record; only the program page shows them.
const SILENT: [&str; 3] = ["not run", "not recorded", "not reached"];

/// The beginnings of the names of rules that only a check applies, because they take a reading of the audit log's chain,
/// of attachments, of imported runs or of the whole database.
const DEEP: [&str; 7] = [
    "audit-",
    "attachment-",
    "unsafe-path",
    "import-",
    "database-",
    "disguised-schema",
    "foreign-code",
];

/// Returns the disagreements between the pages of a run.
pub(crate) fn disagreements(session: &Session) -> Vec<String> {
    let mut pages = Pages {
        show: pages::overview(session, Some(NOW)),
        rows: pages::trace_page(session, &BTreeSet::new(), 0, u32::MAX).rows,
        program: pages::program_page(session, 0, u32::MAX),
        resume: pages::resume(session, Some(NOW)),
        told: Vec::new(),
    };
    let line = pages::summary(session);
    pages.same(
        "status, list and show",
        &line.status,
        &pages.show.status.clone(),
    );
    pages.same(
        "start, list and show",
        &line.started,
        &pages.show.started.clone(),
    );
    pages.same(
        "issues, list and show",
        &line.issues,
        &pages.show.issues.clone(),
    );
    pages.issues(session);
    pages.status();
    pages.positions();
    pages.counts();
    pages.lines();
    pages.next();
    pages.state(&pages::state_md(session, true), session);
    pages.told
}

struct Pages {
    show: Overview,
    rows: Vec<TreeRow>,
    program: ProgramView,
    resume: ResumeView,
    told: Vec<String>,
}

impl Pages {
    fn same<T: PartialEq + Debug>(&mut self, what: &str, one: &T, other: &T) {
        if one != other {
            self.told.push(format!("{what}: {one:?}, {other:?}"));
        }
    }

    fn must(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.told.push(what());
        }
    }

    fn status(&mut self) {
        let (show, resume) = (self.show.status.clone(), self.resume.status.clone());
        self.same("status, show and resume", &show, &resume);
        let over = show == "completed";
        let resumable = self.resume.resumable;
        self.must(!(over && resumable), || {
            "resume goes on with a completed run".to_owned()
        });
        let left = self.show.left.clone();
        let nothing = left == "nothing" || left.starts_with("the run's output");
        self.must(nothing == over, || {
            format!("a run that is {show} has left: {left}")
        });
    }

    /// Of a check's issues, show counts all but those that take another reading.
    fn issues(&mut self, session: &Session) {
        let issues = pages::check(session, Some(NOW));
        let is_shown = |rule: &str| !DEEP.iter().any(|start| rule.starts_with(start));
        let shown = issues.iter().filter(|issue| is_shown(&issue.rule));
        let total = self.show.issues.total() as usize;
        self.same("issues, check and show", &shown.count(), &total);
    }

    fn positions(&mut self) {
        let of_trace: Vec<u32> = self
            .rows
            .iter()
            .filter(|r| r.position)
            .map(|r| r.node)
            .collect();
        let of_show: Vec<u32> = self.show.positions.iter().map(|p| p.node).collect();
        let count = self.show.position_count as usize;
        self.same(
            "count of positions, trace and show",
            &of_trace.len(),
            &count,
        );
        let first: Vec<u32> = of_trace.iter().copied().take(of_show.len()).collect();
        self.same("positions, trace and show", &first, &of_show);
        let positions = self.resume.positions.iter();
        let of_resume: Vec<u32> = positions
            .take(of_show.len())
            .filter(|p| matches!(p.how, Stop::Open | Stop::Gate))
            .filter_map(|p| Some(p.node.as_ref()?.node))
            .collect();
        // A position of show may be missing in resume. If the last statement of an open node failed, resume continues
        // at that statement instead.
        let failed = self
            .resume
            .positions
            .iter()
            .filter(|p| p.how == Stop::Failed)
            .count();
        let others: Vec<u32> = of_show
            .iter()
            .copied()
            .filter(|at| of_resume.contains(at))
            .collect();
        self.same("positions, show and resume", &others, &of_resume);
        self.must(of_show.len() - others.len() <= failed, || {
            "resume leaves out a place where the run stands".to_owned()
        });
        let lines: BTreeSet<u32> = self.show.positions.iter().filter_map(|p| p.line).collect();
        let here = self.program.lines.iter().filter(|line| line.position);
        let of_program: BTreeSet<u32> = here.map(|line| line.line).collect();
        if count == of_show.len() {
            self.same("lines of positions, show and program", &lines, &of_program);
        }
        let finished = matches!(self.show.status.as_str(), "completed" | "failed");
        self.must(!(finished && count > 0), || {
            "a finished run stands somewhere".to_owned()
        });
        // The node that a page marks as the run's first failure.
        let cause = self.rows.iter().find(|r| r.first_cause).map(|r| r.node);
        let of_show = self.show.failure.as_ref().map(|f| f.cause.node);
        self.same("first cause, trace and show", &cause, &of_show);
        let mut positions = self.resume.positions.iter();
        let of_resume = positions
            .find(|p| p.how == Stop::Failed)
            .and_then(|p| p.node.as_ref());
        let of_resume = of_resume.map(|n| n.node);
        if self.show.status == "failed" {
            self.same("first cause, show and resume", &of_show, &of_resume);
        }
        // A position that was retried shows the error of its last try.
        for at in self.show.positions.clone() {
            let row = self.rows.iter().find(|r| r.node == at.node);
            let error = row.and_then(|r| r.error.clone());
            self.same("error of a position, show and trace", &at.error, &error);
        }
    }

    fn counts(&mut self) {
        let rows = self.rows.len() as u32;
        self.same(
            "rows, trace and show",
            &rows,
            &self.show.trace_nodes.clone(),
        );
        let mut of_trace: BTreeMap<&str, u32> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.kind != "round") {
            *of_trace.entry(&row.status).or_default() += 1;
        }
        let more: Vec<String> = self
            .show
            .by_status
            .iter()
            .filter(|c| of_trace.get(&*c.status).copied().unwrap_or_default() < c.count)
            .map(|c| format!("show counts {} {}, the trace has fewer", c.count, c.status))
            .collect();
        self.told.extend(more);
        let done: u32 = self
            .show
            .by_status
            .iter()
            .filter(|c| matches!(&*c.status, "completed" | "approved" | "recovered"))
            .map(|c| c.count)
            .sum();
        self.same(
            "finished, show by status",
            &done,
            &self.show.statements_done.clone(),
        );
        let of_resume = self.resume.done.statements_done;
        self.same("finished, show and resume", &done, &of_resume);
    }

    /// Compares each line of the program with the rows of that line.
    fn lines(&mut self) {
        if self.program.source_from.is_none() {
            return;
        }
        for line in self.program.lines.clone() {
            let tied = self.rows.iter().filter(|r| r.line == Some(line.line));
            let statuses: Vec<String> = tied.map(|r| r.status.clone()).collect();
            self.same(
                &format!("rows at line {}, program and trace", line.line),
                &line.node_count,
                &(statuses.len() as u32),
            );
            // A branch that its parallel block announced has a row, but no program line yet.
            let announced = self.rows.iter().any(|row| {
                row.derived
                    && row.line.is_none()
                    && row.status == line.status
                    && row
                        .branch
                        .as_ref()
                        .is_some_and(|name| line.text.contains(name))
            });
            let known = if statuses.is_empty() {
                line.status.is_empty() || SILENT.contains(&&*line.status) || announced
            } else {
                statuses.contains(&line.status)
            };
            self.must(known, || {
                format!(
                    "line {} is {}, its rows {statuses:?}",
                    line.line, line.status
                )
            });
        }
    }

    /// Checks that resume lists neither ended nor skipped statements, and every statement that was not reached.
    fn next(&mut self) {
        let status = |line: u32| {
            let line = self.program.lines.get(line.checked_sub(1)? as usize)?;
            Some(line.status.clone())
        };
        let mut told = Vec::new();
        for position in &self.resume.positions {
            let Some(next) = &position.next else { continue };
            let word = status(next.line).unwrap_or_default();
            // Whether the statement belongs to another round of a loop whose head has no record.
            let again = next.how == How::Again;
            let passed = !again && matches!(&*word, "not run" | "not recorded");
            let over = position.how == Stop::Between
                && next.how == How::Next
                && matches!(&*word, "completed" | "skipped" | "approved");
            let round = self.resume.ahead.iter().any(|a| a.how == How::Again);
            if passed || (over && !round && position.frame.is_none()) {
                told.push(format!(
                    "resume goes on at line {}, which is {word}",
                    next.line
                ));
            }
        }
        let ahead: BTreeSet<u32> = self.resume.ahead.iter().map(|a| a.line).collect();
        let mut notes = self.resume.notes.iter();
        let whole = self.resume.ahead_count as usize == self.resume.ahead.len()
            && !notes.any(|note| note.contains("unknown"));
        // After a rejected gate, the effect of the rejection decides which statements come next.
        let refused = self.resume.positions.iter().any(|p| p.how == Stop::Refused);
        let whole = whole && !refused;
        let lines = self.program.lines.iter();
        for line in lines.filter(|line| line.status == "not reached") {
            // A clause, such as `catch`, is reached together with its statement.
            let clause = matches!(
                &*line.kind,
                "catch" | "finally" | "else" | "elif" | "option"
            );
            if self.resume.resumable && whole && !clause && !ahead.contains(&line.line) {
                told.push(format!("line {} is not reached, and not ahead", line.line));
            }
        }
        if let ([position], false) = (
            self.resume.positions.as_slice(),
            self.show.left.starts_with("not"),
        ) && let Some(next) = &position.next
        {
            let line = format!(" line {}", next.line);
            if !self.show.left.starts_with("no") && !self.show.left.contains(&line) {
                told.push(format!(
                    "show has left {}, resume goes on at{line}",
                    self.show.left
                ));
            }
        }
        self.told.extend(told);
    }

    /// Checks that the rendered state file agrees with the other pages: its status, and the statuses of its lines.
    fn state(&mut self, text: &str, session: &Session) {
        let (file, _) = state_md::parse(text);
        let said = file.status.as_ref().map(RunStatus::word);
        let said = said.unwrap_or("unknown").to_owned();
        // In a state file, a silent run counts as running, and an unknown status has no word. A folder without a
        // recorded status gets no state file.
        let run = session.run();
        let file_says = run
            .state_file
            .as_ref()
            .is_some_and(|file| file.status.is_some());
        let says = file_says || run.status.is_some() || !run.recorded.is_empty();
        let status = if matches!(run.form, Form::Folder { .. }) && !says {
            "unknown".to_owned()
        } else {
            self.show.status.clone()
        };
        self.same("status, show and state", &status, &said);
        if session.run().program.source.is_none() {
            return;
        }
        for line in &file.trace {
            let (Some(number), Some(annotation)) = (line.line, &line.annotation) else {
                continue;
            };
            let Some(at) = self.program.lines.get(number as usize - 1).cloned() else {
                continue;
            };
            let silent =
                at.status.is_empty() || SILENT.contains(&&*at.status) || at.node_count == 0;
            let says = annotation.status.as_ref().filter(|_| !annotation.declared);
            let Some(says) = says.map(|status| status.word().to_owned()) else {
                continue;
            };
            self.must(!silent || annotation.ahead, || {
                format!("line {number} is {:?}, in state {says}", at.status)
            });
        }
    }
}
