//! Tests of the trees built from rows: as listed cases, in large numbers, and for random rows.

mod any;
mod cases;
mod make;
mod many;
#[path = "../real/mutate.rs"]
#[expect(dead_code, reason = "there are no logs here")]
mod mutate;
mod mutated;
mod sound;
