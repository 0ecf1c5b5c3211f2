//! The number of cases of property tests, and their seed. Only tests compile this file. `tests/support` includes it for the tests of other
//! crates; the unit tests of this crate do without that package, which is not published.

#![allow(
    unreachable_pub,
    clippy::disallowed_methods,
    reason = "public in tests/support; a test may read the environment"
)]

use proptest::test_runner::{Config, RngSeed};

/// Returns a configuration with the same cases everywhere; with `PROSE_CASES=N`, that many other cases, chosen by
/// `PROSE_SEED` or at random.
pub fn cases(count: u32, seed: u64) -> Config {
    let asked = number("PROSE_CASES").and_then(|count| u32::try_from(count).ok());
    Config {
        cases: asked.unwrap_or(count),
        rng_seed: match (asked, number("PROSE_SEED")) {
            (_, Some(seed)) => RngSeed::Fixed(seed),
            (Some(_), None) => RngSeed::Random,
            (None, None) => RngSeed::Fixed(seed),
        },
        failure_persistence: None,
        ..Config::default()
    }
}

/// Returns the number in an environment variable.
pub fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}
