//! Lists the commands of the page once: the keys, the finder and the help are all drawn from this list.

use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{HtmlElement, KeyboardEvent};

use super::keys::focus;
use super::opening::{pick_beside, pick_files, pick_folder};
use super::state::{App, Desk, Move, Sheet, find};
use crate::route::{Page, Route};

/// A command of the page.
pub(crate) struct Command {
    /// The name in the finder and in the help.
    pub(crate) name: &'static str,
    /// The key, such as `g` or `Ctrl O`; empty without a key.
    pub(crate) key: &'static str,
    /// Returns whether the command can be used now.
    pub(crate) can: fn(App) -> bool,
    /// Executes the command.
    pub(crate) act: fn(App),
}

/// All commands, in the order of the finder and the help.
pub(crate) const COMMANDS: &[Command] = &[
    Command {
        name: "Decide the gate that waits",
        key: "a",
        can: |_| keyed("a").is_some(),
        act: |_| click(keyed("a")),
    },
    Command {
        name: "Copy for a model: the open row, or the run",
        key: "y",
        can: |_| keyed("y").is_some(),
        act: |_| click(keyed("y")),
    },
    Command {
        name: "How to go on",
        key: "",
        can: |app| in_run(app) && button(".band .go-on-open").is_some(),
        act: |app| app.sheet.set(Some(Sheet::GoOn)),
    },
    Command {
        name: "About this run",
        key: "",
        can: in_run,
        act: |app| app.sheet.set(Some(Sheet::About)),
    },
    Command {
        name: "Share a copy",
        key: "",
        can: |_| button(SHARE).is_some(),
        act: |_| click(button(SHARE)),
    },
    Command {
        name: "Mark the run to compare it",
        key: "x",
        can: |app| in_run(app) || at_home(app),
        act: mark,
    },
    Command {
        name: "Compare the two marked runs",
        key: "c",
        can: |app| at_home(app) || in_run(app),
        act: |app| {
            app.compare();
        },
    },
    Command {
        name: "Compare with another file",
        key: "",
        can: |app| in_run(app) && !app.follow.served.get_untracked(),
        act: |_| pick_beside(),
    },
    Command {
        name: "Fold or unfold rows that succeeded",
        key: "e",
        can: |app| app.route.read_untracked().is_trace(),
        act: |app| {
            app.move_in_list(Move::FoldWell);
        },
    },
    Command {
        name: "Query with SQL",
        key: "q",
        can: in_run,
        act: sql,
    },
    Command {
        name: "Follow changes, or pause; reload what has changed",
        key: "w",
        can: |app| app.follow.served.get_untracked() || is_outdated(app),
        act: follow,
    },
    Command {
        name: "All runs",
        key: "g",
        can: |app| matches!(*app.desk.read_untracked(), Desk::Open(_)),
        act: |app| app.go(Route::Home),
    },
    Command {
        name: "Find a text, a page, a run, a command",
        key: "Ctrl K",
        can: |_| true,
        act: |app| app.finder.update(|shown| *shown = !*shown),
    },
    Command {
        name: "Filter the list of runs; elsewhere, find",
        key: "/",
        can: |_| true,
        act: |app| {
            if !(at_home(app) && focus("input[type=search]")) {
                app.finder.set(true);
            }
        },
    },
    Command {
        name: "Open files",
        key: "Ctrl O",
        can: |_| true,
        act: |_| pick_files(),
    },
    Command {
        name: "Open a folder",
        key: "",
        can: |_| true,
        act: |_| pick_folder(),
    },
    Command {
        name: "Print the page with all rows",
        key: "Ctrl P",
        can: |_| true,
        act: App::print,
    },
    Command {
        name: "Theme: light, dark, or as the system",
        key: "",
        can: |_| button(THEME).is_some(),
        act: |_| click(button(THEME)),
    },
    Command {
        name: "Keys",
        key: "?",
        can: |_| true,
        act: |app| app.help.set(true),
    },
];

/// The buttons that commands press.
const SHARE: &str = ".share-open:enabled";
const THEME: &str = ".theme";

/// Returns the command that a key press stands for, if it can be used.
pub(crate) fn pressed(app: App, event: &KeyboardEvent) -> Option<&'static Command> {
    if event.alt_key() {
        return None;
    }
    let key = event.key();
    let key = match event.ctrl_key() || event.meta_key() {
        true => format!("Ctrl {}", key.to_uppercase()),
        false => key,
    };
    let mut commands = COMMANDS.iter();
    commands.find(|command| command.key == key && (command.can)(app))
}

fn in_run(app: App) -> bool {
    matches!(*app.route.read_untracked(), Route::Run { .. })
}

fn at_home(app: App) -> bool {
    *app.route.read_untracked() == Route::Home
        && matches!(*app.desk.read_untracked(), Desk::Open(_))
}

fn is_outdated(app: App) -> bool {
    app.follow.outdated.read_untracked().is_some()
}

/// Returns the first button that matches a CSS selector.
fn button(selector: &str) -> Option<HtmlElement> {
    let button = document().query_selector(selector).ok().flatten();
    button?.dyn_into().ok()
}

/// Returns the button with this key, in the detail of the open row or else in the band of the run.
fn keyed(key: &str) -> Option<HtmlElement> {
    let own = button(&format!(".detail [data-key={key}]"));
    own.or_else(|| button(&format!(".band [data-key={key}]")))
}

fn click(button: Option<HtmlElement>) {
    if let Some(button) = button {
        button.click();
    }
}

/// Marks a run for comparison: the open run, or the current row in the list of runs.
fn mark(app: App) {
    let Route::Run { run, .. } = app.route.get_untracked() else {
        app.move_in_list(Move::Mark);
        return;
    };
    let place = match &*app.desk.read_untracked() {
        Desk::Open(list) => find(list, &run),
        _ => None,
    };
    let Some(place) = place else { return };
    app.pair(&place);
    app.say(match app.paired.read_untracked().contains(&place) {
        true => {
            "This run is marked. To compare it, mark another run in the list (g, x), then press c"
        }
        false => "This run is no longer marked",
    });
}

/// Opens the page for SQL; on that page, goes to the query field.
fn sql(app: App) {
    if !focus("#sql")
        && let Route::Run { run, .. } = app.route.get_untracked()
    {
        app.go(Route::page(&run, Page::Sql));
        focus("main");
    }
}

/// Pauses or continues following changes. If dropped files have changed, opens them again instead.
fn follow(app: App) {
    if is_outdated(app) {
        app.open_again();
    } else {
        app.follow.toggle();
    }
}
