//! Tests of decoding real SQLite files: files that the `sqlite3` program creates from OpenProse's own SQL, and odd
//! files. The name of a test for an erratum begins with the erratum's number.
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests make files and run programs"
)]

mod contract_2;
mod damage;
mod dialects;
mod documents;
mod foreign;
mod large;
mod lists;
mod oddities;
mod support;
