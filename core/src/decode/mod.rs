//! Bytes in, tables out: what a file is (by content), and one decoder a format.

pub mod sqlite;
pub mod state_md;
pub mod text;
