//! Rows and the trees that must come out: as cases, at size, and for any rows at all.

mod any;
mod cases;
mod make;
mod many;
mod sound;
