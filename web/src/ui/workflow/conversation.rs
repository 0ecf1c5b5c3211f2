//! What waits for an answer, how the workflow stands, and what was said.

use leptos::prelude::*;
use prosescope_workflow::page::{Asking, Message, WorkflowPage};

use super::Shown;
use super::shown::{Folded, opened, said, value};
use crate::route::Tab;
use crate::text::words;
use crate::ui::parts::{Copy, Empty, Go, Pill, When, live, pairs};
use crate::ui::workflows::{short_id, spoken};

/// Messages that are shown at first: the newest.
const SHOWN: usize = 50;

/// Draws the page.
pub(super) fn draw(page: WorkflowPage) -> AnyView {
    let several = page.asks.len() > 1;
    let status = page.status.clone();
    let asks = page.asks.into_iter();
    let asks = asks.map(|asking| ask(asking, &status, several));
    let nothing = page.messages.is_empty() && page.summary.is_none();
    let version = match page.version {
        Some(version) => version.to_string().into_any(),
        None => view! { <span class="none">"not recorded"</span> }.into_any(),
    };
    let id = view! {
        <div class="whole-id"><code>{page.id.clone()}</code><Copy text=Signal::stored(page.id) label="Copy id"/></div>
    };
    let facts = vec![
        (
            "Begun".to_owned(),
            view! { <When stamp=page.created_at/> }.into_any(),
        ),
        (
            "Changed".to_owned(),
            view! { <When stamp=page.updated_at/> }.into_any(),
        ),
        ("Version".to_owned(), version),
        ("Id".to_owned(), id.into_any()),
    ];
    view! {
        <div class="tools"><h1>"Conversation"</h1><Pill status=status.clone() words=spoken(&status)/></div>
        {asks.collect_view()}
        {page.error.map(|error| view! {
            <section class="note bad"><div class="grow">
                <p><b>"The workflow has an error"</b></p>
                {opened(error)}
            </div></section>
        })}
        {pairs("pairs", facts)}
        {page.summary.map(|summary| view! { <h2>"Summary"</h2><div class="summary-text">{said(summary)}</div> })}
        {match nothing {
            true => view! { <div class="after-facts"><Empty what="No messages" why="The context records no summary and no messages; the runs may have their inputs and outputs."/></div> }.into_any(),
            false => view! { <Messages messages=page.messages/> }.into_any(),
        }}
    }
    .into_any()
}

/// A question that is open, and the command that answers it.
fn ask(asking: Asking, status: &str, several: bool) -> AnyView {
    let shown = Shown::get();
    let to = shown.item(Tab::Runs, &asking.run);
    let status = spoken(status);
    view! {
        <section class="note wait asking">
            <div class="grow">
                <p><b>"Waits for an answer"</b>{several.then(|| view! { <span class="faint">" · run "<Go to=to>{short_id(&asking.run)}</Go></span> })}</p>
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
                        <p class="faint">"The viewer only reads. Add "<code>"--state FILE"</code>" where the database is not the project's own."</p>
                    }.into_any(),
                    None => view! { <p class="soft">"An answer is refused while the workflow has the status "<b>{status}</b>"."</p> }.into_any(),
                }}
            </div>
        </section>
    }
    .into_any()
}

#[component]
fn Messages(messages: Vec<Message>) -> impl IntoView {
    let many = messages.len();
    let held = StoredValue::new(messages);
    let (count, set_count) = signal(SHOWN);
    view! {
        <h2>"Messages"</h2>
        {(many == 0).then(|| view! { <p class="faint">"None are kept beside the summary."</p> })}
        {live(move || (count.get() < many).then(|| view! {
            <p class="earlier"><button on:click=move |_| set_count.update(|n| *n += 200)>
                "Show earlier of "{words::counted(many as u64, "message", "messages")}
            </button></p>
        }))}
        <ol class="messages">
            {live(move || held.with_value(|messages| {
                let from = many.saturating_sub(count.get());
                messages.iter().skip(from).cloned().map(message).collect_view()
            }))}
        </ol>
    }
}

fn message(message: Message) -> AnyView {
    let role = message.role.unwrap_or_default();
    let class = match role.as_str() {
        "user" => "message user",
        _ => "message",
    };
    let name = match role.is_empty() {
        true => view! { <span class="none">"role not recorded"</span> }.into_any(),
        false => view! { <b>{words::first_upper(&role)}</b> }.into_any(),
    };
    let more = message.more.into_iter().map(|member| {
        view! { <div class="more"><span class="faint">{member.name}" "</span>{value(member.value, "JSON")}</div> }
    });
    view! {
        <li class=class>
            <div class="by">
                {name}
                <small>{message.seq.map(|seq| view! { <span>"#"{seq}" "</span> })}{message.at.map(|at| view! { <When stamp=Some(at)/> })}</small>
            </div>
            <div class="said">
                {match message.content {
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
