//! Draws the form for a decision on a gate. If the page's server allows it, the decision is recorded in the run.
//! Otherwise the form shows a file and commands that record the decision.

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::gate::decision::Verdict;
use prosescope_core::view::GateView;

use super::gate::line;
use crate::protocol::{DecisionMade, Request, Trouble};
use crate::served::{Decides, decide};
use crate::ui::load::TroubleNote;
use crate::ui::parts::{live, save_text};
use crate::ui::state::{App, Run};

/// The result after the user has sent the form.
#[derive(Clone)]
enum Done {
    /// The decision is recorded in the run. Contains a sentence for the user.
    Recorded(String),
    /// The decision is written to a file but not yet recorded.
    Made(DecisionMade),
    Failed(Trouble),
}

/// Draws the input fields and the button.
pub(super) fn draw(gate: GateView, decision: Verdict) -> AnyView {
    let (app, run) = (App::get(), Run::get());
    // If the server may record decisions, the page contains the permission and the principal's name.
    let here = Decides::offered().filter(|_| gate.seen.is_some());
    let name = RwSignal::new(here.as_ref().map_or_else(String::new, |of| of.by.clone()));
    let comment = RwSignal::new(String::new());
    let done = RwSignal::new(None::<Done>);
    let doing = RwSignal::new(false);
    let fixed = here.is_some();
    let allow = gate.allow.clone();
    let word = match decision {
        Verdict::Approved => "Approve",
        Verdict::Rejected => "Reject",
    };
    let says = match fixed {
        true => format!("{word} now"),
        false => format!("{word}: show the command"),
    };
    let act = move |_| {
        let (gate, here) = (gate.clone(), here.clone());
        let said = comment.get_untracked().trim().to_owned();
        let said = (!said.is_empty()).then_some(said);
        doing.set(true);
        spawn_local(async move {
            let came = match here {
                Some(here) => decide(&here, &gate, decision, said)
                    .await
                    .map(Done::Recorded),
                None => {
                    let request = Request::Decide {
                        place: run.place(),
                        gate: gate.id.clone(),
                        decision,
                        comment: said,
                        by: name.get_untracked().trim().to_owned(),
                        on_behalf_of: None,
                    };
                    app.ask::<DecisionMade>(request).await.map(Done::Made)
                }
            };
            // `try_set` is used because the user may have closed the sheet, which removes the signals.
            doing.try_set(false);
            done.try_set(Some(came.unwrap_or_else(Done::Failed)));
        });
    };
    let names: Vec<String> = match fixed {
        true => Vec::new(),
        false => allow,
    };
    let names = names.into_iter().take(6).map(|one| {
        let said = one.clone();
        view! { <button on:click=move |_| name.set(said.clone())>{one}</button> }
    });
    let names = names.collect_view();
    let lacks = move || name.read().trim().is_empty() || doing.get();
    let reason = match decision {
        Verdict::Approved => "Comment (may be empty)",
        Verdict::Rejected => "Reason",
    };
    view! {
        <p class="fields">
            <label><span>"As"</span><input type="text" autofocus=!fixed autocomplete="off" prop:value=move || name.get() prop:disabled=fixed
                on:input=move |event| name.set(event_target_value(&event))/></label>
            <label class="grow"><span>{reason}</span><input type="text" autocomplete="off" prop:value=move || comment.get()
                on:input=move |event| comment.set(event_target_value(&event))/></label>
            <button class="primary" prop:disabled=lacks on:click=act>{says}</button>
        </p>
        <p class="line-up">{names}</p>
        <p class="faint">"The name is recorded as given; it is not verified."</p>
        {live(move || done.get().map(draw_result))}
    }
    .into_any()
}

fn draw_result(done: Done) -> AnyView {
    match done {
        Done::Recorded(words) => {
            view! { <p class="made" role="status"><b>{words}</b></p> }.into_any()
        }
        Done::Failed(trouble) => view! { <TroubleNote trouble/> }.into_any(),
        Done::Made(made) => {
            let (name, text) = (made.name.clone(), made.text);
            let save = move |_| save_text(&text, &name);
            view! {
                <section class="made" role="status">
                    <p><b>"Not recorded yet."</b>" This page cannot write to your files. The run's owner records the decision with this command:"</p>
                    {line(made.command)}
                    <p>"Or send the decision as a file to the run's owner, who records it with the second command:"</p>
                    <p class="line-up"><button on:click=save>"Save "{made.name}</button></p>
                    {line(made.import_command)}
                </section>
            }
            .into_any()
        }
    }
}
