//! What of a trace is shown, and how: it outlives the page, so that Back comes back to it.

use leptos::prelude::*;
use prosescope_core::session::pages::{TraceChoice, TraceOrder};

use crate::text::axis::{CLOSER, Seen};

/// What of the trace of the run that is looked at is shown; cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct TraceShown {
    /// Which rows, in which order.
    pub(crate) choice: RwSignal<TraceChoice>,
    /// Whether the rows have times, and stand beside an axis.
    pub(crate) timed: RwSignal<bool>,
    /// Whether somebody closed what is opened beside it from the start.
    pub(crate) shut: RwSignal<bool>,
    /// What of its axis is seen.
    pub(crate) seen: RwSignal<Seen>,
    /// Where the run lies.
    place: StoredValue<String>,
    /// The address said what is shown of the run that comes next.
    is_linked: StoredValue<bool>,
}

/// Orders, by their words in the address.
const ORDERS: [(&str, TraceOrder); 2] = [
    ("longest", TraceOrder::Longest),
    ("problems", TraceOrder::Problems),
];

impl TraceShown {
    /// All rows, and no timeline.
    pub(crate) fn new() -> TraceShown {
        TraceShown {
            choice: RwSignal::new(TraceChoice::default()),
            timed: RwSignal::new(false),
            shut: RwSignal::new(false),
            seen: RwSignal::new(Seen::ALL),
            place: StoredValue::new(String::new()),
            is_linked: StoredValue::new(false),
        }
    }

    /// A run is looked at: of another one all rows are shown.
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
            self.seen.set(Seen::ALL);
        }
    }

    /// As the address has it; what is as usual is left out.
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

    /// Takes it from the address.
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

    /// Zooms by a step of the keyboard or of a button.
    pub(crate) fn zoom(self, closer: bool) {
        let factor = if closer { CLOSER } else { 1.0 / CLOSER };
        self.seen.update(|seen| *seen = seen.zoomed(factor, 0.5));
    }
}
