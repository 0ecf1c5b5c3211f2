//! Draws the line between a list and the open item beside it. The pointer and the arrow keys move the line.

use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

use super::detail::WIDE;
use super::parts::matches;
use super::state::App;

/// The smallest width of the open item, in pixels.
const LEAST: f64 = 320.0;

/// The default width of the item beside a trace, in pixels.
const USUAL: f64 = 476.0;

/// The distance from the left edge of the area that can be dragged to the visible line, in pixels.
const MIDDLE: f64 = 5.0;

/// The smallest width of the list, in pixels.
const LIST: f64 = 360.0;

/// The distance that an arrow key moves the line, in pixels.
const STEP: f64 = 24.0;

/// Draws the line. Phones have no line, because the open item covers the list.
#[component]
pub(super) fn Divider() -> impl IntoView {
    let app = App::get();
    let drawn = RwSignal::new(false);
    // Sets the width of the open item. `x` is the pointer's position in the window, `None` for a key. `by` is the
    // change by a key, in pixels.
    let place = move |of: &web_sys::Event, x: Option<f64>, by: f64| {
        let line = of.current_target()?.dyn_into::<web_sys::Element>().ok()?;
        let both = line.parent_element()?.get_bounding_client_rect();
        let now = both.right() - x.unwrap_or(line.get_bounding_client_rect().left() + MIDDLE);
        let most = (both.width() - LIST).max(LEAST);
        app.beside.set(Some((now + by).clamp(LEAST, most)));
        Some(())
    };
    let take = move |event: web_sys::PointerEvent| {
        let line = event.current_target();
        let line = line.and_then(|line| line.dyn_into::<web_sys::Element>().ok());
        // Without pointer capture, a fast pointer would leave the line and stop the drag.
        let held = line.map(|line| line.set_pointer_capture(event.pointer_id()));
        drawn.set(held.is_some_and(|held| held.is_ok()));
        event.prevent_default();
    };
    let draw = move |event: web_sys::PointerEvent| {
        if drawn.get_untracked() {
            place(&event, Some(f64::from(event.client_x())), 0.0);
        }
    };
    let step = move |event: web_sys::KeyboardEvent| {
        let by = match &*event.key() {
            "ArrowLeft" => STEP,
            "ArrowRight" => -STEP,
            "Home" | "Enter" => return app.beside.set(None),
            _ => return,
        };
        event.prevent_default();
        event.stop_propagation();
        place(&event, None, by);
    };
    matches(WIDE).then(|| view! {
        <div class="divider" role="separator" tabindex="0" aria-orientation="vertical" aria-label="Width of the detail"
            title="Drag, or press the arrow keys, to change the width; double-click to reset the width" class:drawn=drawn
            aria-valuenow=move || format!("{:.0}", app.beside.get().unwrap_or(USUAL))
            on:pointerdown=take on:pointermove=draw on:pointerup=move |_| drawn.set(false)
            on:pointercancel=move |_| drawn.set(false) on:dblclick=move |_| app.beside.set(None) on:keydown=step></div>
    })
}
