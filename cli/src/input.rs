//! What the process is given: standard input, and limits.

use std::io::Read;

use crate::error::CliError;
use crate::exit::Exit;

/// Reads standard input to its end.
pub(crate) fn standard() -> Result<Vec<u8>, CliError> {
    if is_closed() {
        return Err(CliError::new(Exit::Io, "standard input is closed")
            .hint("give the value on standard input, as in `printf %s VALUE | prose …`, or name a file that holds it"));
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|cause| CliError::new(Exit::Io, format!("cannot read standard input: {cause}")))?;
    Ok(bytes)
}

/// Whether the process was started without a standard input. Rust opens `/dev/null` in its place, for reading and writing;
/// a shell's `</dev/null`, which is an empty value, is for reading only.
#[cfg(unix)]
fn is_closed() -> bool {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    let null = std::fs::metadata("/dev/null").ok();
    let null = null.filter(|meta| meta.file_type().is_char_device());
    let stdin = std::io::stdin();
    let (Some(null), Ok(own), Ok(flags)) = (
        null,
        rustix::fs::fstat(&stdin),
        rustix::fs::fcntl_getfl(&stdin),
    ) else {
        return false;
    };
    own.st_rdev == null.rdev() && flags.contains(rustix::fs::OFlags::RDWR)
}

#[cfg(not(unix))]
fn is_closed() -> bool {
    false
}

/// Lets a write beyond `ulimit -f` fail as a full disk does, instead of ending the process in the middle of a change.
#[cfg(unix)]
pub(crate) fn survive_limits() {
    // A handler is enough: the write then returns an error. Without one the process ends as before.
    let _ = signal_hook::flag::register(
        rustix::process::Signal::XFSZ.as_raw(),
        std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)),
    );
}

#[cfg(not(unix))]
pub(crate) fn survive_limits() {}
