//! Runs the end-to-end tests, in one binary: the commands, the viewer in a real browser, the purity of the core, the
//! JavaScript package, and rules about the sources.

mod bench;
mod check;
mod cli;
mod command_name;
mod declared;
mod driver;
mod examples;
mod injection;
mod json;
mod json_pages;
mod pkg;
mod purity;
mod rules;
mod serve;
mod shells;
mod viewer;
