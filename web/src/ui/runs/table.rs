//! Draws the table of runs: one row per run, with columns by which the user can sort.

use leptos::prelude::*;
use prosescope_core::model::time::{DAY, Stamp};
use prosescope_core::pages::session::{ListOrder, began, day_of};
use prosescope_core::pages::view::{AGAINST, RunList, RunSummary, TokenCount, icon};

use super::days::words_of;
use crate::route::{Page, Route};
use crate::text::words;
use crate::ui::follow::Carry;
use crate::ui::list::{Cursor, ListCommand, Mark, Pages, Rows, Stretch};
use crate::ui::parts::{is_small, live, tone_class};
use crate::ui::shell::{SILENT, name_of};
use crate::ui::state::{App, key};

/// The height of a row, in pixels. On narrow and touch screens a row has two lines and the height [`TALL_ROW`].
const ROW: f64 = 28.0;
const TALL_ROW: f64 = 48.0;

#[component]
pub(super) fn Table(
    /// All runs.
    list: Memo<RunList>,
    /// The filtered runs, in order.
    shown: Memo<Vec<RunSummary>>,
    /// The keys and values of the filter in the address.
    chosen: Signal<Vec<(&'static str, String)>>,
) -> impl IntoView {
    let app = App::get();
    let pages = Pages::new(move |from, len| {
        let stretch = shown.with_untracked(|runs| Stretch {
            rows: runs
                .iter()
                .skip(from as usize)
                .take(len as usize)
                .cloned()
                .collect(),
            total: runs.len() as u64,
        });
        std::future::ready(Ok(stretch))
    });
    let cursor = Cursor::new();
    // The list is not drawn anew when its rows change, so it keeps the focus. After a change of the filter, the list
    // scrolls to the current run, or to the first run if the current one is filtered out. When runs arrive without a
    // change of the filter, the visible rows stay in place.
    Effect::new(move |before: Option<Vec<(&'static str, String)>>| {
        shown.track();
        let now = chosen.get();
        let place_of = |at: u64| {
            let run = pages.peek(at)?;
            shown.with_untracked(|runs| runs.iter().position(|r| r.place == run.place))
        };
        let at = place_of(cursor.at.get_untracked()).map(|at| at as u64);
        match before {
            None => {
                let last = app.shown_last.get_value();
                let at = shown.with_untracked(|runs| {
                    runs.iter().position(|r| Some(&r.place) == last.as_ref())
                });
                if let Some(at) = at {
                    cursor.go(at as u64);
                }
            }
            Some(before) if before != now => {
                pages.renew();
                cursor.go(at.unwrap_or(0));
            }
            Some(_) => {
                let stood = cursor.stand();
                let top = place_of(stood.top).map(|at| at as u64);
                cursor.carry(Carry::new(stood, at, top));
                pages.renew();
            }
        }
        now
    });
    let on_key = Callback::new(
        move |(pressed, _, run): (ListCommand, u64, Option<RunSummary>)| {
            let Some(run) = run else { return };
            match pressed {
                ListCommand::Enter => {
                    let key = list.with_untracked(|list| key(list, &run));
                    app.go(Route::page(&key, Page::Trace));
                }
                ListCommand::Mark => app.pair(&run.place),
                _ => {}
            }
        },
    );
    let mark = move |run: &RunSummary| Mark {
        fresh: app.follow.is_new_run(&run.place),
        selected: app.paired.read().contains(&run.place),
        ..Mark::default()
    };
    // In an order by time, only the first row of each day shows the day. In other orders, each row shows its day.
    let by_day = move || matches!(app.choice.order(), ListOrder::Newest | ListOrder::Oldest);
    let draw = move |at: u64, run: &RunSummary| {
        let above = at.checked_sub(1).and_then(|at| pages.peek(at));
        let same = |above: RunSummary| by_day() && day_of(&above) == day_of(run);
        draw_row(app, run, above.is_some_and(same))
    };
    let small = is_small();
    move || {
        let head = view! {
            {sorting("Day, UTC", "wide", &[ListOrder::Newest, ListOrder::Oldest])}
            <span role="columnheader"><span class="away">"Status"</span></span>
            {sorting("Program", "", &[ListOrder::Program])}
            {sorting("Result", "wide", &[ListOrder::Problems])}
            <span role="columnheader" class="wide num">"Started"</span>
            {sorting("Took", "num", &[ListOrder::Duration])}
            <span role="columnheader" class="wide">"Run"</span>
            <span role="columnheader" class="pick"><span class="away">"Compare"</span></span>
        };
        let height = if small.get() { TALL_ROW } else { ROW };
        view! {
            <Rows
                pages height label="Runs" class="run-rows" cursor head=head.into_any()
                draw=draw mark=mark on_key=on_key
            />
        }
    }
}

/// Draws the head of a column. A click orders the list by the first of `orders`, the next click by the second, and so
/// on.
fn sorting(name: &'static str, class: &'static str, orders: &'static [ListOrder]) -> AnyView {
    let choice = App::get().choice;
    let sorted = move || match choice.order() {
        now if !orders.contains(&now) => None,
        ListOrder::Newest | ListOrder::Duration | ListOrder::Problems => Some("descending"),
        _ => Some("ascending"),
    };
    view! {
        <span role="columnheader" class=class aria-sort=sorted>
            <button class="plain sort" on:click=move |_| choice.order_by(orders)>{name}</button>
        </span>
    }
    .into_any()
}

/// Returns the words for a run's result: the error, what the run wrote or the reason for its status, with waiting gates
/// and issues. The flag is true if the run needs no attention.
fn result_of(run: &RunSummary, now: i64) -> (String, bool) {
    let mut to_do = Vec::new();
    let waits = run.waits.as_ref().map(|gate| gate.words(now));
    let is_waiting = run.status == "waiting";
    let more = run.pending_gates - u32::from(waits.is_some() && is_waiting);
    if more > 0 {
        let other = if more < run.pending_gates {
            "other "
        } else {
            ""
        };
        let gates = [format!("{other}gate waits"), format!("{other}gates wait")];
        to_do.push(words::counted(more.into(), &gates[0], &gates[1]));
    }
    let serious = run.issues.error + run.issues.warning;
    if serious > 0 {
        to_do.push(words::counted(serious.into(), "issue", "issues"));
    }
    let wrote = run.wrote.as_ref().map(|wrote| format!("Wrote {wrote}"));
    let against = run.against.as_deref().map(words::first_upper);
    let (said, fine) = match (&run.error, &run.failure, wrote) {
        (None, ..) if against.is_some() => (against.unwrap_or_default(), false),
        (Some(error), ..) => (error.clone(), false),
        (None, Some(failure), _) if run.status == "failed" => (failure.clone(), false),
        (None, _, Some(wrote)) => (wrote, true),
        (None, ..) if is_waiting && waits.is_some() => (waits.unwrap_or_default(), false),
        (None, ..) => (words::first_upper(&run.reason), run.status == "completed"),
    };
    (words::joined([said, to_do.join(", ")]), fine)
}

fn draw_row(app: App, run: &RunSummary, same_day: bool) -> AnyView {
    let Some(gate) = run.waits.clone() else {
        return cells(app, run, same_day, false);
    };
    let run = run.clone();
    let is_late = Memo::new(move |_| gate.is_overdue(app.clock.get()));
    live(move || cells(app, &run, same_day, is_late.get()))
}

/// Draws the cells of a row. `is_late`: the deadline of the gate at which the run waits has passed.
fn cells(app: App, run: &RunSummary, same_day: bool, is_late: bool) -> AnyView {
    let now = app.clock.get_untracked();
    let (place, marked) = (run.place.clone(), run.place.clone());
    let program = run.program.clone();
    let name = program.as_deref().map_or_else(|| run.title(), name_of);
    let (said, fine) = result_of(run, now);
    let about = match &run.head_only {
        Some(left_out) => format!("{said}; {left_out}"),
        None => said.clone(),
    };
    let (word, status) = match &run.error {
        Some(_) => ("unreadable", "failed"),
        None if run.against.is_some() => (&*run.status, AGAINST),
        None if run.stale => (SILENT, "stale"),
        None if run.status == "waiting" && is_late => (&*run.status, "timeout"),
        None => (&*run.status, &*run.status),
    };
    let day = day_of(run).filter(|_| !same_day);
    let day = day.map(|day| match now.div_euclid(DAY) - day {
        0 => "Today".to_owned(),
        1 => "Yesterday".to_owned(),
        _ => words_of(day),
    });
    let started = run.started.as_ref();
    // The day and the time of day are of one source, by which the list is ordered.
    let clock = began(run).map(|at| words::minute(&Stamp::At(at)));
    let when = match (started, &run.file_changed) {
        (Some(at), _) => words::joined([
            words::moment(at),
            run.age
                .as_ref()
                .map_or_else(String::new, |age| format!("{age} ago")),
            run.started_from
                .as_ref()
                .map_or_else(String::new, |from| format!("by {from}")),
        ]),
        (None, Some(at)) => format!(
            "not recorded; a file of the run changed on {} (copying a file changes that date)",
            words::day(at)
        ),
        (None, None) => "not recorded".to_owned(),
    };
    // On a narrow screen, this text replaces the columns that are hidden.
    let day_words = day_of(run).map(words_of).filter(|_| said.is_empty());
    let brief = words::joined([day_words.unwrap_or_default(), said.clone()]);
    view! {
        <span role="gridcell" class="wide day-of" class:again=same_day>{day}</span>
        <span role="gridcell"><i class=format!("glyph {}", tone_class(status)) role="img" title=word.to_owned() aria-label=word.to_owned()>{icon(status)}</i></span>
        <span role="gridcell" class="two" title=program.unwrap_or_default()>
            <b dir="auto">{name}</b><small class="narrow-only" dir="auto" class:bad-words=run.error.is_some()>{brief}</small>
        </span>
        <span role="gridcell" class="wide cut came" class:fine=fine title=about dir="auto">{said}</span>
        <span role="gridcell" class="wide num" title=when>{clock.unwrap_or_else(|| "–".to_owned())}</span>
        <span role="gridcell" class="num" title=run.tokens.as_ref().map(TokenCount::words)>{run.duration.clone().unwrap_or_else(|| "–".to_owned())}</span>
        <span role="gridcell" class="wide mono cut faint" title=run.place.clone()>{run.title()}</span>
        <span role="gridcell" class="pick"><button class="plain mark-run" tabindex="-1" title="Mark to compare (x)" aria-label="Mark to compare"
            aria-pressed=move || app.paired.read().contains(&place).to_string()
            on:click=move |event| {
                event.stop_propagation();
                app.pair(&marked);
            }></button></span>
    }
    .into_any()
}
