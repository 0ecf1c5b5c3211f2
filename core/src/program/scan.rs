//! From lines to statements, by indentation.

use super::head::{Head, is_known, is_operation};
use super::lex::{Lexer, Logical, Source, Tok};
use super::line::{Line as Tokens, property_key};
use super::properties::{slice, unquote};
use super::{Line, LineRole, Listing, Statement, StatementKind as Kind};

/// Scans a program. Never fails; time and memory are linear in the length of the source.
pub fn scan(source: &str) -> Listing {
    let source = Source::new(source);
    let mut scanner = Scanner::new(&source);
    let mut lexer = Lexer::new(&source);
    let mut line = 0;
    while line < source.lines.len() {
        if source.is_blank(line) || source.is_comment(line) {
            line += 1;
            continue;
        }
        let logical = lexer.read(line);
        scanner.take(&logical);
        line = logical.last + 1;
    }
    scanner.finish()
}

/// The kind of one statement text, as an execution row has it (errata X6: `parallel ("first"):`, `x = parallel:`).
/// Rows shorten and reword, so where the text has no shape of a program its first keyword decides.
pub fn classify(text: &str) -> Kind {
    let source = Source::new(text);
    let first = (0..source.lines.len()).find(|at| !source.is_blank(*at) && !source.is_comment(*at));
    let Some(first) = first else {
        return Kind::Other;
    };
    let logical = Lexer::new(&source).read(first);
    let head = Head::read(source.text, &logical.tokens);
    match head.kind() {
        Kind::Other => by_first_word(source.line(first)),
        kind => kind,
    }
}

pub(super) fn by_first_word(text: &str) -> Kind {
    let word = text
        .trim()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default();
    match word.to_ascii_lowercase().as_str() {
        "session" => Kind::Session,
        "resume" => Kind::Resume,
        "parallel" => Kind::Parallel,
        "loop" => Kind::Loop,
        "repeat" => Kind::Repeat,
        "for" => Kind::For,
        "try" => Kind::Try,
        "catch" => Kind::Catch,
        "finally" => Kind::Finally,
        "throw" => Kind::Throw,
        "choice" => Kind::Choice,
        "option" => Kind::Option,
        "if" => Kind::If,
        "elif" => Kind::Elif,
        "else" => Kind::Else,
        "agent" => Kind::Agent,
        "block" => Kind::Block,
        "do" => Kind::Do,
        "approve" | "gate" => Kind::Gate,
        "exec" => Kind::Exec,
        "use" | "import" => Kind::Use,
        "input" => Kind::Input,
        "output" => Kind::Output,
        "let" | "const" => Kind::Assign,
        _ => Kind::Other,
    }
}

/// What is open at a line: a statement, or a property whose value goes on below it.
struct Open {
    indent: usize,
    statement: usize,
    property: Option<Property>,
    /// Index of the last line inside.
    last: usize,
}

#[derive(Clone, Copy)]
struct Property {
    index: usize,
    /// Nothing stands after the colon.
    empty: bool,
    /// `|` or `>` after the colon: all deeper lines are text.
    text: bool,
    /// `on_reject:` and the like: statements may stand below.
    handler: bool,
}

struct Scanner<'s, 'a> {
    source: &'s Source<'a>,
    lines: Vec<Line>,
    statements: Vec<Statement>,
    /// Whether the lines below a statement are statements.
    bodies: Vec<bool>,
    open: Vec<Open>,
}

impl<'s, 'a> Scanner<'s, 'a> {
    fn new(source: &'s Source<'a>) -> Scanner<'s, 'a> {
        let line = |at| Line {
            text: source.line(at).to_owned(),
            statement: None,
            role: match () {
                () if source.is_blank(at) => LineRole::Blank,
                () if source.is_comment(at) => LineRole::Comment,
                () => LineRole::Continuation,
            },
        };
        Scanner {
            source,
            lines: (0..source.lines.len()).map(line).collect(),
            statements: Vec::new(),
            bodies: Vec::new(),
            open: Vec::new(),
        }
    }

    fn take(&mut self, logical: &Logical) {
        let tokens = Tokens {
            text: self.source.text,
            tokens: &logical.tokens,
        };
        let indent = self.source.indent(logical.first);
        let head = Head::read(tokens.text, tokens.tokens);
        let key = property_key(tokens).filter(|_| !head.keyword);
        self.close(indent, &head, key, tokens);

        let Some(top) = self.open.last() else {
            self.begin(logical, indent, head);
            return;
        };
        let (statement, body) = (top.statement, self.body(top.statement));
        match (top.property, key) {
            (Some(property), _) if property.text => self.go_on(logical, property),
            (Some(property), Some(key)) if property.empty && !property.handler => {
                let outer = self.key_of(statement, property);
                self.property(logical, indent, &format!("{outer}.{key}"), tokens);
            }
            (Some(_), _) if head.keyword => self.begin(logical, indent, head),
            (Some(property), _) => self.go_on(logical, property),
            (None, Some(key)) if !body || is_known(key) => {
                self.property(logical, indent, key, tokens);
            }
            (None, _) if is_pipe(tokens) && self.pipes(statement) => {
                self.join(logical, Kind::Pipe, head);
            }
            (None, _) if tokens.is(0, Tok::Arrow) && !body && indent > top.indent => {
                self.join(logical, Kind::Arrow, head);
            }
            (None, _) if body || head.keyword => self.begin(logical, indent, head),
            (None, _) => self.mark(logical, LineRole::Continuation, statement),
        }
    }

    /// Closes what ends before a line of that indentation. A property, `| map:` and the like belong to the
    /// statement above even when they are not deeper than it.
    fn close(&mut self, indent: usize, head: &Head, key: Option<&str>, tokens: Tokens<'_>) {
        while let Some(top) = self.open.last() {
            let stays = match top.property {
                _ if top.indent < indent => true,
                None if top.indent == indent => {
                    let leaf = !self.body(top.statement);
                    leaf && !head.keyword && key.is_some_and(is_known)
                        || is_pipe(tokens) && self.pipes(top.statement)
                }
                _ => false,
            };
            if stays {
                return;
            }
            self.pop();
        }
    }

    fn pop(&mut self) {
        if let Some(closed) = self.open.pop()
            && let Some(outer) = self.open.last_mut()
        {
            outer.last = outer.last.max(closed.last);
            let (statement, last) = (outer.statement, outer.last);
            self.extend(statement, last);
        }
    }

    fn extend(&mut self, statement: usize, last: usize) {
        if let Some(statement) = self.statements.get_mut(statement) {
            statement.end = statement.end.max(number(last));
        }
    }

    fn body(&self, statement: usize) -> bool {
        self.bodies.get(statement).copied().unwrap_or(true)
    }

    /// Whether a line `| map: …` may carry a statement on.
    fn pipes(&self, statement: usize) -> bool {
        let pipe = self
            .statements
            .get(statement)
            .is_some_and(|s| s.kind == Kind::Pipe);
        pipe || !self.body(statement)
    }

    fn key_of(&self, statement: usize, property: Property) -> String {
        self.statements
            .get(statement)
            .and_then(|s| s.properties.get(property.index))
            .map(|(key, _)| key.clone())
            .unwrap_or_default()
    }

    /// A new statement inside of what is open.
    fn begin(&mut self, logical: &Logical, indent: usize, head: Head) {
        let parent = self.open.last().map(|open| open.statement);
        let depth = parent
            .and_then(|parent| self.statements.get(parent))
            .map_or(0, |parent| parent.depth.saturating_add(1));
        let (start, _) = self
            .source
            .lines
            .get(logical.first)
            .copied()
            .unwrap_or_default();
        let text = self.source.text.get(start..logical.text_end);
        let kind = head.kind();
        let statement = self.statements.len();
        self.bodies
            .push(kind.has_body() && !(kind == Kind::Do && head.target.is_some()));
        self.statements.push(Statement {
            line: number(logical.first),
            end: number(logical.last),
            kind,
            name: head.name,
            target: head.target,
            binds: head.binds.map(str::to_owned),
            text: text.unwrap_or_default().trim().to_owned(),
            properties: head.properties.0,
            parent: parent.and_then(|parent| u32::try_from(parent).ok()),
            depth,
        });
        self.open.push(Open {
            indent,
            statement,
            property: None,
            last: logical.last,
        });
        self.mark(logical, LineRole::Statement, statement);
    }

    /// A property of the statement that is open.
    fn property(&mut self, logical: &Logical, indent: usize, key: &str, tokens: Tokens<'_>) {
        let Some(statement) = self.open.last().map(|open| open.statement) else {
            return;
        };
        let value = slice(tokens.text, tokens.tokens.get(2..).unwrap_or_default());
        let Some(properties) = self
            .statements
            .get_mut(statement)
            .map(|s| &mut s.properties)
        else {
            return;
        };
        let index = properties.len();
        properties.push((key.to_owned(), unquote(value).to_owned()));
        self.open.push(Open {
            indent,
            statement,
            property: Some(Property {
                index,
                empty: value.is_empty(),
                text: matches!(value, "|" | ">" | "|-" | ">-"),
                handler: value.is_empty() && key.starts_with("on"),
            }),
            last: logical.last,
        });
        self.mark(logical, LineRole::Property, statement);
    }

    /// More of the value of the property that is open.
    fn go_on(&mut self, logical: &Logical, property: Property) {
        let Some(statement) = self.open.last().map(|open| open.statement) else {
            return;
        };
        let value = self
            .statements
            .get_mut(statement)
            .and_then(|s| s.properties.get_mut(property.index));
        if let Some((_, value)) = value {
            for at in logical.first..=logical.last {
                if !value.is_empty() {
                    value.push('\n');
                }
                value.push_str(self.source.line(at).trim());
            }
        }
        self.mark(logical, LineRole::Continuation, statement);
    }

    /// A line that carries the open statement on and makes it a pipe or a chain.
    fn join(&mut self, logical: &Logical, kind: Kind, head: Head) {
        let Some(statement) = self.open.last().map(|open| open.statement) else {
            return;
        };
        if let Some(joined) = self.statements.get_mut(statement) {
            joined.kind = kind;
            joined.properties.extend(head.properties.0);
        }
        if let Some(body) = self.bodies.get_mut(statement) {
            *body = kind.has_body();
        }
        self.mark(logical, LineRole::Continuation, statement);
    }

    fn mark(&mut self, logical: &Logical, role: LineRole, statement: usize) {
        for at in logical.first..=logical.last {
            if let Some(line) = self.lines.get_mut(at) {
                line.role = LineRole::Continuation;
                line.statement = u32::try_from(statement).ok();
            }
        }
        if let Some(line) = self.lines.get_mut(logical.first) {
            line.role = role;
        }
        for (inside, role) in [
            (&logical.comments, LineRole::Comment),
            (&logical.blanks, LineRole::Blank),
        ] {
            for at in inside {
                if let Some(line) = self.lines.get_mut(*at) {
                    line.role = role;
                }
            }
        }
        if let Some(open) = self.open.last_mut() {
            open.last = open.last.max(logical.last);
        }
        self.extend(statement, logical.last);
    }

    fn finish(mut self) -> Listing {
        while !self.open.is_empty() {
            self.pop();
        }
        self.place_blanks();
        Listing {
            lines: self.lines,
            statements: self.statements,
            ..Listing::default()
        }
    }

    /// Blank lines and comments belong to the innermost statement around them.
    fn place_blanks(&mut self) {
        let mut next = 0;
        let mut around: Vec<usize> = Vec::new();
        for (at, line) in self.lines.iter_mut().enumerate() {
            let here = number(at);
            while self.statements.get(next).is_some_and(|s| s.line == here) {
                around.push(next);
                next += 1;
            }
            while around
                .last()
                .and_then(|top| self.statements.get(*top))
                .is_some_and(|s| s.end < here)
            {
                around.pop();
            }
            if line.statement.is_none() {
                line.statement = around.last().and_then(|top| u32::try_from(*top).ok());
            }
        }
    }
}

/// Whether a line goes on with `| map: …`.
fn is_pipe(tokens: Tokens<'_>) -> bool {
    tokens.is(0, Tok::Pipe) && tokens.word(1).is_some_and(is_operation)
}

/// The number of a line, from 1.
fn number(index: usize) -> u32 {
    u32::try_from(index.saturating_add(1)).unwrap_or(u32::MAX)
}
