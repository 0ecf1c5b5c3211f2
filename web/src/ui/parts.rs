//! Draws small components that many pages use, such as statuses, times, links and buttons.

use gloo_file::ObjectUrl;
use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::model::time::Stamp;
use prosescope_core::pages::view::{BindingRef, RunPart, Tone, icon, tone};
use wasm_bindgen::JsCast as _;
use wasm_bindgen_futures::JsFuture;

use super::icons;
use super::state::{App, ShownRun};
use crate::protocol::{Request, Trouble};
use crate::route::{Page, Route};
use crate::text::words;

/// Returns a view that is redrawn when a signal that it reads changes. Leptos generates code for each type of closure
/// in a view. This function gives all closures one type, which keeps the wasm file small.
pub(crate) fn live<V: IntoAny>(draw: impl Fn() -> V + Send + 'static) -> AnyView {
    fn boxed(draw: Box<dyn Fn() -> AnyView + Send>) -> AnyView {
        (move || draw()).into_any()
    }
    boxed(Box::new(move || draw().into_any()))
}

/// The CSS media query for narrow and touch screens, on which rows are taller.
pub(crate) const SMALL: &str = "(max-width: 700px), (pointer: coarse)";

/// Returns whether a media query matches.
pub(crate) fn matches(query: &str) -> bool {
    let found = window().match_media(query).ok().flatten();
    found.is_some_and(|found| found.matches())
}

/// Returns a signal that is true on narrow and touch screens. It changes when the window is resized or the phone is
/// turned.
pub(crate) fn is_small() -> ReadSignal<bool> {
    let (is, set) = signal(matches(SMALL));
    let resized = window_event_listener(leptos::ev::resize, move |_| {
        let now = matches(SMALL);
        if is.try_get_untracked().is_some_and(|is| is != now) {
            set.set(now);
        }
    });
    on_cleanup(move || resized.remove());
    is
}

/// Returns the horizontal position of the pointer in the element that handles the event, from 0 to 1; `None` if
/// unknown.
pub(crate) fn part_of(event: &web_sys::PointerEvent) -> Option<f64> {
    let target = event
        .current_target()?
        .dyn_into::<web_sys::Element>()
        .ok()?;
    let there = target.get_bounding_client_rect();
    let part = (f64::from(event.client_x()) - there.left()) / there.width();
    part.is_finite().then_some(part)
}

/// Draws a list of facts, each with its name.
pub(crate) fn pairs(class: &'static str, facts: Vec<(String, AnyView)>) -> AnyView {
    let fact =
        |(name, fact): (String, AnyView)| view! { <dt>{name}</dt><dd>{fact}</dd> }.into_any();
    let facts: Vec<AnyView> = facts.into_iter().map(fact).collect();
    view! { <dl class=class>{facts}</dl> }.into_any()
}

/// Returns the CSS class for the colour of a status.
pub(crate) fn tone_class(status: &str) -> &'static str {
    match tone(status) {
        Tone::Ok => "ok",
        Tone::Run => "run",
        Tone::Wait => "wait",
        Tone::Bad => "bad",
        Tone::Quiet => "quiet",
    }
}

/// Draws a status: an icon and a word, in the status's colour.
#[component]
pub(crate) fn Pill(
    /// The status in words.
    #[prop(into)]
    status: String,
    /// The text to show instead of the status itself.
    #[prop(optional, into)]
    words: Option<String>,
) -> impl IntoView {
    let class = format!("pill {}", tone_class(&status));
    let picture = icon(&status);
    let title = status.clone();
    view! {
        <span class=class title=title><i aria-hidden="true">{picture}</i><span>{words.unwrap_or(status)}</span></span>
    }
}

/// Draws a time, or a text if the time is missing. The tooltip shows the complete time.
#[component]
pub(crate) fn When(
    /// The time to show.
    stamp: Option<Stamp>,
    /// Whether to show the time of day only; the tooltip has the day.
    #[prop(optional)]
    clock_only: bool,
    /// The text to show if the time is missing.
    #[prop(default = "not recorded")]
    missing: &'static str,
) -> impl IntoView {
    match stamp {
        None => view! { <span class="none">{missing}</span> }.into_any(),
        Some(stamp) => {
            let (machine, whole) = (stamp.to_string(), words::moment(&stamp));
            let shown = if clock_only {
                words::clock(&stamp)
            } else {
                whole.clone()
            };
            view! { <time datetime=machine title=whole>{shown}</time> }.into_any()
        }
    }
}

/// Draws a link inside the viewer.
#[component]
pub(crate) fn Go(
    /// The link's target.
    to: Route,
    /// The link's CSS class.
    #[prop(optional, into)]
    class: String,
    /// The link's content.
    children: Children,
) -> impl IntoView {
    view! { <a class=class href=to.to_string()>{children()}</a> }
}

/// Draws a link with a text.
pub(crate) fn link(to: Route, text: impl Into<String>) -> AnyView {
    let text: String = text.into();
    view! { <a href=to.to_string() dir="auto" title=text.clone()>{text.clone()}</a> }.into_any()
}

/// Draws links to bindings.
pub(crate) fn binding_links(bindings: &[BindingRef]) -> AnyView {
    let run = ShownRun::get();
    let links = bindings.iter().map(|binding| {
        let to = run.item(Page::Bindings, binding.binding).to_string();
        let note = binding.overwritten.then(|| view! { <small>" overwritten later"</small> });
        view! { <li><a href=to title=binding.name.clone()><code dir="auto">{binding.name.clone()}</code>{note}</a></li> }
    });
    view! { <ul class="chips">{links.collect_view()}</ul> }.into_any()
}

/// Draws a note that a list or page is empty, with an explanation.
#[component]
pub(crate) fn Empty(
    /// The note, such as `No gates`.
    #[prop(into)]
    what: String,
    /// The explanation, or a hint where to look.
    #[prop(optional, into)]
    why: String,
) -> impl IntoView {
    view! {
        <div class="empty"><p>{what}</p>{(!why.is_empty()).then(|| view! { <small>{why}</small> })}</div>
    }
}

/// Draws a note that a part of the run is empty. If that part could not be read, the note says so instead.
#[component]
pub(crate) fn EmptyPart(
    /// The part of the run that is empty.
    part: RunPart,
    /// The note, such as `No gates`.
    #[prop(into)]
    what: String,
    /// The explanation, or a hint where to look.
    #[prop(into)]
    why: String,
) -> impl IntoView {
    let run = ShownRun::get();
    let unread = move || {
        let overview = run.overview.get()?.ok()?;
        overview.unread.into_iter().find(|u| u.concerns(part))
    };
    move || {
        let (what, why) = match unread() {
            Some(unread) => {
                let why = format!(
                    "{}: {}. Whether the run has entries for this page is unknown.",
                    unread.what, unread.why
                );
                ("This could not be read".to_owned(), why)
            }
            None => (what.clone(), why.clone()),
        };
        view! { <Empty what why/> }
    }
}

/// Draws a button that copies a text.
#[component]
pub(crate) fn Copy(
    /// The text to copy.
    #[prop(into)]
    text: Signal<String>,
    /// The button's label.
    label: &'static str,
    /// The request for the whole text, if `text` is only its beginning.
    #[prop(default = None)]
    whole: Option<Request>,
    /// Whether the button gets the first focus of its sheet.
    #[prop(default = false)]
    first: bool,
) -> impl IntoView {
    let app = App::get();
    let (done, set_done) = signal(false);
    let copy = move |_| {
        let (text, whole) = (text.get_untracked(), whole.clone());
        spawn_local(async move {
            let text = match whole {
                Some(whole) => whole_text(app, whole).await,
                None => Some(text),
            };
            if let Some(text) = text
                && copy_text(&text).await
            {
                set_done.set(true);
                set_timeout(
                    move || {
                        set_done.try_set(false);
                    },
                    std::time::Duration::from_secs(2),
                );
            }
        });
    };
    view! {
        <button on:click=copy data-first=first.then_some("")>
            {move || if done.get() { icons::check() } else { icons::copy() }}
            <span aria-live="polite">{move || if done.get() { "Copied" } else { label }}</span>
        </button>
    }
}

async fn whole_text(app: App, request: Request) -> Option<String> {
    let blob = app.blob(request).await.ok()?;
    JsFuture::from(blob.text()).await.ok()?.as_string()
}

async fn copy_text(text: &str) -> bool {
    let clipboard = window().navigator().clipboard();
    if !clipboard.is_undefined() && JsFuture::from(clipboard.write_text(text)).await.is_ok() {
        return true;
    }
    copy_by_hand(text).unwrap_or(false)
}

/// Copies a text by the command `copy` of a text field, for pages that may not use the clipboard API. Returns whether
/// the text was copied.
fn copy_by_hand(text: &str) -> Option<bool> {
    let area: web_sys::HtmlTextAreaElement = document()
        .create_element("textarea")
        .ok()?
        .dyn_into()
        .ok()?;
    area.set_value(text);
    area.set_class_name("away");
    document().body()?.append_child(&area).ok()?;
    area.select();
    let command: js_sys::Function = js_sys::Reflect::get(&document(), &"execCommand".into())
        .ok()?
        .dyn_into()
        .ok()?;
    let done = command.call1(&document(), &"copy".into());
    area.remove();
    done.ok().map(|done| done.is_truthy())
}

/// Draws a button that saves a value to disk. The value is requested when the user clicks.
#[component]
pub(crate) fn Download(
    /// The request whose answer is the file.
    request: Request,
    /// The file name, made by [`prosescope_core::record::render::download`].
    name: String,
    /// The button's label.
    #[prop(default = "Download")]
    label: &'static str,
) -> impl IntoView {
    let app = App::get();
    let (trouble, set_trouble) = signal(None::<Trouble>);
    let (busy, set_busy) = signal(false);
    let save = move |_| {
        let (request, name) = (request.clone(), name.clone());
        set_busy.set(true);
        spawn_local(async move {
            let saved = app.blob(request).await.and_then(|blob| {
                save_blob(&blob, &name).ok_or_else(|| {
                    Trouble::new(
                        "The browser refused the download.",
                        "Allow downloads for this page.",
                    )
                })
            });
            set_busy.try_set(false);
            set_trouble.try_set(saved.err());
        });
    };
    view! {
        <button on:click=save prop:disabled=busy>{icons::download()}<span>{label}</span></button>
        {move || trouble.get().map(|t| view! { <span class="bad-words" role="alert">{t.cause}" "{t.next}</span> })}
    }
}

/// Draws the remarks about the open shared files, and the button that saves a shared run. Warns if a file differs from
/// what was shared, or was not opened.
#[component]
pub(crate) fn SharedNote() -> impl IntoView {
    let app = App::get();
    let unopened = live(move || {
        let unopened = app.shared.get()?.unopened;
        let is_told = !unopened.is_empty();
        let reasons = unopened.into_iter().map(|trouble| {
            view! { <p>{trouble.file}": "{trouble.cause}" "{trouble.next}</p> }
        });
        is_told.then(|| {
            view! {
                <section class="unread" role="alert">
                    <p><b>"Not every file was opened"</b></p>
                    {reasons.collect_view()}
                </section>
            }
            .into_any()
        })
    });
    let note = live(move || {
        let shared = app.shared.get()?;
        if shared.changed {
            return Some(
                view! {
                    <section class="unread" role="alert">
                        <p><b>"Do not rely on this copy"</b></p>
                        <p>{shared.words}</p>
                        <p class="soft">"Ask the sender for the file again."</p>
                    </section>
                }
                .into_any(),
            );
        }
        let save = shared.save.map(|name| {
            view! { <Download request=Request::SaveShared name label="Save the run"/> }
        });
        Some(view! { <p class="shared"><span>{shared.words}</span>{save}</p> }.into_any())
    });
    view! { {unopened}{note} }
}

/// Saves bytes as a file.
pub(crate) fn save_blob(blob: &web_sys::Blob, name: &str) -> Option<()> {
    let url = ObjectUrl::from(blob.clone());
    let link: web_sys::HtmlAnchorElement = document().create_element("a").ok()?.dyn_into().ok()?;
    link.set_href(&url);
    link.set_download(name);
    link.click();
    // The URL is dropped only after a minute, because the browser may need it until the file is saved.
    set_timeout(move || drop(url), std::time::Duration::from_secs(60));
    Some(())
}
