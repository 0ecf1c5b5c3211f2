//! Scans `.prose` programs: every line gets a role and a statement, and scanning never fails.
//!
//! The scanner is not a complete parser. It determines which lines begin a statement, the statement's kind, the lines
//! that belong to it, and how statements nest. That is enough to tie rows and annotations to lines. A line that fits
//! nothing is a statement of kind [`StatementKind::Other`].

mod arguments;
mod declared;
mod excerpt;
mod flow;
mod head;
mod lex;
mod line;
mod log;
mod markdown;
mod nest;
mod properties;
mod row;
mod says;
mod scan;
#[cfg(test)]
mod tests;
mod tie;
mod uses;
mod value;
mod ways;

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// Maximum bytes of a program: readers show only this much, and writers reject longer programs.
pub const MOST_BYTES: usize = 8 << 20;

/// Maximum lines of a program: each line is kept as a statement, which takes far more memory than its text.
pub const MOST_LINES: usize = 100_000;

/// Returns the lines of a program that a reader shows: all of them, or the first [`MOST_LINES`].
pub fn first_lines(text: &str) -> &str {
    crate::model::text::first_lines(text, MOST_LINES)
}

/// Returns the message that a reader shows when [`first_lines`] left out lines.
pub(crate) fn cut() -> String {
    format!("the program has more than {MOST_LINES} lines; the lines after these are not shown")
}

/// A scanned program.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Every line of the source, in order; `lines[0]` is line 1.
    pub lines: Vec<SourceLine>,
    /// Every statement, in order of its first line.
    pub statements: Vec<Statement>,
    /// Look-up tables for ties; prepared when the first row is tied.
    ready: OnceLock<tie::Ready>,
    /// Statements ordered by parent and name; prepared when the first branch is looked up.
    by_name: OnceLock<Vec<u32>>,
    /// The leader of each statement ([`Listing::leader`]); prepared when the first leader is looked up.
    leaders: OnceLock<Vec<u32>>,
    /// The statements with a name, ordered by kind, name and position; prepared when the first name is looked up.
    named: OnceLock<Vec<u32>>,
}

/// A line of the source.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceLine {
    /// The line's text without the line break.
    pub text: String,
    /// Index into [`Listing::statements`] of the innermost statement that the line belongs to; `None` for blank lines
    /// and comments outside of all statements.
    pub statement: Option<u32>,
    /// The line's role.
    pub role: LineRole,
}

/// The role of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineRole {
    /// A line that begins a statement.
    Statement,
    /// A property of the statement above (`prompt:`, `context:`, `model:` …).
    Property,
    /// A line that continues a text in triple quotes, a bracketed list or an expression.
    Continuation,
    /// A comment.
    Comment,
    /// A blank line.
    Blank,
    /// A line of a Markdown file outside of its programs.
    Text,
}

/// A statement of a scanned program.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The first line of the statement, from 1.
    pub line: u32,
    /// The last line of the statement, including its body.
    pub end: u32,
    /// The kind of the action that runs: `let x = do y()` and `output x = do y()` are [`StatementKind::Do`].
    pub kind: StatementKind,
    /// The name that the statement binds or declares: `x` in `let x = …`, `x = …`, `agent x:`, `block x(…)`,
    /// `approve x:`, `input x`, `@x`.
    pub name: Option<String>,
    /// The name to which the statement refers: the block of `do x(…)`, the agent of `session: x` and `resume: x`, the
    /// program of `x(…)` and of `use "…"`.
    pub target: Option<String>,
    /// The word that binds the name: `const`, `let`, `input` or `output`. `None` for `x = …`, which binds an existing
    /// name, and for a branch of a parallel block.
    pub binds: Option<String>,
    /// The first line of the statement, trimmed, without a trailing comment.
    pub text: String,
    /// The statement's properties in order: first from the statement's own line, then from the lines below.
    pub properties: Vec<Property>,
    /// The index of the enclosing statement; `None` at the top level.
    pub parent: Option<u32>,
    /// Nesting level, 0 at the top.
    pub depth: u32,
}

/// The kind of a statement (docs/reference/formats.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatementKind {
    /// `use "…" as x`
    Use,
    /// `input x: "…"`
    Input,
    /// `output x = …`
    Output,
    /// `agent x:`
    Agent,
    /// `session "…"`, `session: agent`, `session name:`
    Session,
    /// `resume: agent`
    Resume,
    /// `parallel:`, `parallel ("first"):`, `parallel for x in y:`
    Parallel,
    /// `repeat N:`, `repeat N as i:`
    Repeat,
    /// `for x in y:`, `for x, i in y:`
    For,
    /// `loop:`, `loop until **…**:`, `loop while **…**:`
    Loop,
    /// `try:`
    Try,
    /// `catch:`, `catch as err:`
    Catch,
    /// `finally:`
    Finally,
    /// `throw`, `throw "…"`
    Throw,
    /// `choice **…**:`
    Choice,
    /// `option "…":`
    Option,
    /// `if **…**:`
    If,
    /// `elif **…**:`
    Elif,
    /// `else:`
    Else,
    /// `block x(…):`
    Block,
    /// `do x(…)`, or `do:` (a sequence)
    Do,
    /// `a -> b -> c`
    Arrow,
    /// `items | map:` and filter, pmap, reduce
    Pipe,
    /// `approve x:`, `gate x:`
    Gate,
    /// `exec …`
    Exec,
    /// `call reviewer` of later OpenProse versions; `research(topic: "…")`: a call of an imported program
    Call,
    /// `return x` of later OpenProse versions
    Return,
    /// `@get_config`: the target of a gate's `retry get_config`
    Label,
    /// `let x = …`, `const x = …` or `x = …` with a text, a list or a name on the right side: none of the kinds above
    Assign,
    /// A text on a line by itself (`"…"`), or a line that fits no other kind
    #[serde(other)]
    Other,
}

/// The tie of a row or an annotation to a statement of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tie {
    /// The statement: an index into [`Listing::statements`].
    pub statement: u32,
    /// Whether the tie is a guess: the text was shortened or reworded, or several statements match and no evidence
    /// selects one of them with certainty. A name that only one statement binds makes the tie certain.
    pub guessed: bool,
    /// The evidence for the tie.
    pub by: TiedBy,
}

/// The evidence for a tie; the most certain kind first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TiedBy {
    /// The statement has the same text.
    #[default]
    Text,
    /// The statement binds or declares the name that the row contains.
    Name,
    /// The statement has the number that a compact log's line gives.
    Number,
    /// The statement refers to the same agent, block or program as the row.
    Target,
    /// The statement's text begins with the row's text.
    Beginning,
    /// The statement contains a quoted text that begins with the row's text, or that equals the row's text once the
    /// `{names}` are filled in.
    Quoted,
    /// The statement is of the same kind as the row.
    Kind,
    /// The statement has the row's index, and the text gives no other evidence.
    Index,
}

impl TiedBy {
    /// Returns why a tie with this evidence is a guess, as a clause.
    pub fn why_guessed(self) -> &'static str {
        match self {
            TiedBy::Text => "several lines have this text, or begin with it",
            TiedBy::Name => "the name fits, but the rest does not identify a line",
            TiedBy::Number => "only the number identifies the line",
            TiedBy::Target => "the line refers to the same agent or block",
            TiedBy::Beginning => "the text is shortened",
            TiedBy::Quoted => "only the quoted text is similar",
            TiedBy::Kind => "the line is of the same kind",
            TiedBy::Index => "only the index identifies the line",
        }
    }
}

pub use arguments::{Expression, items};
pub(crate) use log::{counts, fits};
pub(crate) use says::{allows_failure, needs_some};
pub use scan::{classify, scan};
pub use tie::ProgramTies;
pub(crate) use tie::Within;
pub use uses::{NameUse, ProvidedName, fill, names_in, names_in_text};
pub(crate) use value::same_name;
pub use value::{Property, ValueType};

/// Compares lines and statements, but not the look-up tables that are derived from them.
impl PartialEq for Listing {
    fn eq(&self, other: &Listing) -> bool {
        self.lines == other.lines && self.statements == other.statements
    }
}
