//! Long lists: only the rows on the screen are drawn, only the stretches around them are asked for.
//!
//! [`Pages`] holds what was asked for; [`Rows`] draws it and moves in it by keyboard.

mod pages;
mod rows;

pub(crate) use pages::{Pages, Stretch};
pub(crate) use rows::{Cursor, Key, Kind, Mark, Rows};
