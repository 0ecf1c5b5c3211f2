//! Draws the list of the workflows in a database, the most recently changed first.

use leptos::prelude::*;
use prosescope_workflow::WorkflowStatus;

use super::choice::WAITING;
use super::list::{Cursor, ListCommand, Mark, Pages, Rows, Stretch};
use super::parts::{Empty, Pill, When, live};
use super::runs::{ListBar, Lists};
use super::state::App;
use crate::protocol::{Request, Window, WindowRow};
use crate::route::{InThread, Route, Tab};
use crate::text::words;

/// Draws the workflows of a database. Another database gets a new component.
#[component]
pub(crate) fn Workflows(
    /// The path of the database whose workflows are drawn.
    place: String,
) -> impl IntoView {
    let app = App::get();
    document().set_title("Workflows — Prosescope");
    let chosen = app.choice.workflows;
    let at = StoredValue::new(place.clone());
    let pages = lines(Box::new(move |from, len| {
        let status = chosen.get_untracked();
        let waiting = status == WAITING;
        Request::Workflows {
            place: at.get_value(),
            status: if waiting { String::new() } else { status },
            waiting,
            from,
            len,
        }
    }));
    let cursor = Cursor::new();
    Effect::new(move |before: Option<String>| {
        let now = chosen.get();
        if before.is_some_and(|before| before != now) {
            pages.renew();
            cursor.go(0);
            // The first row is requested explicitly, because an empty list is not drawn and thus requests no rows
            // itself.
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
        (Some(total), false) => words::counted(total, "workflow matches", "workflows match"),
    };
    let nothing = Memo::new(move |_| pages.total.get() == Some(0));
    let to = place.clone();
    let on_key = Callback::new(
        move |(pressed, _, row): (ListCommand, u64, Option<WindowRow>)| {
            if let (ListCommand::Enter, Some(WindowRow::Workflow(row))) = (pressed, row) {
                app.go(Route::workflow(&to, &row.id, Tab::Thread));
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
            {live(notes)}
            <div class="tools">
                <h1>{live(count)}</h1>
                <span class="grow"></span>
                <select aria-label="Status" prop:value=move || chosen.get()
                    on:change=move |event| chosen.set(event_target_value(&event))>
                    <option value="">"Any status"</option>
                    <option value=WAITING>"Waiting for input"</option>
                    {WorkflowStatus::ALL.iter().map(|status| view! { <option value=status.word()>{status.word()}</option> }).collect_view()}
                </select>
            </div>
            {live(move || match (nothing.get(), chosen.read().is_empty()) {
                (false, _) => ().into_any(),
                (true, true) => view! {
                    <Empty what="No workflows" why="The database has the tables of workflows, but they are empty."/>
                }.into_any(),
                (true, false) => view! {
                    <Empty what="No workflow matches" why="Try another status."/>
                    <p><button on:click=move |_| chosen.set(String::new())>"Show all workflows"</button></p>
                }.into_any(),
            })}
            <div class="list-box" class:gone=nothing>
                <Lines
                    pages height=48.0 label="Workflows" class="workflow-rows" cursor draw on_key
                    head=head.try_update_value(Option::take).flatten().unwrap_or_else(|| ().into_any())
                />
            </div>
        </main>
    }
}

/// Creates a list that loads its rows with the requests that `request` returns. The arguments of `request` are the
/// index of the first row and the number of rows.
pub(super) fn lines(request: Box<dyn Fn(u64, u32) -> Request>) -> Pages<WindowRow> {
    let app = App::get();
    Pages::new(move |from, len| {
        let request = request(from, len);
        async move {
            let Window { rows, total } = app.ask(request).await?;
            Ok(Stretch { rows, total })
        }
    })
}

/// Draws a list of workflows or events.
#[component]
pub(super) fn Lines(
    /// The list's rows.
    pages: Pages<WindowRow>,
    /// The height of a row, in pixels.
    height: f64,
    /// The label for screen readers.
    label: &'static str,
    /// The list's CSS class.
    class: &'static str,
    /// The cursor: the current row.
    cursor: Cursor,
    /// The cells of the head row: the names of the columns.
    head: AnyView,
    /// Draws a row.
    draw: fn(u64, &WindowRow) -> AnyView,
    /// Handles a command of the list: the command, the index of the current row, and the row if it is loaded.
    on_key: Callback<(ListCommand, u64, Option<WindowRow>)>,
    /// Whether the keys `j`, `k` and others move in this list from anywhere on the page.
    #[prop(default = true)]
    main: bool,
) -> impl IntoView {
    let mark: fn(&WindowRow) -> Mark = mark;
    view! { <Rows pages height label class cursor head draw mark on_key main/> }
}

/// Returns the attributes of a row. The row of the open event is marked as selected.
fn mark(row: &WindowRow) -> Mark {
    let is_open = |id: i64| {
        let route = App::get().route;
        let selected = route.read().selected().and_then(InThread::parse);
        selected == Some(InThread::Event(id))
    };
    Mark {
        selected: matches!(row, WindowRow::Event(event) if is_open(event.id)),
        ..Mark::default()
    }
}

/// Returns a shortened id: its first 8 and its last 6 characters. The end is kept, because ids that were created one
/// after the other have the same beginning.
pub(super) fn short_id(id: &str) -> String {
    let count = id.chars().count();
    if count <= 16 {
        return id.to_owned();
    }
    let head: String = id.chars().take(8).collect();
    let tail: String = id.chars().skip(count - 6).collect();
    format!("{head}…{tail}")
}

/// Returns a status in words: `waiting for input` for `waiting_for_input`.
pub(super) fn spoken(status: &str) -> String {
    match status {
        "" => "no status".to_owned(),
        status => status.replace('_', " "),
    }
}

fn draw(_: u64, row: &WindowRow) -> AnyView {
    let WindowRow::Workflow(row) = row else {
        return ().into_any();
    };
    let (asks, said) = match (&row.question, &row.input) {
        (Some(question), _) => ("asks: ", question.as_str()),
        (None, Some(input)) => ("", input.as_str()),
        (None, None) => ("", ""),
    };
    let said = said.to_owned();
    let title = said.clone();
    let said = match said.is_empty() && asks.is_empty() {
        true => view! { <span class="none">"no message"</span> }.into_any(),
        false => view! { <b><span class="asks">{asks}</span>{said}</b> }.into_any(),
    };
    // If the newest run asks a question, the message that began this run is shown as the second text. On a narrow
    // screen, that text is replaced by those of the hidden columns.
    let before = row
        .question
        .as_ref()
        .and(row.input.clone())
        .unwrap_or_default();
    let status = match row.status.as_str() {
        "active" => String::new(),
        other => spoken(other),
    };
    let changed = row.updated_at.as_ref().map(words::day).unwrap_or_default();
    let mut narrow = vec![status, changed, short_id(&row.id)];
    narrow.retain(|part| !part.is_empty());
    let narrow = narrow.join(" · ");
    let run = match &row.run_status {
        Some(status) => view! { <Pill status=status.clone() words=spoken(status)/> }.into_any(),
        None => view! { <span class="none">"no run"</span> }.into_any(),
    };
    view! {
        <span role="gridcell" class="two" dir="auto" title=title>
            {said}
            <small class="narrow-only">{narrow}</small>
            <small class="wide">{before}</small>
        </span>
        <span role="gridcell">{run}</span>
        <span role="gridcell" class="wide"><Pill status=row.status.clone() words=spoken(&row.status)/></span>
        <span role="gridcell" class="wide cut"><When stamp=row.updated_at.clone()/></span>
        <span role="gridcell" class="wide mono" title=row.id.clone()>{short_id(&row.id)}</span>
    }
    .into_any()
}
