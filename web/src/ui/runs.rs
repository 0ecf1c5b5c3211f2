//! The list of runs: of a `.prose` folder, or of several things opened at once.

use std::collections::BTreeSet;

use leptos::prelude::*;
use prosescope_core::session::Order;
use prosescope_core::view::{RunList, RunSummary};

use super::choice::{Choice, ORDERS};
use super::finder::Seek;
use super::follow::{Carry, Following};
use super::icons;
use super::keys::focus;
use super::list::{Cursor, Key, Mark, Pages, Rows, Stretch};
use super::opening::pick_files;
use super::parts::{Empty, Pill, SharedNote, When, live};
use super::share::{ShareButton, everything};
use super::shell::SILENT;
use super::state::{App, Desk, key};
use super::theme::ThemeButton;
use crate::protocol::WorkflowsIn;
use crate::route::{Page, Route};
use crate::text::words;

/// The list of runs.
#[component]
pub(crate) fn Runs() -> impl IntoView {
    let app = App::get();
    // While something else is being opened the list stays as it was.
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
                    (0, _) => view! { "The link's "{what}" "<code>{name.clone()}</code>" is not among them." }.into_any(),
                    _ => view! { "The link's "{what}" "<code>{name.clone()}</code>" is not among those read so far." }.into_any(),
                }}</p>
            })}
            <Gathering/>
            <Reading/>
            <Lists/>
            <SharedNote/>
            {move || list.with(|list| list.issues.iter().filter(|issue| !is_of_shared(&issue.rule)).map(|issue| view! {
                <p class="faint">{issue.message.clone()}" "{issue.hint.clone()}</p>
            }).collect_view())}
            {live(move || if nothing.get() && !app.workflows.read().is_empty() {
                view! { <Empty what="No runs" why="What was opened holds workflows: choose a database above."/> }.into_any()
            } else if nothing.get() {
                view! { <h1>"No runs"</h1><Empty what="No runs" why="Nothing in what was opened is a run."/> }.into_any()
            } else {
                view! { <Chosen list/> }.into_any()
            })}
        </main>
    }
}

/// Whether a rule is about shared files, of which the list speaks in a place of its own.
fn is_of_shared(rule: &str) -> bool {
    matches!(rule, "shared-copy" | "share-changed")
}

/// How the folder is listed that what is shown is a part of, and what stops that.
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
            <p class="aside" role="status">"Stopped: what else lies in the folder is not shown. Drop it again to see all."</p>
        }.into_any()),
    }
    })
}

/// How much of the list is still to come, and what stops that.
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

/// The bar above a list: what is open, and what can be done with all of it.
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
            <ShareButton places=everything(app)/>
            <button on:click=move |_| pick_files()><span>"Open…"</span></button>
            <button class="plain" on:click=move |_| app.close()>"Close"</button>
            <ThemeButton/>
            <button class="icon" title="Keys (?)" aria-label="Keys" on:click=move |_| app.help.set(true)>"?"</button>
        </header>
    }
}

/// The lists of what is open, where there are several: its runs, and the workflows of each database.
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

/// The runs that were chosen, and what chooses them.
#[component]
fn Chosen(list: Memo<RunList>) -> impl IntoView {
    let all = Memo::new(move |_| list.with(|list| list.runs.len()));
    // Those that are still to come are counted: whoever types at once is heard.
    let app = App::get();
    let unread = app.unread;
    let several = Memo::new(move |_| all.get() as u64 + u64::from(unread.get().0) > 1);
    let statuses = Memo::new(move |_| {
        list.with(|list| list.runs.iter().map(status_word).collect::<BTreeSet<_>>())
    });
    let choice = app.choice;
    let Choice {
        program,
        status,
        since,
        until,
        order,
        ..
    } = choice;
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
            <span class="grow"></span>
            {move || several.get().then(|| view! {
                <input type="search" placeholder="Program" aria-label="Only programs with this in their path"
                    prop:value=move || program.get() on:input=move |event| program.set(event_target_value(&event))
                    on:keydown=move |event| {
                        let key = event.key();
                        if key == "Escape" {
                            program.set(String::new());
                        }
                        if matches!(key.as_str(), "Enter" | "ArrowDown" | "Escape") && focus("[data-list]") {
                            event.prevent_default();
                        }
                    }/>
                <select aria-label="Status" prop:value=move || status.get()
                    on:change=move |event| status.set(event_target_value(&event))>
                    <option value="">"Any status"</option>
                    {move || statuses.get().into_iter().map(|word| view! { <option value=word.clone()>{word.clone()}</option> }).collect_view()}
                </select>
                <select aria-label="Order" prop:value=move || order.get().to_string() on:change=move |event| order.set(event_target_value(&event).parse().unwrap_or(0))>
                    {ORDERS.iter().enumerate().map(|(at, (_, words, _))| view! { <option value=at>{*words}</option> }).collect_view()}
                </select>
                {[(since, "From", "Begun on this day or later"), (until, "To", "Begun on this day or before")].map(|(day, word, label)| view! {
                    <label class="day"><span class="faint">{word}</span>
                        <input type="date" aria-label=label title=label prop:value=move || day.get()
                            on:change=move |event| day.set(event_target_value(&event))/>
                    </label>
                }).collect_view()}
            })}
        </div>
        {move || pairing(app)}
        {move || if nothing.get() {
            view! {
                <Empty what="No run is like that" why="Other words, or another status, may find some."/>
                <p><button on:click=move |_| choice.clear()>"Show all runs"</button></p>
            }.into_any()
        } else {
            let chosen = Signal::derive(move || choice.pairs());
            view! { <Table list shown chosen/> }.into_any()
        }}
    }
}

/// What to do with the runs that are marked.
fn pairing(app: App) -> Option<AnyView> {
    let many = app.paired.read().len();
    let clear = view! { <button class="plain" on:click=move |_| app.paired.set(Vec::new())>"Clear"</button> };
    match many {
        0 => None,
        1 => Some(view! { <p class="pairing" role="status">"One run is marked: mark another run of its program to compare them."{clear}</p> }.into_any()),
        _ => Some(view! {
            <p class="pairing" role="status">"Two runs are marked."
                <button class="primary" on:click=move |_| { app.compare(); }>"Compare "<kbd>"c"</kbd></button>{clear}</p>
        }.into_any()),
    }
}

/// The word that the status filter knows a run by.
fn status_word(run: &RunSummary) -> String {
    match run.error {
        Some(_) => "unreadable".to_owned(),
        None => run.status.clone(),
    }
}

#[component]
fn Table(
    /// All runs.
    list: Memo<RunList>,
    /// Those that were chosen, in order.
    shown: Memo<Vec<RunSummary>>,
    /// What was chosen by.
    chosen: Signal<Vec<(&'static str, String)>>,
) -> impl IntoView {
    let app = App::get();
    let pages = Pages::new(move |from, len| {
        let stretch = shown.with_untracked(|runs| Stretch {
            rows: runs
                .iter()
                .skip(from as usize)
                .take(len as usize)
                .cloned()
                .collect(),
            total: runs.len() as u64,
        });
        std::future::ready(Ok(stretch))
    });
    let cursor = Cursor::new();
    // The list stays, and keeps the focus, while what it shows changes. Whoever chooses others is shown the run that was
    // the current one, or the first; runs that come while nobody chooses move nothing that is seen.
    Effect::new(move |before: Option<Vec<(&'static str, String)>>| {
        shown.track();
        let now = chosen.get();
        let place_of = |at: u64| {
            let run = pages.peek(at)?;
            shown.with_untracked(|runs| runs.iter().position(|r| r.place == run.place))
        };
        let at = place_of(cursor.at.get_untracked()).map(|at| at as u64);
        match before {
            None => {}
            Some(before) if before != now => {
                pages.renew();
                cursor.go(at.unwrap_or(0));
            }
            Some(_) => {
                let stood = cursor.stand();
                let top = place_of(stood.top).map(|at| at as u64);
                cursor.carry(Carry::new(stood, at, top));
                pages.renew();
            }
        }
        now
    });
    let on_key = Callback::new(move |(pressed, _, run): (Key, u64, Option<RunSummary>)| {
        let Some(run) = run else { return };
        match pressed {
            Key::Enter => {
                let key = list.with_untracked(|list| key(list, &run));
                app.go(Route::page(&key, Page::Trace));
            }
            Key::Mark => app.pair(&run.place),
            _ => {}
        }
    });
    let mark = move |run: &RunSummary| Mark {
        fresh: app.follow.is_new_run(&run.place),
        selected: app.paired.read().contains(&run.place),
        ..Mark::default()
    };
    let head = view! {
        {sorting("Program", "", &[Order::Program])}
        {sorting("Status", "status", &[Order::Status])}
        <span role="columnheader" class="wide">"Run"</span>
        {sorting("Started", "wide", &[Order::Newest, Order::Oldest])}
        {sorting("Took", "wide num", &[Order::Duration])}
        {sorting("Attention", "wide", &[Order::Problems])}
        <span role="columnheader" class="wide"></span>
    };
    view! {
        <Rows
            pages height=44.0 label="Runs" class="run-rows" cursor head=head.into_any()
            draw=move |_, run: &RunSummary| draw(app, run) mark=mark on_key=on_key
        />
    }
}

/// The head of a column that the list can be ordered by.
fn sorting(name: &'static str, class: &'static str, orders: &'static [Order]) -> AnyView {
    let choice = App::get().choice;
    let sorted = move || match choice.order() {
        now if !orders.contains(&now) => None,
        Order::Newest | Order::Duration | Order::Problems => Some("descending"),
        _ => Some("ascending"),
    };
    view! {
        <span role="columnheader" class=class aria-sort=sorted>
            <button class="plain sort" on:click=move |_| choice.order_by(orders)>{name}</button>
        </span>
    }
    .into_any()
}

/// How long ago a run started, and by what where nothing records it. The date of a file is no start.
fn age(run: &RunSummary) -> String {
    let ago = run.age.as_ref().map(|age| format!("{age} ago"));
    let by = run.started_from.as_ref().map(|from| format!("by {from}"));
    let changed = run.file_changed.as_ref().filter(|_| run.started.is_none());
    let changed = changed.map(|at| format!("a file changed on {}", words::day(at)));
    words::joined([ago, by, changed].map(Option::unwrap_or_default))
}

fn draw(app: App, run: &RunSummary) -> AnyView {
    let (place, marked) = (run.place.clone(), run.place.clone());
    let name = run.program.clone().unwrap_or_else(|| run.title());
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
        None if run.failure.is_some() => {
            let failure = run.failure.clone().unwrap_or_default();
            (format!("{failure} ({})", run.reason), failure)
        }
        None if run.reason.is_empty() => (run.form.clone(), run.form.clone()),
        None => (run.reason.clone(), format!("{} · {}", run.reason, run.form)),
    };
    let about = match &run.head_only {
        Some(left_out) => format!("{about}; {left_out}"),
        None => about,
    };
    let day = run.started.as_ref().map(words::day).unwrap_or_default();
    let brief = words::joined([
        day,
        run.duration.clone().unwrap_or_default(),
        to_do.join(", "),
    ]);
    let status = match &run.error {
        Some(_) => view! { <Pill status="failed" words="unreadable"/> }.into_any(),
        None if run.stale => view! { <Pill status="stale" words=SILENT/> }.into_any(),
        None => view! { <Pill status=run.status.clone()/> }.into_any(),
    };
    view! {
        <span role="gridcell" class="two" title=about>
            <b dir="auto">{name}</b><small dir="auto" class:bad-words=run.error.is_some() || run.failure.is_some()>{second}</small>
        </span>
        <span role="gridcell" class="two">{status}<small class="narrow-only">{brief}</small></span>
        <span role="gridcell" class="wide mono cut" title=run.place.clone()>{run.title()}</span>
        <span role="gridcell" class="wide two"><When stamp=run.started.clone()/><small>{age(run)}</small></span>
        <span role="gridcell" class="wide num">{run.duration.clone().unwrap_or_else(|| "–".to_owned())}</span>
        <span role="gridcell" class="wide">{to_do.join(", ")}</span>
        <span role="gridcell" class="wide"><button class="plain small mark-run" tabindex="-1" title="Mark to compare (x)"
            aria-pressed=move || app.paired.read().contains(&place).to_string()
            on:click=move |event| {
                event.stop_propagation();
                app.pair(&marked);
            }>"Compare"</button></span>
    }
    .into_any()
}
