//! `prosescope skill` writes the instructions for a model (`prosescope help vm`) into the files in which agents look
//! for them.

use std::fs;
use std::path::{Path, PathBuf};

use super::share::written;
use super::topics::VM;
use crate::args::{SkillAgent, SkillArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate;
use crate::out::Out;

/// The beginning of the file. Agents read its first lines to find out when the rest concerns them.
const HEAD: &str = "\
---
name: prosescope
description: Records runs of OpenProse programs (.prose files) with the command prosescope, and reads such runs. Use it when you carry out a .prose program, continue a run that stopped, or are asked what a run did and why it failed.
---

# Runs of OpenProse programs

To read a run: `prosescope show RUN` summarizes it, `prosescope trace RUN` lists its statements, `prosescope get NAME --run RUN` prints a value, and `prosescope runs` lists the runs.

";

/// The advice for agents that have no such folder.
const OTHERS: &str = "\
Next: start the agent, and ask it to carry out a program.
An agent that reads only AGENTS.md needs this line there:
  Before you carry out an OpenProse program, run `prosescope help vm` and follow it.
";

pub(super) fn run(args: &SkillArgs, out: &Out) -> Result<Exit, CliError> {
    let text = text();
    let mut missing = Vec::new();
    let mut said = String::new();
    // Every file is looked at before the first one is written, so that a refusal leaves nothing behind.
    for file in files(args)? {
        match fs::read(&file) {
            Ok(old) if old == text.as_bytes() => {
                said.push_str(&format!("Up to date: {}\n", file.display()));
            }
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => missing.push(file),
            _ if args.overwrite => missing.push(file),
            _ => {
                let message = format!("{} already exists, with another text", file.display());
                return Err(CliError::refused("file-exists", message)
                    .hint("give --overwrite to replace it, or -o FILE to write another file"));
            }
        }
    }
    for file in missing {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(|cause| {
                let message = format!("cannot create {}: {cause}", folder.display());
                CliError::new(Exit::Io, message).hint("check that you may write there")
            })?;
        }
        written::text(&text, &file, args.overwrite)?;
        said.push_str(&format!("Written: {}\n", file.display()));
    }
    said.push_str(OTHERS);
    out.text(&said)?;
    Ok(Exit::Done)
}

/// Returns the content of the file.
fn text() -> String {
    format!(
        "{HEAD}To record a run, follow this. It is what `prosescope help vm` of version {} prints; if `prosescope --version` \
         prints another version, follow that command instead.\n\n```text\n{VM}```\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// Returns the files to write.
fn files(args: &SkillArgs) -> Result<Vec<PathBuf>, CliError> {
    if let Some(file) = &args.out {
        return Ok(vec![file.clone()]);
    }
    let base = if args.user {
        locate::home().ok_or_else(|| {
            CliError::not_found("no home directory is known").hint("set HOME, or give -o FILE")
        })?
    } else {
        PathBuf::new()
    };
    let of = |agent: SkillAgent| {
        let folder = match agent {
            SkillAgent::Claude => ".claude",
            SkillAgent::Agents => ".agents",
        };
        base.join(folder)
            .join(Path::new("skills/prosescope/SKILL.md"))
    };
    Ok(match args.agent {
        Some(agent) => vec![of(agent)],
        None => vec![of(SkillAgent::Claude), of(SkillAgent::Agents)],
    })
}
