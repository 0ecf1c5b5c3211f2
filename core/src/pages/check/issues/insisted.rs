use super::{Findings, RunUnderCheck};
use crate::model::issue::Issue;

/// Reports changes that their writers marked as forced or as deviating from the program.
pub(super) fn check_insisted(at: RunUnderCheck<'_>, findings: &mut Findings) {
    for row in &at.run.executions {
        let Some(meta) = row.meta.as_deref() else {
            continue;
        };
        if !meta.forced.is_empty() {
            let message = format!(
                "execution {} was recorded with `--force`, against these rules: {}",
                row.id,
                meta.forced.join(", ")
            );
            let issue = Issue::noted("recorded-by-force", message).at_row("execution", row.id);
            findings.add(issue.hint("Check the execution: without `--force`, these rules would have refused to record it."));
        }
        if meta.overridden {
            let message = format!(
                "execution {} was recorded with `--override`: it differs from the program",
                row.id
            );
            let issue = Issue::noted("recorded-by-override", message).at_row("execution", row.id);
            findings.add(
                issue.hint(
                    "See the difference in the `metadata` of the execution, under `override`.",
                ),
            );
        }
    }
}
