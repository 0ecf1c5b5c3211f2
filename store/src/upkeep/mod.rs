//! Removes exactly what a person asked to remove (inside `.prose/`, without following links), converts and repairs
//! runs, and gathers facts about a directory.

pub(crate) mod agents;
pub(crate) mod clean;
pub(crate) mod convert;
pub(crate) mod look;
pub(crate) mod repair;
