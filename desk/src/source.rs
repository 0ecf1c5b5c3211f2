//! What a desk needs of a source beyond what the core reads.

use std::collections::BTreeMap;

use prosescope_core::database::Limits;
use prosescope_core::source::SourceError;
use prosescope_share::file::Shareable;
use prosescope_workflow::Rows;

use crate::protocol::{Counters, Shared};

/// A source that a page may keep open for long: it tells two listings of the same files apart.
pub trait DeskSource: Shareable {
    /// Returns a name for the state in which a listed file was found. Another name means that the file changed; its
    /// length is compared as well.
    fn version(&self, path: &str) -> &str;

    /// Opens the tables of workflows in a database; a database without them yields an empty shape.
    ///
    /// # Errors
    /// As [`prosescope_core::source::Source::database`].
    fn workflows(&self, path: &str, limits: &Limits) -> Result<Box<dyn Rows>, SourceError>;

    /// Closes the databases until the next question, where there are writers in whose way they may be. Returns whether it does.
    fn let_go(&self) -> bool {
        false
    }

    /// Returns why the last read failed, once. Lists leave out what cannot be read, so the failure is lost elsewhere.
    fn take_fault(&self) -> Option<SourceError>;

    /// Returns what is to be said of shared files among what is open.
    fn shared(&self) -> Option<Shared> {
        None
    }

    /// Returns how much was read so far, where the source counts.
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

/// Whether a write to a database was under way when its files were listed.
pub(crate) fn was_being_written(source: &dyn DeskSource, database: &str) -> bool {
    source.file(&format!("{database}-journal")).is_some()
}
