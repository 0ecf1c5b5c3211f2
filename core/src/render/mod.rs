//! Facts as text: the files of a run folder, and what a terminal may show.

pub mod binding_md;
pub mod gates_json;
pub mod segment_md;
pub mod state_md;
pub mod text;
