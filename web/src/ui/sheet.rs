//! Draws a sheet over the page: a dialog with a title, which the user closes by Esc or a button.

use leptos::html::Dialog;
use leptos::prelude::*;

use super::{icons, keys};

/// Draws a sheet that is open as long as it is part of the page. `close` must remove the sheet. The browser then
/// returns the focus to the element that had the focus before.
pub(crate) fn sheet(title: &'static str, close: impl Fn() + 'static, body: AnyView) -> AnyView {
    let dialog = NodeRef::<Dialog>::new();
    Effect::new(move || {
        if let Some(dialog) = dialog.get()
            && !dialog.open()
        {
            // Opening the dialog fails only if it is already open or not in the page.
            let _ = dialog.show_modal();
            focus_first();
        }
    });
    let shut = move |_| {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    view! {
        <dialog class="sheet" node_ref=dialog aria-labelledby="sheet-title" on:close=move |_| close()>
            <div class="sheet-head">
                <h2 id="sheet-title">{title}</h2>
                <button class="icon" on:click=shut aria-label="Close">{icons::close()}</button>
            </div>
            {body}
        </dialog>
    }
    .into_any()
}

/// Gives the focus to the part of the open sheet that the user needs first, which is marked by `data-first`, unless the
/// user has moved the focus. A sheet opens before its content arrives, so content that arrives later calls this, too.
pub(crate) fn focus_first() {
    request_animation_frame(|| {
        let active = document().active_element();
        let is_in = |place: &str| {
            let place = active
                .as_ref()
                .and_then(|active| active.closest(place).ok());
            place.flatten().is_some()
        };
        if !is_in("dialog") || is_in(".sheet-head") {
            keys::focus("dialog[open] [data-first]");
        }
    });
}
