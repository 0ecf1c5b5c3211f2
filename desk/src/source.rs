//! The source of a desk, with requirements beyond those of the core's source.

use std::collections::BTreeMap;

use prosescope_core::database::Limits;
use prosescope_core::source::SourceError;
use prosescope_share::file::Shareable;
use prosescope_workflow::Rows;

use crate::protocol::{Counters, Shared};

/// A source that a page may keep open for a long time, so it must distinguish two listings of the same files.
pub trait DeskSource: Shareable {
    /// Returns a name for the state of a file when it was listed. A different name, or a different length, means that
    /// the file changed.
    fn version(&self, path: &str) -> &str;

    /// Opens the workflow tables of a database; a database without them yields an empty result.
    ///
    /// # Errors
    /// As for [`prosescope_core::source::Source::database`].
    fn workflows(&self, path: &str, limits: &Limits) -> Result<Box<dyn Rows>, SourceError>;

    /// Closes the databases until the next request, if they could keep other programs from writing. Returns whether
    /// it closed them.
    fn let_go(&self) -> bool {
        false
    }

    /// Returns why the last read failed, and clears the reason. Lists skip unreadable entries, so the failure would
    /// be lost otherwise.
    fn take_fault(&self) -> Option<SourceError>;

    /// Returns remarks about the shared files of the source.
    fn shared(&self) -> Option<Shared> {
        None
    }

    /// Returns how much was read so far; zeros if the source does not count.
    fn counters(&self) -> Counters {
        Counters::default()
    }
}

/// Returns the paths of files that differ between two listings: added, changed, and removed ones.
pub(crate) fn changed(later: &dyn DeskSource, earlier: &dyn DeskSource) -> Vec<String> {
    let (now, before) = (states(later), states(earlier));
    let changed = now
        .iter()
        .filter(|(path, state)| before.get(*path) != Some(state));
    let removed = before.keys().filter(|path| !now.contains_key(*path));
    let all = changed.map(|(path, _)| path).chain(removed);
    all.map(|path| (*path).to_owned()).collect()
}

fn states(source: &dyn DeskSource) -> BTreeMap<&str, (u64, &str)> {
    let state = |path| {
        (
            source.file(path).map_or(0, |file| file.len),
            source.version(path),
        )
    };
    let files = source.files().iter();
    files
        .map(|file| (file.path.as_str(), state(&file.path)))
        .collect()
}

/// Returns whether a write to a database was in progress when its files were listed.
pub(crate) fn was_being_written(source: &dyn DeskSource, database: &str) -> bool {
    source.file(&format!("{database}-journal")).is_some()
}
