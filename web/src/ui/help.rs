//! Draws the help: the list of keyboard commands.

use leptos::prelude::*;

use super::commands::COMMANDS;
use super::keys::MOVES;
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
                {COMMANDS.iter().filter(|of| !of.key.is_empty()).map(|of| line(of.key.split(' ').collect(), of.name)).collect_view()}
                {MOVES.map(|(keys, what)| line(keys.to_vec(), what))}
            </dl>
        }
    };
    live(move || {
        let shown = app.help.get();
        shown.then(|| sheet("Keys", move || app.help.set(false), keys().into_any()))
    })
}

fn line(keys: Vec<&'static str>, what: &'static str) -> AnyView {
    let keys = keys.into_iter().map(|key| view! { <kbd>{key}</kbd> });
    view! { <div><dt>{keys.collect_view()}</dt><dd>{what}</dd></div> }.into_any()
}
