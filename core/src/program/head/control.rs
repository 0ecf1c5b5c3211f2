//! Heads of what decides: parallels, loops, conditions, choices, errors.

use super::super::StatementKind as Kind;
use super::super::lex::Tok;
use super::super::line::Line;
use super::Head;

impl Head {
    /// `parallel:`, `parallel ("first", on-fail: "continue"):`, `parallel for x in y:`; rows write `parallel:a`
    pub(super) fn parallel(&mut self, line: Line<'_>) -> Option<Kind> {
        match (line.tok(1), line.word(1)) {
            (None | Some(Tok::Colon | Tok::Open), _) => {}
            (_, Some("for")) if self.each(line, 2) => {}
            _ => return None,
        }
        Some(Kind::Parallel)
    }

    /// `loop:`, `loop until **…** (max: N) as i:`, `loop while **…**:`
    pub(super) fn looping(&mut self, line: Line<'_>) -> Option<Kind> {
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
            // `loop for each x in xs (max: 20):`
            (_, Some("for")) if self.each(line, 2) => {}
            (_, Some("as")) => {}
            (_, Some(count)) if count.bytes().all(|b| b.is_ascii_digit()) => {
                self.properties.add("count", count);
            }
            _ => return None,
        }
        self.counter(line);
        Some(Kind::Loop)
    }

    /// `while **…**:`, as other languages have it.
    pub(super) fn while_loop(&mut self, line: Line<'_>) -> Option<Kind> {
        if !line.is(1, Tok::Cond) || !self.condition(line, 1) {
            return None;
        }
        self.properties.add("check", "while");
        self.counter(line);
        Some(Kind::Loop)
    }

    /// `repeat N:`, `repeat N as i:`, `repeat times as i:`
    pub(super) fn repeat(&mut self, line: Line<'_>) -> Option<Kind> {
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

    pub(super) fn counter(&mut self, line: Line<'_>) {
        if let Some(name) = line.after_word("as") {
            self.properties.add("as", name);
        }
    }

    /// `for x in y`, `for x, i in y`: adds each, index, in.
    pub(super) fn each(&mut self, line: Line<'_>, at: usize) -> bool {
        // `for each x in y`
        let each = usize::from(line.word(at) == Some("each") && line.word(at + 1) != Some("in"));
        let at = at + each;
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

    pub(super) fn catch(&mut self, line: Line<'_>) -> Option<Kind> {
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
    pub(super) fn condition(&mut self, line: Line<'_>, at: usize) -> bool {
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

    pub(super) fn option(&mut self, line: Line<'_>) -> Option<Kind> {
        match (line.tok(1), line.tok(2)) {
            (Some(Tok::Str), _) => self.properties.add("label", line.slice(1)),
            (Some(Tok::Word), None | Some(Tok::Colon)) | (Some(Tok::Cond), _) => {
                self.properties.add("label", line.slice(1));
            }
            _ => return None,
        }
        Some(Kind::Option)
    }
}
