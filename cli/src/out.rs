//! The one place that writes: text for people, JSON for scripts, bytes for pipes.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::error::CliError;
use crate::exit::Exit;

/// Where a command's result goes, and in which form.
pub(crate) struct Out {
    /// `--json`.
    pub(crate) json: bool,
    /// Columns of the terminal; 100 when standard output is none.
    pub(crate) width: usize,
    /// Whether standard output is a terminal.
    pub(crate) terminal: bool,
}

impl Out {
    pub(crate) fn new(json: bool) -> Out {
        let terminal = io::stdout().is_terminal();
        let width = terminal_size::terminal_size()
            .filter(|_| terminal)
            .map_or(100, |(w, _)| usize::from(w.0));
        Out {
            json,
            width: width.max(40),
            terminal,
        }
    }

    /// Writes text that [`crate::print`] made; colours go only to a terminal that wants them.
    pub(crate) fn text(&self, text: &str) -> Result<(), CliError> {
        let mut stdout = anstream::stdout().lock();
        quiet(
            stdout
                .write_all(text.as_bytes())
                .and_then(|()| stdout.flush()),
        )
    }

    /// Writes one JSON document and a line break.
    pub(crate) fn json<T: Serialize>(&self, value: &T) -> Result<(), CliError> {
        let mut text = serde_json::to_string_pretty(value)
            .map_err(|e| CliError::new(Exit::Io, e.to_string()))?;
        text.push('\n');
        self.bytes(text.as_bytes())
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), CliError> {
        let mut stdout = io::stdout().lock();
        quiet(stdout.write_all(bytes).and_then(|()| stdout.flush()))
    }
}

/// A closed pipe is a quiet end: whoever read enough is not told that we had more.
fn quiet(result: io::Result<()>) -> Result<(), CliError> {
    match result {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => std::process::exit(Exit::Done as i32),
        other => other.map_err(|e| CliError::new(Exit::Io, format!("standard output: {e}"))),
    }
}
