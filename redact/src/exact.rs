//! Exact values: texts that a caller passes as secret, from `.env`, from the environment, from `--redact TEXT`.

use std::fmt;

use crate::rule::RuleKind;
use crate::words::names_secret;

/// The smallest length of an exact value in characters, unless the user named the value. A shorter value (`USER=mm`)
/// also occurs by chance, so replacing it would corrupt the shared file.
pub const SHORTEST: usize = 8;

/// A value to replace wherever it occurs, in each of its forms ([`crate::Remains`] lists them).
#[derive(Clone)]
pub struct Exact {
    pub(crate) value: String,
    pub(crate) stem: String,
    pub(crate) kind: RuleKind,
    pub(crate) word: bool,
    pub(crate) asked: bool,
    /// The id of the rule that first found the value; `None` if no rule found it.
    pub(crate) rule: Option<String>,
}

impl Exact {
    /// Creates a secret with this name, such as `API_TOKEN`. Each replacement contains the letters, digits and
    /// hyphens of the name.
    pub fn secret(name: &str, value: &str) -> Self {
        Exact {
            value: value.to_owned(),
            stem: stem(name),
            kind: RuleKind::Secret,
            word: false,
            asked: false,
            rule: None,
        }
    }

    /// Creates an exact value for personal data, such as a user or host name; it is replaced only as a whole word.
    pub fn personal(name: &str, value: &str) -> Self {
        Exact {
            kind: RuleKind::Personal,
            word: true,
            ..Self::secret(name, value)
        }
    }

    /// Marks the value as named by the user, so that it may be short.
    pub fn asked(mut self) -> Self {
        self.asked = true;
        self
    }

    /// Returns whether the value is long enough to search for.
    pub fn usable(&self) -> bool {
        let length = self.value.trim().chars().take(SHORTEST).count();
        length >= SHORTEST || self.asked && length > 0
    }
}

/// Prints only the name, so that no log contains the secret.
impl fmt::Debug for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exact({})", self.stem)
    }
}

/// The name that hits of [`crate::Rules::asked`] have in replacements (`asked #1`) and in reports.
pub const ASKED: &str = "asked";

/// Returns the first 48 characters of a name, as replacements may contain them: `-` replaces every character except
/// ASCII letters, digits, `_` and `-`.
fn stem(name: &str) -> String {
    let clean: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
                c
            } else {
                '-'
            }
        })
        .take(48)
        .collect();
    let clean = clean.trim_matches(['-', '_']);
    if clean.is_empty() {
        "secret".to_owned()
    } else {
        clean.to_owned()
    }
}

/// A variable of an `.env` file.
#[derive(Clone)]
pub struct Variable {
    /// The variable's name.
    pub name: String,
    /// The variable's value, without quotes.
    pub value: String,
}

impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Variable({})", self.name)
    }
}

impl Variable {
    /// Returns whether the value is treated as a secret. An ordinary setting (a word, a number, a path, an address
    /// without a password) is a secret only if its name marks a secret, as `DB_PASSWORD` does.
    pub fn is_secret(&self) -> bool {
        names_secret(&self.name) || !setting(&self.value)
    }
}

/// Returns whether a value is an ordinary setting.
fn setting(value: &str) -> bool {
    let word = |word: &str| {
        word.bytes().all(|b| {
            b.is_ascii_lowercase() || matches!(b, b'-' | b'_' | b'.' | b',' | b' ' | b':' | b'/')
        }) || word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
            || word
                .bytes()
                .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b':' | b'-'))
    };
    let url = value
        .split_once("://")
        .is_some_and(|(_, rest)| !rest.contains(['@', '?', '=']) && rest.len() < 64);
    word(value) || url || value.starts_with(['/', '~', '.']) && !value.contains(['=', '@', '+'])
}

/// Parses the variables of an `.env` file: `NAME=value`, `export NAME="value"`, comments, and quoted values of
/// several lines.
pub fn variables(text: &str) -> Vec<Variable> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let bare = line.trim();
        let bare = bare.strip_prefix("export ").unwrap_or(bare).trim_start();
        let Some((name, value)) = bare.split_once('=').filter(|_| !bare.starts_with('#')) else {
            rest = after;
            continue;
        };
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let value = match quote {
            Some(quote) => {
                // The value is read from the whole text, because a quoted value may continue on later lines.
                let at = line.find(value).unwrap_or(0) + 1;
                let inside = &rest[at..];
                match closing(inside, quote) {
                    Some(end) => {
                        rest = inside[end + 1..]
                            .split_once('\n')
                            .map_or("", |(_, after)| after);
                        unescape(&inside[..end], quote)
                    }
                    None => {
                        rest = after;
                        value[1..].to_owned()
                    }
                }
            }
            None => {
                rest = after;
                value
                    .split(" #")
                    .next()
                    .unwrap_or_default()
                    .trim_end()
                    .to_owned()
            }
        };
        let name = name.trim();
        if !name.is_empty() && !value.is_empty() {
            found.push(Variable {
                name: name.to_owned(),
                value,
            });
        }
    }
    found
}

/// Returns the position of the quote that ends a value; `None` if this quote is missing.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let end = c == quote && !escaped;
        escaped = c == '\\' && !escaped && quote == '"';
        end.then_some(at)
    })
}

fn unescape(value: &str, quote: char) -> String {
    if quote == '\'' {
        value.to_owned()
    } else {
        value
            .replace("\\\"", "\"")
            .replace("\\n", "\n")
            .replace("\\\\", "\\")
    }
}
