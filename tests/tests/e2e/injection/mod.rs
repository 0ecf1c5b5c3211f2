//! Tests with runs that contain hostile texts in every field: neither a terminal nor a browser acts on these texts.

#[cfg(unix)]
mod terminal;
