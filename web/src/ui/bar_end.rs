//! Draws the buttons at the right end of the bar on top of each page. In a narrow window they are in the menu `⋯`.

use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

use super::opening::pick_files;
use super::share::ShareButton;
use super::state::App;
use super::theme::ThemeButton;

/// Draws the buttons for sharing, opening, closing, colours and keys. `places` are the paths of the runs or databases
/// to share; `None` omits the button for sharing.
pub(crate) fn bar_end(app: App, places: Option<Signal<Vec<String>>>) -> AnyView {
    let open = RwSignal::new(false);
    let within = NodeRef::<leptos::html::Span>::new();
    // Closes the menu when the focus leaves it, by the mouse or the keyboard.
    let left = move |event: web_sys::FocusEvent| {
        let to = event.related_target();
        let to = to.and_then(|to| to.dyn_into::<web_sys::Node>().ok());
        // The browser also fires `focusout` when the bar is removed from the page. The signals may be gone then, so
        // `try_` methods are used.
        let within = within.try_get_untracked().flatten();
        if !within.is_some_and(|within| within.contains(to.as_ref())) {
            open.try_set(false);
        }
    };
    // Moves the focus to the next or previous button of the menu, in a cycle that includes the `⋯` button.
    let step = move |down: bool| {
        let all = within.get_untracked()?.query_selector_all("button").ok()?;
        let here = document().active_element().map(wasm_bindgen::JsValue::from);
        let at =
            (0..all.length()).find(|at| all.item(*at).map(wasm_bindgen::JsValue::from) == here)?;
        let next = (at + if down { 1 } else { all.length() - 1 }) % all.length();
        all.item(next)?
            .dyn_into::<web_sys::HtmlElement>()
            .ok()?
            .focus()
            .ok()
    };
    let on_key = move |event: web_sys::KeyboardEvent| {
        if !open.get_untracked() {
            return;
        }
        match &*event.key() {
            "Escape" => open.set(false),
            "ArrowDown" => drop(step(true)),
            "ArrowUp" => drop(step(false)),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    view! {
        <span class="menu" class:open=open node_ref=within on:focusout=left
            on:keydown=on_key>
            <button class="icon more" aria-label="More" title="More" aria-expanded=move || open.get().to_string()
                on:click=move |_| open.update(|open| *open = !*open)>"⋯"</button>
            <span class="inside" on:click=move |_| open.set(false)>
                {places.map(|places| view! { <ShareButton places/> })}
                <button on:click=move |_| pick_files()><span>"Open…"</span></button>
                <button class="plain close" on:click=move |_| app.close()>"Close"</button>
                <ThemeButton/>
                <button class="icon" title="Keys (?)" aria-label="Keys" on:click=move |_| app.help.set(true)>
                    "?"<span class="in-menu">"Keys"</span>
                </button>
            </span>
        </span>
    }
    .into_any()
}
