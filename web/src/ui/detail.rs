//! Draws the detail beside a list: everything about the row that the user opened.

use leptos::prelude::*;

use super::divider::Divider;
use super::icons;
use super::keys;
use super::list::ListCommand;
use super::parts::{SMALL, matches};
use super::state::{App, ShownRun};
use crate::route::{Page, Route};

/// The CSS media query for windows that show the open item beside its list. On phones, the item covers the list.
pub(super) const WIDE: &str = "(min-width: 701px)";

/// Draws a list with the open row beside it. On phones, the open row covers the list.
#[component]
pub(crate) fn Beside(
    /// The list.
    list: AnyView,
    /// The item that is open, as in the address; `None` if no item is open.
    open: Signal<Option<String>>,
    /// The label for screen readers.
    label: &'static str,
    /// Draws the open item.
    draw: fn(String) -> AnyView,
    /// Opens an item completely. Needed on narrow screens, where at first only the item's beginning is shown, below the
    /// list.
    #[prop(optional)]
    rise: Option<Callback<String>>,
) -> impl IntoView {
    let app = App::get();
    view! {
        <div class="beside" class:open=move || open.read().is_some()
            style=("--beside", move || app.beside.get().map(|width| format!("{width:.0}px")))>
            <div class="beside-list">{list}</div>
            {move || open.get().map(|item| {
                let risen = StoredValue::new(item.clone());
                let is_peek = move || rise.is_some() && app.route.read().selected().is_none();
                let up = move || if let Some(rise) = rise.filter(|_| is_peek() && matches(SMALL)) {
                    rise.run(risen.get_value());
                };
                view! {
                <Divider/>
                <aside class="detail" class:peek=is_peek aria-label=label tabindex="-1" on:click=move |_| up()>
                    <button class="icon detail-close" title="Close (Esc)" aria-label="Close" on:click=move |event| {
                        event.stop_propagation();
                        close(app);
                    }>
                        {icons::close()}
                    </button>
                    {draw(item)}
                    {rise.map(|_| view! { <button class="rise">"Asked, given, answered"</button> })}
                </aside>
            }})}
        </div>
    }
}

/// Returns the selected item in the address.
pub(crate) fn selected() -> Memo<Option<String>> {
    let app = App::get();
    Memo::new(move |_| app.route.read().selected().map(str::to_owned))
}

/// Returns the value of a key in the query of a run's address: `43` for the key `from` in `?from=43`.
pub(crate) fn query(key: &'static str) -> Memo<Option<String>> {
    let app = App::get();
    Memo::new(move |_| match &*app.route.read() {
        Route::Run { query, .. } => query
            .iter()
            .find(|(k, _)| k == key)
            .map(|(_, value)| value.clone()),
        _ => None,
    })
}

/// Returns the key handler of a list with details beside it. Enter opens the current row. If a row is open, moving the
/// cursor opens the new current row. `item` returns the item that identifies a row in the address.
pub(crate) fn opening<T: 'static>(
    page: Page,
    selected: Memo<Option<String>>,
    item: impl Fn(u64, &T) -> String + Send + Sync + 'static,
) -> Callback<(ListCommand, u64, Option<T>)> {
    let (app, run) = (App::get(), ShownRun::get());
    Callback::new(move |(key, at, row): (ListCommand, u64, Option<T>)| {
        let Some(row) = row else { return };
        let open = selected.read_untracked().is_some();
        if key == ListCommand::Enter || (key == ListCommand::Moved && open) {
            app.put(run.item(page, item(at, &row)));
        }
        if key == ListCommand::Enter {
            request_animation_frame(enter);
        }
    })
}

/// Moves the focus into the open item if the item covers the list or was opened by keyboard. After a click on a row,
/// the focus stays in the list.
pub(crate) fn enter() {
    let by_keys = document().query_selector("[data-list]:focus-visible");
    if by_keys.is_ok_and(|list| list.is_some()) || !matches(WIDE) {
        keys::focus(".detail");
    }
}

/// Closes the item beside a list; returns whether an item was open.
pub(crate) fn close(app: App) -> bool {
    let route = app.route.get_untracked();
    // On the pages of a trace and of a comparison, the open item may be missing from the address. Closing such an item
    // must therefore be stored in `shut`.
    let opens = route.is_trace() || matches!(route, Route::Compare { .. });
    // On a phone, closing an item shrinks it to its beginning below the list, so `shut` stays false.
    let sinks = route.is_trace() && route.selected().is_some() && !matches(WIDE);
    let shuts = opens && !sinks && !app.trace.shut.get_untracked();
    if shuts {
        app.trace.shut.set(true);
    }
    if route.selected().is_none() && !shuts {
        return false;
    }
    app.put(route.closed());
    keys::focus("[data-list]");
    true
}

/// Returns the selected item, or the result of `first` if no item is selected. Phones show the beginning of that item
/// below the list.
pub(crate) fn selected_or_peek(
    first: impl Fn() -> Option<String> + Send + Sync + 'static,
) -> Memo<Option<String>> {
    let selected = selected();
    Memo::new(move |_| selected.get().or_else(&first))
}

/// Returns the selected item, or the result of `first` if no item is selected. Phones use no `first`, because the item
/// would cover the list.
pub(crate) fn selected_or(
    first: impl Fn() -> Option<String> + Send + Sync + 'static,
) -> Memo<Option<String>> {
    let selected = selected();
    let wide = matches(WIDE);
    Memo::new(move |_| selected.get().or_else(|| wide.then(&first).flatten()))
}

/// Returns the same as [`selected_or`], for lists that always have a first item.
pub(crate) fn selected_or_first(
    first: impl Fn() -> String + Send + Sync + 'static,
) -> Memo<Option<String>> {
    selected_or(move || Some(first()))
}
