//! Draws the page of imported programs, with links to their nested runs.

use leptos::prelude::*;
use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::{ImportView, ImportsView, RunPart, ValueFormat};

use crate::route::{Page, Route};
use crate::ui::detail::{self, Beside};
use crate::ui::list::{Cursor, Mark, Pages, Rows};
use crate::ui::load::{ask_page, loaded};
use crate::ui::parts::{Empty, EmptyPart, Pill, When, binding_links, link};
use crate::ui::value::Looks;

/// Draws the page of imports.
pub(super) fn draw() -> AnyView {
    let answer = ask_page(pages::Page::Imports);
    loaded(answer, move |view: ImportsView| {
        view! { <Imports view/> }.into_any()
    })
}

#[component]
fn Imports(view: ImportsView) -> impl IntoView {
    let above = view.above.iter().map(|place| {
        let words = if place.is_empty() {
            "the run above"
        } else {
            place
        };
        view! { <li>{link(Route::page(place, Page::Trace), words)}</li> }
    });
    let above = (!view.above.is_empty()).then(|| view! {
        <p class="soft">"This run is nested in:"</p><ol class="crumbs">{above.collect_view()}</ol>
    });
    if view.imports.is_empty() {
        return view! {
            {above}
            <EmptyPart part=RunPart::Imports what="No imports" why="The program uses no other program."/>
        }
        .into_any();
    }
    let first = view
        .imports
        .first()
        .map(|import| import.alias.clone())
        .unwrap_or_default();
    let selected = detail::selected_or_first(move || first.clone());
    provide_context(StoredValue::new(view.imports.clone()));
    let on_key = detail::opening(Page::Imports, selected, |_, row: &ImportView| {
        row.alias.clone()
    });
    let mark = move |row: &ImportView| Mark {
        selected: selected.with(|item| item.as_ref() == Some(&row.alias)),
        ..Mark::default()
    };
    let list = view! {
        <Rows pages=Pages::of(view.imports) height=52.0 label="Imports" class="import-rows" cursor=Cursor::new() draw=row mark on_key/>
    };
    view! {
        {above}
        <Beside list=list.into_any() open=selected.into() label="Import" draw=open/>
    }
    .into_any()
}

fn row(_: u64, import: &ImportView) -> AnyView {
    let source = import
        .source_url
        .clone()
        .unwrap_or_else(|| "source not recorded".to_owned());
    view! {
        <span role="gridcell" class="two" title=source.clone()>
            <b class="mono">{import.alias.clone()}</b><small>{source.clone()}</small>
        </span>
        <span role="gridcell">{import.nested_status.clone().map(|status| view! { <Pill status/> })}</span>
    }
    .into_any()
}

fn open(item: String) -> AnyView {
    let imports: StoredValue<Vec<ImportView>> = expect_context();
    match imports.with_value(|imports| imports.iter().find(|import| import.alias == item).cloned())
    {
        Some(import) => view! { <Import import/> }.into_any(),
        None => view! { <Empty what="Nothing there" why="No import has that handle."/> }.into_any(),
    }
}

#[component]
fn Import(import: ImportView) -> impl IntoView {
    let nested = match import.place.clone() {
        Some(place) => {
            let to = Route::page(&place, Page::Trace).to_string();
            view! {
                <p class="line-up">
                    <a class="button primary" href=to>"Open the import's run"</a>
                    {import.nested_status.clone().map(|status| view! { <Pill status/> })}
                </p>
            }
            .into_any()
        }
        None => view! { <p class="faint">"No run of the imported program is recorded inside of this run."</p> }.into_any(),
    };
    let source = import
        .source_url
        .clone()
        .unwrap_or_else(|| "not recorded".to_owned());
    view! {
        <p class="faint">"Import"</p>
        <h2 class="statement"><code>{import.alias.clone()}</code></h2>
        {import.note.clone().map(|note| view! { <p class="aside">{note}</p> })}
        {nested}
        <dl class="pairs">
            <dt>"From"</dt><dd><code class="wrap">{source}</code></dd>
            <dt>"Fetched"</dt><dd><When stamp=import.fetched.clone()/></dd>
        </dl>
        {schema("Inputs", import.inputs_schema.clone())}
        {schema("Outputs", import.outputs_schema.clone())}
        <h3>"The import's values in this run"</h3>
        {if import.bindings.is_empty() {
            view! { <p class="faint">"No value's name begins with the import's handle."</p> }.into_any()
        } else {
            view! {
                {binding_links(&import.bindings)}
            }
            .into_any()
        }}
    }
}

fn schema(title: &'static str, json: Option<String>) -> Option<AnyView> {
    json.map(|json| {
        view! {
            <h3>{title}</h3>
            <Looks text=StoredValue::new(json) format=ValueFormat::Json>""</Looks>
        }
        .into_any()
    })
}
