//! Long texts for the page: split into lines, with JSON formatted.

mod json;
mod lines;

pub use json::laid_out;
pub use lines::{LineOf, Lines};
