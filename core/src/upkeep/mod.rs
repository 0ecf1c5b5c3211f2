//! Keeping house: what may go, and what a place is like to work in. Facts come from a shell, the judgement is here.

pub mod clean;
pub mod doctor;
