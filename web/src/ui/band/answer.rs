//! Draws the answer of a completed run, its first output, above the trace.

use leptos::html::Div;
use leptos::prelude::*;
use prosescope_core::pages::session::ValueOf;
use prosescope_core::pages::view::{BindingRef, ValueFormat};

use crate::protocol::{OpenedValue, Request};
use crate::route::Page;
use crate::text::flow::flowed;
use crate::text::words;
use crate::ui::load::{ask, loaded};
use crate::ui::parts::{Copy, link};
use crate::ui::rendered::Markdown;
use crate::ui::state::ShownRun;

/// The number of bytes of an output to request. This is more than the twelve lines that are visible.
const MOST: u64 = 20_000;

/// The number of outputs shown in full; further outputs are links.
const DRAWN: usize = 1;

/// Draws the first output, and links to the others. A run without outputs has `last`, the value of its last statement.
pub(super) fn draw(outputs: Vec<BindingRef>, last: Option<BindingRef>) -> AnyView {
    let run = ShownRun::get();
    let others = outputs.iter().skip(DRAWN).map(|output| {
        let to = run.item(Page::Bindings, output.binding);
        view! { <span>{link(to, output.name.as_str())}</span> }
    });
    let others: Vec<_> = others.collect();
    let others = (!others.is_empty())
        .then(|| view! { <p class="meta"><span>"Other outputs:"</span>{others}</p> });
    let first = outputs.into_iter().take(DRAWN);
    let first = first.map(|output| one(output, "output")).collect_view();
    let last = last.map(|last| {
        let what = match last.inferred {
            true => "likely the value of the last statement; the run names no output",
            false => "the value of the last statement; the run names no output",
        };
        one(last, what)
    });
    view! { {first}{last}{others} }.into_any()
}

fn one(output: BindingRef, what: &'static str) -> AnyView {
    let run = ShownRun::get();
    let asked = Request::Value {
        place: run.place(),
        of: ValueOf::Binding(output.binding),
        most: MOST,
    };
    let answer = ask::<OpenedValue>(move || asked.clone());
    let name = output.name.clone();
    let to = run.item(Page::Bindings, output.binding);
    let shown = loaded(answer, move |OpenedValue { view, .. }: OpenedValue| {
        let size = words::bytes(view.len);
        let rest = view.cut.then(|| {
            view! { <p class="faint">"Only the first "{words::bytes(MOST)}" are shown. "{link(to.clone(), "Open the whole value")}</p> }
        });
        let text = match view.format {
            _ if view.len == 0 => view! { <p class="none">"empty"</p> }.into_any(),
            ValueFormat::Markdown => view! { <Markdown text=view.text/> }.into_any(),
            ValueFormat::Text => {
                view! { <pre class="raw" tabindex="0">{flowed(&view.text)}</pre> }.into_any()
            }
            _ => view! { <pre class="raw" tabindex="0">{view.text}</pre> }.into_any(),
        };
        let (folds, whole) = (RwSignal::new(false), RwSignal::new(false));
        let words = move || if whole.get() { "Show less" } else { "Show all" };
        view! {
            <p class="meta"><b>{link(to.clone(), name.as_str())}</b><span>{what}</span><span>{size}</span>
                {move || folds.get().then(|| view! {
                    <button class="in-text" on:click=move |_| whole.update(|whole| *whole = !*whole)>{words}</button>
                })}
            </p>
            <div class="answer-text" class:folds=folds class:all=whole node_ref=measured(folds) tabindex="0" role="region" aria-label="Answer">
                {text}{rest}
            </div>
        }
        .into_any()
    });
    view! { <section class="answer" aria-label="Answer of the run">{shown}</section> }.into_any()
}

/// Returns the reference of a box, and sets `folds` once the box is higher than its style allows. Only the browser knows
/// that height, and it changes with the window.
fn measured(folds: RwSignal<bool>) -> NodeRef<Div> {
    let node = NodeRef::<Div>::new();
    let measure = move || {
        // The user may have left the page before this runs.
        let node = node.try_get_untracked().flatten();
        if node.is_some_and(|node| node.scroll_height() > node.client_height() + 1) {
            folds.try_set(true);
        }
    };
    Effect::new(move || {
        node.track();
        request_animation_frame(measure);
    });
    let resized = window_event_listener(leptos::ev::resize, move |_| measure());
    on_cleanup(move || resized.remove());
    node
}

/// Draws a button that copies a whole output.
pub(super) fn copy(binding: u32) -> AnyView {
    let whole = Request::Download {
        place: ShownRun::get().place(),
        of: ValueOf::Binding(binding),
    };
    view! { <Copy text=Signal::stored(String::new()) label="Copy answer" whole=Some(whole)/> }
        .into_any()
}
