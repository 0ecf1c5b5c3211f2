//! Draws the sheet that shows how to continue an unfinished run. The core computes the plan when the sheet opens.

use leptos::prelude::*;
use prosescope_core::pages::resume::{prompt, sections};
use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::{Item, NeedView, Overview, ResumeView, Section};

use crate::route::Page;
use crate::text::words;
use crate::ui::load::{ask_page, loaded};
use crate::ui::pages::coded;
use crate::ui::parts::{Copy, Go, live};
use crate::ui::state::ShownRun;

/// Draws the content of the sheet: the remaining work, the next step, and the plan.
pub(super) fn draw() -> AnyView {
    let run = ShownRun::get();
    let next = live(move || run.overview.get()?.ok().map(|overview| next(&overview)));
    // A plan exists only if the run has a failure or a position at which it stopped.
    let plan = run.overview.with_untracked(|overview| {
        let overview = overview.as_ref()?.as_ref().ok()?;
        let resumable = !overview.positions.is_empty() || overview.failure.is_some();
        resumable.then(|| {
            loaded(ask_page(pages::Page::Resume), |view: ResumeView| {
                view! { <Plan view/> }.into_any()
            })
        })
    });
    view! { <div class="go-on">{next}{plan}</div> }.into_any()
}

fn next(overview: &Overview) -> AnyView {
    let command = overview.next_command.clone().map(|command| {
        view! { <p class="command"><code>{command.clone()}</code><Copy text=Signal::stored(command) label="Copy command" first=true/></p> }
    });
    view! {
        <p><b>"Next: "</b>{overview.next.clone()}"."</p>
        <p class="soft">"Not done: "{overview.left.clone()}"."</p>
        {command}
    }
    .into_any()
}

#[component]
fn Plan(view: ResumeView) -> impl IntoView {
    let told = prompt(&view);
    let said = sections(&view);
    let needs: Vec<NeedView> = view.there().cloned().collect();
    let notes = Section {
        title: "Unknown",
        about: "",
        items: view.notes.iter().map(|note| note.clone().into()).collect(),
    };
    view! {
        <p>{view.headline.clone()}". "<Copy text=Signal::stored(told) label="Copy a prompt for a model"/></p>
        <ol>{said.steps.items.iter().map(line).collect_view()}</ol>
        {listed(&said.cautions)}
        {listed(&said.missing)}
        {(!needs.is_empty()).then(|| view! { <Needs needs/> })}
        {listed(&notes)}
    }
}

fn listed(of: &Section) -> Option<AnyView> {
    let lines = of.items.iter().map(line).collect_view();
    (!of.items.is_empty()).then(|| view! { <h3>{of.title}</h3> <ul>{lines}</ul> }.into_any())
}

fn line(item: &Item) -> AnyView {
    let commands = item
        .commands
        .iter()
        .map(|c| view! { <br/><code>{c.clone()}</code> })
        .collect_view();
    view! { <li>{coded(&item.text)}{commands}</li> }.into_any()
}

#[component]
fn Needs(needs: Vec<NeedView>) -> impl IntoView {
    let run = ShownRun::get();
    view! {
        <h3>"What the rest needs"</h3>
        <table class="plain-table">
            <tbody>{needs.into_iter().map(|need| {
                let name = view! { <code>{need.name.clone()}</code> };
                view! {
                    <tr>
                        <th scope="row">{match need.binding {
                            Some(binding) => view! { <Go to=run.item(Page::Bindings, binding.binding)>{name}</Go> }.into_any(),
                            None => name.into_any(),
                        }}</th>
                        <td>{need.scope}</td>
                        <td>{need.len.map(words::bytes)}</td>
                        <td class="soft" dir="auto">{need.preview}</td>
                    </tr>
                }
            }).collect_view()}</tbody>
        </table>
    }
}
