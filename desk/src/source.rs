//! Defines [`DeskSource`], the files that a desk reads, and compares two listings of them.

use std::collections::BTreeMap;

use prosescope_core::model::database::Limits;
use prosescope_core::model::source::SourceError;
use prosescope_share::file::Shareable;
use prosescope_workflow::WorkflowRows;

use crate::protocol::{Counters, SharedRemarks};

/// A source that a page keeps open while other programs may write to it. It must therefore tell apart two listings of
/// the same files.
pub trait DeskSource: Shareable {
    /// Returns a text that identifies a file's content at the time of the listing, such as its modification time. A
    /// different text or length means that the file changed.
    fn version(&self, path: &str) -> &str;

    /// Opens the workflow tables of a database; a database without them yields an empty result.
    ///
    /// # Errors
    /// As for [`prosescope_core::model::source::Source::database`].
    fn workflows(&self, path: &str, limits: &Limits) -> Result<Box<dyn WorkflowRows>, SourceError>;

    /// Closes the databases until the next request, if their locks could keep other programs from writing. Returns
    /// whether databases were closed.
    fn let_go(&self) -> bool {
        false
    }

    /// Returns why the last read failed, and clears the reason. Without this method the failure would be lost, because
    /// lists skip unreadable entries.
    fn take_fault(&self) -> Option<SourceError>;

    /// Returns remarks about the shared files of the source.
    fn shared(&self) -> Option<SharedRemarks> {
        None
    }

    /// Returns the number of reads and bytes so far; zeros if the source does not count.
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
