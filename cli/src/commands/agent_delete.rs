use std::path::PathBuf;

use prosescope_core::pages::view::AgentDeleted;
use prosescope_core::record::render::text::escape;
use prosescope_store::{KeptAgent, delete_agent, home_prose, kept_agent};

use crate::args::upkeep::{DeleteAgentArgs, LastingScope};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{self, Out};
use crate::{locate, print, record};

pub(super) fn run(args: &DeleteAgentArgs, out: &Out) -> Result<Exit, CliError> {
    if args.postgres {
        on_server(args, out)
    } else {
        in_files(args, out)
    }
}

fn in_files(args: &DeleteAgentArgs, out: &Out) -> Result<Exit, CliError> {
    let prose = match args.scope {
        LastingScope::Project => locate::project()?,
        LastingScope::User => user()?,
    };
    let place = record::from_here(&prose);
    let kept = kept_agent(&prose, &args.name)?;
    if kept.is_empty() {
        return Err(none(args, &place));
    }
    if args.yes {
        delete_agent(&prose, &args.name)?;
        out::recorded();
    }
    let lines = lines(&kept, &place, &args.name);
    let deleted = AgentDeleted {
        place,
        rows: kept.rows,
        memory_bytes: kept.memory,
        files: kept.folder.map(|(files, _)| files),
        ..AgentDeleted::default()
    };
    said(args, deleted, &lines, out)
}

fn on_server(args: &DeleteAgentArgs, out: &Out) -> Result<Exit, CliError> {
    let address = locate::address()?;
    let (address, keeper) = match args.scope {
        LastingScope::Project => (address, locate::told_keeper()?),
        LastingScope::User => locate::users(&address)?,
    };
    let place = address.to_string();
    let kept = crate::postgres::kept_rows(&address, &keeper, &args.name)?;
    let kept = kept.ok_or_else(|| none(args, &place))?;
    if args.yes {
        crate::postgres::delete_agent(&address, &keeper, &args.name)?;
        out::recorded();
    }
    let whose = if kept.everybodys {
        ", shared by all projects of the database"
    } else {
        ""
    };
    let size = print::bytes(kept.memory);
    let line = format!("{place}: {} rows, a memory of {size}{whose}", kept.rows);
    let deleted = AgentDeleted {
        place,
        rows: kept.rows,
        memory_bytes: kept.memory,
        ..AgentDeleted::default()
    };
    said(args, deleted, &[line], out)
}

fn none(args: &DeleteAgentArgs, place: &str) -> CliError {
    CliError::not_found(format!("{place} has no agent {}", args.name))
        .hint("`prosescope agents` lists the agents of a run, its project and the user")
}

fn said(
    args: &DeleteAgentArgs,
    deleted: AgentDeleted,
    lines: &[String],
    out: &Out,
) -> Result<Exit, CliError> {
    let scope = match args.scope {
        LastingScope::Project => "project",
        LastingScope::User => "user",
    };
    let deleted = AgentDeleted {
        agent: args.name.clone(),
        scope: scope.to_owned(),
        done: args.yes,
        ..deleted
    };
    out.show(&deleted, || {
        let did = if args.yes {
            "deleted"
        } else {
            "would be deleted"
        };
        let mut said = format!("{did}: agent {} ({scope})\n", args.name);
        for line in lines {
            said.push_str(&format!("  {line}\n"));
        }
        if !args.yes {
            said.push_str(
                "nothing was deleted; repeat the command with --yes to delete the agent\n",
            );
        }
        escape(&said, true)
    })?;
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
    found.map_err(locate::store)?.flatten().ok_or_else(|| {
        CliError::not_found("the user has no agents: the home directory has no .prose folder")
    })
}
