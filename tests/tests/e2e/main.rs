//! The end-to-end tests, in one binary: the viewer in a real browser, the purity of the core, the sources of the
//! shells.

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
mod large;
mod pkg;
mod purity;
mod rules;
mod serve;
mod shells;
mod viewer;
