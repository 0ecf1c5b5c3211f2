//! Reads the ends of the logs `x_events.jsonl` and `gates/audit.jsonl`, and detects that lines were lost.

use std::io::{self, Write};

use prosescope_core::record::Fault;

use crate::dir::{Dir, part_of};
use crate::record::fault;
use crate::record::files::{append, fresh_name};

/// The log of executions, in the run's folder.
pub(super) const EVENTS: &str = "x_events.jsonl";
/// The log of imports, which has one row per line.
pub(super) const IMPORTS: &str = "x_imports.jsonl";
/// The audit log of gates, which has one row per line.
pub(super) const AUDIT: &str = "gates/audit.jsonl";

/// The file with the length that the log of executions had after the last command, as JSON: `{"bytes":N}`. Readers use
/// it, too.
const CHECKPOINT: &str = "x_checkpoint.jsonl";

/// Refuses to append to a log that lost lines: new rows would reuse the ids of the lost rows, or begin another chain.
/// Prosescope never leaves such a log.
pub(super) fn is_whole(root: &Dir) -> Result<(), Fault> {
    let wrong = |log: &str, cause: io::Error| fault::unread(&root.shown(log), &cause);
    if let Some(line) = torn(root, AUDIT).map_err(|cause| wrong(AUDIT, cause))? {
        let why = format!("the last line is cut off after {} bytes", line.len());
        let next = "if there is no copy, move the bytes of the cut line to another file; `prosescope audit verify RUN` then shows what the log lacks";
        return Err(Fault::lost_rows(root.shown(AUDIT).display(), &why, next));
    }
    let len = root.look(AUDIT).map_err(|cause| wrong(AUDIT, cause))?;
    // A longer file is not blank.
    let is_blank = match len.map(|meta| meta.len()) {
        Some(len) if len < 1 << 10 => {
            let bytes = root.read(AUDIT).map_err(|cause| wrong(AUDIT, cause))?;
            let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
            text.trim_start_matches('\u{feff}').trim().is_empty()
        }
        _ => false,
    };
    let gates = root.names("gates").map_err(|cause| wrong("gates", cause))?;
    if is_blank && gates.iter().any(|(name, _)| name.ends_with(".json")) {
        return Err(Fault::lost_rows(
            root.shown(AUDIT).display(),
            "the log is empty, although the run has gates",
            "remove the log only if no row was ever written to it",
        ));
    }
    let bytes = end(root, EVENTS).map_err(|cause| wrong(EVENTS, cause))?;
    match kept(root).filter(|had| *had > bytes) {
        None => Ok(()),
        Some(had) => {
            let why = format!(
                "the log has {bytes} bytes, and had {had} bytes when {CHECKPOINT} was written"
            );
            let next = format!("to accept the loss, remove {CHECKPOINT}");
            Err(Fault::lost_rows(root.shown(EVENTS).display(), &why, &next))
        }
    }
}

/// Returns the length of the log of executions after the last command, from the first line of the checkpoint.
fn kept(root: &Dir) -> Option<u64> {
    let bytes = root.read(CHECKPOINT).ok()??;
    let text = String::from_utf8(bytes).ok()?;
    let head: serde_json::Value = serde_json::from_str(text.lines().next()?).ok()?;
    head.get("bytes")?.as_u64()
}

/// Notes the length of the log of executions. The file is not synced: a torn one is ignored.
pub(super) fn keep(root: &Dir, bytes: u64) {
    let aside = fresh_name("checkpoint");
    let line = format!("{{\"bytes\":{bytes}}}\n");
    let written = root.create(&aside);
    let written = written.and_then(|mut file| file.write_all(line.as_bytes()));
    if written
        .and_then(|()| root.rename(&aside, CHECKPOINT))
        .is_err()
    {
        let _ = root.remove(&aside);
    }
}

/// Returns the length of a log after repair: an incomplete last line is not counted, and a complete last line without a
/// line break (written by hand) gets a line break. The next appended line replaces the incomplete line, which [`torn`]
/// returns.
pub(super) fn end(root: &Dir, path: &str) -> io::Result<u64> {
    let Some((end, rest)) = last_line(root, path)? else {
        return Ok(0);
    };
    if is_row(&rest) {
        let len = end + rest.len() as u64;
        append(root, path, len, b"\n")?;
        return Ok(len + 1);
    }
    Ok(end)
}

/// Returns the incomplete last line of a log, left by a killed writer or a truncation.
pub(super) fn torn(root: &Dir, path: &str) -> io::Result<Option<Vec<u8>>> {
    let rest = last_line(root, path)?.map(|(_, rest)| rest);
    Ok(rest.filter(|rest| !rest.trim_ascii().is_empty() && !is_row(rest)))
}

fn is_row(line: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(line).is_ok()
}

/// Returns the position after the last line break of a log, and the rest; `None` if there is no log.
fn last_line(root: &Dir, path: &str) -> io::Result<Option<(u64, Vec<u8>)>> {
    let Some(file) = root.file(path)? else {
        return Ok(None);
    };
    let part = |from: u64, most: u64| part_of(file.try_clone()?, from, most);
    let len = file.metadata()?.len();
    let mut at = len;
    let mut end = 0;
    // Searches backward from the end for the last line break.
    while at > 0 {
        let from = at.saturating_sub(64 << 10);
        let part = part(from, at - from)?;
        if let Some(found) = part.iter().rposition(|byte| *byte == b'\n') {
            end = from + found as u64 + 1;
            break;
        }
        at = from;
    }
    let rest = if end < len {
        part(end, len - end)?
    } else {
        Vec::new()
    };
    Ok(Some((end, rest)))
}
