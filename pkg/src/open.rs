//! Opens or lists runs from the paths and bytes that JavaScript passes.

use std::collections::BTreeSet;
use std::rc::Rc;

use prosescope_core::model::source::{FileEntry, Source, left_out};
use prosescope_core::model::time::Stamp;
use prosescope_core::pages::session::{
    ChooseError, FoundKind, Options, Session, choose, list, survey,
};
use wasm_bindgen::prelude::*;

use crate::error::Problem;
use crate::packed::{UnpackedShare, unpacked};
use crate::path::clean;
use crate::run::{Run, clock, json};
use crate::source::{HeldBytes, JsSource};

#[wasm_bindgen]
extern "C" {
    /// The files that a caller gave, as `pkg/js/files.js` builds them from any input.
    pub type Given;

    #[wasm_bindgen(method, getter)]
    fn label(this: &Given) -> String;

    #[wasm_bindgen(method, getter)]
    fn paths(this: &Given) -> Vec<String>;

    /// The bytes of each file, or a function that returns a part of them.
    #[wasm_bindgen(method, getter)]
    fn bytes(this: &Given) -> Vec<JsValue>;

    /// The length of each file in bytes.
    #[wasm_bindgen(method, getter)]
    fn lengths(this: &Given) -> Vec<f64>;

    /// The modification time of each file, in milliseconds since 1970 UTC; NaN if it is unknown.
    #[wasm_bindgen(method, getter)]
    fn modified(this: &Given) -> Vec<f64>;

    /// The folders whose files the caller left out, such as `node_modules`.
    #[wasm_bindgen(method, getter, js_name = leftOut)]
    fn left_out(this: &Given) -> Option<Vec<String>>;
}

/// Opens the run `run` of these files (default: the latest). `run_id` selects a run in a database of several; `now` is
/// the present time in milliseconds since 1970 UTC (default: the system's clock).
#[wasm_bindgen(js_name = openRun)]
pub fn open_run(
    given: &Given,
    run: Option<String>,
    run_id: Option<String>,
    now: Option<f64>,
) -> Result<Run, JsValue> {
    let (source, is_packed) = source(given)?;
    let options = Options {
        now: Some(clock(now)),
        run_id,
        ..Options::default()
    };
    let dynamic: Rc<dyn Source> = source.clone();
    if is_packed && run.is_none() {
        only_run(&source)?;
    }
    let place = place(&dynamic, run.as_deref(), &options)?;
    let session = Session::open(dynamic, &place, &options).map_err(Problem::from)?;
    Ok(Run::new(session, source, place, now))
}

/// Lists the runs in these files, the newest first.
#[wasm_bindgen(js_name = listRuns)]
pub fn list_runs(given: &Given, now: Option<f64>) -> Result<JsValue, JsValue> {
    let (source, _) = source(given)?;
    let source: Rc<dyn Source> = source;
    let options = Options {
        now: Some(clock(now)),
        ..Options::default()
    };
    json(&list(&source, &options))
}

/// Refuses a shared file of several runs. Its sender chose the runs, so the newest is not the one that is meant, as it
/// is in a folder into which runs are recorded.
fn only_run(source: &JsSource) -> Result<(), Problem> {
    let mut found = survey(source).found;
    found.retain(|found| found.kind != FoundKind::Agents);
    if found.len() < 2 {
        return Ok(());
    }
    let names: BTreeSet<&str> = found.iter().map(|found| &*found.name).collect();
    let has_own_names = names.len() == found.len();
    let runs = found.into_iter();
    let runs = runs.map(|found| {
        if has_own_names {
            found.name
        } else {
            found.place
        }
    });
    Err(Problem::several_runs(&source.label(), runs.collect()))
}

/// Returns the place of the named run, or else of the latest run. If no run is named and the files contain none,
/// returns the place of agents, of the only file or of the folder: opening that place yields an error that describes
/// the files.
fn place(source: &Rc<dyn Source>, run: Option<&str>, options: &Options) -> Result<String, Problem> {
    match choose(source, run.unwrap_or("latest"), options) {
        Err(ChooseError::Nothing { .. }) if run.is_none() && !source.files().is_empty() => {
            let agents = survey(source.as_ref()).found.into_iter().next();
            Ok(match (agents, source.files()) {
                (Some(agents), _) => agents.place,
                (None, [only]) => only.path.clone(),
                (None, _) => String::new(),
            })
        }
        Err(unknown @ ChooseError::Unknown { .. }) => {
            let run = run.unwrap_or_default();
            by_its_own_id(source, run, options).ok_or_else(|| unknown.into())
        }
        chosen => Ok(chosen?),
    }
}

/// Finds a run by the id in its records, if the source has only one run: the folder or file of a single run can have
/// any name, which need not be its id.
fn by_its_own_id(source: &Rc<dyn Source>, run: &str, options: &Options) -> Option<String> {
    let listed = list(source, options).runs;
    match listed.as_slice() {
        [only] if !run.is_empty() && only.id.starts_with(run) => Some(only.place.clone()),
        _ => None,
    }
}

/// Returns the source over these files, and whether they were unpacked from a shared file.
fn source(given: &Given) -> Result<(Rc<JsSource>, bool), Problem> {
    let (label, paths, modified) = (given.label(), given.paths(), given.modified());
    let mut pairs: Vec<(FileEntry, HeldBytes)> = Vec::with_capacity(paths.len());
    let all = paths.into_iter().zip(given.bytes()).zip(given.lengths());
    for (at, ((path, bytes), len)) in all.enumerate() {
        let path = clean(&path).ok_or_else(|| {
            Problem::usage(
                "bad-path",
                format!("{path:?} is not a path inside of the opened folder"),
                "give each file a path relative to the folder that is opened, such as bindings/a.md",
            )
        })?;
        let modified = modified.get(at).filter(|ms| ms.is_finite());
        let entry = FileEntry {
            path,
            len: len as u64,
            modified: modified.map(|ms| Stamp::At(*ms as i64)),
        };
        pairs.push((entry, HeldBytes::of(bytes)));
    }
    pairs.sort_by(|a, b| a.0.path.cmp(&b.0.path));
    if let Some([(twice, _), _]) = pairs.array_windows().find(|[a, b]| a.0.path == b.0.path) {
        return Err(Problem::usage(
            "bad-path",
            format!("{} is given twice", twice.path),
            "give each file its path inside of the folder, not its name alone",
        ));
    }
    if let [(file, bytes)] = pairs.as_slice()
        && let Some(UnpackedShare { files, issue }) = unpacked(&file.path, file.len, bytes)?
    {
        let source = JsSource::new(label, files, Some(issue));
        return Ok((Rc::new(source), true));
    }
    let issue = left_out(&given.left_out().unwrap_or_default());
    Ok((Rc::new(JsSource::new(label, pairs, issue)), false))
}
