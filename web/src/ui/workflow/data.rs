//! Draws the data that a workflow keeps beside its conversation: preferences, important steps, other parts of the
//! context, and other columns.

use leptos::prelude::*;
use prosescope_workflow::page::{Message, WorkflowPage};

use super::ShownWorkflow;
use super::shown::{members, others, value};
use crate::route::InThread;
use crate::ui::parts::{Go, When};
use crate::ui::workflows::short_id;

/// Draws the page of the data beside a conversation.
pub(super) fn draw(page: WorkflowPage) -> AnyView {
    let none = |what: &'static str| view! { <p class="faint">{what}</p> }.into_any();
    let no_steps = page.steps.is_empty() && page.more_steps.is_empty();
    view! {
        <div class="tools"><h1>"Data"</h1></div>
        <h2>"Preferences"</h2>
        {match page.preferences.is_empty() {
            true => none("None are recorded."),
            false => members(page.preferences),
        }}
        <h2>"Important steps"</h2>
        {no_steps.then(|| none("None are recorded."))}
        {(!page.steps.is_empty()).then(|| steps(page.steps))}
        {(!page.more_steps.is_empty()).then(|| members(page.more_steps))}
        <h2>"Other parts of the context"</h2>
        {match page.context.is_empty() {
            true => none("None besides the summary and the messages."),
            false => members(page.context),
        }}
        {others(page.extra)}
    }
    .into_any()
}

/// Draws the steps that a workflow remembers for its later runs.
pub(super) fn steps(steps: Vec<Message>) -> AnyView {
    let shown = ShownWorkflow::get();
    let rows = steps.into_iter().map(|step| {
        let more = step.more.into_iter().map(|member| {
            view! { <div class="more"><span class="faint">{member.name}" "</span>{value(member.value, "JSON")}</div> }
        });
        let run = step.run.map(|run| view! { " · run "<Go to=shown.item(InThread::Run(run.clone()))>{short_id(&run)}</Go> });
        view! {
            <li>
                {match step.content {
                    Some(text) => value(text, "Step"),
                    None => view! { <span class="none">"no text"</span> }.into_any(),
                }}
                <small class="faint"><When stamp=step.at/>{run}</small>
                {more.collect_view()}
            </li>
        }
    });
    view! { <ol class="steps">{rows.collect_view()}</ol> }.into_any()
}
