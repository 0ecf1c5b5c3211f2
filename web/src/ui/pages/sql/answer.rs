//! Draws the answer to an SQL query: a table, the selected cell, and buttons that copy or save the answer.

use std::sync::Arc;

use js_sys::Array;
use leptos::prelude::*;
use prosescope_core::pages::view::{QueryView, ShownCell};
use prosescope_core::record::render::csv::csv;
use wasm_bindgen::JsValue;

use super::{Lens, SqlContent};
use crate::text::words;
use crate::ui::cells;
use crate::ui::icons;
use crate::ui::list::{Cursor, ListCommand, Mark, Pages, Rows};
use crate::ui::parts::{Copy, Empty, live, save_blob};

/// The position of a cell: the index of its row and of its column.
type CellPosition = (u64, usize);

pub(super) fn draw(lens: Lens) -> AnyView {
    view! {
        <div class="sql-answer">
            {live(move || match lens.shown.get() {
                SqlContent::Nothing => view! {
                    <Empty what="No query yet" why="Choose a stored query, or write SQL and press Ctrl Enter."/>
                }.into_any(),
                SqlContent::Running => view! { <p class="soft" role="status">"Running…"</p> }.into_any(),
                SqlContent::Stopped => view! { <p class="soft" role="status">"Stopped."</p> }.into_any(),
                SqlContent::Trouble(_) => ().into_any(),
                SqlContent::Answer(view) => answer(lens, view),
            })}
        </div>
    }
    .into_any()
}

fn answer(lens: Lens, view: Arc<QueryView>) -> AnyView {
    let is_refused = RwSignal::new(false);
    let save = move |text: String, kind: &str, name: &str| {
        is_refused.set(saved(&text, kind, name).is_none());
    };
    let (as_csv, to_csv, to_json) = (view.clone(), view.clone(), view.clone());
    let chosen = RwSignal::new(None::<CellPosition>);
    let is_empty = view.rows.is_empty();
    view! {
        <div class="sql-bar">
            <span role="status">{how_many(&view)}</span>
            {live(move || lens.is_old.get().then(|| view! {
                <span class="wait-words">"The run has changed since this answer: run the query again."</span>
            }))}
            <span class="grow"></span>
            <Copy text=Signal::derive(move || csv(&as_csv)) label="Copy CSV"/>
            <button on:click=move |_| save(csv(&to_csv), "text/csv", "answer.csv")>{icons::download()}<span>"Save CSV"</span></button>
            <button on:click=move |_| save(json(&to_json), "application/json", "answer.json")>{icons::download()}<span>"Save JSON"</span></button>
        </div>
        {live(move || is_refused.get().then(|| view! {
            <p class="bad-words" role="alert">"The browser refused the download. Allow downloads for this page."</p>
        }))}
        {view.notes.iter().map(|note| view! { <p class="soft">{note.clone()}</p> }).collect_view()}
        {match is_empty {
            true => view! { <Empty what="No rows" why="The query ran and returned no rows."/> }.into_any(),
            false => table(&view, chosen),
        }}
        {live(move || chosen.get().and_then(|at| cell(&view, at, chosen)))}
    }
    .into_any()
}

/// Returns the words for the number of rows, for missing rows, and for cells that were cut.
fn how_many(view: &QueryView) -> String {
    let rows = match view.more {
        true => format!(
            "First {}; the query returns more",
            words::counted(view.returned, "row", "rows")
        ),
        false => words::counted(view.returned, "row", "rows"),
    };
    let cut = match view.cut {
        0 => String::new(),
        n => format!("{} cut after 64 KB", words::counted(n, "cell", "cells")),
    };
    words::joined([rows, cut])
}

fn json(view: &QueryView) -> String {
    // Serializing cannot fail, because the view contains only names, numbers and texts.
    serde_json::to_string_pretty(view).unwrap_or_default()
}

/// Lets the browser save a text as a file; `None` if the browser refuses.
fn saved(text: &str, kind: &str, name: &str) -> Option<()> {
    let options = web_sys::BlobPropertyBag::new();
    options.set_type(kind);
    let parts = Array::of1(&JsValue::from_str(text));
    let blob = web_sys::Blob::new_with_str_sequence_and_options(&parts, &options).ok()?;
    save_blob(&blob, name)
}

fn table(view: &QueryView, chosen: RwSignal<Option<CellPosition>>) -> AnyView {
    let names: Vec<String> = view
        .columns
        .iter()
        .map(|column| column.name.clone())
        .collect();
    let mut widths = Vec::new();
    cells::widen(&mut widths, &names, &view.rows);
    let head = view.columns.iter().map(|column| {
        let declared = column.declared.clone().unwrap_or_default();
        view! { <span role="columnheader" dir="auto" title=declared>{cells::one_line(&column.name)}</span> }
    });
    let head = head.collect_view().into_any();
    let last = view.columns.len().saturating_sub(1);
    let on_key = Callback::new(
        move |(key, row, _): (ListCommand, u64, Option<Vec<ShownCell>>)| {
            let column = chosen.get_untracked().map_or(0, |(_, column)| column);
            let column = match key {
                ListCommand::Left => column.saturating_sub(1),
                ListCommand::Right => (column + 1).min(last),
                ListCommand::Enter => column,
                ListCommand::Moved if chosen.read_untracked().is_some() => column,
                _ => return,
            };
            chosen.set(Some((row, column)));
            show();
        },
    );
    let draw = move |at, row: &Vec<ShownCell>| row_of(at, row, chosen);
    view! {
        <div class="table-box" style=("--cols", cells::template(&widths))>
            <Rows pages=Pages::of(view.rows.clone()) height=24.0 label="Answer" class="sql-rows" cursor=Cursor::new()
                head draw mark=|_| Mark::default() on_key/>
        </div>
    }
    .into_any()
}

/// Scrolls to the selected cell, because a wide table may hide it.
fn show() {
    request_animation_frame(|| {
        let to = web_sys::ScrollIntoViewOptions::new();
        to.set_block(web_sys::ScrollLogicalPosition::Nearest);
        to.set_inline(web_sys::ScrollLogicalPosition::Nearest);
        let cell = document()
            .query_selector(".sql-rows .chosen")
            .ok()
            .flatten();
        if let Some(cell) = cell {
            cell.scroll_into_view_with_scroll_into_view_options(&to);
        }
    });
}

fn row_of(at: u64, row: &[ShownCell], chosen: RwSignal<Option<CellPosition>>) -> AnyView {
    let cells = row.iter().enumerate().map(|(column, cell)| {
        let title = cells::beginning(cell);
        let line = cells::one_line(&title);
        view! {
            <span role="gridcell" class=cells::class(cell) dir="auto" title=title
                class:chosen=move || chosen.get() == Some((at, column))
                on:click=move |_| chosen.set(Some((at, column)))>{line}</span>
        }
    });
    cells.collect_view().into_any()
}

/// Draws the selected cell completely.
fn cell(
    view: &QueryView,
    (at, column): CellPosition,
    chosen: RwSignal<Option<CellPosition>>,
) -> Option<AnyView> {
    let row = view.rows.get(at as usize)?;
    let cell = row.get(column)?;
    let name = view.columns.get(column)?.name.clone();
    let kind = match cell.cut {
        true => format!(
            "{}, the first 64 KB of {}",
            cell.stored,
            words::bytes(cell.len)
        ),
        false => cell.stored.clone(),
    };
    let of_row = QueryView {
        columns: view.columns.clone(),
        rows: vec![row.clone()],
        ..QueryView::default()
    };
    // `text` is shown, `raw` is copied. `raw` is the value itself, without the `x'…'` of bytes; for NULL it is empty.
    let (text, raw) = (cells::text(cell), cell.text.clone());
    Some(
        view! {
            <section class="sql-cell" aria-label="Cell">
                <div class="sql-bar">
                    <code dir="auto">{name}</code><span class="faint">{format!("row {} · {kind}", words::count(at + 1))}</span>
                    <span class="grow"></span>
                    <Copy text=Signal::derive(move || raw.clone()) label="Copy cell"/>
                    <Copy text=Signal::derive(move || csv(&of_row)) label="Copy row"/>
                    <button class="icon" title="Close" aria-label="Close" on:click=move |_| chosen.set(None)>{icons::close()}</button>
                </div>
                <pre class="raw" dir="auto" tabindex="0">{text}</pre>
            </section>
        }
        .into_any(),
    )
}
