//! Removing what a person asked to remove, and nothing else: inside of `.prose/`, no links followed.

pub(crate) mod agents;
pub(crate) mod clean;
