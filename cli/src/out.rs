//! The one place that writes: text for people, JSON for scripts, bytes for pipes.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use prosescope_core::render::text::{escape, escape_json};
use prosescope_core::view::{CommandFailed, ValueView};
use serde::Serialize;

use crate::error::CliError;
use crate::exit::Exit;
use crate::print::{note, style};
use crate::streams;

/// Whether the command has recorded something.
static RECORDED: AtomicBool = AtomicBool::new(false);

/// Whether something failed that was to follow what the command recorded.
static TROUBLE: AtomicBool = AtomicBool::new(false);

/// Notes that the command has recorded something: from now on, an answer that cannot be printed is no failure to record.
pub(crate) fn recorded() {
    RECORDED.store(true, Ordering::Relaxed);
}

/// Says what failed after the command recorded: repeating the command would record it twice.
pub(crate) fn recorded_but(error: &CliError) {
    TROUBLE.store(true, Ordering::Relaxed);
    let hints: String = error.hints.iter().map(|hint| format!("; {hint}")).collect();
    say(&note(&format!("recorded, but {error}{hints}")));
}

/// How a command ends that did what it was asked to: a code of its own says that something failed after it recorded.
pub(crate) fn ended(exit: Exit) -> Exit {
    match exit {
        Exit::Done if TROUBLE.load(Ordering::Relaxed) => Exit::Recorded,
        other => other,
    }
}

/// Where a command's result goes, and in which form.
pub(crate) struct Out {
    /// `--json`.
    pub(crate) json: bool,
    /// Columns: COLUMNS, else those of the terminal, else 100.
    pub(crate) width: usize,
    /// Whether standard output is a terminal.
    pub(crate) terminal: bool,
}

impl Out {
    pub(crate) fn new(json: bool) -> Out {
        let terminal = io::stdout().is_terminal();
        let asked = std::env::var("COLUMNS").ok();
        let asked = asked.and_then(|text| text.trim().parse().ok());
        let own = || terminal_size::terminal_size().filter(|_| terminal);
        let width = asked
            .filter(|columns| *columns > 0_u16)
            .or_else(|| own().map(|(columns, _)| columns.0))
            .map_or(100, usize::from);
        Out {
            json,
            width: width.max(40),
            terminal,
        }
    }

    /// Returns an execution as an answer begins with it: for a script the number alone, on a terminal what it is the number of.
    pub(crate) fn execution(&self, id: i64) -> String {
        match self.terminal {
            true => format!("execution {id}"),
            false => id.to_string(),
        }
    }

    /// Writes text that [`crate::print`] made; colours go only to a terminal that wants them.
    pub(crate) fn text(&self, text: &str) -> Result<(), CliError> {
        written(anstream::stdout().lock(), guarded(text).as_bytes())
    }

    /// Writes one JSON document and a line break; a terminal may be what reads it.
    pub(crate) fn json<T: Serialize>(&self, value: &T) -> Result<(), CliError> {
        // Piece by piece: the text of a large view takes several times the room of the view.
        let mut out = Escaped {
            out: io::BufWriter::with_capacity(1 << 16, io::stdout().lock()),
        };
        done(open().and_then(|()| {
            serde_json::to_writer_pretty(&mut out, value)?;
            out.out.write_all(b"\n")?;
            out.out.flush()
        }))
    }

    /// Bytes of a value at most that stand in JSON: a text in JSON is held whole, and may be six times as long.
    pub(crate) const MOST_OF_A_VALUE: usize = 16 << 20;

    /// Writes an answer: the view as JSON, or the text for people.
    pub(crate) fn show<T: Serialize>(
        &self,
        view: &T,
        text: impl FnOnce() -> String,
    ) -> Result<Exit, CliError> {
        match self.json {
            true => self.json(view)?,
            false => self.text(&text())?,
        }
        Ok(Exit::Done)
    }

    /// Says that a value does not stand in JSON whole.
    pub(crate) fn say_cut(value: &ValueView) {
        if value.cut {
            say(&note(&format!(
                "the JSON has the first {} of {} bytes; without --json the value is written whole",
                value.text.len(),
                value.len
            )));
        }
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), CliError> {
        written(io::stdout().lock(), bytes)
    }
}

/// Writes a line for people to standard error. Where that cannot be written to, nothing is left to say it on: the exit code
/// tells.
pub(crate) fn say(line: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{}", guarded(line));
}

/// Writes an error to standard error as one line of JSON, the last one there: notes may stand before it.
pub(crate) fn say_json(error: &CliError) {
    // A struct of texts and numbers is always JSON.
    let text = serde_json::to_string(&CommandFailed::from(error)).unwrap_or_default();
    let _ = writeln!(io::stderr().lock(), "{}", escape_json(&text));
}

/// Text in which nothing but our own styles acts on a terminal. [`crate::print`] escapes what is a run's, so that it
/// cannot pass for ours; whatever was forgotten there is escaped here.
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

/// Writes to standard output. A closed pipe is a quiet end: whoever read enough is not told that we had more.
fn written(mut stdout: impl Write, bytes: &[u8]) -> Result<(), CliError> {
    done(open().and_then(|()| stdout.write_all(bytes).and_then(|()| stdout.flush())))
}

fn open() -> io::Result<()> {
    match streams::no_output() {
        true => Err(io::Error::other("it is closed")),
        false => Ok(()),
    }
}

/// JSON as a terminal may show it. What the serializer hands on is whole characters.
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

/// How writing to standard output ended.
fn done(result: io::Result<()>) -> Result<(), CliError> {
    match result {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => std::process::exit(Exit::Done as i32),
        Err(e) if RECORDED.load(Ordering::Relaxed) => Err(CliError::new(
            Exit::Recorded,
            format!("recorded, but the answer cannot be written to standard output: {e}"),
        )
        .hint("do not repeat the command; `prosescope show RUN` shows what was recorded")),
        other => other
            .map_err(|e| CliError::new(Exit::Io, format!("cannot write to standard output: {e}")).hint("give the command a terminal, a file or a pipe to write to, with room for its answer")),
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
