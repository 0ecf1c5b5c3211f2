//! The events of a workflow, in order, and the one that is open beside them.

use leptos::prelude::*;
use prosescope_workflow::MOST_EVENTS;
use prosescope_workflow::page::{EventShown, WorkflowPage};

use super::Shown;
use super::shown::{opened, others};
use crate::protocol::{Line, Request};
use crate::route::Tab;
use crate::text::words;
use crate::ui::detail::{self, Beside};
use crate::ui::list::{Cursor, Key};
use crate::ui::load::{ask, loaded};
use crate::ui::parts::{Empty, Go, When, live, pairs};
use crate::ui::state::App;
use crate::ui::workflows::{Lines, lines, short_id};

/// Draws the page.
pub(super) fn draw(page: &WorkflowPage) -> AnyView {
    let (app, shown) = (App::get(), Shown::get());
    let pages = lines(Box::new(move |from, len| Request::Events {
        place: shown.place.get_value(),
        id: shown.id.get_value(),
        from,
        len,
    }));
    let selected = detail::selected();
    let cursor = Cursor::new();
    let on_key = Callback::new(move |(key, _, row): (Key, u64, Option<Line>)| {
        let Some(Line::Event(row)) = row else {
            return;
        };
        let open = selected.read_untracked().is_some();
        if key == Key::Enter || (key == Key::Moved && open) {
            app.put(shown.item(Tab::Events, row.id));
        }
        if key == Key::Enter {
            request_animation_frame(detail::enter);
        }
    });
    let head = view! {
        <span role="columnheader">"Kind"</span>
        <span role="columnheader">"Event"</span>
        <span role="columnheader" class="wide">"Run"</span>
        <span role="columnheader" class="wide">"Time"</span>
    };
    let list = view! {
        <Lines pages height=36.0 label="Events" class="event-rows" cursor head=head.into_any() draw=row on_key/>
    };
    let count = move || {
        pages
            .total
            .get()
            .map(|count| match count >= MOST_EVENTS.into() {
                true => format!(
                    "the newest {}; `prosescope events tail` prints all",
                    words::count(count)
                ),
                false => words::count(count),
            })
    };
    let nothing = Memo::new(move |_| pages.total.get() == Some(0));
    let followers = page.followers.iter().map(|follower| {
        let words = format!("{} has read up to event {}", follower.name, follower.cursor);
        view! { <p class="faint">{words}</p> }
    });
    view! {
        <div class="tools"><h1>"Events"</h1><span class="soft">{live(count)}</span></div>
        {followers.collect_view()}
        {live(move || nothing.get().then(|| view! { <Empty what="No events" why="No run reported anything, or the events were pruned."/> }))}
        <div class="list-box" class:gone=nothing>
            <Beside list=list.into_any() open=selected.into() label="Event" draw=open/>
        </div>
    }
    .into_any()
}

/// A kind of event: an icon and the word.
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

fn row(_: u64, event: &Line) -> AnyView {
    let Line::Event(event) = event else {
        return ().into_any();
    };
    let run = event.run.as_deref().unwrap_or_default();
    view! {
        <span role="gridcell">{kind(&event.kind)}</span>
        <span role="gridcell" class="cut" title=event.text.clone()>{event.text.clone()}</span>
        <span role="gridcell" class="wide mono faint" title=run.to_owned()>{short_id(run)}</span>
        <span role="gridcell" class="wide faint"><When stamp=event.at.clone()/></span>
    }
    .into_any()
}

fn open(item: String) -> AnyView {
    let shown = Shown::get();
    let Ok(event) = item.parse() else {
        return view! { <Empty what="Nothing there" why="The number of an event is a whole number."/> }.into_any();
    };
    let answer = ask::<Option<EventShown>>(move || Request::Event {
        place: shown.place.get_value(),
        id: shown.id.get_value(),
        event,
    });
    loaded(answer, move |found| {
        match found {
        Some(event) => one(shown, event),
        None => view! { <Empty what="Nothing there" why="The workflow has no event with that number: it may have been pruned."/> }.into_any(),
    }
    })
}

fn one(shown: Shown, event: EventShown) -> AnyView {
    let line = event.line;
    let run = match line.run {
        Some(run) => {
            view! { <Go to=shown.item(Tab::Runs, &run)><code>{run.clone()}</code></Go> }.into_any()
        }
        None => view! { <span class="none">"none: it is of the workflow"</span> }.into_any(),
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
        <h2 class="says"><span class="plain-text">{match event.text.text.is_empty() {
            true => "no text".to_owned(),
            false => event.text.text,
        }}</span></h2>
        {pairs("pairs", facts)}
        <h3>"Payload"</h3>
        {match event.payload {
            Some(payload) => opened(payload),
            None => view! { <p class="none">"none"</p> }.into_any(),
        }}
        {others(event.extra)}
    }
    .into_any()
}
