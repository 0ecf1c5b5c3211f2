//! What the processes of a browser took, as Linux tells it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The largest `VmHWM` of the renderers below this process, in bytes.
pub(super) fn renderer_peak(browser: u32) -> Option<u64> {
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
        ours.extend(
            parents
                .iter()
                .filter(|(_, parent)| ours.contains(parent))
                .map(|(id, _)| *id)
                .collect::<Vec<_>>(),
        );
        if ours.len() == before {
            break;
        }
    }
    let renderer = |id: &&u32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("--type=renderer")
    };
    let peak = |id: &u32| status(*id, "VmHWM:").map(|kilobytes| kilobytes * 1024);
    ours.iter().filter(renderer).filter_map(peak).max()
}

/// A number of a process's status.
fn status(id: u32, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
