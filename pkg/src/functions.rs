//! Functions beside the run's own methods.

use prosescope_core::check::report;
use prosescope_core::issue::Severity;
use prosescope_core::session::pages;
use prosescope_core::source;
use prosescope_core::timeout::Timeout;
use prosescope_core::view::{CandidateView, CheckedRun, ResolutionView, RuleView, TimeoutView};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::error::Problem;
use crate::run::{Run, json, text};

/// What a check found.
#[derive(Serialize)]
struct Checked {
    #[serde(flatten)]
    run: CheckedRun,
    rules: Vec<RuleView>,
}

/// A resolution with its winner by name.
#[derive(Serialize)]
struct Resolution {
    #[serde(flatten)]
    view: ResolutionView,
    winner: Option<CandidateView>,
}

/// What a name means in a frame (an execution id; without it at the root), and why: every candidate, the winner first.
#[wasm_bindgen]
pub fn resolve(run: &Run, name: &JsValue, frame: &JsValue) -> Result<JsValue, JsValue> {
    let view = pages::resolve(run.session(), &text(name)?, run.frame(frame)?);
    json(&Resolution {
        winner: view.winner().cloned(),
        view,
    })
}

/// Everything that is odd in a run, also what reading does not look for; each with its place and what to do about it,
/// errors first. Reads the whole database.
#[wasm_bindgen]
pub fn check(run: &Run) -> Result<JsValue, JsValue> {
    let session = run.session();
    let folder = session.run().root.trim_end_matches('/');
    let page = pages::check_page(session, Some(run.now()), folder);
    let mut report = report(vec![page], &[], Severity::Note);
    json(&Checked {
        run: report.runs.pop().unwrap_or_default(),
        rules: report.rules,
    })
}

/// state.md, rendered from the run's data; `whole` writes the whole program, not only what ran and what is next.
#[wasm_bindgen(js_name = renderState)]
pub fn render_state(run: &Run, whole: Option<bool>) -> String {
    pages::state_md(run.session(), whole.unwrap_or_default())
}

/// Whether a folder below the one that was named is looked into.
#[wasm_bindgen(js_name = isListed)]
pub fn is_listed(folder: &str) -> bool {
    source::is_listed(folder)
}

/// Reads a duration as programs write it: `30s`, `4h`, `2h30m`. Throws a `DurationError` that says what is wrong, and
/// at which character.
#[wasm_bindgen(js_name = parseTimeout)]
pub fn parse_timeout(duration: &JsValue) -> Result<JsValue, JsValue> {
    let timeout = Timeout::parse(&text(duration)?).map_err(Problem::from)?;
    json(&TimeoutView::from(&timeout))
}
