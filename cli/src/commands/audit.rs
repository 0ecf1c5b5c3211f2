use prosescope_core::model::issue::{Issue, Severity};
use prosescope_core::pages::session::pages::{
    AuditFilter, audit_stats, audit_timeouts, longest_first,
};
use prosescope_core::pages::session::{Session, pages};
use prosescope_core::pages::view::RunAudit;

use super::{ended, no_gate, since, unread};
use crate::args::gates::{AuditArgs, AuditCommand};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print};

pub(super) fn run(args: &AuditArgs, out: &Out) -> Result<Exit, CliError> {
    if let Some(AuditCommand::Verify { run, expect_head }) = &args.command {
        return verify(&run.name()?, expect_head.as_deref(), out);
    }
    let report = args.timeouts || args.stats || args.waits;
    let filter = AuditFilter {
        gate: args.gate.clone(),
        by: args.by.clone(),
        since: args.since.as_deref().map(since).transpose()?,
        // With `--by` or `--since`, only decisions are listed: OpenProse's queries by principal and by time return
        // nothing else.
        decisions: !report && (args.by.is_some() || args.since.is_some()),
    };
    let (mut exit, mut runs, mut waits) = (Exit::Done, Vec::new(), Vec::new());
    let mut add = |session: &Session, place: String| {
        // `--gate`, `--by` and `--since` narrow the output only: the chain is verified over the whole log.
        let mut audit = pages::audit(session, None);
        audit.rows.retain(|row| filter.wants(row));
        if args.waits {
            waits.extend(pages::gate_waits(session, &filter));
        }
        let wrong = has_errors(&audit.issues);
        let run = session.name();
        runs.push(RunAudit { run, place, audit });
        if wrong { Exit::Issues } else { ended(session) }
    };
    if args.all {
        for (name, place, session) in locate::open_all(None)? {
            let ended = match session {
                Ok(session) => unread::require_log(&session).map(|()| add(&session, place)),
                Err(error) => Err(error.into()),
            };
            // The logs of other runs are shown even if one run is unreadable.
            let ended = ended.unwrap_or_else(|error| {
                unread::skipped(&name, &error);
                error.exit
            });
            exit = exit.max(ended);
        }
        if exit > Exit::Issues && runs.iter().all(|run| run.audit.rows.is_empty()) {
            return Err(unread::some(exit, "what was logged"));
        }
    } else {
        let run = args.run.name()?;
        let session = locate::open(&run)?;
        unread::require_log(&session)?;
        exit = add(&session, String::new());
        known(&session, args.gate.as_deref())?;
    }
    let rows = || runs.iter().flat_map(|run| &run.audit.rows);
    match (args.timeouts, args.stats, args.waits) {
        (true, ..) => {
            let timeouts = audit_timeouts(rows());
            out.show(&timeouts, || print::audit_timeouts(&timeouts, out.width))
        }
        (_, true, _) => {
            let stats = audit_stats(rows());
            out.show(&stats, || print::audit_stats(&stats, out.width))
        }
        (.., true) => {
            longest_first(&mut waits);
            out.show(&waits, || print::gate_waits(&waits, out.width))
        }
        _ => match (args.all, runs.as_slice()) {
            (false, [one]) => out.show(&one.audit, || print::audit(&one.audit, out.width)),
            _ => out.show(&runs, || print::audits(&runs, out.width)),
        },
    }?;
    Ok(exit)
}

/// Rejects a gate that the run does not have.
fn known(session: &Session, gate: Option<&str>) -> Result<(), CliError> {
    let Some(gate) = gate else { return Ok(()) };
    let run = session.run();
    let known = run.gates.iter().any(|known| *known.id == *gate);
    if known || run.audit.iter().any(|event| *event.gate_id == *gate) {
        return Ok(());
    }
    Err(no_gate(session, gate))
}

fn verify(run: &str, expect_head: Option<&str>, out: &Out) -> Result<Exit, CliError> {
    let expected = expect_head.map(count_and_hash).transpose()?;
    let session = locate::open(run)?;
    // A chain without some of its rows cannot be verified.
    unread::require_log(&session)?;
    let check = pages::audit_check(&session, expected);
    out.show(&check, || print::audit_check(&check, out.width))?;
    Ok(if has_errors(&check.issues) {
        Exit::Issues
    } else {
        Exit::Done
    })
}

/// Returns whether an issue has severity error, which means that the log or a gate was changed.
fn has_errors(issues: &[Issue]) -> bool {
    issues.iter().any(|issue| issue.severity == Severity::Error)
}

/// Parses `COUNT:HASH`.
fn count_and_hash(text: &str) -> Result<(u64, &str), CliError> {
    let wrong = || {
        CliError::usage(format!(
            "--expect-head {text} is not a head: expected COUNT:HASH, a number and 64 hex digits. Next: copy the head that a decision printed"
        ))
    };
    let (count, hash) = text.trim().split_once(':').ok_or_else(wrong)?;
    let hex = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    match count.parse() {
        Ok(count) if hex && count > 0 => Ok((count, hash)),
        _ => Err(wrong()),
    }
}
