//! Writes a shared file completely or not at all.

use std::fs::File;
use std::io::{self, IsTerminal, Seek, Write};
use std::path::Path;

use prosescope_core::model::time::Stamp;
use prosescope_share::archive::{Archive, ArchiveError};
use prosescope_share::pack::ShareError;
use prosescope_share::summary::Summary;
use prosescope_share::{FileReader, page};
use tempfile::NamedTempFile;

use crate::error::CliError;
use crate::exit::Exit;
use crate::{cleanup, locate, serve};

/// Returns the current time as a text for a manifest.
pub(super) fn now() -> String {
    Stamp::At(locate::now()).to_string()
}

/// Creates a temporary file in the folder of the target.
pub(super) fn beside(file: &Path) -> Result<NamedTempFile, CliError> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let made = cleanup::with_cleanup_list(|paths| {
        let made = NamedTempFile::with_prefix_in(".prosescope-", folder);
        paths.extend(made.as_ref().ok().map(|made| made.path().to_owned()));
        made
    });
    made.map_err(|cause| {
        // The library's message goes on with the path of the temporary file, which no user knows.
        let said = cause.to_string();
        let why = said.split_once(" at path ").map_or(&*said, |(why, _)| why);
        let message = format!("cannot write {}: {why}", file.display());
        CliError::new(Exit::Io, message)
            .hint("check that the folder of the file exists, and that you may write to this folder")
    })
}

/// Empties a file and goes back to its beginning.
pub(super) fn emptied(mut file: &File) -> io::Result<&File> {
    file.rewind()?;
    file.set_len(0)?;
    Ok(file)
}

/// Returns whether standard input is a terminal, so that a person can answer.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal()
}

/// Asks whether to write the file. Any other answer than yes means no.
pub(super) fn agreed(file: &Path) -> Result<bool, CliError> {
    let mut err = io::stderr();
    write!(err, "Write {}? [y/N] ", file.display())?;
    err.flush()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// Opens the written zip again, to check its bytes.
pub(super) fn opened(path: &Path) -> Result<Archive<FileReader>, CliError> {
    let file = File::open(path)?;
    let len = file.metadata()?.len();
    Archive::open(FileReader::from(file), len, u64::MAX).map_err(|error| unread(&error))
}

fn unread(error: &ArchiveError) -> CliError {
    CliError::new(
        Exit::Io,
        format!("the written file cannot be read again: {error}"),
    )
    .hint(error.next_step())
}

/// Moves the temporary file to the target, and returns its length in bytes.
pub(super) fn put(file: NamedTempFile, to: &Path, overwrite: bool) -> Result<u64, CliError> {
    file.as_file().sync_all()?;
    let len = file.as_file().metadata()?.len();
    let placed = cleanup::with_cleanup_list(|_| {
        if overwrite {
            file.persist(to)
        } else {
            file.persist_noclobber(to)
        }
    });
    let placed = placed.map_err(|failed| {
        CliError::new(
            Exit::Io,
            format!("cannot write {}: {}", to.display(), failed.error),
        )
    })?;
    readable(&placed)?;
    Ok(len)
}

/// Gives a file the usual rights of a new file. Without this call, only its owner could read the file, as any temporary
/// file.
fn readable(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    let _ = file;
    Ok(())
}

/// Writes the only database of a zip to a file.
pub(super) fn database(
    zip: &Archive<FileReader>,
    to: &Path,
    overwrite: bool,
) -> Result<u64, CliError> {
    let entry = zip.only_database();
    let entry = entry.ok_or_else(|| super::failed(ShareError::NotOneDatabase))?;
    let mut file = beside(to)?;
    zip.unpack(entry, &mut |bytes| file.write_all(bytes))
        .map_err(|error| unread(&error))?;
    put(file, to, overwrite)
}

/// Returns the HTML page that contains the zip.
pub(super) fn page(zip: &Path, summary: &Summary) -> Result<String, CliError> {
    let viewer = serve::viewer()?;
    let packed = std::fs::read(zip)?;
    page::write(viewer, &summary.title, &summary.text, &packed)
        .map_err(|error| CliError::new(Exit::Unreadable, error.to_string()))
}

/// Writes a text to the target.
pub(in crate::commands) fn text(text: &str, to: &Path, overwrite: bool) -> Result<u64, CliError> {
    let mut file = beside(to)?;
    file.write_all(text.as_bytes())?;
    put(file, to, overwrite)
}
