//! Real SQLite files, decoded: those that the documents' own SQL makes through the `sqlite3` program, and odd ones.
//! Tests of one erratum carry its number in their name.
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
