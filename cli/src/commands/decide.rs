use prosescope_core::gate::audit::Head;
use prosescope_core::time::human_duration;
use prosescope_core::write::{Decided, Decision, ResolveGate, Resolved, TimedOut};
use serde_json::{Value, json};

use crate::args::gates::{ApproveArgs, Decider, RejectArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::print;
use crate::record::Recorder;

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
    let run = match recorder.record(&command)? {
        Resolved::Decided(done) => {
            let run = recorder.run_id();
            if out.json {
                out.json(&decided(run, &done))?;
            } else {
                let waited = done.waited_ms.map(human_duration);
                out.text(&print::decided(run, &done, waited.as_deref()))?;
            }
            return Ok(Exit::Done);
        }
        Resolved::TooLate(timed_out) => {
            if out.json {
                out.json(&expired(recorder.run_id(), &timed_out))?;
            }
            (recorder.run_id().to_owned(), timed_out)
        }
    };
    Err(too_late(&run.0, &run.1))
}

fn too_late(run: &str, out: &TimedOut) -> CliError {
    let deadline = out.deadline.as_ref();
    let deadline = deadline.map_or(String::new(), |at| format!(" ({at})"));
    let error = CliError::new(
        Exit::Refused,
        format!(
            "gate {} is past its deadline{deadline}: its time-out was recorded, your decision was not",
            out.gate
        ),
    );
    let error = match &out.on_reject {
        Some(action) => error.hint(format!("the program goes on with: {action}")),
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

fn decided(run: &str, done: &Decided) -> Value {
    json!({
        "run": run,
        "gate": done.gate,
        "status": done.status,
        "resolved_by": done.by,
        "on_behalf_of": done.on_behalf_of,
        "claimed": true,
        "waited_ms": done.waited_ms,
        "on_reject": done.on_reject,
        "execution_id": done.execution,
        "head": head(done.head.as_ref()),
    })
}

/// A recorded time-out, as JSON.
pub(super) fn expired(run: &str, out: &TimedOut) -> Value {
    json!({
        "run": run,
        "gate": out.gate,
        "status": "timeout",
        "resolved_by": "system",
        "deadline": out.deadline,
        "on_reject": out.on_reject,
        "execution_id": out.execution,
        "head": head(out.head.as_ref()),
    })
}

/// A head as JSON.
pub(super) fn head(head: Option<&Head>) -> Value {
    json!(head)
}
