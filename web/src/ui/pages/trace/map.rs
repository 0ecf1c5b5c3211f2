//! Draws a small map of the whole time axis of a long run: busy times, failures, and the visible part.

use leptos::prelude::*;
use prosescope_core::pages::view::Dense;
use web_sys::PointerEvent;

use super::axis::Axis;
use crate::text::axis::VisiblePart;
use crate::ui::parts::part_of;

/// Draws the map of a long run's time axis; draws nothing for a short run. Dragging in the map selects the visible
/// part.
#[component]
pub(super) fn Map(axis: Axis) -> impl IntoView {
    let begun = StoredValue::new(None::<f64>);
    let down = move |event: PointerEvent| begun.set_value(part_of(&event));
    let moved = move |event: PointerEvent| {
        if event.buttons() == 1
            && let (Some(from), Some(to)) = (begun.get_value(), part_of(&event))
        {
            axis.seen.set(VisiblePart::between(from, to));
        }
    };
    let parts = Memo::new(move |_| {
        axis.timeline.with(|timeline| {
            let timeline = timeline.as_ref();
            timeline.map_or_else(Vec::new, |timeline| timeline.dense.clone())
        })
    });
    let part = |of: &Dense| {
        view! { <i class:b=of.failed style:height=format!("{}%", of.busy)></i> }
    };
    let left = move || format!("{:.2}%", axis.seen.get().from * 100.0);
    let width = move || format!("{:.2}%", axis.seen.get().len * 100.0);
    move || {
        let parts = parts.get();
        (!parts.is_empty()).then(|| {
            view! {
                <span class="map" title="The whole run: drag to see a part of it" on:pointerdown=down on:pointermove=moved>
                    {parts.iter().map(part).collect_view()}
                    <b style:left=left style:width=width></b>
                </span>
            }
        })
    }
}
