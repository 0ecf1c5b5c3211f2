//! Draws the conversation of a workflow as one thread: messages, runs, questions and answers. The question that waits
//! for an answer is at the end of the thread.

use std::sync::Arc;

use leptos::prelude::*;
use prosescope_core::model::time::Stamp;
use prosescope_workflow::page::{Asking, Message, WorkflowPage};
use prosescope_workflow::thread::ThreadItem;

use super::run::turn;
use super::shown::{Folded, fold, hash_of, opened, said, value};
use super::{ShownWorkflow, data, events};
use crate::route::InThread;
use crate::text::words;
use crate::ui::parts::{Copy, Empty, Go, Pill, When, live};
use crate::ui::workflows::{short_id, spoken};

/// The number of parts that are shown at first. These are the newest parts.
const SHOWN: usize = 60;

/// The workflow whose thread is drawn.
struct Drawn {
    page: WorkflowPage,
    /// Whether any message has a time.
    is_timed: bool,
}

/// Draws the page of the conversation.
pub(super) fn draw(page: WorkflowPage) -> AnyView {
    let shown = ShownWorkflow::get();
    let at_foot = stands_at_foot() || shown.is_first(!page.asks.is_empty());
    let many = page.thread.len();
    let drawn = Arc::new(Drawn {
        is_timed: page.messages.iter().any(|message| message.at.is_some()),
        page,
    });
    let (count, set_count) = signal(SHOWN.max(shown.kept.with_value(|kept| kept.parts)));
    let show = move |parts: usize| {
        if parts > count.get_untracked() {
            set_count.set(parts);
            shown.kept.update_value(|kept| kept.parts = parts);
        }
    };
    let of = drawn.clone();
    let selected = shown.selected();
    Effect::new(move || {
        let chosen = selected.get();
        let at = chosen.as_ref().and_then(|chosen| find(&of, chosen));
        if let Some(at) = at {
            show(many - at);
        }
        shown.reach(chosen);
    });
    if at_foot && selected.read_untracked().is_none() {
        request_animation_frame(to_foot);
    }
    let page = &drawn.page;
    let version = match page.version {
        Some(version) => version.to_string().into_any(),
        None => view! { <span class="none">"not recorded"</span> }.into_any(),
    };
    let several = page.asks.len() > 1;
    let asks = page.asks.iter().cloned();
    let asks = asks.map(|asking| ask(asking, &page.status, several));
    let list = drawn.clone();
    view! {
        <div class="tools"><h1 dir="auto">{shown.title()}</h1></div>
        <p class="meta">
            <Pill status=page.status.clone() words=spoken(&page.status)/>
            <span>"Begun "<When stamp=page.created_at.clone()/></span>
            <span>"Changed "<When stamp=page.updated_at.clone()/></span>
            <span>"Version "{version}</span>
            <span class="whole-id"><code>{page.id.clone()}</code><Copy text=Signal::stored(page.id.clone()) label="Copy id"/></span>
        </p>
        {page.error.clone().map(|error| view! {
            <section class="note bad"><div class="grow">
                <p><b>"The workflow has an error"</b></p>
                {opened(error)}
            </div></section>
        })}
        {page.summary.clone().map(|summary| view! { <h2>"Summary"</h2><div class="summary-text">{said(summary)}</div> })}
        {(!page.steps.is_empty()).then(|| {
            let steps = page.steps.clone();
            let line = words::counted(steps.len() as u64, "important step", "important steps");
            fold("steps", "folded", line.into_any(), move || data::steps(steps.clone()))
        })}
        {(many == 0 && page.summary.is_none()).then(|| view! {
            <div class="after-facts"><Empty what="No messages yet" why="The context records no summary and no messages, and there are no runs."/></div>
        })}
        {(!drawn.is_timed && !page.messages.is_empty()).then(|| view! { <p class="faint">"The messages have no times."</p> })}
        {live(move || (count.get() < many).then(|| view! {
            <p class="earlier"><button on:click=move |_| show(count.get_untracked() + 200)>
                "Show earlier of "{words::counted(many as u64, "part", "parts")}
            </button></p>
        }))}
        <ol class="thread">{live(move || parts(&list, many.saturating_sub(count.get())))}</ol>
        {events::all()}
        {asks.collect_view()}
    }
    .into_any()
}

/// Returns the index of the selected item among the parts.
fn find(drawn: &Drawn, chosen: &InThread) -> Option<usize> {
    let page = &drawn.page;
    page.thread.iter().position(|part| match (part, chosen) {
        (ThreadItem::Run { at, .. }, InThread::Run(id)) => {
            page.runs.get(*at).is_some_and(|run| run.id == *id)
        }
        _ => false,
    })
}

fn scroller() -> Option<web_sys::Element> {
    document().get_element_by_id("main")
}

/// Returns whether the end of the thread is in view, before it is redrawn.
fn stands_at_foot() -> bool {
    scroller().is_some_and(|main| {
        let below = main.scroll_height() - main.scroll_top() - main.client_height();
        main.scroll_height() > main.client_height() && below < 40
    })
}

fn to_foot() {
    if let Some(main) = scroller() {
        main.set_scroll_top(main.scroll_height());
    }
}

/// Draws the parts of the thread from the index `from` on. A line with the day is drawn where the day changes.
fn parts(drawn: &Drawn, from: usize) -> AnyView {
    let page = &drawn.page;
    let mut day = String::new();
    let mut views = Vec::new();
    for part in page.thread.iter().skip(from) {
        let at = match part {
            ThreadItem::Message { at } => page.messages.get(*at).and_then(|said| said.at.as_ref()),
            ThreadItem::Run { at, is_placed } => {
                let run = page.runs.get(*at).filter(|_| *is_placed);
                run.and_then(|run| run.created_at.as_ref())
            }
            ThreadItem::Question { at, .. } => at.as_ref(),
        };
        let of = at.map(day_of).unwrap_or_default();
        // If the messages have no times, no day is shown, because the day of a run would seem to be that of the
        // messages after it.
        let is_told = drawn.is_timed || page.messages.is_empty();
        if is_told && !of.is_empty() && of != day {
            views.push(view! { <li class="on-day">{of.clone()}</li> }.into_any());
            day = of;
        }
        let view = match part {
            ThreadItem::Message { at } => {
                let said = page.messages.get(*at).cloned();
                said.map(|said| message(said, drawn.is_timed))
            }
            ThreadItem::Run { at, is_placed } => {
                let newest = page.newest_run.as_ref();
                let run = page.runs.get(*at);
                run.map(|run| turn(*at + 1, run, newest == Some(&run.id), *is_placed))
            }
            ThreadItem::Question {
                run,
                text,
                at,
                is_answered,
            } => Some(question(*run, text.text.clone(), at.clone(), *is_answered)),
        };
        views.extend(view);
    }
    views.into_any()
}

/// Returns the day of a time, such as `18 Jan 2026 UTC`. `UTC` is left out if the time has no zone.
fn day_of(stamp: &Stamp) -> String {
    match (words::day(stamp), stamp) {
        (day, Stamp::At(_)) => format!("{day} UTC"),
        (day, _) => day,
    }
}

fn message(said_of: Message, is_timed: bool) -> AnyView {
    let role = said_of.role.unwrap_or_default();
    let class = match role.as_str() {
        "user" => "message user",
        _ => "message",
    };
    let name = match role.is_empty() {
        true => view! { <span class="none">"role not recorded"</span> }.into_any(),
        false => view! { <b>{words::first_upper(&role)}</b> }.into_any(),
    };
    let more = said_of.more.into_iter().map(|member| {
        view! { <div class="more"><span class="faint">{member.name}" "</span>{value(member.value, "JSON")}</div> }
    });
    view! {
        <li class=class>
            <div class="by">
                {name}
                <small>{said_of.seq.map(|seq| view! { <span>"#"{seq}" "</span> })}
                {is_timed.then(|| view! { <When stamp=said_of.at clock_only=true missing="no time"/> })}</small>
            </div>
            <div class="said">
                {match said_of.content {
                    Some(content) if content.json => view! { <Folded value=content label="Content, JSON"/> }.into_any(),
                    Some(content) => said(content),
                    None => view! { <p class="none">"content not recorded"</p> }.into_any(),
                }}
                {more.collect_view()}
            </div>
        </li>
    }
    .into_any()
}

/// Draws a question that no longer waits for an answer.
fn question(run: Option<usize>, text: String, at: Option<Stamp>, is_answered: bool) -> AnyView {
    let run = run.map(|run| format!("by run {} ", run + 1));
    view! {
        <li class="message asks">
            <div class="by"><b>"Asked"</b><small><span>{run}</span>{at.map(|at| view! { <When stamp=Some(at) clock_only=true/> })}</small></div>
            <div class="said">
                <blockquote class="asked-it" dir="auto">{text}</blockquote>
                {(!is_answered).then(|| view! { <p class="more faint">"No answer is recorded."</p> })}
            </div>
        </li>
    }
    .into_any()
}

/// Draws a waiting question, and the command that answers it.
fn ask(asking: Asking, status: &str, several: bool) -> AnyView {
    let to = ShownWorkflow::get().item(InThread::Run(asking.run.clone()));
    let status = spoken(status);
    view! {
        <section class="note wait asking">
            <div class="grow">
                <p><b>"Waits for an answer"</b>
                    {several.then(|| view! { <span class="faint">" · run "<Go to=to>{short_id(&asking.run)}</Go></span> })}
                    {asking.at.map(|at| view! { <span class="faint">" · asked "<When stamp=Some(at)/></span> })}
                </p>
                {match asking.question {
                    Some(question) => view! { <blockquote class="asked-it" dir="auto">{question}</blockquote> }.into_any(),
                    None => view! { <p class="none">"The question is not recorded."</p> }.into_any(),
                }}
                {match asking.command {
                    Some(command) => view! {
                        <div class="command">
                            <span class="faint">"Answer"</span><code>{command.clone()}</code>
                            <Copy text=Signal::stored(command) label="Copy command"/>
                        </div>
                        <p class="faint">"The viewer records nothing: run the command to answer. Add "<code>"--state FILE"</code>" if the database is not the project's own."</p>
                    }.into_any(),
                    None => view! { <p class="soft">"An answer is refused while the workflow has the status "<b>{status}</b>"."</p> }.into_any(),
                }}
            </div>
        </section>
    }
    .into_any()
}

impl ShownWorkflow {
    /// Unfolds the selected item and scrolls to it, but only once for each selection.
    fn reach(self, chosen: Option<InThread>) {
        let before = self
            .kept
            .try_update_value(|kept| std::mem::replace(&mut kept.reached, chosen.clone()));
        let Some(chosen) = chosen.filter(|chosen| before.flatten().as_ref() != Some(chosen)) else {
            return;
        };
        match chosen {
            InThread::Run(run) => {
                self.unfold(hash_of(("run", run.as_str())));
                scroll_to(format!("run-{run}"));
            }
            InThread::Events => {
                self.unfold(hash_of("events"));
                scroll_to("all-events".to_owned());
            }
            InThread::Event(event) => events::reach(self, event),
        }
    }
}

/// Scrolls to the element with this id after the next rendering. Does nothing if the element does not exist.
pub(super) fn scroll_to(id: String) {
    request_animation_frame(move || {
        if let Some(found) = document().get_element_by_id(&id) {
            found.scroll_into_view();
        }
    });
}
