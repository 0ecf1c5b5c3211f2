//! What the numbers and names of a compact log mean (docs/reference/formats.md): [`crate::trace`] walks along its lines with them.
//!
//! A log counts the statements of the top level that run: no `use`, `agent` or `block`, and no clause of a `try` or
//! an `if`; `input` only where a line says so. What runs inside of a statement bears its number. Numbers repeat and
//! skip, and most lines name what they bind, so names decide first and teach what the numbers mean.
//!
//! | line | number | branch | block | kind | label |
//! |---|---|---|---|---|---|
//! | `1→ plan ✓` | 1 | | | | `plan` |
//! | `4→ ✓` | 4 | | | | |
//! | `3→ ∥start a,b`, `3→ ∥done` | 3 | | | `Parallel` | |
//! | `3a→ system_prompt ✓` | 3 | `a` | | | `system_prompt` |
//! | `5→ loop:2/5 exit(**c**)` | 5 | | | `Loop` | |
//! | `5→ block:implement#1 TASK-001` | 5 | | | `Do` | `implement` |
//! | `5→ #1 impl ✓` | 5 | | `implement` | | `impl` |
//! | `6→ gate:fast_tests ✓ approved` | 6 | | | `Gate` | `fast_tests` |
//! | `7→ if(false) skip` | 7 | | | `If` | |
//! | `8→ exec .version ✓` | 8 | | | `Exec` | `.version` |
//! | `1→ [input] question ✓` | 1 | | | `Input` | `question` |
//! | `12→ commit+tag+push ✓` | 12 | | | | `commit+tag+push` |

use super::{Listing, Statement, StatementKind as Kind, TiedBy};

impl Listing {
    /// The first lines of the statements that a compact log numbers, in order: the first is statement 1.
    pub fn log_numbers(&self) -> Vec<u32> {
        let counted = self
            .statements
            .iter()
            .filter(|s| s.depth == 0 && counts(s.kind));
        counted.map(|s| s.line).collect()
    }

    /// The statements that bind a name; else those that refer to it: an agent, a block, a program.
    pub(crate) fn called(&self, label: &str, kind: Option<Kind>) -> (Vec<u32>, TiedBy) {
        let name = label.trim().to_lowercase();
        let bound = self.index().named(self, &name).iter().copied();
        let bound = bound.filter(|at| self.get(*at).is_some_and(|s| !s.kind.is_declaration()));
        let bound: Vec<u32> = bound.collect();
        if !bound.is_empty() && kind != Some(Kind::Do) {
            return (bound, TiedBy::Name);
        }
        let kinds: &[Kind] = match &kind {
            Some(kind) => std::slice::from_ref(kind),
            None => &[Kind::Session, Kind::Resume, Kind::Do, Kind::Call],
        };
        let mut referring = kinds
            .iter()
            .map(|kind| self.index().referring(self, *kind, &name));
        let found = referring.find(|list| !list.is_empty());
        (found.unwrap_or_default().to_vec(), TiedBy::Target)
    }

    /// The statements that a text speaks of, in order, and by what it does: as it stands, as words in quotes, or as the first words
    /// of those in quotes, which is said.
    pub(crate) fn spoken_of(&self, text: &str) -> (Vec<u32>, TiedBy, bool) {
        let text = text.trim();
        let ways = [
            (text.to_owned(), false),
            (format!("\"{text}\""), false),
            (format!("\"{text}"), true),
        ];
        for (text, begins) in ways {
            let found = self.index().find(self, &text);
            if !found.statements.is_empty() {
                return (found.statements, found.by, begins);
            }
        }
        (Vec::new(), TiedBy::default(), false)
    }
}

/// Whether a log gives a statement a number: no clause of a `try` or an `if`.
pub(crate) fn counts(kind: Kind) -> bool {
    !kind.is_declaration()
        && !matches!(
            kind,
            Kind::Input | Kind::Catch | Kind::Finally | Kind::Elif | Kind::Else | Kind::Option
        )
}

/// Whether a statement may be what a line calls by a kind: logs have one word for all that goes in rounds, and one
/// for all that decides.
pub(crate) fn fits(kind: Option<Kind>, statement: &Statement) -> bool {
    let is = statement.kind;
    match kind {
        None => true,
        Some(Kind::Loop) => {
            is.is_loop()
                || is == Kind::Pipe
                || is == Kind::Parallel && statement.property("each").is_some()
        }
        Some(Kind::Parallel) => matches!(is, Kind::Parallel | Kind::Pipe),
        Some(Kind::If) => matches!(
            is,
            Kind::If | Kind::Elif | Kind::Else | Kind::Choice | Kind::Option
        ),
        Some(Kind::Session) => matches!(is, Kind::Session | Kind::Resume),
        Some(kind) => is == kind,
    }
}
