//! Lists the attempts of a statement, as far as its rows record them.

use crate::model::text::short;
use crate::model::{Execution, Status};
use crate::pages::session::Session;
use crate::pages::session::pages::trace::status_word;
use crate::pages::view::{AttemptView, NodeWork};
use crate::trace::Node;

/// The largest number of attempts in the list, and of characters of each error.
const MOST: usize = 200;
const ERROR: usize = 400;

pub(super) fn add(session: &Session, node: &Node, work: &mut NodeWork) {
    if node.attempts < 2 {
        return;
    }
    let ids = node.id.into_iter().chain(node.aliases.iter().copied());
    let all = &session.run.executions;
    let rows = ids.filter_map(|id| all.get(all.binary_search_by_key(&id, |e| e.id).ok()?));
    // A row that is updated in place has only the last state; the store may keep the earlier ones.
    let is_one = node.aliases.is_empty();
    let earlier = node
        .id
        .filter(|_| is_one)
        .map(|id| session.run.events_of(id));
    let earlier = earlier.unwrap_or_default().iter().map(|event| &event.row);
    for row in earlier.chain(rows) {
        add_row(&mut work.attempts, row);
    }
    let listed = work.attempts.len() as u32;
    if listed < node.attempts {
        // If an execution has only one row, which is updated in place, that row records the last attempt.
        if let [only] = work.attempts.as_mut_slice() {
            only.number = node.attempts;
        }
        let rows = match listed {
            0 => "no row records a single attempt".to_owned(),
            1 => "the rows record one attempt".to_owned(),
            n => format!("the rows record {n} attempts"),
        };
        work.attempts_note = Some(format!(
            "There were {} attempts; {rows}, and the results of the others were not kept.",
            node.attempts
        ));
    }
    // The last attempt ended with the run, even if the row records the attempt as running.
    if let Some(last) = work.attempts.last_mut()
        && node.status.is_open()
        && session.is_at_rest()
    {
        last.status = status_word(session, node).to_owned();
    }
    work.attempts.truncate(MOST);
}

/// Adds the facts of a row to the attempts.
fn add_row(attempts: &mut Vec<AttemptView>, row: &Execution) {
    let recorded = row.meta.as_deref().and_then(|meta| meta.attempt);
    let recorded = recorded.and_then(|n| u32::try_from(n).ok());
    let error = row.error.as_deref().filter(|e| !e.trim().is_empty());
    let error = error.map(|e| short(e, ERROR));
    let retry = row.status == Status::Retry;
    let last = attempts.last().map_or(0, |last| last.number);
    let next = recorded == Some(last + 1) && attempts.last().is_some_and(|l| l.status == "failed");
    if let Some(failed) = attempts.last_mut().filter(|_| retry) {
        // The row that begins an attempt may contain the error of the previous attempt.
        failed.status = "failed".to_owned();
        failed.error = failed.error.take().or(error.clone());
    }
    if attempts.is_empty() || retry || next {
        let first = if retry { 2 } else { 1 };
        attempts.push(AttemptView {
            number: recorded.unwrap_or(first).max(last + 1),
            id: row.id,
            started: row.started.clone(),
            ..AttemptView::default()
        });
    }
    let Some(current) = attempts.last_mut() else {
        return;
    };
    current.status = match &row.status {
        Status::Retry => "executing".to_owned(),
        status => status.word().to_owned(),
    };
    current.ended = row.completed.clone().or(current.ended.take());
    if !retry {
        current.error = error.or(current.error.take());
    }
}
