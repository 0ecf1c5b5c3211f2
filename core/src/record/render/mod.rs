//! Renders facts as text: the files of a run folder, briefs for subagents, CSV, and names of saved files.

pub mod binding_md;
pub mod brief;
pub mod csv;
pub mod download;
pub mod json_rows;
pub mod segment_md;
pub mod state_md;
pub use crate::model::text;
