//! The trace in a few lines, around what failed or where the run stands.

use leptos::prelude::*;
use leptos::task::spawn_local;
use prosescope_core::session::pages::TraceChoice;
use prosescope_core::view::{Overview, TreeRow};

use super::item_of_row;
use crate::protocol::{Folded, Folds, Request, Revealed, Traced};
use crate::route::Page;
use crate::text::words;
use crate::ui::pages::shown_status;
use crate::ui::parts::{Go, Pill};
use crate::ui::state::{App, Run};

/// Rows that are shown.
const SHOWN: u32 = 14;

/// Rows of them that lie before the one that matters.
const BEFORE: u32 = 8;

/// Levels that are indented.
const INDENTED: u32 = 8;

/// Draws it, once it is there: the overview does not wait for it.
#[component]
pub(super) fn Compact(overview: Overview) -> impl IntoView {
    let (app, run) = (App::get(), Run::get());
    let traced = RwSignal::new(None::<(u32, Traced)>);
    let failed = overview.failure.map(|failure| failure.cause.node);
    let matters = failed.or_else(|| overview.positions.first().map(|node| node.node));
    let all = overview.trace_nodes;
    let place = run.place();
    spawn_local(async move {
        let mut folded = Folds::of(match all > SHOWN {
            true => Folded::All,
            false => Folded::Nothing,
        });
        let mut from = 0;
        if let Some(node) = matters.filter(|_| all > SHOWN) {
            let request = Request::Reveal {
                place: place.clone(),
                folded: folded.clone(),
                choice: TraceChoice::default(),
                node,
            };
            let Ok(Revealed { row, unfolded }) = app.ask(request).await else {
                return;
            };
            for node in unfolded {
                folded.set(node, false);
            }
            from = row.unwrap_or(0).saturating_sub(BEFORE);
        }
        let request = Request::Trace {
            place,
            folded,
            choice: TraceChoice::default(),
            timed: false,
            from,
            len: SHOWN,
        };
        if let Ok(answer) = app.ask::<Traced>(request).await {
            // The page may be gone by now.
            traced.try_set(Some((from, answer)));
        }
    });
    let draw = move || {
        let (from, Traced { page, .. }) = traced.get()?;
        let behind = page.total.saturating_sub(from + page.rows.len() as u32);
        let more = |rows: u32, where_: &str| {
            let rows = words::counted(rows.into(), "row", "rows");
            view! { <li class="faint more">{format!("{rows} {where_}")}</li> }
        };
        // What all of it lies in is not indented for.
        let least = page.rows.iter().map(|row| row.level).min().unwrap_or(0);
        let rows = page
            .rows
            .iter()
            .map(|row| line(run, row, least))
            .collect_view();
        Some(view! {
            <h2>"What ran "<Go to=run.page(Page::Trace)>"See the trace"</Go></h2>
            <ol class="compact">
                {(from > 0).then(|| more(from, "before"))}
                {rows}
                {(behind > 0).then(|| more(behind, "behind"))}
            </ol>
        })
    };
    (all > 0).then(|| view! { {draw} })
}

fn line(run: Run, row: &TreeRow, least: u32) -> AnyView {
    let status = shown_status(row);
    let hidden = (row.folded && row.descendants > 0)
        .then(|| view! { <em>"+"{words::count(row.descendants.into())}</em> });
    let indent = format!("{}px", (row.level - least).min(INDENTED) * 16);
    view! {
        <li>
            <a href=run.item(Page::Trace, item_of_row(row)).to_string() class:matters=row.first_cause || row.position>
                <code style:padding-left=indent><bdi>{row.text.clone()}</bdi>" "{hidden}</code>
                <Pill status=status/>
                <span class="num mono">{row.duration.clone().unwrap_or_default()}</span>
            </a>
        </li>
    }
    .into_any()
}
