//! Draws the page of gates: waiting gates, decisions with the principals who made them, and the verification of the
//! audit log.

mod audit;

use leptos::prelude::*;
use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::{GateView, GatesView, RunPart};

use crate::route::Page;
use crate::text::words;
use crate::ui::clock;
use crate::ui::detail::{self, Beside};
use crate::ui::list::{Cursor, Mark, Pages, Rows};
use crate::ui::load::{ask_page, loaded};
use crate::ui::parts::{Copy, Empty, EmptyPart, Go, Pill, When};
use crate::ui::state::ShownRun;

/// Draws the page of gates.
pub(super) fn draw() -> AnyView {
    let answer = ask_page(pages::Page::Gates);
    loaded(answer, move |view: GatesView| {
        view! { <Gates view/> }.into_any()
    })
}

#[component]
fn Gates(view: GatesView) -> impl IntoView {
    let run = ShownRun::get();
    if view.gates.is_empty() && view.audit.rows.is_empty() {
        return view! {
            <EmptyPart part=RunPart::Gates what="No gates" why="The program has not asked for an approval."/>
        }
        .into_any();
    }
    let show = detail::query("show");
    let is_audit = Memo::new(move |_| show.get().as_deref() == Some("audit"));
    let rows = view.audit.rows.len() as u64;
    let tab = move |audit: bool| {
        let route = run.page(Page::Gates);
        if audit {
            route.with("show", "audit")
        } else {
            route
        }
        .to_string()
    };
    let chain = audit::chain(&view.audit);
    let (gates, log) = (view.gates, view.audit);
    let count = gates.len() as u64;
    view! {
        <div class="tools">
            <nav class="tabs" aria-label="Show">
                <a href=tab(false) aria-current=move || (!is_audit.get()).then_some("true")>{words::counted(count, "gate", "gates")}</a>
                <a href=tab(true) aria-current=move || is_audit.get().then_some("true")>"Audit log, "{words::counted(rows, "row", "rows")}</a>
            </nav>
        </div>
        {chain}
        {move || if is_audit.get() {
            audit::draw(&log)
        } else {
            view! { <List gates=gates.clone()/> }.into_any()
        }}
    }
    .into_any()
}

#[component]
fn List(gates: Vec<GateView>) -> impl IntoView {
    if gates.is_empty() {
        return view! { <EmptyPart part=RunPart::Gates what="No gates" why="The audit log names gates, but the run has no record of the gates themselves."/> }.into_any();
    }
    let pending = gates
        .iter()
        .find(|gate| gate.status == "pending")
        .or(gates.first());
    let first = pending.map(|gate| gate.id.clone()).unwrap_or_default();
    let selected = detail::selected_or_first(move || first.clone());
    provide_context(StoredValue::new(gates.clone()));
    let on_key = detail::opening(Page::Gates, selected, |_, row: &GateView| row.id.clone());
    let cursor = Cursor::new();
    if let Some(at) = selected.with_untracked(|item| {
        gates
            .iter()
            .position(|gate| Some(&gate.id) == item.as_ref())
    }) {
        cursor.go(at as u64);
    }
    let mark = move |row: &GateView| Mark {
        selected: selected.with(|item| item.as_ref() == Some(&row.id)),
        ..Mark::default()
    };
    let list = view! {
        <Rows pages=Pages::of(gates) height=52.0 label="Gates" class="gate-rows" cursor draw=row mark on_key/>
    };
    view! { <Beside list=list.into_any() open=selected.into() label="Gate" draw=open/> }.into_any()
}

fn row(_: u64, gate: &GateView) -> AnyView {
    let second = match (clock::left(gate), &gate.resolved_by) {
        (Some(left), _) => left,
        (None, Some(by)) => format!("by {by}").into_any(),
        (None, None) => "no deadline".into_any(),
    };
    view! {
        <span role="gridcell">{match gate.overdue {
            true => view! { <Pill status="timeout" words="overdue"/> }.into_any(),
            false => view! { <Pill status=gate.status.clone()/> }.into_any(),
        }}</span>
        <span role="gridcell" class="two" title=gate.prompt.clone()>
            <b class="mono">{gate.id.clone()}</b><small>{second}</small>
        </span>
    }
    .into_any()
}

/// Draws the status of a gate. A waiting gate whose deadline has passed is drawn as overdue.
pub(super) fn pill(gate: &GateView) -> AnyView {
    match gate.overdue {
        true => view! { <Pill status="timeout" words="overdue"/> }.into_any(),
        false => {
            view! { <Pill status=gate.status.clone() words=gate.standing.clone()/> }.into_any()
        }
    }
}

/// Draws the consequence of a passed deadline, and the command that records the time-out.
#[component]
pub(super) fn Late(gate: GateView, command: String) -> impl IntoView {
    let consequence = gate.on_reject.clone();
    view! {
        <h3>"Deadline passed"</h3>
        <p class="late">
            "It is too late to approve. Record the time-out, which counts as a rejection"
            {consequence.map(|code| view! { ": "<code>{code}</code> })}"."
        </p>
        <div class="command">
            <span class="faint">"Record the time-out"</span><code>{command.clone()}</code>
            <Copy text=Signal::stored(command) label="Copy command"/>
        </div>
    }
}

fn open(item: String) -> AnyView {
    let gates: StoredValue<Vec<GateView>> = expect_context();
    match gates.with_value(|gates| gates.iter().find(|gate| gate.id == item).cloned()) {
        Some(gate) => view! { <Gate gate/> }.into_any(),
        None => view! { <Empty what="Nothing there" why="No gate has that id."/> }.into_any(),
    }
}

#[component]
fn Gate(gate: GateView) -> impl IntoView {
    let run = ShownRun::get();
    let late = gate
        .expire_command
        .clone()
        .map(|command| view! { <Late gate=gate.clone() command/> });
    let commands = (late.is_none() && !gate.approve_command.is_empty() && gate.status == "pending")
        .then(|| {
            let commands = [
                ("Approve", gate.approve_command.clone()),
                ("Reject", gate.reject_command.clone()),
            ];
            let commands = commands.map(|(label, command)| {
                view! {
                    <div class="command">
                        <span class="faint">{label}</span><code>{command.clone()}</code>
                        <Copy text=Signal::stored(command) label="Copy command"/>
                    </div>
                }
            });
            view! {
                <h3>"To decide"</h3>
                {commands}
                <p class="faint">{gate.is_copy.then_some("This is a copy. ")}"Each command decides in the run. Replace the words in capitals; the name is not verified."</p>
            }
        });
    let waited = gate.waited.clone().map(|waited| {
        let name = if gate.resolved.is_some() {
            "Waited"
        } else {
            "Waiting for"
        };
        view! { <dt>{name}</dt><dd>{waited}</dd> }
    });
    let node = gate.node.map(|node| {
        let item = gate
            .execution_id
            .map_or_else(|| format!("~{node}"), |id| id.to_string());
        view! {
            <dt>"Waits at"</dt>
            <dd><Go to=run.item(Page::Trace, item)>"the gate's row in the trace"</Go></dd>
        }
    });
    let history = audit::history(&gate.history);
    view! {
        <p class="line-up">{pill(&gate)}</p>
        <h2 class="statement"><code>{gate.id.clone()}</code></h2>
        {(!gate.prompt.is_empty()).then(|| view! { <blockquote class="asked-it" dir="auto">{gate.prompt.clone()}</blockquote> })}
        <dl class="pairs">
            <dt>"May decide"</dt><dd>{gate.allow_words.clone()}</dd>
            <dt>"Deadline"</dt>
            <dd>{match gate.deadline.clone() {
                Some(deadline) => {
                    let left = clock::left(&gate);
                    view! { <When stamp=Some(deadline)/>{left.map(|left| view! { " · "{left} })} }.into_any()
                }
                None => "none".into_any(),
            }}{gate.timeout.clone().map(|timeout| view! { <span class="faint">" ("<code>{timeout}</code>")"</span> })}</dd>
            {gate.on_reject.clone().map(|code| view! { <dt>"On rejection"</dt><dd><code>{code}</code></dd> })}
            <dt>"Created"</dt><dd><When stamp=gate.created.clone()/></dd>
            {gate.unsealed.clone().map(|why| view! { <dt>"Unsealed"</dt><dd>{why}</dd> })}
            {gate.resolved.clone().map(|resolved| view! { <dt>"Decided"</dt><dd><When stamp=Some(resolved)/></dd> })}
            {gate.resolved_by.clone().map(|by| view! { <dt>"By"</dt><dd><bdi>{by}</bdi><span class="faint">" (as claimed)"</span></dd> })}
            {gate.comment.clone().map(|comment| view! { <dt>"Comment"</dt><dd dir="auto">{comment}</dd> })}
            {waited}
            {node}
            {gate.metadata.clone().map(|json| view! { <dt>"Metadata"</dt><dd><code class="wrap">{json}</code></dd> })}
        </dl>
        {late}
        {commands}
        <h3>"History"</h3>
        {history}
    }
}
