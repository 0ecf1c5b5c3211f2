//! Parses statement heads: a table of the simple shapes, and functions for the others.

use std::sync::LazyLock;

use super::StatementHead;
use crate::program::StatementKind as Kind;
use crate::program::lex::Tok;
use crate::program::line::LineTokens;
use crate::program::value::text_of;

/// The shapes of heads by first word, each as a pattern of the tokens after that word. `|` separates alternatives. `$`
/// matches the line's end, `end` the line's end or a colon, `?` anything. A word before `=` is the name under which the
/// matched token is stored. The first matching shape counts.
const SHAPES: &[(&str, Kind, &str)] = &[
    ("session", Kind::Session, "$|str|("),
    ("session", Kind::Session, ": target=word|?"),
    ("session", Kind::Session, "name=word : target=word|?"),
    ("session", Kind::Session, "target=word $|("),
    ("resume", Kind::Resume, "$"),
    ("resume", Kind::Resume, ": target=word|?"),
    ("resume", Kind::Resume, "target=any end|("),
    ("do", Kind::Do, "end"),
    ("do", Kind::Do, "target=word end|(|pipe|arrow|as|with"),
    ("exec", Kind::Exec, "$"),
    ("exec", Kind::Exec, ":|( command=str"),
    ("exec", Kind::Exec, "command=str"),
    ("call", Kind::Call, "target=word end|(|pipe|arrow"),
    ("throw", Kind::Throw, "$"),
    ("throw", Kind::Throw, "message=str"),
    ("throw", Kind::Throw, "message=word $"),
    ("parallel", Kind::Parallel, "end|("),
    ("repeat", Kind::Repeat, "count=word end|(|op|as|times"),
    ("try", Kind::Try, "end|("),
    ("catch", Kind::Catch, "end"),
    ("catch", Kind::Catch, "as|( name=word|?"),
    ("catch", Kind::Catch, "name=word end"),
    ("finally", Kind::Finally, "end"),
    ("else", Kind::Else, "end"),
    ("option", Kind::Option, "label=str|cond"),
    ("option", Kind::Option, "label=word end"),
    ("agent", Kind::Agent, "name=word|str end|("),
    ("block", Kind::Block, "name=word end|("),
    ("approve", Kind::Gate, "$"),
    ("approve", Kind::Gate, "name=word prompt=str"),
    ("approve", Kind::Gate, "name=word end|("),
    ("approve", Kind::Gate, "condition=cond"),
    ("approve", Kind::Gate, "prompt=str"),
    ("input", Kind::Input, "name=word end|eq|(|str|cond"),
];

/// A token of a shape: the name under which the matched text is stored, and the texts that match.
type ShapeToken = (Option<&'static str>, Vec<&'static str>);

/// The table of shapes, split in advance because every line of a program is compared with it.
static TAKEN_APART: LazyLock<Vec<(&str, Kind, Vec<ShapeToken>)>> = LazyLock::new(|| {
    let part = |part: &'static str| match part.split_once('=') {
        Some((kept, any)) => (Some(kept), any.split('|').collect()),
        None => (None, part.split('|').collect()),
    };
    let shapes = SHAPES.iter();
    shapes
        .map(|(word, kind, shape)| (*word, *kind, shape.split(' ').map(part).collect()))
        .collect()
});

/// Whether the token at an index matches one of the alternatives.
fn fits(line: LineTokens<'_>, at: usize, any: &[&str]) -> bool {
    any.iter().any(|one| match (*one, line.tok(at)) {
        ("?", _)
        | ("$" | "end", None)
        | ("any", Some(_))
        | ("end" | ":", Some(Tok::Colon))
        | ("(", Some(Tok::Open))
        | ("str", Some(Tok::Str))
        | ("cond", Some(Tok::Cond))
        | ("eq", Some(Tok::Equals))
        | ("op", Some(Tok::Op))
        | ("pipe", Some(Tok::Pipe))
        | ("arrow", Some(Tok::Arrow))
        | ("word", Some(Tok::Word)) => true,
        (word, _) => line.word(at) == Some(word),
    })
}

impl StatementHead {
    /// Parses a head with a shape in the table.
    pub(super) fn shaped(&mut self, line: LineTokens<'_>) -> Option<Kind> {
        // In the language, `run` means the same as `call`, and `gate` the same as `approve`.
        let word = match line.word(0)? {
            "run" => "call",
            "gate" => "approve",
            word => word,
        };
        let fits =
            |shape: &[ShapeToken]| (1..).zip(shape).all(|(at, (_, any))| fits(line, at, any));
        let mut shapes = TAKEN_APART.iter();
        let (_, kind, shape) = shapes.find(|(own, _, shape)| *own == word && fits(shape))?;
        for (at, (kept, _)) in (1..).zip(shape) {
            match *kept {
                Some("target") => self.target = line.word(at).map(str::to_owned),
                // In `let x = session y: z`, the session's own name `y` must not replace the bound name `x`.
                Some("name") if *kind == Kind::Session && self.name.is_some() => {}
                Some("name") if line.tok(at).is_some() => {
                    self.name = Some(text_of(line.slice(at)));
                }
                Some("name") | None => {}
                Some(key) => self.properties.add(key, line.slice(at)),
            }
        }
        match kind {
            Kind::Do => {
                self.properties.parameters("args", line.text, line.tokens);
                self.counter(line);
            }
            Kind::Block => self.properties.parameters("params", line.text, line.tokens),
            Kind::Repeat => self.counter(line),
            Kind::Catch => {
                if let Some(name) = &self.name {
                    self.properties.add("as", &name.clone());
                }
            }
            Kind::Input => {
                self.binds = Some("input");
                self.description(line);
            }
            _ => {}
        }
        Some(*kind)
    }

    /// Parses a loop: `loop:`, `loop until **…** (max: N) as i:`, `loop while **…**:`.
    pub(super) fn looping(&mut self, line: LineTokens<'_>) -> Option<Kind> {
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
            // A loop over items: `loop for each x in xs (max: 20):`.
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

    pub(super) fn counter(&mut self, line: LineTokens<'_>) {
        if let Some(name) = line.after_word("as") {
            self.properties.add("as", name);
        }
    }

    /// Parses `for x in y` and `for x, i in y`; adds the properties `each`, `index` and `in`.
    pub(super) fn each(&mut self, line: LineTokens<'_>, at: usize) -> bool {
        // The word `each` is optional: `for each x in y`.
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

    /// Parses a condition from token `at` up to the colon: `**…**`, `**…** or depth <= 0`, `depth <= 0`.
    pub(super) fn condition(&mut self, line: LineTokens<'_>, at: usize) -> bool {
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

    /// Parses `return`, `return x`, `return { … }`, `return call reviewer`: the returned value, or the call that
    /// produces it.
    pub(super) fn hand_back(&mut self, line: LineTokens<'_>) -> Option<Kind> {
        let what = line.from(1);
        let runs = match what.word(0) {
            Some("call" | "run") => self.shaped(what),
            _ => self.action_word(what),
        };
        let value = match (what.tok(0), what.len()) {
            (None | Some(Tok::Open | Tok::Str | Tok::Cond), _) | (Some(Tok::Word), 1) => true,
            (Some(Tok::Word), _) => matches!(what.tok(1), Some(Tok::Op | Tok::Open | Tok::Pipe)),
            _ => false,
        };
        runs.or(value.then_some(Kind::Return))
    }

    /// Parses a call of an imported program: `research(topic: "x")`. Only a field of the program's outputs
    /// (`.findings`) or `as x` may follow.
    pub(super) fn call(&mut self, line: LineTokens<'_>) -> Option<Kind> {
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

    /// Parses a label, the target of `retry get_config`: `@get_config`.
    pub(super) fn label(&mut self, line: LineTokens<'_>) -> Option<Kind> {
        let name = line.word(0)?.strip_prefix('@')?;
        if name.is_empty() || !line.ends_at(1) {
            return None;
        }
        self.name = Some(name.to_owned());
        self.keyword = true;
        Some(Kind::Label)
    }

    /// Parses an import: `use "…" as x`, `import "…" from "…"`.
    pub(super) fn import(&mut self, line: LineTokens<'_>) -> Option<Kind> {
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
        // Without an alias, the import's name is the last part of its path (openprose-lint, `valid/basic.prose`).
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

    /// Parses an output: `output x: "…"`, `output {…}`, `output x`, `output do …`, `output session …`. The form
    /// `output x = …` is handled by `left_side`.
    pub(super) fn output(&mut self, line: LineTokens<'_>) -> Option<Kind> {
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

    pub(super) fn action_word(&mut self, line: LineTokens<'_>) -> Option<Kind> {
        let word = line.word(0)?;
        matches!(word, "session" | "resume" | "do" | "exec").then(|| self.shaped(line))?
    }

    pub(super) fn description(&mut self, line: LineTokens<'_>) {
        let at = if line.is(2, Tok::Colon) { 3 } else { 2 };
        if line.is(at, Tok::Str) {
            self.properties.add("description", line.slice(at));
        } else if line.is(at, Tok::Cond) {
            self.properties.add("prompt", line.slice(at));
        }
    }
}
