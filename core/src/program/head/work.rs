//! Heads of what does something: sessions, resumes, invocations, commands.

use super::super::StatementKind as Kind;
use super::super::lex::Tok;
use super::super::line::Line;
use super::Head;

impl Head {
    pub(super) fn session(&mut self, line: Line<'_>) -> Option<Kind> {
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

    pub(super) fn resume(&mut self, line: Line<'_>) -> Option<Kind> {
        let at = if line.is(1, Tok::Colon) { 2 } else { 1 };
        if at == 1 && line.len() > 2 && !matches!(line.tok(2), Some(Tok::Colon | Tok::Open)) {
            return None;
        }
        self.target = line.word(at).map(str::to_owned);
        Some(Kind::Resume)
    }

    /// `do:`, `do name`, `do name(…)`, `do name(…) as x`
    pub(super) fn invoke(&mut self, line: Line<'_>) -> Option<Kind> {
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

    pub(super) fn exec(&mut self, line: Line<'_>) -> Option<Kind> {
        let at = match line.tok(1) {
            None => return Some(Kind::Exec),
            Some(Tok::Colon | Tok::Open) => 2,
            _ => 1,
        };
        if !line.is(at, Tok::Str) {
            return None;
        }
        self.properties.add("command", line.slice(at));
        Some(Kind::Exec)
    }

    pub(super) fn throw(&mut self, line: Line<'_>) -> Option<Kind> {
        match (line.tok(1), line.len()) {
            (None, _) => {}
            (Some(Tok::Str), _) => self.properties.add("message", line.slice(1)),
            (Some(Tok::Word), 2) => self.properties.add("message", line.slice(1)),
            _ => return None,
        }
        Some(Kind::Throw)
    }

    /// `call reviewer`, `run reviewer`
    pub(super) fn service(&mut self, line: Line<'_>) -> Option<Kind> {
        let name = line.word(1)?;
        if !matches!(
            line.tok(2),
            None | Some(Tok::Colon | Tok::Open | Tok::Pipe | Tok::Arrow)
        ) {
            return None;
        }
        self.target = Some(name.to_owned());
        Some(Kind::Call)
    }

    /// `return`, `return x`, `return { … }`, `return call reviewer`: what is handed back, or what runs for it.
    pub(super) fn hand_back(&mut self, line: Line<'_>) -> Option<Kind> {
        let what = line.from(1);
        let runs = match what.word(0) {
            Some("call" | "run") => self.service(what),
            _ => self.action_word(what),
        };
        let value = match (what.tok(0), what.len()) {
            (None | Some(Tok::Open | Tok::Str | Tok::Cond), _) | (Some(Tok::Word), 1) => true,
            (Some(Tok::Word), _) => matches!(what.tok(1), Some(Tok::Op | Tok::Open | Tok::Pipe)),
            _ => false,
        };
        runs.or(value.then_some(Kind::Return))
    }

    /// `research(topic: "x")`: a program that was imported runs. Nothing but what is taken from its outputs
    /// (`.findings`) stands behind it.
    pub(super) fn call(&mut self, line: Line<'_>) -> Option<Kind> {
        let name = line.word(0)?;
        let (word, open) = line.tokens.first().zip(line.tokens.get(1))?;
        if line.slice(1) != "(" || word.end != open.start {
            return None;
        }
        let close = line
            .tokens
            .iter()
            .position(|token| token.tok == Tok::Close && token.depth == 0)?;
        let taken = line.tokens.get(close + 1..).unwrap_or_default();
        let plain = taken
            .chunks(2)
            .all(|part| matches!(part, [dot, name] if (dot.tok, name.tok) == (Tok::Op, Tok::Word)));
        let alias = taken.len() == 2 && line.word(close + 1) == Some("as");
        if !plain && !alias {
            return None;
        }
        self.target = Some(name.to_owned());
        self.properties.parameters("args", line.text, line.tokens);
        if alias && let Some(name) = line.word(close + 2) {
            self.properties.add("as", name);
        }
        Some(Kind::Call)
    }

    /// `@get_config`: a place that `retry get_config` goes back to.
    pub(super) fn label(&mut self, line: Line<'_>) -> Option<Kind> {
        let name = line.word(0)?.strip_prefix('@')?;
        if name.is_empty() || !line.ends_at(1) {
            return None;
        }
        self.name = Some(name.to_owned());
        self.keyword = true;
        Some(Kind::Label)
    }
}
