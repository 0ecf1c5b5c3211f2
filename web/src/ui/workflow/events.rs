//! Draws the events of a workflow in its thread: a list for each run, and a list of all events. The open event is drawn
//! below its list.

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_workflow::MOST_EVENTS;
use prosescope_workflow::page::EventShown;

use super::ShownWorkflow;
use super::shown::{fold, hash_of, opened, others};
use super::thread::scroll_to;
use crate::protocol::{Request, WindowRow};
use crate::route::InThread;
use crate::text::words;
use crate::ui::detail::close;
use crate::ui::icons;
use crate::ui::list::{Cursor, ListCommand};
use crate::ui::load::{ask, loaded};
use crate::ui::parts::{Empty, Go, When, live, pairs};
use crate::ui::state::App;
use crate::ui::workflows::{Lines, lines, short_id};

/// Draws the events of a run, with a heading.
pub(super) fn of_run(run: String) -> AnyView {
    let shown = ShownWorkflow::get();
    let id = run.clone();
    let is_none = Memo::new(move |_| shown.count_of(Some(&id)) == Some(0));
    live(move || {
        match is_none.get() {
        true => view! { <h3>"Events"</h3><p class="faint">"None: the run reported nothing, or its events were pruned."</p> }.into_any(),
        false => view! { <h3>"Events"</h3>{list(Some(run.clone()))} }.into_any(),
    }
    })
}

/// Draws the list of all events, including events without a run, in a folded element.
pub(super) fn all() -> AnyView {
    let shown = ShownWorkflow::get();
    let words = move || match shown.count_of(None) {
        None => String::new(),
        Some(0) => "none".to_owned(),
        Some(count) if count >= MOST_EVENTS.into() => format!(
            "the newest {}; `prosescope workflow events tail` prints all",
            words::count(count)
        ),
        Some(count) => words::count(count),
    };
    let line = view! { <b>"All events"</b><span class="faint">{live(words)}</span> };
    let inside = move || {
        let is_none = Memo::new(move |_| shown.count_of(None) == Some(0));
        live(move || match is_none.get() {
            true => view! { <Empty what="No events" why="No run reported anything, or the events were pruned."/> }.into_any(),
            false => list(None),
        })
        .into_any()
    };
    let fold = fold("events", "turn-fold", line.into_any(), inside);
    view! { <section class="turn" id="all-events" aria-label="All events">{fold}</section> }
        .into_any()
}

fn list(run: Option<String>) -> AnyView {
    let (app, shown) = (App::get(), ShownWorkflow::get());
    let of = StoredValue::new(run);
    let pages = lines(Box::new(move |from, len| Request::Events {
        place: shown.place.get_value(),
        id: shown.id.get_value(),
        run: of.get_value(),
        from,
        len,
    }));
    let cursor = Cursor::new();
    let open = Memo::new(move |_| {
        let (event, run) = shown.open_event.get()?;
        let is_here = shown.selected().get() == Some(InThread::Event(event));
        (is_here && run == of.get_value()).then_some(event)
    });
    let on_key = Callback::new(
        move |(key, _, row): (ListCommand, u64, Option<WindowRow>)| {
            let Some(WindowRow::Event(row)) = row else {
                return;
            };
            if key == ListCommand::Enter
                || (key == ListCommand::Moved && open.read_untracked().is_some())
            {
                shown.open_event.set(Some((row.id, of.get_value())));
                // The user has just chosen the event, so the page need not scroll to it: the event counts as reached.
                let chosen = InThread::Event(row.id);
                shown
                    .kept
                    .update_value(|kept| kept.reached = Some(chosen.clone()));
                app.put(shown.item(chosen));
            }
        },
    );
    let head = view! {
        <span role="columnheader">"Kind"</span>
        <span role="columnheader">"Event"</span>
        <span role="columnheader" class="wide">"Run"</span>
        <span role="columnheader" class="wide">"Time"</span>
    };
    view! {
        <div class="event-list">
            <Lines pages height=28.0 label="Events" class="event-rows" cursor head=head.into_any() draw=row on_key main=false/>
        </div>
        {live(move || open.get().map(|event| view! {
            <section class="event-open" id="event-open" aria-label="Event">
                <button class="icon detail-close" title="Close (Esc)" aria-label="Close" on:click=move |_| {
                    close(app);
                }>{icons::close()}</button>
                {one_of(event)}
            </section>
        }))}
    }
    .into_any()
}

/// Opens the event of a link. Unfolds the event's run, or the list of all events if the event has no run, and scrolls
/// to the event.
pub(super) fn reach(shown: ShownWorkflow, event: i64) {
    let app = App::get();
    spawn_local(async move {
        let (place, id) = (shown.place.get_value(), shown.id.get_value());
        let found: Result<Option<EventShown>, _> =
            app.ask(Request::Event { place, id, event }).await;
        let run = match found {
            Ok(Some(event)) => event.line.run,
            _ => None,
        };
        if shown.open_event.is_disposed() {
            return;
        }
        let run = run.filter(|run| shown.has_run(run));
        shown.unfold(match &run {
            Some(run) => hash_of(("run", run.as_str())),
            None => hash_of("events"),
        });
        shown.open_event.set(Some((event, run)));
        scroll_to("event-open".to_owned());
    });
}

/// Draws the kind of an event, such as `error`, as an icon and the word.
fn kind(kind: &str) -> AnyView {
    let (class, icon) = match kind {
        "error" => ("pill bad", "✗"),
        "warning" => ("pill wait", "!"),
        "final" => ("pill ok", "✓"),
        "status" => ("pill run", "●"),
        _ => ("pill quiet", "·"),
    };
    view! { <span class=class title=kind.to_owned()><i aria-hidden="true">{icon}</i><span>{kind.to_owned()}</span></span> }
        .into_any()
}

fn row(_: u64, event: &WindowRow) -> AnyView {
    let WindowRow::Event(event) = event else {
        return ().into_any();
    };
    let run = event.run.as_deref().unwrap_or_default();
    view! {
        <span role="gridcell">{kind(&event.kind)}</span>
        <span role="gridcell" class="cut" dir="auto" title=event.text.clone()>{event.text.clone()}</span>
        <span role="gridcell" class="wide mono faint cut" title=run.to_owned()>{short_id(run)}</span>
        <span role="gridcell" class="wide faint cut"><When stamp=event.at.clone()/></span>
    }
    .into_any()
}

fn one_of(event: i64) -> AnyView {
    let shown = ShownWorkflow::get();
    let answer = ask::<Option<EventShown>>(move || Request::Event {
        place: shown.place.get_value(),
        id: shown.id.get_value(),
        event,
    });
    loaded(answer, move |found| {
        match found {
        Some(event) => one(shown, event),
        None => view! { <Empty what="Nothing there" why="The workflow has no event with that number. The event may have been pruned."/> }.into_any(),
    }
    })
}

fn one(shown: ShownWorkflow, event: EventShown) -> AnyView {
    let line = event.line;
    let run = match line.run {
        Some(run) => {
            view! { <Go to=shown.item(InThread::Run(run.clone()))><code>{run.clone()}</code></Go> }
                .into_any()
        }
        None => {
            view! { <span class="none">"none: the event belongs to the workflow"</span> }.into_any()
        }
    };
    let facts = vec![
        (
            "Recorded".to_owned(),
            view! { <When stamp=line.at/> }.into_any(),
        ),
        ("Run".to_owned(), run),
    ];
    view! {
        <p class="line-up">{kind(&line.kind)}<span class="faint">"event "{line.id}</span></p>
        <p class="says plain-text" dir="auto">{match event.text.text.is_empty() {
            true => "no text".to_owned(),
            false => event.text.text,
        }}</p>
        {pairs("pairs", facts)}
        <h4>"Payload"</h4>
        {match event.payload {
            Some(payload) => opened(payload),
            None => view! { <p class="none">"none"</p> }.into_any(),
        }}
        {others(event.extra)}
    }
    .into_any()
}
