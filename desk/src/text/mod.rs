//! Prepares long texts for the page: splits them into lines, and formats JSON.

mod json;
mod lines;

pub use json::laid_out;
pub use lines::{IndexedLines, LineOf};
