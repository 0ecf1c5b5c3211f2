//! Makes runs to resume, and prints a view in a few lines.

use std::fmt::Write as _;
use std::path::Path;

use prosescope_core::pages::session::Session;
use prosescope_core::pages::view::{How, ResumeView};

use crate::session;
pub(crate) use crate::session::{NOW, files};

/// Makes a run in a database from a program, a status and the SQL that fills the tables.
pub(crate) fn database(program: &str, status: &str, sql: &str) -> Session {
    session::database(|conn| {
        let source = (!program.is_empty()).then_some(program);
        conn.execute(
            "INSERT INTO run (id, status, program_source, started_at, updated_at)
             VALUES ('r1', ?1, ?2, '2026-01-25 15:00:00', '2026-01-25 15:30:00')",
            (status, source),
        )
        .unwrap();
        conn.execute_batch(sql).unwrap();
    })
}

/// Collects the files below a folder.
pub(crate) fn folder(dir: &Path, prefix: &str, out: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            folder(&entry.path(), &format!("{name}/"), out);
        } else {
            out.push((name, std::fs::read(entry.path()).unwrap()));
        }
    }
}

/// Returns the facts of a resume view as text, one per line.
pub(crate) fn told(view: &ResumeView) -> String {
    let mut out = format!("{}\n", view.headline);
    let frame = |id: Option<i64>| id.map_or("root".to_owned(), |id| format!("#{id}"));
    let lines = |lines: &[u32]| {
        let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
        lines.join(",")
    };
    for at in &view.positions {
        let line = at.line.map_or("-".to_owned(), |l| l.to_string());
        let next = at
            .next
            .as_ref()
            .map_or("-".to_owned(), |n| n.line.to_string());
        let _ = writeln!(out, "{} {line} in {} next {next}", at.how, frame(at.frame));
    }
    let ahead: Vec<String> = view
        .ahead
        .iter()
        .map(|a| {
            let mark = match a.how {
                How::Here => "!",
                How::Again => "*",
                How::Maybe => "?",
                How::Called => "^",
                How::Next => "",
            };
            format!("{}{mark}", a.line)
        })
        .collect();
    if !ahead.is_empty() {
        let _ = writeln!(out, "ahead {}", ahead.join(" "));
    }
    for need in &view.needs {
        let place = match &need.binding {
            Some(binding) => format!(" {}", frame(binding.execution_id)),
            None => String::new(),
        };
        let sure = if need.sure { "" } else { "?" };
        let _ = writeln!(
            out,
            "{} {}{sure}{place} @{}",
            need.state,
            need.name,
            lines(&need.lines)
        );
    }
    for memory in &view.memories {
        let _ = writeln!(
            out,
            "memory {} {} {} @{}",
            memory.agent,
            memory.scope,
            memory.state,
            lines(&memory.lines)
        );
    }
    for caution in &view.cautions {
        let _ = writeln!(out, "{}: {}", caution.risk, caution.text);
    }
    for gate in &view.gates {
        let _ = writeln!(
            out,
            "gate {}\n  + {}\n  - {}\n  t {}",
            gate.gate.id,
            gate.outcomes.if_approved,
            gate.outcomes.if_rejected,
            gate.outcomes.if_timed_out
        );
    }
    for note in &view.notes {
        let _ = writeln!(out, "note: {note}");
    }
    out
}
