//! What stands at the end of every bar: in a row, or behind `⋯` where there is little room.

use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

use super::opening::pick_files;
use super::share::ShareButton;
use super::state::App;
use super::theme::ThemeButton;

/// Share, open and close what is open, colours and keys; `places`: what is shared, where something can be.
pub(crate) fn bar_end(app: App, places: Option<Signal<Vec<String>>>) -> AnyView {
    let open = RwSignal::new(false);
    let within = NodeRef::<leptos::html::Span>::new();
    // Whoever goes elsewhere, by the mouse or the keyboard, is done with it.
    let left = move |event: web_sys::FocusEvent| {
        let to = event.related_target();
        let to = to.and_then(|to| to.dyn_into::<web_sys::Node>().ok());
        // A bar that is taken out of the page loses the focus, too.
        let within = within.try_get_untracked().flatten();
        if !within.is_some_and(|within| within.contains(to.as_ref())) {
            open.try_set(false);
        }
    };
    view! {
        <span class="menu" class:open=open node_ref=within on:focusout=left
            on:keydown=move |event| if event.key() == "Escape" && open.get_untracked() {
                event.stop_propagation();
                open.set(false);
            }>
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
