//! The `.prose` statement scanner: every line gets a kind and a block; no text makes it fail.
//!
//! It is not a parser: it knows which lines begin a statement, what kind it is, which lines belong to it, and
//! what lies inside what. That is enough to tie rows and annotations to lines. A line that fits nothing is a
//! statement of kind [`StatementKind::Other`].

mod arguments;
mod declared;
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

/// Bytes of a program at most: a reader shows no more of one, and a writer takes none that is longer.
pub const MOST_BYTES: usize = 8 << 20;

/// Lines of a program at most, likewise: each is held as a statement, which takes far more memory than its text.
pub const MOST_LINES: usize = 100_000;

/// Returns the lines of a program that a reader shows: all, or the first of very many.
pub fn first_lines(text: &str) -> &str {
    crate::text::first_lines(text, MOST_LINES)
}

/// Says that [`first_lines`] left lines out.
pub(crate) fn cut() -> String {
    format!("the program has more than {MOST_LINES} lines; the others are not shown")
}

/// A scanned program.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Every line of the source, in order; `lines[0]` is line 1.
    pub lines: Vec<Line>,
    /// Every statement, in order of its first line.
    pub statements: Vec<Statement>,
    /// Made when the first row is tied.
    ready: OnceLock<tie::Ready>,
    /// Statements in order of what they lie in and their name; made when the first branch is looked for.
    by_name: OnceLock<Vec<u32>>,
    /// What each statement belongs to; made when the first one is looked for.
    leaders: OnceLock<Vec<u32>>,
    /// Statements that have a name, in order of kind, name and program; made when the first one is looked for.
    named: OnceLock<Vec<u32>>,
}

/// A line of the source.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The text without its line break.
    pub text: String,
    /// Index into [`Listing::statements`] of the innermost statement it belongs to; `None` for blank lines and
    /// comments outside of any.
    pub statement: Option<u32>,
    /// What the line is.
    pub role: LineRole,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineRole {
    /// Begins a statement.
    Statement,
    /// A property of the statement above (`prompt:`, `context:`, `model:` …).
    Property,
    /// Inside a text in triple quotes, a bracketed list, or a continued expression.
    Continuation,
    /// A comment.
    Comment,
    /// Blank.
    Blank,
    /// Outside of the programs of a Markdown file.
    Text,
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Its first line, from 1.
    pub line: u32,
    /// The last line that belongs to it, its body included.
    pub end: u32,
    /// What it is: what runs, so `let x = do y()` and `output x = do y()` are [`StatementKind::Do`].
    pub kind: StatementKind,
    /// The name it binds, or declares: of `let x = …`, `x = …`, `agent x:`, `block x(…)`, `approve x:`, `input x`,
    /// `@x`.
    pub name: Option<String>,
    /// What it refers to: the block of `do x(…)`, the agent of `session: x` and `resume: x`, the program of `x(…)`
    /// and of `use "…"`.
    pub target: Option<String>,
    /// How the name is bound: `const`, `let`, `input` or `output`; `None` for `x = …`, which binds a name that
    /// exists, or a branch of a parallel.
    pub binds: Option<String>,
    /// The text of its first line, trimmed, without a trailing comment.
    pub text: String,
    /// Its properties in order: those of its own line, and of the lines below it.
    pub properties: Vec<Property>,
    /// Index of the statement it lies in.
    pub parent: Option<u32>,
    /// Levels below the top, 0 at the top.
    pub depth: u32,
}

/// What a statement is (docs/reference/formats.md).
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
    /// `call reviewer`, of the later language; `research(topic: "…")`: a program that was imported
    Call,
    /// `return x`, of the later language
    Return,
    /// `@get_config`: a place that a gate's `retry get_config` goes back to
    Label,
    /// `let x = …` or `const x = …` or `x = …` whose right side is a text, a list, a name: not one of the above
    Assign,
    /// A text line that stands alone (`"…"`), or anything that fits nothing else
    Other,
}

/// A tie of a row or an annotation to a line of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tie {
    /// Index into [`Listing::statements`].
    pub statement: u32,
    /// Whether it is a guess: the text was shortened or reworded, or several statements have it and nothing sure
    /// singles one out. A name that only one statement binds is no guess.
    pub guessed: bool,
    /// By what it was found.
    pub by: TiedBy,
}

/// By what a tie was found; the surest way first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TiedBy {
    /// The statement has the text.
    #[default]
    Text,
    /// It binds, or declares, the name.
    Name,
    /// It is the numbered one (compact logs).
    Number,
    /// It refers to the same agent, block or program.
    Target,
    /// Its text begins so.
    Beginning,
    /// It has a text in quotes that begins so, or one with its `{names}` filled in.
    Quoted,
    /// It is of that kind.
    Kind,
    /// The index names it, and the text says nothing else.
    Index,
}

impl TiedBy {
    /// Why a tie that was found so is a guess, as a clause.
    pub fn why_guessed(self) -> &'static str {
        match self {
            TiedBy::Text => "several lines have this text, or begin with it",
            TiedBy::Name => "the name fits, the rest does not single out a line",
            TiedBy::Number => "only the number names it",
            TiedBy::Target => "the line refers to the same agent or block",
            TiedBy::Beginning => "the text is shortened",
            TiedBy::Quoted => "only the quoted text is alike",
            TiedBy::Kind => "the line is of the same kind",
            TiedBy::Index => "only the index names it",
        }
    }
}

pub use arguments::{Expression, items};
pub(crate) use log::{counts, fits};
pub use scan::{classify, scan};
pub use tie::Ties;
pub(crate) use tie::Within;
pub use uses::{Given, NameUse, fill, names_in, names_in_text};
pub use value::{Property, Value};

/// What a listing says; what was prepared for ties does not count.
impl PartialEq for Listing {
    fn eq(&self, other: &Listing) -> bool {
        self.lines == other.lines && self.statements == other.statements
    }
}
