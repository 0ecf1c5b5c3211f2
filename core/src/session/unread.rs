//! Which parts of a run were not read to their end, so that no shell shows them as empty.

use super::Session;
use crate::issue::Issue;
use crate::schema;

/// A part of a run that an answer may need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// All of it: the database, the folder, the state file.
    Run,
    /// What ran.
    Trace,
    /// Bindings.
    Bindings,
    /// Agents and their memories.
    Agents,
    /// Gates and their audit log.
    Gates,
    /// Runs of imported programs.
    Imports,
}

/// A part of a run that was not read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// The part.
    pub part: Part,
    /// Whether reading failed (no permission, a lock, an I/O error), so that another try may succeed; else what is there
    /// cannot be understood.
    pub failed: bool,
    /// What was not read, and why.
    pub message: String,
    /// What to do next.
    pub next: String,
}

impl Session {
    /// The parts of the run that were not read to their end. Encrypted or odd values are none: they are read, and shown as
    /// what they are.
    pub fn unread(&self) -> Vec<Unread> {
        let found = self.run.issues.iter().filter_map(unread);
        found.chain(self.lost.borrow().iter().cloned()).collect()
    }
}

/// What an issue says of a part that was not read; `None` where it says something else.
pub(super) fn unread(issue: &Issue) -> Option<Unread> {
    let file = issue.location.file.as_deref();
    let failed = match issue.rule.as_str() {
        "reading-failed" | "reading-stopped" | "file-unreadable" | "unreadable-folder"
        | "agents-unreadable" => true,
        "table-damaged" | "database-unreadable" | "link-not-followed" => false,
        // A gate without a readable file is missing; a log that was torn is read without that line.
        "malformed-json"
            if file.is_some_and(|file| file.starts_with("gates/") && file.ends_with(".json")) =>
        {
            false
        }
        _ => return None,
    };
    let part = match issue.location.table.as_deref() {
        Some(table) => of_table(table),
        None => of_file(file.unwrap_or_default()),
    }?;
    let next = match (issue.rule.as_str(), failed) {
        ("file-unreadable" | "unreadable-folder", _) => {
            "Check that you may read it, and repeat the command.".to_owned()
        }
        _ => issue.hint.clone(),
    };
    Some(Unread {
        part,
        failed,
        message: issue.message.clone(),
        next,
    })
}

/// The part that a table of a database holds; `None` where no answer is made of it.
fn of_table(table: &str) -> Option<Part> {
    Some(match table {
        schema::BINDINGS | schema::BINDING_HISTORY => Part::Bindings,
        schema::AGENTS | schema::AGENT_SEGMENTS | schema::AGENT_MEMORY_HISTORY => Part::Agents,
        schema::GATES | schema::GATE_AUDIT_LOG => Part::Gates,
        schema::IMPORTS => Part::Imports,
        schema::EXECUTION => Part::Trace,
        schema::RUN => Part::Run,
        _ => return None,
    })
}

/// The part that a file or folder of a run holds.
fn of_file(file: &str) -> Option<Part> {
    let first = file.split('/').next().unwrap_or_default();
    Some(match first {
        "bindings" | "attachments" => Part::Bindings,
        "agents" | "agents.db" => Part::Agents,
        "gates" => Part::Gates,
        "imports" => Part::Imports,
        "x_events.jsonl" | "x_journal.json" => Part::Trace,
        "" | "state.md" | "state.db" => Part::Run,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_read_is_told_by_part_and_reason() {
        let of = |issue: Issue| unread(&issue).map(|one| (one.part, one.failed));
        let at = |rule: &str, file: &str| of(Issue::error(rule, "x").at_file(file));
        let table = |rule: &str, table: &str| of(Issue::error(rule, "x").at_table(table));
        for (found, expected) in [
            (table("table-damaged", "gates"), Some((Part::Gates, false))),
            (
                table("table-damaged", "gate_audit_log"),
                Some((Part::Gates, false)),
            ),
            (
                table("reading-failed", "bindings"),
                Some((Part::Bindings, true)),
            ),
            (
                table("reading-stopped", "execution"),
                Some((Part::Trace, true)),
            ),
            (table("table-damaged", "x_notes"), None),
            (table("encrypted-value", "bindings"), None),
            (at("unreadable-folder", "gates"), Some((Part::Gates, true))),
            (at("unreadable-folder", ""), Some((Part::Run, true))),
            (at("unreadable-folder", "workspace"), None),
            (
                at("file-unreadable", "bindings/a.md"),
                Some((Part::Bindings, true)),
            ),
            (
                at("file-unreadable", "agents/a/memory.md"),
                Some((Part::Agents, true)),
            ),
            (at("file-unreadable", "state.md"), Some((Part::Run, true))),
            (
                at("database-unreadable", "state.db"),
                Some((Part::Run, false)),
            ),
            (
                at("agents-unreadable", "agents.db"),
                Some((Part::Agents, true)),
            ),
            (
                at("link-not-followed", "imports"),
                Some((Part::Imports, false)),
            ),
            (
                at("malformed-json", "gates/a.json"),
                Some((Part::Gates, false)),
            ),
            (at("malformed-json", "gates/audit.jsonl"), None),
        ] {
            assert_eq!(found, expected);
        }
    }
}
