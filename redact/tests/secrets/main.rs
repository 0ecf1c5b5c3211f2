//! Tests what the rules find and what they leave: the rules' own examples, the planted secrets, texts without
//! secrets.

mod found;
mod innocent;
mod planted;
mod properties;
mod recall;
mod replacing;
mod speed;
mod table;
