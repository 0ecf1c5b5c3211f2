//! The page.

use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast as _;

use crate::client::Client;
use crate::protocol::{Request, Trouble};

/// Mounts the app.
pub(crate) fn start() {
    mount_to_body(App);
}

#[component]
fn App() -> impl IntoView {
    let client = StoredValue::new_local(Client::default());
    let (text, set_text) = signal(String::from("Drop a state.db"));
    let pick = move |event: web_sys::Event| {
        let Some(input) = event
            .target()
            .and_then(|t| t.dyn_into::<web_sys::HtmlInputElement>().ok())
        else {
            return;
        };
        let list = input.files();
        let files: Vec<_> = list
            .iter()
            .flat_map(|l| (0..l.length()).filter_map(|i| l.get(i)))
            .map(|f| (f.name(), f))
            .collect();
        spawn_local(async move {
            let client = client.get_value();
            let open = Request::OpenFiles {
                label: "files".into(),
            };
            let names: Result<Vec<String>, Trouble> =
                match client.ask_with::<()>(&open, files).await {
                    Ok(()) => client.ask(&Request::Tables).await,
                    Err(trouble) => Err(trouble),
                };
            set_text.set(format!("{names:?}"));
        });
    };
    view! {
        <h1>"Prosescope"</h1>
        <input type="file" multiple on:change=pick/>
        <p id="status">{text}</p>
    }
}
