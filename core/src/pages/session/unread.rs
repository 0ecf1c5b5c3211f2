//! Finds the parts of a run that were not read completely, so that user interfaces do not show them as empty.

use super::Session;
use super::values::Values;
use crate::model::Run;
use crate::model::issue::{Issue, Location, Severity};
use crate::model::schema;
use crate::pages::view::{RunPart, Unread};
use crate::read::decode::folder::is_program_name;

impl Session {
    /// Returns the parts of the run that could not be read completely, in the order of reading, including an encrypted
    /// state file. Encrypted or damaged values are not included, because pages show them as encrypted or damaged. Parts
    /// that were cut at one of Prosescope's limits are not included either, because a shortened list is not empty.
    /// Exceptions are tables with too many rows and the audit log, whose chain can only be verified with all of its
    /// rows.
    pub fn unread(&self) -> Vec<Unread> {
        unread_of(&self.run, &self.values)
    }

    /// Returns the reason if lines of the audit log could not be read, so that the log cannot be verified as a whole.
    /// The log's other lines are shown all the same.
    pub fn unread_log(&self) -> Option<Unread> {
        let mut issues = self.run.issues.iter();
        let issue = issues.find(|issue| issue.rule == "audit-lines-unread")?;
        Some(Unread {
            what: what(&issue.location),
            why: issue.message.clone(),
            next: issue.hint.clone(),
            parts: vec![RunPart::Audit],
            failed: false,
            sealed: false,
            around: false,
        })
    }
}

/// Returns the parts of a run that could not be read completely, like [`Session::unread`], but without a session.
pub(super) fn unread_of(run: &Run, values: &Values) -> Vec<Unread> {
    let mut found: Vec<Unread> = run.issues.iter().filter_map(unread).collect();
    let alone = values.source.is_loose();
    found.extend(run.issues.iter().filter_map(|issue| wal(issue, alone)));
    found.extend(run.sealed.iter().map(|file| sealed(file)));
    let part = run.log.iter().filter(|log| log.sealed);
    found.extend(part.map(|log| sealed(&format!("the beginning of {}", log.file))));
    found.extend(values.lost.borrow().iter().cloned());
    found
}

/// Returns whether the audit log, or a part of it, could not be read.
pub(super) fn lacks_log(run: &Run) -> bool {
    run.issues.iter().any(|issue| {
        issue.rule == "audit-lines-unread"
            || unread(issue).is_some_and(|unread| unread.parts.contains(&RunPart::Audit))
    })
}

/// Describes a `-wal` that is not beside its database: the newest rows may be in it, and even the run's end. In a run's
/// folder, a closed database has none. So only a database that was given `alone` needs this note, or one whose writer
/// left a `-shm`.
fn wal(issue: &Issue, alone: bool) -> Option<Unread> {
    let file = issue.location.file.as_deref()?;
    let counts = alone || issue.severity == Severity::Warning;
    (issue.rule == "wal-missing" && counts).then(|| Unread {
        what: format!("{file}-wal"),
        why: format!("it is not beside {file}"),
        next: issue.hint.clone(),
        parts: Vec::new(),
        failed: false,
        sealed: false,
        around: false,
    })
}

/// Describes an encrypted state file.
fn sealed(file: &str) -> Unread {
    Unread {
        what: file.to_owned(),
        why: "it is encrypted".to_owned(),
        next: "decrypt the file and read the run again".to_owned(),
        parts: vec![RunPart::Statements],
        failed: false,
        sealed: true,
        around: false,
    }
}

/// Returns the unread part that an issue reports; `None` for an issue about something else.
pub(super) fn unread(issue: &Issue) -> Option<Unread> {
    let file = issue.location.file.as_deref().unwrap_or_default();
    let parts = parts(&issue.location);
    let failed = match issue.rule.as_str() {
        "reading-failed" | "reading-stopped" | "file-unreadable" | "file-not-given"
        | "unreadable-folder" => true,
        // The rules of the next two arms report limits of Prosescope. Of files that were cut, only the audit log
        // counts, because it can only be verified with all of its rows.
        "too-many-rows" if !parts.is_empty() => true,
        "log-cut" | "file-cut" if parts == [RunPart::Audit] => true,
        "table-damaged" | "database-unreadable" | "agents-unreadable" | "log-unreadable" => false,
        // A link may lead to other files of the run. A linked program does not count: pages do not need the program,
        // which is often a link to its original.
        "link-not-followed" if !parts.is_empty() && parts != [RunPart::Program] => false,
        // A gate whose file is damaged is missing from the run. Damage in a log (`.jsonl`) only loses the damaged line.
        "malformed-json" if file.ends_with(".json") && parts == [RunPart::Gates] => false,
        _ => return None,
    };
    Some(Unread {
        what: what(&issue.location),
        why: issue.message.clone(),
        next: issue.hint.clone(),
        parts,
        failed,
        sealed: false,
        around: is_agents(file),
    })
}

fn what(location: &Location) -> String {
    match (&location.table, location.file.as_deref()) {
        (Some(table), Some(file)) => format!("table {table} of {file}"),
        (Some(table), None) => format!("table {table}"),
        (None, Some(file)) if !file.is_empty() => file.to_owned(),
        (None, _) => "the run".to_owned(),
    }
}

/// Returns the parts of a run that a place contains; empty for other content.
fn parts(location: &Location) -> Vec<RunPart> {
    if let Some(table) = &location.table {
        return of_table(table).into_iter().collect();
    }
    let path = location.file.as_deref().unwrap_or_default();
    match path.split('/').next().unwrap_or_default() {
        "" | "state.md" | "state.db" => RunPart::ALL.to_vec(),
        server if server.starts_with("postgres:") => RunPart::ALL.to_vec(),
        _ if is_agents(path) => vec![RunPart::Agents],
        "bindings" | "attachments" => vec![RunPart::Bindings],
        "agents" => vec![RunPart::Agents],
        "gates" if path.ends_with(".jsonl") => vec![RunPart::Audit],
        "gates" if path.ends_with(".json") => vec![RunPart::Gates],
        "gates" => vec![RunPart::Gates, RunPart::Audit],
        "imports" | "x_imports.jsonl" => vec![RunPart::Imports],
        "x_events.jsonl" | "x_journal.json" => vec![RunPart::Statements],
        _ if is_program_name(path) => vec![RunPart::Program],
        _ => Vec::new(),
    }
}

fn of_table(table: &str) -> Option<RunPart> {
    let is = |names: &[&str]| names.iter().any(|name| table.eq_ignore_ascii_case(name));
    let part = match () {
        () if is(&[schema::RUN, schema::EXECUTION]) => RunPart::Statements,
        () if is(&[schema::BINDINGS, schema::BINDING_HISTORY]) => RunPart::Bindings,
        () if is(&[
            schema::AGENTS,
            schema::AGENT_SEGMENTS,
            schema::AGENT_MEMORY_HISTORY,
        ]) =>
        {
            RunPart::Agents
        }
        () if is(&[schema::GATES]) => RunPart::Gates,
        () if is(&[schema::GATE_AUDIT_LOG]) => RunPart::Audit,
        () if is(&[schema::IMPORTS]) => RunPart::Imports,
        () => return None,
    };
    Some(part)
}

/// Returns whether a file is a store of agents of a project or a user, which is outside of the run.
fn is_agents(path: &str) -> bool {
    path.rsplit('/').next() == Some("agents.db") || path == "../agents"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_read_names_the_parts_of_the_run_that_lie_there() {
        use RunPart::{Agents, Audit, Bindings, Gates, Imports, Statements};

        const FAILED: bool = true;
        const DAMAGED: bool = false;
        let table = |rule, name| Issue::error(rule, "why").at_file("state.db").at_table(name);
        let file = |rule, name: &str| Issue::error(rule, "why").at_file(name);
        for (issue, expected, failed, what) in [
            (
                table("table-damaged", "execution"),
                &[Statements][..],
                DAMAGED,
                "table execution of state.db",
            ),
            (
                table("reading-failed", "Run"),
                &[Statements],
                FAILED,
                "table Run of state.db",
            ),
            (
                table("reading-stopped", schema::BINDING_HISTORY),
                &[Bindings],
                FAILED,
                "table x_binding_history of state.db",
            ),
            (
                table("table-damaged", "agent_segments"),
                &[Agents],
                DAMAGED,
                "table agent_segments of state.db",
            ),
            (
                table("table-damaged", "gates"),
                &[Gates],
                DAMAGED,
                "table gates of state.db",
            ),
            (
                table("table-damaged", "gate_audit_log"),
                &[Audit],
                DAMAGED,
                "table gate_audit_log of state.db",
            ),
            (
                table("table-damaged", "x_notes"),
                &[],
                DAMAGED,
                "table x_notes of state.db",
            ),
            (
                file("database-unreadable", "state.db"),
                &RunPart::ALL,
                DAMAGED,
                "state.db",
            ),
            (
                file("reading-failed", "state.db"),
                &RunPart::ALL,
                FAILED,
                "state.db",
            ),
            (
                file("unreadable-folder", ""),
                &RunPart::ALL,
                FAILED,
                "the run",
            ),
            (
                file("unreadable-folder", "gates"),
                &[Gates, Audit],
                FAILED,
                "gates",
            ),
            (
                file("unreadable-folder", "workspace"),
                &[],
                FAILED,
                "workspace",
            ),
            (
                file("link-not-followed", "imports"),
                &[Imports],
                DAMAGED,
                "imports",
            ),
            (
                file("malformed-json", "gates/a.json"),
                &[Gates],
                DAMAGED,
                "gates/a.json",
            ),
            (
                file("file-unreadable", "bindings/a.md"),
                &[Bindings],
                FAILED,
                "bindings/a.md",
            ),
            (
                file("file-unreadable", "agents/a/memory.md"),
                &[Agents],
                FAILED,
                "agents/a/memory.md",
            ),
            (
                file("file-unreadable", "gates/audit.jsonl"),
                &[Audit],
                FAILED,
                "gates/audit.jsonl",
            ),
            (
                file("file-not-given", "state.md"),
                &RunPart::ALL,
                FAILED,
                "state.md",
            ),
            (
                file("file-unreadable", "program.prose"),
                &[RunPart::Program],
                FAILED,
                "program.prose",
            ),
            (
                file("agents-unreadable", "../agents.db"),
                &[Agents],
                DAMAGED,
                "../agents.db",
            ),
            (
                file("reading-failed", "agents.db"),
                &[Agents],
                FAILED,
                "agents.db",
            ),
            (
                table("table-damaged", "agents").at_file("agents.db"),
                &[Agents],
                DAMAGED,
                "table agents of agents.db",
            ),
        ] {
            let unread = unread(&issue).expect(what);
            assert_eq!(unread.parts, expected, "{what}");
            assert_eq!(unread.failed, failed, "{what}");
            assert_eq!(unread.what, what);
            assert_eq!(unread.around, what.ends_with("agents.db"), "{what}");
        }
        for read in [
            table("malformed-json", "execution"),
            table("encrypted-value", "bindings"),
            file("malformed-json", "gates/audit.jsonl"),
            file("malformed-json", "notes.json"),
            file("link-not-followed", "program.prose"),
        ] {
            assert_eq!(unread(&read), None, "{read:?}");
        }
    }
}
