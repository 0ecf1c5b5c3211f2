//! How many cases properties try, and which.

use proptest::test_runner::{Config, RngSeed};

/// The same cases everywhere; with `PROSE_CASES=N` as many others, which differ each time.
pub fn cases(count: u32, seed: u64) -> Config {
    let asked = std::env::var("PROSE_CASES").ok();
    let asked = asked.and_then(|text| text.parse::<u32>().ok());
    Config {
        cases: asked.unwrap_or(count),
        rng_seed: match asked {
            Some(_) => RngSeed::Random,
            None => RngSeed::Fixed(seed),
        },
        failure_persistence: None,
        ..Config::default()
    }
}
