use std::path::Path;

use prosescope_core::model::issue::Severity;
use prosescope_core::pages::check::{report, rule, rules, sarif};
use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::{CheckReport, CheckedRun};

use crate::args::{CheckArgs, Level};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, near, print};

pub(super) fn run(args: &CheckArgs, out: &Out) -> Result<Exit, CliError> {
    if let Some(None) = &args.explain {
        return out.show(&rules(), || print::rules(rules(), out.width));
    }
    if let Some(Some(name)) = &args.explain {
        let rule = rule(name).ok_or_else(|| unknown(name))?;
        return out.show(rule, || print::explained(rule, out.width));
    }
    if args.fix {
        return super::check_fix::run(args, out);
    }
    if let Some(name) = args.rules.iter().find(|name| rule(name).is_none()) {
        return Err(unknown(name));
    }
    let report = report(checked(args)?, &args.rules, severity(args.severity));
    if args.sarif {
        out.json(&sarif(&report, env!("CARGO_PKG_VERSION")))?;
    } else if out.json {
        out.json(&report)?;
    } else {
        out.text(&print::checked(&report, out.width))?;
    }
    Ok(ended(&report, args.deny))
}

fn checked(args: &CheckArgs) -> Result<Vec<CheckedRun>, CliError> {
    let now = locate::now();
    if args.all {
        let path = match args.runs.as_slice() {
            [] => None,
            [path] => Some(path.as_str()),
            _ => return Err(CliError::usage("--all takes one path at most")),
        };
        let runs = locate::open_all(path)?;
        return Ok(runs
            .map(|(name, folder, opened)| match opened {
                Ok(session) => pages::check_page(&session, Some(now), &folder),
                Err(error) => CheckedRun {
                    run: name,
                    folder,
                    error: Some(match error.next() {
                        "" => error.to_string(),
                        next => format!("{error} → {next}"),
                    }),
                    ..CheckedRun::default()
                },
            })
            .collect());
    }
    args.runs()?
        .iter()
        .map(|run| {
            let path = Path::new(run);
            if locate::is_program(path) && path.is_file() {
                let text = super::init::read_program(path)?;
                let folder = path.parent().unwrap_or(Path::new(""));
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                return Ok(pages::check_program(
                    &name,
                    &folder.to_string_lossy(),
                    &text,
                ));
            }
            let (session, folder) = locate::open_with_folder(run)?;
            Ok(pages::check_page(&session, Some(now), &folder))
        })
        .collect()
}

fn severity(level: Level) -> Severity {
    match level {
        Level::Error => Severity::Error,
        Level::Warning => Severity::Warning,
        Level::Note => Severity::Note,
    }
}

fn ended(report: &CheckReport, deny: Level) -> Exit {
    let counts = report.counts;
    let denied = match deny {
        Level::Error => counts.error,
        Level::Warning => counts.error + counts.warning,
        Level::Note => counts.total(),
    };
    if denied > 0 || report.runs.iter().any(|run| run.error.is_some()) {
        Exit::Issues
    } else {
        Exit::Done
    }
}

fn unknown(name: &str) -> CliError {
    let near = near::names(name, rules().iter().map(|rule| &*rule.name));
    let error = CliError::usage(format!("there is no rule {name}"));
    let error = if near.is_empty() {
        error
    } else {
        error.hint(near::hint(name, near, "rules"))
    };
    error.hint("`prosescope check --explain` lists all rules")
}
