//! Tests of the style of real runs, in small cases (`fixtures/real.json`): the facts that a session derives from each.
//! `cli/tests/real.rs` tests the printed output of the same cases.

mod cases;
mod facts;
mod mutate;
mod mutated;
