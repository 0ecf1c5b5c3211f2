//! Which rows of the trace are shown, and in which order.

use leptos::prelude::*;
use prosescope_core::session::pages::{TraceChoice, TraceOrder};

use super::Tree;
use crate::text::words;
use crate::ui::keys::focus;

/// Kinds of rows, by the core's words.
const KINDS: [&str; 7] = [
    "statement",
    "parallel",
    "branch",
    "loop",
    "round",
    "frame",
    "gate",
];

/// Lengths to choose by, in milliseconds.
const LENGTHS: [(i64, &str); 5] = [
    (1_000, "1 s or longer"),
    (10_000, "10 s or longer"),
    (60_000, "1 min or longer"),
    (600_000, "10 min or longer"),
    (3_600_000, "1 h or longer"),
];

/// Orders.
const ORDERS: [(TraceOrder, &str); 3] = [
    (TraceOrder::Ran, "As it ran"),
    (TraceOrder::Longest, "Longest first"),
    (TraceOrder::Problems, "Problems first"),
];

/// Chooses among the rows.
#[component]
pub(super) fn Choose(tree: Tree) -> impl IntoView {
    let choice = tree.app.trace.choice;
    let change = move |change: &dyn Fn(&mut TraceChoice)| {
        choice.update(|choice| change(choice));
        tree.again();
        tree.cursor.go(0);
    };
    let statuses = Memo::new(move |_| {
        let overview = tree.run.overview.get().and_then(Result::ok);
        overview.map_or_else(Vec::new, |overview| {
            overview
                .by_status
                .into_iter()
                .map(|count| count.status)
                .collect()
        })
    });
    let length = move || {
        choice
            .read()
            .at_least_ms
            .map_or_else(String::new, |ms| ms.to_string())
    };
    let order = move || {
        let order = choice.read().order;
        ORDERS
            .iter()
            .position(|(known, _)| *known == order)
            .unwrap_or(0)
            .to_string()
    };
    let count = move || {
        let some = tree.pages.total.get()?;
        (!choice.read().is_all()).then(|| words::counted(some, "row", "rows"))
    };
    view! {
        <div class="choose" role="search" aria-label="Rows of the trace">
            <input type="search" placeholder="Statement or error" aria-label="Only rows with this text"
                prop:value=move || choice.read().text.clone()
                on:input=move |event| {
                    let text = event_target_value(&event);
                    change(&|choice| choice.text.clone_from(&text));
                }
                on:keydown=move |event| {
                    let key = event.key();
                    if key == "Escape" {
                        change(&|choice| choice.text.clear());
                    }
                    if matches!(key.as_str(), "Enter" | "ArrowDown" | "Escape") && focus("[data-list]") {
                        event.prevent_default();
                    }
                }/>
            <select aria-label="Status" prop:value=move || choice.read().status.clone() on:change=move |event| {
                let status = event_target_value(&event);
                change(&|choice| choice.status.clone_from(&status));
            }>
                <option value="">"Any status"</option>
                {move || statuses.get().into_iter().map(|word| view! { <option value=word.clone()>{word.clone()}</option> }).collect_view()}
            </select>
            <select aria-label="Kind" prop:value=move || choice.read().kind.clone() on:change=move |event| {
                let kind = event_target_value(&event);
                change(&|choice| choice.kind.clone_from(&kind));
            }>
                <option value="">"Any kind"</option>
                {KINDS.map(|word| view! { <option value=word>{word}</option> }).collect_view()}
            </select>
            <select aria-label="Length" prop:value=length on:change=move |event| {
                let least = event_target_value(&event).parse().ok();
                change(&|choice| choice.at_least_ms = least);
            }>
                <option value="">"Any length"</option>
                {LENGTHS.map(|(ms, words)| view! { <option value=ms.to_string()>{words}</option> }).collect_view()}
            </select>
            <select aria-label="Order" prop:value=order on:change=move |event| {
                let at: usize = event_target_value(&event).parse().unwrap_or(0);
                let order = ORDERS.get(at).map(|(order, _)| *order).unwrap_or_default();
                change(&|choice| choice.order = order);
            }>
                {ORDERS.iter().enumerate().map(|(at, (_, words))| view! { <option value=at.to_string()>{*words}</option> }).collect_view()}
            </select>
            <span class="faint" role="status">{count}</span>
            {move || (!choice.read().is_all()).then(|| view! {
                <button class="plain" on:click=move |_| change(&|choice| *choice = TraceChoice::default())>"Show all"</button>
            })}
        </div>
    }
}
