//! Long texts as a page shows them: line by line, JSON laid out.

mod json;
mod lines;

pub use json::laid_out;
pub use lines::{LineOf, Lines};
