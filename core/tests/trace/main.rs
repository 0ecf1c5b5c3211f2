//! Rows and the trees that must come out: as cases, at size, and for any rows at all.

mod any;
mod cases;
mod make;
mod many;
#[path = "../real/mutate.rs"]
#[expect(dead_code, reason = "there are no logs here")]
mod mutate;
mod mutated;
mod sound;
