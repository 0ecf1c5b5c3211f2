use prosescope_core::time::human_duration;
use prosescope_core::view::{GateDecided, GateTimedOut};
use prosescope_core::write::{Decision, ResolveGate, Resolved, TimedOut};

use crate::args::gates::{ApproveArgs, Decider, RejectArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::record::Recorder;
use crate::{locate, near, print};

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
    let command = ResolveGate {
        gate: args.gate.clone(),
        decision,
        by: args.by.clone(),
        on_behalf_of: args.acting_for.clone(),
        record_timeout: args.record_timeout,
    };
    let mut recorder = Recorder::open(&args.run)?;
    let done = recorder.record(&command);
    let run = match done.map_err(|error| with_near(error, args))? {
        Resolved::Decided(done) => {
            let run = recorder.run_id();
            return out.show(&GateDecided::new(run, &done), || {
                let waited = done.waited_ms.map(human_duration);
                print::decided(run, &done, waited.as_deref())
            });
        }
        Resolved::TooLate(timed_out) => {
            if out.json {
                out.json(&GateTimedOut::new(recorder.run_id(), &timed_out))?;
            }
            (recorder.run_id().to_owned(), timed_out)
        }
    };
    Err(too_late(&run.0, &run.1))
}

/// Adds the names that are nearly the gate's, if the run has no such gate.
fn with_near(mut error: CliError, args: &Decider) -> CliError {
    if error.exit == Exit::NotFound
        && let Ok(session) = locate::open(&args.run)
    {
        let gates = session.run().gates.iter().map(|gate| &*gate.id);
        let near = near::hint(&args.gate, gates, "gates");
        if !near.is_empty() {
            error.hints.insert(0, near);
        }
    }
    error
}

fn too_late(run: &str, out: &TimedOut) -> CliError {
    let deadline = out.deadline.as_ref();
    let deadline = deadline.map_or(String::new(), |at| format!(" ({at})"));
    let error = CliError::refused(
        "gate-past-deadline",
        format!(
            "gate {} is past its deadline{deadline}: the time-out was recorded, the decision was not",
            out.gate
        ),
    );
    let error = match &out.on_reject {
        Some(action) => error.hint(format!("the program continues with: {action}")),
        None => error,
    };
    match &out.head {
        Some(head) => error.hint(format!(
            "head of the audit log of run {run}: {}",
            print::head(head)
        )),
        None => error,
    }
}
