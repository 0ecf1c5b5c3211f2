//! Heads of what is declared or handed over: agents, blocks, gates, imports, inputs, outputs.

use super::super::StatementKind as Kind;
use super::super::lex::Tok;
use super::super::line::Line;
use super::super::value::text_of;
use super::Head;

impl Head {
    pub(super) fn agent(&mut self, line: Line<'_>) -> Option<Kind> {
        let shape = matches!(line.tok(2), None | Some(Tok::Colon | Tok::Open));
        if !shape || !matches!(line.tok(1), Some(Tok::Word | Tok::Str)) {
            return None;
        }
        self.name = Some(text_of(line.slice(1)));
        Some(Kind::Agent)
    }

    /// `block x:`, `block x(a, b):`, `block x(a) (max_depth: 5):`
    pub(super) fn block(&mut self, line: Line<'_>) -> Option<Kind> {
        let name = line.word(1)?;
        if !matches!(line.tok(2), None | Some(Tok::Colon | Tok::Open)) {
            return None;
        }
        self.name = Some(name.to_owned());
        self.properties.parameters("params", line.text, line.tokens);
        Some(Kind::Block)
    }

    /// `approve x:`, `gate x:`, `gate **tests pass**:`, `approve "…":`
    pub(super) fn gate(&mut self, line: Line<'_>) -> Option<Kind> {
        match (line.tok(1), line.tok(2)) {
            (None, _) => {}
            (Some(Tok::Word), None | Some(Tok::Colon | Tok::Open | Tok::Str)) => {
                self.name = line.word(1).map(str::to_owned);
                if line.is(2, Tok::Str) {
                    self.properties.add("prompt", line.slice(2));
                }
            }
            (Some(Tok::Cond), _) => self.properties.add("condition", line.slice(1)),
            (Some(Tok::Str), _) => self.properties.add("prompt", line.slice(1)),
            _ => return None,
        }
        Some(Kind::Gate)
    }

    /// `use "…" as x`, `import "…" from "…"`
    pub(super) fn import(&mut self, line: Line<'_>) -> Option<Kind> {
        let tail = line.word(2);
        if !line.is(1, Tok::Str) && !matches!(tail, Some("as" | "from")) {
            return None;
        }
        let what = text_of(line.slice(1));
        self.target = Some(what.clone());
        if let Some(from) = line
            .find_word("from")
            .filter(|at| line.is(at + 1, Tok::Str))
        {
            self.name = Some(what);
            self.target = Some(text_of(line.slice(from + 1)));
        }
        if let Some(alias) = line.after_word("as") {
            self.name = Some(alias.to_owned());
        }
        // Without an alias it goes by the last part of what it names (openprose-lint, `valid/basic.prose`).
        let last = self
            .target
            .as_deref()
            .and_then(|from| from.rsplit('/').next());
        let last = last.map(|last| last.trim_end_matches(".prose"));
        let is_name = |name: &&str| {
            name.starts_with(char::is_alphabetic) && !name.contains(char::is_whitespace)
        };
        if let (None, Some(last)) = (&self.name, last.filter(is_name)) {
            self.name = Some(last.to_owned());
        }
        Some(Kind::Use)
    }

    pub(super) fn input(&mut self, line: Line<'_>) -> Option<Kind> {
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
    pub(super) fn output(&mut self, line: Line<'_>) -> Option<Kind> {
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

    pub(super) fn action_word(&mut self, line: Line<'_>) -> Option<Kind> {
        match line.word(0)? {
            "session" => self.session(line),
            "resume" => self.resume(line),
            "do" => self.invoke(line),
            "exec" => self.exec(line),
            _ => None,
        }
    }

    pub(super) fn description(&mut self, line: Line<'_>) {
        let at = if line.is(2, Tok::Colon) { 3 } else { 2 };
        if line.is(at, Tok::Str) {
            self.properties.add("description", line.slice(at));
        } else if line.is(at, Tok::Cond) {
            self.properties.add("prompt", line.slice(at));
        }
    }
}
