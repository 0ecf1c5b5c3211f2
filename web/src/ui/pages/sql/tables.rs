//! Draws the tables and columns that are available to queries. A click inserts a name into the query field.

use leptos::prelude::*;
use prosescope_core::pages::view::{QueryTable, QueryTables};

use super::Lens;
use crate::text::words;
use crate::ui::load::{LoadState, loaded};

/// The width of the window, in pixels, above which the tables have a column of their own beside the field (`sql.css`).
const WIDE: f64 = 860.0;

pub(super) fn draw(lens: Lens, known: LoadState<QueryTables>) -> AnyView {
    let width = window().inner_width().ok().and_then(|width| width.as_f64());
    let is_wide = width.is_none_or(|width| width > WIDE);
    view! {
        <details class="sql-tables" open=is_wide>
            <summary>"Tables and columns"</summary>
            {loaded(known, move |known: QueryTables| list(lens, known))}
        </details>
    }
    .into_any()
}

fn list(lens: Lens, known: QueryTables) -> AnyView {
    let (own, model): (Vec<QueryTable>, Vec<QueryTable>) =
        known.tables.into_iter().partition(|table| table.own);
    let group = |title: &'static str, tables: Vec<QueryTable>, first: bool| {
        (!tables.is_empty()).then(|| {
            let tables = tables.into_iter().enumerate();
            let tables = tables.map(|(at, table)| one(lens, table, first && at == 0));
            view! { <h2>{title}</h2><ul>{tables.collect_view()}</ul> }
        })
    };
    view! {
        {group("In every run", model, true)}
        {group("The run's own tables", own, false)}
    }
    .into_any()
}

fn one(lens: Lens, table: QueryTable, begins_open: bool) -> AnyView {
    let is_open = RwSignal::new(begins_open);
    let QueryTable {
        name,
        about,
        rows,
        columns,
        ..
    } = table;
    let rows = rows.map(|rows| view! { <small title="Rows">{words::count(rows)}</small> });
    let label = format!("Columns of {name}");
    let insert = name.clone();
    let inside = move || {
        is_open.get().then(|| {
            let columns = columns.clone().into_iter().map(|column| {
                let (name, insert) = (column.name.clone(), column.name);
                let declared = column.declared.unwrap_or_default().to_lowercase();
                view! {
                    <li><button class="plain" title="Insert" on:click=move |_| put(lens, &insert)><code dir="auto">{name}</code><small>{declared}</small></button></li>
                }
            });
            view! {
                {(!about.is_empty()).then(|| view! { <p class="faint">{about.clone()}"."</p> })}
                <ul>{columns.collect_view()}</ul>
            }
        })
    };
    view! {
        <li>
            <div class="sql-table">
                <button class="twisty" class:folded=move || !is_open.get() aria-label=label
                    aria-expanded=move || is_open.get().to_string()
                    on:click=move |_| is_open.update(|is| *is = !*is)>"▾"</button>
                <button class="plain" title="Insert" on:click=move |_| put(lens, &insert)><code dir="auto">{name}</code></button>
                {rows}
            </div>
            {inside}
        </li>
    }
    .into_any()
}

/// Inserts a name into the query field at the caret; a selected text is replaced.
fn put(lens: Lens, name: &str) {
    let Some(field) = lens.field.get_untracked() else {
        return;
    };
    let text = quoted(name);
    let (from, to) = (field.selection_start(), field.selection_end());
    let place = |at: Result<Option<u32>, _>| at.ok().flatten();
    let end = field.value().encode_utf16().count() as u32;
    let (from, to) = (place(from).unwrap_or(end), place(to).unwrap_or(end));
    // Errors are ignored: if the browser refuses, the field keeps its text.
    let _ = field.set_range_text_with_start_and_end(&text, from, to);
    let after = from + text.encode_utf16().count() as u32;
    let _ = field.set_selection_range(after, after);
    let _ = field.focus();
    lens.sql.set(field.value());
}

/// Quotes a name for SQL if necessary.
fn quoted(name: &str) -> String {
    let mut letters = name.chars();
    let begins = letters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    match begins && letters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}
