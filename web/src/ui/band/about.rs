//! Draws the sheet about a run: the run's times and status, the records that the status comes from, and recorded facts
//! that no page shows.

use leptos::prelude::*;
use prosescope_core::pages::view::{CostView, Overview, TokenCount};

use crate::route::Page;
use crate::text::words;
use crate::ui::parts::{Go, Pill, When, live};
use crate::ui::state::ShownRun;

/// Draws the content of the sheet about the current run.
pub(super) fn draw() -> AnyView {
    let run = ShownRun::get();
    live(move || run.overview.get()?.ok().map(|overview| facts(&overview)))
}

fn facts(overview: &Overview) -> AnyView {
    let run = ShownRun::get();
    let by = |from: &Option<String>| {
        from.as_ref()
            .map(|from| view! { <span class="faint">" by "{from.clone()}</span> })
    };
    let values = match overview.attachments {
        0 => words::bytes(overview.bindings_bytes),
        n => words::joined([
            words::bytes(overview.bindings_bytes),
            words::counted(n.into(), "attachment", "attachments"),
        ]),
    };
    let recorded = (!overview.facts.is_empty()).then(|| {
        let pairs = overview.facts.iter().map(|(key, value)| view! {
            <tr><th scope="row">{key.clone()}</th><td dir="auto">{value.clone()}</td></tr>
        });
        view! { <h3>"From the run's own record"</h3><table class="plain-table">{pairs.collect_view()}</table> }
    });
    let others = (!overview.other_runs.is_empty()).then(|| {
        let ids = overview.other_runs.iter().map(|id| view! { <code>{id.clone()}</code>" " });
        view! { <h3>"Other runs in the same database"</h3><p class="chips">{ids.collect_view()}</p> }
    });
    view! {
        <dl class="pairs">
            <dt>"Run"</dt><dd><code>{overview.run.clone()}</code></dd>
            <dt>"Status"</dt><dd><Pill status=overview.status.clone()/><span class="faint">" "{overview.status_from()}</span></dd>
            {(!overview.status_reason.is_empty()).then(|| view! { <dt></dt><dd class="soft">{words::first_upper(&overview.status_reason)}"."</dd> })}
            <dt>"Started"</dt><dd><When stamp=overview.started.clone() missing=overview.no_time()/>{by(&overview.started_from)}</dd>
            <dt>"Last sign"</dt><dd><When stamp=overview.last_sign.clone() missing=overview.no_time()/>{by(&overview.last_sign_from)}</dd>
            <dt>"Values"</dt><dd>{values}</dd>
            <dt>"Read as"</dt><dd>{overview.form.clone()}</dd>
            <dt>"Read from"</dt><dd>{overview.label.clone()}" · "<Go to=run.page(Page::Files)>"its files and tables"</Go></dd>
        </dl>
        {claims(overview)}
        {overview.cost.as_ref().map(tokens)}
        {recorded}
        {others}
    }
    .into_any()
}

/// Draws the tokens of each node and of each model, as receipts report them.
fn tokens(cost: &CostView) -> AnyView {
    let table = |what: &'static str, of: &[TokenCount]| {
        let rows = of.iter().map(|of| {
            view! {
                <tr>
                    <th scope="row" dir="auto">{of.name.clone()}</th>
                    <td class="num">{words::count(of.executions.into())}</td>
                    <td class="num">{words::count(of.fresh)}</td>
                    <td class="num">{words::count(of.reused)}</td>
                </tr>
            }
        });
        view! {
            <table class="plain-table tokens">
                <thead><tr>
                    <th scope="col">{what}</th><th scope="col" class="num">"Receipts"</th>
                    <th scope="col" class="num">"Tokens"</th><th scope="col" class="num">"Reused"</th>
                </tr></thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        }
    };
    view! {
        <h3>"Tokens, as receipts report them"</h3>
        {table("Node", &cost.by_node)}
        {table("Model", &cost.by_model)}
    }
    .into_any()
}

fn claims(overview: &Overview) -> Option<AnyView> {
    let claims = overview.claims.iter().map(|(source, status)| {
        let believed = *source == overview.status_source;
        view! {
            <tr class:believed=believed>
                <th scope="row">{source.clone()}</th>
                <td><Pill status=status.clone()/></td>
                <td>{believed.then_some("believed")}</td>
            </tr>
        }
    });
    (!overview.claims.is_empty()).then(|| {
        view! {
            <h3>"Sources disagree about the status"</h3>
            <table class="plain-table"><tbody>{claims.collect_view()}</tbody></table>
        }
        .into_any()
    })
}
