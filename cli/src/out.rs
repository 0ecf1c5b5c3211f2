//! Writes all output of the program: text for people, JSON for scripts, bytes for pipes.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use prosescope_core::pages::view::{CommandFailed, ValueView};
use prosescope_core::record::render::text::{escape, escape_json};
use serde::Serialize;

use crate::error::CliError;
use crate::exit::Exit;
use crate::print::{note, style};
use crate::streams;

/// Whether the command has recorded something in a run.
static RECORDED: AtomicBool = AtomicBool::new(false);

/// Whether a step after the recording failed, such as printing.
static TROUBLE: AtomicBool = AtomicBool::new(false);

/// Notes that the command has recorded something. If the answer cannot be printed later, the exit code is then
/// [`Exit::Recorded`].
pub(crate) fn recorded() {
    RECORDED.store(true, Ordering::Relaxed);
}

/// Prints an error of a step after recording. The note begins with "recorded", so that the user does not repeat the
/// command and record twice.
pub(crate) fn recorded_but(error: &CliError) {
    TROUBLE.store(true, Ordering::Relaxed);
    let hints: String = error.hints.iter().map(|hint| format!("; {hint}")).collect();
    say(&note(&format!("recorded, but {error}{hints}")));
}

/// Returns the exit code of a successful command, or code 7 if a step after recording failed.
pub(crate) fn ended(exit: Exit) -> Exit {
    match exit {
        Exit::Done if TROUBLE.load(Ordering::Relaxed) => Exit::Recorded,
        other => other,
    }
}

/// Returns the width of text for people in columns, at least 40: COLUMNS, else the width of the terminal if the text
/// goes to a terminal, else 100.
pub(crate) fn columns(terminal: bool) -> usize {
    let asked = std::env::var("COLUMNS").ok();
    let asked = asked.and_then(|text| text.trim().parse().ok());
    let own = || terminal_size::terminal_size().filter(|_| terminal);
    let width = asked
        .filter(|columns| *columns > 0_u16)
        .or_else(|| own().map(|(columns, _)| columns.0));
    width.map_or(100, usize::from).max(40)
}

/// The destination and the form of a command's result.
pub(crate) struct Out {
    /// Whether the result is JSON (`--json`).
    pub(crate) json: bool,
    /// The width of text for people, see [`columns`].
    pub(crate) width: usize,
    /// Whether standard output is a terminal.
    pub(crate) terminal: bool,
}

impl Out {
    pub(crate) fn new(json: bool) -> Out {
        let terminal = io::stdout().is_terminal();
        Out {
            json,
            width: columns(terminal),
            terminal,
        }
    }

    /// Formats the number of an execution for the beginning of an answer. A pipe gets the number alone, for scripts;
    /// a terminal shows "execution 1".
    pub(crate) fn execution(&self, id: i64) -> String {
        if self.terminal {
            format!("execution {id}")
        } else {
            id.to_string()
        }
    }

    /// Writes text of [`crate::print`]. Colours are removed unless standard output is a terminal that supports them.
    pub(crate) fn text(&self, text: &str) -> Result<(), CliError> {
        written(anstream::stdout().lock(), guarded(text).as_bytes())
    }

    /// Writes one JSON document and a line break, with control characters escaped.
    pub(crate) fn json<T: Serialize>(&self, value: &T) -> Result<(), CliError> {
        // The JSON is written piece by piece, because the text of a large view takes several times the memory of the
        // view.
        let mut out = Escaped {
            out: io::BufWriter::with_capacity(1 << 16, io::stdout().lock()),
        };
        done(open().and_then(|()| {
            serde_json::to_writer_pretty(&mut out, value)?;
            out.out.write_all(b"\n")?;
            out.out.flush()
        }))
    }

    /// Maximum bytes of a value in JSON. The text is held in memory, and escaping may make it six times as long.
    pub(crate) const MOST_OF_A_VALUE: usize = 16 << 20;

    /// Writes an answer as JSON, or as text for people.
    pub(crate) fn show<T: Serialize>(
        &self,
        view: &T,
        text: impl FnOnce() -> String,
    ) -> Result<Exit, CliError> {
        if self.json {
            self.json(view)?;
        } else {
            self.text(&text())?;
        }
        Ok(Exit::Done)
    }

    /// Prints a note if the JSON contains only the beginning of a value.
    pub(crate) fn say_cut(value: &ValueView) {
        if value.cut {
            say(&note(&format!(
                "the JSON contains only the first {} of the {} bytes of the value; repeat the command without --json to get the whole value",
                value.text.len(),
                value.len
            )));
        }
    }

    /// Writes bytes unchanged.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), CliError> {
        written(io::stdout().lock(), bytes)
    }
}

/// Writes a line for people to standard error. Errors are ignored, because the exit code remains as a signal.
pub(crate) fn say(line: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{}", guarded(line));
}

/// Prints the notes of a command.
pub(crate) fn say_notes(notes: &[String]) {
    for text in notes {
        say(&note(text));
    }
}

/// Writes an error to standard error as one line of JSON. It is the last line on standard error; notes may precede it.
pub(crate) fn say_json(error: &CliError) {
    // Serializing cannot fail: the struct holds only texts and numbers.
    let text = serde_json::to_string(&CommandFailed::from(error)).unwrap_or_default();
    let _ = writeln!(io::stderr().lock(), "{}", escape_json(&text));
}

/// Escapes all control characters except the styles in [`style`]. [`crate::print`] already escapes texts of a run, so
/// that they cannot imitate these styles; this function also covers any text that [`crate::print`] did not escape.
fn guarded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, styled) = rest.split_at(at);
        out.push_str(&escape(before, true));
        let len = style::len_of(styled);
        let (style, after) = styled.split_at(len.max(1));
        if len > 0 {
            out.push_str(style);
        } else {
            out.push_str(&escape(style, true));
        }
        rest = after;
    }
    out.push_str(&escape(rest, true));
    out
}

/// Writes to standard output. A closed pipe is not an error, because its reader has read enough.
fn written(mut stdout: impl Write, bytes: &[u8]) -> Result<(), CliError> {
    done(open().and_then(|()| stdout.write_all(bytes).and_then(|()| stdout.flush())))
}

fn open() -> io::Result<()> {
    if streams::no_output() {
        Err(io::Error::other("it is closed"))
    } else {
        Ok(())
    }
}

/// A writer that escapes control characters in JSON. The serializer writes whole characters only.
struct Escaped<W: Write> {
    out: W,
}

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let plain = bytes.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n'));
        match std::str::from_utf8(bytes) {
            Ok(text) if !plain => self.out.write_all(escape_json(text).as_bytes())?,
            _ => self.out.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Converts the result of writing to standard output. If the pipe is closed, the process ends with code 0.
fn done(result: io::Result<()>) -> Result<(), CliError> {
    match result {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => std::process::exit(Exit::Done as i32),
        Err(e) if RECORDED.load(Ordering::Relaxed) => Err(CliError::new(
            Exit::Recorded,
            format!("recorded, but the answer cannot be written to standard output: {e}"),
        )
        .hint("do not repeat the command; `prosescope show RUN` shows what was recorded")),
        other => other.map_err(|e| {
            CliError::new(Exit::Io, format!("cannot write to standard output: {e}")).hint(
                "let the command write to a terminal, a pipe, or a file on a disk with free space",
            )
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_styles_reach_a_terminal() {
        let (bad, reset) = (style::BAD, style::RESET);
        let ours = format!("{bad}✗ not there{reset}\n\tnext");
        assert_eq!(guarded(&ours), ours);
        assert_eq!(
            guarded("\u{1b}[2J\u{1b}\u{1b}]0;x\u{7}\u{9b}8m\u{202e}\r\u{1b}"),
            "\\u{1b}[2J\\u{1b}\\u{1b}]0;x\\u{7}\\u{9b}8m\\u{202e}\\r\\u{1b}"
        );
        assert_eq!(
            guarded(&format!("{bad}\u{1b}[31x")),
            format!("{bad}\\u{{1b}}[31x")
        );
    }
}
