//! Draws above the list of runs the number of runs per day, and the most frequent reasons of failures.

use leptos::ev::PointerEvent;
use leptos::prelude::*;
use prosescope_core::model::time::{DAY, Stamp};
use prosescope_core::pages::session::{DayOfRuns, Filter, WhyFailed, days, why_failed};
use prosescope_core::pages::view::RunList;

use crate::text::words;
use crate::ui::choice::{Choice, FilterPart};
use crate::ui::parts::part_of;

/// The largest ([`MOST`]) number of bars of the chart, and the smallest ([`FEWEST`]) if each stands for a day.
const MOST: i64 = 61;
const FEWEST: i64 = 14;

/// The number of reasons of failures that are shown.
const REASONS: usize = 4;

/// The days that the chart shows.
#[derive(Debug, Clone, PartialEq)]
struct Drawn {
    first: i64,
    /// The number of days that a bar stands for.
    step: i64,
    days: Vec<DayOfRuns>,
    /// The number of runs without a time.
    others: u64,
}

/// Draws a bar for each day, and the reasons of failures. Clicking or dragging filters the list.
#[component]
pub(super) fn Days(list: Memo<RunList>, choice: Choice) -> impl IntoView {
    let drawn = Memo::new(move |_| {
        let filter = choice.filter_but(FilterPart::Days);
        list.with(|list| of(list, &filter))
    });
    let why = Memo::new(move |_| {
        let filter = choice.filter_but(FilterPart::Why);
        list.with(|list| why_failed(list.runs.iter().filter(|run| filter.wants(run))))
    });
    // The index of the day on which the user began to drag; `None` if the user is not dragging.
    let begun = StoredValue::new(None::<i64>);
    let choose = move |drawn: &Drawn, from: i64, to: i64| {
        let (from, to) = (from.min(to), from.max(to));
        choice.since.set(iso(drawn.first + from * drawn.step));
        choice
            .until
            .set(iso(drawn.first + (to + 1) * drawn.step - 1));
    };
    let at = move |event: &PointerEvent, drawn: &Drawn| {
        let part = part_of(event)?;
        let many = drawn.days.len() as f64;
        Some(((part * many) as i64).clamp(0, drawn.days.len() as i64 - 1))
    };
    let down = move |event: PointerEvent| {
        drawn.with_untracked(|drawn| {
            let drawn = drawn.as_ref()?;
            let place = at(&event, drawn)?;
            begun.set_value(Some(place));
            choose(drawn, place, place);
            Some(())
        });
    };
    let moved = move |event: PointerEvent| {
        if event.buttons() == 0 {
            begun.set_value(None);
        }
        drawn.with_untracked(|drawn| {
            let (drawn, from) = (drawn.as_ref()?, begun.get_value()?);
            choose(drawn, from, at(&event, drawn)?);
            Some(())
        });
    };
    let bars = move || {
        drawn.get().map(|drawn| {
            let most = drawn.days.iter().map(|day| day.all).max().unwrap_or(1).max(1);
            let step = drawn.step;
            let chosen = move |day: i64| {
                let (day, last) = (iso(day), iso(day + step - 1));
                let (since, until) = (choice.since.read(), choice.until.read());
                !since.is_empty() && *since <= last && (until.is_empty() || day <= *until)
            };
            let bar = |of: &DayOfRuns| {
                let of = *of;
                let part = |count: u32| format!("{:.1}%", f64::from(count) / f64::from(most) * 100.0);
                let until = match step {
                    1 => String::new(),
                    step => format!(" to {}", iso(of.day + step - 1)),
                };
                let title = format!(
                    "{}{until}: {}, {} failed",
                    iso(of.day),
                    words::counted(of.all.into(), "run", "runs"),
                    of.failed
                );
                view! {
                    <span class:in=move || chosen(of.day) title=title>
                        <i class="b" style:height=part(of.failed)></i>
                        <i class="w" style:height=part(of.waiting)></i>
                        <i class="o" style:height=part(of.all - of.failed - of.waiting)></i>
                    </span>
                }
            };
            let all: u64 = drawn.days.iter().map(|day| u64::from(day.all)).sum();
            let failed: u64 = drawn.days.iter().map(|day| u64::from(day.failed)).sum();
            let every = match step {
                1 => "Runs a day".to_owned(),
                7 => "Runs a week".to_owned(),
                step => format!("Runs in {step} days each"),
            };
            let said = format!("{every}: {all} in all, {failed} failed. Type dates or “last week” to choose days.");
            let (from, to) = (drawn.first, drawn.first + drawn.days.len() as i64 * step - 1);
            let others = (drawn.others > 0).then(|| {
                view! { <span>{words::counted(drawn.others, "undated run", "undated runs")}</span> }
            });
            view! {
                <section class="days-of-runs">
                    <h2>{every}<small>"UTC · drag to choose"</small>
                        <span class="key"><i class="o"></i>"completed"<i class="b"></i>"failed"<i class="w"></i>"waiting or stopped"</span></h2>
                    <div class="days" role="img" aria-label=said on:pointerdown=down on:pointermove=moved>
                        {drawn.days.iter().map(bar).collect_view()}
                    </div>
                    <p class="dl"><span>{words_of(from)}</span>{others}<span>{words_of(to)}</span></p>
                </section>
            }
        })
    };
    let reasons = move || {
        let why = why.get();
        let failed: u32 = why.iter().map(|why| why.count).sum();
        (!why.is_empty()).then(|| {
            let more = why.len().saturating_sub(REASONS);
            let more = (more > 0).then(|| view! { <li class="faint">"and "{words::counted(more as u64, "other reason", "other reasons")}</li> });
            view! {
                <section class="causes">
                    <h2>"Why "{words::count(failed.into())}" failed"</h2>
                    <ul>{why.iter().take(REASONS).map(|why| reason(why, choice)).collect_view()}{more}</ul>
                </section>
            }
        })
    };
    view! { <div class="when">{bars}{reasons}</div> }
}

fn reason(why: &WhyFailed, choice: Choice) -> AnyView {
    let (pattern, title, message) = (
        why.pattern.clone(),
        why.message.clone(),
        why.message.clone(),
    );
    let of = pattern.clone();
    let last = why
        .last
        .map(|at| format!("last on {}", words_of(at.div_euclid(DAY))));
    view! {
        <li><button class="plain" title=title aria-pressed=move || (*choice.why.read() == of).to_string()
            on:click=move |_| choice.why.update(|now| *now = if *now == pattern { String::new() } else { pattern.clone() })>
            <b>{words::count(why.count.into())}</b><span class="cut" dir="auto">{message}</span><small>{last}</small>
        </button></li>
    }
    .into_any()
}

/// Returns the days to show, from the oldest run to the newest, with the runs that the filter wants. Returns `None` if
/// all runs began on one day, or if no times are recorded.
fn of(list: &RunList, filter: &Filter) -> Option<Drawn> {
    let known = days(&list.runs);
    let (oldest, newest) = (known.first()?.day, known.last()?.day);
    if oldest == newest {
        return None;
    }
    let span = newest - oldest + 1;
    let step = match (span + MOST - 1) / MOST {
        1 => 1,
        // A bar for weeks is easier to read than one for four days.
        2..=7 => 7,
        step => step,
    };
    let many = ((span + step - 1) / step).max(if step == 1 { FEWEST } else { 1 });
    let first = newest - many * step + 1;
    let mut drawn: Vec<DayOfRuns> = (0..many)
        .map(|at| DayOfRuns {
            day: first + at * step,
            ..DayOfRuns::default()
        })
        .collect();
    let mut counted = 0;
    for of in days(list.runs.iter().filter(|run| filter.wants(run))) {
        let at = usize::try_from((of.day - first) / step).ok();
        if let Some(bar) = at.and_then(|at| drawn.get_mut(at)) {
            bar.all += of.all;
            bar.failed += of.failed;
            bar.waiting += of.waiting;
            counted += u64::from(of.all);
        }
    }
    let wanted = list.runs.iter().filter(|run| filter.wants(run)).count() as u64;
    Some(Drawn {
        first,
        step,
        days: drawn,
        others: wanted.saturating_sub(counted),
    })
}

fn stamp(day: i64) -> Stamp {
    Stamp::At(day.saturating_mul(DAY))
}

/// Formats a day as in the address: `2026-01-18`.
fn iso(day: i64) -> String {
    stamp(day).to_string().chars().take(10).collect()
}

/// Formats a day in words: `18 Jan 2026`.
pub(super) fn words_of(day: i64) -> String {
    words::day(&stamp(day))
}
