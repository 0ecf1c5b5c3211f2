use std::collections::BTreeSet;

use prosescope_core::model::timeout::Timeout;
use prosescope_core::pages::session::pages::{TraceChoice, TraceOrder};
use prosescope_core::pages::session::{Session, pages};
use prosescope_core::pages::view::RunPart;
use serde::Serialize;

use super::windows::{SHOWN, Windows};
use super::{ended, millis, node_named, unread};
use crate::args::{TraceArgs, TraceSort};
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, near, print};

pub(super) fn run(args: &TraceArgs, out: &Out) -> Result<Exit, CliError> {
    let session = locate::open(&args.run.name()?)?;
    if let Some(name) = &args.node {
        return node(&session, name, out);
    }
    let choice = choice(args)?;
    choice.known_status(&session).map_err(|words| {
        let near = near::names(&choice.status, words.iter().map(String::as_str));
        let error = CliError::usage(format!("no row has the status {:?}", choice.status));
        if near.is_empty() {
            error
        } else {
            error.hint(near::hint(&choice.status, near, "statuses"))
        }
        .hint(format!("expected one of: {}", words.join(", ")))
    })?;
    let most = args
        .limit
        .unwrap_or(if out.json { u32::MAX } else { SHOWN });
    let chosen = (!choice.is_all()).then(|| pages::chosen(&session, &choice));
    let unfolded = BTreeSet::new();
    let page = |from, len| match &chosen {
        None => pages::trace_page(&session, &unfolded, from, len),
        Some(rows) => pages::chosen_page(&session, rows, from, len),
    };
    let is_json = out.json && !args.timeline;
    // For JSON, this page contains no rows. The rows are made later in parts, while the JSON is written.
    let view = page(0, if is_json { 0 } else { most });
    if !choice.is_all() && view.total == 0 && !session.trace().nodes.is_empty() {
        let rows = session.trace().nodes.len();
        out.show(&view, || format!("no row matches (of {rows})\n"))?;
        return Ok(ended(&session));
    }
    let is_empty = view.total == 0 || most == 0;
    unread::list(&session, RunPart::Statements, is_empty, || {
        if args.timeline {
            let timeline = pages::timeline(&session);
            return out.show(&timeline, || print::timeline(&view, &timeline, out.width));
        }
        if is_json {
            let rows = Windows::of(view.total.min(most), |from, len| page(from, len).rows);
            out.json(&TraceJson {
                total: view.total,
                from: 0,
                rows,
                note: &view.note,
                remarks: &view.remarks,
                remarks_behind: &view.remarks_behind,
            })?;
            return Ok(Exit::Done);
        }
        out.show(&view, || print::trace(&view, out.width))
    })
}

/// The JSON of a [`prosescope_core::pages::view::TracePage`]. To save memory, its rows are made in parts while the JSON
/// is written.
#[derive(Serialize)]
struct TraceJson<'a, L: Serialize> {
    total: u32,
    from: u32,
    rows: L,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: &'a Option<String>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    remarks: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    remarks_behind: &'a [String],
}

/// Returns the filter and the order of the rows.
fn choice(args: &TraceArgs) -> Result<TraceChoice, CliError> {
    let duration = |text: &String| {
        let read = Timeout::parse(text);
        read.map(|duration| millis(&duration)).map_err(|error| {
            CliError::usage(format!("--at-least {text} is not a duration: {error}"))
        })
    };
    Ok(TraceChoice {
        text: args.text.clone().unwrap_or_default(),
        status: args.status.clone().unwrap_or_default(),
        kind: args.kind.clone().unwrap_or_default(),
        at_least_ms: args.at_least.as_ref().map(duration).transpose()?,
        order: match args.sort {
            TraceSort::Ran => TraceOrder::Ran,
            TraceSort::Longest => TraceOrder::Longest,
            TraceSort::Problems => TraceOrder::Problems,
        },
    })
}

/// Prints one row, by the number of its execution or by its place.
fn node(session: &Session, name: &str, out: &Out) -> Result<Exit, CliError> {
    let parts = [RunPart::Statements, RunPart::Bindings];
    let node = node_named(session, "--node", name, &parts)?;
    let Some(detail) = pages::node_detail(session, node) else {
        return Err(CliError::not_found(format!(
            "{name} does not exist in the trace"
        )));
    };
    out.show(&detail, || print::node(&detail, out.width))?;
    unread::require_parts(session, &parts)?;
    Ok(ended(session))
}
