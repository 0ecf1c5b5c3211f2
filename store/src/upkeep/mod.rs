//! Keeping house: removing what a person asked to remove and nothing else (inside of `.prose/`, no links followed), and
//! looking what a place is like.

pub(crate) mod agents;
pub(crate) mod clean;
pub(crate) mod convert;
pub(crate) mod look;
pub(crate) mod repair;
mod second_name;
