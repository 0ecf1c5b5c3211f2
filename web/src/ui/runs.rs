//! The list of runs: of a `.prose` folder, or of several things opened at once.

use leptos::prelude::*;
use prosescope_core::view::{RunList, RunSummary};

use super::icons;
use super::list::{Cursor, Key, Mark, Pages, Rows};
use super::opening::pick_files;
use super::parts::{Empty, Pill, When};
use super::state::{App, Desk, key};
use super::theme::ThemeButton;
use crate::route::{Page, Route};
use crate::text::words;

/// The list of runs.
#[component]
pub(crate) fn Runs() -> impl IntoView {
    let app = App::get();
    let list = match app.desk.get_untracked() {
        Desk::Open(list) => list,
        _ => RunList::default(),
    };
    let label = list.label.clone();
    let count = words::counted(list.runs.len() as u64, "run", "runs");
    let missing = match app.route.get_untracked() {
        Route::Run { run, .. } => Some(run),
        Route::Home => None,
    };
    view! {
        <header class="bar">
            <span class="brand">{icons::mark()}<b>"Prosescope"</b></span>
            <span class="where" title=label.clone()>{label.clone()}</span>
            <span class="grow"></span>
            <button on:click=move |_| pick_files()><span>"Open…"</span></button>
            <button class="plain" on:click=move |_| app.close()>"Close"</button>
            <ThemeButton/>
            <button class="icon" title="Keys (?)" aria-label="Keys" on:click=move |_| app.help.set(true)>"?"</button>
        </header>
        <main id="main" class="fill solo" tabindex="-1">
            <h1>{count}</h1>
            {missing.map(|run| view! {
                <p class="asked" role="status">"The link's run "<code>{run}</code>" is not among them."</p>
            })}
            {list.issues.iter().map(|issue| view! {
                <p class="faint">{issue.message.clone()}" "{issue.hint.clone()}</p>
            }).collect_view()}
            {if list.runs.is_empty() {
                view! { <Empty what="No runs" why="Nothing in what was opened is a run."/> }.into_any()
            } else {
                view! { <Table list/> }.into_any()
            }}
        </main>
    }
}

#[component]
fn Table(list: RunList) -> impl IntoView {
    let app = App::get();
    let keys: Vec<String> = list.runs.iter().map(|run| key(&list, run)).collect();
    let pages = Pages::of(list.runs);
    let on_key = Callback::new(move |(pressed, at, _): (Key, u64, Option<RunSummary>)| {
        if let (Key::Enter, Some(run)) = (pressed, keys.get(at as usize)) {
            app.go(Route::page(run, Page::Overview));
        }
    });
    let head = view! {
        <span role="columnheader">"Program"</span>
        <span role="columnheader">"Status"</span>
        <span role="columnheader" class="wide">"Run"</span>
        <span role="columnheader" class="wide">"Started"</span>
        <span role="columnheader" class="wide num">"Took"</span>
        <span role="columnheader" class="wide">"Attention"</span>
    };
    view! {
        <Rows
            pages height=44.0 label="Runs" class="run-rows" cursor=Cursor::new() head=head.into_any()
            draw=draw mark=|_| Mark::default() on_key=on_key
        />
    }
}

fn draw(_: u64, run: &RunSummary) -> AnyView {
    let name = run.program.clone().unwrap_or_else(|| run.id.clone());
    let mut to_do = Vec::new();
    if run.pending_gates > 0 {
        to_do.push(words::counted(run.pending_gates.into(), "gate", "gates"));
    }
    let serious = run.issues.error + run.issues.warning;
    if serious > 0 {
        to_do.push(words::counted(serious.into(), "issue", "issues"));
    }
    let (about, second) = match &run.error {
        Some(error) => (error.clone(), error.clone()),
        None if run.reason.is_empty() => (run.form.clone(), run.form.clone()),
        None => (run.reason.clone(), format!("{} · {}", run.reason, run.form)),
    };
    let status = match &run.error {
        Some(_) => view! { <Pill status="failed" words="unreadable"/> }.into_any(),
        None => view! { <Pill status=run.status.clone()/> }.into_any(),
    };
    view! {
        <span role="gridcell" class="two" title=about>
            <b>{name}</b><small class:bad-words=run.error.is_some()>{second}</small>
        </span>
        <span role="gridcell">{status}</span>
        <span role="gridcell" class="wide mono cut" title=run.place.clone()>{run.id.clone()}</span>
        <span role="gridcell" class="wide"><When stamp=run.started.clone()/></span>
        <span role="gridcell" class="wide num">{run.duration.clone().unwrap_or_else(|| "–".to_owned())}</span>
        <span role="gridcell" class="wide">{to_do.join(", ")}</span>
    }
    .into_any()
}
