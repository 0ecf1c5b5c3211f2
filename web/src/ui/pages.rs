//! The pages of a run: each draws one view struct of the core.

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
use prosescope_core::view::{NodeRef, TreeRow};

use super::parts::Pill;
use super::state::Run;
use crate::route::Page;

/// How a row of the trace stands, in the word that it is drawn by.
fn shown_status(row: &TreeRow) -> &str {
    match row.recovered {
        true => "recovered",
        false => row.status.as_str(),
    }
}

/// A sentence whose parts between backquotes are code.
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

/// A link to a node of the trace: what it is, how it stands, what it lies in.
fn node_link(node: &NodeRef) -> AnyView {
    let run = Run::get();
    view! {
        <a href=run.item(Page::Trace, item_of(node)).to_string() class="node">
            <Pill status=node.status.clone()/>
            <code dir="auto" title=node.text.clone()>{node.text.clone()}</code>
            {(!node.path.is_empty()).then(|| view! { <small title=node.path.clone()>"in "<bdi>{node.path.clone()}</bdi></small> })}
        </a>
    }
    .into_any()
}

/// A node in the address: its row, else its place in the trace.
pub(crate) fn item_of(node: &NodeRef) -> String {
    named(node.id, node.node)
}

/// A row of the trace in the address.
fn item_of_row(row: &TreeRow) -> String {
    named(row.id, row.node)
}

fn named(id: Option<i64>, node: u32) -> String {
    id.map_or_else(|| format!("~{node}"), |id| id.to_string())
}

/// Draws a page.
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
