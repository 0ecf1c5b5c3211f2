//! A gate that waits: what it asks, who may decide and until when, and what will be recorded.

use leptos::prelude::*;
use prosescope_core::view::GateView;

use super::Sheet;
use crate::route::Page;
use crate::text::words;
use crate::ui::parts::{Copy, When, link, live, pairs};
use crate::ui::state::{App, Run};

/// What may be recorded of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Somebody approves.
    Approve,
    /// Somebody rejects.
    Reject,
    /// Nobody decided in time.
    TimeOut,
}

impl Decision {
    /// What its sheet is called.
    pub(super) fn title(self) -> &'static str {
        match self {
            Decision::Approve => "Approve",
            Decision::Reject => "Reject",
            Decision::TimeOut => "Record the time-out",
        }
    }
}

/// What the gate asks; its name where several wait.
pub(super) fn asked(gate: &GateView, named: bool) -> AnyView {
    let name = named.then(|| {
        let to = Run::get().item(Page::Gates, &gate.id);
        view! { <b>{link(to, gate.id.as_str())}</b>" " }
    });
    let late = gate.overdue.then_some(
        "It is too late to approve. Record the time-out; it counts as rejected. ",
    );
    let facts = [
        Some(format!("may decide: {}", gate.allow_words)),
        gate.deadline.as_ref().map(|at| format!("until {}", words::moment(at))),
        gate.remaining.clone().filter(|_| !gate.overdue),
    ];
    let facts = facts.into_iter().flatten();
    let facts = facts.map(|fact| view! { <span dir="auto">{fact}</span> }).collect_view();
    view! {
        <p class="reason question">{name}<span class="soft">{late}</span><bdi>{gate.prompt.clone()}</bdi></p>
        <p class="meta">{facts}</p>
    }
    .into_any()
}

/// The buttons that decide it, or that record that nobody did.
pub(super) fn buttons(app: App, id: String, late: bool) -> AnyView {
    let opens = move |decision: Decision| {
        let id = id.clone();
        move |_| app.sheet.set(Some(Sheet::Gate(id.clone(), decision)))
    };
    match late {
        true => view! { <button class="primary" title="Decide the gate (a)" data-key="a" on:click=opens(Decision::TimeOut)>"Record the time-out…"</button> }.into_any(),
        false => view! {
            <button on:click=opens(Decision::Reject)>"Reject…"</button>
            <button class="primary" title="Decide the gate (a)" data-key="a" on:click=opens(Decision::Approve)>"Approve…"</button>
        }
        .into_any(),
    }
}

/// What will be recorded, and the command that does it.
pub(super) fn sheet(id: String, decision: Decision) -> AnyView {
    let run = Run::get();
    live(move || {
        let overview = run.overview.get()?.ok()?;
        let gate = overview.pending_gates.into_iter().find(|gate| gate.id == id);
        Some(match gate {
            Some(gate) => recorded(gate, decision),
            None => view! { <p>"This gate does not wait any more."</p> }.into_any(),
        })
    })
}

fn recorded(gate: GateView, decision: Decision) -> AnyView {
    let command = match decision {
        Decision::Approve => gate.approve_command.clone(),
        Decision::Reject => gate.reject_command.clone(),
        Decision::TimeOut => gate.expire_command.clone().unwrap_or_default(),
    };
    let then = match (decision, &gate.on_reject) {
        (Decision::Approve, _) => "the program goes on behind the gate".to_owned(),
        (_, Some(does)) => format!("the program does: {does}"),
        (_, None) => "what the program does then is not recorded".to_owned(),
    };
    let facts = [
        ("Gate", view! { <code>{gate.id.clone()}</code> }.into_any()),
        ("It asks", view! { <bdi>{gate.prompt.clone()}</bdi> }.into_any()),
        ("May decide", gate.allow_words.clone().into_any()),
        ("Deadline", view! { <When stamp=gate.deadline.clone() missing="none"/> }.into_any()),
        ("Then", words::first_upper(&then).into_any()),
    ];
    let facts = facts.map(|(name, fact)| (name.to_owned(), fact));
    let name = (decision != Decision::TimeOut).then_some(
        "Put your name behind --as: it is recorded as who decided. Prosescope does not check who you are.",
    );
    view! {
        {pairs("pairs", facts.into())}
        <p class="soft">"This page cannot write to your files. The command records it:"</p>
        <p class="command"><code>{command.clone()}</code><Copy text=Signal::stored(command) label="Copy command"/></p>
        <p class="faint">{name}</p>
    }
    .into_any()
}
