//! Draws the finder, a dialog that goes to a page, run or command by its name, and to any place that contains a text.

mod entries;
mod mark;
mod search;

use leptos::html::{Dialog, Input};
use leptos::prelude::*;
use web_sys::KeyboardEvent;

use self::entries::{Act, FinderLine};
use self::search::{KINDS, Search, SearchState};
use super::commands::COMMANDS;
use super::icons;
use super::state::{App, Desk, find};
use crate::route::Route;

pub(crate) use mark::unmark;

/// Draws the button that opens the finder.
#[component]
pub(crate) fn Seek(
    /// The keyboard shortcut to show on the button.
    key: &'static str,
) -> impl IntoView {
    let app = App::get();
    view! {
        <button class="seek" title="Find (Ctrl K)" on:click=move |_| app.finder.set(true)><span>"Find"</span><kbd>{key}</kbd></button>
    }
}

/// Draws the finder while [`App::finder`] is true.
#[component]
pub(crate) fn Finder() -> impl IntoView {
    let app = App::get();
    let dialog = NodeRef::<Dialog>::new();
    Effect::new(move || {
        let Some(dialog) = dialog.get() else { return };
        if !app.finder.get() {
            dialog.close();
        } else if !dialog.open() {
            // Opening the dialog fails only if it is already open or not in the page.
            let _ = dialog.show_modal();
        }
    });
    view! {
        <dialog class="finder" node_ref=dialog aria-label="Find" on:close=move |_| app.finder.set(false)>
            {move || app.finder.get().then(|| view! { <Inside/> })}
        </dialog>
    }
}

/// Returns the paths of the runs to search. The list of runs is read untracked, because a new run in the list must
/// not restart a search.
fn places(app: App, all: bool) -> Vec<String> {
    let Desk::Open(list) = &*app.desk.read_untracked() else {
        return Vec::new();
    };
    match &*app.route.read_untracked() {
        Route::Run { run: key, .. } if !all => find(list, key).into_iter().collect(),
        _ => list.runs.iter().map(|of| of.place.clone()).collect(),
    }
}

#[component]
fn Inside() -> impl IntoView {
    let app = App::get();
    let input = NodeRef::<Input>::new();
    let text = RwSignal::new(app.sought.get_untracked());
    let in_run = matches!(&*app.route.read_untracked(), Route::Run { .. });
    let runs = match &*app.desk.read_untracked() {
        Desk::Open(list) => list.runs.len(),
        _ => 0,
    };
    let several = runs > 1;
    let all = RwSignal::new(!in_run);
    let at = RwSignal::new(0_usize);
    let search = Search::new();
    Effect::new(move || search.begin(app, text.get(), places(app, all.get())));
    Effect::new(move || {
        if let Some(input) = input.get() {
            let _ = input.focus();
            // The previous text is selected, so that typing replaces it.
            input.set_value(&text.get_untracked());
            input.select();
        }
    });
    on_cleanup(move || search.stop());

    let entries = Memo::new(move |_| {
        let mut entries = entries::named(app, text.get().trim());
        if let Desk::Open(list) = &*app.desk.read() {
            let found = search.found.read();
            let hits = found
                .iter()
                .flat_map(|run| entries::hits(list, run, all.get() && several));
            // Matches in texts come before entries whose names match.
            entries.splice(0..0, hits);
        }
        entries
    });
    Effect::new(move || scroll_to(at.get()));

    let line = move |n: usize, entry: &FinderLine, before: Option<&FinderLine>| {
        let title = before.is_none_or(|before| before.group != entry.group);
        let title = title
            .then(|| view! { <li role="presentation" class="group">{entry.group.clone()}</li> });
        let (chosen, more) = (entry.clone(), entry.more.clone());
        view! {
            {title}
            <li
                id=format!("find-{n}") role="option" class="entry"
                aria-selected=move || (at.get() == n).to_string()
                on:click=move |_| act(app, text, chosen.clone())
            >
                <span class="grow cut" dir="auto">{marked(entry)}</span>
                <span class="faint cut" dir="auto">{more}</span>
            </li>
        }
    };
    view! {
        <div class="find-bar">
            <input
                type="search" node_ref=input placeholder="Find a text, a page, a run, a command" autocomplete="off" spellcheck="false"
                role="combobox" aria-expanded="true" aria-controls="found" aria-label="Find"
                aria-activedescendant=move || format!("find-{}", at.get())
                prop:value=text
                on:input=move |event| {
                    let input: web_sys::HtmlInputElement = event_target(&event);
                    at.set(0);
                    text.set(input.value());
                }
                on:keydown=move |event| on_key(&event, app, text, at, entries)
            />
            {(in_run && several).then(|| view! {
                <span class="tabs" role="group" aria-label="Where">
                    <button aria-pressed=move || (!all.get()).to_string() on:click=move |_| all.set(false)>"This run"</button>
                    <button aria-pressed=move || all.get().to_string() on:click=move |_| all.set(true)>"All runs"</button>
                </span>
            })}
            <button class="icon" aria-label="Close" on:click=move |_| app.finder.set(false)>{icons::close()}</button>
        </div>
        <ul id="found" role="listbox" aria-label="What was found">
            {move || entries.with(|entries| {
                let lines = entries.iter().enumerate().map(|(n, entry)| {
                    let before = n.checked_sub(1).and_then(|before| entries.get(before));
                    line(n, entry, before)
                });
                lines.collect_view()
            })}
        </ul>
        <p class="find-state faint" role="status">
            {move || match search.state.get() {
                SearchState::Idle => match places(app, all.get()).first() {
                    Some(_) => format!("Searched while you type: {KINDS}."),
                    None => "To search for a text, open a run.".to_owned(),
                }.into_any(),
                SearchState::Busy(words) => view! { {words}" " <button on:click=move |_| search.stop()>"Stop"</button> }.into_any(),
                SearchState::Done(words) => words.into_any(),
            }}
        </p>
    }
}

/// Closes the finder, and does what an entry stands for.
fn act(app: App, text: RwSignal<String>, entry: FinderLine) {
    app.finder.set(false);
    app.sought.set(text.get_untracked());
    match entry.act {
        Act::Go(route, marked) => {
            if let Some(line) = marked {
                mark::mark(app, text.get_untracked().trim(), line);
            }
            app.go(route);
            // The page's content gets the focus. Otherwise, closing the dialog would return the focus to the
            // previously focused element.
            request_animation_frame(|| {
                crate::ui::keys::focus("main");
            });
        }
        Act::Command(at) => {
            if let Some(command) = COMMANDS.get(at) {
                (command.act)(app);
            }
        }
    }
}

fn on_key(
    event: &KeyboardEvent,
    app: App,
    text: RwSignal<String>,
    at: RwSignal<usize>,
    entries: Memo<Vec<FinderLine>>,
) {
    let count = entries.with_untracked(Vec::len);
    let now = at.get_untracked().min(count.saturating_sub(1));
    match event.key().as_str() {
        "ArrowDown" => at.set((now + 1).min(count.saturating_sub(1))),
        "ArrowUp" => at.set(now.saturating_sub(1)),
        // Escape is handled here, because the browser would clear the search field instead of closing the finder.
        "Escape" => app.finder.set(false),
        "Enter" => {
            let entry = entries.with_untracked(|entries| entries.get(now).cloned());
            if let Some(entry) = entry {
                act(app, text, entry);
            }
        }
        _ => return,
    }
    event.prevent_default();
}

/// Scrolls an entry into view.
fn scroll_to(n: usize) {
    let selector = format!("#find-{n}");
    let line = document().query_selector(&selector).ok().flatten();
    if let Some(line) = line {
        let options = web_sys::ScrollIntoViewOptions::new();
        options.set_block(web_sys::ScrollLogicalPosition::Nearest);
        line.scroll_into_view_with_scroll_into_view_options(&options);
    }
}

/// Draws the text of an entry with its match marked.
fn marked(entry: &FinderLine) -> AnyView {
    let text = entry.text.as_str();
    let Some((from, to)) = entry.mark else {
        return text.to_owned().into_any();
    };
    let byte = |nth: usize| {
        text.char_indices()
            .nth(nth)
            .map_or(text.len(), |(at, _)| at)
    };
    let (from, to) = (byte(from), byte(to));
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default().to_owned();
    view! { {part(0..from)}<mark>{part(from..to)}</mark>{part(to..text.len())} }.into_any()
}
