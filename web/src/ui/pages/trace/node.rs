//! Everything that is known of one row of the trace.

use leptos::prelude::*;
use prosescope_core::issue::Issue;
use prosescope_core::view::{NodeDetail, RowView};

use crate::protocol::{Request, Trouble};
use crate::route::Page;
use crate::ui::load::{Answer, ask_by, loaded};
use crate::ui::pages::failures;
use crate::ui::pages::issues::severity;
use crate::ui::pages::overview::item_of;
use crate::ui::pages::shown_status;
use crate::ui::parts::{Empty, Go, Pill, When, binding_links, link, live};
use crate::ui::state::{App, Run};

/// Draws the row of an address.
pub(super) fn draw(item: String) -> AnyView {
    let (app, run) = (App::get(), Run::get());
    let answer: Answer<Option<NodeDetail>> = ask_by(move || {
        let item = item.clone();
        async move { read(app, run, &item).await }
    });
    loaded(answer, move |detail: Option<NodeDetail>| match detail {
        Some(detail) => view! { <Detail detail/> }.into_any(),
        None => view! { <Empty what="Nothing there" why="No row of this run has that number."/> }
            .into_any(),
    })
}

async fn read(app: App, run: Run, item: &str) -> Result<Option<NodeDetail>, Trouble> {
    let node = match (item.strip_prefix('~'), item.parse()) {
        (Some(node), _) => node.parse().ok(),
        (None, Ok(row)) => {
            app.ask(Request::NodeOfRow {
                place: run.place(),
                row,
            })
            .await?
        }
        (None, Err(_)) => {
            let forward = item == "first-failure";
            let node = failures::next(app, run.place(), None, forward).await?;
            node.map(|node| node.node)
        }
    };
    match node {
        Some(node) => {
            app.ask(Request::Node {
                place: run.place(),
                node,
            })
            .await
        }
        None => Ok(None),
    }
}

#[component]
fn Detail(detail: NodeDetail) -> impl IntoView {
    let run = Run::get();
    let row = detail.row.clone();
    let path = detail.path.iter().map(|above| {
        view! { <li>{link(run.item(Page::Trace, item_of(above)), above.text.as_str())}</li> }
    });
    let said = said(&detail);
    let status = shown_status(&row);
    // A frame's detail begins with the word.
    let about = match row.detail.as_str() {
        "" => row.kind.clone(),
        detail if detail.starts_with(&row.kind) => row.detail.clone(),
        detail => format!("{} · {detail}", row.kind),
    };
    let gate = row.gate.clone();
    let told = !detail.work.answers.is_empty();
    let guess = row.line_guessed.then(|| match &detail.line_why {
        Some(why) => format!(" (a guess: {why})"),
        None => " (a guess)".to_owned(),
    });
    view! {
        {(!detail.path.is_empty()).then(|| view! { <ol class="crumbs" aria-label="Lies in">{path.collect_view()}</ol> })}
        <h2 class="statement"><code dir="auto">{detail.text.clone()}</code></h2>
        <p class="line-up">
            <Pill status=status/>
            <span class="faint">{about}</span>
        </p>
        {detail.error.clone().map(|error| view! { <pre class="error" tabindex="0">{error}</pre> })}
        {said.into_iter().map(|sentence| view! { <p class="aside">{sentence}</p> }).collect_view()}
        {row.because_of.then(|| live(move || because_of(run)))}
        {super::work::draw(detail.work.clone())}
        <h3>"About it"</h3>
        <dl class="pairs">
            <dt>"Began"</dt><dd><When stamp=row.started.clone()/></dd>
            <dt>"Ended"</dt><dd><When stamp=row.ended.clone()/></dd>
            {row.duration.clone().map(|took| view! { <dt>"Took"</dt><dd>{took}</dd> })}
            {(row.attempts > 1).then(|| view! { <dt>"Attempts"</dt><dd>{of(row.attempts, row.max)}</dd> })}
            {row.branch.clone().map(|branch| view! { <dt>"Branch"</dt><dd><code>{branch}</code></dd> })}
            {row.round.map(|round| view! { <dt>"Round"</dt><dd>{of(round, row.max)}</dd> })}
            {gate.map(|gate| view! { <dt>"Gate"</dt><dd><Go to=run.item(Page::Gates, &gate)>{gate.clone()}</Go></dd> })}
            {row.line.map(|line| view! {
                <dt>"Line"</dt>
                <dd><Go to=run.item(Page::Program, line)>{line}</Go>{guess.clone()}</dd>
            })}
            <dt>"Rows"</dt><dd>{rows_in_words(&detail)}</dd>
            <dt>"Names"</dt><dd>{names(run, detail.frame)}</dd>
        </dl>
        {(!told && !row.bindings.is_empty()).then(|| view! {
            <h3>"Wrote"</h3>
            {binding_links(&row.bindings)}
        })}
        {issues(&detail.issues)}
        {(!detail.rows.is_empty()).then(|| view! {
            <h3>"As recorded"</h3>
            {detail.rows.iter().map(store_row).collect_view()}
        })}
    }
}

/// What made it fail or stop: what failed first, with its message.
fn because_of(run: Run) -> AnyView {
    let overview = run.overview.get().and_then(Result::ok);
    let failure = overview.and_then(|overview| overview.failure);
    let (cause, error) = match failure {
        Some(failure) => (
            view! { <code>{failure.cause.text}</code> }.into_any(),
            failure.error,
        ),
        None => ("something else".into_any(), None),
    };
    view! {
        <div class="aside">
            <p>"It failed or stopped because "<Go to=run.item(Page::Trace, "first-failure")>{cause}</Go>" failed first."</p>
            {error.map(|error| view! { <p class="bad-words" dir="auto">{error}</p> })}
        </div>
    }
    .into_any()
}

/// What is worth a sentence.
fn said(detail: &NodeDetail) -> Vec<String> {
    let row = &detail.row;
    let around = detail
        .path
        .last()
        .is_some_and(|above| above.status == "failed");
    let said = [
        (
            row.first_cause && around,
            "This failed first; what lies around it failed because of it.",
        ),
        (row.first_cause && !around, "This failed first."),
        (
            row.recovered,
            "It failed, and a retry or a catch recovered it.",
        ),
        (row.position, "The run stands here."),
        (
            row.derived,
            "No row says so: it follows from the rows around it.",
        ),
    ];
    let said = said.into_iter().filter(|(applies, _)| *applies);
    said.map(|(_, sentence)| sentence.to_owned())
        .chain(detail.inferred_why.clone())
        .collect()
}

fn of(n: u32, max: Option<u32>) -> String {
    max.map_or_else(|| n.to_string(), |max| format!("{n} of {max}"))
}

fn rows_in_words(detail: &NodeDetail) -> String {
    match (detail.row.id, detail.row.aliases.as_slice()) {
        (None, _) => "none".to_owned(),
        (Some(id), []) => format!("#{id}"),
        (Some(id), more) => {
            let shown: Vec<String> = more.iter().take(12).map(|id| format!("#{id}")).collect();
            let rest = if more.len() > 12 {
                format!(" and {} more", more.len() - 12)
            } else {
                String::new()
            };
            format!("#{id}, then {}{rest}", shown.join(", "))
        }
    }
}

fn names(run: Run, frame: Option<i64>) -> AnyView {
    let words = frame.map_or_else(
        || "in the root".to_owned(),
        |id| format!("in frame {id} first"),
    );
    let to = run.page(Page::Bindings);
    view! { "resolve "{words}", see "<Go to>"bindings"</Go> }.into_any()
}

fn issues(issues: &[Issue]) -> Option<AnyView> {
    (!issues.is_empty()).then(|| {
        let items = issues.iter().map(|issue| view! {
            <li>{severity(issue.severity)}<span>{issue.message.clone()}" "<small>{issue.hint.clone()}</small></span></li>
        });
        view! { <h3>"Issues"</h3><ul class="issue-list">{items.collect_view()}</ul> }.into_any()
    })
}

/// A row of the store with every column, empty ones left out.
fn store_row(row: &RowView) -> AnyView {
    let columns = row
        .columns
        .iter()
        .filter(|(_, cell)| cell.stored != "null")
        .map(|(name, cell)| {
            let cut = cell.cut.then_some("…");
            view! { <tr><th scope="row">{name.clone()}</th><td dir="auto">{cell.text.clone()}{cut}</td></tr> }
        });
    view! {
        <details class="store-row">
            <summary>"Row #"{row.id}</summary>
            <table class="plain-table">{columns.collect_view()}</table>
        </details>
    }
    .into_any()
}
