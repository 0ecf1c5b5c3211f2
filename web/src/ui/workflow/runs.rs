//! The runs of a workflow, in order: each is one turn of the conversation.

use leptos::prelude::*;
use prosescope_workflow::page::{TurnShown, WorkflowPage};

use super::Shown;
use super::shown::{Folded, opened, others, said};
use crate::text::words;
use crate::ui::detail;
use crate::ui::parts::{Copy, Empty, Pill, When, live, pairs};
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
    let kept = Shown::get().kept;
    let before = kept.with_value(|kept| kept.runs);
    let (count, set_count) = signal(SHOWN.max(before).max(at.map_or(0, |at| many - at)));
    let newest = page.newest_run;
    let held = StoredValue::new(page.runs);
    Effect::new(move || {
        let chosen = selected.get();
        let before =
            kept.try_update_value(|kept| std::mem::replace(&mut kept.scrolled_to, chosen.clone()));
        let Some(run) = chosen.filter(|_| before.flatten() != selected.get_untracked()) else {
            return;
        };
        request_animation_frame(move || {
            // The page may have been left since.
            if let Some(found) = document().get_element_by_id(&format!("run-{run}")) {
                found.scroll_into_view();
            }
        });
    });
    view! {
        <div class="tools"><h1>"Runs"</h1><span class="soft">{words::count(many as u64)}", the oldest first"</span></div>
        {live(move || (count.get() < many).then(|| view! {
            <p class="earlier"><button on:click=move |_| {
                set_count.update(|n| *n += 100);
                kept.update_value(|kept| kept.runs = count.get_untracked());
            }>
                "Show earlier of "{words::counted(many as u64, "run", "runs")}
            </button></p>
        }))}
        {live(move || held.with_value(|runs| {
            let from = many.saturating_sub(count.get());
            let rows = runs.iter().enumerate().skip(from);
            rows.map(|(at, run)| {
                let is_newest = newest.as_ref() == Some(&run.id);
                turn(at + 1, run.clone(), is_newest, selected)
            }).collect_view()
        }))}
    }
    .into_any()
}

fn turn(number: usize, run: TurnShown, is_newest: bool, selected: Memo<Option<String>>) -> AnyView {
    let anchor = format!("run-{}", run.id);
    let id = run.id.clone();
    let is_selected = move || selected.with(|named| named.as_ref() == Some(&id));
    let when = |stamp| view! { <When stamp/> }.into_any();
    let none = || view! { <span class="none">"not recorded"</span> }.into_any();
    let text = |shown| view! { <div class="summary-text">{said(shown)}</div> }.into_any();
    let asks = run
        .question
        .map(|question| view! { <blockquote class="asked-it">{question}</blockquote> }.into_any());
    let owner = run
        .owner
        .map(|owner| view! { {owner}<span class="faint">" (as claimed)"</span> }.into_any());
    let state = run
        .state
        .map(|value| view! { <Folded value label="JSON"/> }.into_any());
    let facts = [
        ("Input", Some(run.input.map_or_else(none, text))),
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
    ];
    let facts = facts
        .into_iter()
        .filter_map(|(name, fact)| Some((name.to_owned(), fact?)));
    let facts = pairs("pairs", facts.collect());
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
            {facts}
            {others(run.extra)}
        </section>
    }
    .into_any()
}
