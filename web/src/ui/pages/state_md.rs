//! Draws the page of the state file `state.md`: as rendered from the run's data, as stored in the run's folder, and the
//! differences between both.

use leptos::prelude::*;
use prosescope_core::pages::view::{RunPart, StateLine, StateMdView};

use crate::protocol::Request;
use crate::route::Page;
use crate::ui::detail;
use crate::ui::list::{Cursor, Mark, Pages, Rows};
use crate::ui::load::{ask, loaded};
use crate::ui::parts::{Copy, EmptyPart};
use crate::ui::state::{App, ShownRun};
use crate::ui::value::Text;

/// The choice of what the page shows: the rendered text, the stored text, or their differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Show {
    Rendered,
    Own,
    Both,
}

impl Show {
    fn word(self) -> &'static str {
        match self {
            Show::Rendered => "rendered",
            Show::Own => "own",
            Show::Both => "both",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Show::Rendered => "From the data",
            Show::Own => "The file's own",
            Show::Both => "Differences",
        }
    }
}

/// Draws the page of the state file.
pub(super) fn draw() -> AnyView {
    let run = ShownRun::get();
    let whole = detail::query("whole");
    let whole = Memo::new(move |_| whole.get().is_some());
    let answer = ask(move || Request::State {
        place: run.place(),
        whole: whole.get(),
    });
    loaded(answer, move |view: StateMdView| {
        view! { <State view whole=whole.get_untracked()/> }.into_any()
    })
}

#[component]
fn State(view: StateMdView, whole: bool) -> impl IntoView {
    let (app, run) = (App::get(), ShownRun::get());
    let shows: Vec<Show> = [
        Some(Show::Rendered),
        view.own.is_some().then_some(Show::Own),
        (!view.lines.is_empty()).then_some(Show::Both),
    ]
    .into_iter()
    .flatten()
    .collect();
    let first = if view.differs && !view.lines.is_empty() {
        Show::Both
    } else {
        Show::Rendered
    };
    let asked = detail::query("show");
    let known = shows.clone();
    let show = Memo::new(move |_| {
        let asked = asked.get();
        known
            .iter()
            .copied()
            .find(|show| Some(show.word()) == asked.as_deref())
            .unwrap_or(first)
    });
    let go = move |show: Show, whole: bool| {
        let route = run.page(Page::State).with("show", show.word());
        if whole {
            route.with("whole", "yes")
        } else {
            route
        }
    };
    let tabs = (shows.len() > 1).then(|| {
        let tabs = shows.iter().map(|of| {
            let of = *of;
            view! {
                <button aria-pressed=move || (show.get() == of).to_string() on:click=move |_| app.put(go(of, whole))>{of.title()}</button>
            }
        });
        view! { <span class="tabs" role="group" aria-label="Show">{tabs.collect_view()}</span> }
    });
    let verdict = view.own.is_some().then(|| {
        if view.differs {
            view! { <span class="pill wait"><i aria-hidden="true">"≠"</i><span>"they differ"</span></span> }
        } else {
            view! { <span class="pill ok"><i aria-hidden="true">"✓"</i><span>"they are equal"</span></span> }
        }
    });
    let (rendered, own, lines) = (view.rendered, view.own.unwrap_or_default(), view.lines);
    let copied = {
        let (rendered, own) = (rendered.clone(), own.clone());
        Signal::derive(move || {
            if show.get() == Show::Own {
                own.clone()
            } else {
                rendered.clone()
            }
        })
    };
    view! {
        <div class="tools">
            {tabs}{verdict}
            <span class="grow"></span>
            <label class="check">
                <input type="checkbox" prop:checked=whole on:change=move |_| app.put(go(show.get_untracked(), !whole))/>
                "Whole program"
            </label>
            <Copy text=copied label="Copy"/>
        </div>
        {view.note.map(|note| view! { <p class="aside">{note}</p> })}
        <div class="state-text">
            {move || match show.get() {
                Show::Rendered if rendered.is_empty() => view! { <EmptyPart part=RunPart::Program what="Nothing to render" why="The run holds neither a program nor a trace."/> }.into_any(),
                Show::Rendered => view! { <Text text=rendered.clone()/> }.into_any(),
                Show::Own => view! { <Text text=own.clone()/> }.into_any(),
                Show::Both => view! { <Differences lines=lines.clone()/> }.into_any(),
            }}
        </div>
    }
}

#[component]
fn Differences(lines: Vec<StateLine>) -> impl IntoView {
    let head = view! {
        <span role="columnheader">"The file's own"</span>
        <span role="columnheader">"From the data"</span>
    };
    view! {
        <Rows
            pages=Pages::of(lines) height=20.0 label="Differences" class="diff-rows" cursor=Cursor::new()
            head=head.into_any() draw=line mark=|_| Mark::default() on_key=Callback::new(|_| {})
        />
    }
}

fn line(_: u64, line: &StateLine) -> AnyView {
    let text = || line.text.clone();
    let (own, rendered) = match line.mark {
        '-' => (Some(text()), None),
        '+' => (None, Some(text())),
        _ => (Some(text()), Some(text())),
    };
    let side = |text: Option<String>, mark: &'static str, changed: &'static str| {
        let class = match (&text, line.mark) {
            (None, _) => "none-here",
            (Some(_), '=' | ' ') => "",
            (Some(_), _) => changed,
        };
        let mark = if class == changed { mark } else { "" };
        let title = text.clone();
        view! { <span role="gridcell" class=class title=title><i>{mark}</i>{text}</span> }
    };
    view! { {side(own, "−", "del")}{side(rendered, "+", "add")} }.into_any()
}
