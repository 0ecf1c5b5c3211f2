use std::path::PathBuf;

use prosescope_core::render::text::escape;
use prosescope_core::view::AgentDeleted;
use prosescope_store::{KeptAgent, delete_agent, home_prose, kept_agent};

use crate::args::upkeep::{DeleteAgentArgs, LastingScope};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{self, Out};
use crate::{locate, print, record};

pub(super) fn run(args: &DeleteAgentArgs, out: &Out) -> Result<Exit, CliError> {
    let (prose, scope) = match args.scope {
        LastingScope::Project => (locate::project()?, "project"),
        LastingScope::User => (user()?, "user"),
    };
    let place = record::from_here(&prose);
    let kept = kept_agent(&prose, &args.name)?;
    if kept.is_empty() {
        return Err(
            CliError::not_found(format!("{place} has no agent {}", args.name))
                .hint("`prose agents` lists the agents of a run, its project and the user"),
        );
    }
    if args.yes {
        delete_agent(&prose, &args.name)?;
        out::recorded();
    }
    if out.json {
        out.json(&AgentDeleted {
            agent: args.name.clone(),
            scope: scope.to_owned(),
            place,
            rows: kept.rows,
            memory_bytes: kept.memory,
            files: kept.folder.map(|(files, _)| files),
            done: args.yes,
        })?;
        return Ok(Exit::Done);
    }
    let did = match args.yes {
        true => "deleted",
        false => "would be deleted",
    };
    let mut said = format!("{did}: agent {} ({scope})\n", args.name);
    for line in lines(&kept, &place, &args.name) {
        said.push_str(&format!("  {line}\n"));
    }
    if !args.yes {
        said.push_str("nothing was deleted; repeat the command with --yes to delete it\n");
    }
    out.text(&escape(&said, true))?;
    Ok(Exit::Done)
}

fn lines(kept: &KeptAgent, place: &str, name: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some((files, bytes)) = kept.folder {
        let size = print::bytes(bytes);
        lines.push(format!("{place}/agents/{name}: {files} files, {size}"));
    }
    if kept.rows > 0 {
        let size = print::bytes(kept.memory);
        let rows = kept.rows;
        lines.push(format!(
            "{place}/agents.db: {rows} rows, a memory of {size}"
        ));
    }
    lines
}

fn user() -> Result<PathBuf, CliError> {
    let found = locate::home().map(|home| home_prose(&home)).transpose();
    found
        .map_err(locate::store)?
        .flatten()
        .ok_or_else(|| CliError::not_found("the home directory has no .prose folder"))
}
