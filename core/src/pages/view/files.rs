//! Defines the JSON of a run's imports, state.md, files, tables and issues.

use serde::{Deserialize, Serialize};

use super::{Counts, RuleView};
use crate::model::issue::Issue;
use crate::model::time::Stamp;
use crate::model::{FileInfo, TableInfo};

/// The imports of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ImportsView {
    /// The imports, in the store's order.
    pub imports: Vec<ImportView>,
    /// Places of the runs that contain this run, outermost first; empty unless this run is an import itself.
    pub above: Vec<String>,
}

/// An imported program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ImportView {
    /// The handle by which the program uses the import.
    pub alias: String,
    /// The address that the program was fetched from; `None` if not recorded.
    pub source_url: Option<String>,
    /// When the program was fetched; `None` if not recorded.
    pub fetched: Option<Stamp>,
    /// The schema of the inputs, JSON as recorded; `None` if not recorded.
    pub inputs_schema: Option<String>,
    /// The schema of the outputs, JSON as recorded; `None` if not recorded.
    pub outputs_schema: Option<String>,
    /// The place of the import's own run, by which callers open that run; `None` if the import has no run of its own.
    pub place: Option<String>,
    /// The status of the import's own run, as far as known without reading the whole run.
    pub nested_status: Option<String>,
    /// Bindings of this run whose names begin with the handle and a dot (`research.findings`), at most 200. If several
    /// imports share a handle, only the first import lists the bindings.
    pub bindings: Vec<super::BindingRef>,
    /// Why the import's own run is not opened: the imports form a cycle, or are nested deeper than 50; `None`
    /// otherwise.
    pub note: Option<String>,
}

/// state.md in two versions: rendered from the data, and as the folder contains it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StateMdView {
    /// The version that was rendered from the data.
    pub rendered: String,
    /// The text of the file in the folder, cut at 1 MiB; `None` if there is no file.
    pub own: Option<String>,
    /// Both versions line by line; empty if there is no file or no difference.
    pub lines: Vec<StateLine>,
    /// Whether the two versions differ in content that OpenProse defines for state.md.
    pub differs: bool,
    /// Why a comparison is limited: the file has another form, is encrypted, or was cut; `None` otherwise.
    pub note: Option<String>,
}

/// A line of the comparison of the two versions of state.md.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StateLine {
    /// `=` if both versions have the line, `+` if only the rendered version has it, `-` if only the file has it.
    #[cfg_attr(feature = "typescript", ts(type = "\"=\" | \"+\" | \"-\""))]
    pub mark: char,
    /// The text of the line.
    pub text: String,
}

/// Every file and every table of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FilesView {
    /// The files of the run.
    pub files: Vec<FileInfo>,
    /// The tables of the run.
    pub tables: Vec<TableInfo>,
}

/// The issues of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IssuesView {
    /// How many of the listed issues are errors, warnings and notes.
    pub counts: Counts,
    /// The issues: errors first, then in the order found.
    pub issues: Vec<IssueView>,
    /// The rules of these issues, with meaning and advice, without examples.
    pub rules: Vec<RuleView>,
}

/// An issue, with links to the pages that show its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IssueView {
    /// The issue itself.
    #[serde(flatten)]
    pub issue: Issue,
    /// The index of the trace's node that the issue is about, if any.
    pub node: Option<u32>,
    /// The index of the binding that the issue is about, if any.
    pub binding: Option<u32>,
    /// The place of the issue in words: `execution row 12`, `state.md line 40`.
    pub place: String,
}
