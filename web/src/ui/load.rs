//! Asking the worker, and what is shown until it answers or when it says no.

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::session::pages::Page;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

use super::parts::live;
use super::state::{App, Run};
use crate::protocol::{Request, Stats, Trouble};
use crate::text::words;

/// An answer that is there, or `None` while it is on its way.
pub(crate) type Answer<T> = RwSignal<Option<Result<T, Trouble>>>;

/// Asks the worker; asks again when a signal that `request` reads changes, or what was asked about is read anew. The
/// answer before stays until the new one is there, and longer where that says the same.
pub(crate) fn ask<T>(request: impl Fn() -> Request + 'static) -> Answer<T>
where
    T: DeserializeOwned + PartialEq + Send + Sync + 'static,
{
    let app = App::get();
    ask_by(move || app.ask(request()))
}

/// Asks for a page of the run that is shown.
pub(crate) fn ask_page<T>(page: Page) -> Answer<T>
where
    T: DeserializeOwned + PartialEq + Send + Sync + 'static,
{
    let run = Run::get();
    ask(move || Request::Page {
        place: run.place(),
        page,
    })
}

/// The same of what takes more than one question.
pub(crate) fn ask_by<T, F>(fetch: impl Fn() -> F + 'static) -> Answer<T>
where
    T: PartialEq + Send + Sync + 'static,
    F: Future<Output = Result<T, Trouble>> + 'static,
{
    let follow = App::get().follow;
    let answer = RwSignal::new(None);
    let asked = StoredValue::new(0_u32);
    Effect::new(move || {
        follow.edition.track();
        asked.update_value(|asked| *asked += 1);
        let this = asked.get_value();
        let got = fetch();
        spawn_local(async move {
            let got = got.await;
            // Asked again since, or on another page.
            let is_late = || asked.try_get_value() != Some(this);
            if is_late() {
                return;
            }
            if got.as_ref().is_err_and(|trouble| follow.holds(trouble)) {
                follow.look_now();
                follow.patience().await;
                if is_late() {
                    return;
                }
            }
            if answer.read_untracked().as_ref() != Some(&got) {
                answer.set(Some(got));
            }
        });
    });
    answer
}

/// Draws an answer once it is there.
pub(crate) fn loaded<T, F>(of: Answer<T>, draw: F) -> AnyView
where
    T: Clone + Send + Sync + 'static,
    F: Fn(T) -> AnyView + Send + 'static,
{
    live(move || match of.get() {
        None => view! { <Waiting/> }.into_any(),
        Some(Ok(answer)) => draw(answer),
        Some(Err(trouble)) => view! { <TroubleNote trouble/> }.into_any(),
    })
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
        ..
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

/// A text as a sentence before another.
fn sentence(text: &str) -> Option<String> {
    let text = words::first_upper(text.trim().trim_end_matches('.'));
    (!text.is_empty()).then(|| format!("{text}. "))
}

/// Says what could not be opened while something else stays open, until it is dismissed.
#[component]
pub(crate) fn NoticeBar() -> impl IntoView {
    let app = App::get();
    move || {
        let trouble = app.notice.get()?;
        let file = trouble.file.filter(|file| !file.is_empty());
        Some(view! {
            <section class="notice" role="alert">
                <div class="grow">
                    <p><b>{match file {
                        Some(file) => view! { <code>{file}</code>" was not opened" }.into_any(),
                        None => "Nothing was opened".into_any(),
                    }}</b>". What was open stays open."</p>
                    <p class="soft">{sentence(&trouble.found)}{sentence(&trouble.cause)}{sentence(&trouble.next)}</p>
                </div>
                <button on:click=move |_| app.notice.set(None)>"Dismiss"</button>
            </section>
        })
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
