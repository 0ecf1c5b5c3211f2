//! What one statement head says: its kind, names and the properties of its own line.
//!
//! A keyword counts only in a shape that programs give it, so that prose outside of quotes (`use of …`, `for
//! each …`) stays [`StatementKind::Other`].

use super::StatementKind as Kind;
use super::lex::{Tok, Token, tokens_of_line};
use super::line::{Line, property_key};
use super::properties::{Properties, unquote};

/// Properties that are known by name, wherever they stand.
const KNOWN: [&str; 40] = [
    "agent",
    "allow",
    "backoff",
    "concurrency",
    "condition",
    "context",
    "count",
    "cwd",
    "default",
    "description",
    "early-exit",
    "env",
    "evidence",
    "format",
    "inputs",
    "max",
    "max-depth",
    "max-iterations",
    "max-tokens",
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
    "temperature",
    "timeout",
    "tools",
    "type",
];

/// The operations of a pipe.
const PIPES: [&str; 8] = [
    "map", "filter", "reduce", "pmap", "pfilter", "flatmap", "sort", "each",
];

/// What a head says.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) kind: Option<Kind>,
    pub(super) name: Option<String>,
    pub(super) target: Option<String>,
    pub(super) binds: Option<&'static str>,
    pub(super) properties: Properties,
    /// Whether a name stands left of an `=`.
    pub(super) assigns: bool,
    /// Whether a keyword in one of its shapes made it, so that it is a statement wherever it stands.
    pub(super) keyword: bool,
}

impl Head {
    /// Reads the head of a logical line.
    pub(super) fn read(text: &str, tokens: &[Token]) -> Head {
        let line = Line { text, tokens };
        let mut head = Head::default();
        let rest = head.left_side(line);
        head.kind = head.action(rest);
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

    /// Takes `let x =`, `x =`, `output x =` off and returns what is right of it.
    fn left_side<'t>(&mut self, line: Line<'t>) -> Line<'t> {
        let binds = match line.word(0) {
            // `output = 3` assigns to a name like any other.
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

    /// What runs: the kind of a line without its left side.
    fn action(&mut self, line: Line<'_>) -> Option<Kind> {
        let kind = self.keyword(line);
        self.keyword |= kind.is_some();
        let chain = matches!(
            kind,
            None | Some(Kind::Session | Kind::Resume | Kind::Do | Kind::Exec | Kind::Output)
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

    fn keyword(&mut self, line: Line<'_>) -> Option<Kind> {
        let kind = match line.word(0)? {
            "session" => self.session(line),
            "resume" => self.resume(line),
            "do" => self.invoke(line),
            "exec" => self.exec(line),
            "throw" => self.throw(line),
            "parallel" => self.parallel(line),
            "loop" => self.looping(line),
            "repeat" => self.repeat(line),
            "for" => self.each(line, 1).then_some(Kind::For),
            "try" => (line.ends_at(1) || line.is(1, Tok::Open)).then_some(Kind::Try),
            "catch" => self.catch(line),
            "finally" => line.ends_at(1).then_some(Kind::Finally),
            "if" => self.condition(line, 1).then_some(Kind::If),
            "elif" => self.condition(line, 1).then_some(Kind::Elif),
            "else" if line.word(1) == Some("if") => self.condition(line, 2).then_some(Kind::Elif),
            "else" => line.ends_at(1).then_some(Kind::Else),
            "choice" => self.condition(line, 1).then_some(Kind::Choice),
            "option" => self.option(line),
            "agent" => self.agent(line),
            "block" => self.block(line),
            "approve" | "gate" => self.gate(line),
            "use" | "import" => self.import(line),
            "input" => self.input(line),
            "output" => self.output(line),
            _ => None,
        };
        match kind {
            None | Some(Kind::Block | Kind::Do) => {}
            Some(Kind::Parallel) if line.is(1, Tok::Open) => {
                self.properties
                    .brackets(line.text, line.tokens, Some("strategy"));
            }
            Some(_) => self.properties.brackets(line.text, line.tokens, None),
        }
        kind
    }

    fn session(&mut self, line: Line<'_>) -> Option<Kind> {
        match (line.tok(1), line.tok(2)) {
            (None | Some(Tok::Str | Tok::Open), _) => {}
            (Some(Tok::Colon), _) => self.target = line.word(2).map(str::to_owned),
            // `session name:`, `session name: agent`
            (Some(Tok::Word), Some(Tok::Colon)) => {
                if self.name.is_none() {
                    self.name = line.word(1).map(str::to_owned);
                }
                self.target = line.word(3).map(str::to_owned);
            }
            (Some(Tok::Word), None | Some(Tok::Open)) => {
                self.target = line.word(1).map(str::to_owned);
            }
            _ => return None,
        }
        Some(Kind::Session)
    }

    fn resume(&mut self, line: Line<'_>) -> Option<Kind> {
        let at = if line.is(1, Tok::Colon) { 2 } else { 1 };
        if at == 1 && line.len() > 2 && !matches!(line.tok(2), Some(Tok::Colon | Tok::Open)) {
            return None;
        }
        self.target = line.word(at).map(str::to_owned);
        Some(Kind::Resume)
    }

    /// `do:`, `do name`, `do name(…)`, `do name(…) as x`
    fn invoke(&mut self, line: Line<'_>) -> Option<Kind> {
        if line.ends_at(1) {
            return Some(Kind::Do);
        }
        let target = line.word(1)?;
        match (line.tok(2), line.word(2)) {
            (None | Some(Tok::Colon | Tok::Open | Tok::Pipe | Tok::Arrow), _)
            | (_, Some("as" | "with")) => {}
            _ => return None,
        }
        self.target = Some(target.to_owned());
        self.properties.parameters("args", line.text, line.tokens);
        if let Some(name) = line.after_word("as") {
            self.properties.add("as", name);
        }
        Some(Kind::Do)
    }

    fn exec(&mut self, line: Line<'_>) -> Option<Kind> {
        let at = match line.tok(1) {
            None => return Some(Kind::Exec),
            Some(Tok::Colon | Tok::Open) => 2,
            _ => 1,
        };
        if !line.is(at, Tok::Str) {
            return None;
        }
        self.properties.add("command", unquote(line.slice(at)));
        Some(Kind::Exec)
    }

    fn throw(&mut self, line: Line<'_>) -> Option<Kind> {
        match (line.tok(1), line.len()) {
            (None, _) => {}
            (Some(Tok::Str), _) => self.properties.add("message", unquote(line.slice(1))),
            (Some(Tok::Word), 2) => self.properties.add("message", line.slice(1)),
            _ => return None,
        }
        Some(Kind::Throw)
    }

    /// `parallel:`, `parallel ("first", on-fail: "continue"):`, `parallel for x in y:`; rows write `parallel:a`
    fn parallel(&mut self, line: Line<'_>) -> Option<Kind> {
        match (line.tok(1), line.word(1)) {
            (None | Some(Tok::Colon | Tok::Open), _) => {}
            (_, Some("for")) if self.each(line, 2) => {}
            _ => return None,
        }
        Some(Kind::Parallel)
    }

    /// `loop:`, `loop until **…** (max: N) as i:`, `loop while **…**:`
    fn looping(&mut self, line: Line<'_>) -> Option<Kind> {
        match (line.tok(1), line.word(1)) {
            (None | Some(Tok::Colon | Tok::Open), _) => {}
            (_, Some(check @ ("until" | "while"))) => {
                if !self.condition(line, 2) {
                    return None;
                }
                self.properties.add("check", check);
            }
            (Some(Tok::Cond), _) => {
                self.condition(line, 1);
            }
            (_, Some("as")) => {}
            (_, Some(count)) if count.bytes().all(|b| b.is_ascii_digit()) => {
                self.properties.add("count", count);
            }
            _ => return None,
        }
        self.counter(line);
        Some(Kind::Loop)
    }

    /// `repeat N:`, `repeat N as i:`, `repeat times as i:`
    fn repeat(&mut self, line: Line<'_>) -> Option<Kind> {
        let count = line.word(1)?;
        let shape = line.ends_at(2)
            || matches!(line.tok(2), Some(Tok::Open | Tok::Op))
            || matches!(line.word(2), Some("as" | "times"));
        if !shape {
            return None;
        }
        self.properties.add("count", count);
        self.counter(line);
        Some(Kind::Repeat)
    }

    fn counter(&mut self, line: Line<'_>) {
        if let Some(name) = line.after_word("as") {
            self.properties.add("as", name);
        }
    }

    /// `for x in y`, `for x, i in y`: adds each, index, in.
    fn each(&mut self, line: Line<'_>, at: usize) -> bool {
        let pair = line.is(at + 1, Tok::Comma);
        let stop = if pair { at + 3 } else { at + 1 };
        let (Some(each), Some("in")) = (line.word(at), line.word(stop)) else {
            return false;
        };
        self.properties.add("each", each);
        if let (true, Some(index)) = (pair, line.word(at + 2)) {
            self.properties.add("index", index);
        }
        self.properties.add("in", line.until_colon(stop + 1));
        true
    }

    fn catch(&mut self, line: Line<'_>) -> Option<Kind> {
        let name = match (line.tok(1), line.word(1)) {
            (None | Some(Tok::Colon), _) => None,
            (_, Some("as")) | (Some(Tok::Open), _) => line.word(2),
            (_, name) if line.ends_at(2) => name,
            _ => return None,
        };
        if let Some(name) = name {
            self.properties.add("as", name);
            self.name = Some(name.to_owned());
        }
        Some(Kind::Catch)
    }

    /// A condition from token `at` on: `**…**`, `**…** or depth <= 0`, `depth <= 0`, up to the colon.
    fn condition(&mut self, line: Line<'_>, at: usize) -> bool {
        let shape = line.len() <= at
            || line.is(at, Tok::Cond)
            || line.is(at, Tok::Str)
            || line.from(at).top(Tok::Colon).is_some();
        if shape {
            let text = line.until_colon(at);
            if !text.is_empty() {
                self.properties.add("condition", text);
            }
        }
        shape
    }

    fn option(&mut self, line: Line<'_>) -> Option<Kind> {
        match (line.tok(1), line.tok(2)) {
            (Some(Tok::Str), _) => self.properties.add("label", unquote(line.slice(1))),
            (Some(Tok::Word), None | Some(Tok::Colon)) | (Some(Tok::Cond), _) => {
                self.properties.add("label", line.slice(1));
            }
            _ => return None,
        }
        Some(Kind::Option)
    }

    fn agent(&mut self, line: Line<'_>) -> Option<Kind> {
        let shape = matches!(line.tok(2), None | Some(Tok::Colon | Tok::Open));
        if !shape || !matches!(line.tok(1), Some(Tok::Word | Tok::Str)) {
            return None;
        }
        self.name = Some(unquote(line.slice(1)).to_owned());
        Some(Kind::Agent)
    }

    /// `block x:`, `block x(a, b):`, `block x(a) (max_depth: 5):`
    fn block(&mut self, line: Line<'_>) -> Option<Kind> {
        let name = line.word(1)?;
        if !matches!(line.tok(2), None | Some(Tok::Colon | Tok::Open)) {
            return None;
        }
        self.name = Some(name.to_owned());
        self.properties.parameters("params", line.text, line.tokens);
        Some(Kind::Block)
    }

    /// `approve x:`, `gate x:`, `gate **tests pass**:`, `approve "…":`
    fn gate(&mut self, line: Line<'_>) -> Option<Kind> {
        match (line.tok(1), line.tok(2)) {
            (None, _) => {}
            (Some(Tok::Word), None | Some(Tok::Colon | Tok::Open | Tok::Str)) => {
                self.name = line.word(1).map(str::to_owned);
                if line.is(2, Tok::Str) {
                    self.properties.add("prompt", unquote(line.slice(2)));
                }
            }
            (Some(Tok::Cond), _) => self.properties.add("condition", line.slice(1)),
            (Some(Tok::Str), _) => self.properties.add("prompt", unquote(line.slice(1))),
            _ => return None,
        }
        Some(Kind::Gate)
    }

    /// `use "…" as x`, `import "…" from "…"`
    fn import(&mut self, line: Line<'_>) -> Option<Kind> {
        let tail = line.word(2);
        if !line.is(1, Tok::Str) && !matches!(tail, Some("as" | "from")) {
            return None;
        }
        let what = unquote(line.slice(1));
        self.target = Some(what.to_owned());
        if let Some(from) = line
            .find_word("from")
            .filter(|at| line.is(at + 1, Tok::Str))
        {
            self.name = Some(what.to_owned());
            self.target = Some(unquote(line.slice(from + 1)).to_owned());
        }
        if let Some(alias) = line.after_word("as") {
            self.name = Some(alias.to_owned());
        }
        Some(Kind::Use)
    }

    fn input(&mut self, line: Line<'_>) -> Option<Kind> {
        let name = line.word(1)?;
        match line.tok(2) {
            None | Some(Tok::Colon | Tok::Equals | Tok::Open | Tok::Str | Tok::Cond) => {}
            _ => return None,
        }
        self.binds = Some("input");
        self.name = Some(name.to_owned());
        self.description(line);
        Some(Kind::Input)
    }

    /// `output x: "…"`, `output {…}`, `output x`, `output do …`, `output session …`; `output x = …` is left of here.
    fn output(&mut self, line: Line<'_>) -> Option<Kind> {
        let inner = line.from(1);
        let kind = match inner.tok(0) {
            _ if self.assigns => return None,
            Some(Tok::Str | Tok::Open | Tok::Cond) => Some(Kind::Output),
            Some(Tok::Word) => match (self.action_word(inner), inner.tok(1)) {
                (Some(kind), _) => Some(kind),
                (None, None | Some(Tok::Colon | Tok::Op | Tok::Open | Tok::Pipe)) => {
                    if inner.ends_at(1) {
                        self.name = inner.word(0).map(str::to_owned);
                    }
                    self.description(line);
                    Some(Kind::Output)
                }
                _ => None,
            },
            _ => None,
        };
        if kind.is_some() {
            self.binds = Some("output");
        }
        kind
    }

    fn action_word(&mut self, line: Line<'_>) -> Option<Kind> {
        match line.word(0)? {
            "session" => self.session(line),
            "resume" => self.resume(line),
            "do" => self.invoke(line),
            "exec" => self.exec(line),
            _ => None,
        }
    }

    fn description(&mut self, line: Line<'_>) {
        let at = if line.is(2, Tok::Colon) { 3 } else { 2 };
        if line.is(at, Tok::Str) {
            self.properties.add("description", unquote(line.slice(at)));
        } else if line.is(at, Tok::Cond) {
            self.properties.add("prompt", line.slice(at));
        }
    }

    /// `items | map: …`: adds every operation; false when there is none.
    fn pipe(&mut self, line: Line<'_>) -> bool {
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

/// Whether a property of that name is known.
pub(super) fn is_known(key: &str) -> bool {
    KNOWN.iter().any(|known| {
        known.len() == key.len()
            && known
                .bytes()
                .zip(key.bytes())
                .all(|(a, b)| a == b || (a == b'-' && b == b'_'))
    })
}

/// Whether a word is an operation of a pipe.
pub(super) fn is_operation(word: &str) -> bool {
    PIPES.contains(&word)
}

/// Whether a line, on its own, plainly begins a statement or a known property: a keyword in one of its shapes.
pub(super) fn begins_something(text: &str) -> bool {
    let tokens = tokens_of_line(text);
    let line = Line {
        text,
        tokens: &tokens,
    };
    if property_key(line).is_some_and(is_known) {
        return true;
    }
    Head::read(text, &tokens).keyword
}
