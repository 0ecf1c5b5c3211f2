//! Tests what the rules find and what they leave: the table's own examples, the planted list, texts without secrets.

mod found;
mod innocent;
mod planted;
mod properties;
mod replacing;
mod speed;
mod table;
