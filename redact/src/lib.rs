//! What is a secret in a text, and what replaces it. No I/O: texts come in, places and texts go out.
//!
//! - [`Rules`] is what one share goes by: the table ([`rules`]), exact values ([`Exact`], [`variables`]), patterns of the user's, and what
//!   is kept.
//! - [`Rules::scan`] returns the [`Hit`]s of one text, named by [`Names`]; [`replace`] writes the text without them.
//! - [`Remains`] searches the bytes of the written file for every secret that was replaced.
//! - [`Rules::learn`] lets a second scan of all texts find bare, encoded or split what the first one knew by its form. So a file is
//!   redacted in four steps: scan all texts, learn, scan them again and replace, search what was written.
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
//! Measured for wasm32 with the viewer's profile, compressed by gzip: `regex` adds 317 KB, `regex` with `std` alone 120 KB,
//! `regex-lite` 35 KB; `aho-corasick`'s contiguous automaton adds 25 KB (its front with prefilters 42 KB). All of this crate adds 125 KB.
//!
//! Over 10 MB, `regex` takes 0.001 s for a pattern that begins with a known text and 1.8 s for one that does not; `regex-lite` takes 0.2 to 1.6 s for
//! either, and up to 10 s for the largest pattern that [`Rules::asked`] accepts. For the table this does not matter: the automaton finds the keywords, and a
//! pattern sees only what follows its own. Processor time for 10 MB, optimised: 0.06 s for documents, 0.2 s with a hundred exact values,
//! 1 s for nothing but secrets, 6 s at the most for a text that repeats the beginning of a token to be slow.

mod exact;
mod forms;
mod hints;
mod hit;
mod limits;
mod merge;
mod names;
mod needles;
mod pattern;
mod plausible;
mod remains;
mod rule;
mod rules;
mod scan;
pub mod shape;
mod table;
mod value_place;
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
