//! Takes a run and what happened in it, and gives what shells show: the views, and how to go on, check, repair and
//! clean up.

pub mod check;
pub mod query;
pub mod repair;
pub mod resume;
pub mod session;
pub mod upkeep;
pub mod view;
