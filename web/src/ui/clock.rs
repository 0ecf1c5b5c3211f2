//! Keeps the one clock of the page: every age and deadline on it is drawn from this clock, so that none stands still.

use std::time::Duration;

use leptos::prelude::*;
use prosescope_core::model::time::Stamp;
use prosescope_core::model::timeout::expires_in;
use prosescope_core::pages::view::Overview;

use super::state::App;

/// The interval in which the clock moves.
const TICK: Duration = Duration::from_secs(1);

/// The longest time after which an answer is requested again. A browser cannot wait for more than 24 days.
const LONGEST: i64 = 86_400_000;

/// Returns the current time in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    js_sys::Date::now() as i64
}

/// Moves the clock of the page from now on.
pub(super) fn start(app: App) {
    set_interval(move || app.clock.set(now()), TICK);
}

/// Calls `again` each time that an overview became untrue because time passed.
pub(super) fn renew(
    overview: impl Fn() -> Option<Overview> + Send + Sync + 'static,
    again: impl Fn() + Copy + 'static,
) {
    let waiting = StoredValue::new(None::<TimeoutHandle>);
    let stop = move || {
        if let Some(Some(waiting)) = waiting.try_update_value(Option::take) {
            waiting.clear();
        }
    };
    Effect::new(move || {
        stop();
        let true_for = overview().and_then(|overview| overview.true_for_ms);
        waiting.set_value(true_for.and_then(|ms| {
            let after = Duration::from_millis(ms.clamp(1, LONGEST).unsigned_abs());
            set_timeout_with_handle(again, after).ok()
        }));
    });
    on_cleanup(stop);
}

/// Draws the time until a deadline, or since: `expires in 3h 12m`.
pub(super) fn left(deadline: &Stamp) -> Option<AnyView> {
    let (app, deadline) = (App::get(), deadline.millis()?);
    Some((move || expires_in(deadline, app.clock.get())).into_any())
}
