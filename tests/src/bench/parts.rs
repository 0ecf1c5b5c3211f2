//! What a page does between two of its marks, from the browser's own trace.

use serde_json::Value;

use crate::table::time;

/// The trace events that [`of`] needs.
pub(crate) const CATEGORIES: &str = "toplevel,blink.user_timing,v8.wasm";

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
    let is_worker = |event: &Value| {
        let thread = events.iter().find(|named| {
            named["name"] == "thread_name"
                && named["pid"] == *process
                && named["tid"] == event["tid"]
        });
        let name = thread.and_then(|thread| thread["args"]["name"].as_str());
        name.is_some_and(|name| name.starts_with("DedicatedWorker"))
    };
    let all: Vec<&Value> = events.iter().filter(of_process).filter(is_within).collect();
    let tasks = || {
        let is_task = |event: &&&Value| event["name"] == "ThreadControllerImpl::RunTask";
        all.iter().filter(is_task)
    };
    let sum = |events: &mut dyn Iterator<Item = &&Value>, field| {
        events.map(|event| micros(event, field)).sum::<f64>()
    };
    let main = sum(
        &mut tasks().filter(|task| task["tid"] == from["tid"]),
        "tdur",
    );
    let worker: Vec<&&Value> = tasks().filter(|task| is_worker(task)).collect();
    let busy = sum(&mut worker.iter().copied(), "tdur");
    let end = worker
        .iter()
        .map(|task| micros(task, "ts") + micros(task, "dur"));
    let begin = worker.iter().map(|task| micros(task, "ts"));
    let worked = end.fold(begun, f64::max) - begin.fold(ended, f64::min);
    let compiled = sum(
        &mut all
            .iter()
            .filter(|event| event["name"] == "wasm.CompileLazy"),
        "dur",
    );
    let [all, main, busy, waited, compiled] =
        [ended - begun, main, busy, worked - busy, compiled].map(|micros| time(micros / 1e6));
    format!(
        "  one traced opening, {all}: main thread {main}, worker {busy} and waiting {waited}, of both compiling {compiled}"
    )
}
