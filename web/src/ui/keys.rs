//! Handles the keyboard commands of the viewer that belong to no single list: pages, search, zoom, comparison, focus.

use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{HtmlElement, KeyboardEvent};

use super::pages::failures;
use super::state::{App, Move};
use super::{commands, detail};
use crate::route::{Page, Route, Tab};
use crate::text::axis::VisiblePart;

/// The keys that move or belong to a list, and their descriptions, for the help. The other keys are those of
/// [`COMMANDS`](super::commands::COMMANDS).
pub(crate) const MOVES: [(&[&str], &str); 12] = [
    (&["1", "…", "9"], "Pages, in the order of their tabs"),
    (&["j", "k"], "Next and previous row"),
    (&["↑", "↓", "Home", "End"], "Move in a list"),
    (&["→", "←"], "Unfold or fold the row; go to its parent"),
    (&["Enter"], "Open the row"),
    (&["n", "p"], "Next and previous failure"),
    (&["+", "-"], "Timeline: zoom in, zoom out"),
    (&["[", "]"], "Timeline: earlier, later"),
    (&["f", "0"], "Timeline: zoom to this row, show all"),
    (&["Tab"], "To the next link or button"),
    (&["Esc"], "Close what was opened last"),
    (&["Alt", "←"], "Back"),
];

/// Handles a key press that no part of the page has handled.
pub(crate) fn on_key(app: App, event: &KeyboardEvent) {
    let command = commands::pressed(app, event);
    if event.ctrl_key() || event.meta_key() {
        // These keys work everywhere, also in a text field and over an open sheet.
        if let Some(command) = command {
            event.prevent_default();
            (command.act)(app);
        }
        return;
    }
    if event.alt_key() || is_typing(event) {
        return;
    }
    if app.help.get_untracked()
        || app.finder.get_untracked()
        || app.sheet.read_untracked().is_some()
    {
        return;
    }
    let key = event.key();
    let done = match (command, key.as_str()) {
        (Some(command), _) => {
            (command.act)(app);
            true
        }
        (_, "j") => app.move_in_list(Move::Down) || step(true),
        (_, "k") => app.move_in_list(Move::Up) || step(false),
        // The arrow keys move in the list if no element has the focus. Otherwise they belong to the focused element.
        (_, "ArrowDown") if is_nowhere() => app.move_in_list(Move::Down),
        (_, "ArrowUp") if is_nowhere() => app.move_in_list(Move::Up),
        (_, "n") => failure(app, Move::NextFailure),
        (_, "p") => failure(app, Move::PreviousFailure),
        (_, "+" | "=" | "-" | "[" | "]" | "f" | "0") => timeline(app, &key),
        (_, "Escape") => close(app),
        _ => key.parse().is_ok_and(|number| go_page(app, number)),
    };
    if done {
        event.prevent_default();
    }
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

/// Goes to the page whose tab has this number, from 1. Returns whether there is such a page.
fn go_page(app: App, number: usize) -> bool {
    let Some(at) = number.checked_sub(1) else {
        return false;
    };
    match app.route.get_untracked() {
        Route::Run { run, .. } => {
            let Some(page) = Page::numbered(&app.offered.read_untracked()).nth(at) else {
                return false;
            };
            app.go(Route::page(&run, page));
            focus("main");
        }
        Route::Workflow { place, id, .. } => {
            let Some(tab) = Tab::ALL.get(at) else {
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
