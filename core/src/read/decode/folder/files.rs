//! Determines the role of each file in a run folder.

use super::program::is_program_name;
use super::tree::RunTree;
use crate::model::FileInfo;
use crate::read::decode::memory_md::segment_number;

/// Returns every file with its role, ordered by path.
pub(super) fn list(tree: &RunTree<'_>) -> Vec<FileInfo> {
    tree.files()
        .iter()
        .map(|file| {
            let path = tree.relative(file);
            FileInfo {
                path: path.to_owned(),
                len: file.len,
                role: role(path).map(str::to_owned),
            }
        })
        .collect()
}

/// Returns a file's role from its path in the run folder (filesystem.md, "Directory Structure";
/// docs/reference/formats.md; errata F1); `None` for a path without a defined role.
pub fn role(path: &str) -> Option<&'static str> {
    let (top, rest) = path
        .split_once('/')
        .map_or((path, None), |(top, rest)| (top, Some(rest)));
    let Some(rest) = rest else {
        return Some(match top {
            "state.db" => "database",
            "state.db-wal" | "state.db-shm" | "state.db-journal" => "database",
            "agents.db" => "agents",
            "x_events.jsonl" => "events",
            "x_imports.jsonl" => "imports",
            "x_checkpoint.jsonl" => "checkpoint",
            "x_journal.json" => "journal",
            "run.json" => "run record",
            "receipts.jsonl" => "receipts",
            "manifest.md" | "forme.manifest.json" => "manifest",
            ".env" => "settings",
            _ if is_state_name(top) => "state file",
            _ if is_program_name(top) => "program",
            _ => return None,
        });
    };
    match top {
        "bindings" => Some("binding"),
        "agents" => {
            let (agent, file) = rest.split_once('/')?;
            match file {
                "memory.md" => Some("memory"),
                _ => segment_number(agent, file).map(|_| "segment"),
            }
        }
        "imports" => rest.contains('/').then_some("nested run"),
        "attachments" => Some("attachment"),
        "gates" if rest == "audit.jsonl" => Some("audit log"),
        "gates" => rest.ends_with(".json").then_some("gate"),
        "x_history" => Some("history"),
        "sources" => Some("source"),
        "services" => Some("service"),
        "workspace" => Some("workspace"),
        _ => None,
    }
}

/// Whether a file has one of the names of a state file.
pub(super) fn is_state_name(name: &str) -> bool {
    name.eq_ignore_ascii_case("state.md") || name == "vm.log.md"
}

#[cfg(test)]
mod tests {
    use super::role;

    #[test]
    fn every_place_has_a_role() {
        for (path, expected) in [
            ("state.md", Some("state file")),
            ("STATE.md", Some("state file")),
            ("vm.log.md", Some("state file")),
            ("program.prose", Some("program")),
            ("current.prose", Some("program")),
            ("bindings/a.md", Some("binding")),
            ("bindings/caller/request.md", Some("binding")),
            ("agents/captain/memory.md", Some("memory")),
            ("agents/captain/captain-1000.md", Some("segment")),
            ("agents/captain/notes.md", None),
            ("agents/stray.md", None),
            ("imports/r--research/state.md", Some("nested run")),
            ("attachments/report@2.md", Some("attachment")),
            ("gates/deploy.pending.json", Some("gate")),
            ("gates/audit.jsonl", Some("audit log")),
            ("x_events.jsonl", Some("events")),
            ("x_imports.jsonl", Some("imports")),
            ("x_history/a/1.md", Some("history")),
            ("receipts.jsonl", Some("receipts")),
            ("state.db-wal", Some("database")),
            ("notes.txt", None),
            ("manifest.md", Some("manifest")),
            ("services/researcher.md", Some("service")),
            ("workspace/researcher/draft.md", Some("workspace")),
            ("some/where/else", None),
        ] {
            assert_eq!(role(path), expected, "{path}");
        }
    }
}
