//! Reads memory and processor time of a browser's processes from Linux's /proc.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

/// The thread name of a worker. Linux keeps only the first 15 characters of "DedicatedWorker thread".
const WORKER: &str = "DedicatedWorker";

/// Returns the largest peak memory (`VmHWM`) of the renderers below a process, in bytes.
pub(super) fn renderer_peak(browser: u32) -> Option<u64> {
    let peak = |id: u32| status(id, "VmHWM:").map(|kilobytes| kilobytes * 1024);
    renderers(browser)?.into_iter().filter_map(peak).max()
}

/// Returns the processor time of the workers in the renderers below this process.
pub(super) fn worker_time(browser: u32) -> Option<Duration> {
    threads_time(browser, |_, name| name == WORKER)
}

/// Returns the processor time of the main threads of the renderers below this process: scripts, layout and painting.
pub(super) fn page_time(browser: u32) -> Option<Duration> {
    threads_time(browser, |is_main, _| is_main)
}

/// Returns the processor time of selected renderer threads. `chosen` selects a thread: its arguments are whether the
/// thread is the main thread of its process, and the thread's name.
fn threads_time(browser: u32, chosen: impl Fn(bool, &str) -> bool) -> Option<Duration> {
    let mut nanos = 0;
    for id in renderers(browser)? {
        let Ok(threads) = fs::read_dir(format!("/proc/{id}/task")) else {
            continue;
        };
        for thread in threads.flatten().map(|entry| entry.path()) {
            let name = fs::read_to_string(thread.join("comm")).unwrap_or_default();
            let is_main = thread.ends_with(id.to_string());
            if chosen(is_main, name.trim()) {
                let times = fs::read_to_string(thread.join("schedstat")).ok()?;
                nanos += times.split_whitespace().next()?.parse::<u64>().ok()?;
            }
        }
    }
    Some(Duration::from_nanos(nanos))
}

fn renderers(browser: u32) -> Option<Vec<u32>> {
    let mut parents: BTreeMap<u32, u32> = BTreeMap::new();
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        if let Ok(id) = entry.file_name().to_string_lossy().parse()
            && let Some(parent) = status(id, "PPid:")
        {
            parents.insert(id, u32::try_from(parent).ok()?);
        }
    }
    let mut ours = BTreeSet::from([browser]);
    loop {
        let before = ours.len();
        let children = parents.iter().filter(|(_, parent)| ours.contains(parent));
        let children: Vec<u32> = children.map(|(id, _)| *id).collect();
        ours.extend(children);
        if ours.len() == before {
            break;
        }
    }
    let renderer = |id: &u32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("--type=renderer")
    };
    Some(ours.into_iter().filter(renderer).collect())
}

/// Returns the number after a field's name, such as `VmHWM:`, in `/proc/{id}/status`.
fn status(id: u32, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
