//! Tests runs with hostile texts in every field: neither a terminal nor a browser acts on them.

#[cfg(unix)]
mod terminal;
