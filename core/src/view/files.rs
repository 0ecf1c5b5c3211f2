use serde::{Deserialize, Serialize};

use super::{Counts, RuleView};
use crate::issue::Issue;
use crate::model::{FileInfo, TableInfo};
use crate::time::Stamp;

/// The imports of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ImportsView {
    /// The imports, in the store's order.
    pub imports: Vec<ImportView>,
    /// The chain of runs above this one, when it is nested itself: places, from the outside in.
    pub above: Vec<String>,
}

/// An imported program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ImportView {
    /// The handle it is used by.
    pub alias: String,
    /// Where it came from.
    pub source_url: Option<String>,
    /// When it was fetched.
    pub fetched: Option<Stamp>,
    /// The inputs' schema, JSON as recorded.
    pub inputs_schema: Option<String>,
    /// The outputs' schema, JSON as recorded.
    pub outputs_schema: Option<String>,
    /// The place of its nested run, to open it; `None`: there is none.
    pub place: Option<String>,
    /// What is known of the nested run without opening it whole.
    pub nested_status: Option<String>,
    /// Bindings of this run that carry its prefix, at most 200; of several imports with one handle, the first lists them.
    pub bindings: Vec<super::BindingRef>,
    /// A cycle, or nested deeper than 50: it is not opened.
    pub note: Option<String>,
}

/// state.md, as rendered from the data and as it lies in the folder.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StateMdView {
    /// Rendered from the data.
    pub rendered: String,
    /// The file's own text, where there is one (cut at 1 MiB).
    pub own: Option<String>,
    /// Both side by side, differences marked; empty when there is no file of its own, or no difference.
    pub lines: Vec<StateLine>,
    /// Whether they differ in what state.md carries.
    pub differs: bool,
    /// What to know: the file is of another form, encrypted, cut.
    pub note: Option<String>,
}

/// A line of the comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StateLine {
    /// `=` in both, `+` only rendered, `-` only in the file.
    #[cfg_attr(feature = "typescript", ts(type = "\"=\" | \"+\" | \"-\""))]
    pub mark: char,
    /// The text.
    pub text: String,
}

/// Every file and every table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FilesView {
    /// The files.
    pub files: Vec<FileInfo>,
    /// The tables.
    pub tables: Vec<TableInfo>,
}

/// The issues of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IssuesView {
    /// How many of each severity.
    pub counts: Counts,
    /// The issues: errors first, then in the order found.
    pub issues: Vec<IssueView>,
    /// The rules that they go by, with their meaning and what to do, without examples.
    pub rules: Vec<RuleView>,
}

/// An issue with the page that shows its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IssueView {
    /// The issue.
    #[serde(flatten)]
    pub issue: Issue,
    /// The node of the trace that it speaks of.
    pub node: Option<u32>,
    /// The binding that it speaks of.
    pub binding: Option<u32>,
    /// Where, in words: `execution row 12`, `state.md line 40`.
    pub place: String,
}
