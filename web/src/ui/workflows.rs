//! The workflows of a database: conversations, the one that changed last first.

use leptos::prelude::*;
use prosescope_core::workflow::{WorkflowStatus, WorkflowSummary};

use super::list::{Cursor, Key, Mark, Pages, Rows, Stretch};
use super::parts::{Empty, Pill, When};
use super::runs::{ListBar, Lists};
use super::state::{App, WAITING};
use crate::protocol::{Request, Window};
use crate::route::{Route, Tab};
use crate::text::words;

/// The workflows of a database. Made anew for another one.
#[component]
pub(crate) fn Workflows(
    /// Where it lies.
    place: String,
) -> impl IntoView {
    let app = App::get();
    document().set_title("Workflows — Prosescope");
    let chosen = app.choice.workflows;
    let at = StoredValue::new(place.clone());
    let pages = Pages::new(move |from, len| async move {
        let status = chosen.get_untracked();
        let waiting = status == WAITING;
        let request = Request::Workflows {
            place: at.get_value(),
            status: if waiting { String::new() } else { status },
            waiting,
            from,
            len,
        };
        let Window { rows, total } = app.ask::<Window<WorkflowSummary>>(request).await?;
        Ok(Stretch { rows, total })
    });
    let cursor = Cursor::new();
    Effect::new(move |before: Option<String>| {
        let now = chosen.get();
        if before.is_some_and(|before| before != now) {
            pages.renew();
            cursor.go(0);
            // A list without rows is not drawn, and asks for nothing.
            pages.want(0..1);
        }
        now
    });
    let notes = {
        let place = place.clone();
        move || {
            let databases = app.workflows.get();
            let of = databases.into_iter().find(|one| one.place == place);
            let notes = of.map(|of| of.notes).unwrap_or_default();
            notes
                .into_iter()
                .map(|note| view! { <p class="faint">{note}</p> })
                .collect_view()
        }
    };
    let count = move || match (pages.total.get(), chosen.read().is_empty()) {
        (None, _) => "Workflows".to_owned(),
        (Some(total), true) => words::counted(total, "workflow", "workflows"),
        (Some(total), false) => {
            format!("{} of them", words::counted(total, "workflow", "workflows"))
        }
    };
    let nothing = Memo::new(move |_| pages.total.get() == Some(0));
    let to = place.clone();
    let on_key = Callback::new(
        move |(pressed, _, row): (Key, u64, Option<WorkflowSummary>)| {
            if let (Key::Enter, Some(row)) = (pressed, row) {
                app.go(Route::workflow(&to, &row.id, Tab::Conversation));
            }
        },
    );
    let head = view! {
        <span role="columnheader">"Conversation"</span>
        <span role="columnheader">"Newest run"</span>
        <span role="columnheader" class="wide">"Workflow"</span>
        <span role="columnheader" class="wide">"Changed"</span>
        <span role="columnheader" class="wide">"Id"</span>
    };
    let head = StoredValue::new_local(Some(head.into_any()));
    view! {
        <ListBar/>
        <main id="main" class="fill solo" tabindex="-1">
            <Lists/>
            {notes}
            <div class="tools">
                <h1>{count}</h1>
                <span class="grow"></span>
                <select aria-label="Status" prop:value=move || chosen.get()
                    on:change=move |event| chosen.set(event_target_value(&event))>
                    <option value="">"Any status"</option>
                    <option value=WAITING>"Waiting for input"</option>
                    {WorkflowStatus::ALL.iter().map(|status| view! { <option value=status.word()>{status.word()}</option> }).collect_view()}
                </select>
            </div>
            {move || (nothing.get() && chosen.read().is_empty()).then(|| view! {
                <Empty what="No workflows" why="The database has the tables of workflows, and no row in them."/>
            })}
            {move || (nothing.get() && !chosen.read().is_empty()).then(|| view! {
                <Empty what="No workflow is like that" why="Another status may find some."/>
                <p><button on:click=move |_| chosen.set(String::new())>"Show all workflows"</button></p>
            })}
            <div class="list-box" class:gone=nothing>
                <Rows
                    pages height=48.0 label="Workflows" class="workflow-rows" cursor
                    head=head.try_update_value(Option::take).flatten().unwrap_or_else(|| ().into_any())
                    draw=draw mark=|_| Mark::default() on_key
                />
            </div>
        </main>
    }
}

/// The beginning and the end of an id: ids that are made one after the other begin alike.
pub(super) fn short_id(id: &str) -> String {
    let count = id.chars().count();
    if count <= 16 {
        return id.to_owned();
    }
    let head: String = id.chars().take(8).collect();
    let tail: String = id.chars().skip(count - 6).collect();
    format!("{head}…{tail}")
}

/// A status as people say it.
pub(super) fn spoken(status: &str) -> String {
    match status {
        "" => "no status".to_owned(),
        status => status.replace('_', " "),
    }
}

fn draw(_: u64, row: &WorkflowSummary) -> AnyView {
    let said = match (&row.question, &row.input) {
        (Some(question), _) => {
            view! { <b><em class="asks">"asks: "</em>{question.clone()}</b> }.into_any()
        }
        (None, Some(input)) if !input.is_empty() => view! { <b>{input.clone()}</b> }.into_any(),
        (None, _) => view! { <b class="none">"no message"</b> }.into_any(),
    };
    let title = row
        .question
        .clone()
        .or_else(|| row.input.clone())
        .unwrap_or_default();
    // Beside a question the message that led to it; else what the other columns hold, where these are not shown.
    let second = match (&row.question, &row.input) {
        (Some(_), Some(input)) => input.clone(),
        _ => String::new(),
    };
    let usual = row.status == "active";
    let run = match &row.run_status {
        Some(status) => view! { <Pill status=status.clone() words=spoken(status)/> }.into_any(),
        None => view! { <span class="none">"no run"</span> }.into_any(),
    };
    view! {
        <span role="gridcell" class="two" title=title>
            {said}
            <small>
                {(!usual).then(|| view! { <span class="narrow-status">{spoken(&row.status)}" · "</span> })}
                <span class="narrow-id mono">{short_id(&row.id)}</span>
                {second}
            </small>
        </span>
        <span role="gridcell">{run}</span>
        <span role="gridcell" class="wide"><Pill status=row.status.clone() words=spoken(&row.status)/></span>
        <span role="gridcell" class="wide"><When stamp=row.updated_at.clone()/></span>
        <span role="gridcell" class="wide mono" title=row.id.clone()>{short_id(&row.id)}</span>
    }
    .into_any()
}
