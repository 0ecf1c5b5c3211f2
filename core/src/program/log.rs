//! Interprets the numbers and names of a compact log's lines (docs/reference/formats.md); [`crate::trace`] uses them
//! to tie lines to statements.
//!
//! A log numbers the statements of the top level that run: not `use`, `agent` or `block`, not the clauses of a `try`
//! or an `if`, and `input` only if a line contains it. A line of an inner statement has the outer statement's number.
//! Numbers repeat and skip. Most lines contain the name that their statement binds, so names take precedence.
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
    /// Returns the statements that bind a name; if there are none, the statements that refer to an agent, a block or a
    /// program with the name.
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

    /// Returns the statements that match a text, in order, with the evidence. The text may be a statement as written,
    /// or its quoted words. The last value is true if the text matches only the beginning of the quoted words.
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

/// Whether a log numbers statements of this kind; clauses of a `try` or an `if` are not numbered.
pub(crate) fn counts(kind: Kind) -> bool {
    !kind.is_declaration()
        && !matches!(
            kind,
            Kind::Input | Kind::Catch | Kind::Finally | Kind::Elif | Kind::Else | Kind::Option
        )
}

/// Whether a log line of this kind may refer to a statement. Logs have one word for all kinds of loops, and one word
/// for all kinds of decisions.
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
