//! Handles the keyboard commands of the viewer that belong to no single list: pages, search, zoom, comparison, focus.

use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{HtmlElement, KeyboardEvent};

use super::detail;
use super::opening::pick_files;
use super::pages::failures;
use super::state::{App, Desk, Move, find};
use crate::route::{Page, Route, Tab};
use crate::text::axis::VisiblePart;

/// The keys and their descriptions, for the help.
pub(crate) const KEYS: [(&[&str], &str); 23] = [
    (&["1", "…", "9"], "Pages, in the order of the list"),
    (
        &["q"],
        "Open the SQL page; on that page, go to the query field",
    ),
    (&["j", "k"], "Next and previous row"),
    (&["↑", "↓", "Home", "End"], "Move in a list"),
    (&["→", "←"], "Unfold or fold the row; go to its parent"),
    (&["Enter"], "Open the row"),
    (&["n", "p"], "Next and previous failure"),
    (&["e"], "Trace: fold or unfold rows that succeeded"),
    (&["x", "c"], "Runs: mark two, and compare them"),
    (&["y"], "Copy for a model: the open row, or the run"),
    (&["a"], "Decide the gate that waits"),
    (
        &["+", "-", "[", "]"],
        "Timeline: zoom in, zoom out, earlier, later",
    ),
    (&["f", "0"], "Timeline: zoom to this row, show all"),
    (&["g"], "The list of runs"),
    (&["Ctrl", "K"], "Find a text, a page, a run, a command"),
    (
        &["/"],
        "Find, as Ctrl K; in the list of runs, filter the list",
    ),
    (&["w"], "Follow changes, or pause"),
    (&["Ctrl", "O"], "Open files"),
    (&["Ctrl", "P"], "Print the page with all rows"),
    (&["Tab"], "To the next link or button"),
    (&["Esc"], "Close what was opened last"),
    (&["Alt", "←"], "Back"),
    (&["?"], "These keys"),
];

/// Handles a key press that no part of the page has handled.
pub(crate) fn on_key(app: App, event: &KeyboardEvent) {
    let key = event.key();
    if (event.ctrl_key() || event.meta_key()) && !event.alt_key() && key.eq_ignore_ascii_case("o") {
        event.prevent_default();
        pick_files();
        return;
    }
    if (event.ctrl_key() || event.meta_key()) && !event.alt_key() && key.eq_ignore_ascii_case("p") {
        event.prevent_default();
        app.print();
        return;
    }
    if (event.ctrl_key() || event.meta_key()) && !event.alt_key() && key.eq_ignore_ascii_case("k") {
        event.prevent_default();
        app.finder.update(|shown| *shown = !*shown);
        return;
    }
    if event.ctrl_key() || event.meta_key() || event.alt_key() || is_typing(event) {
        return;
    }
    if app.help.get_untracked()
        || app.finder.get_untracked()
        || app.sheet.read_untracked().is_some()
    {
        return;
    }
    let done = match key.as_str() {
        "?" => {
            app.help.set(true);
            true
        }
        "j" => app.move_in_list(Move::Down) || step(true),
        "k" => app.move_in_list(Move::Up) || step(false),
        // The arrow keys move in the list if no element has the focus. Otherwise they belong to the focused element.
        "ArrowDown" if is_nowhere() => app.move_in_list(Move::Down),
        "ArrowUp" if is_nowhere() => app.move_in_list(Move::Up),
        "n" => failure(app, Move::NextFailure),
        "p" => failure(app, Move::PreviousFailure),
        "g" => {
            app.go(Route::Home);
            true
        }
        "/" if matches!(
            *app.route.read_untracked(),
            Route::Run { .. } | Route::Workflow { .. } | Route::Workflows { .. }
        ) =>
        {
            app.finder.set(true);
            true
        }
        "/" => focus("input[type=search]"),
        "w" => follow(app),
        "y" | "a" => press(&key),
        "q" if focus("#sql") => true,
        "e" => app.move_in_list(Move::FoldWell),
        "x" => mark(app),
        "c" if matches!(*app.route.read_untracked(), Route::Home) => app.compare(),
        "+" | "=" | "-" | "[" | "]" | "f" | "0" => timeline(app, &key),
        "Escape" => close(app),
        _ => match key
            .chars()
            .next()
            .filter(|_| key.len() == 1)
            .and_then(Page::of_key)
        {
            Some(page) => go_page(app, page),
            None => false,
        },
    };
    if done {
        event.prevent_default();
    }
}

/// Clicks the button with this key, in the detail of the open row or else in the band of the run. Returns whether such
/// a button exists.
fn press(key: &str) -> bool {
    let find = |within: &str| {
        let button = format!("{within} [data-key={key}]");
        let button = document().query_selector(&button).ok().flatten();
        button.and_then(|button| button.dyn_into::<HtmlElement>().ok())
    };
    let button = find(".detail").or_else(|| find(".band"));
    if let Some(button) = &button {
        button.click();
    }
    button.is_some()
}

/// Marks a run for comparison: the open run, or the current row in the list of runs.
fn mark(app: App) -> bool {
    let Route::Run { run, .. } = app.route.get_untracked() else {
        return app.move_in_list(Move::Mark);
    };
    let place = match &*app.desk.read_untracked() {
        Desk::Open(list) => find(list, &run),
        _ => None,
    };
    let Some(place) = place else { return false };
    app.pair(&place);
    app.say(match app.paired.read_untracked().contains(&place) {
        true => {
            "This run is marked. To compare it, mark another run in the list (g, x), then press c"
        }
        false => "This run is no longer marked",
    });
    true
}

/// Moves the focus to the page's content.
pub(crate) fn focus_main(event: web_sys::MouseEvent) {
    event.prevent_default();
    focus("main");
}

/// Returns whether no element inside of the page's content has the focus.
fn is_nowhere() -> bool {
    let active = document().active_element();
    active.is_none_or(|active| matches!(active.tag_name().as_str(), "BODY" | "MAIN"))
}

/// Moves the focus to the first element that matches a CSS selector. Returns whether such an element exists.
pub(crate) fn focus(selector: &str) -> bool {
    let element = document().query_selector(selector).ok().flatten();
    let Some(element) = element.and_then(|e| e.dyn_into::<HtmlElement>().ok()) else {
        return false;
    };
    // An error is ignored: if the element cannot take the focus, the focus stays unchanged.
    let _ = element.focus();
    true
}

/// Moves the focus to the next or previous run in the thread of a workflow, which has no list cursor. Returns whether
/// the focus moved.
fn step(down: bool) -> bool {
    let Ok(found) = document().query_selector_all("main .turn > details > summary") else {
        return false;
    };
    let all = (0..found.length()).filter_map(|at| found.get(at)?.dyn_into::<HtmlElement>().ok());
    let all: Vec<HtmlElement> = all.collect();
    let active = document().active_element();
    let now = all
        .iter()
        .position(|one| active.as_ref() == Some(one.as_ref()));
    let next = match (now, down) {
        (None, true) => 0,
        (None, false) => all.len().saturating_sub(1),
        (Some(now), true) => now + 1,
        (Some(now), false) => now.saturating_sub(1),
    };
    let next = all.get(next.min(all.len().saturating_sub(1)));
    // If the run's line cannot take the focus, the focus stays unchanged.
    next.is_some_and(|next| next.focus().is_ok())
}

/// Returns whether an event happens in a text field.
pub(crate) fn is_typing(event: &web_sys::Event) -> bool {
    let target = event
        .target()
        .and_then(|t| t.dyn_into::<web_sys::Element>().ok());
    target.is_some_and(|t| matches!(t.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT"))
}

fn go_page(app: App, page: Page) -> bool {
    match app.route.get_untracked() {
        Route::Run { run, .. } => {
            app.go(Route::page(&run, page));
            focus("main");
        }
        Route::Workflow { place, id, .. } => {
            let at = Page::ALL.iter().position(|known| *known == page);
            let Some(tab) = at.and_then(|at| Tab::ALL.get(at)) else {
                return false;
            };
            app.go(Route::workflow(&place, &id, *tab));
        }
        _ => return false,
    }
    true
}

/// Zooms or moves the time axis beside the trace. Returns whether the axis is shown.
fn timeline(app: App, key: &str) -> bool {
    let is_trace = matches!(
        *app.route.read_untracked(),
        Route::Run {
            page: Page::Trace,
            ..
        }
    );
    let shown = app.trace;
    match key {
        _ if !is_trace => return false,
        _ if !shown.timed.get_untracked() => return false,
        "[" => shown.seen.update(|seen| *seen = seen.moved(-0.25)),
        "]" => shown.seen.update(|seen| *seen = seen.moved(0.25)),
        "0" => shown.seen.set(VisiblePart::ALL),
        "f" => return app.move_in_list(Move::Fill),
        _ => shown.zoom(key != "-"),
    }
    true
}

/// Goes to a failure in the trace; on another page, opens the trace at the failure first.
fn failure(app: App, step: Move) -> bool {
    match app.route.get_untracked() {
        Route::Run {
            page: Page::Trace, ..
        } if app.move_in_list(step) => true,
        Route::Run { run, .. } => {
            failures::go(app, run, step == Move::NextFailure);
            true
        }
        _ => false,
    }
}

/// Pauses or continues following changes. If dropped files have changed, opens them again instead.
fn follow(app: App) -> bool {
    if app.follow.outdated.read_untracked().is_some() {
        app.open_again();
        return true;
    }
    app.follow.toggle()
}

/// Closes what was opened last: the sharing panel, a notice, or the detail beside a list. Returns whether something was
/// closed.
fn close(app: App) -> bool {
    if app.sharing.read_untracked().is_some() {
        app.sharing.set(None);
        return focus(".share-open");
    }
    if app.notice.read_untracked().is_some() {
        app.notice.set(None);
        return true;
    }
    super::finder::unmark(app);
    detail::close(app)
}
