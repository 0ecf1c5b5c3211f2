use prosescope_core::model::{AgentScope, Form};
use prosescope_core::render::brief::{Brief, brief};
use prosescope_core::render::text::escape;
use prosescope_core::session::Session;
use prosescope_core::trace::NodeKind;
use prosescope_core::write::names;
use serde_json::json;

use crate::args::record::BriefArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, record};

pub(super) fn run(args: &BriefArgs, out: &Out) -> Result<Exit, CliError> {
    if let Some(name) = &args.name {
        names::binding(name)?;
    }
    let (session, folder) = locate::open_with_folder(&args.run.run)?;
    let frame = frame(&session, args.execution)?;
    let database = matches!(session.run().form, Form::Sqlite { .. });
    let name = args.name.as_deref().unwrap_or("anon_…");
    let declared = args
        .name
        .as_deref()
        .and_then(|name| session.listing()?.binder(name));
    let of = Brief {
        run: session.run().id.to_string(),
        location: record::location(database, &folder, name, frame.as_ref().map(|(id, ..)| *id)),
        database: database.then(|| format!("{folder}/state.db")),
        name: args.name.clone(),
        kind: declared.and_then(|statement| statement.binds.clone()),
        source: declared.map(|statement| statement.text.clone()),
        frame,
        execution: args.execution,
        agent: args.agent.as_ref().map(|agent| {
            let scope = session
                .listing()
                .and_then(|listing| listing.agent_scope(agent));
            let scope = scope.unwrap_or(AgentScope::Execution);
            (agent.clone(), scope.word().to_owned())
        }),
    };
    let text = brief(&of, args.sqlite3);
    if out.json {
        out.json(&json!({ "run": of.run, "text": text }))?;
    } else {
        out.text(&escape(&text, true))?;
    }
    Ok(Exit::Done)
}

/// The frame that an execution lies in, or is: id, block, depth.
fn frame(session: &Session, id: Option<i64>) -> Result<Option<(i64, String, i64)>, CliError> {
    let Some(id) = id else { return Ok(None) };
    let nodes = &session.trace().nodes;
    let mut at = session.node_of_row(id).ok_or_else(|| {
        CliError::not_found(format!(
            "there is no execution {id} in run {}",
            session.run().id
        ))
        .hint("`prose trace RUN` lists what ran, with ids")
    });
    loop {
        let Some(node) = nodes.get(at? as usize) else {
            return Ok(None);
        };
        if let (NodeKind::Frame { block, depth }, Some(id)) = (&node.kind, node.id) {
            return Ok(Some((id, block.to_string(), i64::from(*depth))));
        }
        match node.parent {
            Some(parent) => at = Ok(parent),
            None => return Ok(None),
        }
    }
}
