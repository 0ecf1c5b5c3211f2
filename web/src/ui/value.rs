//! A value, opened: rendered, laid out, or as it is.

use std::rc::Rc;

use leptos::prelude::*;
use prosescope_core::render::download::download_name;
use prosescope_core::session::ValueOf;
use prosescope_core::view::{ValueFormat, ValueView};

use super::list::{Cursor, Mark, Pages, Rows, Stretch};
use super::load::{ask, loaded};
use super::parts::{Copy, Download, Empty};
use super::rendered::Markdown;
use super::state::Run;
use crate::protocol::Request;
use crate::text::json::laid_out;
use crate::text::lines::Lines;
use crate::text::words;

/// Longer values show their first part and a download.
const MOST: u64 = 10_000_000;

/// Longer texts are drawn line by line as they come into sight.
const AT_ONCE: usize = 60_000;

/// How a value is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Rendered,
    Json,
    Raw,
}

impl Look {
    fn word(self) -> &'static str {
        match self {
            Look::Rendered => "Rendered",
            Look::Json => "JSON",
            Look::Raw => "Raw",
        }
    }
}

/// A value, read when this is drawn.
#[component]
pub(crate) fn Value(
    /// Whose.
    of: ValueOf,
    /// What a saved file is called.
    name: String,
) -> impl IntoView {
    let run = Run::get();
    let asked = of.clone();
    let answer = ask::<ValueView>(move || Request::Value {
        place: run.place(),
        of: asked.clone(),
        most: MOST,
    });
    view! {
        <section class="value" aria-label="Value">
            {loaded(answer, move |value: ValueView| {
                let download = Request::Download { place: run.place(), of: of.clone() };
                view! { <Opened value download name=name.clone()/> }.into_any()
            })}
        </section>
    }
}

#[component]
fn Opened(value: ValueView, download: Request, name: String) -> impl IntoView {
    let size = words::bytes(value.len);
    let (note, summary) = (value.note.clone(), value.summary.clone());
    let cut = value.cut.then(|| {
        let shown = words::bytes(value.text.len() as u64);
        format!("This is the first {shown} of {size}. Download the value to have all of it.")
    });
    let name = download_name(&name, value.format);
    let from = value.from.clone();
    let empty = value.len == 0;
    let format = value.format;
    let text = StoredValue::new(value.text);
    view! {
        {summary.map(|summary| view! { <p class="summary"><span class="faint">"Summary in the row: "</span>{summary}</p> })}
        {note.map(|note| view! { <p class="aside">{note}</p> })}
        <Looks text format empty>
            <span class="faint cut" title=from.clone()>{size}" · "{from.clone()}</span>
            <span class="grow"></span>
            <Copy text=Signal::derive(move || text.get_value()) label="Copy"/>
            <Download request=download name/>
        </Looks>
        {cut.map(|cut| view! { <p class="aside">{cut}</p> })}
    }
}

/// A text with the ways to look at it; `children` stand beside their names.
#[component]
pub(crate) fn Looks(
    /// The text.
    text: StoredValue<String>,
    /// How it reads best.
    format: ValueFormat,
    /// There is nothing in it.
    #[prop(optional)]
    empty: bool,
    /// What else stands in the bar.
    children: Children,
) -> impl IntoView {
    let looks: &[Look] = match format {
        ValueFormat::Markdown | ValueFormat::Text => &[Look::Rendered, Look::Raw],
        ValueFormat::Json => &[Look::Json, Look::Raw],
        ValueFormat::Binary => &[Look::Raw],
    };
    let first = match format {
        ValueFormat::Markdown => Look::Rendered,
        ValueFormat::Json => Look::Json,
        ValueFormat::Text | ValueFormat::Binary => Look::Raw,
    };
    let look = RwSignal::new(first);
    let tabs = (looks.len() > 1 && !empty).then(|| {
        let tabs = looks.iter().map(|of| {
            let of = *of;
            view! {
                <button aria-pressed=move || (look.get() == of).to_string() on:click=move |_| look.set(of)>
                    {of.word()}
                </button>
            }
        });
        view! { <span class="tabs" role="group" aria-label="Look at it as">{tabs.collect_view()}</span> }
    });
    view! {
        <div class="value-bar">{tabs}{children()}</div>
        {move || if empty {
            view! { <Empty what="Empty" why="The value has no bytes."/> }.into_any()
        } else {
            match look.get() {
                Look::Rendered => view! { <Markdown text=text.get_value()/> }.into_any(),
                Look::Json => view! { <Text text=laid_out(&text.read_value())/> }.into_any(),
                Look::Raw => view! { <Text text=text.get_value()/> }.into_any(),
            }
        }}
    }
}

/// A text as it is; a long one is drawn as it comes into sight.
#[component]
pub(crate) fn Text(
    /// The text.
    text: String,
) -> impl IntoView {
    if text.len() <= AT_ONCE {
        return view! { <pre class="raw" tabindex="0">{text}</pre> }.into_any();
    }
    let lines = Rc::new(Lines::new(text));
    let pages = Pages::new(move |from, len| {
        let rows = (from..from + u64::from(len)).filter_map(|i| {
            let (number, line) = lines.get(i as usize)?;
            Some((number, line.to_owned()))
        });
        let stretch = Stretch {
            rows: rows.collect(),
            total: lines.len() as u64,
        };
        std::future::ready(Ok(stretch))
    });
    let draw = |_, (number, line): &(Option<u32>, String)| {
        let number = number.map_or_else(String::new, |n| n.to_string());
        view! {
            <span class="no" role="gridcell" aria-hidden="true">{number}</span>
            <span class="line" role="gridcell">{line.clone()}</span>
        }
        .into_any()
    };
    view! {
        <Rows
            pages height=20.0 label="Text, line by line" class="text-rows" cursor=Cursor::new() main=false
            draw=draw mark=|_| Mark::default() on_key=Callback::new(|_| {})
        />
    }
    .into_any()
}
