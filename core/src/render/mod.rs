//! Renders facts as text: the files of a run folder, narration markers, briefs for subagents, CSV, and names of saved
//! files.

pub mod binding_md;
pub mod brief;
pub mod csv;
pub mod download;
pub mod gates_json;
pub mod narration;
pub mod segment_md;
pub mod state_md;
pub use crate::text;
