//! Draws long lists: only the visible rows are drawn, and only the rows near them are requested.
//!
//! [`Pages`] stores the requested rows; [`Rows`] draws them and moves through them by keyboard.

mod pages;
mod rows;

pub(crate) use pages::{Pages, Stretch};
pub(crate) use rows::{Cursor, ListCommand, ListRole, Mark, Rows};
