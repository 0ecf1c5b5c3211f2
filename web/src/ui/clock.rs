//! Keeps the one clock of the page: every age and deadline on it is drawn from this clock, so that none stands still.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::model::timeout::expires_in;
use prosescope_core::pages::view::{GateView, Overview};

use super::load::LoadState;
use super::state::App;
use crate::protocol::Request;

/// The interval in which the clock moves.
const TICK: Duration = Duration::from_secs(1);

/// Returns the current time in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    js_sys::Date::now() as i64
}

/// Moves the clock of the page from now on.
pub(super) fn start(app: App) {
    set_interval(move || app.clock.set(now()), TICK);
}

/// Requests an overview again each time that it became untrue because time passed. A page that is paused or that nobody
/// sees waits with it.
pub(super) fn renew(answer: LoadState<Overview>, request: Request) {
    let app = App::get();
    let due = StoredValue::new(None::<i64>);
    Effect::new(move || {
        let true_for = answer.with(|answer| answer.as_ref()?.as_ref().ok()?.true_for_ms);
        due.set_value(true_for.map(|ms| now().saturating_add(ms)));
    });
    Effect::new(move || {
        let now = app.clock.get();
        let is_due = due.get_value().is_some_and(|due| due <= now);
        if !is_due || !app.follow.on.get_untracked() || document().hidden() {
            return;
        }
        due.set_value(None);
        app.forget();
        let (request, edition) = (request.clone(), app.follow.edition.get_untracked());
        spawn_local(async move {
            // An error changes nothing: a server that ended does not make what is shown wrong. If the run was read again
            // meanwhile, a newer answer is on its way.
            if let Ok(overview) = app.ask(request).await
                && app.follow.edition.get_untracked() == edition
            {
                // The user may have left the run.
                answer.try_set(Some(Ok(overview)));
            }
        });
    });
}

/// Draws the time until the deadline of a waiting gate, or since: `expires in 3h 12m`. `None` without a deadline or after
/// a decision.
pub(super) fn left(gate: &GateView) -> Option<AnyView> {
    let deadline = gate.deadline.as_ref().filter(|_| gate.remaining.is_some());
    let (app, deadline) = (App::get(), deadline?.millis()?);
    Some((move || expires_in(deadline, app.clock.get())).into_any())
}
