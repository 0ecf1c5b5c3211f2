//! Draws the band above all pages of a run: one sentence with the run's status, the reason, one line of facts, and
//! buttons for the next step. The submodules draw the answer, the gates, and the sheets that the buttons open.

mod about;
mod answer;
mod decide;
mod gate;
mod model;
mod resume;

use leptos::prelude::*;
use prosescope_core::model::time::{Stamp, human_duration};
use prosescope_core::pages::view::{
    AGAINST, GateView, NodeRef, Overview, RunPart, RunSummary, icon,
};

use super::pages::{coded, item_of};
use super::parts::{Go, SharedNote, link, live, tone_class};
use super::sheet::sheet;
use super::state::{App, Sheet, ShownRun};
use crate::route::Page;
use crate::text::words;

/// The maximum number of links to statements, if a run is active at several statements.
const PLACES: usize = 4;

/// Draws the band above all pages of a run.
#[component]
pub(crate) fn Band() -> impl IntoView {
    let (app, run) = (App::get(), ShownRun::get());
    let told = live(move || match run.overview.get() {
        None => run.line().map(draw_while_reading),
        Some(Err(_)) => None,
        Some(Ok(overview)) => Some(status_and_facts(&overview)),
    });
    on_cleanup(move || app.sheet.set(None));
    let acts = Memo::new(move |_| Some(Acts::of(&run.overview.get()?.ok()?)));
    let outputs = Memo::new(move |_| {
        let overview = run.overview.get()?.ok()?;
        Some((overview.outputs, overview.last_value))
    });
    let is_trace = Memo::new(move |_| app.route.read().is_trace());
    view! {
        <section class="band" aria-label="Status of the run">
            <UnreadNote/>
            <div class="verdict">
                <div class="told-it">{told}</div>
                {live(move || acts.get().map(|acts| acts.draw(app)))}
            </div>
            <SharedNote/>
            {live(move || is_trace.get().then(|| outputs.get().map(|(outputs, last)| answer::draw(outputs, last))))}
        </section>
        {live(move || app.sheet.get().map(|shown| open(app, shown)))}
    }
}

fn open(app: App, shown: Sheet) -> AnyView {
    let close = move || app.sheet.set(None);
    match shown {
        Sheet::GoOn => sheet("How to go on", close, resume::draw()),
        Sheet::About => sheet("About this run", close, about::draw()),
        Sheet::Gate(id, decision) => sheet(decision.title(), close, gate::sheet(id, decision)),
        Sheet::Model(node) => sheet("Copy for a model", close, model::draw(node)),
    }
}

/// Draws the known facts of a large run while it is being read.
fn draw_while_reading(line: RunSummary) -> AnyView {
    let word = match line.stale {
        true => super::shell::SILENT.to_owned(),
        false => line.status.clone(),
    };
    let reason = words::first_upper(&line.reason);
    let reason = match reason.is_empty() {
        true => "The run is being read.".to_owned(),
        false => format!("{reason}. The rest of the run is being read."),
    };
    view! {
        {headline(&line.status, words::first_upper(&word).into_any())}
        <p class="reason soft">{reason}</p>
        <p class="meta">{span(line.started.as_ref(), line.last_sign.as_ref())}</p>
    }
    .into_any()
}

fn headline(status: &str, words: AnyView) -> AnyView {
    let class = format!("glyph {}", tone_class(status));
    view! {
        <h1><i class=class role="img" aria-label=status.to_owned()>{icon(status)}</i><span dir="auto">{words}</span></h1>
    }
    .into_any()
}

/// Draws the status, the reason and the facts.
fn status_and_facts(overview: &Overview) -> AnyView {
    let run = ShownRun::get();
    let is_late = overview.pending_gates.iter().any(|gate| gate.overdue);
    let tone = match (overview.stale, is_late) {
        _ if overview.against.is_some() => AGAINST,
        (true, _) => "stale",
        (_, true) if overview.status == "waiting" => "timeout",
        _ => &overview.status,
    };
    let place = overview.failure.as_ref().map(|failure| &failure.cause);
    let place = place.or(overview.positions.first());
    let words = match place {
        Some(node) => {
            let to = run.item(Page::Trace, item_of(node)).to_string();
            view! { <a href=to>{overview.headline.clone()}</a> }.into_any()
        }
        None => overview.headline.clone().into_any(),
    };
    let gates = &overview.pending_gates;
    view! {
        {headline(tone, words)}
        {gates.iter().map(|of| gate::asked(of, gates.len() > 1)).collect_view()}
        {reason(overview)}
        {(overview.position_count > 1).then(|| places(&overview.positions, overview.position_count))}
        <p class="meta">{facts(overview)}</p>
    }
    .into_any()
}

/// Draws the reason for the status. The facts are left out, because they are on the next line.
fn reason(overview: &Overview) -> Option<AnyView> {
    let failed = overview.status == "failed";
    let error = overview.failure.as_ref().filter(|_| failed).map(|failure| {
        let error = failure.error.clone();
        let error = error.unwrap_or_else(|| "No error message was recorded".to_owned());
        // The story follows in the same paragraph.
        let ends = error.ends_with(['.', '!', '?', ':', '…']);
        format!("{error}{}", if ends { "" } else { "." })
    });
    let story = overview
        .story
        .iter()
        .skip(usize::from(is_counted(overview)));
    let story: Vec<AnyView> = story.map(|sentence| coded(sentence)).collect();
    let missing = overview.missing.as_deref();
    let missing = missing.map(|missing| format!("{}.", words::first_upper(missing)));
    let is_said = error.is_some() || !story.is_empty() || missing.is_some();
    is_said.then(|| {
        view! {
            <p class="reason">{error.map(|error| view! { <span class="error-says" dir="auto">{error}</span>" " })}
                <span class="soft">{story}{missing}</span></p>
        }
        .into_any()
    })
}

/// Returns whether the first sentence of [`Overview::story`] counts the statements. Such a sentence is shown among the
/// facts instead.
fn is_counted(overview: &Overview) -> bool {
    overview.statements > 0 && !(overview.status == "completed" && overview.failure.is_some())
}

fn places(nodes: &[NodeRef], many: u32) -> AnyView {
    let run = ShownRun::get();
    let links = nodes.iter().take(PLACES).map(|node| {
        let to = run.item(Page::Trace, item_of(node));
        view! { <li>{link(to, node.text.as_str())}</li> }
    });
    let more = (many as usize).saturating_sub(PLACES);
    let more = (more > 0).then(|| view! { <li class="faint">"and "{more}" more"</li> });
    view! { <ul class="places">{links.collect_view()}{more}</ul> }.into_any()
}

/// Draws the line of facts: times, duration, and the number of statements.
fn facts(overview: &Overview) -> AnyView {
    let app = App::get();
    let (started, last) = (overview.started.as_ref(), overview.last_sign.as_ref());
    let from = |what: &str, from: &Option<String>| match from {
        Some(from) => format!("{what}: by {from}"),
        None => String::new(),
    };
    let title = [
        from("Start", &overview.started_from),
        from("End", &overview.last_sign_from),
    ];
    let title = words::joined(title);
    let failure = overview
        .failure
        .as_ref()
        .filter(|_| overview.status == "failed");
    let part = failure.and_then(|failure| failure.percent);
    let part = part.filter(|percent| *percent > 0);
    let part = part.map_or_else(String::new, |percent| {
        format!(", {percent} % of it in this statement")
    });
    let took = overview
        .duration
        .clone()
        .map(|took| format!("{took}{part}"));
    let fact = |words: String| view! { <span dir="auto">{words}</span> };
    let began = started.and_then(Stamp::millis);
    let took = match began.filter(|_| overview.is_alive) {
        // It goes on beside the clock of the running row.
        Some(began) => {
            let so_far = move || human_duration((app.clock.get() - began).max(0) / 1000 * 1000);
            Some(view! { <span>{so_far}" so far"</span> }.into_any())
        }
        // How long the run went on before it waited would stand beside how long it has been waiting.
        None => took
            .filter(|_| overview.status != "waiting")
            .map(|took| fact(took).into_any()),
    };
    let is_over = matches!(&*overview.status, "completed" | "failed");
    let ago = overview.last_sign_ago.clone().filter(|_| !is_over);
    let counted = overview.story.first().filter(|_| is_counted(overview));
    let counted = counted.map(|sentence| sentence.trim_end_matches('.').to_owned());
    // This note is for unread times only. If no times are recorded, the trace itself reports that.
    let untimed = overview
        .is_unread(RunPart::Statements)
        .then_some("the times of statements could not be read");
    let when = match (started, last, overview.file_changed.as_ref()) {
        (None, None, Some(changed)) => format!(
            "no time recorded; a file of the run changed on {} (copying a file changes that date)",
            words::day(changed)
        ),
        (None, None, None) => format!("times {}", overview.no_time()),
        _ => span(started, last),
    };
    let disagree = (!overview.claims.is_empty()).then(|| {
        view! { <button class="in-text wait-words" on:click=move |_| app.sheet.set(Some(Sheet::About))>"sources disagree about the status"</button> }
    });
    view! {
        <span title=title>{when}</span>
        {took}
        {ago.map(|ago| fact(format!("last sign of life {ago}")))}
        {counted.map(fact)}
        {untimed.map(|words| fact(words.to_owned()))}
        {(overview.is_alive && !app.follow.served.get()).then(|| fact("read once: prosescope view follows the run".to_owned()))}
        {disagree}
        <button class="in-text" on:click=move |_| app.sheet.set(Some(Sheet::About))>"About this run"</button>
    }
    .into_any()
}

/// Formats a time range: `18 Jan 2026 20:15 – 21:23 UTC`.
fn span(started: Option<&Stamp>, last: Option<&Stamp>) -> String {
    let of = |stamp: &Stamp| match words::day(stamp) {
        day if day.is_empty() => stamp.to_string(),
        day => format!("{day} {}", words::minute(stamp)),
    };
    let zone = |stamp: &Stamp| match stamp {
        Stamp::At(_) => " UTC",
        _ => "",
    };
    match (started, last) {
        (Some(from), Some(to)) if from == to => format!("{}{}", of(from), zone(from)),
        (Some(from), Some(to)) => {
            let is_same_day = words::day(from) == words::day(to) && !words::day(to).is_empty();
            let end = if is_same_day {
                words::minute(to)
            } else {
                of(to)
            };
            format!("{} – {end}{}", of(from), zone(to))
        }
        (Some(from), None) => format!("since {}{}", of(from), zone(from)),
        (None, Some(to)) => format!("until {}{}", of(to), zone(to)),
        (None, None) => String::new(),
    }
}

/// The buttons for the possible next steps. They are redrawn only when one of them changes, so that a button keeps the
/// focus while a run continues.
#[derive(Debug, Clone, PartialEq)]
struct Acts {
    /// The id of the waiting gate, and whether its deadline has passed; `None` unless exactly one gate waits.
    gate: Option<(String, bool)>,
    /// The number of waiting gates.
    gates: usize,
    /// The label of the button that opens the plan, and whether this button is the main one. `None` without such a
    /// button.
    resume: Option<(String, bool)>,
    /// Whether to offer the run's text for a model: the run is not completed and has a trace.
    is_model: bool,
    /// The number of the binding with the run's first output; `None` without an output.
    answer: Option<u32>,
}

impl Acts {
    fn of(overview: &Overview) -> Acts {
        let is_over = overview.status == "completed";
        let waits: &[GateView] = if is_over {
            &[]
        } else {
            &overview.pending_gates
        };
        let gate = match waits {
            [gate] => Some((gate.id.clone(), gate.overdue)),
            _ => None,
        };
        let place = overview.failure.as_ref().map(|failure| &failure.cause);
        let place = place.or(overview.positions.first()).filter(|_| !is_over);
        let line = overview.line();
        let says = match (place, line) {
            // To go on now would start a second model on the same run.
            (Some(_), _) if overview.is_alive => Some("What to do if it hangs…".to_owned()),
            (Some(_), Some(line)) => Some(format!("Go on from line {line}…")),
            (Some(_), None) => Some("How to go on…".to_owned()),
            (None, _) if overview.left.is_empty() || is_over => None,
            (None, _) => Some("What to do next…".to_owned()),
        };
        Acts {
            gates: waits.len(),
            // Continuing is not offered while a gate waits, because the gate must be decided first.
            resume: says
                .filter(|_| waits.is_empty())
                .map(|says| (says, place.is_some() && !overview.is_alive)),
            is_model: !is_over && overview.trace_nodes > 0,
            answer: overview
                .outputs
                .first()
                .or(overview.last_value.as_ref())
                .map(|output| output.binding),
            gate,
        }
    }

    fn draw(self, app: App) -> AnyView {
        let run = ShownRun::get();
        let opens = move |sheet: Sheet| move |_| app.sheet.set(Some(sheet.clone()));
        let gate = self.gate.map(|(id, late)| gate::buttons(app, id, late));
        let gates = (self.gates > 1).then(|| {
            let to = run.page(Page::Gates).to_string();
            view! { <a class="button primary" data-key="a" title="Decide the gates (a)" href=to>"Decide "{self.gates}" gates…"</a> }
        });
        let resume = self.resume.map(|(says, first)| {
            view! { <button class="go-on-open" class:primary=first on:click=opens(Sheet::GoOn)>{says}</button> }
        });
        let model = self.is_model.then(|| {
            view! { <button title="Copy for a model (y)" data-key="y" on:click=opens(Sheet::Model(None))>"Copy for a model"</button> }
        });
        let answer = self.answer.map(answer::copy);
        view! { <div class="acts">{model}{answer}{resume}{gates}{gate}</div> }.into_any()
    }
}

/// Draws a warning about the parts of the run that could not be read. It is above all pages, because each of them may
/// be incomplete.
#[component]
fn UnreadNote() -> impl IntoView {
    let run = ShownRun::get();
    let unread = Memo::new(move |_| {
        run.overview.with(|overview| match overview {
            Some(Ok(overview)) => overview.unread.clone(),
            _ => Vec::new(),
        })
    });
    live(move || {
        let unread = unread.get();
        let first = unread.first()?.clone();
        let more = unread.len() - 1;
        Some(view! {
            <section class="unread" role="alert">
                <p><b>"Could not be read: "<code>{first.what}</code></b>" "{coded(&words::first_upper(&first.why))}". "
                    <span class="soft">"Rows may be missing. "{coded(&first.next)}</span>
                    {(more > 0).then(|| view! {
                        " "<Go to=run.page(Page::Issues)>"and "{words::count(more as u64)}" more"</Go>
                    })}
                </p>
            </section>
        })
    })
}
