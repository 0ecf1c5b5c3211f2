//! A copy of a run that is there already: the same, or another.

use std::fs;
use std::path::Path;

use prosescope_core::model::Form;
use prosescope_core::session::{Left, Session};
use prosescope_core::view::RunConverted;

use crate::error::CliError;
use crate::{locate, record};

/// How many differences are named.
const NAMED: usize = 3;

/// Compares a run with a copy of it that is there; returns what the copy lacks or has in another form.
///
/// # Errors
/// A refusal when the copy differs, with `next` as what to do.
pub(super) fn same(
    run: &Session,
    copy: &Session,
    (to_folder, with_files): (bool, bool),
    place: &str,
    next: String,
) -> Result<Vec<Left>, CliError> {
    let there = run.compare_with(copy, to_folder, with_files)?;
    if there.differs.is_empty() {
        return Ok(there.left);
    }
    let named = there.differs.iter().take(NAMED);
    let named: Vec<String> = named
        .map(|left| format!("{}: {}", left.place, left.what))
        .collect();
    let more = match there.differs.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let message = format!(
        "there is a run {} in {place} already, which differs: {}{more}",
        run.run().id,
        named.join("; ")
    );
    Err(CliError::refused("run-exists", message).hint(next))
}

/// Says of a file or folder that is there whether it is this run, whole. `None` where there is nothing, or something else, which
/// the copying itself refuses.
///
/// # Errors
/// A refusal when the run is there and differs.
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
