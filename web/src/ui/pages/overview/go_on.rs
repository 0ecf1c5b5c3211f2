//! How to go on with a run that is not over: planned when somebody opens it.

use leptos::prelude::*;
use prosescope_core::resume::{prompt, sections};
use prosescope_core::session::pages;
use prosescope_core::view::{Item, NeedView, ResumeView, Section};

use super::coded;
use crate::route::Page;
use crate::text::words;
use crate::ui::load::{ask_page, loaded};
use crate::ui::parts::{Copy, Go};
use crate::ui::state::Run;

/// A fold that plans once it is opened: a large run takes a moment.
#[component]
pub(super) fn GoOn() -> impl IntoView {
    let opened = RwSignal::new(false);
    let plan = move || {
        opened.get().then(|| {
            let answer = ask_page(pages::Page::Resume);
            loaded(answer, |view: ResumeView| view! { <Plan view/> }.into_any())
        })
    };
    view! {
        <details class="go-on" on:toggle=move |_| opened.set(true)>
            <summary>"How to go on"</summary>
            {plan}
        </details>
    }
}

#[component]
fn Plan(view: ResumeView) -> impl IntoView {
    let told = prompt(&view);
    let said = sections(&view);
    let needs: Vec<NeedView> = view.there().cloned().collect();
    let notes = Section {
        title: "What is not known",
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
    let run = Run::get();
    view! {
        <h3>"What the rest needs"</h3>
        <table class="plain-table">
            <tbody>{needs.into_iter().map(|need| {
                let place = need.binding.as_ref().and_then(|b| b.execution_id);
                let place = place.map_or_else(|| "root".to_owned(), |id| format!("frame {id}"));
                let name = view! { <code>{need.name.clone()}</code> };
                view! {
                    <tr>
                        <th scope="row">{match need.binding {
                            Some(binding) => view! { <Go to=run.item(Page::Bindings, binding.binding)>{name}</Go> }.into_any(),
                            None => name.into_any(),
                        }}</th>
                        <td>{place}</td>
                        <td>{need.len.map(words::bytes)}</td>
                        <td class="soft" dir="auto">{need.preview}</td>
                    </tr>
                }
            }).collect_view()}</tbody>
        </table>
    }
}
