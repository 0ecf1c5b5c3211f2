//! Prints the name of each step when it begins, and its duration when it ends.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Runs one named step and prints its duration. The step's own output is passed through.
pub fn step<T>(name: &str, f: impl FnOnce() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    eprintln!("\n==> {name}");
    let result = f().with_context(|| name.to_owned());
    let verb = if result.is_ok() { "done" } else { "failed" };
    eprintln!("    {verb} after {}", elapsed(start.elapsed()));
    result
}

/// Runs `f` and `aside` in parallel, so that no core is idle while one of them links. `aside` should print only
/// errors, because the output of both is mixed.
///
/// # Errors
/// The error of `f`, else the error of `aside`. Both run to their ends first.
pub fn beside<T>(
    aside: impl FnOnce() -> Result<()> + Send,
    f: impl FnOnce() -> Result<T>,
) -> Result<T> {
    std::thread::scope(|both| {
        let aside = both.spawn(aside);
        let done = f();
        let other = aside.join().unwrap_or_else(|_| bail!("it panicked"));
        done.and_then(|done| other.map(|()| done))
    })
}

/// Runs a command to its end and passes its output through.
///
/// # Errors
/// If the command cannot be started or fails; the message contains the command.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start {}", line(command)))?;
    if !status.success() {
        bail!("`{}` ended with {status}", line(command));
    }
    Ok(())
}

/// Returns a command as a user would type it, for messages.
fn line(command: &Command) -> String {
    let program = command.get_program();
    let name = std::path::Path::new(program).file_name();
    let mut text = name.unwrap_or(program).to_string_lossy().into_owned();
    for arg in command.get_args() {
        text.push(' ');
        text.push_str(&arg.to_string_lossy());
    }
    text
}

/// Prints the error of a command, and returns its exit code.
pub fn ended(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e:#}");
            ExitCode::FAILURE
        }
    }
}

/// Formats a duration: `0.4 s`, `42 s`, `2 min 05 s`.
fn elapsed(d: Duration) -> String {
    let s = d.as_secs();
    match s {
        0..10 => format!("{:.1} s", d.as_secs_f64()),
        10..60 => format!("{s} s"),
        _ => format!("{} min {:02} s", s / 60, s % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_say_them() {
        for (millis, said) in [
            (410, "0.4 s"),
            (9_900, "9.9 s"),
            (42_700, "42 s"),
            (125_000, "2 min 05 s"),
        ] {
            assert_eq!(elapsed(Duration::from_millis(millis)), said);
        }
    }

    #[test]
    fn of_two_things_at_once_either_can_fail() {
        assert_eq!(beside(|| Ok(()), || Ok(1)).unwrap(), 1);
        assert!(beside(|| bail!("aside"), || Ok(1)).is_err());
        assert!(beside(|| Ok(()), || -> Result<()> { bail!("f") }).is_err());
    }

    #[test]
    fn a_failing_command_is_named_with_its_arguments() {
        let error = run(Command::new("false").arg("--because")).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("`false --because` ended with")
        );
    }
}
