//! Keeps the filter and the order of the list of runs. They are part of the page's address, so that links and the
//! browser's Back restore them.

use leptos::prelude::*;
use prosescope_core::model::time::{DAY, Stamp};
use prosescope_core::pages::session::{Filter, ListOrder};

/// The possible orders of the list, each with its name in the address and its label.
pub(crate) const ORDERS: [(&str, &str, ListOrder); 6] = [
    ("newest", "Newest first", ListOrder::Newest),
    ("oldest", "Oldest first", ListOrder::Oldest),
    ("problems", "Problems first", ListOrder::Problems),
    ("longest", "Longest first", ListOrder::Duration),
    ("status", "By status", ListOrder::Status),
    ("program", "By program", ListOrder::Program),
];

/// The value of [`Choice::workflows`] that selects workflows with a run that waits for input, whatever their status.
pub(crate) const WAITING: &str = "waiting";

/// The filter and the order of the list of runs, and the filter of the list of workflows.
#[derive(Clone, Copy, Default)]
pub(crate) struct Choice {
    /// The filter that the user typed. It may contain words of the program, of the id or of the error, statuses and
    /// days.
    pub(crate) words: RwSignal<String>,
    /// The error message that the shown runs must have, ignoring numbers; empty for any.
    pub(crate) why: RwSignal<String>,
    /// The status that runs must have; empty for any.
    pub(crate) status: RwSignal<String>,
    /// The first day of runs to show, as `2026-01-25`; empty for any.
    pub(crate) since: RwSignal<String>,
    /// The last day of runs to show; empty for any.
    pub(crate) until: RwSignal<String>,
    /// The index of the order in [`ORDERS`].
    pub(crate) order: RwSignal<usize>,
    /// The status that workflows must have, or [`WAITING`].
    pub(crate) workflows: RwSignal<String>,
}

/// A part of the filter for runs that has a control of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FilterPart {
    Status,
    Days,
    Why,
}

impl Choice {
    /// Clears the filters of runs and of workflows.
    pub(crate) fn clear(self) {
        for text in [self.words, self.why, self.status, self.since, self.until] {
            text.set(String::new());
        }
        self.workflows.set(String::new());
    }

    /// Returns the filter for runs.
    pub(crate) fn filter(self) -> Filter {
        let status = self.status.get();
        // A day begins and ends in UTC, because times without a zone count as UTC, too.
        let day = |text: RwSignal<String>| Stamp::parse(&text.get()).millis();
        let typed = Filter::of_words(&self.words.get(), Some(super::clock::now()));
        let chosen = (!status.is_empty()).then_some(status).into_iter().collect();
        Filter {
            status: if typed.status.is_empty() {
                chosen
            } else {
                typed.status
            },
            since: day(self.since).or(typed.since),
            before: day(self.until)
                .map(|day| day.saturating_add(DAY))
                .or(typed.before),
            why: Some(self.why.get()).filter(|why| !why.is_empty()),
            ..typed
        }
    }

    /// Returns the filter for runs without one of its parts, for the control that chooses this part: it offers all that
    /// the other parts leave.
    pub(crate) fn filter_but(self, part: FilterPart) -> Filter {
        let filter = self.filter();
        match part {
            FilterPart::Status => Filter {
                status: Vec::new(),
                ..filter
            },
            FilterPart::Days => Filter {
                since: None,
                before: None,
                ..filter
            },
            FilterPart::Why => Filter {
                why: None,
                ..filter
            },
        }
    }

    /// Returns the order of the list of runs.
    pub(crate) fn order(self) -> ListOrder {
        let order = ORDERS.get(self.order.get());
        order.map(|(_, _, order)| *order).unwrap_or_default()
    }

    /// Switches to the next order in `orders`, as on a click on a column's heading. If the present order is not in
    /// `orders`, switches to the first order in it.
    pub(crate) fn order_by(self, orders: &[ListOrder]) {
        let now = self.order.get_untracked();
        let places: Vec<usize> = orders
            .iter()
            .filter_map(|order| ORDERS.iter().position(|(_, _, known)| known == order))
            .collect();
        let next = places
            .iter()
            .position(|at| *at == now)
            .map_or(0, |at| at + 1);
        if let Some(at) = places.get(next % places.len().max(1)) {
            self.order.set(*at);
        }
    }

    /// Returns the keys and values for the address. Values at their default are left out.
    pub(crate) fn pairs(self) -> Vec<(&'static str, String)> {
        let order = ORDERS
            .get(self.order.get())
            .filter(|_| self.order.get() > 0);
        let pairs = [
            ("q", self.words.get()),
            ("why", self.why.get()),
            ("status", self.status.get()),
            ("since", self.since.get()),
            ("until", self.until.get()),
            ("order", order.map_or("", |(word, ..)| word).to_owned()),
        ];
        let said = pairs.into_iter().filter(|(_, value)| !value.is_empty());
        said.collect()
    }

    /// Restores the filter and the order from the address.
    pub(crate) fn take(self, pairs: &[(String, String)]) {
        let of = |key: &str| {
            let pair = pairs.iter().find(|(known, _)| known == key);
            pair.map_or_else(String::new, |(_, value)| value.clone())
        };
        for (text, key) in [
            (self.words, "q"),
            (self.why, "why"),
            (self.status, "status"),
            (self.since, "since"),
            (self.until, "until"),
        ] {
            text.set(of(key));
        }
        let order = of("order");
        let order = ORDERS.iter().position(|(word, ..)| *word == order);
        self.order.set(order.unwrap_or_default());
    }
}
