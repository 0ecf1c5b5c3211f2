//! What a page does between two of its marks, from the browser's own trace.

use serde_json::Value;

use crate::table::time;

/// The trace events that [`of`] needs.
pub(crate) const CATEGORIES: &str = "toplevel,blink.user_timing,devtools.timeline,v8.wasm";

/// Returns a sentence: the processor time of the page's main thread and of its workers, for how long the workers waited,
/// mostly for the file, and how long functions were compiled when they first ran.
pub(crate) fn of(events: &[Value], from: &str, to: &str) -> String {
    let named = |name: &str| events.iter().find(|event| event["name"] == name);
    let (Some(from), Some(to)) = (named(from), named(to)) else {
        return "the trace lacks the page's marks".to_owned();
    };
    let process = &from["pid"];
    let of_process = |event: &&Value| event["pid"] == *process && event["ph"] == "X";
    let micros = |event: &Value, field: &str| event[field].as_f64().unwrap_or_default();
    let (begun, ended) = (micros(from, "ts"), micros(to, "ts"));
    let is_within = |event: &&Value| (begun..ended).contains(&micros(event, "ts"));
    let is_thread = |event: &&Value| {
        let name = event["args"]["name"].as_str().unwrap_or_default();
        event["name"] == "thread_name"
            && event["pid"] == *process
            && name.starts_with("DedicatedWorker")
    };
    let workers: Vec<&Value> = events
        .iter()
        .filter(is_thread)
        .map(|thread| &thread["tid"])
        .collect();
    let mut all: Vec<&Value> = events.iter().filter(of_process).filter(is_within).collect();
    all.sort_by(|a, b| micros(a, "ts").total_cmp(&micros(b, "ts")));
    // Of nested events, the outermost has the time of all.
    let outermost = |is_wanted: &dyn Fn(&Value) -> bool| {
        let (mut begin, mut end, mut took) = (None, 0.0, 0.0);
        for event in all.iter().filter(|event| is_wanted(event)) {
            if micros(event, "ts") >= end {
                begin = begin.or(Some(micros(event, "ts")));
                end = micros(event, "ts") + micros(event, "dur");
                took += micros(event, "tdur");
            }
        }
        (took, begin.map_or(0.0, |begin| end - begin))
    };
    let (main, _) = outermost(&|event| event["tid"] == from["tid"]);
    let (busy, worked) = outermost(&|event| workers.contains(&&event["tid"]));
    let waited = worked - busy;
    let lazily = all
        .iter()
        .filter(|event| event["name"] == "wasm.CompileLazy");
    let compiled: f64 = lazily.map(|event| micros(event, "dur")).sum();
    let [all, main, busy, waited, compiled] =
        [ended - begun, main, busy, waited, compiled].map(|micros| time(micros / 1e6));
    format!(
        "  one traced opening, {all}: main thread {main}, worker {busy} and waiting {waited}, of both compiling {compiled}"
    )
}
