//! Draws the filter above the trace, and the buttons for the order of its rows, for folding and for the whole axis.

use leptos::prelude::*;
use prosescope_core::pages::session::pages::{TraceChoice, TraceOrder};
use prosescope_core::pages::view::RunPart;

use super::{To, Tree};
use crate::protocol::Folded;
use crate::text::axis::VisiblePart;
use crate::text::{filter, words};
use crate::ui::keys::focus;

/// Returns the filter that the button “Failed” sets. Nodes that failed themselves come first, then the blocks around
/// them.
fn failures() -> TraceChoice {
    TraceChoice {
        status: "failed".to_owned(),
        order: TraceOrder::Problems,
        ..TraceChoice::default()
    }
}

/// Draws the filter above the trace, with the buttons beside it.
#[component]
pub(super) fn Choose(tree: Tree) -> impl IntoView {
    let shown = tree.app.trace;
    let choice = shown.choice;
    let change = move |change: &dyn Fn(&mut TraceChoice)| {
        choice.update(|choice| change(choice));
        tree.again();
        tree.cursor.go(0);
    };
    // The text in the field is replaced only if the filter was changed elsewhere, for example by a button.
    let typed = RwSignal::new(filter::words(&choice.get_untracked()));
    Effect::new(move || {
        let now = choice.get();
        if filter::choice(&typed.read_untracked(), &now) != now {
            typed.set(filter::words(&now));
        }
    });
    let overview = move || tree.run.overview.get().and_then(Result::ok);
    let failed = Memo::new(move |_| {
        let by_status = overview().map_or_else(Vec::new, |overview| overview.by_status);
        let failed = by_status.into_iter().find(|of| of.status == "failed");
        failed.map_or(0, |of| of.count)
    });
    let all = Memo::new(move |_| overview().map_or(0, |overview| overview.trace_nodes));
    let is_all = move || choice.read().is_all();
    let is_failed = move || choice.read().status == "failed";
    let is_longest = move || choice.read().order == TraceOrder::Longest;
    let count = move || {
        let some = tree.pages.total.get()?;
        (!is_all()).then(|| words::counted(some, "row", "rows"))
    };
    let well = move || {
        tree.app.track_folds();
        tree.folded() == Folded::Well
    };
    let position_link = move || {
        let position = overview()?.positions.into_iter().next()?;
        Some(view! { <To tree node=position>"Where the run is"</To> })
    };
    let untimed = move || {
        let overview = overview()?;
        let is_read = !overview.is_unread(RunPart::Statements);
        let said = !overview.times_recorded && overview.trace_nodes > 0 && is_read;
        said.then_some("Times were not recorded.")
    };
    view! {
        <div class="tools choose" role="search" aria-label="Rows of the trace">
            <input type="search" placeholder="Filter rows" aria-label="Only rows with this text"
                title="Type words of a statement or of its error, or kind:loop, status:failed, >1m"
                prop:value=typed
                on:input=move |event| {
                    let text = event_target_value(&event);
                    typed.set(text.clone());
                    change(&|choice| *choice = filter::choice(&text, choice));
                }
                on:keydown=move |event| {
                    let key = event.key();
                    if key == "Escape" {
                        change(&|choice| *choice = filter::choice("", choice));
                    }
                    if matches!(key.as_str(), "Enter" | "ArrowDown" | "Escape") && focus("[data-list]") {
                        event.prevent_default();
                    }
                }/>
            <span class="segments" role="group" aria-label="Which rows">
                <button aria-pressed=move || is_all().to_string() on:click=move |_| change(&|choice| *choice = TraceChoice::default())>
                    "All "<span class="n">{move || words::count(all.get().into())}</span>
                </button>
                {move || (failed.get() > 0 || is_failed()).then(|| view! {
                    <button aria-pressed=move || is_failed().to_string()
                        on:click=move |_| change(&|choice| *choice = if choice.status == "failed" { TraceChoice::default() } else { failures() })>
                        "Failed "<span class="n">{move || words::count(failed.get().into())}</span>
                    </button>
                })}
                {move || shown.timed.get().then(|| view! {
                    <button aria-pressed=move || is_longest().to_string()
                        on:click=move |_| change(&|choice| choice.order = if choice.order == TraceOrder::Longest { TraceOrder::Ran } else { TraceOrder::Longest })>
                        "Longest"
                    </button>
                })}
            </span>
            <span class="faint" role="status">{count}</span>
            <span class="faint">{untimed}</span>
            <span class="grow"></span>
            {position_link}
            {move || shown.timed.get().then(|| view! {
                <button title="The whole run (0)" on:click=move |_| shown.seen.set(VisiblePart::ALL)>"Fit"</button>
            })}
            <label class="check" title="Fold rows that succeeded (e)">
                <input type="checkbox" prop:checked=well prop:disabled=move || !is_all() on:change=move |_| tree.fold_well()/>
                "Fold what succeeded"
            </label>
        </div>
    }
}
