//! Draws the SQL query field and its commands: run, cancel, choose a stored query, choose an earlier query.

use leptos::ev::{Event, KeyboardEvent};
use leptos::prelude::*;
use prosescope_core::query::EXAMPLE;
use prosescope_core::view::{QueryTables, StoredQuestion};

use super::{Lens, Shown};
use crate::text::words;
use crate::ui::load::Answer;
use crate::ui::parts::live;

/// The number of characters of an earlier query that the menu shows.
const TITLE: usize = 80;

pub(super) fn draw(lens: Lens, known: Answer<QueryTables>) -> AnyView {
    let is_wrong = move || matches!(*lens.shown.read(), Shown::Trouble(_));
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
                {live(move || earlier(lens, lens.history.get()))}
            </div>
            <div id="sql-trouble">{live(move || trouble(lens))}</div>
        </div>
    }
    .into_any()
}

/// Draws the error of a query: the cause, and what to do next.
fn trouble(lens: Lens) -> AnyView {
    let Shown::Trouble(trouble) = lens.shown.get() else {
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

/// Draws the menu of earlier queries. Choosing a query puts its text into the field.
fn earlier(lens: Lens, asked: Vec<String>) -> AnyView {
    if asked.is_empty() {
        return ().into_any();
    }
    let title = |sql: &String| {
        let line = sql.split_whitespace().collect::<Vec<_>>().join(" ");
        let short: String = line.chars().take(TITLE).collect();
        match short.len() < line.len() {
            true => format!("{short}…"),
            false => short,
        }
    };
    let options = asked.iter().enumerate().map(|(at, sql)| {
        view! { <option value=at>{title(sql)}</option> }
    });
    let options = options.collect_view();
    let label = format!("History ({})", words::count(asked.len() as u64));
    let asked = StoredValue::new(asked);
    let choose = move |event: Event| {
        let at = event_target_value(&event).parse::<usize>().ok();
        let sql = at.and_then(|at| asked.with_value(|asked| asked.get(at).cloned()));
        if let Some(sql) = sql {
            lens.sql.set(sql);
        }
        // The menu is reset to its title, so that the same query can be chosen again. Setting the property cannot fail.
        if let Some(menu) = event.target() {
            let _ = js_sys::Reflect::set(&menu, &"value".into(), &"".into());
        }
    };
    view! {
        <select aria-label="History" on:change=choose>
            <option value="">{label}</option>
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
        "Escape" if matches!(*lens.shown.read_untracked(), Shown::Running) => {
            lens.stop();
            true
        }
        "ArrowUp" => step(lens, true),
        "ArrowDown" => step(lens, false),
        _ => false,
    };
    if done {
        event.prevent_default();
    }
}

/// Puts the next older or newer query into the field. Does so only if the field is empty or contains an unchanged
/// earlier query of one line. Returns false otherwise, and the arrow keys then move the caret as usual.
fn step(lens: Lens, older: bool) -> bool {
    let sql = lens.sql.get_untracked();
    let asked = lens.history.read_untracked();
    let at = asked.iter().position(|known| *known == sql);
    let to = match (at, older) {
        _ if sql.contains('\n') => return false,
        (None, true) if sql.is_empty() => Some(0),
        (None, _) => return false,
        (Some(at), true) => Some(at + 1),
        (Some(at), false) => at.checked_sub(1),
    };
    let to = match to {
        Some(to) => asked.get(to).cloned(),
        None => Some(String::new()),
    };
    drop(asked);
    let Some(to) = to else { return true };
    lens.sql.set(to);
    true
}
