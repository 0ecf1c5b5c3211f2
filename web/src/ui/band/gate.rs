//! Draws a waiting gate: its question, who may decide until when, and the sheet for a decision.

use leptos::prelude::*;
use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::{GateOutcomeView, GateView, ResumeView};

use super::decide::{self, DecisionDone};
use crate::protocol::GateDecision;
use crate::route::Page;
use crate::text::words;
use crate::ui::clock;
use crate::ui::load::{ask_page, loaded};
use crate::ui::pages::coded;
use crate::ui::parts::{Copy, When, link, live, pairs};
use crate::ui::sheet::focus_first;
use crate::ui::state::{App, Decision, Sheet, ShownRun};

impl Decision {
    /// Returns the title of the decision's sheet.
    pub(super) fn title(self) -> &'static str {
        match self {
            Decision::Approve => "Approve",
            Decision::Reject => "Reject",
            Decision::TimeOut => "Record the time-out",
        }
    }
}

/// Draws the gate's question; also the gate's name if several gates wait (`named`).
pub(super) fn asked(gate: &GateView, named: bool) -> AnyView {
    let name = named.then(|| {
        let to = ShownRun::get().item(Page::Gates, &gate.id);
        view! { <b>{link(to, gate.id.as_str())}</b>" " }
    });
    let late = gate
        .overdue
        .then_some("It is too late to approve. Record the time-out, which counts as a rejection. ");
    // A deadline that has passed is left out, because the headline shows it.
    let deadline = gate.deadline.as_ref().filter(|_| !gate.overdue);
    let facts = [
        Some(format!("may decide: {}", gate.allow_words).into_any()),
        deadline.map(|at| format!("until {}", words::moment(at)).into_any()),
        deadline.and_then(|_| clock::left(gate)),
    ];
    let facts = facts.into_iter().flatten();
    let facts = facts
        .map(|fact| view! { <span dir="auto">{fact}</span> })
        .collect_view();
    view! {
        <p class="reason question">{name}<span class="soft">{late}</span><bdi>{gate.prompt.clone()}</bdi></p>
        <p class="meta">{facts}</p>
    }
    .into_any()
}

/// Draws the buttons for a decision or, after the deadline, the button that records the time-out.
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

/// Draws the sheet for a decision on a gate.
pub(super) fn sheet(id: String, decision: Decision) -> AnyView {
    let answer = ask_page::<ResumeView>(pages::Page::Resume);
    // The result stays when the run is read again, and the gate no longer waits.
    let done = RwSignal::new(None);
    let comment = RwSignal::new(String::new());
    let asked = loaded(answer, move |view: ResumeView| {
        let gate = view.gates.into_iter().find(|of| of.gate.id == id);
        match gate {
            _ if done.with(|done| matches!(done, Some(Ok(_)))) => ().into_any(),
            Some(of) => recorded(of, decision, done, comment),
            None => view! { <p>"This gate no longer waits: it was decided, or its deadline has passed. The page Gates shows how."</p> }
                .into_any(),
        }
    });
    view! { {live(move || done.get().map(decide::draw_result))}{asked} }.into_any()
}

fn recorded(
    of: GateOutcomeView,
    decision: Decision,
    done: DecisionDone,
    comment: RwSignal<String>,
) -> AnyView {
    let GateOutcomeView { gate, outcomes } = of;
    // The deadline may pass while the sheet is open.
    let passed = gate.passed().filter(|_| decision != Decision::TimeOut);
    let passed = passed.map(|passed| {
        view! { <p class="late" role="status">{passed}". It is too late to decide."</p> }
    });
    let decision = match passed {
        Some(_) => Decision::TimeOut,
        None => decision,
    };
    let then = match decision {
        Decision::Approve => outcomes.if_approved,
        Decision::Reject => outcomes.if_rejected,
        Decision::TimeOut => outcomes.if_timed_out,
    };
    let then = words::first_upper(&then);
    let facts = [
        ("Gate", view! { <code>{gate.id.clone()}</code> }.into_any()),
        (
            "Question",
            view! { <bdi>{gate.prompt.clone()}</bdi> }.into_any(),
        ),
        ("May decide", gate.allow_words.clone().into_any()),
        (
            "Deadline",
            view! { <When stamp=gate.deadline.clone() missing="none"/> }.into_any(),
        ),
        ("Then", coded(&then)),
    ];
    let facts = facts.map(|(name, fact)| (name.to_owned(), fact));
    let acts = match (decision, gate.expire_command.clone()) {
        (Decision::TimeOut, command) => {
            let command = command.unwrap_or_default();
            view! { <p class="soft">"This command records the time-out:"</p>{line(command)} }
                .into_any()
        }
        (Decision::Approve, _) => decide::draw(gate, GateDecision::Approved, then, done, comment),
        (Decision::Reject, _) => decide::draw(gate, GateDecision::Rejected, then, done, comment),
    };
    focus_first();
    view! { {passed}{pairs("pairs", facts.into())}{acts} }.into_any()
}

/// Draws a command with a button that copies it.
pub(super) fn line(command: String) -> AnyView {
    view! {
        <p class="command"><code>{command.clone()}</code><Copy text=Signal::stored(command) label="Copy command" first=true/></p>
    }
    .into_any()
}
