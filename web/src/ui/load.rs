//! Requests answers of a desk. Draws a note while the page waits, and the error if a request fails.

use std::pin::Pin;

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::pages::session::pages::Page;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

use super::parts::live;
use super::state::{App, ShownRun};
use crate::protocol::{Request, Stats, Trouble};
use crate::text::words;

/// An answer, or `None` until it arrives.
pub(crate) type LoadState<T> = RwSignal<Option<Result<T, Trouble>>>;

/// Sends a request, and sends it again when a signal that `request` reads changes or the run is reread. The previous
/// answer stays until the new one arrives, and is kept if both are equal.
pub(crate) fn ask<T>(request: impl Fn() -> Request + 'static) -> LoadState<T>
where
    T: DeserializeOwned + PartialEq + Send + Sync + 'static,
{
    let app = App::get();
    let known = untrack(|| app.known(&request()));
    ask_by(known, move || app.ask(request()))
}

/// Requests a page of the shown run.
pub(crate) fn ask_page<T>(page: Page) -> LoadState<T>
where
    T: DeserializeOwned + PartialEq + Send + Sync + 'static,
{
    let run = ShownRun::get();
    ask(move || {
        if matches!(page, Page::Gates | Page::Resume) {
            // A memo whose value nobody reads never notices a change, so tracking it alone does not suffice.
            run.late_gates.get();
        }
        Request::Page {
            place: run.place(),
            page,
        }
    })
}

/// Fetches an answer as [`ask`] does, for an answer that needs several requests. `known` is the answer until then, if it
/// is known already.
pub(crate) fn ask_by<T, F>(known: Option<T>, fetch: impl Fn() -> F + 'static) -> LoadState<T>
where
    T: PartialEq + Send + Sync + 'static,
    F: Future<Output = Result<T, Trouble>> + 'static,
{
    let answer = RwSignal::new(known.map(Ok));
    fetch_again(Box::new(move || {
        let got = fetch();
        Box::pin(async move {
            let got = got.await;
            let trouble = got.as_ref().err().cloned();
            let show = move || {
                if answer.read_untracked().as_ref() != Some(&got) {
                    answer.set(Some(got));
                }
            };
            (trouble, Box::new(show) as _)
        })
    }));
    answer
}

/// An answer that arrived: its error, and the function that shows it.
type Arrived = (Option<Trouble>, Box<dyn FnOnce()>);

/// Fetches for [`ask_by`]. This is a function without type parameters, so that its code is in the wasm once and not for
/// each type of answer.
fn fetch_again(fetch: Box<dyn Fn() -> Pin<Box<dyn Future<Output = Arrived>>>>) {
    let follow = App::get().follow;
    let asked = StoredValue::new(0_u32);
    Effect::new(move || {
        follow.edition.track();
        asked.update_value(|asked| *asked += 1);
        let this = asked.get_value();
        let arrived = fetch();
        spawn_local(async move {
            let (trouble, show) = arrived.await;
            // An answer is late if a newer request was sent, or if the page is gone.
            let is_late = || asked.try_get_value() != Some(this);
            if is_late() {
                return;
            }
            if trouble.is_some_and(|trouble| follow.holds(&trouble)) {
                follow.look_now();
                follow.patience().await;
                if is_late() {
                    return;
                }
            }
            show();
        });
    });
}

/// Draws an answer with `draw` when it has arrived; before that, a note that the page is waiting.
pub(crate) fn loaded<T, F>(of: LoadState<T>, draw: F) -> AnyView
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

/// Draws a note that the page waits for an answer, with a button to stop. CSS shows the words and the button only after
/// a delay.
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

/// Draws an error: the file, what was found, the cause, the next step.
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

/// Returns a text as a sentence with a capital, a full stop and a blank; `None` for an empty text.
fn sentence(text: &str) -> Option<String> {
    let text = words::first_upper(text.trim().trim_end_matches('.'));
    (!text.is_empty()).then(|| format!("{text}. "))
}

/// Draws the error of a failed opening, if the previous source stays open. The error stays until the user dismisses it.
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
                    }}</b>". The files that were open before stay open."</p>
                    <p class="soft">{sentence(&trouble.found)}{sentence(&trouble.cause)}{sentence(&trouble.next)}</p>
                </div>
                <button on:click=move |_| app.notice.set(None)>"Dismiss"</button>
            </section>
        })
    }
}

/// Adds the JavaScript function `prosescope.stats()` to the page, for tests and diagnosis. The function returns a
/// promise of the number of reads and bytes so far.
pub(crate) fn offer_stats(app: App) {
    let stats = Closure::<dyn Fn() -> js_sys::Promise>::new(move || {
        wasm_bindgen_futures::future_to_promise(async move {
            let stats: Stats = app.ask(Request::Stats).await.unwrap_or_default();
            let json = serde_json::to_string(&stats).unwrap_or_default();
            js_sys::JSON::parse(&json)
        })
    });
    let object = js_sys::Object::new();
    // Setting a new property on a new object cannot fail.
    let _ = js_sys::Reflect::set(&object, &"stats".into(), stats.as_ref());
    let _ = js_sys::Reflect::set(&js_sys::global(), &"prosescope".into(), &object);
    stats.forget();
}
