//! Draws the filter of the list of runs, by statuses, words, days and reasons of failures, and the filtered list.

use std::collections::BTreeMap;

use leptos::prelude::*;
use prosescope_core::pages::view::{RunList, RunSummary};

use super::days::Days;
use super::table::Table;
use crate::text::words;
use crate::ui::choice::{Choice, FilterPart};
use crate::ui::keys::focus;
use crate::ui::parts::{Empty, live};
use crate::ui::shell::name_of;
use crate::ui::state::App;

/// The order of the buttons for statuses: statuses that need attention come first.
const FIRST: [&str; 6] = [
    "failed",
    "unreadable",
    "waiting",
    "interrupted",
    "running",
    "completed",
];

/// Draws the filter and the filtered runs.
#[component]
pub(super) fn Chosen(list: Memo<RunList>) -> impl IntoView {
    let app = App::get();
    let choice = app.choice;
    let all = Memo::new(move |_| list.with(|list| list.runs.len()));
    // Runs that are not read yet count, too, so that the filter is shown from the start.
    let several = Memo::new(move |_| all.get() as u64 + u64::from(app.unread.get().0) > 1);
    let shown = Memo::new(move |_| {
        let filter = choice.filter();
        let mut runs = list.with(|list| list.runs.clone());
        runs.retain(|run| filter.wants(run));
        choice.order().sort_listed(&mut runs);
        runs
    });
    let nothing = Memo::new(move |_| shown.with(Vec::is_empty));
    let count = move || {
        let words = words::counted(all.get() as u64, "run", "runs");
        let words = match shown.with(Vec::len) {
            some if some == all.get() => words,
            some => format!("{} of {words}", words::count(some as u64)),
        };
        match app.gathering.read().is_some() {
            true => format!("{words} so far"),
            false => words,
        }
    };
    view! {
        <div class="tools">
            <h1>{count}</h1>
            {move || several.get().then(|| view! {
                <Statuses list choice/>
                <span class="grow"></span>
                <Field choice/>
            })}
        </div>
        {move || pairing(app)}
        {move || several.get().then(|| view! { <Days list choice/> })}
        {live(move || narrowed(choice))}
        {move || if nothing.get() {
            view! {
                <Empty what="No run matches" why="Try other words, another day or another status."/>
                <p><button on:click=move |_| choice.clear()>"Show all runs"</button></p>
            }.into_any()
        } else {
            let chosen = Signal::derive(move || choice.pairs());
            view! { <Table list shown chosen/> }.into_any()
        }}
    }
}

/// Draws a button for each status, with the number of runs. A click shows only the runs with this status.
#[component]
fn Statuses(list: Memo<RunList>, choice: Choice) -> impl IntoView {
    let counts = Memo::new(move |_| {
        let mut counts: BTreeMap<(usize, String), u64> = BTreeMap::new();
        let filter = choice.filter_but(FilterPart::Status);
        list.with(|list| {
            for run in list.runs.iter().filter(|run| filter.wants(run)) {
                let word = status_word(run);
                let rank = FIRST.iter().position(|first| *first == word);
                *counts
                    .entry((rank.unwrap_or(FIRST.len()), word))
                    .or_default() += 1;
            }
        });
        counts
            .into_iter()
            .map(|((_, word), count)| (word, count))
            .collect::<Vec<_>>()
    });
    let button = move |word: String, count: u64| {
        let (of, title) = (word.clone(), words::first_upper(&word));
        let pressed = move || (choice.status.get() == of).to_string();
        view! {
            <button aria-pressed=pressed on:click=move |_| choice.status.set(word.clone())>
                {title}" "<span class="n">{words::count(count)}</span>
            </button>
        }
    };
    live(move || {
        let buttons = counts
            .get()
            .into_iter()
            .map(|(word, count)| button(word, count));
        view! {
            <span class="segments" role="group" aria-label="Status">
                <button aria-pressed=move || choice.status.read().is_empty().to_string()
                    on:click=move |_| choice.status.set(String::new())>"All"</button>
                {buttons.collect_view()}
            </span>
        }
    })
}

#[component]
fn Field(choice: Choice) -> impl IntoView {
    view! {
        <input type="search" class="wide-field" placeholder="Program, id, error, failed last week" aria-label="Only runs with these words"
            title="Type words of the program, the id or the error; or failed, waiting …; or today, last week, last 3 days, 2026-01-18"
            prop:value=move || choice.words.get() on:input=move |event| choice.words.set(event_target_value(&event))
            on:keydown=move |event| {
                let key = event.key();
                if key == "Escape" {
                    choice.words.set(String::new());
                }
                if matches!(key.as_str(), "Enter" | "ArrowDown" | "Escape") && focus("[data-list]") {
                    event.prevent_default();
                }
            }/>
    }
}

/// Draws the days and the reason by which the list is filtered after a click, with a button that clears both. Returns
/// `None` if the list is filtered by neither.
fn narrowed(choice: Choice) -> Option<AnyView> {
    let (since, until, why) = (choice.since.get(), choice.until.get(), choice.why.get());
    let days = match (since.is_empty(), until.is_empty(), since == until) {
        (true, true, _) => None,
        (_, _, true) => Some(format!("begun on {since}")),
        (false, true, _) => Some(format!("begun on {since} or later")),
        (true, false, _) => Some(format!("begun on {until} or before")),
        _ => Some(format!("begun from {since} to {until}")),
    };
    let why = Some(why)
        .filter(|why| !why.is_empty())
        .map(|why| format!("failed with “{why}”"));
    let says: Vec<String> = days.into_iter().chain(why).collect();
    (!says.is_empty()).then(|| {
        let clear = move |_| {
            for text in [choice.since, choice.until, choice.why] {
                text.set(String::new());
            }
        };
        view! {
            <p class="pairing" role="status"><span dir="auto">"Only those "{says.join(", ")}"."</span>
                <button class="plain" on:click=clear>"Show all"</button></p>
        }
        .into_any()
    })
}

/// Draws the number of runs marked for comparison, with the buttons that compare them or clear the marks.
fn pairing(app: App) -> Option<AnyView> {
    let paired = app.paired.get();
    let program = |place: &String| app.desk.with(|desk| desk.run(place)?.program.clone());
    let names: Vec<String> = paired
        .iter()
        .filter_map(program)
        .map(|path| name_of(&path))
        .collect();
    let clear = view! { <button class="plain" on:click=move |_| app.paired.set(Vec::new())>"Clear"</button> };
    match paired.len() {
        0 => None,
        1 => Some(view! { <p class="pairing floating" role="status">"One run is marked. Mark another run of the same program to compare the two."{clear}</p> }.into_any()),
        _ => Some(view! {
            <p class="pairing floating" role="status">{match names.as_slice() {
                [a, b] if a != b => format!("Two runs of different programs are marked: {a} and {b}."),
                _ => "Two runs are marked.".to_owned(),
            }}
                <button class="primary" on:click=move |_| { app.compare(); }>"Compare "<kbd>"c"</kbd></button>{clear}</p>
        }.into_any()),
    }
}

/// Returns the word for a run's status in the filter.
fn status_word(run: &RunSummary) -> String {
    match run.error {
        Some(_) => "unreadable".to_owned(),
        None => run.status.clone(),
    }
}
