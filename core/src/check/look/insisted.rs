use super::{Findings, Looked};
use crate::issue::Issue;
use crate::model::{Execution, Meta};

/// What writers said of how they recorded: by force, against the program, or the session itself (errata, last paragraph).
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
            let issue = Issue::info("recorded-by-force", message).at_row("execution", row.id);
            findings.add(issue.hint("Something was open, or waited, that should have come first."));
        }
        if meta.overridden {
            let message = format!(
                "execution {} was recorded otherwise than the program says",
                row.id
            );
            let issue = Issue::info("recorded-by-override", message).at_row("execution", row.id);
            findings.add(issue.hint("Its metadata says what differs, under `override`."));
        }
    }
    let by_session = |row: &&Execution| row.meta.as_deref().is_some_and(Meta::by_session);
    let count = at.run.executions.iter().filter(by_session).count();
    if count > 0 {
        let what = match count {
            1 => "1 execution was completed by the session that carried it out".to_owned(),
            n => format!("{n} executions were completed by the sessions that carried them out"),
        };
        findings.add(
            Issue::info("completed-by-session", format!("{what} (`put --done`)"))
                .at_table("execution")
                .hint("The others were completed by whoever runs the program."),
        );
    }
}
