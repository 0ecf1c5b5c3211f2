use std::collections::BTreeSet;

use super::rule;
use crate::model::issue::Severity;
use crate::pages::view::{CheckReport, CheckedRun, Counts};

/// Combines checked runs into a report. Keeps only issues of the given rules (of all rules, if none is given) and of at
/// least this severity.
pub fn report(runs: Vec<CheckedRun>, rules: &[String], least: Severity) -> CheckReport {
    let mut report = CheckReport {
        runs,
        ..CheckReport::default()
    };
    let mut found = BTreeSet::new();
    for run in &mut report.runs {
        run.issues.retain(|view| {
            let wanted = rules.is_empty() || rules.contains(&view.issue.rule);
            wanted && view.issue.severity >= least
        });
        run.counts = Counts::of(run.issues.iter().map(|view| &view.issue));
        report.counts = report.counts.plus(run.counts);
        found.extend(run.issues.iter().map(|view| view.issue.rule.as_str()));
    }
    report.rules = found.into_iter().filter_map(rule).cloned().collect();
    report
}
