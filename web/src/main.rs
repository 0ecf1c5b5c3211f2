//! The browser viewer.
fn main() {}
