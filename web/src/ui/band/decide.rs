//! Draws a decision on a gate. If the page's server allows it, a form records the decision in the run. Otherwise the
//! page shows the command that records it.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::pages::view::GateView;

use super::gate::line;
use crate::protocol::{GateDecision, Trouble};
use crate::served::{Decides, decide};
use crate::text::words;
use crate::ui::pages::coded;

/// The result of a decision: what was recorded and what follows, or why nothing was recorded; `None` before.
pub(super) type DecisionDone = RwSignal<Option<Result<String, Trouble>>>;

/// Draws the form or the command. `then` is a sentence without its full stop: what follows from the decision.
pub(super) fn draw(
    gate: GateView,
    decision: GateDecision,
    then: String,
    done: DecisionDone,
    comment: RwSignal<String>,
) -> AnyView {
    // If the server may record decisions, the page contains the permission and the principal's name.
    match Decides::offered().filter(|_| gate.seen.is_some()) {
        Some(here) => form(here, gate, decision, then, done, comment),
        None => command(gate, decision),
    }
}

fn command(gate: GateView, decision: GateDecision) -> AnyView {
    let (says, command) = match decision {
        GateDecision::Approved => (
            "This page records nothing. To approve, type this command where the run is, with your name for NAME:",
            gate.approve_command,
        ),
        GateDecision::Rejected => (
            "This page records nothing. To reject, type this command where the run is, with the reason for TEXT and your name for NAME:",
            gate.reject_command,
        ),
    };
    view! { <p class="soft">{says}</p>{line(command)}{claim()} }.into_any()
}

/// Draws the input fields and the button.
fn form(
    here: Decides,
    gate: GateView,
    decision: GateDecision,
    then: String,
    done: DecisionDone,
    comment: RwSignal<String>,
) -> AnyView {
    let by = here.by.clone();
    let doing = RwSignal::new(false);
    let (says, reason) = match decision {
        GateDecision::Approved => ("Approve now", "Comment (may be empty)"),
        GateDecision::Rejected => ("Reject now", "Reason"),
    };
    let is_needed = matches!(decision, GateDecision::Rejected);
    let act = move |event: SubmitEvent| {
        event.prevent_default();
        let (gate, here, then) = (gate.clone(), here.clone(), then.clone());
        let said = comment.get_untracked().trim().to_owned();
        let said = (!said.is_empty()).then_some(said);
        doing.set(true);
        spawn_local(async move {
            let came = decide(&here, &gate, decision, said).await;
            // `try_set` is used because the user may have closed the sheet, which removes the signals.
            doing.try_set(false);
            done.try_set(Some(came.map(|words| format!("{words} {then}."))));
        });
    };
    view! {
        <form class="fields" on:submit=act>
            <label><span>"As"</span><input type="text" prop:value=by prop:disabled=true/></label>
            <label class="grow"><span>{reason}</span><input type="text" autocomplete="off" data-first="" required=is_needed prop:value=move || comment.get()
                on:input=move |event| comment.set(event_target_value(&event))/></label>
            <button class="primary" prop:disabled=move || doing.get()>{says}</button>
        </form>
        {claim()}
    }
    .into_any()
}

fn claim() -> impl IntoView {
    view! { <p class="faint">"The name is recorded as given; it is not verified."</p> }
}

/// Draws the result of a decision.
pub(super) fn draw_result(done: Result<String, Trouble>) -> AnyView {
    match done {
        Ok(words) => view! { <p class="made" role="status"><b>{coded(&words)}</b></p> }.into_any(),
        // The note of a file that cannot be shown would offer to open the file again.
        Err(trouble) => view! {
            <section class="trouble" role="alert"><p class="found">{trouble.cause}</p><p class="next">{words::first_upper(&trouble.next)}</p></section>
        }
        .into_any(),
    }
}
