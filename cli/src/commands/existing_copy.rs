//! Compares a run with a copy that already exists at the target of `convert`.

use std::fs;
use std::path::Path;

use prosescope_core::model::Form;
use prosescope_core::pages::session::{CopyLoss, Session};
use prosescope_core::pages::view::RunConverted;

use crate::error::CliError;
use crate::{locate, record};

/// Maximum number of differences that a message lists.
const NAMED: usize = 3;

/// Compares a run with an existing copy. Returns the parts that a copy in this form lacks or has in another form.
///
/// # Errors
/// A refusal with the hint `next` if other parts of the copy differ.
pub(super) fn same(
    run: &Session,
    copy: &Session,
    (to_folder, with_files): (bool, bool),
    place: &str,
    next: String,
) -> Result<Vec<CopyLoss>, CliError> {
    let comparison = run.compare_with(copy, to_folder, with_files)?;
    if comparison.differs.is_empty() {
        return Ok(comparison.left);
    }
    let named = comparison.differs.iter().take(NAMED);
    let named: Vec<String> = named
        .map(|left| format!("{}: {}", left.place, left.what))
        .collect();
    let more = match comparison.differs.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let message = format!(
        "{place} already contains another version of run {}; these parts differ: {}{more}",
        run.run().id,
        named.join("; ")
    );
    Err(CliError::refused("run-exists", message).hint(next))
}

/// Compares a run with the file or folder at the target. Returns `None` if the target does not exist or is not a run.
/// Copying later refuses an existing target that is not a run.
///
/// # Errors
/// A refusal if the target is another version of the run.
pub(super) fn at(
    run: &Session,
    to: &Path,
    to_folder: bool,
    with_files: bool,
) -> Result<Option<RunConverted>, CliError> {
    if fs::symlink_metadata(to).is_err() {
        return Ok(None);
    }
    let Ok(copy) = locate::open_alone(&to.to_string_lossy()) else {
        return Ok(None);
    };
    let form = matches!(copy.session.run().form, Form::Folder { .. }) == to_folder;
    if !form || copy.session.run().id != run.run().id {
        return Ok(None);
    }
    let folder = record::from_here(to);
    let next = format!("move {folder} away and repeat the command, or choose another place");
    let left = same(run, &copy.session, (to_folder, with_files), &folder, next)?;
    Ok(Some(RunConverted {
        run: run.run().id.to_string(),
        folder,
        state: if to_folder { "filesystem" } else { "sqlite" }.to_owned(),
        left,
        already: true,
    }))
}
