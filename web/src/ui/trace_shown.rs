//! What of a trace is shown, and how: it outlives the page, so that Back comes back to it.

use leptos::prelude::*;
use prosescope_core::session::pages::{TraceChoice, TraceOrder};

/// How far one step zooms in.
pub(crate) const CLOSER: f64 = 2.0 / 3.0;

/// The least part of an axis that is seen at once.
const CLOSEST: f64 = 0.0005;

/// What of the trace of the run that is looked at is shown; cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct TraceShown {
    /// Which rows, in which order.
    pub(crate) choice: RwSignal<TraceChoice>,
    /// Whether the timeline stands beside the rows.
    pub(crate) timed: RwSignal<bool>,
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
            (
                "view",
                if self.timed.get() { "timeline" } else { "" }.to_owned(),
            ),
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
        let timed = of("view") == "timeline";
        if self.timed.get_untracked() != timed {
            self.timed.set(timed);
        }
        self.is_linked.set_value(true);
    }

    /// Zooms by a step of the keyboard or of a button.
    pub(crate) fn zoom(self, closer: bool) {
        let factor = if closer { CLOSER } else { 1.0 / CLOSER };
        self.seen.update(|seen| *seen = seen.zoomed(factor, 0.5));
    }
}

/// What of an axis is seen, in parts of its length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    /// Where it begins.
    pub(crate) from: f64,
    /// How much.
    pub(crate) len: f64,
}

impl Seen {
    /// All of it.
    pub(crate) const ALL: Seen = Seen {
        from: 0.0,
        len: 1.0,
    };

    /// Closer, with `factor` below 1, or farther. What lies at `at`, a part of what is seen, stays there.
    pub(crate) fn zoomed(self, factor: f64, at: f64) -> Seen {
        let len = (self.len * factor).clamp(CLOSEST, 1.0);
        let from = self.from + at * (self.len - len);
        Seen { from, len }.inside()
    }

    /// Moved by a part of what is seen.
    pub(crate) fn moved(self, by: f64) -> Seen {
        let from = self.from + by * self.len;
        Seen { from, ..self }.inside()
    }

    fn inside(self) -> Seen {
        let from = self.from.clamp(0.0, 1.0 - self.len);
        Seen { from, ..self }
    }

    /// Where a place of the axis is, in percent of what is seen.
    pub(crate) fn percent(self, place: u64, of: u64) -> f64 {
        (place as f64 / of.max(1) as f64 - self.from) / self.len * 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zooming_keeps_what_the_pointer_is_at_and_stays_inside() {
        let half = Seen::ALL.zoomed(0.5, 1.0);
        assert_eq!(
            half,
            Seen {
                from: 0.5,
                len: 0.5
            }
        );
        assert_eq!(half.percent(75, 100), 50.0);
        assert_eq!(half.moved(1.0), half, "nothing lies behind the end");
        assert_eq!(
            half.moved(-1.0),
            Seen {
                from: 0.0,
                len: 0.5
            }
        );
        assert_eq!(half.zoomed(8.0, 0.0), Seen::ALL);
        let closest = (0..100).fold(Seen::ALL, |seen, _| seen.zoomed(0.5, 0.3));
        assert_eq!(closest.len, CLOSEST);
    }
}
