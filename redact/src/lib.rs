//! What is a secret in a text, and what replaces it. No I/O: texts come in, places and texts go out.
//!
//! - [`Rules`] is what one share goes by: the table ([`rules`]), exact values ([`Exact`], [`variables`]), patterns of the user's, and what
//!   is kept.
//! - [`Rules::scan`] returns the [`Hit`]s of one text, named by [`Names`]; [`replace`] writes the text without them.
//! - [`Remains`] searches the bytes of the written file for every secret that was replaced.
//! - [`hints`] finds what is only random; [`not_found`] lists what nothing finds.
//!
//! # Why rows of our own
//!
//! The sets that exist as crates do not fit: `kingfisher-rules` (kept well; needs Rust 1.99, a C++ library and `aws-lc`, and has data
//! under CC-BY-SA), `keyspoor` (needs Rust 1.96; its rows are those of Gitleaks 8.30, which is frozen), `nosecrets-rules` (50 rows). So the rows
//! are written from the formats that vendors publish, in our words. Where a vendor publishes no length, the length follows the
//! MIT-licensed set of Gitleaks.
//!
//! # Why `regex-lite`
//!
//! Measured for wasm32 with the viewer's profile, compressed by gzip: `regex` adds 317 KB, `regex` with `std` alone 120 KB, `regex-lite`
//! 35 KB; `aho-corasick`'s contiguous automaton adds 25 KB (its front with prefilters 42 KB). The speed of the expressions does not matter for the table,
//! because a pattern sees only what follows a keyword. Patterns of the user's run over all of a text: their size is limited.

mod exact;
mod forms;
mod hints;
mod hit;
mod limits;
mod names;
mod needles;
mod pattern;
mod plausible;
mod remains;
mod rule;
mod rules;
mod scan;
pub mod shape;
mod words;

pub use exact::{Exact, SHORTEST, Variable, variables};
pub use hints::hints;
pub use hit::{Hit, replace, surroundings};
pub use limits::not_found;
pub use names::Names;
pub use pattern::Refused;
pub use remains::{Place, Remains};
pub use rule::{Kind, Rule};
pub use rules::rules;
pub use scan::Rules;
pub use words::names_secret;
