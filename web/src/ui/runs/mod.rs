//! Draws the list of runs of the open source: a `.prose` folder, or several files and folders that were opened
//! together.

mod choose;
mod days;
mod table;

use leptos::prelude::*;
use prosescope_core::pages::view::RunList;

use super::bar_end::bar_end;
use super::finder::Seek;
use super::follow::Following;
use super::icons;
use super::parts::{Empty, SharedNote, live};
use super::share::everything;
use super::state::{App, Desk};
use crate::protocol::WorkflowsIn;
use crate::route::Route;
use crate::text::words;
use choose::Chosen;

/// Draws the list of runs.
#[component]
pub(crate) fn Runs() -> impl IntoView {
    let app = App::get();
    // While another source is being opened, the previous list stays.
    let list = Memo::new(move |before: Option<&RunList>| match &*app.desk.read() {
        Desk::Open(list) => list.clone(),
        _ => before.cloned().unwrap_or_default(),
    });
    let nothing = Memo::new(move |_| list.with(|list| list.runs.is_empty()));
    let missing = match app.route.get_untracked() {
        Route::Run { run, .. } => Some(("run", run)),
        Route::Workflow { place, .. } | Route::Workflows { place } => Some(("database", place)),
        Route::Compare { a, .. } => Some(("run", a)),
        Route::Home => None,
    };
    view! {
        <ListBar/>
        <main id="main" class="fill solo" tabindex="-1">
            {missing.map(|(what, name)| view! {
                <p class="asked" role="status">{move || match app.unread.get() {
                    (0, _) => view! { "The link's "{what}" "<code>{name.clone()}</code>" is not in the opened files." }.into_any(),
                    _ => view! { "The link's "{what}" "<code>{name.clone()}</code>" is not in the files that were read so far." }.into_any(),
                }}</p>
            })}
            <Gathering/>
            <Reading/>
            <Lists/>
            <SharedNote/>
            {move || list.with(|list| list.issues.iter().filter(|issue| !issue.is_of_copy()).map(|issue| view! {
                <p class="faint">{issue.message.clone()}" "{issue.hint.clone()}</p>
            }).collect_view())}
            {live(move || if nothing.get() && !app.workflows.read().is_empty() {
                view! { <Empty what="No runs" why="The opened files contain only workflows: choose a database above."/> }.into_any()
            } else if nothing.get() {
                view! { <h1>"No runs"</h1><Empty what="No runs" why="The opened files contain no run."/> }.into_any()
            } else {
                view! { <Chosen list/> }.into_any()
            })}
        </main>
    }
}

/// Draws the progress of listing a large folder whose first runs are already open, with a button that stops the
/// listing.
#[component]
fn Gathering() -> impl IntoView {
    let app = App::get();
    let is_stopped = Memo::new(move |_| app.gathering.read().as_ref().map(|(_, stopped)| *stopped));
    let doing = move || {
        app.gathering
            .read()
            .as_ref()
            .map(|(doing, _)| doing.clone())
    };
    live(move || {
        match is_stopped.get()? {
        false => Some(view! {
            <p class="reading" role="status">
                <progress aria-label="Files listed"></progress>
                <span>{doing}</span><button on:click=move |_| app.stop_gathering()>"Stop"</button>
            </p>
        }.into_any()),
        true => Some(view! {
            <p class="aside" role="status">"Stopped: the rest of the folder is not shown. Drop the folder again to see all runs."</p>
        }.into_any()),
    }
    })
}

/// Draws how many of the found runs are read, with a button that stops or continues the reading.
#[component]
fn Reading() -> impl IntoView {
    let app = App::get();
    let read = move || match &*app.desk.read() {
        Desk::Open(list) => list.runs.len() as u64,
        _ => 0,
    };
    let all = move || read() + u64::from(app.unread.get().0);
    let left = Memo::new(move |_| app.unread.get().0 > 0 && app.gathering.read().is_none());
    let stopped = Memo::new(move |_| app.unread.get().1);
    live(move || {
        left.get().then(|| {
        let words = move || format!("{} of {} read", words::count(read()), words::count(all()));
        let button = move || match stopped.get() {
            true => view! { <button on:click=move |_| app.list_rest(app.unread.get_untracked().0)>"Go on"</button> }.into_any(),
            false => view! { <button on:click=move |_| app.unread.update(|(_, stopped)| *stopped = true)>"Stop"</button> }.into_any(),
        };
        view! {
            <p class="reading" role="status">
                <progress value=move || read().to_string() max=move || all().to_string() aria-label="Runs read"></progress>
                <span>{words}</span>{button}
            </p>
        }
    })
    })
}

/// Draws the bar above a list: the name of the open source, and the buttons for the whole source.
#[component]
pub(super) fn ListBar() -> impl IntoView {
    let app = App::get();
    let label = Memo::new(move |before: Option<&String>| match &*app.desk.read() {
        Desk::Open(list) => list.label.clone(),
        _ => before.cloned().unwrap_or_default(),
    });
    view! {
        <header class="bar">
            <span class="brand">{icons::mark()}<b>"Prosescope"</b></span>
            <span class="where" title=move || label.get()>{move || label.get()}</span>
            <span class="grow"></span>
            <Following/>
            <Seek key="Ctrl K"/>
            {bar_end(app, Some(everything(app)))}
        </header>
    }
}

/// Draws links to the lists of the open source: its runs, and the workflows of each database. Draws nothing if there is
/// only one list.
#[component]
pub(super) fn Lists() -> impl IntoView {
    let app = App::get();
    let runs = Memo::new(move |_| match &*app.desk.read() {
        Desk::Open(list) => list.runs.len(),
        _ => 0,
    });
    live(move || {
        let databases = app.workflows.get();
        if databases.is_empty() || (databases.len() == 1 && runs.get() == 0) {
            return None;
        }
        let several = databases.len() > 1;
        let of_runs = (runs.get() > 0).then(|| {
            let current =
                move || (!matches!(*app.route.read(), Route::Workflows { .. })).then_some("true");
            view! { <a href="#/" aria-current=current>"Runs"</a> }
        });
        let of_workflows = databases.into_iter().map(|WorkflowsIn { place, .. }| {
            let name = if several {
                place.clone()
            } else {
                "Workflows".to_owned()
            };
            let to = Route::Workflows {
                place: place.clone(),
            };
            let (href, title) = (to.to_string(), place);
            let current = move || (*app.route.read() == to).then_some("true");
            view! { <a class="cut" href=href title=title aria-current=current>{name}</a> }
        });
        Some(view! {
            <nav class="tabs lists" aria-label="Lists">{of_runs}{of_workflows.collect_view()}</nav>
        })
    })
}
