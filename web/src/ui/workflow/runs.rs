//! The runs of a workflow, in order: each is one turn of the conversation.

use leptos::prelude::*;
use prosescope_core::workflow::page::{TurnShown, WorkflowPage};

use super::shown::{Folded, opened, others, said};
use crate::text::words;
use crate::ui::detail;
use crate::ui::parts::{Copy, Empty, Pill, When};
use crate::ui::workflows::spoken;

/// Runs that are shown at first: the newest.
const SHOWN: usize = 30;

/// Draws the page.
pub(super) fn draw(page: WorkflowPage) -> AnyView {
    let many = page.runs.len();
    if many == 0 {
        return view! {
            <div class="tools"><h1>"Runs"</h1></div>
            <Empty what="No runs" why="Nothing was asked of this workflow yet, or its runs were removed."/>
        }
        .into_any();
    }
    let selected = detail::selected();
    // A run that a link names is among those that are shown.
    let named = selected.get_untracked();
    let at = page
        .runs
        .iter()
        .position(|run| Some(&run.id) == named.as_ref());
    let (count, set_count) = signal(SHOWN.max(at.map_or(0, |at| many - at)));
    let newest = page.newest_run;
    let held = StoredValue::new(page.runs);
    Effect::new(move || {
        let Some(run) = selected.get() else { return };
        request_animation_frame(move || {
            // The page may have been left since.
            if let Some(found) = document().get_element_by_id(&format!("run-{run}")) {
                found.scroll_into_view();
            }
        });
    });
    view! {
        <div class="tools"><h1>"Runs"</h1><span class="soft">{words::count(many as u64)}", the oldest first"</span></div>
        {move || (count.get() < many).then(|| view! {
            <p class="earlier"><button on:click=move |_| set_count.update(|n| *n += 100)>
                "Show earlier of "{words::counted(many as u64, "run", "runs")}
            </button></p>
        })}
        {move || held.with_value(|runs| {
            let from = many.saturating_sub(count.get());
            let rows = runs.iter().enumerate().skip(from);
            rows.map(|(at, run)| {
                let is_newest = newest.as_ref() == Some(&run.id);
                turn(at + 1, run.clone(), is_newest, selected)
            }).collect_view()
        })}
    }
    .into_any()
}

fn turn(number: usize, run: TurnShown, is_newest: bool, selected: Memo<Option<String>>) -> AnyView {
    let anchor = format!("run-{}", run.id);
    let id = run.id.clone();
    let is_selected = move || selected.with(|named| named.as_ref() == Some(&id));
    let row = |name: &'static str, class: &'static str, what: Option<AnyView>| {
        what.map(|what| view! { <dt>{name}</dt><dd class=class>{what}</dd> })
    };
    let input = match run.input {
        Some(input) => said(input),
        None => view! { <span class="none">"not recorded"</span> }.into_any(),
    };
    let question = run
        .question
        .map(|question| view! { <blockquote class="asked-it">{question}</blockquote> }.into_any());
    let error = run.error.map(opened);
    let owner = run
        .owner
        .map(|owner| view! { {owner}<span class="faint">" (as claimed)"</span> }.into_any());
    let heartbeat = run
        .heartbeat
        .map(|at| view! { <When stamp=Some(at)/> }.into_any());
    let asks = run.may_ask.filter(|may| !may);
    let asks = asks.map(|_| "not allowed in this run".into_any());
    let version = run.version.map(|version| version.to_string().into_any());
    view! {
        <section class="turn" class:selected=is_selected id=anchor>
            <h2>
                <span>"Run "{number}</span>
                <Pill status=run.status.clone() words=spoken(&run.status)/>
                {is_newest.then(|| view! { <span class="faint">"newest"</span> })}
                <span class="grow"></span>
                <code class="faint">{run.id.clone()}</code>
                <Copy text=Signal::stored(run.id) label="Copy id"/>
            </h2>
            <dl class="pairs">
                <dt>"Input"</dt><dd class="summary-text">{input}</dd>
                {row("Asks", "", question)}
                {row("Output", "summary-text", run.output.map(said))}
                {row("Error", "bad-words", error)}
                <dt>"Begun"</dt><dd><When stamp=run.created_at/></dd>
                <dt>"Changed"</dt><dd><When stamp=run.updated_at/></dd>
                {row("Owner", "", owner)}
                {row("Heartbeat", "", heartbeat)}
                {row("Questions", "", asks)}
                {row("Version", "", version)}
                {row("State", "", run.state.map(|value| view! { <Folded value label="JSON"/> }.into_any()))}
            </dl>
            {others(run.extra)}
        </section>
    }
    .into_any()
}
