//! Finds the failures of a run, and opens the trace at a failure from any page.

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::{NodeRef, Overview, RunPart};

use super::item_of;
use crate::protocol::{Request, Trouble};
use crate::route::{Page, Route};
use crate::ui::state::{App, Desk, find};

/// Returns the next failure of a run after `node`, or the previous one if `forward` is false. Without a node, the
/// search starts at the beginning or the end of the trace.
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

/// Goes to the first failure of a run, or to the last if `forward` is false. If nothing failed, goes to the run's
/// position. `key` is the run's id or path in the address.
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
            // The error is not shown here, because the page itself shows it.
            Err(_) => {}
        }
    });
}

/// Shows a message that nothing failed, as far as the run could be read. Returns the node at the run's position, if
/// there is one.
pub(super) async fn none(app: App, place: String) -> Option<NodeRef> {
    let request = Request::Page {
        place,
        page: pages::Page::Overview,
    };
    let overview: Overview = app.ask(request).await.ok()?;
    app.say(match overview.is_unread(RunPart::Statements) {
        true => "No failure in the statements that could be read",
        false => "No statement failed",
    });
    overview.positions.into_iter().next()
}
