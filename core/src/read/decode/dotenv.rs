//! Reads `.prose/.env`, the settings of a project's runs (errata F4).
//!
//! ```
//! use prosescope_core::read::decode::dotenv::setting;
//! let text = "USER_ID=user-a7\nexport OPENPROSE_PROJECT='my project' # here\n";
//! assert_eq!(setting(text, "OPENPROSE_PROJECT").as_deref(), Some("my project"));
//! ```
//!
//! The format is `KEY=value` lines, `#` comments, optional `export` and quotes. Variables are not expanded. An issue
//! about an unreadable line never repeats the line, because it may contain a secret.

use crate::model::issue::Issue;

/// Maximum number of lines that are read.
const MOST_LINES: usize = 10_000;

/// Returns an issue for each line that is not a setting.
pub fn unreadable(text: &str) -> Vec<Issue> {
    let unread = pairs(text).filter(|(_, pair)| pair.is_none());
    let issue = |(line, _)| {
        Issue::warning("unreadable-setting", "a line is not a setting of the form `KEY=value`")
            .at_line(line)
            .hint(
                "The line was ignored. The text of the line is not shown here, because it may contain a secret.",
            )
    };
    unread.map(issue).collect()
}

/// Returns the value of one setting. Callers must not show the value, because it may be a secret. If the key is
/// repeated, the last value counts, as in a shell.
pub fn setting(text: &str, key: &str) -> Option<String> {
    let own = pairs(text).filter_map(|(_, pair)| pair);
    own.filter(|(name, _)| *name == key)
        .map(|(_, value)| value)
        .last()
}

/// Returns the number and the setting (key and value) of each line that is neither blank nor a comment. The setting
/// is `None` if the line is not readable.
fn pairs(text: &str) -> impl Iterator<Item = (u32, Option<(&str, String)>)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..).zip(text.lines().map(str::trim)).take(MOST_LINES);
    let settings = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    settings.map(|(number, line)| (number, pair(line)))
}

fn pair(line: &str) -> Option<(&str, String)> {
    let line = line
        .strip_prefix("export")
        .filter(|rest| rest.starts_with([' ', '\t']))
        .unwrap_or(line);
    let (key, value) = line.split_once('=')?;
    let key = key.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if key.is_empty() || !key.chars().all(plain) {
        return None;
    }
    Some((key, unquote(value.trim())))
}

fn unquote(value: &str) -> String {
    if let Some(rest) = value.strip_prefix('\'')
        && let Some((inside, _)) = rest.split_once('\'')
    {
        return inside.to_owned();
    }
    if let Some(rest) = value.strip_prefix('"') {
        let mut out = String::new();
        let mut chars = rest.chars();
        while let Some(c) = chars.next() {
            match c {
                '"' => return out,
                '\\' => match chars.next() {
                    Some('n') => out.push('\n'),
                    Some(c @ ('"' | '\\' | '$')) => out.push(c),
                    Some(other) => out.extend(['\\', other]),
                    None => break,
                },
                _ => out.push(c),
            }
        }
        return value.to_owned();
    }
    // A `#` begins a comment only after a blank.
    let end = value
        .char_indices()
        .zip(value.chars().skip(1))
        .find(|((_, c), next)| c.is_whitespace() && *next == '#')
        .map_or(value.len(), |((i, _), _)| i);
    value.get(..end).unwrap_or(value).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<(&str, &str)>) {
        let mut read = pairs(line).filter_map(|(_, pair)| pair);
        let expected = expected.map(|(key, value)| (key, value.to_owned()));
        assert_eq!(read.next(), expected, "{line}");
        assert!(
            unreadable(line)
                .iter()
                .all(|i| !i.message.contains("hush") && !i.hint.contains("hush"))
        );
    }

    #[test]
    fn reads_settings() {
        for (line, expected) in [
            (
                "OPENPROSE_TELEMETRY=enabled",
                Some(("OPENPROSE_TELEMETRY", "enabled")),
            ),
            ("\u{feff}A=1", Some(("A", "1"))),
            (
                "  export USER_ID = user-a7  # mine",
                Some(("USER_ID", "user-a7")),
            ),
            ("A='it # stays' # gone", Some(("A", "it # stays"))),
            (r#"A="say \"hi\"\n\t""#, Some(("A", "say \"hi\"\n\\t"))),
            ("A=\"open", Some(("A", "\"open"))),
            ("A=b#c", Some(("A", "b#c"))),
            ("A=", Some(("A", ""))),
            ("exported=1", Some(("exported", "1"))),
            ("# A=1", None),
            ("", None),
            ("no equals hush", None),
            ("two words=hush", None),
        ] {
            check(line, expected);
        }
    }

    #[test]
    fn says_which_line_it_could_not_read() {
        let issues = unreadable("A=1\n\nhush hush\n");
        assert_eq!(issues[0].location.line, Some(3));
        assert_eq!(
            issues[0].message,
            "a line is not a setting of the form `KEY=value`"
        );
    }

    #[test]
    fn of_very_many_lines_the_first_are_read() {
        let settings: String = (0..20_000).map(|n| format!("N{n}=v\n")).collect();
        assert_eq!(pairs(&settings).count(), 10_000);
        assert_eq!(setting(&settings, "N10000"), None);
    }
}
