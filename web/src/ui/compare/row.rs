//! Draws the details beside the list of a comparison: those of one row, or those of both runs as a whole.

use leptos::prelude::*;
use prosescope_core::pages::view::{CompareView, ComparedNode, ComparedRow, icon};

use super::values::{lines, memory, value};
use super::{Keys, WHOLE};
use crate::route::{Page, Route};
use crate::ui::pages::item_of;
use crate::ui::parts::{Empty, link, tone_class};

/// Draws the details of the item in the address: a row's index, or [`WHOLE`].
pub(super) fn draw(item: String) -> AnyView {
    let view = expect_context::<StoredValue<CompareView>>();
    view.with_value(|view| {
        let at = item.parse::<usize>().ok();
        match at.and_then(|at| view.rows.get(at)) {
            Some(row) => of_row(row),
            None if item == WHOLE => of_both(view),
            None => view! { <Empty what="Nothing there" why="No row of the comparison has that number."/> }.into_any(),
        }
    })
}

fn of_row(row: &ComparedRow) -> AnyView {
    let text = row
        .b
        .as_ref()
        .or(row.a.as_ref())
        .map(|node| node.at.text.clone());
    let values = row.values.iter().map(value).collect_view();
    view! {
        <h2 class="statement"><code dir="auto">{text}</code></h2>
        {side("A", row.a.as_ref())}
        {side("B", row.b.as_ref())}
        {row.longer.clone().map(|longer| view! { <p class="meta"><span>"B against A: "{longer}</span></p> })}
        {(!row.values.is_empty()).then(|| view! { <h3>"Values"</h3> })}
        {values}
    }
    .into_any()
}

fn side(letter: &'static str, node: Option<&ComparedNode>) -> AnyView {
    let keys = expect_context::<StoredValue<Keys>>().get_value();
    let key = if letter == "A" { keys.a } else { keys.b };
    let Some(node) = node else {
        return view! { <p class="meta"><b class=format!("letter {}", letter.to_lowercase())>{letter}</b><span>"not recorded"</span></p> }.into_any();
    };
    let status = node.at.status.clone();
    let to = Route::item(&key, Page::Trace, item_of(&node.at));
    let attempts = (node.attempts > 1).then(|| view! { <span>{node.attempts}" attempts"</span> });
    view! {
        <p class="meta">
            <b class=format!("letter {}", letter.to_lowercase())>{letter}</b>
            <span class=format!("standing {}", tone_class(&status))><i aria-hidden="true">{icon(&status)}</i>{status.clone()}</span>
            {attempts}
            {node.duration.clone().map(|took| view! { <span>{took}</span> })}
            {node.outcome.clone().map(|outcome| view! { <span dir="auto">{outcome}</span> })}
            <span>{link(to, "open the row")}</span>
        </p>
        {node.at.error.clone().map(|error| view! { <pre class="error" tabindex="0" aria-label=format!("Error of {letter}")>{error}</pre> })}
    }
    .into_any()
}

fn of_both(view: &CompareView) -> AnyView {
    let programs = &view.programs;
    let program = (!programs.lines.is_empty()).then(|| {
        view! { <h3>"Programs"</h3>{lines(&programs.lines, programs.more_lines)} }
    });
    let part = |title: &'static str, values: AnyView, is_there: bool| {
        is_there.then(|| view! { <h3>{title}</h3>{values} }.into_any())
    };
    let values = view.values.iter().map(value).collect_view().into_any();
    let memories = view.memories.iter().map(memory).collect_view().into_any();
    let records = view.records.iter().map(memory).collect_view().into_any();
    let not = view.not_compared.iter().map(|of| {
        view! { <li><code>{of.name.clone()}</code>" "<span class="soft">{of.why.clone()}</span></li> }
    });
    let not = view! { <ul class="links">{not.collect_view()}</ul> }.into_any();
    let more = (view.not_compared_count as usize).saturating_sub(view.not_compared.len());
    view! {
        <h2 class="statement">"Both runs"</h2>
        <p class="soft">{view.headline.clone()}"."</p>
        {program}
        {part("Other values that differ, such as inputs", values, !view.values.is_empty())}
        {part("Memories of agents", memories, !view.memories.is_empty())}
        {part("Gates, the log, files and other records", records, !view.records.is_empty())}
        {part("Not compared", not, !view.not_compared.is_empty())}
        {(more > 0).then(|| view! { <p class="faint">"and "{more}" more"</p> })}
    }
    .into_any()
}
