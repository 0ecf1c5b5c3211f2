//! `.prose/.env`: settings beside the runs, with what is secret masked (errata, "Folder form").
//!
//! ```
//! use prosescope_core::decode::dotenv::parse_masked;
//! let (pairs, _) = parse_masked("USER_ID=user-a7\nexport OPENPROSE_POSTGRES_URL='postgres://me:hush@db/x'\n");
//! assert_eq!(&*pairs[0].1, "user-a7");
//! assert_eq!(&*pairs[1].1, "postgres://me:****@db/x");
//! ```
//!
//! `KEY=value` lines, `#` comments, optional `export` and quotes. Nothing is expanded. A line that cannot be read
//! is an issue that never repeats its text: it may hold a secret.

use crate::issue::Issue;
use crate::model::Text;

/// What stands in place of a secret.
pub const MASK: &str = "****";

/// Parts of a name that make its value secret.
const SECRET: [&str; 4] = ["KEY", "TOKEN", "SECRET", "PASSWORD"];

/// Lines that are read.
const MOST_LINES: usize = 10_000;

/// Reads settings, in order; a key that stands twice is listed twice. Secrets are masked.
pub fn parse_masked(text: &str) -> (Vec<(Text, Text)>, Vec<Issue>) {
    let mut pairs = Vec::new();
    let mut issues = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (i, line) in text.lines().take(MOST_LINES).enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match pair(line) {
            Some((key, value)) => pairs.push((Text::from(key), mask(key, &value).as_str().into())),
            None => issues.push(
                Issue::warning("unreadable-setting", "a line is not KEY=value")
                    .at_line(u32::try_from(i + 1).unwrap_or(u32::MAX))
                    .hint(
                        "It was left out; its text is not repeated here, as it may hold a secret.",
                    ),
            ),
        }
    }
    (pairs, issues)
}

/// Returns the value of one setting, not masked: for the command that needs it, and never to be shown. Of several the last one
/// counts, as in a shell.
pub fn setting(text: &str, key: &str) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let pairs = text.lines().take(MOST_LINES).map(str::trim);
    let own = pairs.filter(|line| !line.starts_with('#')).filter_map(pair);
    own.filter(|(name, _)| *name == key)
        .map(|(_, value)| value)
        .last()
}

/// Masks a value: whole where the name says that it is secret, the passwords where it is a URL.
pub fn mask(key: &str, value: &str) -> String {
    let upper = key.to_ascii_uppercase();
    if !value.is_empty() && SECRET.iter().any(|part| upper.contains(part)) {
        return MASK.to_owned();
    }
    mask_url(value)
}

/// A URL with `user:password@` or `?password=…` without the password; any other text as it is.
fn mask_url(value: &str) -> String {
    let Some((scheme, rest)) = value.split_once("://") else {
        return value.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    // A password with a slash or a question mark in it ends the authority too early: look for the `@` further on.
    let (authority, tail) = match (authority.contains('@'), rest.rfind('@')) {
        (false, Some(at)) if authority.contains(':') => rest.split_at(at),
        _ => (authority, tail),
    };
    let masked = match (authority.rsplit_once('@'), tail.starts_with('@')) {
        (Some((login, host)), _) => format!("{}@{host}", mask_login(login)),
        (None, true) => mask_login(authority),
        (None, false) => authority.to_owned(),
    };
    let (path, query) = tail
        .split_once('?')
        .map_or((tail, None), |(path, query)| (path, Some(query)));
    let mut out = format!("{scheme}://{masked}{path}");
    if let Some(query) = query {
        let parts: Vec<String> = query
            .split('&')
            .map(|part| match part.split_once('=') {
                Some((key, said)) if !said.is_empty() && is_secret(key) => format!("{key}={MASK}"),
                _ => part.to_owned(),
            })
            .collect();
        out.push('?');
        out.push_str(&parts.join("&"));
    }
    out
}

fn mask_login(login: &str) -> String {
    match login.split_once(':') {
        Some((user, _)) => format!("{user}:{MASK}"),
        None => login.to_owned(),
    }
}

fn is_secret(key: &str) -> bool {
    let upper = key.to_ascii_uppercase();
    upper.contains("PASS") || SECRET.iter().any(|part| upper.contains(part))
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
    // A comment needs a blank before it.
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
        let (pairs, issues) = parse_masked(line);
        let read = pairs.first().map(|(k, v)| (&**k, &**v));
        assert_eq!(read, expected, "{line}");
        assert!(
            issues
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

    /// Errata, "Folder form": URLs with a password, and names with KEY, TOKEN, SECRET, PASSWORD.
    #[test]
    fn masks_what_is_secret() {
        for (line, expected) in [
            ("API_KEY=hush", "****"),
            ("github_token=hush", "****"),
            ("MY_SECRET_NAME=hush", "****"),
            ("PASSWORD='hush'", "****"),
            ("EMPTY_KEY=", ""),
            ("SESSION_ID=sess-17", "sess-17"),
            (
                "OPENPROSE_POSTGRES_URL=postgres://me:hush@db:5432/x",
                "postgres://me:****@db:5432/x",
            ),
            ("U=postgres://me:hu/sh?hush@db/x", "postgres://me:****@db/x"),
            ("U=postgres://me:h@sh@db/x", "postgres://me:****@db/x"),
            (
                "U=postgres://me@db/x?password=hush&sslmode=require",
                "postgres://me@db/x?password=****&sslmode=require",
            ),
            ("U=https://example.org/a:b@c", "https://example.org/a:b@c"),
            ("U=https://example.org:80/", "https://example.org:80/"),
        ] {
            let (pairs, _) = parse_masked(line);
            assert_eq!(&*pairs[0].1, expected, "{line}");
        }
    }

    #[test]
    fn says_which_line_it_could_not_read() {
        let (_, issues) = parse_masked("A=1\n\nhush hush\n");
        assert_eq!(issues[0].location.line, Some(3));
        assert_eq!(issues[0].message, "a line is not KEY=value");
    }
}
