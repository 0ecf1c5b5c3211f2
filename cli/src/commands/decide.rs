use prosescope_core::pages::view::GateTimedOut;
use prosescope_core::record::{Decision, ResolveGate, ResolveResult};

use crate::args::gates::{ApproveArgs, Decider, RejectArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, near, print, record};

pub(super) fn approve(args: &ApproveArgs, out: &Out) -> Result<Exit, CliError> {
    let decision = match &args.reason {
        Some(reason) if args.reject => Decision::Reject {
            reason: reason.clone(),
        },
        _ => Decision::Approve {
            comment: args.comment.clone(),
        },
    };
    decide(&args.decider, decision, out)
}

pub(super) fn reject(args: &RejectArgs, out: &Out) -> Result<Exit, CliError> {
    let reason = args.reason.clone();
    decide(&args.decider, Decision::Reject { reason }, out)
}

fn decide(args: &Decider, decision: Decision, out: &Out) -> Result<Exit, CliError> {
    let (run, gate) = args.gate.names()?;
    let command = ResolveGate {
        gate: gate.to_owned(),
        decision,
        by: args.by.clone(),
        on_behalf_of: args.acting_for.clone(),
        record_timeout: args.record_timeout,
        overrides: args.overrides,
    };
    let done = record::one(&run, &command);
    match done.map_err(|error| with_near(error, &run, gate))? {
        ResolveResult::Decided(done) => out.show(&done, || print::decided(&done)),
        ResolveResult::TooLate(timed_out) => {
            if out.json {
                out.json(&timed_out)?;
            }
            Err(too_late(&timed_out))
        }
    }
}

/// Adds similar names of gates to an error, if the run does not have the gate that the command line names.
fn with_near(mut error: CliError, run: &str, gate: &str) -> CliError {
    if error.exit == Exit::NotFound
        && let Ok(session) = locate::open(run)
    {
        let gates = session.run().gates.iter().map(|gate| &*gate.id);
        let near = near::hint(gate, gates, "gates");
        if !near.is_empty() {
            error.hints.insert(0, near);
        }
    }
    error
}

fn too_late(out: &GateTimedOut) -> CliError {
    let deadline = out.deadline.as_ref();
    let deadline = deadline.map_or(String::new(), |at| format!(" ({})", at.spoken()));
    let error = CliError::refused(
        "gate-past-deadline",
        format!(
            "gate {} is past its deadline{deadline}: the time-out was recorded instead of the decision",
            out.gate
        ),
    );
    let error = match &out.on_reject {
        Some(action) => error.hint(format!("the program continues with: {action}")),
        None => error,
    };
    match &out.head {
        Some(head) => error.hint(format!(
            "head of the audit log of run {}: {}",
            out.run,
            print::head(head)
        )),
        None => error,
    }
}
