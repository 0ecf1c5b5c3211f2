//! Evaluates call arguments and list entries as far as the program text alone allows.

use super::lex::{Tok, Token, tokens_of_text};
use super::properties::slice;
use super::uses::is_name;
use super::value::text_of;
use super::{Listing, Statement};

/// An expression, evaluated as far as the program text alone allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// A quoted text, without its quotes; or a number, `true` or `false`.
    Text(String),
    /// A name, or a field of a value: `draft`, `draft.summary`.
    Name(String),
    /// Any other expression, as written.
    Other(String),
}

impl Expression {
    /// Parses an expression.
    pub fn of(text: &str) -> Expression {
        let text = text.trim();
        let tokens = tokens_of_text(text);
        match tokens.as_slice() {
            [one] if one.tok == Tok::Str => Expression::Text(text_of(text)),
            [one] if one.tok == Tok::Word && is_name(text) => Expression::Name(text.to_owned()),
            _ if matches!(text, "true" | "false") || text.parse::<f64>().is_ok() => {
                Expression::Text(text.to_owned())
            }
            _ => Expression::Other(text.to_owned()),
        }
    }
}

impl Listing {
    /// Returns the argument of a call for a parameter of the called block: by name, otherwise by position, otherwise
    /// the parameter's default.
    pub fn argument(&self, call: &Statement, block: u32, parameter: &str) -> Option<Expression> {
        let params = &self.get(block)?.find("params")?.text;
        let tokens = tokens_of_text(params);
        let params: Vec<Argument<'_>> = entries(&tokens)
            .map(|of| Argument::of(params, of))
            .collect();
        let place = params.iter().position(|param| param.first == parameter)?;
        let given = call.find("args").map_or("", |args| &args.text);
        let tokens = tokens_of_text(given);
        let args: Vec<Argument<'_>> = entries(&tokens).map(|of| Argument::of(given, of)).collect();
        let named = args.iter().find(|arg| arg.key && arg.first == parameter);
        let placed = || args.iter().filter(|arg| !arg.key).nth(place);
        let said = match named.or_else(placed) {
            Some(arg) if arg.key => arg.rest,
            Some(arg) => arg.whole,
            None => params.get(place)?.default?,
        };
        Some(Expression::of(said))
    }
}

/// Returns the entries of a list literal, `[a, "b"]`; `None` for any other expression.
pub fn items(list: &str) -> Option<Vec<Expression>> {
    let tokens = tokens_of_text(list);
    let [open, inner @ .., close] = tokens.as_slice() else {
        return None;
    };
    let is = |token: &Token, sign| list.get(token.start..token.end) == Some(sign);
    let whole = inner.iter().all(|token| token.depth > open.depth);
    (is(open, "[") && is(close, "]") && whole).then(|| {
        let each = entries(inner);
        each.map(|of| Expression::of(slice(list, of))).collect()
    })
}

/// A parameter or an argument of a call: `part`, `part: x`, `part = "x"`.
struct Argument<'t> {
    whole: &'t str,
    first: &'t str,
    /// Whether a colon follows the first word, which is then a key.
    key: bool,
    /// The text after the key and its colon.
    rest: &'t str,
    /// The text after an equals sign.
    default: Option<&'t str>,
}

impl<'t> Argument<'t> {
    fn of(text: &'t str, tokens: &[Token]) -> Argument<'t> {
        let behind = |at: usize| slice(text, tokens.get(at + 1..).unwrap_or_default());
        let is = |at: usize, tok| tokens.get(at).is_some_and(|token| token.tok == tok);
        let equals = tokens.iter().position(|token| token.tok == Tok::Equals);
        Argument {
            whole: slice(text, tokens),
            first: slice(text, tokens.get(..1).unwrap_or_default()),
            key: is(0, Tok::Word) && is(1, Tok::Colon),
            rest: behind(1),
            default: equals.map(behind),
        }
    }
}

/// Splits tokens at the commas of the outermost level.
fn entries(tokens: &[Token]) -> impl Iterator<Item = &[Token]> {
    let depth = tokens.iter().map(|token| token.depth).min();
    let comma = move |token: &Token| token.tok == Tok::Comma && Some(token.depth) == depth;
    tokens.split(comma).filter(|entry| !entry.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::scan;

    #[test]
    fn a_parameter_is_what_the_call_gives_for_it() {
        use Expression::{Name, Other, Text};
        for (call, expected) in [
            (
                "do p(draft, \"short, sweet\")",
                Some(Text("short, sweet".into())),
            ),
            (
                "do p(how: topic.main, part: draft)",
                Some(Name("topic.main".into())),
            ),
            ("let r = do p(draft, [a, b])", Some(Other("[a, b]".into()))),
            ("do p(f(a, b), 3)", Some(Text("3".into()))),
            ("do p(draft)", Some(Text("long".into()))),
            ("do p", Some(Text("long".into()))),
            ("do p(,,)", Some(Text("long".into()))),
        ] {
            let program = format!("block p(part, how = \"long\"):\n  session \"x\"\n{call}\n");
            let listing = scan(&program);
            let (call, block) = (listing.statement_at(3).unwrap(), listing.block_named("p"));
            let call = listing.get(call).unwrap();
            assert_eq!(
                listing.argument(call, block.unwrap(), "how"),
                expected,
                "{program}"
            );
            assert_eq!(listing.argument(call, block.unwrap(), "no"), None);
        }
    }

    #[test]
    fn a_list_that_is_written_out_has_entries() {
        use Expression::{Name, Text};
        let of = |list| items(list);
        assert_eq!(
            of("[a, \"b, c\",]"),
            Some(vec![Name("a".into()), Text("b, c".into())])
        );
        for other in ["a", "[a] + [b]", "f([a])", "", "[", "]["] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
