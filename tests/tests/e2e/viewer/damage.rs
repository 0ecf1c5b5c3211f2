//! Tests damaged inputs in the viewer's worker, in a real Chromium: opens every page of each input. WebAssembly must
//! not trap, the limits of errata R4 and R5 must hold, and the messages must equal those of a native build.

use std::fmt::Write as _;
use std::rc::Rc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use prosescope_core::model::source::Source;
use prosescope_core::pages::session::{Options, Session, survey};
use prosescope_damage::{Case, Outcome, What};
use prosescope_test_support::work::exceeds;
use serde_json::{Value, json};

use super::Viewer;

const FILES: &str = include_str!("damage_files.js");
const VISIT: &str = include_str!("damage.js");

/// The most processor time that the worker may take to open a case and all its pages, on a machine of usual speed.
const MOST_TIME: Duration = Duration::from_secs(2);

/// How often a case that takes longer than [`MOST_TIME`] is tried. The fastest try counts, because other tests may slow
/// a case down.
const TRIES: usize = 4;

/// The most wasm memory of the worker over all cases, in bytes. wasm memory only grows.
const MOST_MEMORY: u64 = 256 << 20;

/// Of this many randomly damaged cases, one is opened. With `PROSE_DAMAGE_ALL=1`, all are opened.
const STEP: usize = 25;

/// Cases that SQLite treats differently natively and in WebAssembly, because the versions differ.
const OTHERWISE: [&str; 1] = ["half of each page reserved"];

/// The size of the largest sparse file that is created in a browser's memory, in bytes.
const HELD: u64 = 16 << 20;

#[test]
fn damaged_inputs_are_borne_in_the_worker() {
    let Some(mut viewer) = Viewer::alone() else {
        return;
    };
    // This call starts the worker.
    viewer.stats();
    let by_hand = prosescope_damage::by_hand().count();
    let all = std::env::var_os("PROSE_DAMAGE_ALL").is_some();
    let step = if all { 1 } else { STEP };
    let cases = (0..by_hand).chain((by_hand..prosescope_damage::count()).step_by(step));
    let named = std::env::var("PROSE_DAMAGE").unwrap_or_default();
    let begun = Instant::now();
    let (mut count, mut opened, mut answers, mut memory) = (0, 0, 0, 0);
    let (mut busy, mut slowest) = (Duration::ZERO, (Duration::ZERO, String::new()));
    let mut trouble = String::new();
    for case in cases.map(prosescope_damage::case) {
        if !case.name.contains(&named) {
            continue;
        }
        let Some(entries) = entries(&case) else {
            continue;
        };
        let made = viewer.try_eval_in_worker(&format!("({FILES})({entries})"));
        let mut seen = made.map(|_| Value::Null);
        let mut took = Duration::MAX;
        for _ in 0..TRIES {
            let before = viewer.worker_time();
            seen = seen.and_then(|_| viewer.try_eval_in_worker(&format!("({VISIT})(damaged)")));
            took = took.min(viewer.worker_time().saturating_sub(before));
            if took <= MOST_TIME || seen.is_err() {
                break;
            }
        }
        busy += took;
        count += 1;
        let page = seen
            .as_ref()
            .map_or(Value::Null, |seen| seen["slowest"].clone());
        match seen.and_then(|seen| judge(&case, &seen).map(|()| seen)) {
            Ok(seen) => {
                opened += usize::from(seen["opened"] != json!(0));
                answers += seen["answers"].as_u64().unwrap_or(0);
                memory = memory.max(seen["memory"].as_u64().unwrap_or(u64::MAX));
            }
            Err(what) => {
                let _ = writeln!(trouble, "{}: {what}", case.name);
                if viewer.try_eval_in_worker("1").is_err() {
                    viewer.reload();
                    viewer.stats();
                }
            }
        }
        if exceeds(took, MOST_TIME) {
            let millis = took.as_millis();
            let _ = writeln!(trouble, "{}: took {millis} ms, {page}", case.name);
        }
        if took > slowest.0 {
            slowest = (took, format!("{}, {page}", case.name));
        }
    }
    eprintln!(
        "{count} cases in {} s, {} s in the worker: {opened} shown, {answers} answers, {} MB of wasm memory, the slowest {} ms ({})",
        begun.elapsed().as_secs(),
        busy.as_secs(),
        memory >> 20,
        slowest.0.as_millis(),
        slowest.1
    );
    assert!(trouble.is_empty(), "{trouble}");
    assert!(memory <= MOST_MEMORY, "{memory} bytes");
    viewer.assert_quiet();
}

/// Returns the files of a case as JSON for the script in the worker; `None` if a file cannot exist in a browser.
fn entries(case: &Case) -> Option<Value> {
    let entries = case.entries.iter().map(|entry| match &entry.what {
        What::File(bytes) => Some(json!([entry.path, BASE64.encode(bytes)])),
        What::Hole(len) if *len <= HELD => Some(json!([entry.path, len])),
        _ => None,
    });
    entries.collect()
}

/// Returns an error unless the case had its required outcome, and the same outcome as natively.
fn judge(case: &Case, seen: &Value) -> Result<(), String> {
    let said = seen["refused"].to_string();
    let opened = seen["opened"].as_u64().unwrap_or(0);
    match case.outcome {
        Outcome::Shown(_) if opened == 0 => return Err(format!("not shown: {said}")),
        Outcome::Refused(words)
            if opened > 0 || !said.to_lowercase().contains(&words.to_lowercase()) =>
        {
            return Err(format!("not refused with {words:?}: {said}"));
        }
        _ => {}
    }
    // Only on disk can a copy of the database be rolled back with its `-journal`, so the outcomes are not compared.
    if said.contains("-journal") || OTHERWISE.contains(&case.name.as_str()) {
        return Ok(());
    }
    let (natively, refused) = natively(case);
    if opened != natively {
        return Err(format!(
            "{opened} opened, natively {natively}; {said}, natively {refused:?}"
        ));
    }
    Ok(())
}

/// Returns the number of runs that open natively from the same files, and the errors of the other runs.
fn natively(case: &Case) -> (u64, Vec<String>) {
    let source: Rc<dyn Source> = Rc::new(case.in_memory());
    let (mut opened, mut refused) = (0, Vec::new());
    for found in survey(source.as_ref()).found.into_iter().take(16) {
        match Session::open(Rc::clone(&source), &found.place, &Options::default()) {
            Ok(_) => opened += 1,
            Err(error) => refused.push(error.to_string()),
        }
    }
    (opened, refused)
}
