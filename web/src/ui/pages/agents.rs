//! Draws the page of agents that have a memory: the memory, the segments, and the changes from one segment to the
//! next.

use leptos::prelude::*;
use prosescope_core::pages::session::ValueOf;
use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::{AgentElsewhere, AgentView, AgentsView, RunPart, SegmentView};

use crate::route::Page;
use crate::text::words;
use crate::ui::detail::{self, Beside};
use crate::ui::list::{Cursor, Mark, Pages, Rows};
use crate::ui::load::{ask_page, loaded};
use crate::ui::parts::{Copy, Empty, EmptyPart, When};
use crate::ui::rendered::Markdown;
use crate::ui::value::Value;

/// The number of segments that are shown at first.
const SHOWN: usize = 50;

/// Draws the page of agents.
pub(super) fn draw() -> AnyView {
    let answer = ask_page(pages::Page::Agents);
    let cursor = Cursor::new();
    loaded(answer, move |view: AgentsView| {
        view! { <List view cursor/> }.into_any()
    })
}

#[component]
fn List(view: AgentsView, cursor: Cursor) -> impl IntoView {
    let elsewhere = elsewhere(&view.elsewhere);
    if view.agents.is_empty() && !view.elsewhere.is_empty() {
        return view! {
            {elsewhere}
        }
        .into_any();
    }
    if view.agents.is_empty() {
        return view! {
            <EmptyPart part=RunPart::Agents what="No agents" why="The run used no agent with a memory, or the file of the agents was not opened: a project's agents are in .prose/agents."/>
        }
        .into_any();
    }
    let selected = detail::selected_or_first(|| "0".to_owned());
    provide_context(StoredValue::new(view.agents.clone()));
    let on_key = detail::opening(Page::Agents, selected, |_, row: &AgentView| {
        row.agent.to_string()
    });
    if let Some(at) = selected.get_untracked().and_then(|item| item.parse().ok()) {
        cursor.begin(at);
    }
    let mark = move |row: &AgentView| Mark {
        selected: selected
            .get()
            .is_some_and(|item| item == row.agent.to_string()),
        ..Mark::default()
    };
    let list = view! {
        <Rows pages=Pages::of(view.agents) height=52.0 label="Agents" class="agent-rows" cursor draw=row mark on_key/>
    };
    view! {
        {elsewhere}
        <Beside list=list.into_any() open=selected.into() label="Agent" draw=open/>
    }
    .into_any()
}

/// Draws agents whose memory is at a path set by the program, with the commands that read it.
fn elsewhere(agents: &[AgentElsewhere]) -> AnyView {
    let agents = agents.iter().map(|agent| {
        let command = agent.command.clone();
        view! {
            <p class="aside">
                <b class="mono" dir="auto">{agent.name.clone()}</b>
                " keeps its memory at "<code>{agent.path.clone()}</code>". The viewer does not open paths that a run's data names."
            </p>
            <div class="command">
                <span class="faint">"Read the memory"</span><code>{command.clone()}</code>
                <Copy text=Signal::stored(command) label="Copy command"/>
            </div>
        }
    });
    agents.collect_view().into_any()
}

fn row(_: u64, agent: &AgentView) -> AnyView {
    let (segments, memory) = (agent.segment_words(), agent.memory_words(words::bytes));
    view! {
        <span role="gridcell" class="two" title=agent.memory_preview.clone()>
            <span><b class="mono" dir="auto">{agent.name.clone()}</b>" "<em>{agent.scope.clone()}</em></span>
            <small>{segments}" · "{memory}</small>
        </span>
    }
    .into_any()
}

fn open(item: String) -> AnyView {
    let agents: StoredValue<Vec<AgentView>> = expect_context();
    let agent = item.parse::<u32>().ok().and_then(|n| {
        agents.with_value(|agents| agents.iter().find(|agent| agent.agent == n).cloned())
    });
    match agent {
        Some(agent) => view! { <Agent agent/> }.into_any(),
        None => view! { <Empty what="Nothing there" why="No agent has that number."/> }.into_any(),
    }
}

#[component]
fn Agent(agent: AgentView) -> impl IntoView {
    let shown = RwSignal::new(SHOWN);
    let many = agent.segments.len();
    let segments = StoredValue::new(agent.segments.clone());
    let memory = match agent.memory_len {
        Some(_) => {
            view! { <Value of=ValueOf::Memory(agent.agent) name=format!("{}-memory", agent.name)/> }
                .into_any()
        }
        None if agent.memory_unread => {
            view! { <p class="faint">"The memory is not readable, so it is unknown whether the agent has a memory."</p> }
                .into_any()
        }
        None => view! { <p class="faint">"The agent has no memory."</p> }.into_any(),
    };
    let no_time = match agent.memory_unread {
        true => "not readable",
        false => "not recorded",
    };
    let none = match agent.segments_unread {
        true => "The segments are not readable.",
        false => "No segment was recorded.",
    };
    view! {
        <p class="faint">"Agent, scope "{agent.scope.clone()}</p>
        <h2 class="statement"><code>{agent.name.clone()}</code></h2>
        {agent.shadowed.then(|| view! { <p class="aside">"This run does not use this agent: another store of the same scope has an agent with the same name."</p> })}
        <dl class="pairs">
            <dt>"Store"</dt><dd><code>{agent.store.clone()}</code></dd>
            <dt>"First written"</dt><dd><When stamp=agent.created.clone() missing=no_time/></dd>
            <dt>"Last written"</dt><dd><When stamp=agent.updated.clone() missing=no_time/></dd>
        </dl>
        <h3>"Memory"</h3>
        {memory}
        <h3>{words::first_upper(&agent.segment_words())}</h3>
        {(many == 0).then(|| view! { <p class="faint">{none}</p> })}
        {move || segments.with_value(|segments| {
            segments.iter().take(shown.get()).map(segment).collect_view()
        })}
        {move || (shown.get() < many).then(|| view! {
            <p><button on:click=move |_| shown.update(|n| *n += 200)>"Show more of "{words::count(many as u64)}</button></p>
        })}
    }
}

fn segment(segment: &SegmentView) -> AnyView {
    let changes = segment.changes.iter().map(|(mark, line)| {
        let class = if *mark == '+' { "add" } else { "del" };
        view! { <li class=class><i aria-hidden="true">{mark.to_string()}</i><span dir="auto">{line.clone()}</span></li> }
    });
    let changed = (!segment.changes.is_empty()).then(|| {
        view! {
            <details>
                <summary>{words::counted(segment.changes.len() as u64, "line", "lines")}" changed since the segment before"</summary>
                <ul class="changes">{changes.collect_view()}</ul>
            </details>
        }
    });
    view! {
        <section class="segment">
            <h4>"#"{segment.number}<span class="faint"><When stamp=segment.timestamp.clone()/></span></h4>
            {segment.prompt.clone().map(|prompt| view! { <blockquote class="asked-it" dir="auto">{prompt}</blockquote> })}
            {segment.summary.clone().map(|summary| view! { <Markdown text=summary/> })}
            {changed}
        </section>
    }
    .into_any()
}
