//! Keeps the filter and the view of the trace. They outlive the page of the trace, so that the browser's Back restores
//! them.

use leptos::prelude::*;
use prosescope_core::pages::session::pages::{TraceChoice, TraceOrder};

use crate::text::axis::{CLOSER, VisiblePart};

/// The filter and the view of the shown run's trace. It consists of signals and is cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct TraceShown {
    /// The filter and the order of the rows.
    pub(crate) choice: RwSignal<TraceChoice>,
    /// Whether rows have times and bars on an axis.
    pub(crate) timed: RwSignal<bool>,
    /// Whether the user closed the item that is open from the start.
    pub(crate) shut: RwSignal<bool>,
    /// The visible part of the axis.
    pub(crate) seen: RwSignal<VisiblePart>,
    /// The path of the run to which this view belongs.
    place: StoredValue<String>,
    /// Whether the filter comes from a link. The run that is opened next then keeps the filter.
    is_linked: StoredValue<bool>,
}

/// The orders of rows that the address can contain, by their names in the address.
const ORDERS: [(&str, TraceOrder); 2] = [
    ("longest", TraceOrder::Longest),
    ("problems", TraceOrder::Problems),
];

impl TraceShown {
    /// Creates a view with all rows and without a timeline.
    pub(crate) fn new() -> TraceShown {
        TraceShown {
            choice: RwSignal::new(TraceChoice::default()),
            timed: RwSignal::new(false),
            shut: RwSignal::new(false),
            seen: RwSignal::new(VisiblePart::ALL),
            place: StoredValue::new(String::new()),
            is_linked: StoredValue::new(false),
        }
    }

    /// Starts the view of a run. For another run than before, all rows and the whole axis are shown again, unless a
    /// link contained a filter.
    pub(crate) fn begin(self, place: &str) {
        let is_other = self.place.with_value(|before| before != place);
        let is_linked = self
            .is_linked
            .try_update_value(std::mem::take)
            .unwrap_or(false);
        self.place.set_value(place.to_owned());
        if is_other {
            self.shut.set(false);
        }
        if is_other && !is_linked {
            self.choice.set(TraceChoice::default());
            self.seen.set(VisiblePart::ALL);
        }
    }

    /// Returns the keys and values for the address. Values at their default are left out.
    pub(crate) fn pairs(self) -> Vec<(&'static str, String)> {
        let choice = self.choice.get();
        let order = ORDERS.iter().find(|(_, order)| *order == choice.order);
        let pairs = [
            ("text", choice.text),
            ("status", choice.status),
            ("kind", choice.kind),
            (
                "least",
                choice
                    .at_least_ms
                    .map_or_else(String::new, |ms| ms.to_string()),
            ),
            ("order", order.map_or("", |(word, _)| word).to_owned()),
        ];
        pairs
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .collect()
    }

    /// Restores the filter and the order from the keys and values of an address.
    pub(crate) fn take(self, pairs: &[(String, String)]) {
        let of = |key: &str| {
            let pair = pairs.iter().find(|(known, _)| known == key);
            pair.map_or_else(String::new, |(_, value)| value.clone())
        };
        let order = ORDERS.iter().find(|(word, _)| *word == of("order"));
        let choice = TraceChoice {
            text: of("text"),
            status: of("status"),
            kind: of("kind"),
            at_least_ms: of("least").parse().ok(),
            order: order.map(|(_, order)| *order).unwrap_or_default(),
        };
        if *self.choice.read_untracked() != choice {
            self.choice.set(choice);
        }
        self.is_linked.set_value(true);
    }

    /// Zooms by one step.
    pub(crate) fn zoom(self, closer: bool) {
        let factor = if closer { CLOSER } else { 1.0 / CLOSER };
        self.seen.update(|seen| *seen = seen.zoomed(factor, 0.5));
    }
}
