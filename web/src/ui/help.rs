//! Draws the help: the list of keyboard commands.

use leptos::prelude::*;

use super::keys::KEYS;
use super::parts::live;
use super::sheet::sheet;
use super::state::App;

/// Draws a sheet with the keys while [`App::help`] is true.
#[component]
pub(crate) fn Help() -> impl IntoView {
    let app = App::get();
    let keys = || {
        view! {
            <dl class="keys">
                {KEYS.map(|(keys, what)| view! {
                    <div>
                        <dt>{keys.iter().map(|key| view! { <kbd>{*key}</kbd> }).collect_view()}</dt>
                        <dd>{what}</dd>
                    </div>
                })}
            </dl>
        }
    };
    live(move || {
        let shown = app.help.get();
        shown.then(|| sheet("Keys", move || app.help.set(false), keys().into_any()))
    })
}
