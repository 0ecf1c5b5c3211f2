//! What happened, where it stopped and why: the page that answers in ten seconds.

mod compact;
mod go_on;

use leptos::prelude::*;
use prosescope_core::time::Stamp;
use prosescope_core::view::{Failure, GateView, NodeRef, Overview, Part, RunSummary, TreeRow};

use crate::route::Page;
use crate::text::words;
use crate::ui::load::{TroubleNote, Waiting};
use crate::ui::parts::{Copy, Fact, Go, Pill};
use crate::ui::state::Run;

/// Draws the page.
pub(super) fn draw() -> AnyView {
    let run = Run::get();
    (move || match run.overview.get() {
        None => view! { {run.line().filter(|line| line.head_only.is_some()).map(|line| view! { <Meanwhile line/> })}<Waiting/> }.into_any(),
        Some(Err(trouble)) => view! { <TroubleNote trouble/> }.into_any(),
        Some(Ok(overview)) => view! { <Answer overview/> }.into_any(),
    })
    .into_any()
}

/// What is known of a large run while it is being read.
#[component]
fn Meanwhile(line: RunSummary) -> impl IntoView {
    let missing = || "not recorded".to_owned();
    let (started, last) = (line.started.as_ref(), line.last_sign.as_ref());
    let day = |of: Option<&Stamp>| of.map_or_else(String::new, words::day);
    view! {
        <h1>{words::first_upper(&line.status)}</h1>
        <p class="lede">{words::first_upper(&line.reason)}". All else is being read."</p>
        <dl class="facts meanwhile">
            <Fact name="Started" value=started.map_or_else(missing, words::clock)
                more=words::joined([&day(started), &by(line.started_from.as_deref())])/>
            <Fact name="Last sign of life" value=last.map_or_else(missing, words::clock)
                more=words::joined([&day(last), &changed(line.file_changed.as_ref())])/>
            <Fact name="Took" value=line.duration.clone().unwrap_or_else(missing) more=""/>
            <Fact name="Read as" value=line.form.clone() more=""/>
        </dl>
    }
}

/// What a time was read from.
fn by(from: Option<&str>) -> String {
    from.map_or_else(String::new, |from| format!("by {from}"))
}

/// The date of a file: no sign of life, for copies reset it.
fn changed(at: Option<&Stamp>) -> String {
    at.map_or_else(String::new, |at| {
        format!("a file changed on {}, which a copy resets", words::day(at))
    })
}

#[component]
fn Answer(overview: Overview) -> impl IntoView {
    let run = Run::get();
    let story = overview
        .story
        .iter()
        .map(|sentence| coded(sentence))
        .collect_view();
    let missing = overview
        .missing
        .clone()
        .map(|missing| view! { <p class="aside">{missing}</p> });
    let gates = overview.pending_gates.iter().map(gate).collect_view();
    let failure = overview
        .failure
        .clone()
        .map(|failure| view! { <Cause failure/> });
    let positions = (!overview.positions.is_empty() && overview.pending_gates.is_empty()).then(
        || view! { <Positions nodes=overview.positions.clone() many=overview.position_count/> },
    );
    let over = overview.status == "completed";
    let goes_on = !over && (!overview.positions.is_empty() || overview.failure.is_some());
    let claims =
        (!overview.claims.is_empty()).then(|| view! { <Claims overview=overview.clone()/> });
    view! {
        <h1>{overview.headline.clone()}</h1>
        <p class="lede">{story}</p>
        {missing}
        {failure}
        {gates}
        {positions}
        <WhatNext overview=overview.clone() goes_on/>
        <h2>"At a glance"</h2>
        <Glance overview=overview.clone()/>
        <ByStatus overview=overview.clone()/>
        <compact::Compact overview=overview.clone()/>
        {claims}
        <Serious overview=overview.clone()/>
        {(!overview.facts.is_empty()).then(|| {
            let pairs = overview.facts.iter().map(|(key, value)| view! {
                <tr><th scope="row">{key.clone()}</th><td dir="auto">{value.clone()}</td></tr>
            });
            view! { <h2>"What its own record says"</h2><table class="plain-table">{pairs.collect_view()}</table> }
        })}
        {(!overview.other_runs.is_empty()).then(|| view! {
            <h2>"Other runs in the same database"</h2>
            <p class="chips">{overview.other_runs.iter().map(|id| view! { <code>{id.clone()}</code>" " }).collect_view()}</p>
        })}
        <p class="faint read-as">
            "Read as "{overview.form.clone()}" from "<span title=overview.label.clone()>{overview.label.clone()}</span>
            ". Status by "{overview.status_source.clone()}". "
            <Go to=run.page(Page::Files)>"Files and tables"</Go>
        </p>
    }
}

/// What is left of the run, and what to do next.
#[component]
fn WhatNext(overview: Overview, goes_on: bool) -> impl IntoView {
    let says_more = !overview.left.is_empty();
    // A gate that waits has its own command above.
    let at_gate = !overview.pending_gates.is_empty() && overview.status != "completed";
    let command = overview.next_command.filter(|_| says_more && !at_gate);
    let copy = command.clone().map(|command| {
        view! { <Copy text=Signal::stored(command) label="Copy command"/> }
    });
    let says = says_more.then(|| {
        view! {
            <p><b>"Next: "</b>{overview.next}"."</p>
            <p class="soft">"Left: "{overview.left}"."</p>
            {command.map(|command| view! { <p><code>{command}</code></p> })}
        }
    });
    (says_more || goes_on).then(|| {
        view! {
            <section class="note what-next" aria-label="What next">
                <div class="grow">{says}{goes_on.then(|| view! { <go_on::GoOn/> })}</div>
                {copy}
            </section>
        }
    })
}

/// A sentence whose parts between backquotes are code.
fn coded(sentence: &str) -> AnyView {
    let parts = sentence.split('`').enumerate().map(|(i, part)| {
        let part = part.to_owned();
        if i % 2 == 1 {
            view! { <code dir="auto">{part}</code> }.into_any()
        } else {
            part.into_any()
        }
    });
    view! { {parts.collect_view()}" " }.into_any()
}

fn gate(gate: &GateView) -> AnyView {
    let run = Run::get();
    let (command, label) = match gate.expire_command.clone() {
        Some(expire) => (expire, "Copy command to record it"),
        None => (gate.approve_command.clone(), "Copy command to approve"),
    };
    let late = gate.overdue.then(|| view! {
        <p class="faint">"Approving is refused past the deadline: the time-out has to be recorded, which counts as a rejection."</p>
    });
    let remaining = gate.remaining.clone();
    let consequence = gate.on_reject.clone();
    let class = if gate.overdue {
        "note bad"
    } else {
        "note wait"
    };
    view! {
        <section class=class aria-label="Pending gate">
            <div class="grow">
                // How it stands may be a whole sentence.
                <p class="standing">{super::gates::pill(gate)}</p>
                <p><a href=run.item(Page::Gates, &gate.id).to_string()><b>{gate.id.clone()}</b></a>
                    {(!gate.prompt.is_empty()).then(|| view! { " · “"<bdi>{gate.prompt.clone()}</bdi>"”" })}</p>
                <p class="faint">
                    "May decide: "{gate.allow_words.clone()}
                    {remaining.map(|r| view! { " · "<b class="soft">{r}</b> })}
                    {consequence.map(|c| view! { " · on rejection: "<code>{c}</code> })}
                </p>
                {late}
            </div>
            {(!command.is_empty()).then(|| view! { <Copy text=Signal::stored(command) label=label/> })}
        </section>
    }
    .into_any()
}

#[component]
fn Cause(failure: Failure) -> impl IntoView {
    let run = Run::get();
    let Failure {
        cause,
        error,
        because_of,
        ..
    } = failure;
    view! {
        <section class="note bad" aria-label="First cause">
            <Pill status="failed" words="first cause"/>
            <div class="grow">
                <p><Go to=run.item(Page::Trace, item_of(&cause))><code dir="auto">{cause.text.clone()}</code></Go></p>
                <p class="error" dir="auto">{error.unwrap_or_else(|| "No message was recorded.".to_owned())}</p>
                {(!cause.path.is_empty()).then(|| view! { <p class="faint">"in "<bdi>{cause.path.clone()}</bdi></p> })}
                {(!because_of.is_empty()).then(|| view! {
                    <details>
                        <summary>"What failed or stopped because of it"</summary>
                        <ul class="nodes">{because_of.into_iter().map(|node| view! { <li>{node_link(&node)}</li> }).collect_view()}</ul>
                    </details>
                })}
            </div>
        </section>
    }
}

#[component]
fn Positions(nodes: Vec<NodeRef>, many: u32) -> impl IntoView {
    let more = (many as usize).saturating_sub(nodes.len());
    view! {
        <h2>{if many == 1 { "Where it stands".to_owned() } else { format!("Where it stands: {many} places") }}</h2>
        <ul class="nodes boxed">
            {nodes.into_iter().map(|node| {
                let error = node.error.clone().map(|error| view! { <p class="error" dir="auto">{error}</p> });
                view! { <li>{node_link(&node)}{error}</li> }
            }).collect_view()}
        </ul>
        {(more > 0).then(|| view! { <p class="faint">"and "{more}" more"</p> })}
    }
}

/// A link to a node of the trace: what it is, how it stands, what it lies in.
pub(super) fn node_link(node: &NodeRef) -> AnyView {
    let run = Run::get();
    view! {
        <a href=run.item(Page::Trace, item_of(node)).to_string() class="node">
            <Pill status=node.status.clone()/>
            <code dir="auto" title=node.text.clone()>{node.text.clone()}</code>
            {(!node.path.is_empty()).then(|| view! { <small title=node.path.clone()>"in "<bdi>{node.path.clone()}</bdi></small> })}
        </a>
    }
    .into_any()
}

/// A node in the address: its row, else its place in the trace.
pub(super) fn item_of(node: &NodeRef) -> String {
    node.id
        .map_or_else(|| format!("~{}", node.node), |id| id.to_string())
}

/// A row of the trace in the address.
pub(super) fn item_of_row(row: &TreeRow) -> String {
    row.id
        .map_or_else(|| format!("~{}", row.node), |id| id.to_string())
}

#[component]
fn Glance(overview: Overview) -> impl IntoView {
    let no_time = overview.no_time();
    let missing = || no_time.to_owned();
    let statements = match overview.is_unread(Part::Statements) {
        true => "not read".to_owned(),
        false => format!(
            "{} of {}",
            words::count(overview.statements_done.into()),
            words::count(overview.statements.into())
        ),
    };
    // How many failed, and the like, stands below.
    let counts = [
        (overview.retried, "retried"),
        (overview.recovered, "recovered"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, what)| format!("{} {what}", words::count(count.into())))
        .collect();
    let mut bindings = vec![words::bytes(overview.bindings_bytes)];
    if overview.attachments > 0 {
        bindings.push(words::counted(
            overview.attachments.into(),
            "attachment",
            "attachments",
        ));
    }
    let started = overview.started.as_ref();
    let last = overview.last_sign.as_ref();
    let zone = match started {
        Some(Stamp::At(_)) => ", UTC",
        _ => "",
    };
    let started_more = started.map_or_else(String::new, |s| format!("{}{zone}", words::day(s)));
    let started_more = words::joined([&started_more, &by(overview.started_from.as_deref())]);
    let last_day = last
        .map(words::day)
        .filter(|day| started.is_none_or(|s| words::day(s) != *day));
    let last_more = words::joined([
        &last_day.unwrap_or_default(),
        overview.last_sign_ago.as_deref().unwrap_or_default(),
        &by(overview.last_sign_from.as_deref()),
        &changed(overview.file_changed.as_ref()),
    ]);
    view! {
        <dl class="facts">
            <Fact name="Started" value=started.map_or_else(missing, words::clock) more=started_more/>
            <Fact name="Last sign of life" value=last.map_or_else(missing, words::clock) more=last_more/>
            <Fact name="Took" value=overview.duration.clone().unwrap_or_else(missing)
                more=match (overview.times_recorded, overview.is_unread(Part::Statements)) {
                    (true, _) => "",
                    (false, true) => "times of statements are not readable",
                    (false, false) => "statements carry no times",
                }/>
            <Fact name="Statements finished" value=statements
                more=words::joined(["of those started", &counts.join(", ")])/>
            <Fact name="Bindings" more=if overview.is_unread(Part::Bindings) { String::new() } else { bindings.join(", ") }
                value=if overview.is_unread(Part::Bindings) { "not read".to_owned() } else { words::count(overview.bindings.into()) }/>
            <Fact name="Read as" value=overview.form.split(',').next().unwrap_or_default().to_owned()
                more=overview.form.split_once(", ").map_or("", |(_, more)| more).to_owned()/>
        </dl>
    }
}

#[component]
fn ByStatus(overview: Overview) -> impl IntoView {
    (!overview.by_status.is_empty()).then(|| view! {
        <p class="by-status">
            {overview.by_status.iter().map(|at| view! {
                <Pill status=at.status.clone() words=format!("{} {}", words::count(at.count.into()), at.status)/>
            }).collect_view()}
            {overview.failure.is_some_and(|failure| failure.because_of_count > 0)
                .then(|| view! { <span class="faint">"Blocks around them are not counted."</span> })}
        </p>
    })
}

#[component]
fn Claims(overview: Overview) -> impl IntoView {
    view! {
        <h2>"Sources disagree about the status"</h2>
        <table class="plain-table">
            <tbody>{overview.claims.iter().map(|(source, status)| {
                let believed = *source == overview.status_source;
                view! {
                    <tr class:believed=believed>
                        <th scope="row">{source.clone()}</th>
                        <td><Pill status=status.clone()/></td>
                        <td>{believed.then_some("believed")}</td>
                    </tr>
                }
            }).collect_view()}</tbody>
        </table>
        <p class="soft">{overview.status_reason.clone()}</p>
    }
}

#[component]
fn Serious(overview: Overview) -> impl IntoView {
    let run = Run::get();
    let counts = overview.issues;
    let mut words = Vec::new();
    if counts.error > 0 {
        words.push(words::counted(counts.error.into(), "error", "errors"));
    }
    if counts.warning > 0 {
        words.push(words::counted(counts.warning.into(), "warning", "warnings"));
    }
    if counts.info > 0 {
        words.push(words::counted(counts.info.into(), "remark", "remarks"));
    }
    (!words.is_empty()).then(|| {
        view! {
            <p class="issues-line" class:bad-words=counts.error != 0>
                <Go to=run.page(Page::Issues)>{words.join(", ")}</Go>" while reading this run"
            </p>
        }
    })
}
