//! Parses the head of one statement: its kind, names, and the properties on its own line.
//!
//! A keyword counts only in one of its known shapes, so prose outside of quotes (`use of …`, `for each …`) stays
//! [`StatementKind::Other`].

mod shapes;

use super::StatementKind as Kind;
use super::lex::{Tok, Token, tokens_of_line};
use super::line::{LineTokens, property_key};
use super::properties::Properties;
use super::value::same_name;

/// Properties that are recognised by name in any position.
const KNOWN: [&str; 46] = [
    "agent",
    "allow",
    "backoff",
    "concurrency",
    "condition",
    "context",
    "count",
    "cwd",
    "deadline",
    "default",
    "delay",
    "description",
    "early-exit",
    "env",
    "evidence",
    "format",
    "inputs",
    "interval",
    "max",
    "max-depth",
    "max-iterations",
    "max-retries",
    "max-tokens",
    "max-turns",
    "memory",
    "model",
    "mode",
    "on-approve",
    "on-error",
    "on-fail",
    "on-reject",
    "on-timeout",
    "outputs",
    "permissions",
    "persist",
    "prompt",
    "retries",
    "retry",
    "schema",
    "skills",
    "strategy",
    "system",
    "temperature",
    "timeout",
    "tools",
    "type",
];

/// The operations of a pipe.
const PIPES: [&str; 8] = [
    "map", "filter", "reduce", "pmap", "pfilter", "flatmap", "sort", "each",
];

/// A parsed statement head.
#[derive(Debug, Default)]
pub(super) struct StatementHead {
    pub(super) kind: Option<Kind>,
    pub(super) name: Option<String>,
    pub(super) target: Option<String>,
    pub(super) binds: Option<&'static str>,
    pub(super) properties: Properties,
    /// Whether a name precedes an `=`.
    pub(super) assigns: bool,
    /// Whether a keyword in a known shape was found, so that the line is a statement in any position.
    pub(super) keyword: bool,
}

impl StatementHead {
    /// Parses the head of a logical line.
    pub(super) fn read(text: &str, tokens: &[Token]) -> StatementHead {
        let line = LineTokens { text, tokens };
        let mut head = StatementHead::default();
        let rest = head.left_side(line);
        head.kind = head.action(rest).or_else(|| {
            if head.assigns {
                head.call(rest)
            } else {
                head.label(rest).or_else(|| head.call(rest))
            }
        });
        if head.kind.is_none() && head.assigns {
            head.kind = match head.binds {
                Some("output") => Some(Kind::Output),
                _ => Some(Kind::Assign),
            };
        }
        head
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind.unwrap_or(Kind::Other)
    }

    /// Parses `let x =`, `x =`, `output x =` and returns the part of the line after the `=`.
    fn left_side<'t>(&mut self, line: LineTokens<'t>) -> LineTokens<'t> {
        let binds = match line.word(0) {
            // `output = 3` assigns to an ordinary name.
            _ if line.is(1, Tok::Equals) => None,
            Some("let") => Some("let"),
            Some("const") => Some("const"),
            Some("output") => Some("output"),
            _ => None,
        };
        let left = usize::from(binds.is_some());
        let Some(equals) = line.left_of_equals(left) else {
            if let (Some("let" | "const"), Some(name)) = (binds, line.word(1))
                && (line.len() == 2 || line.is(2, Tok::Colon))
            {
                self.assigns = true;
                self.keyword = true;
                self.binds = binds;
                self.name = Some(name.to_owned());
                return line.from(line.len());
            }
            return line;
        };
        self.assigns = true;
        self.keyword = binds.is_some();
        self.binds = binds;
        self.name = match line.tok(left) {
            Some(Tok::Word) => line.word(left).map(str::to_owned),
            _ => None,
        };
        line.from(equals + 1)
    }

    /// Returns the kind of statement that a line begins, after its left side is removed.
    fn action(&mut self, line: LineTokens<'_>) -> Option<Kind> {
        let kind = self.keyword(line);
        self.keyword |= kind.is_some();
        let chain = matches!(
            kind,
            None | Some(
                Kind::Session | Kind::Resume | Kind::Do | Kind::Exec | Kind::Output | Kind::Call
            )
        );
        if chain && line.top(Tok::Arrow).is_some() {
            if line.is(0, Tok::Arrow) {
                self.keyword(line.from(1));
            }
            return Some(Kind::Arrow);
        }
        if chain && self.pipe(line) {
            return Some(Kind::Pipe);
        }
        kind
    }

    fn keyword(&mut self, line: LineTokens<'_>) -> Option<Kind> {
        let kind = match line.word(0)? {
            "parallel" if line.word(1) == Some("for") => {
                self.each(line, 2).then_some(Kind::Parallel)
            }
            "return" => self.hand_back(line),
            "loop" => self.looping(line),
            "while" if line.is(1, Tok::Cond) => {
                self.condition(line, 1);
                self.properties.add("check", "while");
                self.counter(line);
                Some(Kind::Loop)
            }
            "for" => self.each(line, 1).then_some(Kind::For),
            "if" => self.condition(line, 1).then_some(Kind::If),
            "elif" => self.condition(line, 1).then_some(Kind::Elif),
            "else" if line.word(1) == Some("if") => self.condition(line, 2).then_some(Kind::Elif),
            "choice" => self.condition(line, 1).then_some(Kind::Choice),
            "use" | "import" => self.import(line),
            "output" => self.output(line),
            _ => self.shaped(line),
        };
        match kind {
            None | Some(Kind::Block | Kind::Do | Kind::Return) => {}
            Some(Kind::Parallel) if line.is(1, Tok::Open) => {
                self.properties
                    .brackets(line.text, line.tokens, Some("strategy"));
            }
            Some(_) => self.properties.brackets(line.text, line.tokens, None),
        }
        if kind.is_some_and(has_inline) && line.word(1) != Some("for") {
            self.properties.inline(line);
        }
        if kind.is_some_and(has_properties) {
            self.properties.braces(line);
        }
        kind
    }

    /// Parses a pipe, `items | map: …`, and adds every operation; returns `false` without operations.
    fn pipe(&mut self, line: LineTokens<'_>) -> bool {
        let mut found = false;
        for (at, token) in line.tokens.iter().enumerate() {
            if token.tok == Tok::Pipe
                && token.depth == 0
                && let Some(word) = line.word(at + 1).filter(|word| is_operation(word))
            {
                self.properties.add("op", word);
                found = true;
            }
        }
        if found {
            self.properties.pipe_brackets(line.text, line.tokens);
        }
        found
    }
}

/// Whether a property with that name is known.
pub(super) fn is_known(key: &str) -> bool {
    KNOWN.iter().any(|known| same_name(known, key))
}

/// Whether a statement of this kind may have properties after its head without brackets.
fn has_inline(kind: Kind) -> bool {
    matches!(kind, Kind::Parallel | Kind::Loop | Kind::Repeat) || has_properties(kind)
}

/// Whether the lines below a statement of this kind are its properties.
fn has_properties(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Agent
            | Kind::Session
            | Kind::Resume
            | Kind::Exec
            | Kind::Do
            | Kind::Call
            | Kind::Gate
    )
}

/// Whether a `{` after a head encloses properties or a body, in place of indentation.
pub(super) fn takes_body(text: &str, tokens: &[Token]) -> bool {
    let head = StatementHead::read(text, tokens);
    let kind = head.kind();
    head.keyword && (has_properties(kind) || kind.has_body())
}

/// Whether a word is an operation of a pipe.
pub(super) fn is_operation(word: &str) -> bool {
    PIPES.contains(&word)
}

/// Whether a line by itself begins a statement: it has a keyword in a known shape.
pub(super) fn begins_statement(text: &str) -> bool {
    StatementHead::read(text, &tokens_of_line(text)).keyword
}

/// Whether a line by itself begins a statement or a known property.
pub(super) fn begins_something(text: &str) -> bool {
    let tokens = tokens_of_line(text);
    let line = LineTokens {
        text,
        tokens: &tokens,
    };
    property_key(line).is_some_and(is_known) || StatementHead::read(text, &tokens).keyword
}
