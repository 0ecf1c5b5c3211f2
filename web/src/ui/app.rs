//! Draws the root component of the page. It handles the window's events and decides which screen is shown: the list of
//! runs, a run, a comparison or a workflow.

use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;

use super::compare::Compare;
use super::finder::Finder;
use super::help::Help;
use super::home::Home;
use super::opening::{Picker, on_drop, on_paste};
use super::runs::Runs;
use super::share::Share;
use super::shell::{RunShell, name_of};
use super::state::{App as Shared, Desk, OpeningSource, find};
use super::workflow::WorkflowShell;
use super::workflows::Workflows;
use super::{clock, follow, keys, theme};
use crate::protocol::WorkflowsIn;
use crate::route::Route;
use crate::text::words::counted;

/// Draws the whole page.
#[component]
pub(crate) fn App() -> impl IntoView {
    let app = Shared::new();
    provide_context(app);
    app.keep_choice();
    theme::restore();
    clock::start(app);
    super::load::offer_stats(app);
    let dragging = listen(app);
    follow::watch(app);
    if is_served() {
        app.open(OpeningSource::Served);
    } else if let Some(file) = super::opening::own_run() {
        app.open(OpeningSource::Own(file.name(), file));
    } else {
        // The workers are warmed up only after the page is first drawn.
        set_timeout(move || app.warm(), Duration::ZERO);
    }

    let shown = Memo::new(move |_| {
        AppScreen::of(&app.desk.read(), &app.workflows.read(), &app.route.read())
    });
    let told = Memo::new(move |_| match &*shown.read() {
        AppScreen::Home => String::new(),
        AppScreen::Runs => "The list of runs".to_owned(),
        AppScreen::Workflows(_) => "The list of workflows".to_owned(),
        AppScreen::Workflow(_, id) => format!("Workflow {id}"),
        AppScreen::Run(place, _) => run_and_page(app, place),
        AppScreen::Compare(..) => "Two runs side by side".to_owned(),
    });
    // This effect sets the window's title for the home page and the list of runs. The other screens set their titles
    // themselves.
    Effect::new(move || {
        let title = match &*shown.read() {
            // A page that contains its own run has the right title from the start.
            AppScreen::Home if matches!(app.what(), Some(OpeningSource::Own(..))) => return,
            AppScreen::Home => "Prosescope".to_owned(),
            AppScreen::Runs => {
                let runs = app.desk.with(|desk| match desk {
                    Desk::Open(list) => list.runs.len() as u64,
                    _ => 0,
                });
                let runs = runs + u64::from(app.unread.get().0);
                match runs {
                    0 => "Prosescope".to_owned(),
                    _ => format!("{} — Prosescope", counted(runs, "run", "runs")),
                }
            }
            AppScreen::Run(..)
            | AppScreen::Compare(..)
            | AppScreen::Workflows(_)
            | AppScreen::Workflow(..) => {
                return;
            }
        };
        document().set_title(&title);
    });
    // If the focused element was removed with the previous page, the focus moves to the new page.
    Effect::new(move |before: Option<()>| {
        shown.track();
        if before.is_some() {
            request_animation_frame(|| {
                let body = document().body();
                if document().active_element() == body.map(Into::into) {
                    keys::focus("main");
                }
            });
        }
    });
    view! {
        <a class="skip" href="#main" on:click=keys::focus_main>"Skip to the content"</a>
        <p class="away told" role="status">{told}</p>
        <p class="moment" role="status">{move || app.said.get()}</p>
        <Picker/>
        {move || match shown.get() {
            AppScreen::Home => view! { <Home/> }.into_any(),
            AppScreen::Runs => view! { <Runs/> }.into_any(),
            AppScreen::Run(place, key) => view! { <RunShell place key/> }.into_any(),
            AppScreen::Compare(a, b) => view! { <Compare a b/> }.into_any(),
            AppScreen::Workflows(place) => view! { <Workflows place/> }.into_any(),
            AppScreen::Workflow(place, id) => view! { <WorkflowShell place id/> }.into_any(),
        }}
        <div class="dropzone" class:on=dragging aria-hidden="true">
            <p>"Drop to open"<small>"A state.db, a run folder, a .prose folder, a workflows.db, or a shared page or zip"</small></p>
        </div>
        <super::load::NoticeBar/>
        <Help/>
        <Finder/>
        <Share/>
    }
}

/// Describes the shown page, the run and its status, for screen readers: `Trace of translate-manual, failed`.
fn run_and_page(app: Shared, place: &str) -> String {
    let page = match &*app.route.read() {
        Route::Run { page, .. } => page.title(),
        _ => "",
    };
    let desk = app.desk.read();
    let Desk::Open(list) = &*desk else {
        return page.to_owned();
    };
    let run = list.runs.iter().find(|run| run.place == place);
    run.map_or_else(String::new, |run| {
        let name = name_of(run.program.as_deref().unwrap_or(&run.id));
        format!("{page} of {name}, {}", run.status)
    })
}

#[derive(Debug, Clone, PartialEq)]
enum AppScreen {
    Home,
    Runs,
    Run(String, String),
    /// Two runs side by side, by their ids or paths in the address.
    Compare(String, String),
    /// The workflows of a database, by the database's path.
    Workflows(String),
    /// A workflow, by its database's path and its id.
    Workflow(String, String),
}

impl AppScreen {
    fn of(desk: &Desk, workflows: &[WorkflowsIn], route: &Route) -> AppScreen {
        let Desk::Open(list) = desk else {
            return AppScreen::Home;
        };
        let is_in = |place: &str| workflows.iter().any(|one| one.place == place);
        match route {
            Route::Run { run, .. } => match find(list, run) {
                Some(place) => AppScreen::Run(place, run.clone()),
                None => AppScreen::Runs,
            },
            Route::Compare { a, b, .. } if find(list, a).is_some() && find(list, b).is_some() => {
                AppScreen::Compare(a.clone(), b.clone())
            }
            Route::Workflows { place } if is_in(place) => AppScreen::Workflows(place.clone()),
            Route::Workflow { place, id, .. } if is_in(place) => {
                AppScreen::Workflow(place.clone(), id.clone())
            }
            Route::Home
            | Route::Compare { .. }
            | Route::Workflows { .. }
            | Route::Workflow { .. } => AppScreen::Runs,
        }
    }
}

/// Listens to the window's events. Returns a signal that is true while the user drags something over the window.
fn listen(app: Shared) -> ReadSignal<bool> {
    let (dragging, set_dragging) = signal(false);
    let on = [
        window_event_listener(ev::hashchange, move |_| app.hash_changed()),
        window_event_listener(ev::popstate, move |_| app.hash_changed()),
        window_event_listener(ev::keydown, move |event| keys::on_key(app, &event)),
        window_event_listener(ev::afterprint, move |_| app.printing.set(false)),
        window_event_listener(ev::paste, move |event| {
            if on_paste(app, &event) {
                event.prevent_default();
            }
        }),
        window_event_listener(ev::dragover, move |event| {
            event.prevent_default();
            set_dragging.set(true);
        }),
        window_event_listener(ev::dragleave, move |event| {
            if event.related_target().is_none() {
                set_dragging.set(false);
            }
        }),
        window_event_listener(ev::drop, move |event| {
            event.prevent_default();
            set_dragging.set(false);
            on_drop(app, &event);
        }),
    ];
    on_cleanup(move || on.into_iter().for_each(WindowListenerHandle::remove));
    dragging
}

/// Returns whether `prosescope view` serves this page and has files to show.
fn is_served() -> bool {
    let meta = document()
        .query_selector("meta[name=prosescope-served]")
        .ok()
        .flatten();
    meta.and_then(|meta| meta.get_attribute("content"))
        .as_deref()
        == Some("yes")
}
