use prosescope_core::view::GateView;

use super::ended;
use crate::args::GatesArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print};

pub(super) fn run(args: &GatesArgs, out: &Out) -> Result<Exit, CliError> {
    let now = Some(locate::now());
    let (mut gates, exit): (Vec<GateView>, Exit) = match &args.run {
        Some(run) => {
            let session = locate::open(run)?;
            (session.gates(now).gates, ended(&session))
        }
        None => locate::gates_of_all(now)?,
    };
    if args.pending || (args.run.is_none() && !args.all) {
        gates.retain(|gate| gate.status == "pending");
    }
    if out.json {
        out.json(&gates)?;
    } else {
        out.text(&print::gates(&gates, out.width))?;
    }
    Ok(exit)
}
