//! Draws the SQL query field and its commands: run, cancel, choose a stored query.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use prosescope_core::pages::query::EXAMPLE;
use prosescope_core::pages::view::{QueryTables, StoredQuestion};

use super::{Lens, SqlContent};
use crate::ui::load::LoadState;
use crate::ui::parts::live;

pub(super) fn draw(lens: Lens, known: LoadState<QueryTables>) -> AnyView {
    let is_wrong = move || matches!(*lens.shown.read(), SqlContent::Trouble(_));
    view! {
        <div class="sql-ask">
            <textarea id="sql" class="mono" node_ref=lens.field spellcheck="false" autocomplete="off"
                aria-label="SQL" placeholder=EXAMPLE
                aria-invalid=move || is_wrong().to_string()
                aria-describedby="sql-trouble"
                prop:value=move || lens.sql.get()
                on:input=move |event| lens.sql.set(event_target_value(&event))
                on:keydown=move |event| on_key(lens, &event)></textarea>
            <div class="sql-bar">
                {live(move || match lens.is_running() {
                    true => view! { <button on:click=move |_| lens.stop()>"Cancel"</button> }.into_any(),
                    false => view! {
                        <button class="primary" title="Run (Ctrl Enter)" on:click=move |_| lens.ask()>"Run"<kbd>"Ctrl ↵"</kbd></button>
                    }.into_any(),
                })}
                {live(move || match known.get() {
                    Some(Ok(known)) => stored(lens, known.questions),
                    _ => ().into_any(),
                })}
            </div>
            <div id="sql-trouble">{live(move || trouble(lens))}</div>
        </div>
    }
    .into_any()
}

/// Draws the error of a query: the cause, and what to do next.
fn trouble(lens: Lens) -> AnyView {
    let SqlContent::Trouble(trouble) = lens.shown.get() else {
        return ().into_any();
    };
    view! {
        <p class="sql-trouble" role="alert"><b>{trouble.cause}</b>" "<span dir="auto">{trouble.next}</span></p>
    }
    .into_any()
}

/// Draws the menu of stored queries. Choosing a query runs it at once.
fn stored(lens: Lens, questions: Vec<StoredQuestion>) -> AnyView {
    let options = questions.iter().map(|question| {
        view! { <option value=question.name.clone()>{question.about.clone()}</option> }
    });
    let options = options.collect_view();
    let questions = StoredValue::new(questions);
    let chosen = move || {
        let sql = lens.sql.read();
        let of = |questions: &Vec<StoredQuestion>| {
            let chosen = questions.iter().find(|question| question.sql == *sql);
            chosen.map(|question| question.name.clone())
        };
        questions.with_value(of).unwrap_or_default()
    };
    let choose = move |name: String| {
        let of = |questions: &Vec<StoredQuestion>| {
            let chosen = questions.iter().find(|question| question.name == name);
            chosen.map(|question| question.sql.clone())
        };
        if let Some(sql) = questions.with_value(of) {
            lens.sql.set(sql);
            lens.ask();
        }
    };
    view! {
        <select aria-label="Stored questions" prop:value=chosen on:change=move |event| choose(event_target_value(&event))>
            <option value="">"Stored questions…"</option>
            {options}
        </select>
    }
    .into_any()
}

fn on_key(lens: Lens, event: &KeyboardEvent) {
    let done = match event.key().as_str() {
        "Enter" if event.ctrl_key() || event.meta_key() => {
            lens.ask();
            true
        }
        "Escape" if matches!(*lens.shown.read_untracked(), SqlContent::Running) => {
            lens.stop();
            true
        }
        _ => false,
    };
    if done {
        event.prevent_default();
    }
}
