//! The line between a list and what is open beside it: drawn by the pointer, or moved by the arrow keys.

use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

use super::parts::matches;
use super::state::App;

/// The narrowest that what is open may be, in pixels.
const LEAST: f64 = 320.0;

/// How wide it is beside a trace, unless somebody made it another.
const USUAL: f64 = 476.0;

/// From the left edge of what is pressed to the line that is seen.
const MIDDLE: f64 = 5.0;

/// How much the list keeps, in pixels.
const LIST: f64 = 360.0;

/// How far an arrow key moves the line, in pixels.
const STEP: f64 = 24.0;

/// The line; where something covers the list there is none.
#[component]
pub(super) fn Divider() -> impl IntoView {
    let app = App::get();
    let drawn = RwSignal::new(false);
    // From the right edge of both to a place in the window.
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
        // Without it the line is lost when the pointer is quicker.
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
    let wide = matches("(min-width: 1000px)");
    wide.then(|| view! {
        <div class="divider" role="separator" tabindex="0" aria-orientation="vertical" aria-label="Width of what is open"
            title="Draw it, or press the arrow keys; a double click makes it as it was" class:drawn=drawn
            aria-valuenow=move || format!("{:.0}", app.beside.get().unwrap_or(USUAL))
            on:pointerdown=take on:pointermove=draw on:pointerup=move |_| drawn.set(false)
            on:pointercancel=move |_| drawn.set(false) on:dblclick=move |_| app.beside.set(None) on:keydown=step></div>
    })
}
