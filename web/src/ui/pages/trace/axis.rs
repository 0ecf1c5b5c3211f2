//! Draws the timeline beside the trace: a bar with the time of each row, and the axis, of which a part is visible.

use leptos::ev::{MouseEvent, WheelEvent};
use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::model::time::human_duration;
use prosescope_core::pages::session::pages::TraceOrder;
use prosescope_core::pages::view::{Bar, BarEnd, Overview, Timeline};
use wasm_bindgen::JsCast as _;

use super::Tree;
use super::map::Map;
use crate::protocol::Request;
use crate::text::axis::{CLOSER, Tick, VisiblePart, ticks};
use crate::text::words;
use crate::ui::parts::{live, tone_class};
use crate::ui::state::App;

/// The axis of the shown run, and its visible part. The axis is `None` until the answer arrives.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    pub(super) timeline: RwSignal<Option<Timeline>>,
    /// For how many milliseconds a run that is alive has gone on since its last sign of life. The axis grows with it.
    since: Memo<u64>,
    /// The same, also for a run that waits at a gate. The axis does not grow while a run waits, perhaps for days.
    open_for: Memo<u64>,
    pub(super) seen: RwSignal<VisiblePart>,
}

impl Axis {
    /// Creates an axis. Requests its times when the timeline is shown, and again when the run is reread.
    pub(super) fn new(tree: Tree) -> Axis {
        let app = tree.app;
        let timeline: RwSignal<Option<Timeline>> = RwSignal::new(None);
        let passed = move |goes_on: fn(&Overview) -> bool| {
            let goes_on = app.trace.timed.get()
                && (tree.run.overview)
                    .with(|overview| matches!(overview, Some(Ok(overview)) if goes_on(overview)));
            let until = timeline.with(|timeline| timeline.as_ref()?.until.as_ref()?.millis());
            until.filter(|_| goes_on).map_or(0, |until| {
                app.clock.get().saturating_sub(until).max(0).unsigned_abs()
            })
        };
        let axis = Axis {
            timeline,
            since: Memo::new(move |_| passed(|overview| overview.is_alive)),
            open_for: Memo::new(move |_| passed(|of| of.is_alive || of.status == "waiting")),
            seen: app.trace.seen,
        };
        Effect::new(move || {
            app.follow.edition.track();
            if !app.trace.timed.get() {
                return;
            }
            let place = tree.run.place();
            spawn_local(async move {
                if let Ok(timeline) = app.ask::<Timeline>(Request::Timeline { place }).await {
                    // `try_set` is used, because the user may have left the page.
                    axis.timeline.try_set(Some(timeline));
                }
            });
        });
        axis
    }

    /// Handles the mouse wheel: zooms at the pointer with Ctrl, moves with Shift.
    pub(super) fn on_wheel(self, event: &WheelEvent) {
        let down = if event.delta_y() == 0.0 {
            event.delta_x()
        } else {
            event.delta_y()
        };
        if event.ctrl_key() || event.meta_key() {
            let factor = if down < 0.0 { CLOSER } else { 1.0 / CLOSER };
            let at = pointed(event);
            self.seen.update(|seen| *seen = seen.zoomed(factor, at));
        } else if event.shift_key() {
            self.seen
                .update(|seen| *seen = seen.moved(down.signum() * 0.15));
        } else {
            return;
        }
        event.prevent_default();
    }

    /// Draws the bar of a row, with words for screen readers. If `holds` is true, the row has children, and its bar is
    /// fainter.
    pub(super) fn lane(self, bar: Option<Bar>, status: &str, holds: bool) -> AnyView {
        let Some(bar) = bar else {
            return view! { <span role="gridcell" class="lane" title="No time is recorded"></span> }.into_any();
        };
        let at = move |place| self.seen.get().percent(place, self.len());
        let left = move || format!("{:.3}%", at(bar.from));
        let width = move || format!("{:.3}%", at(self.until(&bar)) - at(bar.from));
        let said = move || {
            self.timeline
                .with(|timeline| timeline.as_ref().map(|timeline| words_of(timeline, &bar)))
        };
        let end = match bar.end {
            BarEnd::Recorded | BarEnd::Inner => "",
            BarEnd::Open => " open-end",
            BarEnd::Unknown => " no-end",
        };
        let again = if status == "recovered" { " again" } else { "" };
        let end = format!("stretch {}{again}{end}", tone_class(status));
        view! {
            <span role="gridcell" class="lane" title=said>
                <span class=end class:holds=holds class:critical=move || bar.critical && self.is_critical_known() style:left=left style:width=width></span>
                <span class="away">{said}</span>
            </span>
        }
        .into_any()
    }

    /// Zooms the axis to a row, if its time is known.
    pub(super) fn fill(self, app: App, bar: Option<Bar>) {
        match bar {
            Some(bar) => self
                .seen
                .set(VisiblePart::around(bar.from, bar.until, self.len())),
            None => app.say("No time is recorded for this row"),
        }
    }

    /// Returns the duration of a row in words. If no duration is recorded, returns the time from the first start to the
    /// last end of its children.
    pub(super) fn lasted(self, bar: Option<Bar>, recorded: Option<&str>) -> Option<String> {
        let inner = bar.filter(|bar| bar.end == BarEnd::Inner);
        let of_bar = |bar: Bar| {
            self.timeline.with(|timeline| {
                let timeline = timeline.as_ref()?;
                Some(duration(
                    timeline
                        .passed(bar.until)
                        .saturating_sub(timeline.passed(bar.from)),
                ))
            })
        };
        recorded.map(str::to_owned).or_else(|| of_bar(inner?))
    }

    /// Draws the duration of a row.
    pub(super) fn took(self, bar: Option<Bar>, recorded: Option<String>) -> AnyView {
        match (recorded, bar) {
            (Some(recorded), _) => recorded.into_any(),
            (None, Some(bar)) if bar.end == BarEnd::Inner => {
                view! { <span class="faint" title="From the first start to the last end of the rows inside of this row">{move || self.lasted(Some(bar), None)}</span> }.into_any()
            }
            (None, Some(bar)) if bar.end == BarEnd::Open => live(move || {
                (self.open_for.get() > 0).then(|| {
                    let so_far = self.timeline.with(|timeline| {
                        let timeline = timeline.as_ref()?;
                        Some(timeline.passed(bar.until) - timeline.passed(bar.from))
                    });
                    let so_far = duration((so_far.unwrap_or(0) + self.open_for.get()) / 1000 * 1000);
                    view! { <span class="faint" title="It has not ended, as far as is recorded">{so_far}</span> }
                })
            }),
            (None, Some(_)) => ().into_any(),
            (None, None) => view! { <span class="untimed">"no time"</span> }.into_any(),
        }
    }

    /// Returns whether to mark the rows that the run's end waited for. No row is marked if the run was sequential,
    /// because its end waited for all rows, or if the records do not show whether the run was sequential.
    fn is_critical_known(self) -> bool {
        let sequential = |timeline: &Option<Timeline>| timeline.as_ref()?.sequential;
        self.timeline.with(sequential) == Some(false)
    }

    fn len(self) -> u64 {
        let len =
            |timeline: &Option<Timeline>| timeline.as_ref().map_or(1, |timeline| timeline.len);
        self.timeline.with(len) + self.since.get()
    }

    /// Returns where a bar ends on the axis. The bar of a row that is running grows.
    fn until(self, bar: &Bar) -> u64 {
        match bar.end {
            BarEnd::Open => bar.until + self.since.get(),
            _ => bar.until,
        }
    }

    /// Returns the labels in the visible part of the axis.
    fn marks(self) -> Vec<Tick> {
        let (seen, len) = (self.seen.get(), self.len());
        self.timeline.with(|timeline| {
            let ticks = timeline.as_ref().map(|timeline| ticks(timeline, len, seen));
            ticks.unwrap_or_default()
        })
    }

    /// Draws the labels along the axis, above the bars. For a long run, also draws the map of the whole axis.
    pub(super) fn ticks(self) -> AnyView {
        let tick = |tick: Tick| {
            view! { <span class="tick" style:left=format!("{:.3}%", tick.at)>{tick.words}</span> }
        };
        let ticks = move || self.marks().into_iter().map(tick).collect_view();
        view! { <span role="columnheader" class="lane" aria-label="When"><Map axis=self/>{ticks}</span> }.into_any()
    }

    /// Returns the CSS background behind all bars: a line at each label, and a stripe at each shortened idle time.
    pub(super) fn background(self) -> String {
        let (seen, len) = (self.seen.get(), self.len());
        let stripe = |from: f64, until: String, colour: &str| {
            format!(
                "linear-gradient(90deg,transparent {from:.3}%,var({colour}) 0 {until},transparent 0)"
            )
        };
        let gaps = self.timeline.with(|timeline| {
            let timeline = timeline.as_ref()?;
            let gap = timeline.gaps.iter().map(|gap| {
                let from = seen.percent(gap.at, len);
                let until = seen.percent(gap.at + gap.drawn, len).max(from + 0.4);
                stripe(from, format!("{until:.3}%"), "--line-strong")
            });
            Some(gap.collect::<Vec<_>>())
        });
        let marks = self.marks().into_iter();
        let marks =
            marks.map(|tick| stripe(tick.at, format!("calc({:.3}% + 1px)", tick.at), "--line"));
        let stripes: Vec<String> = gaps.into_iter().flatten().chain(marks).collect();
        match stripes.is_empty() {
            true => "none".to_owned(),
            false => stripes.join(","),
        }
    }
}

/// Returns the horizontal position of the pointer in a lane of the timeline, from 0 to 1. Returns the middle, 0.5, if
/// the pointer is not in a lane.
fn pointed(event: &MouseEvent) -> f64 {
    let target = event
        .target()
        .and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    let lane = target.and_then(|target| target.closest(".lane").ok().flatten());
    let part = lane.map(|lane| {
        let there = lane.get_bounding_client_rect();
        (f64::from(event.client_x()) - there.left()) / there.width()
    });
    part.filter(|part| part.is_finite()).unwrap_or(0.5)
}

fn duration(millis: u64) -> String {
    human_duration(i64::try_from(millis).unwrap_or(i64::MAX))
}

/// Returns the words for when a row ran: `began after 5s, took 2m`.
fn words_of(timeline: &Timeline, bar: &Bar) -> String {
    let (from, until) = (timeline.passed(bar.from), timeline.passed(bar.until));
    let began = format!("began after {}", duration(from));
    let took = duration(until.saturating_sub(from));
    let ended = match bar.end {
        BarEnd::Recorded | BarEnd::Inner => format!("took {took}"),
        BarEnd::Open => {
            format!("had not ended {took} later, when the run gave its last sign of life")
        }
        BarEnd::Unknown => "no end is recorded".to_owned(),
    };
    let critical = if bar.critical && timeline.sequential == Some(false) {
        "; the run's end waited for this row"
    } else {
        ""
    };
    format!("{began}, {ended}{critical}")
}

/// Draws the remarks about the axis: shortened idle times, rows without times, and the meaning of marked rows.
#[component]
pub(super) fn About(axis: Axis) -> impl IntoView {
    let app = App::get();
    let draw = move || {
        let timeline = axis.timeline.get()?;
        let idle: Vec<String> = timeline.gaps.iter().map(|gap| gap.len.clone()).collect();
        let idle =
            (!idle.is_empty()).then(|| format!("Idle times, drawn shorter: {}.", idle.join(", ")));
        let untimed = (timeline.untimed > 0).then(|| {
            let rows = words::counted(timeline.untimed.into(), "row has", "rows have");
            format!("{rows} no time.")
        });
        let waited = (timeline.sequential == Some(false))
            .then(|| view! { <span><span class="key"></span>"the run's end waited for these rows"</span> });
        let unknown = timeline
            .sequential
            .is_none()
            .then_some("Branches without times may have run in parallel.");
        let is_longest = app.trace.choice.read().order == TraceOrder::Longest;
        let last = is_longest.then_some(
            "Calls and loops come after all statements: their time is that of the rows in them.",
        );
        let says = [
            idle.is_some(),
            untimed.is_some(),
            waited.is_some(),
            unknown.is_some(),
        ];
        let says = says.contains(&true) || is_longest;
        says.then(|| {
            view! { <p class="about-time">{last}" "{idle}" "{untimed}" "{unknown}" "{waited}</p> }
                .into_any()
        })
    };
    view! { {draw} }
}
