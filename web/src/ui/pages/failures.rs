//! Goes to failures from any page of a run.

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::session::pages;
use prosescope_core::view::{NodeRef, Overview, Part};

use super::item_of;
use crate::protocol::{Request, Trouble};
use crate::route::{Page, Route};
use crate::ui::state::{App, Desk, find};

/// Returns the next failure of a run, starting from a node (`None`: from the beginning or the end).
pub(super) async fn next(
    app: App,
    place: String,
    node: Option<u32>,
    forward: bool,
) -> Result<Option<NodeRef>, Trouble> {
    let request = Request::NextFailure {
        place,
        node,
        forward,
    };
    app.ask(request).await
}

/// Goes to the first or last failure in the run with this key; without failures, to where the run is now.
pub(crate) fn go(app: App, key: String, forward: bool) {
    spawn_local(async move {
        let place = match &*app.desk.read_untracked() {
            Desk::Open(list) => find(list, &key),
            _ => None,
        };
        let Some(place) = place else { return };
        match next(app, place.clone(), None, forward).await {
            Ok(Some(node)) => app.go(Route::item(&key, Page::Trace, item_of(&node))),
            Ok(None) => {
                if let Some(node) = none(app, place).await {
                    app.go(Route::item(&key, Page::Trace, item_of(&node)));
                }
            }
            // The page that is shown reports the error, so this need not.
            Err(_) => {}
        }
    });
}

/// Shows that nothing failed, as far as the run could be read; returns where the run is now.
pub(super) async fn none(app: App, place: String) -> Option<NodeRef> {
    let request = Request::Page {
        place,
        page: pages::Page::Overview,
    };
    let overview: Overview = app.ask(request).await.ok()?;
    app.say(match overview.is_unread(Part::Statements) {
        true => "No failure in what could be read",
        false => "No statement failed",
    });
    overview.positions.into_iter().next()
}
