//! Draws the recorded work of a statement: its prompt, the values given to it, its answer, and its attempts.

use leptos::prelude::*;
use prosescope_core::pages::view::{
    AnswerView, AskedAgent, AttemptView, BindingRef, Excerpt, GivenName, NodeWork, Received,
    ValueFormat,
};

use crate::route::Page;
use crate::text::flow::flowed;
use crate::text::words;
use crate::ui::pages::item_of;
use crate::ui::parts::{Pill, When, link};
use crate::ui::rendered::Markdown;
use crate::ui::state::ShownRun;

/// Draws the recorded parts of a statement's work. Parts without a record are left out.
pub(super) fn draw(work: NodeWork) -> AnyView {
    let asked = (work.prompt.is_some() || work.prompt_note.is_some()).then(|| {
        view! {
            <h3>"Asked"{work.by.as_ref().map(who)}{work.agent.map(|agent| view! {
                <small>"memory kept for: "{agent.scope}</small>
            })}</h3>
            {work.prompt.map(|prompt| view! { <div class="says">{excerpt(prompt)}</div> })}
            {work.by.and_then(|by| by.prompt).map(|prompt| view! {
                <details class="own-prompt"><summary>"The agent's own prompt"</summary>{excerpt(prompt)}</details>
            })}
            {work.prompt_note.map(note)}
        }
    });
    let more = (work.more_context > 0).then(|| {
        let more = words::counted(work.more_context.into(), "more name", "more names");
        view! { <p class="faint">"and "{more}</p> }
    });
    let given = (!work.context.is_empty() || work.context_note.is_some()).then(|| {
        view! {
            <h3>"Given"</h3>
            {work.context.into_iter().map(name).collect_view()}
            {more}
            {work.context_note.map(note)}
        }
    });
    let answered = (!work.answers.is_empty() || work.answer_note.is_some()).then(|| {
        view! {
            <h3>"Answered"</h3>
            {work.answers.into_iter().map(answer).collect_view()}
            {work.answer_note.map(note)}
        }
    });
    let attempts = (!work.attempts.is_empty() || work.attempts_note.is_some()).then(|| {
        view! {
            <h3>"Attempts"</h3>
            <ol class="attempts">{work.attempts.into_iter().map(attempt).collect_view()}</ol>
            {work.attempts_note.map(note)}
        }
    });
    view! { <div class="work">{asked}{given}{answered}{attempts}</div> }.into_any()
}

/// Draws the name of the agent that carried out the statement, and the agent's model.
fn who(by: &AskedAgent) -> AnyView {
    let model = by.model.as_ref().map(|model| format!(" · {model}"));
    view! { <small dir="auto">{by.name.clone()}{model}</small> }.into_any()
}

/// Draws the first lines of a text, formatted as on the page of its value.
fn excerpt(of: Excerpt) -> AnyView {
    let cut = of
        .cut
        .then(|| view! { <small class="faint">"… "{words::bytes(of.len)}" in all"</small> });
    let empty = of.len == 0;
    view! {
        {match of.format {
            _ if empty => view! { <p class="none">"empty"</p> }.into_any(),
            ValueFormat::Markdown => view! { <div class="excerpt"><Markdown text=of.text/></div> }.into_any(),
            ValueFormat::Text => view! { <pre class="raw excerpt" tabindex="0">{flowed(&of.text)}</pre> }.into_any(),
            _ => view! { <pre class="raw excerpt" tabindex="0">{of.text}</pre> }.into_any(),
        }}
        {cut}
    }
    .into_any()
}

fn note(text: String) -> AnyView {
    view! { <p class="aside">{text}</p> }.into_any()
}

fn binding_link(binding: &BindingRef) -> AnyView {
    let to = ShownRun::get().item(Page::Bindings, binding.binding);
    link(to, binding.name.clone())
}

fn name(given: GivenName) -> AnyView {
    let value = given.binding.as_ref();
    let called = match (&given.written_by, value) {
        (Some(by), _) => {
            let to = ShownRun::get().item(Page::Trace, item_of(by)).to_string();
            let why = format!("Written by {}", by.text);
            view! { <a href=to title=why><code dir="auto">{given.name.clone()}</code></a> }
                .into_any()
        }
        (None, Some(binding)) => binding_link(binding),
        (None, None) => view! { <code dir="auto">{given.name.clone()}</code> }.into_any(),
    };
    let state = match given.seen {
        Received::Same if given.inferred => Some((
            "likely",
            "This value is inferred from the order of the statements.",
        )),
        Received::Same => None,
        Received::Replaced => Some(("replaced since", "")),
        Received::Unknown => Some(("only the last value was kept", "")),
        Received::Nothing => Some(("nothing recorded", "")),
    };
    let size = given.value.as_ref().map(|value| words::bytes(value.len));
    let size = size.map(|size| match value {
        Some(value) => link(
            ShownRun::get().item(Page::Bindings, value.binding),
            size.as_str(),
        ),
        None => size.into_any(),
    });
    view! {
        <section class="given">
            <p class="line-up">
                <b>{called}</b>
                {state.map(|(state, why)| view! { <small class="wait-words" title=why>{state}</small> })}
                <small class="faint cut grow" title=given.why.clone()>{given.why.clone()}</small>
                <small class="faint whole-value">{size}</small>
            </p>
            {given.value.map(excerpt)}
            {given.note.map(note)}
        </section>
    }
    .into_any()
}

fn answer(answer: AnswerView) -> AnyView {
    let run = ShownRun::get();
    let replaced = answer.replaced_by.map(|by| {
        view! { <p class="faint">"Replaced by "{link(run.item(Page::Trace, item_of(&by)), by.text.as_str())}</p> }
    });
    view! {
        <section class="given">
            <p class="line-up">
                <b>{binding_link(&answer.binding)}</b>
                {answer.binding.overwritten.then(|| view! { <small class="wait-words">"overwritten later"</small> })}
            </p>
            {answer.value.map(excerpt)}
            {replaced}
            {answer.note.map(note)}
        </section>
    }
    .into_any()
}

fn attempt(attempt: AttemptView) -> AnyView {
    let AttemptView {
        number,
        id,
        status,
        started,
        ended,
        error,
    } = attempt;
    view! {
        <li value=number>
            <p class="line-up"><Pill status/><span class="faint">"row #"{id}</span></p>
            <p class="faint">"Started "<When stamp=started/>", ended "<When stamp=ended/></p>
            {error.map(|error| view! { <pre class="error" tabindex="0">{error}</pre> })}
        </li>
    }
    .into_any()
}
