//! What is found, and what is not: the table's own examples, the planted list, texts that hold no secret.

mod found;
mod innocent;
mod planted;
mod replacing;
mod table;
