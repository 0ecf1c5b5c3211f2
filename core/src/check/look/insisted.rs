use super::{Findings, Looked};
use crate::issue::Issue;

/// Reports changes that their writers marked as forced or as deviating from the program.
pub(super) fn look(at: Looked<'_>, findings: &mut Findings) {
    for row in &at.run.executions {
        let Some(meta) = row.meta.as_deref() else {
            continue;
        };
        if !meta.forced.is_empty() {
            let message = format!(
                "execution {} was recorded by force: {}",
                row.id,
                meta.forced.join(", ")
            );
            let issue = Issue::noted("recorded-by-force", message).at_row("execution", row.id);
            findings.add(issue.hint("These rules would have refused it without `--force`."));
        }
        if meta.overridden {
            let message = format!(
                "execution {} was recorded otherwise than the program says",
                row.id
            );
            let issue = Issue::noted("recorded-by-override", message).at_row("execution", row.id);
            findings.add(issue.hint("The difference is in its metadata, under `override`."));
        }
    }
}
