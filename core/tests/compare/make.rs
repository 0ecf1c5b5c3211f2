//! Makes runs to compare, and prints a comparison in a few lines.

use std::fmt::Write as _;
use std::path::Path;

use prosescope_core::pages::session::Session;
use prosescope_core::pages::session::pages::{CompareOptions, NotComparable, compare};
use prosescope_core::pages::view::{
    ChangedLine, CompareView, ComparedRow, ComparedValue, Difference, ProgramRelation,
};
use prosescope_test_support::files::below;

use crate::session::{self, NOW, files};

/// Makes a run in a database from a program and the SQL that fills the tables.
pub(crate) fn database(name: &str, program: &str, sql: &str) -> Session {
    session::database(|conn| {
        let source = (!program.is_empty()).then_some(program);
        conn.execute(
            "INSERT INTO run (id, program_path, status, program_source, started_at, updated_at)
             VALUES ('r1', ?1, 'completed', ?2, '2026-01-25 15:00:00', '2026-01-25 15:30:00')",
            (name, source),
        )
        .unwrap();
        conn.execute_batch("BEGIN").unwrap();
        conn.execute_batch(sql).unwrap();
        conn.execute_batch("COMMIT").unwrap();
    })
}

fn example(run: &str) -> Vec<(String, Vec<u8>)> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/.prose/runs");
    below(&examples.join(run))
}

/// Returns an example run in a database, changed by SQL.
pub(crate) fn example_after(run: &str, sql: &str) -> Session {
    let mut all = example(run);
    let own = all.iter_mut().find(|(path, _)| path == "state.db");
    let (_, bytes) = own.expect("a database");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    std::fs::write(&path, &*bytes).unwrap();
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    conn.execute_batch(sql).unwrap();
    drop(conn);
    *bytes = std::fs::read(&path).unwrap();
    files(all)
}

/// Returns an example run folder in which a text of one file is replaced.
pub(crate) fn example_with(run: &str, file: &str, old: &str, new: &str) -> Session {
    let mut all = example(run);
    let own = all.iter_mut().find(|(path, _)| path == file);
    let (_, bytes) = own.unwrap_or_else(|| panic!("no {file}"));
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.contains(old), "{file}: {text}");
    *bytes = text.replacen(old, new, 1).into_bytes();
    files(all)
}

pub(crate) fn compared(a: &Session, b: &Session) -> Result<CompareView, NotComparable> {
    compare(a, b, Some(NOW), CompareOptions::default())
}

/// Returns the differences of a comparison, one per line.
pub(crate) fn told(view: &CompareView) -> String {
    let mut out = String::new();
    let programs = &view.programs;
    if programs.relation != ProgramRelation::Same {
        let _ = writeln!(
            out,
            "program {:?}: {} shared",
            programs.relation, programs.shared
        );
    }
    if view.a.status != view.b.status {
        let _ = writeln!(out, "run: {} → {}", view.a.status, view.b.status);
    }
    for row in view.rows.iter().filter(|row| !row.differs.is_empty()) {
        let _ = writeln!(out, "{}", of_row(row));
    }
    for (what, values) in [("value", &view.values), ("memory", &view.memories)] {
        for value in values {
            let _ = writeln!(out, "{what} {}", of_value(value));
        }
    }
    for record in &view.records {
        let _ = writeln!(out, "{} {}", record.kind, of_value(record));
    }
    for output in &view.outputs {
        let _ = writeln!(out, "output {output}");
    }
    for value in &view.not_compared {
        let _ = writeln!(out, "? {}: {}", value.name, value.why);
    }
    out
}

fn of_row(row: &ComparedRow) -> String {
    let has = |what| row.differs.contains(&what);
    let (a, b) = match (&row.a, &row.b) {
        (Some(a), Some(b)) => (a, b),
        (Some(a), None) => return format!("- {} (+{})", a.at.text, row.below),
        (_, b) => {
            let text = b.as_ref().map_or("", |b| &b.at.text);
            return format!("+ {text} (+{})", row.below);
        }
    };
    let mut out = format!("~ {}", a.at.text);
    if row.guessed {
        out.push('?');
    }
    if has(Difference::Text) {
        let _ = write!(out, "; now {}", b.at.text);
    }
    if has(Difference::Status) {
        let _ = write!(out, "; {} → {}", a.at.status, b.at.status);
    }
    if has(Difference::Attempts) {
        let _ = write!(out, "; attempts {} → {}", a.attempts, b.attempts);
    }
    if has(Difference::Error) {
        let _ = write!(out, "; error {:?} → {:?}", a.at.error, b.at.error);
    }
    if has(Difference::Outcome) {
        let _ = write!(out, "; decision {:?} → {:?}", a.outcome, b.outcome);
    }
    if has(Difference::Duration) {
        let _ = write!(out, "; took {}", row.longer.as_deref().unwrap_or_default());
    }
    for value in &row.values {
        let _ = write!(out, "; wrote {}", of_value(value));
    }
    out
}

fn of_value(value: &ComparedValue) -> String {
    let mut out = value.name.clone();
    match (value.a, value.b) {
        (Some(_), None) => out.push_str(" only in A"),
        (None, Some(_)) => out.push_str(" only in B"),
        _ => {}
    }
    for ChangedLine { mark, text, .. } in &value.lines {
        let _ = write!(out, " [{mark}{text}]");
    }
    if let Some(note) = &value.note {
        let _ = write!(out, " ({note})");
    }
    out
}
