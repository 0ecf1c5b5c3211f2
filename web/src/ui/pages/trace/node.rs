//! Draws the detail of one row of the trace: its status, error, work, issues and recorded rows.

use leptos::prelude::*;
use prosescope_core::model::issue::Issue;
use prosescope_core::pages::view::{NodeDetail, RowView, icon};

use crate::protocol::{Request, Trouble};
use crate::route::Page;
use crate::ui::load::{LoadState, ask_by, loaded};
use crate::ui::pages::failures;
use crate::ui::pages::issues::severity;
use crate::ui::pages::item_of;
use crate::ui::pages::shown_status;
use crate::ui::parts::{Empty, Go, When, binding_links, link, live, tone_class};
use crate::ui::state::{App, Move, Sheet, ShownRun};

/// The number of innermost ancestors whose text is shown; all others are shown as `…`.
const INNERMOST: usize = 3;

/// Draws the row that is the item in the address.
pub(super) fn draw(item: String) -> AnyView {
    let (app, run) = (App::get(), ShownRun::get());
    let answer: LoadState<Option<NodeDetail>> = ask_by(None, move || {
        let item = item.clone();
        async move { read(app, run, &item).await }
    });
    loaded(answer, move |detail: Option<NodeDetail>| match detail {
        Some(detail) => view! { <Detail detail/> }.into_any(),
        None => view! { <Empty what="Nothing there" why="No row of this run has that number."/> }
            .into_any(),
    })
}

async fn read(app: App, run: ShownRun, item: &str) -> Result<Option<NodeDetail>, Trouble> {
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
    let run = ShownRun::get();
    let row = detail.row.clone();
    // Only the innermost ancestors are shown with their text, because they best describe where the row is.
    let hidden = detail.path.len().saturating_sub(INNERMOST);
    let path = detail
        .path
        .iter()
        .enumerate()
        .filter(|(at, _)| *at + 1 >= hidden);
    let path = path.map(|(at, above)| {
        let words = if at < hidden { "…" } else { above.text.as_str() };
        view! { <li title=above.text.clone()>{link(run.item(Page::Trace, item_of(above)), words)}</li> }
    });
    let said = remark(&detail);
    let told = !detail.work.answers.is_empty();
    view! {
        <header class="about-row">
            {(!detail.path.is_empty()).then(|| view! { <ol class="crumbs" aria-label="Inside of">{path.collect_view()}</ol> })}
            <h2 class="statement"><code dir="auto">{detail.text.clone()}</code></h2>
            <p class="meta">{facts(run, &detail)}</p>
        </header>
        {detail.error.clone().map(|error| view! { <pre class="error" tabindex="0">{error}</pre> })}
        {said.map(|sentence| view! { <p class="aside">{sentence}</p> })}
        {row.because_of.then(|| live(move || because_of(run)))}
        {super::work::draw(detail.work.clone())}
        {(!told && !row.bindings.is_empty()).then(|| view! {
            <h3>"Value"</h3>
            {binding_links(&row.bindings)}
        })}
        {issues(&detail.issues)}
        {recorded(run, &detail)}
        {foot(run, &detail)}
    }
}

/// Draws the status, attempts, duration and times, and the line in the program.
fn facts(run: ShownRun, detail: &NodeDetail) -> AnyView {
    let row = &detail.row;
    let status = shown_status(row).to_owned();
    let class = format!("standing {}", tone_class(&status));
    let fact = |words: String| view! { <span dir="auto">{words}</span> }.into_any();
    // The word for the kind is left out if the row's detail already begins with it, as for a frame.
    let about = match row.detail.as_str() {
        "" => row.kind.clone(),
        about if about.starts_with(&row.kind) => about.to_owned(),
        about if row.kind == "statement" => about.to_owned(),
        about => format!("{} · {about}", row.kind),
    };
    let about = (about != "statement").then_some(about);
    let likely = detail.inferred_why.clone();
    let likely = likely.map(|why| view! { <span title=why>"place inferred"</span> });
    let when = match (&row.started, &row.ended) {
        (None, None) => None,
        (from, to) => Some(view! {
            <span><When stamp=from.clone() clock_only=true missing="start not recorded"/>" – "<When stamp=to.clone() clock_only=true missing="end not recorded"/></span>
        }),
    };
    let is_said = |word: &str| row.detail.contains(word);
    let attempts = (row.attempts > 1 && !is_said("attempt"))
        .then(|| format!("attempt {}", out_of(row.attempts, row.max)));
    let round = row.round.filter(|_| !is_said("round"));
    let round = round.map(|round| format!("round {}", out_of(round, row.max)));
    let branch = row.branch.clone().map(|branch| format!("branch {branch}"));
    let line = row.line.map(|line| {
        let guess = row.line_guessed.then(|| match &detail.line_why {
            Some(why) => format!("A guess: {why}"),
            None => "A guess".to_owned(),
        });
        let words = match row.line_guessed {
            true => format!("line {line}, likely"),
            false => format!("line {line}"),
        };
        view! { <span title=guess>{link(run.item(Page::Program, line), words)}</span> }
    });
    let gate = row.gate.clone();
    let gate = gate.map(
        |gate| view! { <span>"gate "{link(run.item(Page::Gates, &gate), gate.as_str())}</span> },
    );
    view! {
        <span class=class><i aria-hidden="true">{icon(&status)}</i>{status.clone()}</span>
        {row.first_cause.then(|| view! { <span class="cause">"first cause"</span> })}
        {row.position.then(|| view! { <span class="here">"the run is here"</span> })}
        {about.map(fact)}
        {attempts.map(fact)}
        {round.map(fact)}
        {branch.map(fact)}
        {row.duration.clone().map(fact)}
        {when}
        {line}
        {likely}
        {gate}
    }
    .into_any()
}

/// Draws the recorded rows of the node and their columns, in a folded element.
fn recorded(run: ShownRun, detail: &NodeDetail) -> AnyView {
    let scope = detail.frame.map_or_else(
        || "the program's top level".to_owned(),
        |id| format!("the call that row {id} records, then the calls around it"),
    );
    let row = &detail.row;
    view! {
        <details class="recorded">
            <summary>"As recorded"</summary>
            <dl class="pairs">
                <dt>"Started"</dt><dd><When stamp=row.started.clone()/></dd>
                <dt>"Ended"</dt><dd><When stamp=row.ended.clone()/></dd>
                <dt>"Rows"</dt><dd>{rows_in_words(detail)}</dd>
                <dt>"Names from"</dt><dd>{scope}", see "<Go to=run.page(Page::Bindings)>"Values"</Go></dd>
            </dl>
            {detail.rows.iter().map(store_row).collect_view()}
        </details>
    }
    .into_any()
}

/// Draws the buttons for the previous and next failure, the link to the program's line, and the button that copies the
/// row for a model.
fn foot(run: ShownRun, detail: &NodeDetail) -> AnyView {
    let app = App::get();
    let line = detail.row.line.map(|line| {
        let to = run.item(Page::Program, line).to_string();
        view! { <a class="button plain" href=to>"Line "{line}</a> }
    });
    let node = detail.row.node;
    let copy = move |_| app.sheet.set(Some(Sheet::Model(Some(node))));
    let go = move |step: Move| {
        move |_| {
            app.move_in_list(step);
        }
    };
    view! {
        <footer class="foot">
            <button class="plain" on:click=go(Move::PreviousFailure)>"Previous"<span>" failure"</span>" "<kbd>"p"</kbd></button>
            <button class="plain" on:click=go(Move::NextFailure)>"Next "<kbd>"n"</kbd></button>
            <span class="grow"></span>
            {line}
            <button class="plain" data-key="y" on:click=copy>"For a model "<kbd>"y"</kbd></button>
        </footer>
    }
    .into_any()
}

/// Draws why the row failed or stopped: because of the run's first failure.
fn because_of(run: ShownRun) -> AnyView {
    let overview = run.overview.get().and_then(Result::ok);
    let failure = overview.and_then(|overview| overview.failure);
    let (cause, error) = match failure {
        Some(failure) => (
            view! { <code>{failure.cause.text}</code> }.into_any(),
            failure.error.filter(|_| !run.shows_error()),
        ),
        None => ("something else".into_any(), None),
    };
    view! {
        <div class="aside">
            <p>"This row failed or stopped because "<Go to=run.item(Page::Trace, "first-failure")>{cause}</Go>" failed."</p>
            {error.map(|error| view! { <p class="bad-words" dir="auto">{error}</p> })}
        </div>
    }
    .into_any()
}

/// Returns a remark if the row was recovered or inferred.
fn remark(detail: &NodeDetail) -> Option<&'static str> {
    let row = &detail.row;
    match (row.recovered, row.derived) {
        (true, _) => Some("This row failed, and a retry or a catch recovered it."),
        (_, true) => Some("This row is not recorded: it is inferred from the rows around it."),
        (false, false) => None,
    }
}

fn out_of(n: u32, max: Option<u32>) -> String {
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

fn issues(issues: &[Issue]) -> Option<AnyView> {
    (!issues.is_empty()).then(|| {
        let items = issues.iter().map(|issue| view! {
            <li>{severity(issue.severity)}<span>{issue.message.clone()}" "<small>{issue.hint.clone()}</small></span></li>
        });
        view! { <h3>"Issues"</h3><ul class="issue-list">{items.collect_view()}</ul> }.into_any()
    })
}

/// Draws a recorded row with all its nonempty columns.
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
