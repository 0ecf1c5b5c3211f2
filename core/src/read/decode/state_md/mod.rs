//! Decodes a state.md of form A: the program's source, annotated with the run's progress, and an index
//! (docs/reference/formats.md).
//!
//! ```
//! use prosescope_core::read::decode::state_md;
//! let (file, issues) = state_md::parse(
//!     "# Execution State\n\nrun: r1\n\n## Execution Trace\n\n```prose\nsession \"A\"   # <-- EXECUTING\n```\n",
//! );
//! assert_eq!(file.run.as_deref(), Some("r1"));
//! assert_eq!(&*file.trace[0].text, "session \"A\"");
//! assert!(issues.iter().all(|i| i.rule == "state-file-incomplete"));
//! ```
//!
//! Real files omit sections, add their own, express "nothing" in a dozen ways, and have passed through Markdown
//! formatters (docs/reference/formats.md). All such files are read; unknown text is kept in [`StateFile::sections`],
//! under its heading or as `Index (text)`. Parsing never fails, takes linear time, and cuts texts that are too long,
//! with an issue.
//!
//! [`crate::record::render::state_md`] writes this format.

pub(crate) mod annotation;
pub(crate) mod header;
pub(crate) mod lines;
pub(crate) mod read;
pub(crate) mod rows;
pub(crate) mod run_state;
pub(crate) mod table;
#[cfg(test)]
mod tests;

use crate::model::issue::Issue;
use crate::model::{FolderForm, StateFile};
use crate::read::decode::{compact_log, preamble};

/// Maximum number of trace lines kept; the rest of a longer file is only shown as text.
pub const MOST_LINES: usize = 100_000;
/// Maximum number of rows kept of each table and list.
pub const MOST_ROWS: usize = 100_000;
/// Maximum number of unknown sections, extra header keys, and issues of one kind that are kept.
const MOST_EXTRAS: usize = 1_000;

/// Parses a state.md of form A. Never fails: each defect becomes an issue with a line, but not yet with a file.
pub fn parse(text: &str) -> (StateFile, Vec<Issue>) {
    read::StateReader::new(text.strip_prefix('\u{feff}').unwrap_or(text)).read()
}

/// Returns the format of a state file, determined by its content (docs/reference/formats.md).
///
/// [`FolderForm::VmLog`] is recognised here by a title such as `# VM Log`. Decoding a folder also checks the file's
/// name, because no source defines how such a log begins. [`FolderForm::Bare`] is never returned, because the file
/// exists.
pub fn form(text: &str) -> FolderForm {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let body = preamble::front_matter(text).map_or(text, |(_, rest)| rest);
    let Some(first) = body.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return FolderForm::Foreign;
    };
    if compact_log::looks_like(text) {
        return FolderForm::CompactLog;
    }
    if let Some((_, title)) = lines::heading(first) {
        if compact_log::is_log_title(title) {
            return FolderForm::VmLog;
        }
        let title = title.to_lowercase();
        if title.starts_with("execution state") {
            return FolderForm::StateMd;
        }
        if title.starts_with("run state") {
            return FolderForm::Receipts;
        }
    }
    // A formatter or a model may have lost the title, but the heading of the trace is unmistakable.
    let traced = |line: &str| {
        lines::heading(line).is_some_and(|(_, h)| h.eq_ignore_ascii_case("execution trace"))
    };
    if !first.starts_with('{') && text.lines().take(200).any(traced) {
        FolderForm::StateMd
    } else {
        FolderForm::Foreign
    }
}
