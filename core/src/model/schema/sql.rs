//! Splits the text of a `CREATE` statement into tokens, as SQLite does, so that comments, quotes and letter case
//! disguise no word.

/// A token of SQL; whitespace and comments are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SqlToken {
    /// A word without quotes, in lower case: a keyword or a name.
    Word(String),
    /// A name in double quotes, backquotes or square brackets.
    Quoted(String),
    /// A text, a BLOB or a number.
    Literal(String),
    /// Any other character.
    Sign(char),
}

/// Splits a text into tokens.
pub(super) fn tokens(sql: &str) -> Vec<SqlToken> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let len = match first {
            // SQLite skips a byte order mark between two tokens.
            '\u{feff}' => first.len_utf8(),
            _ if first.is_ascii_whitespace() => 1,
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => {
                let end = rest.get(2..).and_then(|text| text.find("*/"));
                end.map_or(rest.len(), |end| end + 4)
            }
            '\'' | '"' | '`' | '[' => {
                let (text, len) = quoted(rest, first);
                tokens.push(match first {
                    '\'' => SqlToken::Literal(text),
                    _ => SqlToken::Quoted(text),
                });
                len
            }
            _ if is_word(first) => {
                let is_number = first.is_ascii_digit();
                let end = rest.find(|c| !(is_word(c) || is_number && c == '.'));
                let end = end.unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                if word.eq_ignore_ascii_case("x") && after.starts_with('\'') {
                    let (text, len) = quoted(after, '\'');
                    tokens.push(SqlToken::Literal(text));
                    end + len
                } else {
                    tokens.push(if is_number {
                        SqlToken::Literal(word.to_owned())
                    } else {
                        SqlToken::Word(word.to_ascii_lowercase())
                    });
                    end
                }
            }
            sign => {
                tokens.push(SqlToken::Sign(sign));
                sign.len_utf8()
            }
        };
        rest = rest.get(len..).unwrap_or_default();
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()
}

/// Returns the text between two quotes, and the length with the quotes. A doubled quote is part of the text.
fn quoted(rest: &str, quote: char) -> (String, usize) {
    let end = if quote == '[' { ']' } else { quote };
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        let is_doubled = quote != '[' && chars.peek().is_some_and(|(_, next)| *next == end);
        match c {
            _ if c != end => text.push(c),
            _ if is_doubled => {
                text.push(c);
                chars.next();
            }
            _ => return (text, at + 1),
        }
    }
    (text, rest.len())
}

/// The beginning of a `CREATE` statement.
#[derive(Debug)]
pub(super) struct Object<'t> {
    /// `table`, `index`, `view` or `trigger`.
    pub(super) kind: &'t str,
    /// The object's name.
    pub(super) name: &'t str,
    /// The table of an index or a trigger; else the object's name.
    pub(super) table: &'t str,
    /// The tokens after the name of the table.
    pub(super) rest: &'t [SqlToken],
}

/// Parses the beginning of a `CREATE` statement; `None` if the text is another statement.
pub(super) fn object(tokens: &[SqlToken]) -> Option<Object<'_>> {
    let rest = after(tokens, &["create"])?;
    let is_more = |token: &SqlToken| is_one_of(token, &["temp", "temporary", "unique", "virtual"]);
    let rest = rest.get(rest.iter().take_while(|token| is_more(token)).count()..)?;
    let (SqlToken::Word(kind), rest) = rest.split_first()? else {
        return None;
    };
    if !["table", "index", "view", "trigger"].contains(&kind.as_str()) {
        return None;
    }
    let rest = after(rest, &["if", "not", "exists"]).unwrap_or(rest);
    let (name, rest) = name(rest)?;
    if kind == "table" || kind == "view" {
        let table = name;
        return Some(Object {
            kind,
            name,
            table,
            rest,
        });
    }
    // No name is written `on` without quotes, because that is a reserved word.
    let on = rest.iter().position(|token| is_one_of(token, &["on"]))?;
    let (table, rest) = self::name(rest.get(on + 1..)?)?;
    Some(Object {
        kind,
        name,
        table,
        rest,
    })
}

/// Returns whether a token is one of some words.
pub(super) fn is_one_of(token: &SqlToken, words: &[&str]) -> bool {
    matches!(token, SqlToken::Word(word) if words.contains(&word.as_str()))
}

/// Returns the tokens after some words; `None` if the tokens begin otherwise.
fn after<'t>(tokens: &'t [SqlToken], words: &[&str]) -> Option<&'t [SqlToken]> {
    let (begin, rest) = tokens.split_at_checked(words.len())?;
    let is_same = begin
        .iter()
        .zip(words)
        .all(|(token, word)| is_one_of(token, &[word]));
    is_same.then_some(rest)
}

/// Returns a name, without the name of a schema before it, and the tokens after it.
fn name(tokens: &[SqlToken]) -> Option<(&str, &[SqlToken])> {
    let (SqlToken::Word(name) | SqlToken::Quoted(name) | SqlToken::Literal(name), rest) =
        tokens.split_first()?
    else {
        return None;
    };
    match rest.split_first() {
        Some((SqlToken::Sign('.'), rest)) => self::name(rest),
        _ => Some((name, rest)),
    }
}
