//! Groups the lines of a program into statements, by indentation.

mod below;

use std::ops::Range;

use below::Below;
use serde::Deserialize;
use serde::de::IntoDeserializer;

use super::head::{StatementHead, is_known, is_operation};
use super::lex::{LexedSource, Lexer, Logical, Tok};
use super::line::{LineTokens as Tokens, property_key};
use super::markdown;
use super::{LineRole, Listing, Property, SourceLine, Statement, StatementKind as Kind};

/// Scans a program, or the fenced programs of a Markdown file. Never fails; takes time and memory linear in the
/// length of the source.
pub fn scan(source: &str) -> Listing {
    let source = LexedSource::new(source);
    let mut scanner = Scanner::new(&source);
    let mut lexer = Lexer::new(&source);
    let fenced = markdown::programs(&source);
    let whole = 0..source.lines.len();
    for part in fenced.as_deref().unwrap_or(std::slice::from_ref(&whole)) {
        let mut line = part.start;
        while line < part.end {
            if scanner.is_text(line) {
                scanner.text(line);
            } else if !source.is_blank(line) && !source.is_comment(line) {
                let mut logical = lexer.read(line);
                // A logical line that is not closed ends with the program that contains it.
                logical.last = logical.last.min(part.end - 1);
                scanner.take(&logical);
                line = logical.last;
            }
            line += 1;
        }
        scanner.close_all();
    }
    if let Some(fenced) = fenced {
        scanner.set_apart(&fenced);
    }
    scanner.finish()
}

/// Returns the kind of one statement text from an execution row (errata X6: `parallel ("first"):`, `x = parallel:`).
/// Rows shorten and reword texts, so if the text does not have a program's shape, its first keyword decides.
pub fn classify(text: &str) -> Kind {
    let source = LexedSource::new(text);
    let first = (0..source.lines.len()).find(|at| !source.is_blank(*at) && !source.is_comment(*at));
    let Some(first) = first else {
        return Kind::Other;
    };
    let logical = Lexer::new(&source).read(first);
    let head = StatementHead::read(source.text, &logical.tokens);
    match head.kind() {
        Kind::Other => by_first_word(source.line(first)),
        kind => kind,
    }
}

/// Returns the kind whose keyword begins a text.
pub(super) fn by_first_word(text: &str) -> Kind {
    let word = text
        .trim()
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-')
        .next()
        .unwrap_or_default();
    match word.to_ascii_lowercase().as_str() {
        "approve" => Kind::Gate,
        "while" => Kind::Loop,
        "import" => Kind::Use,
        "let" | "const" => Kind::Assign,
        // These kinds have no keyword, so a text that begins with such a word is not of that kind.
        "arrow" | "pipe" | "label" | "assign" => Kind::Other,
        word => {
            let known: Result<Kind, serde::de::value::Error> =
                Kind::deserialize(word.into_deserializer());
            known.unwrap_or(Kind::Other)
        }
    }
}

/// An open statement, or an open property whose value continues below.
struct OpenStatement {
    indent: usize,
    statement: usize,
    property: Option<Below>,
    /// The further lines of the value, as byte offsets: from the line's beginning to the end of the line's last token.
    more: Vec<(usize, usize)>,
    /// Index of the last line that belongs to the statement or property.
    last: usize,
}

struct Scanner<'s, 'a> {
    source: &'s LexedSource<'a>,
    lines: Vec<SourceLine>,
    statements: Vec<Statement>,
    open: Vec<OpenStatement>,
}

impl<'s, 'a> Scanner<'s, 'a> {
    fn new(source: &'s LexedSource<'a>) -> Scanner<'s, 'a> {
        let line = |at| SourceLine {
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
            open: Vec::new(),
        }
    }

    fn take(&mut self, logical: &Logical) {
        let tokens = Tokens {
            text: self.source.text,
            tokens: &logical.tokens,
        };
        let indent = self.source.indent(logical.first);
        let closing = tokens
            .tokens
            .iter()
            .take_while(|token| matches!(token.tok, Tok::Close | Tok::Comma))
            .count();
        let tokens = tokens.from(closing);
        if closing > 0 && tokens.len() == 0 {
            return self.close_bracket(logical, indent);
        }
        let head = StatementHead::read(tokens.text, tokens.tokens);
        let key = property_key(tokens).filter(|_| !head.keyword);
        self.close(indent, &head, key, tokens);

        let Some(top) = self.open.last() else {
            self.begin(logical, indent, head);
            return;
        };
        let (statement, body) = (top.statement, self.body(top.statement));
        match (top.property, key) {
            (Some(property), _) if property.text => self.go_on(logical),
            // A property with a complete value contains no other properties, so a deeper property belongs to the
            // statement.
            (Some(property), Some(key)) if !property.empty && !property.text => {
                self.property(logical, indent, key, tokens);
            }
            (Some(property), Some(key)) if property.empty && !property.handler => {
                let outer = self.key_of(statement, property);
                self.property(logical, indent, &format!("{outer}.{key}"), tokens);
            }
            (Some(_), _) if head.keyword => self.begin(logical, indent, head),
            (Some(_), _) => self.go_on(logical),
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

    /// Closes the statements and properties that end before a line with this indentation. A property, `| map:` and the
    /// like belong to the statement above even if they are not indented deeper.
    fn close(
        &mut self,
        indent: usize,
        head: &StatementHead,
        key: Option<&str>,
        tokens: Tokens<'_>,
    ) {
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

    /// Handles a line that only closes brackets: it ends the statement with the same indentation.
    fn close_bracket(&mut self, logical: &Logical, indent: usize) {
        while self.open.last().is_some_and(|top| top.indent > indent) {
            self.pop();
        }
        match self.open.last().map(|top| top.statement) {
            Some(statement) => self.mark(logical, LineRole::Continuation, statement),
            None => self.begin(logical, indent, StatementHead::default()),
        }
    }

    fn close_all(&mut self) {
        while !self.open.is_empty() {
            self.pop();
        }
    }

    fn pop(&mut self) {
        let Some(closed) = self.open.pop() else {
            return;
        };
        self.read_below(&closed);
        if let Some(outer) = self.open.last_mut() {
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
        self.statements
            .get(statement)
            .is_none_or(Statement::has_body)
    }

    /// Whether a line `| map: …` may continue a statement.
    fn pipes(&self, statement: usize) -> bool {
        let pipe = self
            .statements
            .get(statement)
            .is_some_and(|s| s.kind == Kind::Pipe);
        pipe || !self.body(statement)
    }

    /// Begins a statement inside the open statement, or at the top level.
    fn begin(&mut self, logical: &Logical, indent: usize, head: StatementHead) {
        let parent = self.open.last().map(|open| open.statement);
        let depth = parent
            .and_then(|parent| self.statements.get(parent))
            .map_or(0, |parent| parent.depth.saturating_add(1));
        let (start, _) = self.source.span(logical.first);
        let text = self.source.text.get(start..logical.text_end);
        let statement = self.statements.len();
        let (name, target, binds) = (head.name.clone(), head.target.clone(), head.binds);
        self.statements.push(Statement {
            line: number(logical.first),
            end: number(logical.last),
            kind: head.kind(),
            name,
            target,
            binds: binds.map(str::to_owned),
            text: text.unwrap_or_default().trim().to_owned(),
            properties: placed(head, logical.first),
            parent: parent.and_then(|parent| u32::try_from(parent).ok()),
            depth,
        });
        self.open.push(OpenStatement {
            indent,
            statement,
            property: None,
            more: Vec::new(),
            last: logical.last,
        });
        self.mark(logical, LineRole::Statement, statement);
    }

    /// Handles a line that continues the open statement and makes it a pipe or a chain.
    fn join(&mut self, logical: &Logical, kind: Kind, head: StatementHead) {
        let Some(statement) = self.open.last().map(|open| open.statement) else {
            return;
        };
        if let Some(joined) = self.statements.get_mut(statement) {
            joined.kind = kind;
            joined.properties.extend(placed(head, logical.first));
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

    /// Marks lines outside of the programs of a Markdown file.
    fn set_apart(&mut self, programs: &[Range<usize>]) {
        let mut programs = programs.iter().peekable();
        for (at, line) in self.lines.iter_mut().enumerate() {
            while programs.next_if(|part| part.end <= at).is_some() {}
            let inside = programs.peek().is_some_and(|part| part.contains(&at));
            if !inside && line.role != LineRole::Blank {
                line.role = LineRole::Text;
            }
        }
    }

    fn finish(mut self) -> Listing {
        self.close_all();
        self.place_blanks();
        Listing {
            lines: self.lines,
            statements: self.statements,
            ..Listing::default()
        }
    }

    /// Assigns blank lines and comments to the innermost statement around them.
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

/// Returns the properties of a head, with the line (index from 0) on which the head begins.
fn placed(head: StatementHead, line: usize) -> Vec<Property> {
    let mut properties = head.properties.0;
    for property in &mut properties {
        property.line = number(line);
    }
    properties
}

/// Whether a line continues a statement with `| map: …`.
fn is_pipe(tokens: Tokens<'_>) -> bool {
    tokens.is(0, Tok::Pipe) && tokens.word(1).is_some_and(is_operation)
}

/// Returns the number of a line, from 1.
fn number(index: usize) -> u32 {
    u32::try_from(index.saturating_add(1)).unwrap_or(u32::MAX)
}
