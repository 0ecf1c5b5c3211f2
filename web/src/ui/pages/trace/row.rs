//! Draws a row of the trace: its status, statement, and duration or written values.

use leptos::prelude::*;
use prosescope_core::pages::view::{TreeRow, icon};

use super::axis::Axis;
use super::{Tree, TreeLine};
use crate::route::Page;
use crate::text::statement::{StatementPart, parts};
use crate::text::words;
use crate::ui::pages::shown_status;
use crate::ui::parts::tone_class;
use crate::ui::state::ShownRun;

/// The maximum number of levels that are indented. Deeper rows show their level as a number.
const INDENTED: u32 = 16;

/// Returns the row's label for screen readers: its status, statement and duration.
pub(super) fn called(row: &TreeLine, took: Option<&str>) -> String {
    let round = row.round.filter(|_| row.kind != "round");
    let cause = if row.first_cause { "first cause" } else { "" };
    words::joined([
        shown_status(row).to_owned(),
        round.map_or_else(String::new, |n| format!("round {n}")),
        // The round becomes a clause of its own: `loop: round 2` becomes `loop, round 2`.
        row.text
            .trim_end_matches(':')
            .replacen(": round ", ", round ", 1),
        row.argument.clone().unwrap_or_default(),
        cause.to_owned(),
        took.map(words::heard).unwrap_or_default(),
    ])
}

/// Draws a row of the trace. With `timed`, the row shows its duration and its bar, otherwise the values that it wrote.
pub(super) fn draw(tree: Tree, axis: Axis, timed: bool, row: &TreeLine) -> AnyView {
    let statement = statement(tree, row);
    if !timed {
        return view! {
            {statement}
            <span role="gridcell" class="wide wrote">{wrote(tree.run, row)}</span>
        }
        .into_any();
    }
    view! {
        {statement}
        <span role="gridcell" class="num took">{axis.took(row.bar, row.duration.clone())}</span>
        {axis.lane(row.bar, shown_status(row), has_children(row))}
    }
    .into_any()
}

/// Returns whether the row has children. In a filtered list, `children` is 0, so `descendants` is checked, too.
fn has_children(row: &TreeLine) -> bool {
    row.children > 0 || row.descendants > 0
}

/// Draws the status and the statement of a row.
fn statement(tree: Tree, row: &TreeLine) -> AnyView {
    let (node, folded, status) = (row.node, row.folded, shown_status(row).to_owned());
    // The fold button is hidden from screen readers, because the row's attribute `aria-expanded` already contains its
    // state.
    let twisty = match row.children > 0 {
        true => view! {
            <button class="twisty" class:folded=folded tabindex="-1" aria-hidden="true"
                on:click=move |_| tree.fold(node, !folded)>"▾"</button>
        }
        .into_any(),
        false => view! { <span class="twisty" aria-hidden="true"></span> }.into_any(),
    };
    let deep = (row.level > INDENTED).then(|| view! { <span class="depth">{row.level}</span> });
    let error = row.error.clone();
    let is_said = row.because_of || (row.first_cause && tree.run.shows_error());
    let about = match &error {
        Some(error) => format!("{}\n{error}", row.text),
        None => row.text.clone(),
    };
    // A row is drawn quietly if it succeeded, or if it failed only because of a row in it. Readers look for the other
    // rows.
    let is_because = status == "failed" && has_children(row) && !row.first_cause;
    let is_quiet = status == "completed" || is_because;
    let glyph = format!("glyph {}", tone_class(&status));
    let picture = icon(&status);
    let detail = (!row.detail.is_empty() && row.argument.is_none()).then(|| row.detail.clone());
    let argument = row.argument.clone();
    // A round that contains only one call is drawn in the same row as that call.
    let round = row.round.filter(|_| row.kind != "round");
    let round = round.map(|n| view! { <s>{format!("round {n} › ")}</s> });
    let hidden = (folded && row.descendants > 0)
        .then(|| words::counted(row.descendants.into(), "row", "rows"));
    let remarks = row.remarks.clone();
    view! {
        <span role="gridcell" class="tree" class:derived=row.derived && row.round.is_none() title=about style:--level=row.level.min(INDENTED).to_string()
            style:--hot=row.around_cause.min(INDENTED).to_string()>
            {twisty}{deep}
            <span class=glyph class:quiet-one=is_quiet role="img" title=status.clone() aria-label=status.clone()>{picture}</span>
            <span class="text" dir="auto">{round}{parts(&row.text).into_iter().map(part).collect_view()}</span>
            {argument.map(|words| view! { <em class="argument" dir="auto">"“"{words}"”"</em> })}
            {detail.map(|detail| view! { <em class="more fact">{detail}</em> })}
            {(!remarks.is_empty()).then(|| view! { <em class="more" dir="auto" title=remarks.join("\n")>{remarks.join(" · ")}</em> })}
            {hidden.map(|rows| view! { <em>{rows}</em> })}
            {row.first_cause.then(|| view! { <span class="cause" title="The failure that the run ended because of">"first cause"</span> })}
            {row.position.then(|| view! { <span class="here" title="The run is here">"here"</span> })}
            {error.filter(|_| !is_said).map(|error| view! { <em class="error-words" dir="auto">{error}</em> })}
        </span>
    }
    .into_any()
}

fn part(part: StatementPart<'_>) -> AnyView {
    match part {
        StatementPart::Quiet(text) => view! { <s>{text.to_owned()}</s> }.into_any(),
        StatementPart::Name(text) => view! { <b>{text.to_owned()}</b> }.into_any(),
        StatementPart::Plain(text) => text.to_owned().into_any(),
    }
}

fn wrote(run: ShownRun, row: &TreeRow) -> AnyView {
    let more = row.bindings.len().saturating_sub(2);
    let links = row.bindings.iter().take(2).map(|binding| {
        let to = run.item(Page::Bindings, binding.binding).to_string();
        let (title, class) = match binding.overwritten {
            true => (format!("{} (overwritten later)", binding.name), "faint"),
            false => (binding.name.clone(), ""),
        };
        view! { <a href=to class=class dir="auto" tabindex="-1" title=title>{binding.name.clone()}</a> }
    });
    view! { {links.collect_view()}{(more > 0).then(|| view! { <small>"+"{more}</small> })} }
        .into_any()
}
