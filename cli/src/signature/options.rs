//! Parses the options in a line of OpenSSH's allowed signers: the purposes and times that a key is allowed for.

use chrono::{Local, NaiveDate, NaiveDateTime, TimeZone};
use prosescope_share::signed::NAMESPACE;

/// The purposes and times that a key is allowed for.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// The patterns of allowed purposes; `None` allows every purpose.
    namespaces: Option<String>,
    /// The times that the key is valid from and until, in milliseconds since 1970 UTC.
    after: Option<i64>,
    before: Option<i64>,
}

impl Options {
    pub(super) fn of(text: &str) -> Result<Options, &'static str> {
        let mut options = Options::default();
        for option in split(text, ',') {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
            let is_new = match name.to_ascii_lowercase().as_str() {
                "cert-authority" => return Err("a certificate authority is not supported"),
                "namespaces" => {
                    let value = value.filter(|value| !value.is_empty());
                    let value = value.ok_or("namespaces= has no text in quotes")?;
                    options.namespaces.replace(value.to_owned()).is_none()
                }
                "valid-after" => {
                    let at = value.and_then(time).ok_or("valid-after= is not a time")?;
                    options.after.replace(at).is_none()
                }
                "valid-before" => {
                    let at = value.and_then(time).ok_or("valid-before= is not a time")?;
                    options.before.replace(at).is_none()
                }
                _ => return Err("an option or the type of the key is not known"),
            };
            if !is_new {
                return Err("an option occurs twice");
            }
        }
        Ok(options)
    }

    /// Returns why a key with these options may not sign a shared run at the time `now`; `None` if the key may sign.
    pub(super) fn refuses(&self, now: i64) -> Option<&'static str> {
        let Options {
            namespaces,
            after,
            before,
        } = self;
        if namespaces.as_ref().is_some_and(|list| !allows(list)) {
            return Some("may not sign shared runs (namespaces=)");
        }
        if after.is_some_and(|after| now < after) {
            return Some("may not sign yet (valid-after=)");
        }
        match before.is_some_and(|before| now > before) {
            true => Some("may not sign any more (valid-before=)"),
            false => None,
        }
    }
}

/// Splits a text at a character outside of quotes. If `at` is a space, also splits at a tab.
pub(super) fn split(text: &str, at: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |c| {
        quoted ^= c == '"';
        !quoted && (c == at || (at == ' ' && c == '\t'))
    })
}

/// Returns whether a list of patterns allows shared runs: a pattern matches, and no pattern with `!` does.
fn allows(list: &str) -> bool {
    let mut allowed = false;
    for pattern in list.split(',') {
        match pattern.strip_prefix('!') {
            Some(not) if fits(not.as_bytes(), NAMESPACE.as_bytes()) => return false,
            Some(_) => {}
            None => allowed |= fits(pattern.as_bytes(), NAMESPACE.as_bytes()),
        }
    }
    allowed
}

/// Returns whether a pattern with `*` and `?` matches a whole text. Backtracks to the last `*` only, so the number of steps is at
/// most the product of both lengths.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == b'?' || text.get(t) == Some(c) => {
                p += 1;
                t += 1;
            }
            _ => match &mut star {
                Some((at, from)) => {
                    *from += 1;
                    (p, t) = (*at + 1, *from);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|c| *c == b'*')
}

/// Parses a time in OpenSSH's format: `20260131`, `202601311530` or `20260131153000`, in local time, or in UTC with a final `Z`.
fn time(text: &str) -> Option<i64> {
    let digits = text.strip_suffix('Z').unwrap_or(text);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let at = match digits.len() {
        8 => NaiveDate::parse_from_str(digits, "%Y%m%d")
            .ok()?
            .and_hms_opt(0, 0, 0)?,
        12 => NaiveDateTime::parse_from_str(digits, "%Y%m%d%H%M").ok()?,
        14 => NaiveDateTime::parse_from_str(digits, "%Y%m%d%H%M%S").ok()?,
        _ => return None,
    };
    match digits.len() == text.len() {
        true => Some(
            Local
                .from_local_datetime(&at)
                .earliest()?
                .timestamp_millis(),
        ),
        false => Some(at.and_utc().timestamp_millis()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_of_many_stars_takes_no_time_without_end() {
        assert!(!fits("*a".repeat(5000).as_bytes(), NAMESPACE.as_bytes()));
        assert!(fits(b"*-*-*", b"a-b-c") && !fits(b"?", b"") && fits(b"**", b""));
    }
}
