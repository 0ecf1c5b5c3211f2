//! The pages of a run: each draws one view struct of the core.

mod agents;
mod bindings;
pub(crate) mod failures;
mod files;
mod gates;
mod imports;
mod issues;
mod overview;
mod program;
mod state_md;
mod trace;

use leptos::prelude::*;
use prosescope_core::view::{Tone, tone};

use crate::route::Page;

/// The class that colours a status.
fn tone_class(status: &str) -> &'static str {
    match tone(status) {
        Tone::Ok => "ok",
        Tone::Run => "run",
        Tone::Wait => "wait",
        Tone::Bad => "bad",
        Tone::Quiet => "quiet",
    }
}

/// Draws a page.
pub(crate) fn draw(page: Page) -> AnyView {
    match page {
        Page::Overview => overview::draw(),
        Page::Program => program::draw(),
        Page::Trace => trace::draw(),
        Page::Bindings => bindings::draw(),
        Page::Agents => agents::draw(),
        Page::Gates => gates::draw(),
        Page::Imports => imports::draw(),
        Page::State => state_md::draw(),
        Page::Files => files::draw(),
        Page::Issues => issues::draw(),
    }
}
