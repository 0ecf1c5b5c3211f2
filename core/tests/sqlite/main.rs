//! Tests of decoding real SQLite files: those that OpenProse's own SQL creates through the `sqlite3` program, and odd
//! ones. A test of an erratum has its number in the name.
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests make files and run programs"
)]

mod damage;
mod dialects;
mod documents;
mod large;
mod lists;
mod oddities;
mod support;
