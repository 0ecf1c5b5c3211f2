//! Tests the facts that a session derives from small cases in the style of real runs (`fixtures/real.json`).
//! `cli/tests/real.rs` tests the printed output of the same cases.

mod cases;
mod facts;
mod mutate;
mod mutated;
