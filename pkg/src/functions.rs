//! Exports the package's functions to JavaScript that are not methods of a run.

use prosescope_core::model::issue::Severity;
use prosescope_core::model::source;
use prosescope_core::model::timeout::Timeout;
use prosescope_core::pages::check::report;
use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::{
    CandidateView, CheckedRun, ResolutionView, RuleView, TimeoutView,
};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::error::Problem;
use crate::run::{Run, json, text};

/// The findings of a check, with a description of each rule.
#[derive(Serialize)]
struct CheckJson {
    #[serde(flatten)]
    run: CheckedRun,
    rules: Vec<RuleView>,
}

/// The result of resolving a name: all candidates, and the winner once more in a separate field.
#[derive(Serialize)]
struct ResolutionJson {
    #[serde(flatten)]
    view: ResolutionView,
    winner: Option<CandidateView>,
}

/// Resolves a name from a frame: an execution id, or the root if missing. Returns every candidate, the winner first,
/// with the reason.
#[wasm_bindgen]
pub fn resolve(run: &Run, name: &JsValue, frame: &JsValue) -> Result<JsValue, JsValue> {
    let view = pages::resolve(run.session(), &text(name)?, run.frame(frame)?);
    json(&ResolutionJson {
        winner: view.winner().cloned(),
        view,
    })
}

/// Checks a run more thoroughly than opening does, and reads the whole database. Returns the findings with their places
/// and ways to fix them, errors first.
#[wasm_bindgen]
pub fn check(run: &Run) -> Result<JsValue, JsValue> {
    let session = run.session();
    let folder = session.run().root.trim_end_matches('/');
    let page = pages::check_page(session, Some(run.now()), folder);
    let mut report = report(vec![page], &[], Severity::Note);
    json(&CheckJson {
        run: report.runs.pop().unwrap_or_default(),
        rules: report.rules,
    })
}

/// Renders state.md from the run's data; `whole` includes the whole program, not only what ran and what is next.
#[wasm_bindgen(js_name = renderState)]
pub fn render_state(run: &Run, whole: Option<bool>) -> String {
    pages::state_md(run.session(), whole.unwrap_or_default())
}

/// Returns whether a listing includes the folder with this path; `node_modules` is left out, for example.
#[wasm_bindgen(js_name = isListed)]
pub fn is_listed(folder: &str) -> bool {
    source::is_listed(folder)
}

/// Parses a duration as in programs: `30s`, `4h`, `2h30m`. Throws a `DurationError` with the fault and the position
/// of the character.
#[wasm_bindgen(js_name = parseTimeout)]
pub fn parse_timeout(duration: &JsValue) -> Result<JsValue, JsValue> {
    let timeout = Timeout::parse(&text(duration)?).map_err(Problem::from)?;
    json(&TimeoutView::from(&timeout))
}
