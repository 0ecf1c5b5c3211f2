//! Draws the pages of a run. Each page requests one view struct of the core and draws it.

mod agents;
mod bindings;
pub(crate) mod failures;
mod files;
mod gates;
mod imports;
mod issues;
mod program;
mod sql;
mod state_md;
mod trace;

use leptos::prelude::*;
use prosescope_core::pages::view::{NodeRef, TreeRow};

use super::parts::Pill;
use super::state::ShownRun;
use crate::route::Page;

/// Returns the status by which a row of the trace is drawn.
fn shown_status(row: &TreeRow) -> &str {
    match row.recovered {
        true => "recovered",
        false => row.status.as_str(),
    }
}

/// Draws a sentence; parts between backquotes are drawn as code.
pub(crate) fn coded(sentence: &str) -> AnyView {
    let parts = sentence.split('`').enumerate().map(|(i, part)| {
        let part = part.to_owned();
        if i % 2 == 1 {
            view! { <code dir="auto">{part}</code> }.into_any()
        } else {
            part.into_any()
        }
    });
    view! { {parts.collect_view()}" " }.into_any()
}

/// Draws a link to a node of the trace: its statement, its status, its parent.
fn node_link(node: &NodeRef) -> AnyView {
    let run = ShownRun::get();
    view! {
        <a href=run.item(Page::Trace, item_of(node)).to_string() class="node">
            <Pill status=node.status.clone()/>
            <code dir="auto" title=node.text.clone()>{node.text.clone()}</code>
            {(!node.path.is_empty()).then(|| view! { <small title=node.path.clone()>"in "<bdi>{node.path.clone()}</bdi></small> })}
        </a>
    }
    .into_any()
}

/// Returns the item that identifies a node in the address: the id of its execution row (`7`), or, without a row, its
/// position in the trace (`~12`).
pub(crate) fn item_of(node: &NodeRef) -> String {
    named(node.id, node.node)
}

/// Returns the item that identifies a row of the trace in the address, as [`item_of`] does for a node.
fn item_of_row(row: &TreeRow) -> String {
    named(row.id, row.node)
}

fn named(id: Option<i64>, node: u32) -> String {
    id.map_or_else(|| format!("~{node}"), |id| id.to_string())
}

/// Draws one of the pages of a run.
pub(crate) fn draw(page: Page) -> AnyView {
    match page {
        Page::Program => program::draw(),
        Page::Trace => trace::draw(),
        Page::Bindings => bindings::draw(),
        Page::Agents => agents::draw(),
        Page::Gates => gates::draw(),
        Page::Imports => imports::draw(),
        Page::State => state_md::draw(),
        Page::Files => files::draw(),
        Page::Sql => sql::draw(),
        Page::Issues => issues::draw(),
    }
}
