//! Builds one case for each kind of damage or attack that docs/reference/formats.md and docs/contribute/errata.md
//! describe, and for some kinds that these pages imply.

mod attacks;
mod files;
mod forms;
mod logs;
mod paths;
mod structure;
mod tables;
mod texts;

use crate::seeds::{self, GATES_SCHEMA, PLAIN_KEY, SCHEMA};
use crate::{Case, Outcome};

/// Builds a case.
pub(crate) type Make = Box<dyn Fn() -> Case>;

/// Returns the builders of all cases, grouped by the damaged part.
pub(crate) fn all() -> Vec<Make> {
    let mut all = Vec::new();
    all.extend(tables::cases());
    all.extend(structure::cases());
    all.extend(logs::cases());
    all.extend(files::cases());
    all.extend(attacks::cases());
    all.extend(forms::cases());
    all.extend(texts::cases());
    all.extend(paths::cases());
    all
}

/// Returns a database with OpenProse's tables (with a key that SQLite accepts), then these statements.
fn documents(script: &str) -> Vec<u8> {
    seeds::make(
        "PRAGMA page_size = 1024",
        &[SCHEMA, PLAIN_KEY, GATES_SCHEMA, script],
    )
}

/// Returns a database with only these statements.
fn bare(script: &str) -> Vec<u8> {
    seeds::make("PRAGMA page_size = 1024", &[script])
}

/// Returns a case with only a `state.db`.
fn database(name: &str, outcome: Outcome, bytes: Vec<u8>) -> Case {
    Case::new(name, outcome).file("state.db", bytes)
}

/// Returns a case with a folder of texts.
fn folder(name: &str, outcome: Outcome, files: &[(&str, &str)]) -> Case {
    let mut case = Case::new(name, outcome);
    for (path, text) in files {
        case = case.file(*path, *text);
    }
    case
}

/// A row of `run` and a statement: the least content of a database that is shown as a run.
const RUN: &str = "
INSERT INTO run (id, program_path, program_source, started_at, updated_at, status)
VALUES ('20260125-125506-002755', 'harbour.prose', 'let tide = session \"Read the tide\"', '2026-01-25 12:55:06',
  '2026-01-25 13:00:00', 'running');
INSERT INTO execution (id, statement_index, statement_text, status, started_at)
VALUES (1, 1, 'let tide = session \"Read the tide\"', 'completed', '2026-01-25 12:55:06');
INSERT INTO bindings (name, kind, value, source_statement) VALUES ('tide', 'let', 'High water at six.', 'let tide = session');
";
