//! Finds secrets in texts and replaces them. Does no I/O: a caller passes texts, and gets hits and redacted texts.
//!
//! - [`Rules`] contains the rules of one share: the table of `rules.toml` ([`rules`]), the user's own rules and
//!   patterns, exact values ([`Exact`], [`variables`]), and exceptions.
//! - [`Rules::scan`] returns the [`Hit`]s of one text, named by [`SecretNames`]; [`replace`] returns the text without
//!   them.
//! - [`Remains`] searches the bytes of the written file for every secret that was replaced.
//! - [`Rules::learn`] adds the secrets found so far as exact values, so that a second scan also finds them bare,
//!   encoded or split. Redacting a file takes four steps: scan all texts, learn, scan them again and replace, search
//!   the written file.
//! - [`hints`] finds texts that are merely random.
//!
//! # Why a rule table of our own
//!
//! The existing sets of rules do not fit: `kingfisher-rules` (well maintained) needs Rust 1.99, a C++ library and
//! `aws-lc`, and has data under CC-BY-SA; `keyspoor` needs Rust 1.96, and its rows are those of Gitleaks 8.30, which
//! is frozen; `nosecrets-rules` has 50 rows. So this table is written from the formats that vendors publish, in our
//! own words. If a vendor publishes no length, the row uses the length of Gitleaks' MIT-licensed set.
//!
//! # Why `regex-lite`
//!
//! Size for wasm32 with the viewer's profile, compressed by gzip: `regex` adds 317 KB, `regex` with only `std` 120
//! KB, `regex-lite` 35 KB; `aho-corasick`'s contiguous automaton adds 25 KB (42 KB with its prefilters). The whole
//! crate adds 125 KB.
//!
//! Speed over 10 MB: `regex` takes 0.001 s for a pattern that begins with a literal and 1.8 s for another; `regex-lite`
//! takes 0.2 to 1.6 s for either, and up to 10 s for the largest pattern that [`Rules::asked`] accepts. The table is
//! fast nevertheless: the automaton finds keywords, and a pattern searches only the text after its own keyword.
//! Processor time for 10 MB with optimisation: 0.11 s for documents, 0.3 s with a hundred exact values, 2 s for a text
//! of nothing but secrets, at most 6 s for a text that repeats the beginning of a token.

mod escape;
mod exact;
#[cfg(not(target_arch = "wasm32"))]
mod file;
mod find;
mod hints;
mod hit;
mod merge;
mod names;
mod needles;
mod pattern;
mod plausible;
mod reading;
mod remains;
mod rule;
mod scan;
pub mod shape;
mod table;
mod value_place;
mod words;

pub use exact::{ASKED, Exact, SHORTEST, Variable, variables};
#[cfg(not(target_arch = "wasm32"))]
pub use file::{LONGEST_FILE, WrongFile};
pub use hints::hints;
pub use hit::{Hit, replace, surroundings};
pub use names::{SecretNames, is_mark};
pub use pattern::RejectedPattern;
pub use remains::{RemainingSecret, Remains};
pub use rule::{Rule, RuleKind};
pub use scan::Rules;
pub use table::rules;
pub use words::names_secret;
