//! Splits a statement into parts, so that the page can draw names more strongly than the words of the language.

/// A part of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatementPart<'t> {
    /// A word of the language, or punctuation.
    Quiet(&'t str),
    /// The name of the binding that the statement assigns.
    Name(&'t str),
    /// Any other text.
    Plain(&'t str),
}

/// The words that may precede a binding's name.
const BEGIN: [&str; 4] = ["let", "const", "output", "input"];

/// Words of the language that come before an action.
const WORDS: [&str; 12] = [
    "session:", "session", "resume:", "resume", "do", "for", "loop", "repeat", "parallel", "if",
    "call", "exec",
];

/// Splits a statement into parts. Joined, the parts are the statement again.
pub(crate) fn parts(text: &str) -> Vec<StatementPart<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    if let Some(word) = BEGIN.iter().find(|word| begins(rest, word)) {
        let (word, behind) = rest.split_at(word.len() + 1);
        parts.push(StatementPart::Quiet(word));
        rest = behind;
    }
    let name = rest
        .split(|sign: char| !sign.is_alphanumeric() && sign != '_')
        .next();
    let name = name.filter(|name| !name.is_empty() && behind(rest, name).starts_with(" = "));
    if let Some(name) = name {
        let (name, behind) = rest.split_at(name.len());
        let (equals, behind) = behind.split_at(3);
        parts.extend([StatementPart::Name(name), StatementPart::Quiet(equals)]);
        rest = behind;
    }
    if let Some(word) = WORDS.iter().find(|word| begins(rest, word)) {
        let (word, behind) = rest.split_at(word.len() + 1);
        parts.push(StatementPart::Quiet(word));
        rest = behind;
    }
    parts.push(StatementPart::Plain(rest));
    parts
}

fn behind<'t>(text: &'t str, beginning: &str) -> &'t str {
    text.strip_prefix(beginning).unwrap_or_default()
}

fn begins(text: &str, word: &str) -> bool {
    let behind = behind(text, word);
    behind.starts_with(' ') && behind.len() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_bound_and_what_is_asked_stand_out() {
        use StatementPart::{Name, Plain, Quiet};
        let of = |text| parts(text);
        assert_eq!(
            of("let size = session \"How many?\""),
            [
                Quiet("let "),
                Name("size"),
                Quiet(" = "),
                Quiet("session "),
                Plain("\"How many?\"")
            ]
        );
        assert_eq!(
            of("do translate(piece)"),
            [Quiet("do "), Plain("translate(piece)")]
        );
        assert_eq!(of("session"), [Plain("session")]);
        assert_eq!(of("größe = 3"), [Name("größe"), Quiet(" = "), Plain("3")]);
        assert_eq!(of(""), [Plain("")]);
        assert_eq!(of("let "), [Plain("let ")]);
    }

    #[test]
    fn the_parts_are_the_whole() {
        for text in [
            "x = ",
            "let = session",
            "output a = do b(c)",
            "if **x**:",
            "… = …",
            " = ",
        ] {
            let all: String = parts(text)
                .into_iter()
                .map(|part| match part {
                    StatementPart::Quiet(text)
                    | StatementPart::Name(text)
                    | StatementPart::Plain(text) => text,
                })
                .collect();
            assert_eq!(all, text);
        }
    }
}
