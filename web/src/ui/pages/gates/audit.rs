//! Draws the audit log of the gates, and the result of its verification.

use leptos::prelude::*;
use prosescope_core::pages::view::{AuditRow, AuditView, RunPart};

use crate::ui::list::{Cursor, Mark, Pages, Rows};
use crate::ui::parts::{EmptyPart, Pill, When};

/// Draws the result of the verification, in one line.
pub(super) fn chain(audit: &AuditView) -> AnyView {
    let (class, mark) = match audit.chain.as_str() {
        "consistent" => ("pill ok", "✓"),
        "broken" | "contradicted" | "gone" => ("pill bad", "✗"),
        "partly sealed" => ("pill wait", "!"),
        _ => ("pill quiet", "·"),
    };
    let head = audit.head.clone().map(|head| {
        let short: String = head.hash.chars().take(12).collect();
        view! { <span class="faint mono" title=head.hash>"head "{head.count}" · "{short}"…"</span> }
    });
    (!audit.chain.is_empty()).then(|| view! {
        <p class="chain">
            <span class=class><i aria-hidden="true">{mark}</i><span>{audit.chain.clone()}</span></span>
            <span class="soft">{audit.chain_reason.clone()}</span>
            {head}
        </p>
    }).into_any()
}

/// Draws the whole audit log, with the issues about it.
pub(super) fn draw(audit: &AuditView) -> AnyView {
    let issues = audit
        .issues
        .iter()
        .map(|issue| view! { <p class="aside">{issue.message.clone()}" "{issue.hint.clone()}</p> });
    let head = view! {
        <span role="columnheader" class="num">"Row"</span>
        <span role="columnheader">"Event"</span>
        <span role="columnheader">"Gate"</span>
        <span role="columnheader" class="wide">"By"</span>
        <span role="columnheader" class="wide">"Comment"</span>
        <span role="columnheader" class="wide">"When"</span>
        <span role="columnheader" class="wide">"Sealed"</span>
    };
    // If the log is missing, there is an issue about that, which is shown instead of this note.
    if audit.rows.is_empty() && audit.issues.is_empty() {
        return view! { <EmptyPart part=RunPart::Audit what="No audit log" why="Nothing was logged about these gates."/> }
            .into_any();
    }
    view! {
        {issues.collect_view()}
        <Rows
            pages=Pages::of(audit.rows.clone()) height=32.0 label="Audit log" class="audit-rows" cursor=Cursor::new()
            head=head.into_any() draw=row mark=|_| Mark::default() on_key=Callback::new(|_| {})
        />
    }
    .into_any()
}

fn row(_: u64, row: &AuditRow) -> AnyView {
    let comment = row.comment.clone().unwrap_or_default();
    let by = row.who().unwrap_or_default();
    view! {
        <span role="gridcell" class="num mono faint">{row.id}</span>
        <span role="gridcell"><Pill status=row.event.clone()/></span>
        <span role="gridcell" class="mono cut" title=row.gate.clone()>{row.gate.clone()}</span>
        <span role="gridcell" class="wide cut" title=by.clone()>{by.clone()}</span>
        <span role="gridcell" class="wide cut" title=comment.clone()>{comment.clone()}</span>
        <span role="gridcell" class="wide"><When stamp=row.timestamp.clone()/></span>
        <span role="gridcell" class="wide faint">{if row.sealed { "sealed" } else { "unsealed" }}</span>
    }
    .into_any()
}

/// Draws the audit rows of one gate.
pub(super) fn history(rows: &[AuditRow]) -> AnyView {
    if rows.is_empty() {
        return view! { <p class="faint">"The audit log has no row about this gate."</p> }
            .into_any();
    }
    let items = rows.iter().map(|row| view! {
        <li>
            <Pill status=row.event.clone()/>
            <span>{row.who().map(|by| format!("by {by} "))}{row.comment.clone().map(|c| view! { "“"{c}"”" })}</span>
            <small><When stamp=row.timestamp.clone()/>" · row "{row.id}{(!row.sealed).then_some(" · unsealed")}</small>
        </li>
    });
    view! { <ol class="history">{items.collect_view()}</ol> }.into_any()
}
