//! Decides which runs may be removed, and whether a directory is ready for recording. The caller gathers the facts;
//! this module judges them.

pub mod clean;
pub mod doctor;
