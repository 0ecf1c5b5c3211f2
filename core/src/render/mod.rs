//! Facts as text: state.md, and what a terminal may show.

pub mod state_md;
pub mod text;
