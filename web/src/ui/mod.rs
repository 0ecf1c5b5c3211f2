//! Draws the page in the browser: requests view structs from a desk and renders them as HTML.
//!
//! [`app`] is the root component, and [`state`] is shared by all components. [`opening`] turns dropped and picked items
//! into files. [`shell`] is the frame around the [`pages`] of a run. Text from a run is put into text nodes only, never
//! parsed as HTML.

// The component macro generates items that are always `pub`.
#![allow(unreachable_pub)]

mod app;
mod band;
mod bar_end;
mod cells;
mod choice;
mod clock;
mod commands;
mod compare;
mod detail;
mod divider;
mod finder;
mod follow;
mod help;
mod home;
mod icons;
mod keys;
mod list;
mod load;
mod opening;
mod pages;
mod parts;
pub(crate) mod rehearsal;
mod rendered;
mod runs;
mod share;
mod sheet;
mod shell;
mod state;
mod theme;
mod trace_shown;
mod value;
mod workflow;
mod workflows;

/// Mounts the app, and removes the text that the page shows to readers without scripts.
pub(crate) fn start() {
    leptos::mount::mount_to_body(app::App);
    let summary = leptos::prelude::document().get_element_by_id("prosescope-summary");
    if let Some(summary) = summary {
        summary.remove();
    }
}
