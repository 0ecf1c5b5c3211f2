//! Draws the page that is shown while nothing is open: the ways to open files, the progress, and the error of the last
//! attempt.

use leptos::prelude::*;

use super::icons;
use super::load::TroubleNote;
use super::opening::{pick_files, pick_folder};
use super::state::{App, Desk, OpeningSource};
use super::theme::ThemeButton;
use crate::route::Route;

/// Draws the page that is shown while no source is open.
#[component]
pub(crate) fn Home() -> impl IntoView {
    let app = App::get();
    let waiting_for = move || {
        match (app.desk.get(), app.route.get()) {
        (Desk::Empty, Route::Run { run, page, .. }) => Some(view! {
            <p class="asked" role="status">
                "This link shows "<b>{page.title()}</b>" of run "<code>{run}</code>". Open that run here to go on."
            </p>
        }.into_any()),
        (Desk::Empty, Route::Workflow { place, .. } | Route::Workflows { place }) => Some(view! {
            <p class="asked" role="status">
                "This link shows workflows of "<code>{place}</code>". Open that file here to go on."
            </p>
        }.into_any()),
        _ => None,
    }
    };
    view! {
        <header class="bar">
            <span class="brand">{icons::mark()}<b>"Prosescope"</b></span>
            <span class="grow"></span>
            <ThemeButton/>
            <button class="icon" title="Keys (?)" aria-label="Keys" on:click=move |_| app.help.set(true)>"?"</button>
        </header>
        <main id="main" class="home" tabindex="-1">
            {move || match app.desk.get() {
                Desk::Opening { label, doing } => view! { <Opening label doing/> }.into_any(),
                Desk::Failed(trouble) => view! { <h1 class="away">"Not opened"</h1><TroubleNote trouble/><Offer again=true/> }.into_any(),
                Desk::Empty | Desk::Open(_) => view! {
                    <h1>"Open a run, see what happened"</h1>
                    <p class="lede">
                        "Where the run stopped, why, and what every name meant there. "
                        "Nothing leaves this machine: the page reads the files itself and cannot send anything."
                    </p>
                    {waiting_for}
                    <Offer again=false/>
                }.into_any(),
            }}
        </main>
    }
}

/// Draws the progress of an opening, with a button that stops it.
#[component]
fn Opening(label: String, doing: String) -> impl IntoView {
    let app = App::get();
    view! {
        <section class="opening" role="status">
            <h1>"Opening "<span class="name" title=label.clone()>{label.clone()}</span></h1>
            <p>{doing}"…"</p>
            <div class="meter" aria-hidden="true"><i></i></div>
            <button on:click=move |_| app.cancel()>"Cancel"</button>
        </section>
    }
}

/// Draws the ways to open files: dropping, the two buttons and the example.
#[component]
fn Offer(again: bool) -> impl IntoView {
    let app = App::get();
    view! {
        <section class="offer" class:again=again aria-label="Open">
            <div class="target">
                <p><b>"Drop a file or folder anywhere on this page"</b></p>
                <p class="kinds">
                    <code>"state.db"</code>" with its "<code>"-wal"</code>" · a run folder · a "
                    <code>".prose"</code>" folder · "<code>"agents.db"</code>" · "<code>"state.md"</code>" · "<code>"workflows.db"</code>" · a shared page or zip; a "<code>"state.md"</code>" can be pasted, too"
                </p>
                <p class="do">
                    <button class="primary" on:click=move |_| pick_files()>
                        {icons::file()}<span>"Open files…"</span><kbd>"Ctrl O"</kbd>
                    </button>
                    <button on:click=move |_| pick_folder()>{icons::folder()}<span>"Open folder…"</span></button>
                    <button class="plain" on:click=move |_| app.open(OpeningSource::Example)>"Try the example runs"</button>
                </p>
            </div>
        </section>
    }
}
