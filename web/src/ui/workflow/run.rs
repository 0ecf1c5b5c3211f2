//! Draws a run in the thread of a workflow: one line, which unfolds to all details of the run.

use leptos::prelude::*;
use prosescope_core::model::time::human_duration;
use prosescope_workflow::page::{RecordedText as Text, TurnShown};

use super::ShownWorkflow;
use super::events;
use super::shown::{Folded, fold, opened, others, said};
use crate::route::InThread;
use crate::text::words;
use crate::ui::parts::{Copy, Pill, When, live, pairs};
use crate::ui::workflows::spoken;

/// The maximum number of characters of an output or error in the line of its run.
const BEGINNING: usize = 200;

/// Draws a run. `number` counts the runs from 1; `is_placed` is whether the run's place among the messages is recorded.
pub(super) fn turn(number: usize, run: &TurnShown, is_newest: bool, is_placed: bool) -> AnyView {
    let shown = ShownWorkflow::get();
    let anchor = format!("run-{}", run.id);
    let chosen = InThread::Run(run.id.clone());
    let selected = shown.selected();
    let is_selected = move || selected.read().as_ref() == Some(&chosen);
    let took = run.took_ms.map(|took| {
        view! { <span class="faint" title="From the run's beginning to its last change">{human_duration(took)}</span> }
    });
    let events = {
        let id = run.id.clone();
        move || {
            let count = shown.count_of(Some(&id)).filter(|count| *count > 0)?;
            Some(view! { <span class="faint">{words::counted(count, "event", "events")}</span> })
        }
    };
    let said = run.error.as_ref().or(run.output.as_ref());
    let said = said.map(beginning);
    let class = match run.error.is_some() {
        true => "begins cut bad-words",
        false => "begins cut soft",
    };
    let line = view! {
        <b>"Run "{number}</b>
        <Pill status=run.status.clone() words=spoken(&run.status)/>
        {took}
        {live(events)}
        {(!is_placed).then(|| view! { <span class="faint" title="The run's place among the messages is not recorded">"place unknown"</span> })}
        {said.map(|said| view! { <span class=class dir="auto">{said}</span> })}
    };
    let name = ("run", run.id.clone());
    let run = run.clone();
    let fold = fold(&name, "turn-fold", line.into_any(), move || {
        unfolded(run.clone(), is_newest)
    });
    view! { <li class="turn" class:selected=is_selected id=anchor>{fold}</li> }.into_any()
}

/// Returns the beginning of an output or an error. If the text is a JSON object with a `message`, returns the
/// beginning of the message.
fn beginning(said: &Text) -> String {
    let message = || -> Option<String> {
        let value: serde_json::Value = serde_json::from_str(&said.text).ok()?;
        Some(value.get("message")?.as_str()?.to_owned())
    };
    let message = said.json.then(message).flatten();
    let text = message.as_ref().unwrap_or(&said.text);
    text.chars().take(BEGINNING).collect()
}

fn unfolded(run: TurnShown, is_newest: bool) -> AnyView {
    let when = |stamp| view! { <When stamp/> }.into_any();
    let none = || view! { <span class="none">"not recorded"</span> }.into_any();
    let text = |shown| view! { <div class="summary-text">{said(shown)}</div> }.into_any();
    let asks = run.question.map(|question| {
        view! { <blockquote class="asked-it" dir="auto">{question}</blockquote> }.into_any()
    });
    let owner = run
        .owner
        .map(|owner| view! { {owner}<span class="faint">" (as claimed)"</span> }.into_any());
    let state = run
        .state
        .map(|value| view! { <Folded value label="JSON"/> }.into_any());
    let id = view! {
        <span class="whole-id">
            <code>{run.id.clone()}</code>
            {is_newest.then(|| view! { <span class="faint">"the newest"</span> })}
            <Copy text=Signal::stored(run.id.clone()) label="Copy id"/>
        </span>
    };
    let facts = [
        ("Given", Some(run.input.map_or_else(none, text))),
        ("Asks", asks),
        ("Output", run.output.map(text)),
        (
            "Error",
            run.error
                .map(|error| view! { <div class="bad-words">{opened(error)}</div> }.into_any()),
        ),
        ("Begun", Some(when(run.created_at))),
        ("Changed", Some(when(run.updated_at))),
        ("Owner", owner),
        ("Heartbeat", run.heartbeat.map(|at| when(Some(at)))),
        (
            "Questions",
            (run.may_ask == Some(false)).then(|| "not allowed in this run".into_any()),
        ),
        (
            "Version",
            run.version.map(|version| version.to_string().into_any()),
        ),
        ("State", state),
        ("Id", Some(id.into_any())),
    ];
    let facts = facts
        .into_iter()
        .filter_map(|(name, fact)| Some((name.to_owned(), fact?)));
    let facts = pairs("pairs", facts.collect());
    view! { {facts}{others(run.extra)}{events::of_run(run.id)} }.into_any()
}
