//! Reads standard input and the files that the command line names. Also handles the process's limit on file sizes.

use std::fs::File;
use std::io::{self, ErrorKind, Read, StdinLock, Write};
use std::path::Path;

use prosescope_core::record::{LARGE, StagedBytes, ValueBytes};

use crate::error::CliError;
use crate::exit::Exit;
use crate::streams;

/// Bytes kept from the beginning of a long value, for its summary.
const BEGINNING: usize = 4 << 10;

/// Reads standard input to its end.
pub(crate) fn standard() -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let read = opened()?.read_to_end(&mut bytes);
    read.map_err(|cause| unread("standard input", &cause))?;
    Ok(bytes)
}

fn opened() -> Result<StdinLock<'static>, CliError> {
    if streams::no_input() {
        return Err(CliError::new(Exit::Io, "standard input is closed")
            .hint("give the value on standard input, as in `printf %s VALUE | prosescope …`, or name a file that contains the value"));
    }
    Ok(io::stdin().lock())
}

/// Returns the error for a file, or for standard input, that cannot be read.
pub(crate) fn unread(what: &str, cause: &io::Error) -> CliError {
    let (exit, next) = match cause.kind() {
        ErrorKind::NotFound => (
            Exit::NotFound,
            "check the path, which is relative to the working directory",
        ),
        ErrorKind::IsADirectory => (Exit::Io, "give the path of a file in this directory"),
        ErrorKind::PermissionDenied => (Exit::Io, "check that you may read the file"),
        _ => (Exit::Io, ""),
    };
    CliError::new(exit, format!("cannot read {what}: {cause}")).hint(next)
}

/// Returns the error for a file that is not UTF-8, with the first wrong byte and the probable encoding.
pub(crate) fn not_text(path: &Path, bytes: &[u8]) -> CliError {
    let name = path.display();
    let begun = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    let (text, rest) = bytes.split_at(begun);
    let line = 1 + text.iter().filter(|byte| **byte == b'\n').count();
    let encoding = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16",
        _ => "WINDOWS-1252",
    };
    let byte = rest.first().copied().unwrap_or_default();
    CliError::new(
        Exit::Unreadable,
        format!("{name} is not UTF-8 text: line {line} has the byte 0x{byte:02x}"),
    )
    .hint(format!(
        "if the file is text in another encoding, convert the file, as in `iconv -f {encoding} -t UTF-8 {name} > NEW`, and name the new file"
    ))
}

/// Opens a file that the command line names.
pub(crate) fn file(path: &Path) -> Result<File, CliError> {
    File::open(path).map_err(|cause| unread(&path.display().to_string(), &cause))
}

/// Reads a value from a file or from standard input. A value of more than [`LARGE`] bytes is returned as an unnamed
/// temporary file, which the system deletes at the end of the process.
pub(crate) fn value(path: Option<&Path>) -> Result<(ValueBytes, Option<File>), CliError> {
    match path {
        Some(path) => content(file(path)?, &path.display().to_string()),
        None => content(opened()?, "standard input"),
    }
}

fn content(mut from: impl Read, what: &str) -> Result<(ValueBytes, Option<File>), CliError> {
    let wrong = |cause: io::Error| unread(what, &cause);
    let mut first = Vec::new();
    let most = LARGE as u64 + 1;
    from.by_ref()
        .take(most)
        .read_to_end(&mut first)
        .map_err(wrong)?;
    if first.len() <= LARGE {
        return Ok((first.into(), None));
    }
    let aside = |cause: io::Error| {
        let folder = std::env::temp_dir();
        let message = format!("cannot keep {what} in {}: {cause}", folder.display());
        CliError::new(Exit::Io, message).hint("set TMPDIR to a folder with more room")
    };
    let mut file = tempfile::tempfile().map_err(aside)?;
    let (mut len, mut is_text) = (0, true);
    // The next part of the value. It begins with the bytes of a character that was incomplete at the end of the
    // previous part.
    let mut part = first.clone();
    loop {
        let begun = match std::str::from_utf8(&part) {
            Ok(_) => part.len(),
            Err(error) => {
                is_text &= error.error_len().is_none();
                error.valid_up_to()
            }
        };
        let rest = if is_text {
            part.split_off(begun)
        } else {
            Vec::new()
        };
        file.write_all(&part).map_err(aside)?;
        len += part.len() as u64;
        part = rest;
        let before = part.len();
        from.by_ref()
            .take(most)
            .read_to_end(&mut part)
            .map_err(wrong)?;
        if part.len() == before {
            break;
        }
    }
    // Left-over bytes are an incomplete character, so the value is not UTF-8.
    is_text &= part.is_empty();
    file.write_all(&part).map_err(aside)?;
    len += part.len() as u64;
    first.truncate(BEGINNING);
    let staged = StagedBytes {
        len,
        is_text,
        beginning: first,
    };
    Ok((ValueBytes::Staged(staged), Some(file)))
}

/// Makes a write beyond `ulimit -f` return an error, like a full disk. By default, the signal `SIGXFSZ` would end the
/// process in the middle of a change.
#[cfg(unix)]
pub(crate) fn survive_limits() {
    // With any handler for `SIGXFSZ`, the write returns an error. If registering the handler fails, the signal still
    // ends the process.
    let _ = signal_hook::flag::register(
        rustix::process::Signal::XFSZ.as_raw(),
        std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)),
    );
}

#[cfg(not(unix))]
pub(crate) fn survive_limits() {}
