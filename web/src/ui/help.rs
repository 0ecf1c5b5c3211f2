//! The keys, on request.

use leptos::html::Dialog;
use leptos::prelude::*;

use super::icons;
use super::keys::KEYS;
use super::state::App;

/// A dialog that lists the keys.
#[component]
pub(crate) fn Help() -> impl IntoView {
    let app = App::get();
    let dialog = NodeRef::<Dialog>::new();
    Effect::new(move || {
        let Some(dialog) = dialog.get() else { return };
        if app.help.get() {
            if !dialog.open() {
                // It fails only for a dialog that is open already, or not in the page.
                let _ = dialog.show_modal();
            }
        } else {
            dialog.close();
        }
    });
    let close = move |_| app.help.set(false);
    view! {
        <dialog class="help" node_ref=dialog aria-labelledby="help-title" on:close=move |_| app.help.set(false)>
            <div class="help-head">
                <h2 id="help-title">"Keys"</h2>
                <button class="icon" on:click=close aria-label="Close">{icons::close()}</button>
            </div>
            <dl>
                {KEYS.map(|(keys, what)| view! {
                    <div>
                        <dt>{keys.iter().map(|key| view! { <kbd>{*key}</kbd> }).collect_view()}</dt>
                        <dd>{what}</dd>
                    </div>
                })}
            </dl>
        </dialog>
    }
}
