//! Draws a value that the user opened: rendered as Markdown, formatted as JSON, or raw.

use std::rc::Rc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::pages::session::ValueOf;
use prosescope_core::pages::view::ValueFormat;
use prosescope_core::record::render::download::download_name;
use prosescope_desk::text::{IndexedLines, LineOf, laid_out};

use super::list::{Cursor, Mark, Pages, Rows, Stretch};
use super::load::{ask, loaded};
use super::parts::{Copy, Download, Empty};
use super::rendered::Markdown;
use super::state::{App, Marked, ShownRun};
use crate::protocol::{LinesOf, OpenedValue, Request, ShownLines};
use crate::text::flow::{flowed, wraps};
use crate::text::words;

/// The most bytes of a value that the page shows. The user can download the whole value.
const MOST: u64 = 10_000_000;

/// The length in bytes from which a text is drawn line by line as it scrolls into view.
const AT_ONCE: usize = 60_000;

/// The way in which a value is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueLook {
    Rendered,
    Json,
    Raw,
}

impl ValueLook {
    fn word(self) -> &'static str {
        match self {
            ValueLook::Rendered => "Rendered",
            ValueLook::Json => "JSON",
            ValueLook::Raw => "Raw",
        }
    }
}

/// Requests a value and draws it.
#[component]
pub(crate) fn Value(
    /// The value to draw.
    of: ValueOf,
    /// The name of the file when the value is saved.
    name: String,
) -> impl IntoView {
    let run = ShownRun::get();
    let asked = of.clone();
    let answer = ask::<OpenedValue>(move || Request::Value {
        place: run.place(),
        of: asked.clone(),
        most: MOST,
    });
    view! {
        <section class="value" aria-label="Value">
            {loaded(answer, move |value: OpenedValue| {
                view! { <Opened value place=run.place() of=of.clone() name=name.clone()/> }.into_any()
            })}
        </section>
    }
}

#[component]
fn Opened(value: OpenedValue, place: String, of: ValueOf, name: String) -> impl IntoView {
    let OpenedValue {
        view: value,
        is_long,
    } = value;
    let size = words::bytes(value.len);
    let (note, summary) = (value.note.clone(), value.summary.clone());
    let cut = value.cut.then(|| {
        let shown = words::bytes(MOST);
        format!("Only the first {shown} of {size} are shown. Download the value to see all of it.")
    });
    let name = download_name(&name, value.format);
    let from = value.from.clone();
    let empty = value.len == 0;
    let format = value.format;
    let text = StoredValue::new(value.text);
    let download = Request::Download {
        place: place.clone(),
        of: of.clone(),
    };
    let whole = is_long.then(|| download.clone());
    let long = is_long.then_some(LinesOf {
        place,
        of,
        most: MOST,
        laid_out: false,
    });
    view! {
        {summary.map(|summary| view! { <p class="summary"><span class="faint">"Summary in the row: "</span><bdi>{summary}</bdi></p> })}
        {note.map(|note| view! { <p class="aside">{note}</p> })}
        <Looks text format empty long>
            <span class="faint cut" title=from.clone()>{size}" · "{from.clone()}</span>
            <span class="grow"></span>
            <Copy text=Signal::derive(move || text.get_value()) label="Copy" whole/>
            <Download request=download name/>
        </Looks>
        {cut.map(|cut| view! { <p class="aside">{cut}</p> })}
    }
}

/// Draws a text, with tabs for the ways to show it: rendered, formatted or raw. `children` are drawn beside the tabs.
#[component]
pub(crate) fn Looks(
    /// The text to show.
    text: StoredValue<String>,
    /// The text's format.
    format: ValueFormat,
    /// Whether the text is empty.
    #[prop(optional)]
    empty: bool,
    /// The source of the lines, if `text` is only the beginning of a long text.
    #[prop(default = None)]
    long: Option<LinesOf>,
    /// The further content of the bar with the tabs.
    children: Children,
) -> impl IntoView {
    let looks: &[ValueLook] = match format {
        ValueFormat::Markdown | ValueFormat::Text => &[ValueLook::Rendered, ValueLook::Raw],
        ValueFormat::Json => &[ValueLook::Json, ValueLook::Raw],
        ValueFormat::Binary => &[ValueLook::Raw],
    };
    // A text that nothing wraps may have columns, so it is shown in the font of code.
    let flows = || text.with_value(|text| text.len() <= AT_ONCE && !wraps(text).is_empty());
    let first = match format {
        ValueFormat::Markdown => ValueLook::Rendered,
        ValueFormat::Text if flows() => ValueLook::Rendered,
        ValueFormat::Json => ValueLook::Json,
        ValueFormat::Text | ValueFormat::Binary => ValueLook::Raw,
    };
    let app = App::get();
    let look = RwSignal::new(first);
    let is_long = long.is_some();
    Effect::new(move || {
        // Of a long text, only the beginning is rendered. The text is shown raw, because the found text may be after
        // the rendered beginning.
        if is_long && app.marked.read().is_some() && look.get_untracked() == ValueLook::Rendered {
            look.set(ValueLook::Raw);
        }
    });
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
            match (look.get(), long.clone()) {
                (ValueLook::Json | ValueLook::Raw, Some(of)) => {
                    let laid_out = look.get_untracked() == ValueLook::Json;
                    view! { <Long of=LinesOf { laid_out, ..of }/> }.into_any()
                }
                (ValueLook::Rendered, None) if format == ValueFormat::Text => {
                    view! { <pre class="raw reads" tabindex="0">{flowed(&text.read_value())}</pre> }.into_any()
                }
                (ValueLook::Rendered, _) => view! { <Markdown text=text.get_value()/> }.into_any(),
                (ValueLook::Json, None) => view! { <Text text=laid_out(&text.read_value())/> }.into_any(),
                (ValueLook::Raw, None) => view! { <Text text=text.get_value()/> }.into_any(),
            }
        }}
    }
}

/// Draws a raw text. Of a long text, only the visible lines are drawn.
#[component]
pub(crate) fn Text(
    /// The text to show.
    text: String,
) -> impl IntoView {
    if text.len() <= AT_ONCE {
        return view! { <pre class="raw" tabindex="0">{text}</pre> }.into_any();
    }
    let lines = Rc::new(IndexedLines::new(text));
    let fetch = move |from: u64, len: u32| {
        let rows = (from..from + u64::from(len)).filter_map(|i| {
            let (number, line) = lines.get(i as usize)?;
            Some((number, line.to_owned()))
        });
        let stretch = Stretch {
            rows: rows.collect(),
            total: lines.len() as u64,
        };
        std::future::ready(Ok(stretch))
    };
    line_by_line(Pages::new(fetch), Cursor::new())
}

/// Draws a long text line by line. Only the visible lines are requested.
#[component]
fn Long(of: LinesOf) -> impl IntoView {
    let app = App::get();
    let cursor = Cursor::new();
    let asked = of.clone();
    let pages = Pages::new(move |from, len| {
        let request = Request::Lines {
            of: asked.clone(),
            from,
            len,
        };
        async move {
            let lines: ShownLines = app.ask(request).await?;
            Ok(Stretch {
                rows: lines.rows,
                total: lines.total,
            })
        }
    });
    Effect::new(move || {
        let Some(Marked { text, line }) = app.marked.get() else {
            return;
        };
        let request = Request::FindLine {
            of: of.clone(),
            text,
            number: line,
        };
        spawn_local(async move {
            // An error is ignored: the text is then shown from its beginning.
            let found: Option<u64> = app.ask(request).await.unwrap_or_default();
            if let Some(row) = found.filter(|_| !cursor.is_gone()) {
                cursor.go(row);
            }
        });
    });
    line_by_line(pages, cursor)
}

fn line_by_line(pages: Pages<LineOf<String>>, cursor: Cursor) -> AnyView {
    let draw = |_, (number, line): &LineOf<String>| {
        let number = number.map_or_else(String::new, |n| n.to_string());
        view! {
            <span class="no" role="gridcell" aria-hidden="true">{number}</span>
            <span class="line" role="gridcell" dir="auto">{line.clone()}</span>
        }
        .into_any()
    };
    view! {
        <Rows
            pages height=20.0 label="Text, line by line" class="text-rows" cursor main=false
            draw=draw mark=|_| Mark::default() on_key=Callback::new(|_| {})
        />
    }
    .into_any()
}
