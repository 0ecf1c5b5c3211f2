//! state.md of form A: the position of a run, as annotated source with an index (design: docs/reference/formats.md).
//!
//! ```
//! use prosescope_core::decode::state_md;
//! let (file, issues) = state_md::parse(
//!     "# Execution State\n\nrun: r1\n\n## Execution Trace\n\n```prose\nsession \"A\"   # <-- EXECUTING\n```\n",
//! );
//! assert_eq!(file.run.as_deref(), Some("r1"));
//! assert_eq!(&*file.trace[0].text, "session \"A\"");
//! assert!(issues.iter().all(|i| i.rule == "state-file-incomplete"));
//! ```
//!
//! Real files leave sections out, add their own, say "nothing" in a dozen ways and have been through Markdown
//! formatters (docs/reference/formats.md). All of it is read; what is not understood is kept in
//! [`StateFile::sections`], under its heading or as `Index (text)`. Nothing fails, the time is linear in the
//! text, and what is too long to hold is cut with an issue.
//!
//! [`crate::render::state_md`] writes what is read here; `escape.rs` says how a name of any kind stands on a line.

pub(crate) mod annotation;
pub(crate) mod escape;
pub(crate) mod header;
pub(crate) mod lines;
pub(crate) mod read;
pub(crate) mod rows;
pub(crate) mod run_state;
pub(crate) mod table;
#[cfg(test)]
mod tests;

use crate::decode::{compact_log, head};
use crate::issue::Issue;
use crate::model::{FolderForm, StateFile};

/// Lines of the trace that are held; a longer file is shown as its text.
pub const MOST_LINES: usize = 100_000;
/// Rows of each table and list that are held.
pub const MOST_ROWS: usize = 100_000;
/// Sections of no document, extra header keys, and issues of one kind that are held.
const MOST_EXTRAS: usize = 1_000;

/// Reads a state.md of form A. Never fails: what is odd is an issue (located by line, not yet by file).
pub fn parse(text: &str) -> (StateFile, Vec<Issue>) {
    read::Reader::new(text.strip_prefix('\u{feff}').unwrap_or(text)).read()
}

/// Which format a state file has, by its content (docs/reference/formats.md).
///
/// [`FolderForm::VmLog`] is told by a heading of that name here; a folder also goes by the file's name, as no
/// document says how such a log begins. [`FolderForm::Bare`] never comes out: there is a file.
pub fn form(text: &str) -> FolderForm {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let body = head::front_matter(text).map_or(text, |(_, rest)| rest);
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
    // A formatter or a hurried model may have lost the title; the section is unmistakable.
    let traced = |line: &str| {
        lines::heading(line).is_some_and(|(_, h)| h.eq_ignore_ascii_case("execution trace"))
    };
    if !first.starts_with('{') && text.lines().take(200).any(traced) {
        FolderForm::StateMd
    } else {
        FolderForm::Foreign
    }
}
