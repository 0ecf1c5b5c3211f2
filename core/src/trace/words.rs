//! Reads the text of a row: its leading word and the names in it.
//!
//! Rows often lack the metadata that identifies their construct (errata T4, T6: `parallel:a`, `do …`), and the
//! program may be missing. Only names are read here; [`crate::program`] handles lines and bodies.

/// The kind of the first word in a row's text, after a left side such as `let x =`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lead<'a> {
    /// A parallel block: `parallel:`, `parallel ("first"):`, `parallel for …` (errata X6).
    Parallel,
    /// A branch, as the append-only dialect writes it: `parallel:a`.
    Branch(&'a str),
    /// `loop …`, `repeat …`, `for …`.
    Loop,
    /// A call of a block, with the block's name: `do name(…)`. (`do:` is a plain sequence.)
    Do(&'a str),
    /// `approve x:`, `gate x:`.
    Gate(&'a str),
    /// `try:`
    Try,
    /// `catch:`, `catch as err:`
    Catch,
    /// Another construct of the language: not a loop, parallel block or block call.
    Plain,
    /// Not a word of the language.
    Unknown,
}

/// A parsed row text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Words<'a> {
    /// The name on the left of `=`.
    pub(super) name: Option<&'a str>,
    /// The kind of the leading word on the right of `=`.
    pub(super) lead: Lead<'a>,
}

/// Parses the beginning of a statement's text.
pub(super) fn read(text: &str) -> Words<'_> {
    let text = text.trim_start();
    let (name, rest) = assigned(text).map_or((None, text), |(name, rest)| (Some(name), rest));
    Words {
        name,
        lead: lead(rest),
    }
}

/// Whether a parallel block may finish before all its branches do: `parallel ("first"):`, `parallel ("any", count:
/// 2):`.
pub(super) fn leaves_branches(text: &str) -> bool {
    text.contains("\"first\"") || text.contains("\"any\"")
}

fn assigned(text: &str) -> Option<(&str, &str)> {
    let mut rest = text;
    for keyword in ["let", "const", "output"] {
        if let Some(after) = text.strip_prefix(keyword)
            && after.starts_with([' ', '\t'])
        {
            rest = after.trim_start();
        }
    }
    let (name, rest) = ident(rest)?;
    let rest = rest.trim_start().strip_prefix('=')?;
    (!rest.starts_with(['=', '>'])).then(|| (name, rest.trim_start()))
}

fn lead(text: &str) -> Lead<'_> {
    let end = text
        .find(|c: char| !(c.is_ascii_alphabetic() || c == '_'))
        .unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let named = || {
        rest.starts_with([' ', '\t'])
            .then(|| ident(rest.trim_start()))
    };
    match word {
        "parallel" => match rest.strip_prefix(':').map(str::trim).and_then(ident) {
            Some((branch, after)) if after.is_empty() || after == ":" => Lead::Branch(branch),
            _ => Lead::Parallel,
        },
        "loop" | "repeat" | "for" => Lead::Loop,
        "do" => match named().flatten() {
            Some((block, _)) => Lead::Do(block),
            None => Lead::Plain,
        },
        "approve" | "gate" => match named().flatten() {
            Some((gate, _)) => Lead::Gate(gate),
            None => Lead::Plain,
        },
        "try" => Lead::Try,
        "catch" => Lead::Catch,
        "session" | "resume" | "exec" | "if" | "elif" | "else" | "choice" | "option"
        | "finally" | "throw" | "agent" | "use" | "block" | "input" => Lead::Plain,
        _ => Lead::Unknown,
    }
}

/// Splits off a name at the start of a text. A name consists of letters, digits, `_`, `-` and `.`.
fn ident(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))
        .unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_leading_word_and_the_names() {
        let cases: &[(&str, Option<&str>, Lead<'_>)] = &[
            ("parallel:", None, Lead::Parallel),
            ("parallel (\"first\"):", None, Lead::Parallel),
            ("x = parallel:", Some("x"), Lead::Parallel),
            ("parallel for item in items:", None, Lead::Parallel),
            ("parallel:a", None, Lead::Branch("a")),
            ("parallel: a", None, Lead::Branch("a")),
            ("parallel: # three of them", None, Lead::Parallel),
            ("loop", None, Lead::Loop),
            ("loop until **done** (max: 3):", None, Lead::Loop),
            ("repeat 3 as i:", None, Lead::Loop),
            ("for x in xs:", None, Lead::Loop),
            ("looping", None, Lead::Unknown),
            ("do process(data)", None, Lead::Do("process")),
            ("let r = do process(data)", Some("r"), Lead::Do("process")),
            (
                "output report = do write",
                Some("report"),
                Lead::Do("write"),
            ),
            ("do:", None, Lead::Plain),
            (
                "approve production_deploy:",
                None,
                Lead::Gate("production_deploy"),
            ),
            ("gate ship", None, Lead::Gate("ship")),
            ("a = session \"Task A\"", Some("a"), Lead::Plain),
            ("let research = session", Some("research"), Lead::Plain),
            ("a == b", None, Lead::Unknown),
            ("try:", None, Lead::Try),
            ("catch as err:", None, Lead::Catch),
            ("", None, Lead::Unknown),
            ("日本 = session", Some("日本"), Lead::Plain),
            ("= =", None, Lead::Unknown),
        ];
        for (text, name, lead) in cases {
            assert_eq!(
                read(text),
                Words {
                    name: *name,
                    lead: *lead
                },
                "{text:?}"
            );
        }
    }
}
