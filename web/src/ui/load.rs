//! Asking the worker, and what is shown until it answers or when it says no.

use leptos::prelude::*;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

use super::state::App;
use crate::protocol::{Request, Stats, Trouble};

/// An answer that is on its way, or there.
pub(crate) type Answer<T> = LocalResource<Result<T, Trouble>>;

/// Asks the worker; asks again when a signal that `request` reads changes.
pub(crate) fn ask<T>(request: impl Fn() -> Request + 'static) -> Answer<T>
where
    T: DeserializeOwned + 'static,
{
    let app = App::get();
    LocalResource::new(move || app.ask(request()))
}

/// Draws an answer once it is there.
pub(crate) fn loaded<T, F>(of: Answer<T>, draw: F) -> AnyView
where
    T: Clone + 'static,
    F: Fn(T) -> AnyView + Send + 'static,
{
    (move || match of.get() {
        None => view! { <Waiting/> }.into_any(),
        Some(Ok(answer)) => draw(answer),
        Some(Err(trouble)) => view! { <TroubleNote trouble/> }.into_any(),
    })
    .into_any()
}

/// Says after a moment that something is being read, and lets it be stopped. The moment is the style's.
#[component]
pub(crate) fn Waiting() -> impl IntoView {
    let app = App::get();
    view! {
        <div class="waiting" role="status">
            <span class="bones" aria-hidden="true"><i></i><i></i><i></i></span>
            <span class="later">
                "Reading… "
                <button on:click=move |_| app.cancel()>"Stop"</button>
            </span>
        </div>
    }
}

/// Says what went wrong: the file, what was found, the cause, the next step.
#[component]
pub(crate) fn TroubleNote(trouble: Trouble) -> impl IntoView {
    let app = App::get();
    let Trouble {
        file,
        found,
        cause,
        next,
    } = trouble;
    let again = app.can_open_again();
    let part = |class: &'static str, text: String| {
        (!text.is_empty()).then(|| view! { <p class=class>{text}</p> })
    };
    view! {
        <section class="trouble" role="alert">
            <h2>{match file {
                Some(file) => view! { <code title=file.clone()>{file.clone()}</code>" cannot be shown" }.into_any(),
                None => "This cannot be shown".into_any(),
            }}</h2>
            {part("found", found)}
            {part("cause", cause)}
            {part("next", next)}
            {again.then(|| view! {
                <p class="do"><button on:click=move |_| app.open_again()>"Open again"</button></p>
            })}
        </section>
    }
}

/// Puts `prosescope.stats()` into the page: a promise of what was read so far, for tests and for the curious.
pub(crate) fn offer_stats(app: App) {
    let stats = Closure::<dyn Fn() -> js_sys::Promise>::new(move || {
        wasm_bindgen_futures::future_to_promise(async move {
            let stats: Stats = app.ask(Request::Stats).await.unwrap_or_default();
            let json = serde_json::to_string(&stats).unwrap_or_default();
            js_sys::JSON::parse(&json)
        })
    });
    let object = js_sys::Object::new();
    // A fresh object and a free name on the window: neither can refuse.
    let _ = js_sys::Reflect::set(&object, &"stats".into(), stats.as_ref());
    let _ = js_sys::Reflect::set(&js_sys::global(), &"prosescope".into(), &object);
    stats.forget();
}
