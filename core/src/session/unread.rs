//! What of a run could not be read to its end: its lists may lack rows, and an empty list says nothing.

use super::Session;
use crate::issue::{Issue, Location};
use crate::schema;
use crate::view::{Part, Unread};

/// Rules of issues that report that reading failed. Whatever was cut at a limit of ours is not among them: a list that
/// was cut is not empty.
const RULES: &[&str] = &[
    "agents-unreadable",
    "database-unreadable",
    "file-not-given",
    "file-unreadable",
    "reading-stopped",
    "table-damaged",
    "unreadable-folder",
];

impl Session {
    /// What of the run could not be read to its end, in the order in which it was met.
    pub fn unread(&self) -> Vec<Unread> {
        unread(&self.run.issues)
    }

    /// The first thing that hides rows of a part of the run: where there is one, an empty list of that part is unread,
    /// not empty.
    pub fn unread_part(&self, part: Part) -> Option<Unread> {
        let mut unread = self.unread().into_iter();
        unread.find(|unread| unread.concerns(part))
    }
}

fn unread(issues: &[Issue]) -> Vec<Unread> {
    let issues = issues
        .iter()
        .filter(|issue| RULES.contains(&&*issue.rule))
        .map(|issue| Unread {
            what: what(&issue.location),
            why: issue.message.clone(),
            next: issue.hint.clone(),
            parts: parts(&issue.location),
            around: issue.rule == "agents-unreadable",
        });
    issues.collect()
}

fn what(location: &Location) -> String {
    match (&location.table, &location.file) {
        (Some(table), Some(file)) => format!("table {table} of {file}"),
        (Some(table), None) => format!("table {table}"),
        (None, Some(file)) => file.clone(),
        (None, None) => "the run".to_owned(),
    }
}

fn parts(location: &Location) -> Vec<Part> {
    if let Some(table) = &location.table {
        return of_table(table).into_iter().collect();
    }
    let path = location.file.as_deref().unwrap_or_default();
    let folder = path.split('/').next().unwrap_or_default();
    match folder {
        _ if path.ends_with("agents.db") => vec![Part::Agents],
        "bindings" | "attachments" => vec![Part::Bindings],
        "agents" => vec![Part::Agents],
        "gates" if path.ends_with(".jsonl") => vec![Part::Audit],
        "gates" if path.ends_with(".json") => vec![Part::Gates],
        "gates" => vec![Part::Gates, Part::Audit],
        "imports" => vec![Part::Imports],
        "x_events.jsonl" => vec![Part::Statements],
        _ if is_program(path) => Vec::new(),
        _ => Part::ALL.to_vec(),
    }
}

fn of_table(table: &str) -> Option<Part> {
    let named = |name: &str| table.eq_ignore_ascii_case(name);
    let part = match () {
        () if named(schema::RUN) || named(schema::EXECUTION) => Part::Statements,
        () if named(schema::BINDINGS) => Part::Bindings,
        () if named(schema::AGENTS) || named(schema::AGENT_SEGMENTS) => Part::Agents,
        () if named(schema::GATES) => Part::Gates,
        () if named(schema::GATE_AUDIT_LOG) => Part::Audit,
        () if named(schema::IMPORTS) => Part::Imports,
        () => return None,
    };
    Some(part)
}

fn is_program(path: &str) -> bool {
    path.ends_with(".prose") || path.ends_with(".prose.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_read_names_the_parts_of_the_run_that_lie_there() {
        use Part::{Agents, Audit, Bindings, Gates, Statements};

        let table = |name| {
            Issue::error("table-damaged", "why")
                .at_file("state.db")
                .at_table(name)
        };
        let file = |rule, name: &str| Issue::error(rule, "why").at_file(name);
        for (issue, expected, what) in [
            (
                table("execution"),
                &[Statements][..],
                "table execution of state.db",
            ),
            (table("run"), &[Statements], "table run of state.db"),
            (
                table("agent_segments"),
                &[Agents],
                "table agent_segments of state.db",
            ),
            (
                table("gate_audit_log"),
                &[Audit],
                "table gate_audit_log of state.db",
            ),
            (table("x_notes"), &[], "table x_notes of state.db"),
            (
                file("database-unreadable", "state.db"),
                &Part::ALL,
                "state.db",
            ),
            (file("unreadable-folder", "gates"), &[Gates, Audit], "gates"),
            (
                file("file-unreadable", "bindings/a.md"),
                &[Bindings],
                "bindings/a.md",
            ),
            (
                file("file-unreadable", "gates/audit.jsonl"),
                &[Audit],
                "gates/audit.jsonl",
            ),
            (file("file-unreadable", "state.md"), &Part::ALL, "state.md"),
            (
                file("file-unreadable", "program.prose"),
                &[],
                "program.prose",
            ),
            (
                file("agents-unreadable", "../agents.db"),
                &[Agents],
                "../agents.db",
            ),
        ] {
            let unread = unread(&[issue]);
            assert_eq!(unread.len(), 1, "{what}");
            assert_eq!(unread[0].parts, expected, "{what}");
            assert_eq!(unread[0].what, what);
        }
        let read = [Issue::warning("malformed-json", "x").at_table("execution")];
        assert_eq!(unread(&read), []);
    }
}
