//! Draws the detail of one binding: its value, its facts, and why its name resolves to this value.

use leptos::prelude::*;
use prosescope_core::pages::session::ValueOf;
use prosescope_core::pages::view::{BindingRow, CandidateView, ResolutionView};
use prosescope_core::trace::scope::Outcome;

use crate::protocol::Request;
use crate::route::Page;
use crate::text::words;
use crate::ui::detail;
use crate::ui::load::{ask, loaded};
use crate::ui::pages::item_of;
use crate::ui::parts::{Empty, When, link};
use crate::ui::state::{App, ShownRun};
use crate::ui::value::Value;

/// Draws the binding whose number is the item in the address.
pub(super) fn draw(item: String) -> AnyView {
    let run = ShownRun::get();
    let Ok(binding) = item.parse() else {
        return view! { <Empty what="Nothing there" why="That is not the number of a binding."/> }
            .into_any();
    };
    let answer = ask(move || Request::Binding {
        place: run.place(),
        binding,
    });
    loaded(answer, move |row: Option<BindingRow>| match row {
        Some(row) => view! { <Binding row/> }.into_any(),
        None => {
            view! { <Empty what="Nothing there" why="No binding has that number."/> }.into_any()
        }
    })
}

#[component]
fn Binding(row: BindingRow) -> impl IntoView {
    let run = ShownRun::get();
    let attachment = row.attachment.clone().map(|path| {
        let gone = if row.not_given { "not given" } else { "missing" };
        let size = row.attachment_len.map_or_else(|| gone.to_owned(), words::bytes);
        view! { <dt>"Attachment"</dt><dd class:bad-words=row.attachment_len.is_none() && !row.not_given><code>{path}</code>" · "{size}</dd> }
    });
    let scope = match (row.frame_node, row.execution_id) {
        (_, None) => view! { "root" }.into_any(),
        (Some(node), Some(_)) => link(
            run.item(
                Page::Trace,
                row.execution_id
                    .map_or_else(|| format!("~{node}"), |id| id.to_string()),
            ),
            row.frame_path.as_str(),
        ),
        (None, Some(_)) => view! { {row.scope.clone()}" (no such row)" }.into_any(),
    };
    let writer = row.written_by.as_ref().map(|node| {
        let to = link(run.item(Page::Trace, item_of(node)), node.text.as_str());
        let mark = row
            .writer_inferred
            .then_some(" (inferred: times are not recorded)");
        view! { <dt>"Written by"</dt><dd>{to}{mark}</dd> }
    });
    let kind = if row.kind.is_empty() {
        "no kind".to_owned()
    } else {
        row.kind.clone()
    };
    view! {
        <p class="faint">{kind}</p>
        <h2 class="statement"><code dir="auto">{row.name.clone()}</code></h2>
        {row.superseded.then(|| view! { <p class="aside">"A later row has the same name and frame, and replaces this row."</p> })}
        {(row.versions > 1 && !row.superseded).then(|| view! { <p class="aside">{row.versions}" rows have this name and frame; this row is the latest."</p> })}
        <Value of=ValueOf::Binding(row.binding) name=row.name.clone()/>
        <h3>"About this value"</h3>
        <dl class="pairs">
            <dt>"Scope"</dt><dd>{scope}</dd>
            {attachment}
            {row.source.clone().map(|source| view! { <dt>"Made by"</dt><dd><code>{source}</code></dd> })}
            {writer}
            {row.fields.clone().into_iter().map(|(key, value)| view! { <dt>{key}</dt><dd dir="auto">{value}</dd> }).collect_view()}
            <dt>"Written"</dt><dd><When stamp=row.created.clone()/></dd>
            {row.updated.clone().filter(|_| row.updated != row.created).map(|updated| view! {
                <dt>"Updated"</dt><dd><When stamp=Some(updated)/></dd>
            })}
            <dt>"Stored as"</dt><dd>{row.stored.clone()}{row.len.map(|len| format!(", {}", words::bytes(len)))}</dd>
        </dl>
        <Why row/>
    }
}

/// Draws to which binding the name resolves, and why. The user can choose the frame from which the name is resolved.
#[component]
fn Why(row: BindingRow) -> impl IntoView {
    let (app, run) = (App::get(), ShownRun::get());
    let asked = detail::query("from");
    let own = row.execution_id;
    // In the address, `root` means the root, a number means a frame, and no value means the binding's own frame.
    let from = Memo::new(move |_| match asked.get().as_deref() {
        None => own,
        Some(frame) => frame.parse::<i64>().ok(),
    });
    let name = row.name.clone();
    let answer = {
        let name = name.clone();
        ask(move || Request::Resolve {
            place: run.place(),
            name: name.clone(),
            from: from.get(),
        })
    };
    let binding = row.binding;
    let choose = move |event: web_sys::Event| {
        let value = event_target_value(&event);
        let route = run.item(Page::Bindings, binding);
        let value = value.trim().to_owned();
        app.put(route.with(
            "from",
            if value.is_empty() {
                "root".to_owned()
            } else {
                value
            },
        ));
    };
    view! {
        <h3>"How "<code dir="auto">{name}</code>" resolves"</h3>
        <p class="asked-from">
            <label>"Which value is used in frame "
                <input type="number" inputmode="numeric" placeholder="root"
                    prop:value=move || from.get().map_or_else(String::new, |id| id.to_string()) on:change=choose/>
            </label>
            <span class="faint">"(empty: at the top level)"</span>
        </p>
        {loaded(answer, move |view: ResolutionView| resolution(&view, binding))}
    }
}

fn resolution(view: &ResolutionView, open: u32) -> AnyView {
    let chain = view.chain.join(" → ");
    let nothing = view.candidates.iter().all(|c| c.outcome != Outcome::Wins);
    let shown = view
        .candidates
        .iter()
        .map(|c| candidate(c, open))
        .collect_view();
    let more = view.more;
    let issues = view
        .issues
        .iter()
        .map(|issue| view! { <p class="aside">{issue.message.clone()}" "{issue.hint.clone()}</p> });
    view! {
        <p class="faint cut" title=chain.clone()>"Looked in: "{chain.clone()}</p>
        {nothing.then(|| view! { <p class="aside">"From this frame the name does not resolve: no binding with the name is visible."</p> })}
        <ol class="why">{shown}</ol>
        {(more > 0).then(|| view! { <p class="faint">"and "{words::count(u64::from(more))}" more bindings out of reach"</p> })}
        {issues.collect_view()}
    }
    .into_any()
}

fn candidate(candidate: &CandidateView, open: u32) -> AnyView {
    let run = ShownRun::get();
    let row = &candidate.row;
    let (class, mark, word) = match candidate.outcome {
        Outcome::Wins => ("win", "✓", "wins"),
        Outcome::Shadowed => ("lost", "–", "shadowed"),
        Outcome::OutOfReach => ("lost", "·", "out of reach"),
        Outcome::Superseded => ("lost", "×", "superseded"),
    };
    let steps = candidate
        .distance
        .filter(|n| *n > 0)
        .map(|n| format!(" ↑{n}"));
    view! {
        <li class=class class:open=row.binding == open>
            <i aria-hidden="true">{mark}</i>
            <a href=run.item(Page::Bindings, row.binding).to_string() class="mono">{row.scope.clone()}{steps}</a>
            <span class="begin" dir="auto" title=row.preview.clone()>{row.preview.clone()}</span>
            <b>{word}</b>
            <small>{candidate.reason.clone()}</small>
        </li>
    }
    .into_any()
}
