//! Builds commands that people paste into a shell. Names of runs, gates and values are untrusted and therefore quoted.

use std::fmt::Write as _;

use crate::model::text::is_hazard;

/// Returns a word for a shell: unchanged if every character is harmless, else quoted. Control, direction and invisible
/// characters could mislead a reader, so they are escaped as octal bytes in `$'…'`. bash, zsh, ksh and POSIX shells
/// since 2024 read the result back as the same word.
///
/// ```
/// use prosescope_core::model::shell::word;
/// assert_eq!(word("deploy#2"), "deploy#2");
/// assert_eq!(word("it's"), r"'it'\''s'");
/// assert_eq!(word("a\u{202e}b"), r"$'a\342\200\256b'");
/// ```
pub fn word(word: &str) -> String {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | '#' | '@');
    if !word.is_empty() && !word.starts_with(['-', '#']) && word.chars().all(plain) {
        return word.to_owned();
    }
    if !word.contains(is_hazard) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut out = "$'".to_owned();
    for c in word.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            // An argument of a program cannot contain a NUL, so U+FFFD replaces it.
            '\0' => out.push('\u{fffd}'),
            c if is_hazard(c) => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(out, "\\{byte:03o}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// Returns an option with its value. A value that begins with a dash is joined by `=`, so that a shell does not read it
/// as another option.
///
/// ```
/// use prosescope_core::model::shell::option;
/// assert_eq!(option("--run", "r1"), "--run r1");
/// assert_eq!(option("--run", "-r"), "--run='-r'");
/// ```
pub fn option(name: &str, value: &str) -> String {
    let between = if value.starts_with('-') { '=' } else { ' ' };
    format!("{name}{between}{}", word(value))
}

/// Returns a command with its operands and then its options. If an operand begins with a dash, the options come first,
/// followed by `--`.
///
/// ```
/// use prosescope_core::model::shell::command;
/// assert_eq!(command("approve", &["r1", "g"], "--as NAME"), "prosescope approve r1 g --as NAME");
/// assert_eq!(command("approve", &["r1", "--as=root"], "--as NAME"), "prosescope approve --as NAME -- r1 '--as=root'");
/// ```
pub fn command(verb: &str, operands: &[&str], options: &str) -> String {
    let words: Vec<String> = operands.iter().map(|operand| word(operand)).collect();
    let words = words.join(" ");
    let parts = if operands.iter().any(|operand| operand.starts_with('-')) {
        ["prosescope", verb, options, "--", &words]
    } else {
        ["prosescope", verb, &words, options, ""]
    };
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_its_quotes() {
        for (text, line) in [
            ("deploy", "deploy"),
            ("a#2", "a#2"),
            ("#2", "'#2'"),
            ("a b", "'a b'"),
            ("$(rm -rf ~)", "'$(rm -rf ~)'"),
            ("it's", r"'it'\''s'"),
            ("--as", "'--as'"),
            ("x\ny", r"$'x\012y'"),
            ("x\u{2028}'\\y", r"$'x\342\200\250\'\\y'"),
            ("x\0y", "$'x\u{fffd}y'"),
            ("", "''"),
        ] {
            assert_eq!(word(text), line);
            assert!(!word(text).contains(is_hazard), "{text:?}");
        }
    }
}
