//! Draws the statements that an unfinished run has not reached yet, below its trace.

use leptos::prelude::*;
use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::{AheadView, How, ResumeView};

use crate::route::Page;
use crate::text::words;
use crate::ui::load::{ask_page, loaded};
use crate::ui::parts::live;
use crate::ui::state::ShownRun;

/// Draws the statements in a folded element. The core computes them only when the user unfolds it.
pub(super) fn draw(run: ShownRun) -> AnyView {
    let left = Memo::new(move |_| {
        run.overview.with(|overview| match overview {
            Some(Ok(overview)) => overview.left.clone(),
            _ => String::new(),
        })
    });
    let is_planned = Memo::new(move |_| {
        let answer = run.overview.get();
        let overview = answer.and_then(Result::ok);
        overview.is_some_and(|overview| {
            !overview.left.is_empty()
                && (!overview.positions.is_empty() || overview.failure.is_some())
        })
    });
    let open = RwSignal::new(false);
    let list = move || {
        open.get().then(|| {
            loaded(ask_page(pages::Page::Resume), move |view: ResumeView| {
                // The statements are sorted by line, because readers expect the order of the program.
                let mut ahead = view.ahead.clone();
                ahead.sort_by_key(|of| of.line);
                let more = u64::from(view.ahead_count).saturating_sub(view.ahead.len() as u64);
                let more = (more > 0).then(
                    || view! { <li class="faint">{words::counted(more, "more", "more")}</li> },
                );
                view! { <ol>{ahead.iter().map(|of| line(run, of)).collect_view()}{more}</ol> }
                    .into_any()
            })
        })
    };
    live(move || {
        is_planned.get().then(|| {
            view! {
                <details class="ahead" on:toggle=move |_| open.set(true)>
                    <summary>"Not done: "{move || left.get()}</summary>
                    {live(list)}
                </details>
            }
        })
    })
}

fn line(run: ShownRun, of: &AheadView) -> AnyView {
    let to = run.item(Page::Program, of.line).to_string();
    let how = match of.how {
        How::Here => "the run is here",
        How::Next => "",
        How::Again => "in another round",
        How::Maybe => "perhaps",
        How::Called => "in a call",
    };
    view! {
        <li>
            <a class="num" href=to>"line "{of.line}</a>
            <code class="cut" dir="auto" style:--level=(of.indent / 2).min(8).to_string()>{of.text.clone()}</code>
            <small class="faint">{how}</small>
        </li>
    }
    .into_any()
}
