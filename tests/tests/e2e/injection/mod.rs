//! Runs whose every text field means harm, in what shows them: no terminal and no browser does what they say.

#[cfg(unix)]
mod terminal;
