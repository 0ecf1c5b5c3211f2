use super::ended;
use crate::args::AuditArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print};

pub(super) fn run(args: &AuditArgs, out: &Out) -> Result<Exit, CliError> {
    let session = locate::open(&args.run)?;
    // The chain is verified over the whole log; a gate only narrows what is shown.
    let mut view = session.gates(Some(locate::now())).audit;
    if let Some(gate) = &args.gate {
        view.rows.retain(|row| row.gate == *gate);
        let known = session
            .run()
            .gates
            .iter()
            .any(|g| g.id.as_ref() == gate.as_str());
        if view.rows.is_empty() && !known {
            return Err(CliError::not_found(format!(
                "run {} has no gate {gate}",
                session.run().id
            ))
            .hint("`prose gates RUN --all` lists its gates"));
        }
    }
    if out.json {
        out.json(&view)?;
    } else {
        out.text(&print::audit(&view, out.width))?;
    }
    Ok(if view.chain == "broken" {
        Exit::Issues
    } else {
        ended(&session)
    })
}
