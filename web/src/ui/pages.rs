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
use prosescope_core::view::TreeRow;

use crate::route::Page;

/// How a row of the trace stands, in the word that it is drawn by.
fn shown_status(row: &TreeRow) -> &str {
    match row.recovered {
        true => "recovered",
        false => row.status.as_str(),
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
