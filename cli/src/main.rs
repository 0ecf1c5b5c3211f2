//! The `prosescope` command: reads, records and shows runs of OpenProse workflows.
//!
//! Each command has an `Args` struct (`args/`) and one function (`commands/`). The function finds a run (`locate/`),
//! gets a view of the run from `prosescope_core`, and prints the view (`print/`) as text or JSON. A command that
//! records opens the store of the run instead (`record.rs`), and writes into that store.

// A build without one of these features never calls some functions. These allowances suppress the warnings about such
// functions.
#![cfg_attr(
    not(all(feature = "postgres", feature = "serve")),
    allow(
        dead_code,
        unreachable_code,
        unused_imports,
        unused_variables,
        clippy::redundant_clone
    )
)]

mod args;
mod cleanup;
mod commands;
mod error;
mod exit;
mod input;
mod locate;
mod near;
mod out;
#[cfg(not(feature = "postgres"))]
#[path = "without_postgres.rs"]
mod postgres;
mod print;
mod progress;
mod record;
mod secrets;
mod serve;
mod streams;
mod usage;

use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use prosescope_core::record::render::text::escape;
#[cfg(feature = "postgres")]
use prosescope_postgres as postgres;

use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::print::style::{BAD, FAINT, RESET};

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    input::survive_limits();
    match commands::answer_shell() {
        Ok(false) => {}
        Ok(true) => return code(Exit::Done),
        Err(error) => {
            let _ = error.print();
            return code(Exit::Usage);
        }
    }
    let cli = match usage::parse(std::env::args_os().collect()) {
        Ok(cli) => cli,
        Err((error, args)) => {
            if !error.use_stderr() {
                return match error.print() {
                    Ok(()) if streams::no_output() => code(Exit::Io),
                    Err(e) if e.kind() != ErrorKind::BrokenPipe => code(Exit::Io),
                    _ => code(Exit::Done),
                };
            }
            let topic = usage::topic(&args);
            let topic = topic.and_then(|topic| commands::print_topic(topic, &Out::new(false)));
            if let Some(printed) = topic {
                return ended(printed, &Out::new(false));
            }
            let error = usage::advised(error, &args);
            match args.iter().any(|arg| arg == "--json") {
                true => out::say_json(&usage::error(&error)),
                false => {
                    let width = if std::io::stderr().is_terminal() {
                        args::wrapped::columns()
                    } else {
                        usize::MAX
                    };
                    let text = usage::wrapped(&error, width);
                    let _ = write!(anstream::stderr().lock(), "{text}");
                }
            }
            return code(Exit::Usage);
        }
    };
    let out = Out::new(cli.json);
    prosescope_store::sweep_asides();
    ended(commands::run(cli.command, &out), &out)
}

/// Prints the error of a command, and returns the exit code.
fn ended(result: Result<Exit, CliError>, out: &Out) -> ExitCode {
    match result {
        Ok(exit) => code(out::ended(exit)),
        Err(error) if out.json => {
            out::say_json(&error);
            code(error.exit)
        }
        Err(error) => {
            // Control characters are escaped, because the message may contain names and paths from an untrusted run.
            out::say(&format!(
                "{BAD}error:{RESET} {}",
                escape(&error.message, true)
            ));
            for hint in &error.hints {
                out::say(&format!("  {FAINT}→ {}{RESET}", escape(hint, true)));
            }
            code(error.exit)
        }
    }
}

fn code(exit: Exit) -> ExitCode {
    ExitCode::from(exit as u8)
}
