//! Selects the files that `prosescope view` serves.

use std::path::Path;

use prosescope_core::model::source::Source;
use prosescope_store::WorkflowReader;

use super::disk;
use super::find::{locate, looks_like_path};
use crate::error::CliError;
use crate::serve::Served;

/// Returns the files that `prosescope view` serves for these runs or paths.
pub(crate) fn served(runs: &[String]) -> Result<Served, CliError> {
    let mut served = Served::new(&runs.join(", "));
    for (n, run) in runs.iter().enumerate() {
        let path = Path::new(run);
        if looks_like_path(run) && path.is_dir() {
            let name = path
                .canonicalize()
                .ok()
                .and_then(|p| p.file_name().map(|n| n.to_string_lossy().into_owned()));
            let prefix = if runs.len() == 1 {
                String::new()
            } else {
                format!("{}/", name.unwrap_or_else(|| n.to_string()))
            };
            disk(path)?;
            served.add(path.to_owned(), &prefix, Box::new(|_| true));
            continue;
        }
        // A database of workflows is not a run, so only the file itself is served.
        if looks_like_path(run) && path.is_file() && WorkflowReader::open(path).is_ok() {
            served.add(path.to_owned(), "", Box::new(|_| true));
            continue;
        }
        let located = locate(run)?;
        let is_file = located.disk.file(&located.place).is_some();
        let root = match located.place.rsplit_once('/') {
            Some((dir, _)) if is_file => dir.to_owned(),
            // The file is directly in the disk's folder, so all files of the disk may be served.
            None if is_file => String::new(),
            _ => located.place.clone(),
        };
        // A database that is not named state.db is a run without a folder: the other files beside it are not served.
        let alone = is_file && root.is_empty() && located.place != "state.db";
        let path = if alone {
            located.base.join(&located.place)
        } else {
            located.base
        };
        let inside = format!("{root}/");
        let wanted = move |path: &str| {
            let above = path.ends_with('/') && inside.starts_with(path);
            root.is_empty()
                || path.starts_with(&inside)
                || above
                || matches!(path, "agents.db" | ".env" | "runs/sessions.json")
                || path.starts_with("agents/")
        };
        served.add(path, "", Box::new(wanted));
    }
    Ok(served)
}
