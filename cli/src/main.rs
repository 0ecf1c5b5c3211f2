//! The `prose` command.
fn main() {}
