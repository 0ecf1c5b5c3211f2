//! Habits of real runs, in small (`fixtures/real.json`): which facts a session gives of each. `cli/tests/real.rs` holds
//! what the commands print of the same cases.

mod cases;
mod facts;
mod mutate;
mod mutated;
