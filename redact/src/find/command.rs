//! Finds passwords in the options of commands: `mysql -pX`, `docker login -p X`, `curl -u user:X`. `rules.toml` lists
//! the programs and their options.

use std::ops::Range;

use serde::Deserialize;

use crate::hit::floor;
use crate::plausible;

/// The longest part of a command that is read after the program's name, in bytes.
const COMMAND: usize = 600;

/// Options of some programs whose values are passwords.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommandOption {
    /// The programs, also with a subcommand: `docker login`.
    pub(crate) programs: Vec<String>,
    /// The options, such as `-p`. `--option=value` is always read, too.
    names: Vec<String>,
    #[serde(default)]
    value: ValueWord,
    /// The text between a user's name and the password: `:` in `curl -u user:password`.
    after: Option<String>,
}

/// The word that contains the value of an option.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ValueWord {
    /// The next word: `-p X`.
    #[default]
    Next,
    /// The same word: `-pX`.
    Attached,
    Either,
}

/// Adds the values of a program's options on the same command line. Returns the position before which nothing is to be
/// searched again.
pub(super) fn values(
    options: &[CommandOption],
    text: &str,
    program: Range<usize>,
    found: &mut Vec<Range<usize>>,
) -> usize {
    let bytes = text.as_bytes();
    let in_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let name = &text[program.clone()];
    let inside = program.start > 0 && in_name(&bytes[program.start - 1]);
    let sign = bytes.get(program.end).copied().unwrap_or_default();
    if inside || !b" \t\"'\\".contains(&sign) {
        return 0;
    }
    let of_program = |row: &&CommandOption| {
        let mut programs = row.programs.iter();
        programs.any(|of| of.eq_ignore_ascii_case(name))
    };
    let rows: Vec<&CommandOption> = options.iter().filter(of_program).collect();
    let end = floor(text, program.end + COMMAND);
    let mut before: Option<&CommandOption> = None;
    // In a list of words in JSON, a quote follows the program's name.
    let mut at = program.end + usize::from(matches!(sign, b'"' | b'\''));
    while let Some((word, next)) = word(&text[..end], at) {
        at = next;
        let said = &text[word.clone()];
        // Another command begins.
        if said == "&&" || said == "&" {
            break;
        }
        if let Some(row) = before.take()
            && !said.starts_with('-')
        {
            found.extend(row.password(text, word));
            continue;
        }
        // Of several options that begin the word, as `-pass` and `-passin`, the longest is meant.
        let names = rows.iter();
        let names = names.flat_map(|row| row.names.iter().map(move |name| (*row, name)));
        let known =
            names.filter_map(|(row, name)| Some((row, name, said.strip_prefix(name.as_str())?)));
        let Some((row, name, rest)) = known.max_by_key(|(_, name, _)| name.len()) else {
            continue;
        };
        let long = name.starts_with("--");
        let value = word.end - rest.len()..word.end;
        match rest.as_bytes() {
            [] if row.value != ValueWord::Attached || long => before = Some(row),
            [b'=', ..] => found.extend(row.password(text, value.start + 1..value.end)),
            [_, ..] if row.value != ValueWord::Next && !long => {
                found.extend(row.password(text, value));
            }
            _ => {}
        }
    }
    0
}

impl CommandOption {
    /// Returns the password in the value of this option; `None` if the value is a reference or a placeholder.
    fn password(&self, text: &str, value: Range<usize>) -> Option<Range<usize>> {
        let quotes = |c: char| matches!(c, '"' | '\'' | '\\');
        let whole = text[value.clone()].trim_end_matches(quotes);
        let bare = whole.trim_start_matches(quotes);
        let mut start = value.start + whole.len() - bare.len();
        if let Some(sign) = &self.after {
            start += bare.find(sign.as_str())? + sign.len();
        }
        let range = start..value.start + whole.len();
        let password = &text[range.clone()];
        // `-p 8080:80` gives ports to a container whose image has the program's name.
        let of_ports = |b: u8| b.is_ascii_digit() || b == b':';
        let ports = password.contains(':') && password.bytes().all(of_ports);
        let usable = password.len() >= 3
            && !ports
            && !password.starts_with(['-', '/'])
            && !password.contains("://")
            && !plausible::placeholder(password);
        usable.then_some(range)
    }
}

/// Returns the next word of a command line, without quotes around it, and the position after it; `None` at the end of
/// the command.
fn word(text: &str, from: usize) -> Option<(Range<usize>, usize)> {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(b'\n');
    let mut start = from;
    // A comma separates words in a list in JSON.
    loop {
        start += match (byte(start), byte(start + 1)) {
            (b' ' | b'\t' | b',', _) => 1,
            (b'\\', b'\n') if start + 1 < bytes.len() => 2,
            _ => break,
        };
    }
    let slashes = bytes
        .get(start..)?
        .iter()
        .take_while(|b| **b == b'\\')
        .count();
    let quote = byte(start + slashes);
    if matches!(quote, b'"' | b'\'') {
        let first = start + slashes + 1;
        let length = text.get(first..)?.find([quote as char, '\n'])?;
        let inside = text[first..first + length].trim_end_matches('\\');
        return Some((first..first + inside.len(), first + length + 1));
    }
    let mut end = start;
    while !b" \t\n\r|;<>`".contains(&byte(end)) {
        let quote = byte(end);
        if matches!(quote, b'"' | b'\'') {
            // A quote opens after the option or its sign; elsewhere it ends the text around the command.
            let opens = end - start == 2 || matches!(byte(end - 1), b'=' | b':' | b',');
            let length = text.get(end + 1..)?.find([quote as char, '\n']);
            match length {
                Some(length) if opens && byte(end + 1 + length) == quote => end += length + 2,
                _ => break,
            }
        } else {
            end += 1;
        }
    }
    (end > start).then_some((start..end, end))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_command_can_end_anywhere() {
        let rules = crate::Rules::new();
        for rule in crate::rules().filter(|rule| !rule.options.is_empty()) {
            for text in rule.examples().0 {
                let text = text.replace(' ', " \\\n ");
                for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
                    rules.scan(&text[..end], &mut crate::SecretNames::new());
                }
            }
        }
    }

    #[test]
    fn each_row_of_options_has_an_example() {
        for rule in crate::rules() {
            for row in &rule.options {
                let shown = |found: &String| {
                    row.programs.iter().any(|of| found.contains(of.as_str()))
                        && row.names.iter().any(|of| found.contains(of.as_str()))
                };
                let programs = &row.programs;
                assert!(rule.found.iter().any(shown), "no example of {programs:?}");
            }
        }
    }
}
